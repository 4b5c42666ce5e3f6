"""The expected level is always held when there is one, until its objectives are decided or the time for it is over.

An open load is held there on the way up, before the first level above it: what an overload leaves in the target is in
none of its numbers. Held at the end, 38 s after an overload that had not drained, 300 users took 0.69 cores and not
0.13. It takes as long as its objectives need there, by how often their requests came so far, where that is at most a
third of the load time; where it was not held then, that time is kept back from the search (`kept_back_s`). Of a load so
small that not even that time tells whether it is carried, a level that the search holds is first, as long as none is
carried: it tells that of all below it too. Once a level above it is carried, the expected one need not prove it again.
It is held for the least length of a step even where the backlog of an overload took that time, because what it says is
what was asked. It is left out where an open load there is proven to be too much, where it is above the greatest level
allowed or above what the script can send, and where the search held it for long enough to decide its objectives.

The objectives are looked at each second, by tests that allow this (stats/estimates/quantile_test.py) at half the error;
the other half is for the look at the end (findings/objectives.py). So a step may end with the second that decides, and
it goes on while that may still come within its time. Means and maxima have no such test, and are not waited for.
"""

from __future__ import annotations

import math
from collections.abc import Callable

from plimsoll.experiments.capacity.result import CapacitySettings
from plimsoll.experiments.capacity.why_next import EXPECTED
from plimsoll.experiments.steps.holding import Conclude, StepHolder
from plimsoll.experiments.steps.judgement import Judgement
from plimsoll.experiments.steps.measure import Measurement
from plimsoll.experiments.steps.record import Bracket, StepRecord, overloaded_probes
from plimsoll.runs.readings.objective_samples import Samples, Watch, allowed_share
from plimsoll.runs.snapshot import Snapshot
from plimsoll.stats.estimates.quantile_test import ERROR, fewest_samples
from plimsoll.study.objectives import Limit

LONGEST_STEPS = 6
AWAITED = 1.3  # times the fewest samples that decide, as the test is asked each second
FEWEST_OF_RATE = 10  # samples of a request, to tell how often it comes
MOST_KEPT, TOLD_BY = 1 / 3, 2.0  # share of the load time; times the least that tells


