"""Small files read whole: at most so many bytes of them, and, unless pipes are wanted, only where they are files.
/dev/zero and a pipe without a writer have no end."""

from __future__ import annotations

import stat
from pathlib import Path

from plimsoll.errors import InputError

MOST_BYTES = 64 << 20


def read_small(path: Path, most_bytes: int = MOST_BYTES, *, or_pipe: bool = False) -> bytes:
    """The bytes of a regular file. Raises InputError for what is none, or larger; OSError if it cannot be read."""
    if not or_pipe and not stat.S_ISREG(path.stat().st_mode):
        what = "it is a folder" if path.is_dir() else "it is no regular file"
        raise InputError(what, "Give a file.", file=path)
    with path.open("rb") as file:
        data = file.read(most_bytes + 1)
    if len(data) > most_bytes:
        raise InputError(f"it has over {_size(most_bytes)}", "Give a smaller file.", file=path)
    return data


def _size(count: int) -> str:
    return f"{count >> 20} MiB" if count >= 1 << 20 else f"{count >> 10} KiB"
