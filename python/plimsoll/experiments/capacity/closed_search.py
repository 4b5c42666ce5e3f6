"""The search over a closed workload: double the users until throughput is flat, measure that plateau, then look for the
level whose throughput is 95% of it.

Near that level throughput changes little with the users (1% of it may be 7% of them), so chance decides how narrow a
bracket can be: a level is held only where a step of the time that is left can be told from the border, the plateau's
own doubt included, and a level that cannot be told becomes no bound. Where no new level can be, the time that is left
goes to holding again what hinders most: the plateau, or an undecided level. The highest level below the border is held
once more at the end, and must do the same.

There is no drain between the steps: users wait for their answers, so what the last level began is gone within the
warm-up, twice the p90 of an iteration, of the last level or of the one to be held, whichever is longer; a pause would
only make all users begin at once.
"""

from __future__ import annotations

import math
from dataclasses import replace

from plimsoll.experiments.capacity import why_next
from plimsoll.experiments.capacity.ageing import slowed
from plimsoll.experiments.capacity.closed import (
    is_flat,
    judge_closed,
    throughput,
)
from plimsoll.experiments.capacity.closed_levels import LONGEST_STEPS, SPACING, ClosedLevels
from plimsoll.experiments.capacity.expected import ExpectedLevel
from plimsoll.experiments.capacity.persisting import FailureChecks
from plimsoll.experiments.capacity.ramp import (
    HANG_LIMIT_S,
    LONGEST_WARM_UP_S,
    MOST_PROBES,
    WARM_UPS,
    Ramp,
    warm_up_within,
)
from plimsoll.experiments.capacity.recovery import answered, come_to_rest, why_gone
from plimsoll.experiments.capacity.result import Cap, CapacityResult, CapacitySettings, Collapse, Confirmation
from plimsoll.experiments.capacity.search import Trial, bracket_of
from plimsoll.experiments.capacity.time_plan import more_time_words, spent_words
from plimsoll.experiments.steps.failing import fails_more, give_up_reason, more_failures
from plimsoll.experiments.steps.holding import StepHolder
from plimsoll.experiments.steps.judgement import Judgement, Verdict
from plimsoll.experiments.steps.measure import Measurement
from plimsoll.experiments.steps.record import Bracket, StepRecord
from plimsoll.experiments.steps.steadiness import throughput_drifts
from plimsoll.runs.readings.script_caps import BindingCap, LoadSeconds, binding_cap
from plimsoll.stats.throughput.saturation import variance_per_event
from plimsoll.words import amount_words, number, share_words

DONE_FOR_THROUGHPUT, LONGEST_PROBE = 400, 3
PRECISE = 0.03
MOST_PLATEAU_STEPS = 7
TRIES_A_LEVEL = 2
CONFIRM_SDS = 3.0
CLIFF_STEPS = 2
FEWEST_IDLE = 5
_WHY: dict[Verdict, str] = {
    "bad": "by all levels together, more users bring no more throughput",
    "good": "by all levels together, throughput still rises with the users",
    "undecided": "too close to tell",
}


def search_closed(holder: StepHolder, settings: CapacitySettings, result: CapacityResult) -> None:
    """Fill `result` with the bracket of the level at which throughput reaches 95% of its plateau."""
    search = _ClosedSearch(holder, settings, result)
    if search.ramp():
        search.narrow()
    search.hold_expected()
    plateau = search.known.plateau
    result.plateau_per_s = plateau.per_s if plateau.per_s and not search.known.has_cliff else None
    result.slowed = slowed(holder.records, lambda _: 1.0)
    result.collapse = search.collapse()
    if not result.reason:
        result.reason = search.reason()


