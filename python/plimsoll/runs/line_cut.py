"""A line of series.jsonl read in part: its load, and of its series only those of wanted metrics.

An hour of 20 operations is a gigabyte of lines, nine tenths of which a question does not need. The line is cut where a
series begins, which is known without parsing: a quote inside of a JSON text is escaped, so `,{"metric":"` and
`"series":[` are never part of one. Buckets come as an array of shape (n, 2). A line that does not look like the
writer's is parsed whole.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from plimsoll.runs import quick_json
from plimsoll.runs.snapshot import Series, Snapshot

_SERIES, _BETWEEN, _FIRST = b'"series":[', b',{"metric":"', b'{"metric":"'
_BUCKETS, _BUCKETS_END = b',"buckets":[[', b"]]"
_COUNT = b',"count":'
_MOST_KNOWN = 20_000
_DECODER = json.JSONDecoder()

# What a series is, by the bytes in front of its values: (metric, kind, tags), and the epoch.
Known = dict[bytes, tuple[tuple[str, Any, Mapping[str, str]], int | None]]


class LineCutter:
    """Cuts lines; remembers the names and tags it has seen. `metrics`: the series that are wanted, None for all."""

    def __init__(self, metrics: frozenset[str] | None) -> None:
        self._wanted = None if metrics is None else frozenset(name.encode() for name in metrics)
        self._metrics = metrics
        self._known: Known = {}

    def snapshot(self, raw: bytes) -> Snapshot | None:
        """The snapshot of a line with the wanted series alone; None if it is none."""
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
