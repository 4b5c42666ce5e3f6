"""Did the target become slower or quicker while it was searched? By its response times at low levels, early and late.

A target whose load writes data, fills its memory or leaves something behind answers slower from minute to minute. What
it carries then falls during the search, and further after it. One that compiles or fills its caches becomes quicker.
At a low level nothing waits, so that its response times show it: those of the last step at such a level against those
of the first, at least half a minute before, if the cores of the host do not explain it.

Slower: by a quarter of the median at that level; and, by a quarter and by more than chance explains by ranks, than in
all that was held at that level and at higher ones before, where a request takes no less. Quicker: likewise, than in all
that was held at that level and at lower ones before, where a request takes no longer.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from plimsoll.experiments.capacity.result import ChangedTimes
from plimsoll.experiments.steps.measure import Measurement
from plimsoll.experiments.steps.record import AFTER_OVERLOAD, StepRecord
from plimsoll.runs.histogram import Histogram
from plimsoll.stats.comparison.rank_shift import rank_shift

LOW_SHARE = 0.5  # of the level up to which hardly anything waits
FIRST_STEPS, UNHURRIED = 3, 2.0
LEAST_APART_S = 30.0
FEWEST_TIMES = 30
LEAST_RATIO, LEAST_Z = 1.25, 4.0
SpeedIn = Callable[[Measurement], float]


def slowed(records: Sequence[StepRecord], host_speed: SpeedIn) -> ChangedTimes | None:
    """How much slower it became, at the lowest level that shows it; None where it did not, or nobody knows.
    `host_speed`: of the host in a step."""
    return next((found for found, ratio in _changes(records, host_speed) if ratio >= LEAST_RATIO), None)


def quickened(records: Sequence[StepRecord], host_speed: SpeedIn) -> ChangedTimes | None:
    """How much quicker, likewise."""
    return next((found for found, ratio in _changes(records, host_speed) if ratio <= 1 / LEAST_RATIO), None)


def _changes(records: Sequence[StepRecord], host_speed: SpeedIn) -> Iterator[tuple[ChangedTimes, float]]:
    """Of each low level that was held early and late, from the lowest on: its times then, and their ratio as far as
    neither chance nor the host explains it."""
    calm = sorted(filter(_is_calm, records), key=lambda one: one.start_s)
    low = [one for one in calm if one.level <= LOW_SHARE * _most_unhurried(calm)]
    for level in sorted({one.level for one in low}):
        at_level = [one for one in low if one.level == level]
        first, last = at_level[0], at_level[-1]
        if last.start_s - first.end_s < LEAST_APART_S:
            continue
        before = [one for one in low if one.end_s <= first.end_s + LEAST_APART_S]
        ratio = _ratio(first, before, last, host_speed)
        median_ms = [one.measurement.times.percentile(0.5) for one in (first, last)]
        yield ChangedTimes(level, median_ms[0], median_ms[1], first.end_s, last.start_s), ratio


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


def _ratio(first: StepRecord, before: Sequence[StepRecord], last: StepRecord, host_speed: SpeedIn) -> float:
    """Median time of `last` ÷ that of `first` and of all before it that should be as slow (or as quick), whichever is
    nearer, with the best that the host's speed explains; 1 where chance does."""
    late = last.measurement.times
    faster = host_speed(last.measurement) / host_speed(first.measurement)
    for slower in (True, False):
        alike = [one for one in before if (one.level >= last.level if slower else one.level <= last.level)]
        early = Histogram.merge(one.measurement.times for one in alike)
        medians = [early.percentile(0.5), first.measurement.times.percentile(0.5)]
        z = rank_shift(early.bucket_index, early.bucket_count, late.bucket_index, late.bucket_count).z
        if slower and z >= LEAST_Z:
            return max(1.0, late.percentile(0.5) * min(1.0, faster) / max(medians))
        if not slower and z <= -LEAST_Z:
            return min(1.0, late.percentile(0.5) * max(1.0, faster) / min(medians))
    return 1.0
