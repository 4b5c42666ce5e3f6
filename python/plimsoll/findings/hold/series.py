"""What a held load did, second by second and in blocks of time: read once from the run directory, bounded by its
seconds."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from plimsoll.runs.histogram import Histogram
from plimsoll.runs.readings.arrivals import windows_of
from plimsoll.runs.readings.failures import METRIC as FAILED
from plimsoll.runs.readings.failures import is_unanswered
from plimsoll.runs.readings.generator_seconds import GeneratorSeconds
from plimsoll.runs.readings.name_lookups import unknown_names
from plimsoll.runs.readings.objective_samples import TIMES, Wanted, only_above
from plimsoll.runs.snapshot import Series, Snapshot
from plimsoll.stats.estimates.block_quantile import BLOCKS

if TYPE_CHECKING:
    from plimsoll.runs.reader import RunReader

Array = NDArray[np.float64]
BASELINE = -1  # in place of a block


@dataclass
class Watched:
    """What one objective, or one operation, saw: response times in blocks of time; `failures` and `totals`: failed
    requests and requests by block; `unanswered`: requests without an answer that are no fast responses of an objective;
    `alone`: response times of the baseline."""

    blocks: list[Histogram] = field(default_factory=lambda: [Histogram() for _ in range(BLOCKS)])
    alone: Histogram = field(default_factory=Histogram)
    failures: dict[int, int] = field(default_factory=dict)
    totals: dict[int, int] = field(default_factory=dict)
    unanswered: int = 0
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
    `operations` by scenario, `wanted` in the order of the objectives; `memory`: (seconds, bytes) of each process;
    `metric`: whose times these are; `stolen`: share of time that a hypervisor took from the core that lost most (NaN
    where the host was not seen); `generator`: what it did in these seconds, with the response times of `metric`;
    `names` of requests and operations; `unanswered`: requests under load that got no answer; `broke`: iterations that
    the script broke off, which count as failed requests."""

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
    metric: str | None = None
    stolen: Array | None = None
    generator: GeneratorSeconds = field(default_factory=GeneratorSeconds)
    names: tuple[str, ...] = ()
    unanswered: int = 0
    broke: int = 0


def hold_series(
    run: RunReader, hold: Mapping[str, Any] | None, baseline: Mapping[str, Any] | None, objectives: Sequence[Wanted]
) -> HoldSeries:
    """Read `run` over the windows of these steps; either may be missing."""
    metric = run.first_metric(TIMES)
    rows: list[tuple[float, float, float, float, float]] = []
    operations: dict[str, Watched] = defaultdict(Watched)
    wanted = [Watched() for _ in objectives]
    generator, edges = GeneratorSeconds(), _edges(hold, baseline)
    tags = sorted({"scenario", "name", "status", "error_code", *(name for one in objectives for name in one.tags)})
    names: set[str] = set()
    unanswered = broke = 0
    windows = windows_of(step for step in (hold, baseline) if step is not None)
    for part in run.blocks((metric or "", FAILED), arrived_in=windows):
        for snapshot in part.whole_seconds(with_buckets=False):
            if _block_of(snapshot.second, hold, baseline) not in (None, BASELINE):
                rows.append(_row(snapshot, metric))
                broke += snapshot.broke
                generator.add(snapshot, with_times=False)
        for merged in part.merged(edges, tags):
            if (block := _block_of(merged.from_s, hold, baseline)) is not None:
                _add(merged.series, block, metric, operations, objectives, wanted)
                if block != BASELINE:
                    lost = (int(one.total or 0) for one in merged.series if one.metric == FAILED and is_unanswered(one))
                    unanswered += sum(lost)
                    generator.unknown_names += unknown_names(merged.series)
                names |= {
                    str(one.tags[tag]) for one in merged.series for tag in ("name", "scenario") if tag in one.tags
                }
    columns = np.array(rows, dtype=float).reshape(-1, 5).T
    memory, whole, free, stolen = _resources(run.resources(), hold, generator)
    for operation in operations.values():
        generator.add_times(operation.merged)
    return HoldSeries(
        columns[0],
        columns[1],
        columns[2],
        columns[3],
        columns[4],
        dict(operations),
        wanted,
        memory,
        whole,
        free,
        metric,
        np.array([stolen.get(int(second), math.nan) for second in columns[0]]),
        generator,
        tuple(sorted(names)),
        unanswered,
        broke,
    )


