"""Files of settings and bodies that the command line names: text of a bounded size, whatever the path leads to."""

from __future__ import annotations

import errno
from pathlib import Path

MOST_BYTES = 64 * 2**20


def text_of(path: Path, most_bytes: int = MOST_BYTES) -> str:
    """The file's text. Raises OSError, also for more than `most_bytes` (a device may have no end), and
    UnicodeDecodeError."""
    with path.open("rb") as file:
        read = file.read(most_bytes + 1)
    if len(read) > most_bytes:
        raise OSError(errno.EFBIG, f"over {most_bytes // 2**20} MiB; give a smaller file", str(path))
    return read.decode("utf-8")
