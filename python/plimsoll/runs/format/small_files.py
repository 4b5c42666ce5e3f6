"""Small files read whole: at most so many bytes of them, and, unless pipes are wanted, only where they are files.
/dev/zero and a pipe without a writer have no end; that a writer is waited for is said."""

from __future__ import annotations

import stat
import threading
from pathlib import Path
from typing import BinaryIO

from plimsoll.errors import InputError
from plimsoll.words import size_words
from plimsoll.written_files import Say, say_on_stderr

MOST_BYTES = 64 << 20
_SAY_AFTER_S = 1.0


def read_small(path: Path, most_bytes: int = MOST_BYTES, *, or_pipe: bool = False) -> bytes:
    """The bytes of a regular file. Raises InputError for what is none, or larger; OSError if it cannot be read."""
    if not or_pipe and not stat.S_ISREG(path.stat().st_mode):
        what = "it is a folder" if path.is_dir() else "it is no regular file"
        raise InputError(what, "Give a file.", file=path)
    with open_to_read(path) as file:
        data = file.read(most_bytes + 1)
    if len(data) > most_bytes:
        raise InputError(f"it has over {size_words(most_bytes)}", "Give a smaller file.", file=path)
    return data


def is_pipe(path: Path) -> bool:
    """Whether a named pipe is there."""
    try:
        return stat.S_ISFIFO(path.stat().st_mode)
    except (OSError, ValueError):
        return False


def open_to_read(path: Path, *, say: Say = say_on_stderr, after_s: float = _SAY_AFTER_S) -> BinaryIO:
    """The file, opened; of a pipe without a writer it is said after that time what is waited for. Raises OSError."""
    if not is_pipe(path):
        return path.open("rb")
    words = f"{path} is a pipe that nobody writes yet. Waiting for its writer; Ctrl-C ends this."
    saying = threading.Timer(after_s, say, [words])
    saying.daemon = True
    saying.start()
    try:
        return path.open("rb")
    finally:
        saying.cancel()
