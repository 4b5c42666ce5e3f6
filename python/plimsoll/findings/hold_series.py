"""What a held load did, second by second and in blocks of time: read once from the run directory, bounded by its
seconds."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from plimsoll.findings.objectives import TIMES, Wanted
from plimsoll.runs.histogram import Histogram
from plimsoll.runs.snapshot import Snapshot
from plimsoll.stats.block_quantile import BLOCKS

Array = NDArray[np.float64]


@dataclass
class Watched:
    """What one objective, or one operation, saw: response times in blocks of time and failures; `alone`: of the
    baseline."""

    blocks: list[Histogram] = field(default_factory=lambda: [Histogram() for _ in range(BLOCKS)])
    alone: Histogram = field(default_factory=Histogram)
    failed: int = 0
    requests: int = 0
    _merged: Histogram | None = None

    @property
    def merged(self) -> Histogram:
        """All blocks together."""
        if self._merged is None:
            self._merged = Histogram.merge(self.blocks)
        return self._merged


@dataclass
class HoldSeries:
    """Of the measured seconds, shape (n,): `mean_ms` of all requests (NaN without any), `failed`, `requests`, `done`;
    `operations` by scenario, `wanted` in the order of the objectives; `memory`: (seconds, bytes) of each process."""

    seconds: Array
    mean_ms: Array
    failed: Array
    requests: Array
    done: Array
    operations: dict[str, Watched]
    wanted: list[Watched]
    memory: dict[str, tuple[Array, Array]]
    host_memory_bytes: float | None = None
    memory_free_bytes: float | None = None


def hold_series(
    run: Any, hold: Mapping[str, Any] | None, baseline: Mapping[str, Any] | None, objectives: Sequence[Wanted]
) -> HoldSeries:
    """Read `run` (a RunReader) over the windows of these steps; either may be missing."""
    rows: list[tuple[float, float, float, float, float]] = []
    operations: dict[str, Watched] = defaultdict(Watched)
    wanted = [Watched() for _ in objectives]
    metric = run.first_metric(TIMES)
    for snapshot in run.snapshots(metrics=(metric or "", "http_req_failed")):
        if _within(baseline, snapshot.second):
            _add(snapshot, metric, None, operations, objectives, wanted)
        elif hold is not None and _within(hold, snapshot.second):
            length = max(1.0, hold["end_s"] - hold["measured_from_s"])
            block = min(BLOCKS - 1, int((snapshot.second - hold["measured_from_s"]) * BLOCKS / length))
            rows.append(_add(snapshot, metric, block, operations, objectives, wanted))
    columns = np.array(rows, dtype=float).reshape(-1, 5).T
    memory, whole, free = _memory(run.resources(), hold)
    return HoldSeries(
        columns[0], columns[1], columns[2], columns[3], columns[4], dict(operations), wanted, memory, whole, free
    )


def _within(step: Mapping[str, Any] | None, second: float) -> bool:
    return step is not None and step["measured_from_s"] <= second < step["end_s"]


def _add(
    snapshot: Snapshot,
    metric: str | None,
    block: int | None,
    operations: dict[str, Watched],
    objectives: Sequence[Wanted],
    wanted: Sequence[Watched],
) -> tuple[float, float, float, float, float]:
    """Add one second (of the baseline if `block` is None); its row of the series."""
    count = total = failed = requests = 0.0
    for series in snapshot.series:
        watched = [one for one, objective in zip(wanted, objectives, strict=True) if objective.matches(series)]
        if series.metric == metric and series.count:
            count += series.count
            total += float(series.sum or 0.0)
            operation = operations[str(series.tags.get("scenario") or "default")]
            for one in [operation, *watched]:
                (one.alone if block is None else one.blocks[block]).add_series(series)
        elif series.metric == "http_req_failed":
            failed += int(series.passes or 0)
            requests += int(series.total or 0)
            if block is not None:
                operation = operations[str(series.tags.get("scenario") or "default")]
                for one in [operation, *watched]:
                    one.failed += int(series.passes or 0)
                    one.requests += int(series.total or 0)
    return float(snapshot.second), total / count if count else math.nan, failed, requests, float(snapshot.done)


def _memory(
    rows: Iterable[Mapping[str, Any]], hold: Mapping[str, Any] | None
) -> tuple[dict[str, tuple[Array, Array]], float | None, float | None]:
    found: dict[str, list[tuple[float, float]]] = defaultdict(list)
    whole = free = None
    for row in rows:
        values, source = row.get("values") or {}, str(row.get("source"))
        if not _within(hold, float(row.get("second", -1))):
            continue
        if source.startswith("process:") and "rss_bytes" in values:
            found[source.partition(":")[2]].append((float(row["second"]), float(values["rss_bytes"])))
        if source == "host" and "memory_available_bytes" in values:
            free = float(values["memory_available_bytes"])
            whole = free + float(values.get("memory_used_bytes", 0.0))
    arrays = {name: np.array(points).T for name, points in found.items()}
    return {name: (points[0], points[1]) for name, points in arrays.items()}, whole, free
