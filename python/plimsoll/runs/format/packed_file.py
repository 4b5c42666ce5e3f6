"""A file of JSON lines that is compressed as it is written, for the large files of a run (docs/decisions/0021).

It is a row of zstd frames, as zstdcat reads them. Each line is flushed as the end of a block: what was written is with
the operating system, and readable, at once, while the compressor goes on with the same window. A killed writer leaves
an unfinished frame, which is readable up to the last whole line in it.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

from plimsoll.errors import RunDirectoryError
from plimsoll.runs.directory import PACKED_SUFFIX, LineFile, run_error
from plimsoll.runs.format.zstandard import MAGIC, CompressionParameter, ZstdCompressor, ZstdDecompressor, ZstdError

# A window of 1 MiB holds more lines than repeat each other; with tables of this size a compressor takes 2.5 MB of
# memory in place of 36, and 0.5 ms for a second of 200 series.
_PARAMETERS: dict[int, int] = {
    CompressionParameter.compression_level: 9,
    CompressionParameter.window_log: 20,
    CompressionParameter.hash_log: 17,
    CompressionParameter.chain_log: 17,
    CompressionParameter.checksum_flag: 1,  # 4 bytes a frame; runs of earlier versions have none
}
_CHECKSUM_BYTES = 4
_WRONG_CHECKSUM = "checksum"  # in libzstd's words for a whole frame whose content is another
_LAST_EMPTY_BLOCK = b"\x01\x00\x00"  # what ends a frame whose compressor is lost (RFC 8878, 3.1.1.2)
_RESTORE = "It was changed or is damaged: restore it, or make the run again."
_READ_BYTES = 1 << 16
_PIECE_BYTES = 1 << 20  # unpacked at once, however well it was compressed
MOST_LINE_BYTES = 1 << 26  # a second of 20,000 series with the buckets of each
MOST_HELD = 1 << 25  # of a frame, which is a minute: of 2,000 series about as much
# What Plimsoll writes unpacks to a few hundred times its size at most; more than this is a file made to fill memory.
MOST_UNPACKED, TRUSTED_BYTES = 3000, 1 << 28


def line_file(run_dir: Path, name: str) -> LineFile:
    """The file of that name in a run directory, for writing; one that is there uncompressed goes on so."""
    plain = run_dir / name.removesuffix(PACKED_SUFFIX)
    return LineFile(plain) if plain.exists() or not name.endswith(PACKED_SUFFIX) else PackedFile(run_dir / name)


class PackedFile(LineFile):
    """A LineFile that compresses. A portion of it is a frame."""

    def __init__(self, path: Path) -> None:
        super().__init__(path)
        self._compressor: ZstdCompressor | None = None
        self._is_torn = False  # a frame was begun whose compressor is lost

    def append_text(self, line: str) -> None:
        """Write one line of JSON that is text already; it is readable when this returns."""
        self._end_torn_frame()
        compressor = self._compressor or ZstdCompressor(options=_PARAMETERS)
        self._compressor = None
        try:
            self._write(compressor.compress(line.encode() + b"\n", mode=ZstdCompressor.FLUSH_BLOCK))
        except RunDirectoryError:  # the compressor has seen a line that the file has not
            self._is_torn = self._end > self._begun
            raise
        self._compressor = compressor

    def end_portion(self) -> int:
        """The byte after all that was written: from there on, lines can be read without those before."""
        self._end_torn_frame()
        if self._compressor is not None:
            last, self._compressor = self._compressor.flush(ZstdCompressor.FLUSH_FRAME), None
            try:
                self._write(last)
            except RunDirectoryError:
                self._is_torn = True
                raise
        return super().end_portion()

    def _end_torn_frame(self) -> None:
        if self._is_torn:
            self._write(_LAST_EMPTY_BLOCK + self._checksum_of_torn_frame())
            self._is_torn = False
            super().end_portion()

    def _checksum_of_torn_frame(self) -> bytes:
        """What stands behind the last block of a frame: four bytes of XXH64, which a second compressor works out."""
        second = ZstdCompressor(
            options={CompressionParameter.compression_level: 1, CompressionParameter.checksum_flag: 1}
        )
        try:
            with self.path.open("rb") as file:
                for data in _Frame(file, self._begun):
                    second.compress(data)
        except OSError as error:
            raise run_error("read", self.path, error) from error
        return second.flush(ZstdCompressor.FLUSH_FRAME)[-_CHECKSUM_BYTES:]

    def take_back_torn_line(self) -> None:
        """Write the unfinished frame of a killed writer again, whole and without a torn line, so that others can
        follow it."""
        try:
            with self.path.open("rb") as file:
                begin, lines, is_whole = _last_frame(file)
            if is_whole:
                self._begun = self._end
                return
            compressor = ZstdCompressor(options=_PARAMETERS)
            whole = compressor.compress(lines, mode=ZstdCompressor.FLUSH_FRAME) if lines else b""
            os.ftruncate(self._handle, begin)
        except OSError as error:
            raise run_error("write", self.path, error) from error
        self._end = self._begun = begin
        self._write(whole)
        self._begun = self._end

    def close(self) -> None:
        """End the frame and close; further calls do nothing. A disk that is full costs the frame's end alone."""
        if self._handle >= 0:
            with contextlib.suppress(RunDirectoryError):
                self.end_portion()
        super().close()


def is_packed(file: BinaryIO) -> bool:
    """Whether a file, at its start, is compressed; it is left there."""
    found = file.read(len(MAGIC)) == MAGIC
    file.seek(0)
    return found


def is_frame_edge(file: BinaryIO, at: int) -> bool:
    """Whether a frame begins at that byte, or the file ends there."""
    file.seek(at)
    following = file.read(len(MAGIC))
    return following == MAGIC or (not following and os.fstat(file.fileno()).st_size == at)