def _block_of(second: int, hold: Mapping[str, Any] | None, baseline: Mapping[str, Any] | None) -> int | None:
    """The block of time of that second: BASELINE, 0 to BLOCKS − 1 of the held load, None outside of both."""
    if _within(baseline, second):
        return BASELINE
    if hold is None or not _within(hold, second):
        return None
    length = max(1.0, hold["end_s"] - hold["measured_from_s"])
    return min(BLOCKS - 1, int((second - hold["measured_from_s"]) * BLOCKS / length))


def _edges(hold: Mapping[str, Any] | None, baseline: Mapping[str, Any] | None) -> list[int]:
    """The seconds at which another block begins."""
    found: set[int] = set()
    for step in (hold, baseline):
        if step is not None:
            seconds = range(math.floor(step["measured_from_s"]), math.ceil(step["end_s"]) + 1)
            found |= {at for at in seconds if _block_of(at, hold, baseline) != _block_of(at - 1, hold, baseline)}
    return sorted(found)


def _within(step: Mapping[str, Any] | None, second: float) -> bool:
    return step is not None and step["measured_from_s"] <= second < step["end_s"]


def _row(snapshot: Snapshot, metric: str | None) -> tuple[float, float, float, float, float]:
    """One second: second, mean in ms (NaN without any), failed, requests, done."""
    count = total = 0.0
    failed = requests = float(snapshot.broke)
    for series in snapshot.series:
        if series.metric == metric and series.count:
            count += series.count
            total += float(series.sum or 0.0)
        elif series.metric == FAILED:
            failed += int(series.passes or 0)
            requests += int(series.total or 0)
    return float(snapshot.second), total / count if count else math.nan, failed, requests, float(snapshot.done)


def _add(
    merged: Sequence[Series],
    block: int,
    metric: str | None,
    operations: dict[str, Watched],
    objectives: Sequence[Wanted],
    wanted: Sequence[Watched],
) -> None:
    """Add some seconds of a block."""
    for series in merged:
        watched = [(one, of.limit) for one, of in zip(wanted, objectives, strict=True) if of.matches(series)]
        operation = str(series.tags.get("scenario") or "default")
        if series.metric == metric and series.count:
            _add_times(operations[operation], block, series)
            for one, limit in watched:
                _add_times(one, block, series, limit.limit if limit.unit == "ms" else None)
        elif series.metric == FAILED and block != BASELINE:
            for one in (operations[operation], *(one for one, _ in watched)):
                one.failures[block] = one.failures.get(block, 0) + int(series.passes or 0)
                one.totals[block] = one.totals.get(block, 0) + int(series.total or 0)


def _add_times(watched: Watched, block: int, series: Series, limit_ms: float | None = None) -> None:
    """Of an objective, with its limit, a request without an answer counts only where it took longer."""
    there = watched.alone if block == BASELINE else watched.blocks[block]
    if limit_ms is None or not is_unanswered(series):
        there.add_series(series)
        return
    slow = only_above(series, limit_ms)
    there.add(slow)
    watched.unanswered += series.count - slow.count if block != BASELINE else 0


def _resources(
    rows: Iterable[Mapping[str, Any]], hold: Mapping[str, Any] | None, generator: GeneratorSeconds
) -> tuple[dict[str, tuple[Array, Array]], float | None, float | None, dict[int, float]]:
    """Memory of processes; memory of the host and what of it is free; what was stolen, by second. Rows of the
    generator's machine go to `generator`."""
    stolen: dict[int, float] = {}
    found: dict[str, list[tuple[float, float]]] = defaultdict(list)
    whole = free = None
    for row in rows:
        values, source = row.get("values") or {}, str(row.get("source"))
        if not _within(hold, float(row.get("second", -1))):
            continue
        generator.add_row(row)
        if source.startswith("process:") and "rss_bytes" in values:
            found[source.partition(":")[2]].append((float(row["second"]), float(values["rss_bytes"])))
        if source == "host" and "memory_available_bytes" in values:
            free = float(values["memory_available_bytes"])
            whole = free + float(values.get("memory_used_bytes", 0.0))
        if source == "host" and "cpu_steal_worst_core_share" in values:
            stolen[int(row["second"])] = float(values["cpu_steal_worst_core_share"])
    arrays = {name: np.array(points).T for name, points in found.items()}
    return {name: (points[0], points[1]) for name, points in arrays.items()}, whole, free, stolen
