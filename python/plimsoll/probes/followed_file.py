"""A file that others write, read on from where it was left: only what is new, in bounded pieces, through rotation.

A file that was renamed is read to its end before its successor; one that was cut (copytruncate) is read from its
beginning. Lines that are not finished yet wait for their end.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import BinaryIO

LONGEST_LINE = 64 << 10


class FollowedFile:
    """`path` from its end on, or from its beginning. Raises OSError where it cannot be read."""

    def __init__(self, path: Path, from_beginning: bool = False) -> None:
        self.path = path
        self._file: BinaryIO | None = path.open("rb")
        self._held = b""
        self._place = 0 if from_beginning else self._file.seek(0, os.SEEK_END)

    @property
    def is_gone(self) -> bool:
        """Whether no file has its name now."""
        return not self.path.exists()

    def lines(self, most_bytes: int) -> tuple[bytes, int]:
        """Whole lines that are new, of at most `most_bytes`, and how many bytes were skipped as there were more."""
        if self._file is None:
            self._file, self._place = self.path.open("rb"), 0
        skipped = 0
        is_renamed = self._is_renamed()
        size = os.fstat(self._file.fileno()).st_size
        if size < self._place:
            self._place, self._held = 0, b""
        if size - self._place > most_bytes:
            skipped = size - self._place - most_bytes
            self._place += skipped
            self._held = b""
        self._file.seek(self._place)
        new = self._file.read(min(most_bytes, max(0, size - self._place)))
        self._place += len(new)
        if skipped:  # the line into which it jumped is none
            begin = new.find(b"\n") + 1 or len(new)
            new, skipped = new[begin:], skipped + begin
        text = self._held + new
        if is_renamed:
            self._file.close()
            self._file, self._held = None, b""
            return text, skipped
        end = text.rfind(b"\n") + 1
        self._held = text[end:]
        if len(self._held) > LONGEST_LINE:  # no text, or a line that none will read
            skipped += len(self._held)
            self._held = b""
        return text[:end], skipped

    def _is_renamed(self) -> bool:
        """Whether another file has its name now; while there is none of it, the old one is read on."""
        assert self._file is not None
        try:
            now = self.path.stat()
        except OSError:
            return False
        held = os.fstat(self._file.fileno())
        return (now.st_dev, now.st_ino) != (held.st_dev, held.st_ino)

    def close(self) -> None:
        """Close it."""
        if self._file is not None:
            self._file.close()
            self._file = None
