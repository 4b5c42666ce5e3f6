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

LOW_SHARE = 0.5  # of what is carried; below it hardly anything waits
LEAST_APART_S = 30.0
FEWEST_TIMES = 30
LEAST_RATIO, LEAST_Z = 1.25, 4.0


def slowed(
    records: Sequence[StepRecord], carried: float | None, host_speed: Callable[[Measurement], float]
) -> Slowed | None:
    """How much slower it became, at the lowest level that shows it; None where it did not, or nobody knows.
    `carried`: the level that is; `host_speed`: of the host in a step."""
    low = [one for one in records if _is_calm(one) and carried is not None and one.level <= LOW_SHARE * carried]
    for level in sorted({one.level for one in low}):
        last = max((one for one in low if one.level == level), key=lambda one: one.start_s)
        before = [one for one in low if one.level >= level and one.end_s + LEAST_APART_S <= last.start_s]
        first = next((one for one in before if one.level == level), None)
        if first is not None and _is_slower(first, before, last, host_speed):
            median_ms = [one.measurement.times.percentile(0.5) for one in (first, last)]
            return Slowed(level, median_ms[0], median_ms[1], first.end_s, last.start_s)
    return None


def _is_calm(record: StepRecord) -> bool:
    """Whether its times are those of a target that nothing keeps busy: not right after an overload, not disturbed."""
    judged = record.judgement
    unmarred = not (judged.disturbed or judged.capped or record.measurement.failed)
    return judged.verdict == "good" and unmarred and record.kind not in AFTER_OVERLOAD


def _is_slower(
    first: StepRecord, before: Sequence[StepRecord], last: StepRecord, host_speed: Callable[[Measurement], float]
) -> bool:
    early, late = Histogram.merge(one.measurement.times for one in before), last.measurement.times
    if min(first.measurement.times.count, late.count) < FEWEST_TIMES:
        return False
    faster = host_speed(last.measurement) / host_speed(first.measurement)
    least_ms = late.percentile(0.5) * min(1.0, faster) / LEAST_RATIO
    if least_ms < max(early.percentile(0.5), first.measurement.times.percentile(0.5)):
        return False
    return rank_shift(early.bucket_index, early.bucket_count, late.bucket_index, late.bucket_count).z >= LEAST_Z
