"""The level that is carried is held once more, from rest: a target that aged meanwhile, or a lucky step, shows.

A step against it is followed by another, and the bracket by the search, if most steps say so. One that cannot tell goes
on for as long again, if time is left; so does one that leaves more than half a second's work over, which noise alone
may do, and a queue that grows slowly too. On a host that is slower than in the mean it ends where two seconds' work was
left for five: its speed may explain that, but no more of it is needed; it is held again if time is left.

A target that is quicker now than when its levels were held (a virtual machine has compiled what is called often, caches
have filled) may carry by now what it did not: where an iteration takes less than seven tenths of what it took at that
level or at one below before, the lowest level that was not carried is held again. Chance does that to some targets
that stay the same, which costs them a step.

A target that collapses does so after a while, by chance, and more seldom the lower the level is. So of one that does
the lowest level is held that the wanted width allows, twice as long where there is time; that one is what is carried
then, and one step against it is enough.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from functools import partial

from plimsoll.experiments.capacity.known import Known
from plimsoll.experiments.capacity.result import Confirmation, Confirmed
from plimsoll.experiments.capacity.search import AIM_SHARE, falls_past_top, rounded
from plimsoll.experiments.capacity.step_ends import is_behind_others
from plimsoll.experiments.capacity.why_next import CONFIRMED
from plimsoll.experiments.steps.evidence import waiting_of
from plimsoll.experiments.steps.judge import LEAST_DRIFT, calm_words, judge
from plimsoll.experiments.steps.judgement import Judgement
from plimsoll.experiments.steps.measure import Measurement
from plimsoll.experiments.steps.record import StepRecord
from plimsoll.stats.throughput.host_speed import UNKNOWN
from plimsoll.stats.throughput.saturation import is_calm
from plimsoll.words import count_words, ms_words, number, time_words

MOST_CONFIRMATIONS, MOST_DISTURBED, MOST_BEHIND, CONFIRM_STEPS = 2, 2, 2, 3
KEPT_UP = "Another step carried this level, or a higher one."
LEFT_OVER = "But {} iterations waited at its end, which is {} of work."
MOST_WAITING_Z = 1.0
MOST_LEFT, MOST_LEFT_S, MUCH_LEFT_S, LASTING_S = 10, 0.5, 2.0, 5
PLAINLY_LEFT_Z = 4.0  # standard deviations of the arrivals of the step, as if they were all that varies
LONGER = 2
QUICKER = 0.7
WITHDRAWN = "But {} longer steps at {} fell behind on a slower host, so that it is open whether it is carried."
OUTGROWN = "But the target is quicker since: at level {} an iteration took {}, and {} later."


class Confirming:
    """Confirming steps of an open search; `recover` drains after one and says whether the target still answers."""

    def __init__(self, known: Known, recover: Callable[[StepRecord], bool]) -> None:
        self.known = known
        self._recover = recover

    def confirm(self) -> bool:
        """Hold the level that is carried once more, again where the two disagree or the step was disturbed, and the
        next lower one where steps on a slow host leave it open. True if another level is carried now than was held, or
        the bracket has become too wide, so that the search goes on."""
        known, result = self.known, self.known.result
        before, level, withdrawn = result.bracket.good, self._level(), False
        while level is not None and not self._is_confirmed(level) and self._leaves_open(level):
            known.withdraw(level, WITHDRAWN.format(MOST_BEHIND, number(level)))
            level, withdrawn = self._level(), True
            result.confirmation = self._earlier(level)
        if result.reason:
            return False
        if withdrawn and result.bracket.width > known.goal.width:
            return True
        return level is not None and result.bracket.good not in (before, level)

    def _is_confirmed(self, level: float) -> bool:
        found = self.known.result.confirmation
        return found is not None and found.verdict == "confirmed" and found.level == level

    def _earlier(self, level: float | None) -> Confirmation | None:
        """What confirmed that level before a higher one was looked at."""
        held = [one for one in self.known.holder.records if one.kind == "confirm" and one.level == level]
        kept = [one for one in held if one.judgement.verdict == "good"]
        return _confirmation(kept[-1], True) if kept else None

    def _leaves_open(self, level: float) -> bool:
        """Hold that level until it is confirmed or not, or the time is spent; whether steps on a slow host speak so
        much against it that it is open."""
        known, result, step_s = self.known, self.known.result, self.known.settings.step_s
        against = disturbed = 0
        behind: list[int] = []  # seconds of the steps on a slow host that did not keep up
        while against < MOST_CONFIRMATIONS and disturbed <= MOST_DISTURBED:
            if result.reason or known.left_s() < known.step_cost_s():
                break
            confirm_s, doubled_s = known.settings.confirm_s, 2 * known.settings.confirm_s
            enough_s = doubled_s if falls_past_top(known.trials) and known.left_s() >= doubled_s else confirm_s
            most_s = max(CONFIRM_STEPS * step_s, LONGER * enough_s)
            limit_s = max(step_s, min(most_s, known.left_s()))
            decide = partial(self._kept_up, proof=against > 0, enough_s=enough_s)
            conclude = partial(self._confirms, proof=against > 0)
            record = known.holder.hold(level, "confirm", limit_s, decide, conclude, why=CONFIRMED)
            known.note(again=record.judgement.verdict == "bad")
            if not self._recover(record):
                break
            result.confirmation = _confirmation(record, result.bracket.good == level)
            against += record.judgement.verdict == "bad"
            slow = record.judgement.verdict == "undecided" and self._is_behind(record.measurement)
            if slow and self._fell_behind(record.measurement):
                behind.append(len(record.measurement.seconds))
            carried = (len(one.measurement.seconds) for one in known.carried_from(level))
            if len(behind) >= MOST_BEHIND and sum(behind) >= max(carried, default=0):
                return True
            tells_nothing = record.judgement.disturbed or slow
            disturbed += tells_nothing
            if not (record.judgement.verdict == "bad" or tells_nothing) or self._tips_over(record):
                break
        return False

    def _fell_behind(self, seen: Measurement) -> bool:
        """Whether a step fell behind as it was, whatever its host would have let it do in the mean: beyond chance, or
        with more left than arrivals at random leave of what is carried. What the search takes for chance may come of
        overloaded steps, in which a target stalls that does not before: of 94/s a real one finished 54, 73 and 79% in
        three steps, which was within it."""
        context = self.known.context(seen)
        if judge(seen, replace(context, host=UNKNOWN, plateau=None)).verdict == "bad":
            return True
        return float(waiting_of(seen, context)[-1]) >= PLAINLY_LEFT_Z * math.sqrt(max(1.0, sum(seen.planned)))

    def quicker(self) -> str | None:
        """What shows that the target is quicker than when the confirmed level was held first; None where nothing
        does."""
        records = self.known.holder.records
        last = next((one for one in reversed(records) if one.kind == "confirm"), None)
        if last is None or last.judgement.verdict != "good":
            return None
        held = [one for one in records if one.kind == "hold" and one.judgement.verdict == "good"]
        before = max((one for one in held if one.level <= last.level), key=lambda one: one.level, default=None)
        if before is None or not (before.measurement.iterations.count and last.measurement.iterations.count):
            return None
        took_ms, takes_ms = before.measurement.iterations.mean, last.measurement.iterations.mean
        before_speed, last_speed = (self.known.host_speed_in(one.measurement) for one in (before, last))
        if takes_ms >= QUICKER * took_ms or last_speed >= before_speed + LEAST_DRIFT:
            return None
        return OUTGROWN.format(number(before.level), ms_words(took_ms), ms_words(takes_ms))

    def conclude_again(self, seen: Measurement) -> Judgement:
        """A confirming step in the light of what is known by now."""
        return self._confirms(seen, proof=False)

    def conclude_expected(self, seen: Measurement) -> Judgement:
        """The expected level, as a confirmation where one as high is carried: of few arrivals a step alone proves
        nothing."""
        good = self.known.result.bracket.good
        return self._conclude(seen, proof=good is None or seen.level > good)

    def _level(self) -> float | None:
        """The level to confirm."""
        bounds, goal = self.known.result.bracket, self.known.goal
        if bounds.good is None or bounds.bad is None or not falls_past_top(self.known.trials):
            return bounds.good
        return min(bounds.good, rounded(bounds.bad * (1 - AIM_SHARE * goal.width), goal.whole))

    def _tips_over(self, record: StepRecord) -> bool:
        """Whether the target collapsed in a confirming step: no luck with arrivals, so that it needs no second one."""
        return falls_past_top(self.known.trials) and record.judgement.own

    def _kept_up(self, seen: Measurement, proof: bool, enough_s: float) -> Judgement | None:
        """The judgement of a confirming step once there is one. `proof`: the step has to prove that the level is
        carried, as any other; else it is enough that it kept up for `enough_s`."""
        found = self._confirms(seen, proof)
        decided = found.given_up or found.verdict == "bad" or is_behind_others(found, seen)
        enough = found.verdict == "good" and len(seen.seconds) >= enough_s
        return found if decided or enough or self._is_behind(seen) else None

    def _is_behind(self, seen: Measurement) -> bool:
        """Whether much is left on a host that is slower than in the mean, which would leave the step undecided."""
        if self.known.host_speed_in(seen) > 1 - LEAST_DRIFT:
            return False
        waiting = waiting_of(seen, self.known.context(seen))
        held = len(seen.seconds) >= self.known.settings.step_s
        return held and float(waiting[-LASTING_S:].min()) >= MUCH_LEFT_S * max(seen.done_per_s, 1.0)

    def _confirms(self, seen: Measurement, proof: bool) -> Judgement:
        """As any step; but one that leaves work over confirms nothing."""
        found = self._conclude(seen, proof)
        if found.verdict != "good":
            return found
        left = waiting_of(seen, self.known.context(seen))[-1]
        if left <= max(MOST_LEFT, MOST_LEFT_S * seen.done_per_s):
            return found
        words = LEFT_OVER.format(count_words(left), time_words(left / seen.done_per_s))
        return replace(found, verdict="undecided", reasons=(*found.reasons, words), own=False)

    def _conclude(self, seen: Measurement, proof: bool) -> Judgement:
        found = judge(seen, self.known.context(seen))
        if proof or found.verdict != "undecided" or found.says_nothing or found.growth is None:
            return found
        waits = found.growth.queue_z > MOST_WAITING_Z
        if waits or not is_calm(found.growth) or found.growth.seconds < self.known.settings.step_s:
            return found
        return replace(found, verdict="good", reasons=(calm_words(found.growth, seen), KEPT_UP))


def _confirmation(record: StepRecord, stands: bool) -> Confirmation:
    """What a confirming step says; `stands`: the level is still the one that is carried."""
    found, seconds = record.judgement, len(record.measurement.seconds)
    verdict: Confirmed = "undecided"
    if found.verdict == "good" and stands:
        verdict = "confirmed"
    elif found.verdict == "bad":
        verdict = "contradicted"
    return Confirmation(record.level, verdict, seconds, " ".join(found.reasons))
