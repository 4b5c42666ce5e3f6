"""What the script's own metrics were at each load that was held: read once from the run directory, second by second.

Memory grows with the seconds, the loads and the metrics, never with the requests.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from plimsoll.findings.beside.held_windows import Held, Windows
from plimsoll.runs.histogram import Histogram
from plimsoll.runs.snapshot import ScriptMetric, Series
from plimsoll.stats.estimates.batch_ratio import MOST_BATCHES, RatioInterval, batched_share, ratio_interval
from plimsoll.stats.estimates.block_quantile import QuantileInterval, quantile_interval

if TYPE_CHECKING:
    from plimsoll.runs.reader import RunReader

CONFIDENCE = 0.95
TAIL = 0.95


@dataclass
class MetricSeen:
    """A metric at one load: `top` ÷ `bottom` of each of its seconds is what is asked: the sum of a counter, passes of
    values, the sum of values ÷ their number. `last`, `least`, `most`: of a gauge."""

    metric: ScriptMetric
    top: list[float] = field(default_factory=list)
    bottom: list[float] = field(default_factory=list)
    blocks: list[Histogram] = field(default_factory=list)
    last: float | None = None
    least: float = float("inf")
    most: float = float("-inf")

    def begin(self) -> None:
        """A second begins, without values so far."""
        self.top.append(0.0)
        self.bottom.append(0.0)

    def add(self, series: Series, block: int) -> None:
        """What the metric was in the second that has begun, which is in that block of time."""
        if series.kind != self.metric.kind:  # two scripts of one comparison may use a name for two things
            return
        if series.kind == "counter":
            self.top[-1] += series.value or 0.0
            self.bottom[-1] = 1.0
        elif series.kind == "rate":
            self.top[-1] += series.passes or 0
            self.bottom[-1] += series.total or 0
        elif series.kind == "trend":
            self.top[-1] += series.sum
            self.bottom[-1] += series.count
            while len(self.blocks) <= block:
                self.blocks.append(Histogram())
            self.blocks[block].add_series(series)
        elif series.kind == "gauge" and series.value is not None:
            self.last = series.value
            self.least = min(self.least, series.value if series.min is None else series.min)
            self.most = max(self.most, series.value if series.max is None else series.max)

    @property
    def is_there(self) -> bool:
        """Whether the script recorded it at this load."""
        return self.last is not None or any(self.bottom)


@dataclass
class LoadSeen:
    """A load with its seconds, the iterations done in each, and the script's metrics by name."""

    load: Held
    metrics: dict[str, MetricSeen]
    done: list[float] = field(default_factory=list)

    @property
    def seconds(self) -> int:
        """How many were measured."""
        return len(self.done)

    def per_s(self, name: str) -> RatioInterval | None:
        """A counter per second."""
        return ratio_interval(self.metrics[name].top, np.ones(self.seconds), CONFIDENCE)

    def per_iteration(self, name: str) -> RatioInterval | None:
        """A counter per iteration; None where none was done."""
        return ratio_interval(self.metrics[name].top, self.done, CONFIDENCE)

    def share(self, name: str) -> RatioInterval | None:
        """Passes of a rate."""
        return batched_share(self.metrics[name].top, self.metrics[name].bottom, CONFIDENCE)

    def mean(self, name: str) -> RatioInterval | None:
        """Of the values of a trend."""
        return ratio_interval(self.metrics[name].top, self.metrics[name].bottom, CONFIDENCE)

    def tail(self, name: str) -> tuple[QuantileInterval, float] | None:
        """p95 of a trend and its largest value."""
        blocks = self.metrics[name].blocks
        merged = Histogram.merge(blocks)
        found = quantile_interval(blocks, merged, TAIL, CONFIDENCE)
        return None if found is None else (found, merged.max)


def metrics_seen(run: RunReader, loads: Sequence[Held], metrics: Sequence[ScriptMetric]) -> list[LoadSeen]:
    """Of each of the loads, in their order. `run`: a RunReader."""
    found = [LoadSeen(load, {one.name: MetricSeen(one) for one in metrics}) for load in loads]
    windows, blocks_s = Windows(loads), [max(1.0, load.length_s / MOST_BATCHES) for load in loads]
    gauges = {one.name for one in metrics if one.kind == "gauge"}
    for block in run.blocks({one.name for one in metrics}):
        for snapshot in block.whole_seconds():
            at = windows.of(snapshot.second)
            if at is None:
                continue
            seen = found[at]
            place = int(seen.seconds / blocks_s[at])
            seen.done.append(float(snapshot.done))
            for one in seen.metrics.values():
                one.begin()
            for series in snapshot.series:
                seen.metrics[series.metric].add(series, place)
        for snapshot in block.snapshots() if gauges else ():
            if (at := windows.of(snapshot.second)) is not None:
                for series in snapshot.series:
                    if series.metric in gauges:
                        found[at].metrics[series.metric].add(series, 0)
    return [one for one in found if one.seconds]


def pooled(seen: Sequence[LoadSeen], name: str) -> LoadSeen:
    """Several loads as one, for what a counter is per iteration."""
    top = [value for one in seen for value in one.metrics[name].top]
    done = [value for one in seen for value in one.done]
    metric = MetricSeen(seen[0].metrics[name].metric, top, [1.0] * len(top))
    return LoadSeen(seen[0].load, {name: metric}, done)
