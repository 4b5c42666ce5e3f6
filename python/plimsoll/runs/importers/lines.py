"""A result file as lines of text, packed (.gz) or not, never whole in memory.

A file whose last line was cut, as a killed tool leaves it, is used up to there, and `notes` says so. Anything else that
cannot be read is an InputError with file and line.
"""

from __future__ import annotations

import csv
import gzip
import io
import os
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, BinaryIO

from plimsoll.errors import InputError
from plimsoll.runs.importers.source import BadRecord

HEAD_BYTES = 65_536
MOST_FIELD = 1 << 20
GZIP_MAGIC = b"\x1f\x8b"


@dataclass
class SourceFile:
    """A result file; `notes` gathers what the reader should know, `line` is the line last read."""

    path: Path
    notes: list[str] = field(default_factory=list)
    line: int = 0
    ends_whole: bool = True

    def head(self) -> bytes:
        """Its first bytes, unpacked. InputError if it cannot be opened or is empty."""
        try:
            with self.open() as file:
                head = file.read(HEAD_BYTES)
        except EOFError:
            head = b""
        if not head.strip():
            raise InputError("the file is empty", "Give a file with results.", file=self.path)
        return head

    def open(self) -> BinaryIO:
        """The bytes, unpacked."""
        try:
            if self.path.is_dir():
                step = "Give a file, or a run directory of Plimsoll, which has a manifest.json."
                raise InputError("it is a folder", step, file=self.path)
            with self.path.open("rb") as file:
                packed = file.read(2) == GZIP_MAGIC
            return gzip.GzipFile(self.path) if packed else self.path.open("rb")  # type: ignore[return-value]
        except OSError as error:
            raise InputError(f"cannot be read: {error.strerror}", "Check its path.", file=self.path) from error

    def text(self) -> Iterator[str]:
        """The lines, with their ends; a packed file that was cut ends early with a note."""
        self.line, self.ends_whole = 0, True
        with self.open() as file:
            stream = io.TextIOWrapper(file, encoding="utf-8-sig", errors="replace", newline="")
            try:
                for line in stream:
                    self.line += 1
                    self.ends_whole = line.endswith(("\n", "\r"))
                    yield line
            except (EOFError, zlib.error, gzip.BadGzipFile):
                self.ends_whole = False
                self.notes.append(f"The packed file is cut after line {self.line}; used up to there.")

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
        with a note; elsewhere it is an InputError with its line."""
        taken = 0
        bad: tuple[int, BadRecord] | None = None
        for row in rows:
            if bad is not None:
                raise self.error(bad[1], bad[0])
            try:
                take(row)
                taken += 1
            except BadRecord as problem:
                bad = self.line, problem
                if self.ends_whole:
                    raise self.error(problem) from problem
        if bad is not None:
            if self.ends_whole:
                raise self.error(bad[1], bad[0])
            self.notes.append(f"Line {bad[0]} is cut off; the file is used up to there ({taken:,} records).")
        return taken

    def error(self, problem: BadRecord, line: int | None = None) -> InputError:
        """The InputError of a BadRecord at that line, or the one last read."""
        at = line if line is not None else (self.line or None)
        return InputError(problem.what, problem.next_step, file=self.path, line=at, key=problem.column)

    def whole_text(self, most_bytes: int = 64 << 20) -> str:
        """All of a small file as text. InputError above `most_bytes`."""
        with self.open() as file:
            try:
                data = file.read(most_bytes + 1)
            except (EOFError, zlib.error) as error:
                raise InputError("the packed file is cut", "Copy it again.", file=self.path) from error
        if len(data) > most_bytes:
            what = f"a summary of over {most_bytes >> 20} MiB is none"
            raise InputError(what, "Name its format with --format.", file=self.path)
        return data.decode("utf-8-sig", errors="replace")

    @property
    def size_bytes(self) -> int:
        """Its size on disk."""
        return os.stat(self.path).st_size
