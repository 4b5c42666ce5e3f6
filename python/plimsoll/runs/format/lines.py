"""Reading JSON lines that may still be written, or whose writer was killed: a torn last line is no line.

Compressed files are told from others by their first bytes.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import Any, BinaryIO

from plimsoll.errors import RunDirectoryError
from plimsoll.runs.directory import run_error
from plimsoll.runs.format import quick_json
from plimsoll.runs.format.packed_file import MOST_LINE_BYTES, has_damage, is_packed, packed_lines, too_long_line
from plimsoll.runs.format.zstandard import MAGIC

_BUFFER_BYTES = 1 << 20


def read_lines(path: Path) -> Iterator[dict[str, Any]]:
    """The whole lines of a file as mappings; none if there is no file.

    A line without its end, or one that is no JSON object (torn by a full disk), is left out.
    """
    for _, raw in placed_lines(path):
        data = _parsed(raw)
        if data is not None:
            yield data


def numbered_lines(path: Path, start: int = 0) -> Iterator[tuple[int, dict[str, Any]]]:
    """Like `read_lines` from byte `start` of an uncompressed file, each with the byte at which the next line starts:
    where to read on later."""
    for begin, raw in placed_lines(path, start):
        data = _parsed(raw)
        if data is not None:
            yield begin + len(raw), data


def placed_lines(path: Path, start: int = 0, end: int | None = None) -> Iterator[tuple[int, bytes]]:
    """The whole lines that begin in bytes [start, end), each with the byte from which it can be read again: its own
    first, or that of its frame in a compressed file. Both ends are such bytes."""
    try:
        with _opened(path) as file:
            if is_packed(file):
                yield from packed_lines(file, start, end)
                return
            file.seek(start)
            while raw := file.readline(MOST_LINE_BYTES):
                if len(raw) == MOST_LINE_BYTES:
                    raise too_long_line(path)
                if not raw.endswith(b"\n") or (end is not None and start >= end):
                    return
                yield start, raw
                start += len(raw)
    except FileNotFoundError:
        return
    except OSError as error:
        raise run_error("read", path, error) from error


def _opened(path: Path) -> BinaryIO:
    """The file for reading. OSError, RunDirectoryError."""
    if not stat.S_ISREG(path.stat().st_mode):  # a pipe would be waited for, and a device has no end
        raise RunDirectoryError(f"{path} is no regular file", "Restore it, or make the run again.")
    return path.open("rb", buffering=_BUFFER_BYTES)


def is_damaged(path: Path, *, is_whole: bool) -> bool:
    """Whether a file of lines has some that cannot be read; `is_whole`: its writer came to the end, so that it is torn
    nowhere. A file that is not there is not damaged."""
    try:
        with _opened(path) as file:
            if is_packed(file):
                return has_damage(file, is_whole=is_whole)
            size = file.seek(0, os.SEEK_END)
    except FileNotFoundError:
        return False
    except OSError as error:
        raise run_error("read", path, error) from error
    read = 0
    for _, raw in placed_lines(path):
        read += len(raw)
        if _parsed(raw) is None:
            return True
    return is_whole and read < size


def unpacked(path: Path) -> bytes:
    """All that a file holds, unpacked if it is compressed, as far as that goes; for small files."""
    data = path.read_bytes()
    return b"".join(raw for _, raw in placed_lines(path)) if data.startswith(MAGIC) else data


def _parsed(raw: bytes) -> dict[str, Any] | None:
    try:
        data = quick_json.loads(raw)
    except ValueError:
        return None
    return data if isinstance(data, dict) else None