class _ClosedSearch:
    def __init__(self, holder: StepHolder, settings: CapacitySettings, result: CapacityResult) -> None:
        self.holder, self.settings, self.result = holder, settings, result
        self.known = ClosedLevels(settings, whole=result.unit in ("vus", "users"))
        self.base_errors = (0, 0)
        self._checks = FailureChecks(holder, result)
        self._expected = ExpectedLevel(holder, settings)
        self.low: LoadSeconds | None = None
        self.warm_ups: list[tuple[float, float]] = []  # level, seconds that its own iterations ask for
        self.rests: list[StepRecord] = []

    def ramp(self) -> bool:
        """Double until flat; True if a plateau is in sight, False if there is none up to the greatest level."""
        ramp, level = Ramp(self.settings, "vus" if self.known.whole else self.result.unit), None
        for count in range(MOST_PROBES):
            level = self.known.held_for(ramp.first_level()) if level is None else level
            record = self._probe(level)
            if (count == 0 and self._unusable(record)) or self._is_gone(record):
                return False
            here = throughput(record.measurement)
            if self.known.has_fallen(here):
                self.known.fell.add(level)
                self._rest()
                return True
            self.known.points.append(here)
            if (cap := self._cap_of(record)) is not None and self._hold_capped(level, cap):
                return False
            self._note_warm_up(record)
            if count == 0:
                self.low = record.measurement.load
                self.base_errors = (record.measurement.failed, record.measurement.requests)
                record.judgement = self._conclude(record.measurement)  # what fails here is not for want of capacity
            if record.judgement.verdict == "bad" or is_flat(self.known.points):
                return True
            following = self.known.held_for(level * 2)
            if following <= level or self._left_s() < self._probe_cost_s() + self._step_cost_s():
                return self._hold_highest(level)
            level = following
        return False

    def _hold_highest(self, level: float) -> bool:
        """Hold the last level of the ramp, where throughput still rose: a probe is too short to call it carried. True
        if it did not rise after all, and the search goes on from there.

        Between two levels, one twice the other, a knee can hide: throughput then rises by a third and is flat in the
        half above it. So where it rises less than in proportion a level in between is held as well. Where it still
        rises from there it may be saturated or not: nothing beyond it was seen."""
        between = self.known.held_for(level / SPACING)
        for wanted in (level, between):
            if not self.known.is_done(wanted):
                if self._left_s() < self._step_cost_s():
                    break
                if not self._hold_long(wanted, self.settings.step_s, 0.0, why_next.RISING):
                    return False
                if wanted in self.known.failing or self.known.lowest_fallen <= level:
                    return True
            if is_flat([one for one in self.known.all() if one.level <= level]):
                return True
            if level not in self.known.held or not self.known.is_bent(level):
                break
        if self.known.held and all(map(self.known.is_bent, self.known.held)):
            straight = [one.level for one in self.known.points if not self.known.is_bent(one.level)]
            has_time = self._left_s() >= self._step_cost_s()
            why = why_next.RISING
            if straight and has_time and not self._hold_long(max(straight), self.settings.step_s, 0.0, why):
                return False
        self._take_straight()
        return False

    def _take_straight(self) -> None:
        """Held levels are carried as far as throughput is in proportion to the users; beyond that it is open."""
        bent = {level for level in self.known.held if self.known.is_bent(level)}
        if straight := [Trial(level, "good") for level in self.known.held if level not in bent]:
            self.result.bracket = self.holder.bracket = bracket_of(straight)
        for record in self.holder.records:
            if record.kind != "hold" or record.level not in self.known.held:
                continue
            words = f"{amount_words(self.known.held[record.level].per_s, 'iteration')}/s"
            if record.level in bent:
                share, _ = self.known.share_of_proportion(record.level)
                words += f", {share_words(share)} of what its users would do if none waited for another"
                why = f"{words}; whether more of them bring more was not seen."
                record.judgement = Judgement("undecided", (why,))
            else:
                record.judgement = Judgement("good", (f"{words}: throughput still rises with the users.",))

    def _cap_of(self, record: StepRecord) -> BindingCap | None:
        """What of the script keeps more VUs from sending more; None where requests fail."""
        if record.judgement.verdict == "bad":
            return None
        return binding_cap(self.settings.caps, record.measurement.load, self.low, presses=True)

    def _hold_capped(self, level: float, cap: BindingCap) -> bool:
        """Hold the level at which the script cannot send more; whether the target carries it."""
        held = Judgement("good", (cap.words,), cap=cap)
        limit_s = self.settings.step_s
        record = self.holder.hold(level, "hold", limit_s, lambda seen: None, lambda seen: held, why=why_next.CAPPED)
        if more_failures(record.measurement, self.base_errors) is not None:
            record.judgement = self._conclude(record.measurement)
            return False
        if not self._is_gone(record):
            self.result.bracket = self.holder.bracket = bracket_of([Trial(level, "good")])
            self.result.cap = Cap.of(cap, level, record.measurement.done_per_s)
        return True

    def narrow(self) -> None:
        """Measure the plateau around the flat level, then hold levels that chance lets tell from its border."""
        if not self._measure_plateau():
            return
        self._publish()
        held, contradicted = 0, True
        while contradicted:
            held = self._approach(held)
            contradicted = self._confirm()

    def hold_expected(self) -> None:
        """Hold the expected level, whatever throughput does there: users who wait cannot overload for good."""
        if self.result.status == "finished":
            self._expected.hold(Bracket(None, None), self._left_s(), self._conclude)

    def collapse(self) -> Collapse | None:
        """The lowest level that has collapsed, and whether it was as quick as at low load again soon after."""
        good, level = self.result.bracket.good, min(self.known.collapsed, default=None)
        carried = next((one for one in self.known.all() if one.level == good), None)
        if carried is None or level is None:
            return None
        found = Collapse(level, self.known.collapsed[level].per_s, carried.level, carried.per_s, recovery_tried=True)
        stays = [one.level for one in self.rests if one.judgement.verdict != "good"]
        if stays:
            return replace(found, stays_at=max(stays))
        longest = max(self.rests, key=lambda one: one.end_s - one.start_s, default=None)
        if longest is None:
            return found
        return replace(found, recovers_at=longest.level, recovery_s=longest.end_s - longest.start_s)

    def _approach(self, held: int) -> int:
        """Hold levels near the border, after `held` others, and keep the time for the confirmation and for the expected
        level; how many then."""
        steps = 2 if self.settings.expected_level and self.settings.hold_expected else 1
        kept_s = steps * (self.settings.step_s + math.ceil(self.holder.warm_up_s) + 1)
        while held < self.settings.most_steps and self.result.bracket.width > self.settings.width:
            if not self.known.has_cliff and not self.known.plateau.per_s and not self._measure_plateau():
                break
            left_s = self._left_s() - kept_s
            level, precise = self.known.next_level(self.result.bracket, left_s), 0.0
            why = why_next.NEAR_BORDER
            if level is None:
                level, precise = self.known.again(self.result.bracket, left_s), PRECISE * self.settings.width
                why = why_next.AGAIN
            if left_s < self._step_cost_s() or level is None or not self._hold_long(level, left_s / 3, precise, why):
                break
            held += 1
            self._publish()
        return held

    def _confirm(self) -> bool:
        """Hold the highest level below the border once more; True if it is not that any more: the search goes on."""
        level, settings = self.result.bracket.good, self.settings
        if level is None or self.result.reason or self._left_s() < self._step_cost_s():
            return False
        before = next(one for one in self.known.all() if one.level == level)
        lasts_s = settings.step_s
        if self.known.has_cliff:  # a target falls over after a while, by chance
            lasts_s = max(lasts_s, min(2 * settings.confirm_s, self._left_s() - settings.step_s))

        def decide(seen: Measurement) -> Judgement | None:
            over = give_up_reason(seen) is not None or self.known.has_fallen(throughput(seen))
            over = len(seen.seconds) >= (settings.step_s if over else lasts_s)
            return self._conclude(seen) if over else None

        self._warm_up_for(level)
        most_s, why = max(HANG_LIMIT_S, lasts_s), why_next.CONFIRMED
        record = self.holder.hold(level, "confirm", most_s, decide, self._conclude, why=why)
        if self._is_gone(record):
            return False
        now = throughput(record.measurement)
        differs = abs(now.per_s - before.per_s) > CONFIRM_SDS * math.hypot(now.sd, before.sd)
        self._take(record)
        found = record.judgement
        self._publish()
        words = f"{amount_words(now.per_s, 'iteration')}/s, {number(before.per_s)}/s before"
        why = f"{words}: {'the target has changed' if differs else 'within chance'}."
        failing = level in self.known.failing or level in self.known.collapsed
        self.result.confirmation = Confirmation(
            level,
            "contradicted" if failing or differs else "undecided" if found.unsteady else "confirmed",
            len(record.measurement.seconds),
            " ".join(found.reasons) if failing or found.unsteady else why,
        )
        return self.result.bracket.good != level

    def _measure_plateau(self) -> bool:
        """Hold the flat level and its neighbours, and further on while it rises; False if the target is gone."""
        flat = self.known.flat_level()
        wanted, precise = [flat, flat / SPACING, flat * SPACING], PRECISE * self.settings.width
        while wanted and not self.known.has_cliff:
            level = self.known.held_for(wanted.pop(0))
            if not self.known.is_done(level) and level <= self.known.lowest_fallen:
                if self.known.held and self._left_s() < 2 * self._step_cost_s():
                    break
                most_s = self._left_s() / (8 if level == flat else 16)
                if not self._hold_long(level, most_s, precise, why_next.SATURATED):
                    return False
            if not self.known.held:
                continue
            self.known.plateau = self.known.top()
            if not wanted and len(self.known.held) < MOST_PLATEAU_STEPS:
                wanted += [one for one in self.known.further() if not self.known.is_done(self.known.held_for(one))]
        if not self.known.held and not self.known.has_cliff:
            self.result.reason = "Throughput drifted in every step around its plateau, so none of them bounds anything."
        return bool(self.known.held) or self.known.has_cliff

    def reason(self) -> str:
        """Why the search ended."""
        bounds = self.result.bracket
        if self.result.cap is not None:
            return f"No saturation up to what was sent. {self.result.cap.why}"
        if bounds.bad is None:
            if any(level > (bounds.good or 0.0) for level in self.known.held):
                return "Throughput rises less than in proportion at the highest level; what is beyond it was not seen."
            most = self.settings.max_level
            if most is not None and bounds.good == self.known.held_for(most):
                return "Throughput rises with the users up to the highest level allowed."
            return f"Throughput rose with the users for as long as there was time: {self.settings.load_budget_s:g} s."
        if bounds.width <= self.settings.width:
            return (
                f"The bracket is {share_words(bounds.width, 3)} wide, the goal was {share_words(self.settings.width)}."
            )
        if bounds.good is not None and self.known.are_neighbours(bounds.good, bounds.bad):
            return f"The bracket is as narrow as whole {'users' if self.known.whole else 'VUs'} allow."
        spent = spent_words(bounds.width, self.settings.load_budget_s)
        self.result.more_time = more_time_words(bounds.width, self.settings.width, self.settings.load_budget_s)
        return f"The bracket is wider than the goal of {share_words(self.settings.width)}: {spent}."

    def _hold_long(self, level: float, most_s: float, precise: float, why: str) -> bool:
        """Hold a level until it is told from the border, its throughput is known to the share `precise`, or `most_s`
        are over, and again if its throughput drifted; False if the target is gone."""
        least_s = self.settings.step_s
        limit_s = max(least_s, min(most_s, LONGEST_STEPS * least_s))
        first_s = max(least_s, math.ceil(limit_s / 4))

        def told(seen: Measurement) -> bool:
            here = throughput(seen)
            if self.known.has_fallen(here):
                return True
            if self.known.has_cliff:
                return len(seen.seconds) >= CLIFF_STEPS * least_s
            if (
                self.known.plateau.per_s
                and judge_closed(seen, self.known.plateau, self.base_errors).verdict != "undecided"
            ):
                return not precise or here.sd <= precise * here.per_s
            return bool(precise) and here.sd <= precise * here.per_s

        def decide(seen: Measurement) -> Judgement | None:
            length = len(seen.seconds)
            stop = give_up_reason(seen) is not None or length >= limit_s
            # Looked at when the step is twice as long as before: each look is another chance to be wrong.
            looked = length >= first_s and math.log2(length / first_s).is_integer()
            enough = sum(seen.done) >= DONE_FOR_THROUGHPUT or length >= 3 * least_s
            return self._conclude(seen) if stop or (looked and enough and told(seen)) else None

        for _ in range(TRIES_A_LEVEL):
            self._warm_up_for(level)
            record = self.holder.hold(level, "hold", max(HANG_LIMIT_S, limit_s), decide, self._conclude, why=why)
            if self._is_gone(record):
                return False
            self._take(record)
            if not record.judgement.unsteady or self._left_s() < self._step_cost_s():
                break
        if record.judgement.unsteady and level not in self.known.held:
            self.known.unsteady.add(level)
        return True

    def _note_warm_up(self, record: StepRecord) -> None:
        """Twice the p90 of an iteration: users who began together must fall out of step too."""
        ended = record.measurement.iterations
        twice_s = WARM_UPS * ended.percentile(0.9) / 1000 if ended.count else 0.0
        self.holder.warm_up_s = warm_up_within(twice_s, self.settings.warm_up_s)
        self.warm_ups.append((record.level, self.holder.warm_up_s))

    def _warm_up_for(self, level: float) -> None:
        """Until what the last level began has left, and this one's iterations are as long as they will be: as at the
        next level above that was held, or in proportion to the users beyond all of them."""
        above = min((one for one in self.warm_ups if one[0] >= level), default=None)
        highest, longest_s = max(self.warm_ups)
        own_s = above[1] if above is not None else longest_s * level / highest
        self.holder.warm_up_s = min(LONGEST_WARM_UP_S, max(self.settings.warm_up_s, self.warm_ups[-1][1], own_s))

    def _take(self, record: StepRecord) -> None:
        """Keep what a step says of its level, with what was known of it; one whose throughput drifted says nothing."""
        seen, level = record.measurement, record.level
        self._note_warm_up(record)
        here, end, drifts = throughput(seen), throughput(seen, part=1 / 3), throughput_drifts(seen)
        if give_up_reason(seen) is not None or fails_more(seen, self.base_errors):
            self.known.failing.append(level)
        elif drifts is not None:
            here = end
            if not self.known.has_fallen(end, drifts=True):
                record.judgement = Judgement("undecided", (drifts,), unsteady=True)
                return
        if self.known.note(here, end, drifts is not None):
            here = self.known.collapsed[level]
            best = max(self.known.all(), key=lambda one: one.per_s)
            words = f"{number(here.per_s)} iterations/s, {number(best.per_s)}/s at {number(best.level)}: it collapses."
            record.judgement = Judgement("bad", (words,), own=True)
            self._rest()
        self.known.held_s += len(seen.seconds)
        self.known.noise = variance_per_event(seen.done) if seen.done else 1.0

    def _rest(self) -> None:
        """After a collapse the next level would begin behind: users who wait do not go away."""
        known = self.known.all()
        times = [one.measurement.iterations for one in self.holder.records]
        idle_ms = min((one.mean for one in times if one.count >= FEWEST_IDLE), default=None)
        idle_s = None if idle_ms is None else idle_ms / 1000
        rested = come_to_rest(self.holder, idle_s, [one.level for one in known], self.known.whole)
        if rested is not None:
            self.rests.append(rested)

    def _conclude(self, seen: Measurement) -> Judgement:
        return judge_closed(seen, self.known.plateau, self.base_errors)

    def _probe(self, level: float) -> StepRecord:
        least_s = self.settings.probe_s

        def decide(seen: Measurement) -> Judgement | None:
            if give_up_reason(seen) is not None:
                return self._conclude(seen)
            if not self.known.points and not sum(seen.done) and len(seen.seconds) < HANG_LIMIT_S:
                return None
            enough = sum(seen.done) >= DONE_FOR_THROUGHPUT or len(seen.seconds) >= LONGEST_PROBE * least_s
            return self._conclude(seen) if len(seen.seconds) >= least_s and enough else None

        why = why_next.TWICE if self.known.points else why_next.FIRST
        most_s = max(HANG_LIMIT_S, LONGEST_PROBE * least_s)
        return self.holder.hold(level, "probe", most_s, decide, self._conclude, why=why)

    def _publish(self) -> None:
        trials = self.known.trials()
        self.result.bracket = self.holder.bracket = bracket_of(trials)
        self._judge_again({trial.level: trial.verdict for trial in trials})

    def _judge_again(self, known: dict[float, Verdict]) -> None:
        """Each held step by what its level is held to be now; one that does less with more users than the best has is
        past the border, too."""
        best = max(self.known.all(), key=lambda point: point.per_s)
        for record in self.holder.records:
            kept = (*self.known.failing, *self.known.collapsed)
            if record.kind not in ("hold", "confirm") or record.level in kept or record.judgement.unsteady:
                continue
            found = judge_closed(record.measurement, self.known.plateau, self.base_errors)
            verdict = known.get(record.level, "bad" if record.level > best.level else "undecided")
            if found.verdict != verdict:
                here = throughput(record.measurement)
                words = f"{amount_words(here.per_s, 'iteration')}/s, {number(best.per_s)}/s at {number(best.level)}"
                found = Judgement(verdict, (f"{words}: {_WHY[verdict]}.",))
            record.judgement = found

    def _unusable(self, record: StepRecord) -> bool:
        seen = record.measurement
        if answered(seen):
            return False
        what = f"answers with errors ({seen.failures.words()})" if sum(seen.done) else "does not answer"
        self._fail(f"The target {what} at the lowest level ({number(record.level)}).")
        return True

    def _is_gone(self, record: StepRecord) -> bool:
        """Whether the target stopped answering for good in this step; else see whether what failed fails at low load
        too by now, which no number of users is too many for."""
        if answered(record.measurement):
            self._mind_failures(record)
            return False
        gone = why_gone(self.holder, record, self.settings.drain_limit_s)
        if gone:
            self._fail(gone)
        return bool(gone)

    def _mind_failures(self, record: StepRecord) -> None:
        seen = record.measurement
        if not fails_more(seen, self.base_errors):
            return
        calm = [one.level for one in self.holder.records if one.level not in self.known.failing and one is not record]
        found = self._checks.after(record, calm, self.known.whole)
        if found is not None:
            self.base_errors = found.failed, found.requests
            record.judgement = self._conclude(seen)

    def _fail(self, reason: str) -> None:
        self.result.status, self.result.reason = "failed", reason
        self.holder.event("error", self.holder.source.now(), message=reason)

    def _step_cost_s(self) -> float:
        """The least time that one more step takes."""
        return self.settings.step_s + math.ceil(self.holder.warm_up_s)

    def _probe_cost_s(self) -> float:
        """The most that the next probe takes: with twice the users its warm-up may last twice as long."""
        return LONGEST_PROBE * self.settings.probe_s + WARM_UPS * math.ceil(self.holder.warm_up_s)

    def _left_s(self) -> float:
        return self.settings.load_budget_s - self.holder.source.now()
