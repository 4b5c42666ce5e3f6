"""A result file as lines of text, packed (.gz) or not, never whole in memory.

A file whose last line was cut, as a killed tool leaves it, is used up to there, and `notes` says so; so is a packed one
that unpacks in part. Anything else that cannot be read is an InputError with file and line.
"""

from __future__ import annotations

import csv
import gzip
import io
import os
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import Any, BinaryIO, TypeVar

from plimsoll.errors import InputError, InputErrors
from plimsoll.nearest_word import nearest
from plimsoll.runs.format.small_files import is_pipe
from plimsoll.runs.importers.source import BadRecord

HEAD_BYTES = 65_536
READ_BYTES = 1 << 18
MOST_FIELD = 1 << 20
MOST_LINE = 16 << 20
MOST_BESIDE = 200  # names that one that is not there is compared with
MOST_MISTAKES = 20  # told at once; a file with more of them is wrong as a whole, and read no further
GZIP_MAGIC = b"\x1f\x8b"
_NO_TEXT = (  # first bytes, what it is, what to do
    (
        b"\xff\xfe",
        "text in UTF-16 or UTF-32, as PowerShell's > and a spreadsheet's Unicode text are",
        "Save it as UTF-8.",
    ),
    (b"\xfe\xff", "text in UTF-16", "Save it as UTF-8."),
    (b"\x00\x00\xfe\xff", "text in UTF-32", "Save it as UTF-8."),
    (b"\x28\xb5\x2f\xfd", "a file packed by zstd", "Unpack it first (zstd -d)."),
    (b"\xfd7zXZ\x00", "a file packed by xz", "Unpack it first (xz -d)."),
    (b"BZh", "a file packed by bzip2", "Unpack it first (bzip2 -d)."),
    (b"7z\xbc\xaf\x27\x1c", "a file packed by 7-Zip", "Unpack it first."),
)
T = TypeVar("T")
Watch = Callable[[float], None]


class _Watched(io.FileIO):
    """A file that tells how far it was read. InputError where it became shorter meanwhile."""

    def __init__(self, path: Path, watch: Watch) -> None:
        super().__init__(path)
        self._path, self._watch = path, watch
        self._size = os.fstat(self.fileno()).st_size

    def readinto(self, buffer: Any) -> int:
        size = super().readinto(buffer)
        if not size and len(buffer) and self.tell() < self._size:
            what = f"it became shorter while it was read ({self.tell():,} of {self._size:,} bytes were there)"
            raise InputError(what, "Give it again when nothing writes to it any more.", file=self._path)
        self._watch(self.tell() / max(1, self._size))
        return size


class _Unpacked(io.RawIOBase):
    """The bytes of a packed file as far as it unpacks; `fault` says why that was not to its end."""

    def __init__(self, raw: BinaryIO) -> None:
        self._raw = raw
        self._packed = gzip.GzipFile(fileobj=raw)
        self.fault = ""

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        try:
            data = self._packed.read1(len(buffer)) if not self.fault else b""
        except EOFError:
            self.fault, data = "is cut", b""
        except (zlib.error, gzip.BadGzipFile) as error:
            self.fault, data = f"is damaged ({error})", b""
        buffer[: len(data)] = data
        return len(data)

    def close(self) -> None:
        self._packed.close()
        self._raw.close()
        super().close()


