"""A second as a line of series.jsonl.zst: what a series is is told once, then it is a row of numbers.

    {"compact": 1, …the load…, "define": [[3, metric, kind, tags], …], "rows": [[3, …], …]}

`define` names the series that the portion of the file (packed_file.py) has not had before; a fifth item is their epoch.
A row begins with the number of its series. In the order of their values (snapshot.FIELDS) follow those of a counter, a
rate or a gauge; and of a trend

    count, sum, min, max, steps, others    steps: the index of the first bucket, then from each to the next;
                                           others: place and count of each bucket that has not 1, if any
    count, sum, min, max                   without buckets
    1, value                               one value, which tells its bucket
    count                                  that many zeros

What does not fit is a row as it is, a mapping. Rows have a tab behind the comma between them, so that a reader can cut
them apart without parsing: a tab inside of a JSON text is escaped. All of it is exact.
"""

from __future__ import annotations

import struct
from collections.abc import Mapping
from operator import sub
from typing import Any

from plimsoll.runs.directory import json_text
from plimsoll.runs.snapshot import FIELDS

VERSION = 1
BEGIN = b'{"compact":1,'
ROWS, BETWEEN = b',"rows":[', b",\t"
_BETWEEN = BETWEEN.decode()
_COMMON = frozenset(("metric", "kind", "tags", "epoch"))
_NAMES = {kind: _COMMON | set(fields) | ({"buckets"} if kind == "trend" else set()) for kind, fields in FIELDS.items()}
_BITS_BELOW = 42  # of a double, below those that are its bucket's index

Row = list[Any]


class Compactor:
    """Makes lines. `restart` where a portion of the file begins."""

    def __init__(self) -> None:
        self._known: dict[tuple[Any, ...], int] = {}

    def restart(self) -> None:
        """Define every series again when it next comes."""
        self._known.clear()

    def line(self, data: Mapping[str, Any]) -> str:
        """The line of a snapshot's plain mapping."""
        define: list[Row] = []
        rows = [json_text(self._row(item, define)) for item in data.get("series") or ()]
        load = {"compact": VERSION} | {name: value for name, value in data.items() if name != "series"}
        head = json_text(load | {"define": define} if define else load)
        return f'{head[:-1]},"rows":[{_BETWEEN.join(rows)}]}}'

    def _row(self, item: Mapping[str, Any], define: list[Row]) -> Row | Mapping[str, Any]:
        try:
            kind = item["kind"]
            if not item.keys() <= _NAMES[kind]:
                return item
            values = _trend(item) if kind == "trend" else [item.get(name) for name in FIELDS[kind]]
            return [self._number(item, define), *values]
        except (KeyError, TypeError, ValueError, AttributeError, struct.error):
            return item

    def _number(self, item: Mapping[str, Any], define: list[Row]) -> int:
        tags, epoch = item.get("tags") or {}, item.get("epoch")
        key = (item["metric"], item["kind"], tuple(tags.items()), epoch)
        number = self._known.get(key)
        if number is None:
            number = self._known[key] = len(self._known)
            define.append([number, *key[:2], tags, *(() if epoch is None else (epoch,))])
        return number


def _trend(item: Mapping[str, Any]) -> Row:
    count, total, least, most = (item.get(name) for name in FIELDS["trend"])
    pairs = item.get("buckets") or ()
    if not pairs:
        return [count, total, least, most]
    indices, times = zip(*pairs, strict=True)
    if len(indices) == 1 and times[0] == count and total is not None and least == most:
        if indices[0] == 0 and total == 0 == least:
            return [count]
        if count == 1 and total == least and indices[0] == bucket_of(least):
            return [1, least]
    row = [count, total, least, most, [indices[0], *map(sub, indices[1:], indices)]]
    if times.count(1) < len(times):
        row.append([one for place, number in enumerate(times) if number != 1 for one in (place, number)])
    return row


def bucket_of(value: float) -> int:
    """The index of the bucket of a value of 0 or more, as histogram.py has it; -1 for a negative one."""
    index: int = struct.unpack("<q", struct.pack("<d", value))[0] >> _BITS_BELOW
    return index if value >= 0 else -1
