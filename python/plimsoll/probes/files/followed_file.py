"""A file that others write, read on from where it was left: only what is new, in bounded pieces.

It is known by its device and inode, so it is the same under another name. One that was cut (copytruncate) is read from
its beginning. Lines that are not finished yet wait for their end.
"""

from __future__ import annotations

import os
from pathlib import Path

LONGEST_LINE = 64 << 10
Identity = tuple[int, int]


class FollowedFile:
    """What is at `path` now, from its end on, or from its beginning. Raises OSError where it cannot be read."""

    def __init__(self, path: Path, from_beginning: bool = False) -> None:
        self.path = path
        self._file = path.open("rb")
        self.identity = identity_of(os.fstat(self._file.fileno()))
        self._held = b""
        self._place = 0 if from_beginning else self._file.seek(0, os.SEEK_END)

    @property
    def is_gone(self) -> bool:
        """Whether no file has its name now."""
        return self._named() is None

    @property
    def is_renamed(self) -> bool:
        """Whether another file has its name now."""
        return self._named() not in (None, self.identity)

    def lines(self, most_bytes: int, to_end: bool = False) -> tuple[bytes, int]:
        """Whole lines that are new, of at most `most_bytes`, and how many bytes were skipped as there were more; with
        `to_end` what is not finished too."""
        skipped = 0
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
        end = len(text) if to_end else text.rfind(b"\n") + 1
        self._held = text[end:]
        if len(self._held) > LONGEST_LINE:  # no text, or a line that none will read
            skipped += len(self._held)
            self._held = b""
        return text[:end], skipped

    def _named(self) -> Identity | None:
        try:
            return identity_of(self.path.stat())
        except OSError:
            return None

    def close(self) -> None:
        """Close it."""
        self._file.close()


def identity_of(facts: os.stat_result) -> Identity:
    """Device and inode, which a file keeps under another name."""
    return facts.st_dev, facts.st_ino