@dataclass
class SourceFile:
    """A result file; `notes` gathers what the reader should know, `line` is the line last read, `ends_whole` whether
    that had its end."""

    path: Path
    notes: list[str] = field(default_factory=list)
    line: int = 0
    ends_whole: bool = True
    watch: Watch = lambda share: None  # told the share of the file that was read, again and again
    _unpacked: _Unpacked | None = None

    @property
    def fault(self) -> str:
        """Why a packed file was not unpacked to its end, as far as it was read; empty if it was."""
        return self._unpacked.fault if self._unpacked is not None else ""

    @property
    def is_packed(self) -> bool:
        """Whether it is compressed. Raises OSError."""
        with self.path.open("rb") as file:
            return file.read(len(GZIP_MAGIC)) == GZIP_MAGIC

    def note_fault(self, used: str) -> None:
        """Note a packed file's fault, and what of it is used."""
        if self.fault:
            self.notes.append(f"The packed file {self.fault} {used}; used up to there.")

    def head(self) -> bytes:
        """Its first bytes, unpacked. InputError if it cannot be opened, does not unpack, is empty or no UTF-8, or is
        packed in another way."""
        with self.open() as file:
            head = file.read(HEAD_BYTES)
        if not head and self.fault:
            raise InputError(f"the packed file {self.fault} at its start", "Copy it again.", file=self.path)
        if not head.strip():
            raise InputError("the file is empty", "Give a file with results.", file=self.path)
        if self.is_packed and head.startswith(GZIP_MAGIC):
            raise InputError("this is packed by gzip twice", "Unpack it once (gunzip).", file=self.path)
        for first, what, step in _NO_TEXT:
            if head.startswith(first):
                raise InputError(f"this is {what}", step, file=self.path)
        return head

    def open(self) -> BinaryIO:
        """The bytes, unpacked as far as they can be; then `fault` says why no further."""
        try:
            if self.path.is_dir():
                step = "Give a file, or a run directory of Plimsoll, which has a manifest.json."
                raise InputError("it is a folder", step, file=self.path)
            if is_pipe(self.path):
                step = "Write what comes from it into a file, and give that."
                raise InputError("it is a pipe, which can be read only once", step, file=self.path)
            packed = self.is_packed
            raw = io.BufferedReader(_Watched(self.path, self.watch), READ_BYTES)
            self._unpacked = _Unpacked(raw) if packed else None
            return io.BufferedReader(self._unpacked, HEAD_BYTES) if self._unpacked else raw
        except FileNotFoundError as error:
            step = "Check the path. A run is given by its path too: `plimsoll runs list` shows those in runs/."
            what = "cannot be read: there is no such file"
            raise InputError(what, nearest(self.path.name, self._beside(), step), file=self.path) from error
        except OSError as error:
            raise InputError(f"cannot be read: {error.strerror}", "Check its path.", file=self.path) from error

    def _beside(self) -> list[str]:
        """Names of files in the folder in which it was looked for."""
        try:
            return [one.name for one in islice(self.path.parent.iterdir(), MOST_BESIDE) if one.is_file()]
        except OSError:
            return []

    def text(self) -> Iterator[str]:
        """The lines, with their ends; a packed file that was cut ends early with a note. InputError for a line of over
        MOST_LINE characters, before the rest of it is read."""
        self.line, self.ends_whole = 0, True
        with self.open() as file:
            stream = io.TextIOWrapper(file, encoding="utf-8-sig", errors="replace", newline="")
            while line := stream.readline(MOST_LINE + 1):
                if len(line) > MOST_LINE:
                    raise self._too_long()
                ends_whole = line.endswith(("\n", "\r"))
                if not ends_whole and self.fault and self.line:
                    break
                self.line += 1
                self.ends_whole = ends_whole
                yield line
            self.ends_whole = self.ends_whole and not self.fault
            self.note_fault(f"after line {self.line}")

    def _too_long(self) -> InputError:
        what = f"a line of over {MOST_LINE >> 20} million characters is no record"
        step = "Give one record a line, and leave bodies of answers out (of vegeta: attack -max-body=0)."
        return self.error(BadRecord(what, None, step), self.line + 1)

    def rows(self, delimiter: str = ",") -> Iterator[list[str]]:
        """The lines as records of CSV (RFC 4180)."""
        csv.field_size_limit(MOST_FIELD)
        reader = csv.reader(self.text(), delimiter=delimiter)
        while True:
            try:
                yield next(reader)
            except StopIteration:
                return
            except csv.Error as error:
                raise self.error(BadRecord(f"this is no CSV ({error})")) from error

    def records(self, rows: Iterator[Any], take: Callable[[Any], None]) -> int:
        """Give each record to `take`; how many were taken. A BadRecord in the last line, if that was cut, ends the file
        with a note; elsewhere it is an InputError with its line. All are raised together, up to MOST_MISTAKES."""
        return sum(1 for _ in self.made(rows, take))

    def made(self, rows: Iterator[Any], make: Callable[[Any], T]) -> Iterator[T]:
        """What `make` makes of each record, one by one; BadRecords as of `records`."""
        taken = 0
        mistakes: list[InputError] = []
        cut: InputError | None = None
        for row in rows:
            if cut is not None:
                mistakes.append(cut)
                cut = None
            if len(mistakes) >= MOST_MISTAKES:
                break
            try:
                one = make(row)
            except OverflowError:
                mistakes.append(self.error(BadRecord("a number in it is larger than anything measured can be")))
            except BadRecord as problem:
                if self.ends_whole:
                    mistakes.append(self.error(problem))
                else:
                    cut = self.error(problem)
            else:
                taken += 1
                yield one
        if cut is not None and (self.ends_whole or mistakes):
            mistakes.append(cut)
        if mistakes:
            raise InputErrors.of(mistakes)
        if cut is not None:
            self.notes.append(f"Line {cut.place.line} is cut off; the file is used up to there ({taken:,} records).")

    def error(self, problem: BadRecord, line: int | None = None) -> InputError:
        """The InputError of a BadRecord at that line, or the one last read."""
        at = line if line is not None else (self.line or None)
        return InputError(problem.what, problem.next_step, file=self.path, line=at, key=problem.column)

    def whole_text(self, most_bytes: int = 64 << 20, too_large: BadRecord | None = None) -> str:
        """All of a small file as text. InputError above `most_bytes`, with the words of `too_large`."""
        with self.open() as file:
            data = file.read(most_bytes + 1)
        if self.fault:
            raise InputError(f"the packed file {self.fault}", "Copy it again.", file=self.path)
        if len(data) > most_bytes and too_large is not None:
            raise self.error(too_large)
        if len(data) > most_bytes:
            what = f"a summary of over {most_bytes >> 20} MiB is none"
            raise InputError(what, "Name its format with --format.", file=self.path)
        return data.decode("utf-8-sig", errors="replace")

    @property
    def size_bytes(self) -> int:
        """Its size on disk."""
        return os.stat(self.path).st_size
