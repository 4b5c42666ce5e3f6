"""The expected level is always held when there is one, until its objectives are decided or the time for it is over.

Its time is kept back from the search (`kept_back_s`), as the confirmation's is, and it is held for the least length of
a step even where the backlog of an overload took that time, because what it says is what was asked. It is left out
where an open load there is proven to be too much, where it is above the greatest level allowed or above what the script
can send, and where the search held it for long enough to decide its objectives.

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
from plimsoll.runs.snapshot import Snapshot
from plimsoll.stats.quantile_test import ERROR

LONGEST_STEPS = 6
MOST_KEPT, TOLD_BY = 1 / 3, 2.0  # share of the load time; times the least that tells


class ExpectedLevel:
    """The expected level of a search, and what its objectives saw there in whichever step held it."""

    def __init__(self, holder: StepHolder, settings: CapacitySettings) -> None:
        self._holder, self._settings = holder, settings
        self._watch, self._held_s = Watch(settings.objectives), 0
        holder.watch = self._see

    def kept_back_s(self, bad: float | None, telling_step_s: Callable[[float], float]) -> float:
        """Seconds of the load time that the search leaves for it; 0 where it need not be held. `bad`: the lowest level
        proven to be too much for an open load, None where nothing is; `telling_step_s`: how long a step of a level
        lasts before it can be told to be carried."""
        settings = self._settings
        if not self._may_be_held(bad) or self._held_s >= settings.step_s:
            return 0.0
        telling_s = telling_step_s(settings.expected_level) if settings.expected_level is not None else 0.0
        most_s = max(settings.step_s, MOST_KEPT * settings.load_budget_s)
        return min(most_s, max(settings.step_s, telling_s)) + math.ceil(self._holder.warm_up_s)

    def hold(self, bad: float | None, left_s: float, conclude: Conclude, telling_s: float = 0.0) -> StepRecord | None:
        """Hold it; None where it need not be. `left_s` of the load time are left; `conclude` judges the step, which
        goes on while it is undecided until `telling_s`."""
        settings, level, before_s = self._settings, self._settings.expected_level, self._held_s
        limit_s = max(settings.step_s, min(left_s, max(LONGEST_STEPS * settings.step_s, TOLD_BY * telling_s)))
        enough = before_s >= settings.step_s and not (
            left_s >= settings.step_s and self._is_awaited(before_s + limit_s)
        )
        if level is None or not self._may_be_held(bad) or enough:
            return None

        def decide(seen: Measurement) -> Judgement | None:
            found, length = conclude(seen), len(seen.seconds)
            if found.given_up:
                return found
            if found.verdict == "undecided" and length < min(limit_s, TOLD_BY * telling_s):
                return None
            return found if length >= settings.step_s and not self._is_awaited(before_s + limit_s) else None

        return self._holder.hold(level, "expected", limit_s, decide, conclude)

    def _see(self, level: float, snapshot: Snapshot) -> None:
        if level == self._settings.expected_level:
            self._watch.add(snapshot)
            self._held_s += 1

    def _is_awaited(self, until_s: float) -> bool:
        """Whether an objective is undecided and about to be decided before the level was held for so long, by what was
        seen so far."""
        return any(_needed_s(one, self._held_s) <= until_s for one in self._watch.samples)

    def _may_be_held(self, bad: float | None) -> bool:
        settings, level = self._settings, self._settings.expected_level
        if level is None or not settings.hold_expected or (bad is not None and level >= bad):
            return False
        if settings.max_level is not None and level > settings.max_level:
            return False
        return not any(step.judgement.capped and step.level <= level for step in self._holder.records)


def _needed_s(samples: Samples, held_s: int) -> float:
    """Seconds after which that objective will be decided; infinity where it is by now, or may never be."""
    if samples.limit.statistic in ("mean", "max") or not samples.count:
        return math.inf
    found = samples.judged(ERROR / 2, any_time=True)
    if found.verdict != "undecided" or found.times_longer is None:
        return math.inf
    return found.times_longer * held_s
