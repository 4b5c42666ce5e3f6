"""Reading JSON lines that may still be written, or whose writer was killed: a torn last line is no line."""

from __future__ import annotations

import stat
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

from plimsoll.errors import RunDirectoryError
from plimsoll.runs import quick_json
from plimsoll.runs.directory import run_error

_BUFFER_BYTES = 1 << 20
_MOST_LINE_BYTES = 64 << 20  # a second of 1,000 series takes a few


def read_lines(path: Path, start: int = 0) -> Iterator[dict[str, Any]]:
    """The whole lines of a file as mappings, from byte `start` on; none if there is no file.

    A line without its end, or one that is no JSON object (torn by a full disk), is left out.
    """
    for _, line in numbered_lines(path, start):
        yield line


def numbered_lines(path: Path, start: int = 0) -> Iterator[tuple[int, dict[str, Any]]]:
    """Like `read_lines`, each with the byte at which the next line starts: where to read on later."""
    for following, raw in raw_lines(path, start):
        data = _parsed(raw)
        if data is not None:
            yield following, data


def raw_lines(path: Path, start: int = 0) -> Iterator[tuple[int, bytes]]:
    """The whole lines as bytes, from byte `start` on, each with the byte at which the next one starts."""
    try:
        if not stat.S_ISREG(path.stat().st_mode):  # a pipe would be waited for, and a device has no end
            raise RunDirectoryError(f"{path} is no regular file", "Restore it, or make the run again.")
        with path.open("rb", buffering=_BUFFER_BYTES) as file:
            file.seek(start)
            for raw in iter(partial(file.readline, _MOST_LINE_BYTES), b""):
                if not raw.endswith(b"\n"):
                    return
                start += len(raw)
                yield start, raw
    except FileNotFoundError:
        return
    except OSError as error:
        raise run_error("read", path, error) from error


def _parsed(raw: bytes) -> dict[str, Any] | None:
    try:
        data = quick_json.loads(raw)
    except ValueError:
        return None
    return data if isinstance(data, dict) else None
