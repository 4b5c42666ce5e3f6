"""What an exported run holds, file by file, of an archive that anybody may have made.

    with members(file) as found:
        for member in found: ...

No field of the archive decides how much memory it takes. The tar is read here, header by header: `tarfile` reads the
body of a long name whole and remembers every member. A ZIP is read by `zipfile` after its list of files was bounded; of
the methods only those with bounded memory are read, stored and deflated. A folder is a member too, so that it counts.
"""

from __future__ import annotations

import io
import stat
import struct
import tarfile
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Protocol

from plimsoll.errors import InputError
from plimsoll.runs.format.small_files import is_pipe
from plimsoll.runs.format.zstandard import MAGIC, DecompressionParameter, ZstdError, ZstdFile

EXPORTED = "Give a file that `plimsoll runs export` made."
# What the standard library raises for bytes that are no archive, besides InputError and OSError.
DAMAGE = (
    tarfile.TarError,
    zipfile.BadZipFile,
    ZstdError,
    zlib.error,
    struct.error,
    EOFError,
    LookupError,
    OverflowError,
    RuntimeError,  # NotImplementedError, RecursionError
    ValueError,
)
_BLOCK = tarfile.BLOCKSIZE
_MOST_EXTENDED = 8 << 10  # of a name or pax header: a name has at most 1,000 characters
_MOST_HEADERS = 10  # of one member
_MOST_PADDING = 1 << 20  # zeros after the end of a tar; tar writes 10 KiB, with -b 2048 as much as this
_MOST_WINDOW_LOG = 25  # 32 MiB: zstd up to -20; export takes 2 MiB
_MOST_DIRECTORY = 8 << 20  # a ZIP's list of files: 100,000 of 80 bytes
_SKIP_BYTES = 1 << 16
_ZIP_MAGIC = b"PK"
_ZIP_METHODS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
_IS_ENCRYPTED = 0x1


class Readable(Protocol):
    """What is read from its beginning on."""

    def read(self, size: int = -1, /) -> bytes:
        """At most `size` bytes; empty at the end."""


@dataclass(frozen=True, slots=True)
class Member:
    """A name with its content, which is read before the next member is asked for; None: no plain file."""

    name: str
    content: Readable | None
    is_folder: bool = False


@contextmanager
def members(file: Path) -> Iterator[Iterator[Member]]:
    """What an archive holds, by its first bytes. Raises InputError for another file, DAMAGE or OSError on the way."""
    if is_pipe(file):
        raise InputError(f"{file} is a pipe", "Write what comes from it into a file, and give that.")
    with file.open("rb") as raw:
        head = raw.read(4)
        raw.seek(0)
        if head == MAGIC:
            with ZstdFile(raw, "rb", options={DecompressionParameter.window_log_max: _MOST_WINDOW_LOG}) as packed:
                yield _of_tar(packed)
        elif head.startswith(_ZIP_MAGIC):
            with zipfile.ZipFile(_ReadInPieces(raw, file)) as archive:
                yield _of_zip(archive, file)
        else:
            raise InputError(f"{file} is neither .tar.zst nor .zip", EXPORTED)


def _of_tar(tar: Readable) -> Iterator[Member]:
    while about := _next_header(tar):
        if about.isdir():
            yield Member(about.name, None, is_folder=True)
        elif not about.isreg() or about.type == tarfile.GNUTYPE_SPARSE or about.size < 0:
            yield Member(about.name, None)
        else:
            content = _Content(tar, about.size)
            yield Member(about.name, content)
            while content.read(_SKIP_BYTES):
                pass
            _whole(tar, -about.size % _BLOCK)
    _end_of_tar(tar)


def _next_header(tar: Readable) -> tarfile.TarInfo | None:
    """The header of the next member, with the name and size that headers before it give; None at the end."""
    name, size = None, None
    for _ in range(_MOST_HEADERS):
        block = _whole(tar, _BLOCK)
        if not block.strip(b"\0"):
            if name is not None or size is not None:
                raise tarfile.ReadError("a header without its file")
            return None
        about = tarfile.TarInfo.frombuf(block, "utf-8", "surrogateescape")
        if about.type == tarfile.GNUTYPE_LONGNAME:
            name = _decoded(_extended(tar, about).partition(b"\0")[0])
        elif about.type in (tarfile.XHDTYPE, tarfile.SOLARIS_XHDTYPE):
            records = dict(_pax_records(_extended(tar, about)))
            name = _decoded(records[b"path"]) if b"path" in records else name
            size = int(records[b"size"]) if b"size" in records else size
        elif about.type in (tarfile.XGLTYPE, tarfile.GNUTYPE_LONGLINK):
            _extended(tar, about)  # says nothing that is needed
        else:
            about.name = about.name if name is None else name
            about.size = about.size if size is None else size
            return about
    raise tarfile.ReadError("headers without end")