class ExpectedLevel:
    """The expected level of a search, and what its objectives saw there in whichever step held it."""

    def __init__(self, holder: StepHolder, settings: CapacitySettings) -> None:
        self._holder, self._settings = holder, settings
        self._watches: dict[float, Watch] = {}
        holder.watch = self._see

    def kept_back_s(self, bounds: Bracket, telling_step_s: Callable[[float], float]) -> float:
        """Seconds of the load time that the search leaves for it; 0 where it need not be held. `bounds`: what is proven
        of an open load; `telling_step_s`: how long a step of a level lasts before it can be told to be carried."""
        settings = self._settings
        if not self._may_be_held(bounds.bad) or self._held_s >= settings.step_s:
            return 0.0
        telling_s = self._telling_s(bounds.good, telling_step_s)
        most_s = max(settings.step_s, MOST_KEPT * settings.load_budget_s)
        awaited_s = self._objectives_s(min(most_s, LONGEST_STEPS * settings.step_s))
        if bounds.good is None and not awaited_s and telling_s > most_s:
            return 0.0
        return min(most_s, max(settings.step_s, telling_s, awaited_s)) + math.ceil(self._holder.warm_up_s)

    def _telling_s(self, good: float | None, telling_step_s: Callable[[float], float]) -> float:
        """Seconds until it can be told to be carried; 0 where a level that is carried tells it."""
        level = self._settings.expected_level
        return 0.0 if level is None or (good is not None and good >= level) else telling_step_s(level)

    def _objectives_s(self, most_s: float) -> float:
        """Seconds in which the objectives can be decided there, of those that can within `most_s`."""
        needed = (self._may_take_s(place, one.limit) for place, one in enumerate(self._settings.objectives))
        return max((seconds for seconds in needed if seconds <= most_s), default=0.0)

    def _may_take_s(self, place: int, limit: Limit) -> float:
        """Until the fewest samples that decide have come, by the level at which most of them came for a unit of load;
        infinity where nobody knows."""
        allowed, level = allowed_share(limit), self._settings.expected_level or 0.0
        if allowed is None or not 0 < allowed < 1:
            return math.inf
        counts = ((at, watch.samples[place]) for at, watch in self._watches.items() if at > 0)
        rates = [one.count / one.seconds / at for at, one in counts if one.count >= FEWEST_OF_RATE]
        per_s = max(rates, default=0.0) * level
        return AWAITED * fewest_samples(allowed, ERROR / 2) / per_s if per_s else math.inf

    def hold(
        self,
        bounds: Bracket,
        left_s: float,
        conclude: Conclude,
        telling_step_s: Callable[[float], float] = lambda level: 0.0,
    ) -> StepRecord | None:
        """Hold it; None where it need not be. `left_s` of the load time are left; `conclude` judges the step, which
        goes on while it is undecided, for as long as it may take to tell."""
        settings, level, before_s = self._settings, self._settings.expected_level, self._held_s
        telling_s = self._telling_s(bounds.good, telling_step_s)
        limit_s = max(settings.step_s, min(left_s, max(LONGEST_STEPS * settings.step_s, TOLD_BY * telling_s)))
        enough = before_s >= settings.step_s and not (
            left_s >= settings.step_s and self._is_awaited(before_s + limit_s)
        )
        if level is None or not self._may_be_held(bounds.bad) or enough:
            return None

        def decide(seen: Measurement) -> Judgement | None:
            found, length = conclude(seen), len(seen.seconds)
            if found.given_up:
                return found
            if found.verdict == "undecided" and length < min(limit_s, TOLD_BY * telling_s):
                return None
            return found if length >= settings.step_s and not self._is_awaited(before_s + limit_s) else None

        return self._holder.hold(level, "expected", limit_s, decide, conclude, why=EXPECTED)

    def _see(self, level: float, snapshot: Snapshot) -> None:
        if self._settings.objectives or level == self._settings.expected_level:
            self._watch_at(level).add(snapshot)

    def _watch_at(self, level: float) -> Watch:
        return self._watches.setdefault(level, Watch(self._settings.objectives))

    @property
    def _held_s(self) -> int:
        """Seconds for which the expected level was held."""
        return self._watch_at(self._settings.expected_level or 0.0).seconds

    def _is_awaited(self, until_s: float) -> bool:
        """Whether an objective is undecided and about to be decided before the level was held for so long, by what was
        seen so far."""
        watch = self._watch_at(self._settings.expected_level or 0.0)
        return any(_needed_s(one, watch.seconds) <= until_s for one in watch.samples)

    def _may_be_held(self, bad: float | None) -> bool:
        settings, level = self._settings, self._settings.expected_level
        if level is None or not settings.hold_expected or (bad is not None and level >= bad):
            return False
        if settings.max_level is not None and level > settings.max_level:
            return False
        records = self._holder.records
        if any(step.judgement.capped and step.level <= level for step in records):
            return False
        return not self._is_overloaded_below(level)

    def _is_overloaded_below(self, level: float) -> bool:
        """Whether a probe saw an overload at that level or below it, and nothing since that it is carried. To hold that
        one (`_OpenSearch._hold_overload`) tells more of both."""
        records = self._holder.records
        carried = max(
            (one.level for one in records if one.kind != "probe" and one.judgement.verdict == "good"), default=0
        )
        return self._holder.source.open and any(carried < one <= level for one in overloaded_probes(records))


def _needed_s(samples: Samples, held_s: int) -> float:
    """Seconds after which that objective will be decided; infinity where it is by now, or may never be."""
    if samples.limit.statistic in ("mean", "max") or not samples.count:
        return math.inf
    found = samples.judged(ERROR / 2, any_time=True)
    if found.verdict != "undecided" or found.times_longer is None:
        return math.inf
    return found.times_longer * held_s
