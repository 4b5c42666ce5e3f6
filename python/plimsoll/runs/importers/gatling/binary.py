"""Gatling's simulation.log as binary records, from 3.13 on; big-endian (gatling-core, stats/writer; gatling-charts).

    0 run      version, class, start (ms since 1970), description, scenarios, assertions
    1 request  groups, name, start, end (ms since the run's start), ok, message
    2 user     scenario's index, start or end, time
    3 group    groups, start, end, cumulated ms, ok
    4 error    message, time

A text is its length, its bytes and Java's coder (0 Latin-1, 1 UTF-16). A cached one is preceded by its number; negative
means "the one of that number again".
"""

from __future__ import annotations

import struct
from typing import BinaryIO

from plimsoll.runs.importers.clock import milliseconds
from plimsoll.runs.importers.gatling.text import CANNOT, put_request
from plimsoll.runs.importers.lines import SourceFile
from plimsoll.runs.importers.source import BadRecord, Format
from plimsoll.runs.importers.spill import Spill

RUN, REQUEST, USER, GROUP, ERROR = range(5)
LONGEST_TEXT = 1 << 20
MOST_PARTS = 10_000


def looks_like(head: str) -> bool:
    """Whether it begins with a run record: a zero, and the length of a short version."""
    return head.startswith("\0\0\0\0") and 0 < ord(head[4:5] or "\0") < 40 and head[5:6].isdigit()


class _Cut(Exception):
    """The file ended within a record."""


class _Records:
    def __init__(self, stream: BinaryIO) -> None:
        self._stream = stream
        self._cache: dict[int, str] = {}
        self.at = 0

    def bytes(self, count: int) -> bytes:
        data = self._stream.read(count)
        self.at += len(data)
        if len(data) < count:
            raise _Cut
        return data

    def header(self) -> int | None:
        data = self._stream.read(1)
        self.at += len(data)
        return data[0] if data else None

    def integer(self) -> int:
        return int(struct.unpack(">i", self.bytes(4))[0])

    def long(self) -> int:
        return int(struct.unpack(">q", self.bytes(8))[0])

    def flag(self) -> bool:
        return self.bytes(1) != b"\0"

    def text(self) -> str:
        length = self.integer()
        if not 0 <= length <= LONGEST_TEXT:
            raise BadRecord(f"a text of {length} bytes at byte {self.at}: this is no log of Gatling, or of a newer one")
        if not length:
            return ""
        data = self.bytes(length)
        return data.decode("latin-1" if self.bytes(1) == b"\0" else "utf-16-le", errors="replace")

    def cached(self) -> str:
        number = self.integer()
        if number >= 0:
            self._cache[number] = self.text()
            return self._cache[number]
        if -number not in self._cache:
            raise BadRecord(f"text {-number} at byte {self.at} was never given: of a newer Gatling?")
        return self._cache[-number]

    def several(self) -> int:
        count = self.integer()
        if not 0 <= count <= MOST_PARTS:
            raise BadRecord(f"{count} parts at byte {self.at}: this is no log of Gatling, or of a newer one")
        return count


def read(file: SourceFile, into: Spill) -> None:
    """All requests, groups and users into `into`; a log that was cut is used up to its last whole record."""
    with file.open() as stream:
        records = _Records(stream)
        try:
            _read(records, into)
        except _Cut:
            file.notes.append(f"The log is cut at byte {records.at:,}; its {into.samples:,} whole requests are used.")
        except BadRecord as problem:
            step = "Export its statistics as a table of levels (docs/analyze.md), or name another --format."
            raise file.error(BadRecord(problem.what, problem.column, step)) from problem
        else:
            file.note_fault(f"after {into.samples:,} whole requests")


def _read(records: _Records, into: Spill) -> None:
    if records.header() != RUN:
        raise BadRecord("it does not begin with a run")
    records.text(), records.text()
    start_ms = records.long()
    milliseconds(str(start_ms), "start of the run")
    records.text()
    for _ in range(records.several()):
        records.text()
    for _ in range(records.several()):
        records.bytes(records.several())
    users = 0
    while (header := records.header()) is not None:
        if header == REQUEST:
            _request(records, start_ms, into)
        elif header == USER:
            records.integer()
            users = max(0, users + (1 if records.flag() else -1))
            into.level((start_ms + records.integer()) / 1000, users)
        elif header == GROUP:
            names = [records.cached() for _ in range(records.several())]
            begin, end = records.integer(), records.integer()
            records.integer(), records.flag()
            into.iteration((start_ms + end) / 1000, float(end - begin), (("scenario", ",".join(names) or "group"),))
        elif header == ERROR:
            records.cached(), records.integer()
        else:
            raise BadRecord(f"record {header} at byte {records.at} is not known: of a newer Gatling?")


def _request(records: _Records, start_ms: int, into: Spill) -> None:
    groups = [records.cached() for _ in range(records.several())]
    name = records.cached()
    begin, end = records.integer(), records.integer()
    ok, message = records.flag(), records.cached()
    if end < begin:
        return  # an incoming event without its request
    put_request(into, (start_ms + begin) / 1000, (start_ms + end) / 1000, name, ",".join(groups), ok, message.strip())


FORMAT = Format(
    name="gatling-binary",
    title="Gatling, binary simulation.log",
    shape="samples",
    loop="unknown",
    looks_like=looks_like,
    read=read,
    supports="as gatling",
    cannot=CANNOT,
)
