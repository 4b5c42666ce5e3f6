"""Did the target become slower while it was searched? By its response times at low levels, early and late.

A target whose load writes data, fills its memory or leaves something behind answers slower from minute to minute. What
it carries then falls during the search, and further after it. At a low level nothing waits, so that its response times
show it: those of the last step at such a level against those of the first, at least half a minute before, if the cores
of the host were as fast.

Slower: by a quarter of the median at that level; and, by a quarter and by more than chance explains by ranks, than in
all that was held at that level and at higher ones before, where a request takes no less. A target that was cold at
first shows the opposite.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from plimsoll.experiments.measure import Measurement
from plimsoll.experiments.result import AFTER_OVERLOAD, Slowed, StepRecord
from plimsoll.runs.histogram import Histogram
from plimsoll.stats.rank_shift import rank_shift

LOW_SHARE = 0.5  # of the level up to which hardly anything waits
FIRST_STEPS, UNHURRIED = 3, 2.0
LEAST_APART_S = 30.0
FEWEST_TIMES = 30
LEAST_RATIO, LEAST_Z = 1.25, 4.0


def slowed(records: Sequence[StepRecord], host_speed: Callable[[Measurement], float]) -> Slowed | None:
    """How much slower it became, at the lowest level that shows it; None where it did not, or nobody knows.
    `host_speed`: of the host in a step."""
    calm = sorted(filter(_is_calm, records), key=lambda one: one.start_s)
    low = [one for one in calm if one.level <= LOW_SHARE * _most_unhurried(calm)]
    for level in sorted({one.level for one in low}):
        last = max((one for one in low if one.level == level), key=lambda one: one.start_s)
        first = next(one for one in low if one.level == level)
        before = [one for one in low if one.level >= level and one.end_s <= first.end_s + LEAST_APART_S]
        if last.start_s - first.end_s >= LEAST_APART_S and _is_slower(first, before, last, host_speed):
            median_ms = [one.measurement.times.percentile(0.5) for one in (first, last)]
            return Slowed(level, median_ms[0], median_ms[1], first.end_s, last.start_s)
    return None


def _is_calm(record: StepRecord) -> bool:
    """Whether its times are those of a target that nothing keeps busy: not right after an overload, not disturbed."""
    judged = record.judgement
    seen = record.measurement
    unmarred = not (judged.disturbed or judged.capped or seen.failed) and seen.times.count >= FEWEST_TIMES
    return judged.verdict == "good" and unmarred and record.kind not in AFTER_OVERLOAD


def _most_unhurried(calm: Sequence[StepRecord]) -> float:
    """The highest level at which a request took hardly longer than at the lowest of the first ones."""
    median_ms = [one.measurement.times.percentile(0.5) for one in calm]
    idle_ms = min(median_ms[:FIRST_STEPS], default=0.0)
    levels = (one.level for one, ms in zip(calm, median_ms, strict=True) if ms <= UNHURRIED * idle_ms)
    return max(levels, default=0.0)


def _is_slower(
    first: StepRecord, before: Sequence[StepRecord], last: StepRecord, host_speed: Callable[[Measurement], float]
) -> bool:
    early, late = Histogram.merge(one.measurement.times for one in before), last.measurement.times
    faster = host_speed(last.measurement) / host_speed(first.measurement)
    least_ms = late.percentile(0.5) * min(1.0, faster) / LEAST_RATIO
    if least_ms < max(early.percentile(0.5), first.measurement.times.percentile(0.5)):
        return False
    return rank_shift(early.bucket_index, early.bucket_count, late.bucket_index, late.bucket_count).z >= LEAST_Z
