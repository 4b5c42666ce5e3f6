"""The lines of a file that another process writes: each once, as it comes, without reading what was read before."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from plimsoll.runs.format.packed_file import MOST_LINE_BYTES
from plimsoll.runs.format.zstandard import MAGIC, ZstdDecompressor, ZstdError

_READ_BYTES = 1 << 16
_PIECE_BYTES = 1 << 20


class FollowedLines:
    """A file of JSON lines, compressed or not, which may not be there yet. Damage ends it; the report reads around."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self.read_to = 0  # byte of the file
        self._is_packed: bool | None = None
        self._frame = ZstdDecompressor()
        self._begun = b""  # a line without its end
        self.is_damaged = False

    def new(self, most_bytes: int = 1 << 22) -> Iterator[bytes]:
        """The whole lines since the last call, with their ends; what is beyond `most_bytes` of the file comes with the
        next call."""
        for data in self._pieces(most_bytes):
            lines = (self._begun + data).split(b"\n")
            self._begun = lines.pop()
            if len(self._begun) > MOST_LINE_BYTES:
                self._begun, self.is_damaged = b"", True
            yield from (line + b"\n" for line in lines)

    def _pieces(self, most_bytes: int) -> Iterator[bytes]:
        if self.is_damaged:
            return
        with suppress(OSError):
            handle = os.open(self._path, os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK)
            try:
                if stat.S_ISREG(os.fstat(handle).st_mode):
                    yield from self._read(handle, self.read_to + most_bytes)
            finally:
                os.close(handle)

    def _read(self, handle: int, end: int) -> Iterator[bytes]:
        while self.read_to < end and (data := os.pread(handle, _READ_BYTES, self.read_to)):
            if self._is_packed is None:
                if len(data) < len(MAGIC):
                    return
                self._is_packed = data.startswith(MAGIC)
            self.read_to += len(data)
            if not self._is_packed:
                yield data
                continue
            try:
                yield from self._unpacked(data)
            except ZstdError:
                self.is_damaged = True
                return

    def _unpacked(self, data: bytes) -> Iterator[bytes]:
        while data or not (self._frame.eof or self._frame.needs_input):
            if self._frame.eof:
                self._frame = ZstdDecompressor()
            yield self._frame.decompress(data, max_length=_PIECE_BYTES)
            data = self._frame.unused_data if self._frame.eof else b""
