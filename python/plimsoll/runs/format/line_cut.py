"""A line of series.jsonl.zst read in part: its load, and of its series only those of wanted metrics.

Most of an hour's lines is what a question does not need. A line is cut where a series begins, which is known without
parsing: of compact lines (compact_line.py) behind a tab; in those of earlier versions, since a quote inside of a JSON
text is escaped, at `,{"metric":"`. A line that does not look like the writer's is parsed whole.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import accumulate
from typing import Any, Literal, NamedTuple

import numpy as np

from plimsoll.runs.format import compact_line, quick_json
from plimsoll.runs.snapshot import FIELDS, Series, Snapshot

_SERIES, _BETWEEN, _FIRST = b'"series":[', b',{"metric":"', b'{"metric":"'
_BUCKETS, _BUCKETS_END = b',"buckets":[[', b"]]"
_COUNT = b',"count":'
_MOST_KNOWN = 20_000
_DECODER = json.JSONDecoder()

# What a series is, by the bytes in front of its values: (metric, kind, tags), and the epoch.
Defined = tuple[tuple[str, Any, Mapping[str, str]], int | None]
Known = dict[bytes, Defined]


class Steps(NamedTuple):
    """Buckets as a compact line has them: the steps between their indices, the first from 0, and place and count, in
    turn, of those that have not 1."""

    steps: Sequence[int]
    others: Sequence[int]


class LineCutter:
    """Cuts lines; remembers the names and tags it has seen, and so takes the lines of a file in their order, from where
    they can be read. `metrics`: the series that are wanted, None for all. Their `buckets` come as an array of shape
    (n, 2), as pairs, or as Steps where the line is compact. A trend of `above` may be left out where all of its values
    are less than that."""

    def __init__(
        self,
        metrics: frozenset[str] | None,
        *,
        buckets: Literal["array", "pairs", "steps"] = "array",
        above: Mapping[str, float] | None = None,
    ) -> None:
        self._wanted = None if metrics is None else frozenset(name.encode() for name in metrics)
        self._metrics = metrics
        self._as = buckets
        self._above = above or {}
        self._known: Known = {}
        self._defined: dict[int, Defined] = {}
        self._chosen = {compact_line.NO_SERIES}  # numbers of series that may be wanted
        self._trends: set[int] = set()

    def snapshot(self, raw: bytes) -> Snapshot | None:
        """The snapshot of a line with the wanted series alone; None if it is none."""
        if raw.startswith(compact_line.BEGIN):
            return self._compact(raw)
        return self._whole(raw) if self._as == "pairs" else self._cut(raw)

    def _compact(self, raw: bytes) -> Snapshot | None:
        head, mark, rest = raw.rstrip().partition(compact_line.ROWS)
        if not mark or not rest.endswith(b"]}"):
            return None
        try:
            load = quick_json.loads(head + b"}")
            if not isinstance(load["second"], int):
                return None
            for number, metric, kind, tags, *epoch in load.get("define") or ():
                self._define(number, ((metric, kind, tags), epoch[0] if epoch else None))
            numbers = load.pop("series", ()) if self._metrics != frozenset() else ()
            load["series"] = ()
            rows: Sequence[Any] = ()
            if numbers and self._metrics is None:
                rows = quick_json.loads(b"[" + rest[:-2] + b"]")  # all at once is quicker
            elif numbers:
                rows = rest[:-2].split(compact_line.BETWEEN)
            if len(rows) != len(numbers):
                return None
            series = tuple(self._rows(numbers, rows, load.get("counts") or ()))
            return replace(Snapshot.from_json(load), series=series)
        except (ValueError, KeyError, TypeError, IndexError):
            return None

    def _define(self, number: int, about: Defined) -> None:
        (metric, kind, _), _ = self._defined[number] = about
        for numbers, is_in in (
            (self._chosen, self._metrics is None or metric in self._metrics),
            (self._trends, kind == "trend"),
        ):
            (numbers.add if is_in else numbers.discard)(number)

    def _rows(self, numbers: Sequence[int], rows: Sequence[Any], counts: Sequence[int]) -> Iterator[Series]:
        """The series of rows, which are texts, or parsed where all metrics are wanted."""
        chosen, trends = self._chosen, self._trends
        if not set(numbers) - {compact_line.NO_SERIES} <= self._defined.keys():
            raise ValueError("a series that was not defined")
        places = [place for place, number in enumerate(numbers) if number in chosen]
        before = list(accumulate(map(trends.__contains__, numbers), initial=0)) if places else []
        for place in places:
            number, row = numbers[place], rows[place]
            if number == compact_line.NO_SERIES:  # one that did not fit
                one = Series.from_json(self._parsed(row))
                if self._metrics is None or one.metric in self._metrics:
                    yield one
                continue
            (metric, kind, tags), epoch = self._defined[number]
            values = self._parsed(row)
            if kind == "trend":
                count = counts[before[place]]
                if metric in self._above and _most(values) < self._above[metric]:
                    continue
                yield Series(metric, kind, tags, count, *self._trend(count, values), epoch=epoch)
            else:
                yield Series(metric, kind, tags, **dict(zip(FIELDS[kind], values, strict=True)), epoch=epoch)

    def _parsed(self, row: Any) -> Any:
        return row if self._metrics is None else quick_json.loads(row)

    def _trend(self, count: int, values: list[Any]) -> tuple[float, float | None, float | None, Any]:
        """Sum, least, greatest and buckets."""
        bucket_of = compact_line.bucket_of
        if len(values) < 2:  # one value, or zeros alone
            value = values[0] if values else 0.0
            return value, value, value, self._buckets([bucket_of(value)], [0, count])
        if len(values) == 2:
            values = [compact_line.sum_of_two(*values), *values, []]
        total, least, most, *rest = values
        if rest and rest[0] is None:
            rest = rest[1:]
        elif rest:
            first, last = bucket_of(least), bucket_of(most)
            rest[0] = [first] if first == last else [first, *rest[0], last - first - sum(rest[0])]
        return total or 0.0, least, most, self._buckets(*rest)

    def _buckets(self, steps: Sequence[int] = (), others: Sequence[int] = ()) -> Any:
        """Buckets of the steps between their indices, and place and count of those that have not 1."""
        if self._as == "steps":
            return Steps(steps, others)
        if self._as == "array":
            pairs = np.ones((len(steps), 2), np.int64)
            np.cumsum(np.array(steps, np.int64), out=pairs[:, 0])
            pairs[others[::2], 1] = others[1::2]
            return pairs
        counts = [1] * len(steps)
        for place, count in zip(others[::2], others[1::2], strict=True):
            counts[place] = count
        return tuple(zip(accumulate(steps), counts, strict=True))

    def _cut(self, raw: bytes) -> Snapshot | None:
        head, mark, rest = raw.partition(_SERIES)
        if not mark or not rest.startswith(_FIRST) or rest.find(_SERIES) >= 0:
            return self._whole(raw)
        try:
            wanted = self._wanted
            pieces = [b""] if wanted is not None and not wanted else rest[len(_FIRST) :].split(_BETWEEN)
            text = rest[rest.rfind(_BETWEEN) + 1 :].decode()  # all of it where there is one series
            _, end = _DECODER.raw_decode(text)
            load = quick_json.loads(head + _SERIES + text[end:].encode())
            pieces[-1] = text[len(_FIRST) : end].encode()
            series = tuple(
                self._series(piece) for piece in pieces if wanted is None or piece[: piece.find(b'"')] in wanted
            )
            if not isinstance(load["second"], int):
                return None
            return replace(Snapshot.from_json(load), series=series)
        except (ValueError, KeyError, TypeError):
            return self._whole(raw)

    def _whole(self, raw: bytes) -> Snapshot | None:
        try:
            data = quick_json.loads(raw)
        except ValueError:
            return None
        if not isinstance(data, dict) or not isinstance(data.get("second"), int):
            return None
        kept = [
            item for item in data.get("series") or () if self._metrics is None or item.get("metric") in self._metrics
        ]
        return Snapshot.from_json(data | {"series": kept})

    def _series(self, piece: bytes) -> Series:
        """A series from its text without what opens it."""
        begin = piece.find(_BUCKETS)
        if begin < 0:
            return Series.from_json(quick_json.loads(_FIRST + piece))
        close = piece.find(_BUCKETS_END, begin)
        values = piece.find(_COUNT, 0, begin)
        if close < 0 or values < 0 or piece[close:] != b"]]}":
            return Series.from_json(quick_json.loads(_FIRST + piece))
        key = piece[:values]
        known = self._known.get(key)
        if known is None:
            about = quick_json.loads(_FIRST + key + b"}")
            if len(self._known) >= _MOST_KNOWN:
                self._known.clear()
            known = (about["metric"], about["kind"], about.get("tags") or {}), about.get("epoch")
            self._known[key] = known
        numbers = quick_json.loads(b"{" + piece[values + 1 : begin] + b"}")
        text = piece[begin + len(_BUCKETS) : close].replace(b"],[", b",")
        buckets = np.fromstring(text, np.int64, sep=",").reshape(-1, 2)
        return Series(
            *known[0],
            epoch=known[1],
            count=numbers["count"],
            sum=numbers.get("sum") or 0.0,
            min=numbers.get("min"),
            max=numbers.get("max"),
            buckets=buckets,
        )


def _most(values: Sequence[Any]) -> float:
    """The greatest value of a trend's row; infinite where it does not say."""
    most = values[min(len(values), 3) - 1] if values else 0.0
    return math.inf if most is None else float(most)
