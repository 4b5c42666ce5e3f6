"""A second as a line of series.jsonl.zst: what a series is is told once, then it is a row of numbers.

    {"compact": 1, …load…, "define": [[3, metric, kind, tags], …], "series": [3, …], "counts": […], "rows": [[…], …]}

`define` names the series that the portion of the file (packed_file.py) has not had before; a fifth item is their epoch.
`series` has the number of each series of this second, `counts` the counts of its trends, `rows` what else there is of
each: of a counter, a rate or a gauge its values (snapshot.FIELDS), and of a trend

    sum, min, max, steps, others          the steps from each bucket's index to the next, from that of min on; the last
                                          bucket is that of max, and to it is no step; others: place and count of each
                                          bucket that has not 1, if any
    sum, min, max, null, steps, others    where min and max do not tell their buckets: first the index of the first one
    sum, min, max                         without buckets
    min, max                              two values
    value                                 one value
    nothing                               zeros alone

What does not fit is a row as it is, a mapping, and its number -1. Rows have a tab behind the comma between them, so
that a reader can cut them apart without parsing: a tab inside of a JSON text is escaped. All of it is exact. Numbers
and counts stand apart since they repeat those of the second before, and of the metric before, as they are.
"""

from __future__ import annotations

import struct
from collections.abc import Mapping
from operator import sub
from typing import Any

from plimsoll.runs.directory import json_text
from plimsoll.runs.snapshot import FIELDS

VERSION = 1
NO_SERIES = -1
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
        numbers, counts, rows = [], [], []
        for item in data.get("series") or ():
            row = _row(item)
            numbers.append(NO_SERIES if row is None else self._number(item, define))
            if row is not None and item["kind"] == "trend":
                counts.append(item["count"])
            rows.append(json_text(item if row is None else row))
        load = {"compact": VERSION} | {name: value for name, value in data.items() if name != "series"}
        parts = {"define": define, "series": numbers, "counts": counts}
        head = json_text(load | {name: part for name, part in parts.items() if part})
        return f'{head[:-1]},"rows":[{_BETWEEN.join(rows)}]}}'

    def _number(self, item: Mapping[str, Any], define: list[Row]) -> int:
        tags, epoch = item.get("tags") or {}, item.get("epoch")
        key = (item["metric"], item["kind"], tuple(tags.items()), epoch)
        number = self._known.get(key)
        if number is None:
            number = self._known[key] = len(self._known)
            define.append([number, *key[:2], tags, *(() if epoch is None else (epoch,))])
        return number


def _row(item: Mapping[str, Any]) -> Row | None:
    """The values of a series; None if it does not fit."""
    try:
        kind, fits = item["kind"], isinstance(item["metric"], str) and item.keys() <= _NAMES[item["kind"]]
        if not fits or not all(isinstance(value, str) for value in (item.get("tags") or {}).values()):
            return None
        return _trend(item) if kind == "trend" else [item.get(name) for name in FIELDS[kind]]
    except (KeyError, TypeError, ValueError, AttributeError, struct.error):
        return None


def _trend(item: Mapping[str, Any]) -> Row:
    count, total, least, most = (item[name] if name == "count" else item.get(name) for name in FIELDS["trend"])
    pairs = item.get("buckets") or ()
    if not pairs:
        return [total, least, most]
    indices, times = zip(*pairs, strict=True)
    first, last = indices[0], indices[-1]
    is_in_order = (len(indices) == 1) == (first >= last)
    if least is None or most is None or not is_in_order or (first, last) != (bucket_of(least), bucket_of(most)):
        row: Row = [total, least, most, None, [first, *map(sub, indices[1:], indices)]]
    elif times == (count,) and total == least == most and (count == 1 or least == 0):
        return [least] if least else []
    elif count == len(indices) == 2 and total == sum_of_two(least, most):
        return [least, most]
    else:
        row = [total, least, most, list(map(sub, indices[1:-1], indices))]
    if times.count(1) < len(times):
        row.append([one for place, number in enumerate(times) if number != 1 for one in (place, number)])
    return row


def sum_of_two(least: float, most: float) -> float:
    """The sum of two values, in the digits in which sums are told."""
    return float(f"{least + most:.6g}")


def bucket_of(value: float) -> int:
    """The index of the bucket of a value of 0 or more, as histogram.py has it; -1 for a negative one."""
    index: int = struct.unpack("<q", struct.pack("<d", value))[0] >> _BITS_BELOW
    return index if value >= 0 else -1