def packed_lines(file: BinaryIO, start: int = 0, end: int | None = None) -> Iterator[tuple[int, bytes]]:
    """The whole lines of the frames that begin in [start, end), each with the byte at which its frame begins, from
    which it can be read again. A frame that is damaged or torn ends early, one that is whole and has another checksum
    is left out, and the next is read."""
    frame, pieces, size = start, [b""], 0  # pieces of a line that has no end yet
    for begin, data in _unpacked(file, start):
        if end is not None and begin >= end:
            return
        if begin != frame:
            frame, pieces, size = begin, [], 0
        before, line_end, rest = data.rpartition(b"\n")
        if line_end:
            for line in b"".join((*pieces, before)).split(b"\n"):
                yield frame, line + line_end
            pieces, size = [], 0
        pieces.append(rest)
        size += len(rest)
        if size > MOST_LINE_BYTES:
            raise too_long_line(Path(file.name))


def has_damage(file: BinaryIO, *, is_whole: bool) -> bool:
    """Whether a frame of the file is damaged or has another checksum; `is_whole`: the last one has its end too."""
    size, following = os.fstat(file.fileno()).st_size, 0
    while following < size:
        frame, unpacked = _Frame(file, following), 0
        try:
            for data in frame:
                unpacked += len(data)
                _check_unpacked(file, unpacked, following)
        except ZstdError:
            return True
        if frame.following is None:
            return is_whole
        following = frame.following
    return False


def too_long_line(path: Path) -> RunDirectoryError:
    """The error for a line that no run has."""
    return RunDirectoryError(f"{path} has a line of over {MOST_LINE_BYTES >> 20} MiB, which no run has", _RESTORE)


class _Frame:
    """What a frame holds, in pieces, as far as the file goes. Raises ZstdError where it is damaged. `following`: where
    the next begins, known when it was read to its end."""

    def __init__(self, file: BinaryIO, begin: int, read_bytes: int = _READ_BYTES) -> None:
        self._file, self._begin, self._read_bytes = file, begin, read_bytes
        self.following: int | None = None

    def __iter__(self) -> Iterator[bytes]:
        self._file.seek(self._begin)
        decompressor = ZstdDecompressor()
        while not decompressor.eof:
            packed = self._file.read(self._read_bytes) if decompressor.needs_input else b""
            if not packed and decompressor.needs_input:
                return
            yield decompressor.decompress(packed, max_length=_PIECE_BYTES)
        self.following = self._file.tell() - len(decompressor.unused_data)


def _unpacked(file: BinaryIO, start: int) -> Iterator[tuple[int, bytes]]:
    """What the frames hold from byte `start` on, in pieces, each with the byte at which its frame begins. A frame of up
    to MOST_HELD bytes comes when its checksum is known to be right; of a larger one a wrong checksum is an error."""
    following: int | None = start
    size = 0
    while following is not None:
        begin = following
        frame, given, held = _Frame(file, begin), 0, list[bytes]()
        try:
            for data in frame:
                size += len(data)
                _check_unpacked(file, size, start)
                held.append(data)
                if given or sum(map(len, held)) > MOST_HELD:
                    given += sum(map(len, held))
                    yield from ((begin, piece) for piece in held)
                    held.clear()
            following = frame.following
        except ZstdError as error:
            following = _next_frame(file, begin + 1)
            if _WRONG_CHECKSUM not in str(error):
                yield from ((begin, piece) for piece in held)
                yield from ((begin, piece) for piece in _before_damage(file, begin, given + sum(map(len, held))))
            elif given:
                what = f"{file.name} has other numbers than were written, from byte {begin:,} on"
                raise RunDirectoryError(what, _RESTORE) from error
        else:
            yield from ((begin, piece) for piece in held)


def _check_unpacked(file: BinaryIO, size: int, start: int) -> None:
    """Refuses a file that is made to fill memory: of `size` bytes unpacked, from byte `start` to where it is read."""
    if size > TRUSTED_BYTES and size > MOST_UNPACKED * (file.tell() - start):
        what = f"{file.name} unpacks to over {MOST_UNPACKED:,} times its size, which no run does"
        raise RunDirectoryError(what, _RESTORE)


def _before_damage(file: BinaryIO, begin: int, given: int) -> Iterator[bytes]:
    """The rest of what a damaged frame holds before the damage: read byte by byte, each whole block comes out."""
    with contextlib.suppress(ZstdError):
        for data in _Frame(file, begin, 1):
            if len(data) > given:
                yield data[given:]
            given = max(0, given - len(data))


def _next_frame(file: BinaryIO, start: int) -> int | None:
    """Where the next frame may begin, of a file that is damaged before."""
    file.seek(start)
    before = b""
    while data := file.read(_READ_BYTES):
        found = (before + data).find(MAGIC)
        if found >= 0:
            return start - len(before) + found
        start += len(data)
        before = data[-len(MAGIC) + 1 :]
    return None


def _last_frame(file: BinaryIO) -> tuple[int, bytes, bool]:
    """Where the last frame begins, its whole lines, and whether it has its end (without any: at 0, true)."""
    size = os.fstat(file.fileno()).st_size
    begin, pieces = 0, [b""]
    for at, data in _unpacked(file, 0):
        if at != begin:
            begin, pieces = at, []
        pieces.append(data)
    data = b"".join(pieces)
    return begin, data[: data.rfind(b"\n") + 1], size == 0 or _ends_at(file, begin, size)


def _ends_at(file: BinaryIO, begin: int, size: int) -> bool:
    """Whether the frame that begins there is whole and the last bytes of the file are its own."""
    frame = _Frame(file, begin)
    try:
        for _ in frame:
            pass
    except ZstdError:
        return False
    return frame.following == size
