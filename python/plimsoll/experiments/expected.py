"""The expected level is always held when there is one, until its objectives are decided or the time for it is over.

Its time is kept back from the search (`kept_back_s`), as the confirmation's is, and it is held for the least length of
a step even where the backlog of an overload took that time, because what it says is what was asked. It is left out
where an open load there is proven to be too much, where it is above the greatest level allowed or above what the script
can send, and where it was held before.

The objectives are looked at each second, by tests that allow this (stats/quantile_test.py) at half the error; the other
half is for the look at the end (findings/objectives.py). So a step may end with the second that decides, and it goes on
while that may still come within its time. Means and maxima have no such test, and are not waited for.
"""

from __future__ import annotations

import math
from collections.abc import Callable

from plimsoll.experiments.judgement import Judgement
from plimsoll.experiments.measure import Measurement
from plimsoll.experiments.result import CapacitySettings, StepRecord
from plimsoll.experiments.steps import Conclude, StepHolder
from plimsoll.runs.objective_samples import Samples, Watch
from plimsoll.stats.quantile_test import ERROR

LONGEST_STEPS = 6
MOST_KEPT, TOLD_BY = 1 / 3, 2.0  # share of the load time; times the least that tells


def kept_back_s(
    holder: StepHolder, settings: CapacitySettings, bad: float | None, telling_step_s: Callable[[float], float]
) -> float:
    """Seconds of the load time that the search leaves for the expected level; 0 where it need not be held.
    `telling_step_s`: how long a step of a level lasts before it can be told to be carried."""
    if not _is_to_be_held(holder, settings, bad):
        return 0.0
    telling_s = telling_step_s(settings.expected_level) if settings.expected_level is not None else 0.0
    most_s = max(settings.step_s, MOST_KEPT * settings.load_budget_s)
    return min(most_s, max(settings.step_s, telling_s)) + math.ceil(holder.warm_up_s)


def hold_expected(
    holder: StepHolder,
    settings: CapacitySettings,
    bad: float | None,
    left_s: float,
    conclude: Conclude,
    telling_s: float = 0.0,
) -> StepRecord | None:
    """Hold the expected level; None where it need not be. `bad`: the lowest level proven to be too much for an open
    load, None where nothing is; `left_s` of the load time are left; `conclude` judges the step, which
    goes on while it is undecided until `telling_s`."""
    level = settings.expected_level
    if level is None or not _is_to_be_held(holder, settings, bad):
        return None
    limit_s = max(settings.step_s, min(left_s, max(LONGEST_STEPS * settings.step_s, TOLD_BY * telling_s)))
    watch = Watch(settings.objectives)

    def decide(seen: Measurement) -> Judgement | None:
        found, length = conclude(seen), len(seen.seconds)
        if found.given_up:
            return found
        if found.verdict == "undecided" and length < min(limit_s, TOLD_BY * telling_s):
            return None
        if length < settings.step_s or any(_is_awaited(one, length, limit_s) for one in watch.samples):
            return None
        return found

    holder.watch = watch.add
    try:
        return holder.hold(level, "expected", limit_s, decide, conclude)
    finally:
        holder.watch = None


def _is_awaited(samples: Samples, length: int, limit_s: float) -> bool:
    """Whether that objective is undecided and about to be decided within the step, by what was seen so far."""
    if samples.limit.statistic in ("mean", "max") or not samples.count:
        return False
    found = samples.judged(ERROR / 2, any_time=True)
    if found.verdict != "undecided" or found.times_longer is None:
        return False
    return found.times_longer * length <= limit_s


def _is_to_be_held(holder: StepHolder, settings: CapacitySettings, bad: float | None) -> bool:
    level = settings.expected_level
    if level is None or not settings.hold_expected or (bad is not None and level >= bad):
        return False
    if settings.max_level is not None and level > settings.max_level:
        return False
    if any(step.judgement.capped and step.level <= level for step in holder.records):
        return False
    held_s = sum(len(step.measurement.seconds) for step in holder.records if step.level == level)
    return held_s < settings.step_s
