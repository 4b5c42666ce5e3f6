"""The reading that minutes.jsonl.zst must agree with: every line parsed whole by the JSON library, nothing merged."""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from plimsoll.report import run_evidence
from plimsoll.report.html import render
from plimsoll.runs.format.lines import unpacked
from plimsoll.runs.format.minute_blocks import Block, Merged, Rows
from plimsoll.runs.histogram import Histogram, bucket_of
from plimsoll.runs.reader import RunReader
from plimsoll.runs.readings.arrivals import Window, by_arrival
from plimsoll.runs.snapshot import FIELDS, Series, Snapshot


def told_seconds(file: Path) -> Iterator[dict[str, Any]]:
    """The seconds of a file as plain data, as docs/run-directory.md says that its lines are to be read."""
    defined: dict[int, list[Any]] = {}
    for line in unpacked(file).decode().split("\n")[:-1]:
        data = json.loads(line)
        defined |= {number: about for number, *about in data.pop("define", ())}
        numbers, counts, rows = data.pop("series", ()), iter(data.pop("counts", ())), data.pop("rows")
        series = []
        for number, row in zip(numbers, rows, strict=True):
            is_trend = number >= 0 and defined[number][1] == "trend"
            series.append(row if number < 0 else series_of(defined[number], [next(counts), *row] if is_trend else row))
        yield data | {"series": series}


def series_of(about: list[Any], row: list[Any]) -> dict[str, Any]:
    """A row as a series with names."""
    metric, kind, tags, *epoch = about
    series = {"metric": metric, "kind": kind, "tags": tags, "epoch": epoch[0] if epoch else None}
    if kind != "trend":
        return series | dict(zip(FIELDS[kind], row, strict=True))
    count, *row = row
    bucket = lambda value: int(bucket_of(value))  # noqa: E731
    if len(row) < 2:  # one value, or zeros
        value = row[0] if row else 0.0
        row = [value, value, value, None, [bucket(value)], [0, count]]
    if len(row) == 2:
        row = [float(f"{row[0] + row[1]:.6g}"), *row, None, [bucket(row[0]), bucket(row[1]) - bucket(row[0])]]
    total, least, most, *rest = row
    if rest and rest[0] is not None:  # between the buckets of the bounds
        first, last = bucket(least), bucket(most)
        rest = [None, [first, *rest[0], last - first - sum(rest[0])] if first < last else [first], *rest[1:]]
    steps, others = [*rest[1:], [], []][:2]
    counts = [1] * len(steps)
    for place, number in zip(others[::2], others[1::2], strict=True):
        counts[place] = number
    buckets = [[sum(steps[: place + 1]), number] for place, number in enumerate(counts)]
    return series | {"count": count, "sum": total, "min": least, "max": most, "buckets": buckets}


class SlowReader(RunReader):
    """A RunReader that reads seconds from series.jsonl.zst alone, one by one."""

    def snapshots(
        self, from_s: float | None = None, to_s: float | None = None, *, metrics: Iterable[str] | None = None
    ) -> Iterator[Snapshot]:
        wanted = None if metrics is None else frozenset(metrics)
        if not hasattr(self, "_lines"):
            self._lines = list(told_seconds(self.path / "series.jsonl.zst"))
        for data in self._lines:
            if (from_s is None or data["second"] >= from_s) and (to_s is None or data["second"] < to_s):
                kept = [one for one in data["series"] if wanted is None or one["metric"] in wanted]
                yield Snapshot.from_json(data | {"series": kept})

    def whole_seconds(self, metrics: Iterable[str], *, above: Mapping[str, float] | None = None) -> Iterator[Snapshot]:
        return self.snapshots(metrics=metrics)

    def blocks(
        self,
        metrics: Iterable[str],
        from_s: float | None = None,
        *,
        arrived_in: Sequence[Window] = (),
        above: Mapping[str, float] | None = None,
    ) -> Iterator[Any]:
        wanted = frozenset(metrics)
        yield SlowBlock(list(by_arrival(lambda: self.snapshots(metrics=wanted), arrived_in)))


@dataclass
class SlowBlock:
    """The whole run at once."""

    seconds: list[Snapshot]

    @property
    def load(self) -> list[Snapshot]:
        return self.seconds

    @property
    def rows(self) -> Sequence[Rows]:
        return Block.of_snapshots(self.seconds).rows

    @property
    def tags(self) -> Sequence[Any]:
        return Block.of_snapshots(self.seconds).tags

    def whole_seconds(self, *, with_buckets: bool = True) -> Iterator[Snapshot]:
        return iter(self.seconds)

    def merged(
        self, edges: Sequence[float], tags: Sequence[str], metrics: Collection[str] | None = None
    ) -> Iterator[Merged]:
        for one in self.seconds:
            yield Merged(one.second, tuple(each for each in one.series if metrics is None or each.metric in metrics))


def plain(snapshot: Snapshot) -> tuple[Snapshot, tuple[Series, ...]]:
    """A second and its series with buckets as pairs, to compare; the load alone, as its series come beside it."""
    pairs = [tuple(map(tuple, np.asarray(one.buckets, dtype=int).reshape(-1, 2).tolist())) for one in snapshot.series]
    series = tuple(replace(one, buckets=each) for one, each in zip(snapshot.series, pairs, strict=True))
    return replace(snapshot, series=()), series


def report_of(path: Path, reader: type[RunReader], monkeypatch: pytest.MonkeyPatch) -> tuple[Any, str]:
    """What the report knows of a run, findings included, as plain data, and its page with numbers of eight digits; read
    by that reader."""
    with monkeypatch.context() as patched:
        patched.setattr(run_evidence, "RunReader", reader)
        run = run_evidence.read_run(path)
        page = re.sub(r"\d+\.\d{6,}(e-?\d+)?", lambda number: f"{float(number[0]):.8g}", render(run))
        return _plain(run), page


def _plain(data: Any) -> Any:
    """Plain data, with numbers that may differ in their last digits, as sums do by the order of adding."""
    if isinstance(data, Histogram):
        return [data.buckets(), data.min, data.max, _plain(data.sum)]
    if hasattr(data, "__dataclass_fields__"):
        return {name: _plain(getattr(data, name)) for name in data.__dataclass_fields__}
    if isinstance(data, dict):
        return [(key, _plain(value)) for key, value in data.items()]
    if isinstance(data, list | tuple):
        return [_plain(value) for value in data]
    return pytest.approx(data, rel=1e-12, abs=0) if isinstance(data, float) and np.isfinite(data) else data