def _extended(tar: Readable, about: tarfile.TarInfo) -> bytes:
    """The body of a header that says more about the next one."""
    if not 0 <= about.size <= _MOST_EXTENDED:
        raise tarfile.ReadError(f"a name or header of {about.size:,} bytes, which no run has")
    return _whole(tar, about.size + -about.size % _BLOCK)[: about.size]


def _pax_records(body: bytes) -> Iterator[tuple[bytes, bytes]]:
    """ "LENGTH KEY=VALUE\\n" each, where the length counts all of it (POSIX.1-2008, pax)."""
    while body.strip(b"\0"):
        length, space, _ = body.partition(b" ")
        if not space or not length.isdigit() or not len(length) < int(length[:9]) <= len(body):
            raise tarfile.ReadError("a damaged pax header")
        record, body = body[len(length) + 1 : int(length)], body[int(length) :]
        key, equals, value = record.partition(b"=")
        if not equals or not value.endswith(b"\n"):
            raise tarfile.ReadError("a damaged pax header")
        yield key, value[:-1]


def _end_of_tar(tar: Readable) -> None:
    """Reads what follows the last member: zeros to the end of the file, so that its checksum is compared."""
    left = _MOST_PADDING
    while rest := tar.read(_SKIP_BYTES):
        left -= len(rest)
        if left < 0 or rest.strip(b"\0"):
            raise tarfile.ReadError("there is more after its end")


def _whole(tar: Readable, size: int) -> bytes:
    pieces = []
    while size:
        piece = tar.read(size)
        if not piece:
            raise EOFError("it ends too early")
        pieces.append(piece)
        size -= len(piece)
    return b"".join(pieces)


def _decoded(name: bytes) -> str:
    return name.decode("utf-8", "surrogateescape")


class _Content:
    """The next `size` bytes of a tar, as a file."""

    def __init__(self, tar: Readable, size: int) -> None:
        self._tar, self._left = tar, size

    def read(self, size: int = -1, /) -> bytes:
        """At most `size` bytes; empty at the end. EOFError where the tar ends before."""
        wanted = self._left if size < 0 else min(size, self._left)
        data = self._tar.read(wanted) if wanted else b""
        if wanted and not data:
            raise EOFError("it ends too early")
        self._left -= len(data)
        return data


class _ReadInPieces:
    """A file for `zipfile`, which reads the whole list of files at once, as long as the archive says it is."""

    def __init__(self, raw: IO[bytes], file: Path) -> None:
        self._raw, self._file = raw, file
        self.tell, self.seekable = raw.tell, raw.seekable

    def seek(self, offset: int, whence: int = io.SEEK_SET, /) -> int:
        """Raises BadZipFile for a place that no file has."""
        try:
            return self._raw.seek(offset, whence)
        except OSError as error:
            raise zipfile.BadZipFile(f"a file in it at byte {offset:,}") from error

    def read(self, size: int = -1, /) -> bytes:
        """Raises InputError for more at once than a run's list of files takes."""
        data = self._raw.read(size if 0 <= size <= _MOST_DIRECTORY else _MOST_DIRECTORY + 1)
        if len(data) > _MOST_DIRECTORY:
            what = f"{self._file} has a list of files of over {_MOST_DIRECTORY >> 20} MiB, as no run does"
            raise InputError(what, "Do not use this file.")
        return data


def _of_zip(archive: zipfile.ZipFile, file: Path) -> Iterator[Member]:
    for about in archive.infolist():
        if about.is_dir():
            yield Member(about.filename, None, is_folder=True)
            continue
        if about.flag_bits & _IS_ENCRYPTED:
            raise InputError(f"{file} is encrypted", "Unpack it with its password and pack the folder again, as .zip.")
        if about.compress_type not in _ZIP_METHODS:
            what = f"{file} is packed by a method that is not read ({about.compress_type})"
            raise InputError(what, "Unpack it and pack the folder again, as an ordinary .zip (deflate).")
        if stat.S_IFMT(about.external_attr >> 16) not in (0, stat.S_IFREG):
            yield Member(about.filename, None)
            continue
        with archive.open(about) as content:
            yield Member(about.filename, content)
