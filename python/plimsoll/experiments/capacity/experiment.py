"""How much does it carry? A quick ramp finds the range, held steps bracket the capacity, under live control.

    ramp     double the level in probes of two seconds until work piles up; the overload shows the plateau
    bracket  hold a level just above the plateau until it is proven bad, one just below until it is proven good
             (search.py says where, step_ends.py for how long, judge.py what a step proves); drain the backlog between
    confirm  hold the level that is carried once more, from rest (confirming.py), and, before and after it, the level
             that was not, if that was long ago
    expected hold the expected level, before any overload, so that objectives can be judged where they matter
    recover  where throughput falls under overload: the level at which the target recovers by itself (overload.py)

What the steps say is pooled (known.py): the seconds that kept the target busy, in whatever step, tell its capacity.
Ctrl-C ends with what was measured. Time is the load source's own; nothing here reads a clock.
"""

from __future__ import annotations

import math
from collections.abc import Callable

from plimsoll.experiments.capacity import why_next
from plimsoll.experiments.capacity.ageing import LEAST_APART_S, quickened, slowed
from plimsoll.experiments.capacity.closed_search import search_closed
from plimsoll.experiments.capacity.confirming import Confirming
from plimsoll.experiments.capacity.expected import MOST_KEPT, ExpectedLevel
from plimsoll.experiments.capacity.known import Known
from plimsoll.experiments.capacity.overload import find_recovery, time_needed_s
from plimsoll.experiments.capacity.persisting import FailureChecks
from plimsoll.experiments.capacity.ramp import MOST_PROBES, Ramp, is_filling, warm_up_from
from plimsoll.experiments.capacity.recovery import come_to_rest, why_gone
from plimsoll.experiments.capacity.result import CapacityResult, CapacitySettings, Collapse
from plimsoll.experiments.capacity.search import collapses, falls_below, propose
from plimsoll.experiments.capacity.step_ends import ends
from plimsoll.experiments.capacity.time_plan import more_time_words, spent_words
from plimsoll.experiments.load import LoadSource
from plimsoll.experiments.steps.evidence import waiting_of
from plimsoll.experiments.steps.failing import FEWEST_TO_GIVE_UP, backlog_s, fails_more
from plimsoll.experiments.steps.holding import DataVolume, OnStep, ProbesSampler, StepHolder, Writer
from plimsoll.experiments.steps.judge import LEAST_DRIFT, judge
from plimsoll.experiments.steps.judgement import Judgement
from plimsoll.experiments.steps.measure import Measurement
from plimsoll.experiments.steps.record import Bracket, ProgressCallback, StepRecord, overloaded_probes
from plimsoll.interruptions import load_within
from plimsoll.words import count_words, number, share_words, time_words

HURRY_STEPS, SLOW_STEPS, CHECK_STEPS = 5, 4, 3
OLD_END_S = 30.0
STEPS_SPENT = "the steps that were held did not decide, and longer ones take more time"
CARRIED_SINCE = "But the target carries more since: this level, or a lower one, was carried when it was held again."
RESTED_BACKLOG_S = 1.0
LEAST_AGAIN_S, ENOUGH_TIMES = 3.0, 100


def run_capacity(
    source: LoadSource,
    settings: CapacitySettings,
    writer: Writer | None = None,
    probes_sampler: ProbesSampler | None = None,
    on_progress: ProgressCallback | None = None,
    data_volume: DataVolume | None = None,
    on_message: Callable[[str], None] | None = None,
    on_step: OnStep | None = None,
) -> CapacityResult:
    """Find the bracket of the capacity; the source is started here and stopped whatever happens.

    `writer` gets every second, probe row and event, last of all `capacity_result`; `probes_sampler(second, t_unix)`
    gives resource rows; `data_volume()` is read between the steps; `on_message` gets a sentence for who watches;
    `on_step("started" | "ended", second)` is called before the load of each step and when it has been measured.
    KeyboardInterrupt ends with status "interrupted"
    and what was measured until then; a second one ends the load at once and is raised.
    """
    holder = StepHolder(source, writer, probes_sampler, on_progress, data_volume, on_message, on_step)
    holder.warm_up_s, holder.until_s = settings.warm_up_s, settings.load_budget_s
    result = CapacityResult(source.unit, source.open, settings, steps=holder.records)
    search = _OpenSearch(holder, settings, result)
    started = False

    def stop(graceful: bool) -> None:
        result.load_s = source.now() if started else 0.0
        source.stop(graceful=graceful and result.status != "failed" and not holder.only_stuck)
        holder.finish()

    def interrupted() -> None:
        result.status, result.reason = "interrupted", "The search was ended by an interruption."
        holder.event("interrupted", source.now() if started else 0.0)
        holder.say("stopping: running iterations may end; Ctrl-C again stops at once")

    with load_within(stop, interrupted):
        source.start()
        started = True
        about = {
            "experiment": "capacity",
            "unit": source.unit,
            "open": source.open,
            "width_goal": settings.width,
            "rate_per_level_s": settings.arrivals_per_level_s,
        }
        holder.event("experiment_started", source.now(), **about)
        if source.open:
            search.run()
        else:
            search_closed(holder, settings, result)
        holder.read_data_volume()
    result.rate_per_level_s = search.known.rate_per_level_s()
    result.rate_arrivals = None if settings.arrivals_per_level_s else holder.planned_total
    holder.event("capacity_result", result.load_s, result=result.to_json())
    return result


class _OpenSearch:
    """The search over an open workload; keeps the bracket of the result up to date."""

    def __init__(self, holder: StepHolder, settings: CapacitySettings, result: CapacityResult) -> None:
        self.holder = holder
        self.settings = settings
        self.result = result
        self.known = Known(holder, settings, result)
        self.confirming = Confirming(self.known, self._recover)
        self._expected = ExpectedLevel(holder, settings)
        self._has_answered = False
        self._checks = FailureChecks(holder, result)

    def run(self) -> None:
        """Ramp, bracket, confirmation, expected level; sets the status on the way."""
        if not self._ramp():
            return
        held, contradicted = 0, True
        while contradicted:
            held = self._narrow(held)
            contradicted = self._carries_old_end() or self.confirming.confirm() or self._is_quicker()
            contradicted = contradicted or self._carries_old_end()
        self._hold_overload()
        if not self.result.reason:
            self.known.kept_s = 0.0
            left_s = self.known.left_s()
            conclude, telling_step_s = self.confirming.conclude_expected, self.known.telling_step_s
            if not self.holder.unanswered:
                late = self._expected.hold(self.result.bracket, left_s, conclude, telling_step_s)
                if late is not None and late.judgement.verdict == "bad":
                    self.known.telling.append(late)
                    self.known.note()
                self._look_again()
            carried = [one for one in self.holder.records if one.kind == "expected" and one.judgement.verdict == "good"]
            if carried and self.result.bracket.good is None:
                self.result.bracket = Bracket(carried[-1].level, self.result.bracket.bad)
            self.result.slowed = slowed(self.holder.records, self.known.host_speed_in)
            if self.result.slowed is None:
                self.result.quickened = quickened(self.holder.records, self.known.host_speed_in)
            self.result.reason = self._reason()
        self._collapse()

    def _look_again(self) -> None:
        """Hold for a moment what was held first: a target that became slower meanwhile shows in its times there."""
        first = next(iter(self.known.telling), None)
        if first is None or first.judgement.verdict != "good" or self.known.left_s() <= 0:
            return
        last = next(one for one in reversed(self.holder.records) if one.level == first.level)
        if last is first and self.holder.source.now() - first.end_s >= LEAST_APART_S:
            limit_s = self._telling_again_s(first)
            self.holder.hold(first.level, "expected", limit_s, lambda _: None, self._conclude_probe, why=why_next.AGED)

    def _telling_again_s(self, first: StepRecord) -> float:
        """Seconds of such a second look."""
        per_s = max(first.measurement.requests / max(1, len(first.measurement.seconds)), 1e-9)
        return min(self.settings.step_s, max(LEAST_AGAIN_S, math.ceil(ENOUGH_TIMES / per_s)))

    def _ramp(self) -> bool:
        """Probe upwards to the first sign of saturation; False if the target cannot be measured at all."""
        ramp = Ramp(self.settings, self.result.unit)
        level, why = ramp.first_level(), why_next.FIRST
        for count in range(MOST_PROBES):

            def decide(seen: Measurement, first: bool = count == 0) -> Judgement | None:
                return ramp.decide(seen, self.known.context(seen, quick=True), first)

            limit_s, filling = ramp.limit_s(self.holder.warm_up_s, count == 0), is_filling if count == 0 else None
            record = self.holder.hold(level, "probe", limit_s, decide, self._conclude_probe, filling, why)
            seen = record.measurement
            if self._unusable(record):
                return False
            self.known.note()
            if seen.requests and seen.times.count and record.judgement.verdict != "bad":
                self._has_answered = True
            is_over = record.judgement.capped or record.judgement.verdict == "bad"
            if count == 0 or not is_over:
                ended = seen.warm_iterations if is_over else self.known.filling(2 * level)
                self.holder.warm_up_s = warm_up_from(ended, self.settings.warm_up_s)
            if is_over:
                return self._recover(record)
            waiting = waiting_of(seen, self.known.context(seen))
            following = ramp.next_probe(record.level, seen, float(waiting[-1]) if waiting.size else 0.0)
            if following is None or self.known.left_s() < self.known.step_cost_s():
                break
            expected = self._hold_expected_below(following.level)
            if expected is not None and expected.judgement.verdict == "bad":
                return self._recover(expected)
            level, why = following.level, following.why
        return True

    def _hold_expected_below(self, level: float) -> StepRecord | None:
        """Hold the expected level before the first probe above it: no overload has left anything in the target yet."""
        expected = self.settings.expected_level
        if expected is None or expected >= level:
            return None
        telling_step_s = self.known.telling_step_s
        if not self._expected.kept_back_s(self.result.bracket, telling_step_s):
            return None
        most_s = MOST_KEPT * self.settings.load_budget_s
        record = self._expected.hold(self.result.bracket, most_s, self._conclude, telling_step_s)
        if record is not None:
            self.known.telling.append(record)
            self.known.note()
        return record

    def _narrow(self, held: int) -> int:
        """Hold the levels that the search proposes, after `held` others, and keep the time to confirm one as soon as
        there is one that is carried; how many were held then."""
        while held < self.settings.most_steps and not self.result.reason:
            self.known.kept_s = self._kept_back_s()
            if self.result.bracket.good is not None:
                self.known.kept_s += self.settings.confirm_s + math.ceil(self.holder.warm_up_s)
            hurry = self.known.left_s() < HURRY_STEPS * self.known.step_cost_s() or self._is_slow()
            proposal = propose(self.known.trials, self.known.goal, self.known.half_width(), hurry)
            if proposal is None or self.known.left_s() < self.known.step_cost_s():
                break
            if held and self.known.left_s() < self.known.telling_step_s(proposal.level):
                break
            held += 1
            self._hold(proposal.level, why_next.words_of(proposal, self.result.unit))
        self._hold_overload()
        self.known.kept_s = self._kept_back_s()
        return held

    def _hold_overload(self) -> None:
        """Hold the lowest level that a probe alone saw overloaded, where nothing that was held is too much. A level
        near the border takes more time than there is; this one told itself within a probe. Without it there is no
        upper end, and no step that shows what stops the target."""
        bounds = self.result.bracket
        if bounds.bad is not None or self.result.reason or self.known.left_s() < self.known.step_cost_s():
            return
        levels = [level for level in overloaded_probes(self.holder.records) if level > (bounds.good or 0.0)]
        held = {one.level for one in self.holder.records if one.kind == "hold"}
        if levels and min(levels) not in held:
            self._hold(min(levels), why_next.OVERLOADED)

    def _kept_back_s(self) -> float:
        firsts = [one for one in self.known.telling if one.judgement.verdict == "good"]
        again_s = sum(self._telling_again_s(first) + math.ceil(self.holder.warm_up_s) for first in firsts)
        return again_s + self._expected.kept_back_s(self.result.bracket, self.known.telling_step_s)

    def _has_time_for_a_step(self) -> bool:
        """Whether one that can tell fits into the time that is left."""
        bounds = self.result.bracket
        level = bounds.good or bounds.bad or self.settings.expected_level or 0.0
        return self.known.left_s() >= max(self.known.step_cost_s(), self.known.telling_step_s(level))

    def _is_slow(self) -> bool:
        """Whether the time that is left tells no more than a few steps of so slow a target."""
        estimate = self.known.estimate()
        return estimate is not None and self.known.left_s() < SLOW_STEPS * self.known.telling_step_s(estimate.level)

    def _carries_old_end(self) -> bool:
        """Whether the lowest level that was not carried is by now, if it was held well before and time for a
        confirmation is left. Not of a target that collapses, which carries such a level now and then, nor where it had
        to be given up."""
        bad, now_s = self.result.bracket.bad, self.holder.source.now()
        held = [one for one in self.holder.records if one.level == bad]
        given_up = any(one.judgement.given_up for one in held)
        collapsed = any(trial.proven for trial in collapses(self.known.trials))
        if self.result.bracket.good is None or not held or given_up or collapsed:
            return False
        if now_s - held[-1].end_s < OLD_END_S:
            return False
        confirm_s = self.settings.confirm_s + math.ceil(self.holder.warm_up_s)
        self.known.kept_s += confirm_s
        carries = self._carries_more_now(CARRIED_SINCE)
        self.known.kept_s -= confirm_s
        return carries

    def _is_quicker(self) -> bool:
        """Whether the confirmation shows that the target is quicker than before, and it carries more now."""
        words = self.confirming.quicker()
        return words is not None and self._carries_more_now(words)

    def _carries_more_now(self, words: str) -> bool:
        """Whether the target carries by now the lowest level that it did not, since it has become quicker or its host
        had been slow. The search goes on from there; `words` tell why what it did not carry says nothing any more."""
        bad = self.result.bracket.bad
        if bad is None or self.result.reason or self.known.left_s() < self.known.step_cost_s():
            return False
        again = self._hold(bad, why_next.CARRIED_BY_NOW)
        fast = self.known.host_speed_in(again.measurement) >= 1 + LEAST_DRIFT
        if again.judgement.verdict != "good" or fast or self.result.reason:
            return False
        self.known.outgrow(again.start_s, words)
        return True

    def _hold(self, level: float, why: str) -> StepRecord:
        """Hold one level until it is judged or its share of the time is spent, and let the target recover."""

        def decide(seen: Measurement) -> Judgement | None:
            self.known.learn(seen)
            found = self._conclude(seen)
            return found if ends(self.known, found, seen) else None

        lasted = warm_up_from(self.known.filling(level), self.settings.warm_up_s)
        self.holder.warm_up_s = max(self.holder.warm_up_s, lasted)
        record = self.holder.hold(level, "hold", self.known.longest_step_s(), decide, self._conclude, why=why)
        self.known.note()
        self._recover(record)
        return record

    def _collapse(self) -> None:
        """Say where the target collapses, and with the time that is left, where it recovers."""
        good, rate = self.result.bracket.good, self.known.rate_per_level_s()
        fell = falls_below(self.known.trials, good) if good is not None else None
        if good is None or not rate or fell is None or fell.plateau is None:
            return
        self.result.collapse = Collapse(fell.level, fell.plateau.level * rate, good, good * rate)
        enough = self.known.left_s() >= time_needed_s(self.settings.step_s)
        if self.result.status == "finished" and self.settings.recovery and enough:
            self.holder.say("searching the level at which the target recovers from overload")
            self.result.collapse = find_recovery(
                self.holder, self.result.collapse, self.known.left_s, self.known.goal.whole
            )
            if not self.result.collapse.seen_again and not any(trial.proven for trial in collapses(self.known.trials)):
                self.result.collapse = None  # only the ramp saw it: the target may have been cold

    def _conclude(self, seen: Measurement) -> Judgement:
        return judge(seen, self.known.context(seen))

    def _conclude_probe(self, seen: Measurement) -> Judgement:
        return judge(seen, self.known.context(seen, quick=True))

    def _unusable(self, record: StepRecord) -> bool:
        """Whether the very first probe shows a target that answers nothing or only errors, or is asked for nothing."""
        seen = record.measurement
        if self._has_answered or not sum(seen.planned):
            return False
        if not sum(seen.done):
            seconds, level = time_words(record.end_s - record.start_s), number(record.level)
            hangs = "the target hangs (it takes connections and does not answer), or one iteration takes longer."
            lasts = (
                "its requests are answered, so one iteration takes longer. Shorten the pauses of the script, or let it "
                "declare users (constant-vus): their number is searched whatever an iteration takes."
            )
            why = lasts if seen.answers.count.total() else hangs
            self._fail(f"No iteration finished within {seconds} at level {level}: {why}")
            return True
        if not seen.requests and sum(seen.done) >= FEWEST_TO_GIVE_UP:
            done = count_words(sum(seen.done))
            self._fail(f"The script made no request in {done} iterations at level {number(record.level)}.")
            return True
        if seen.requests and seen.error_share > 0.5:
            share, level = f"{share_words(seen.error_share)} of the {seen.judged_noun}", number(record.level)
            self._fail(f"{share} failed at the lowest level ({level}): {seen.failures.words()}.")
            return True
        return False

    def _recover(self, record: StepRecord) -> bool:
        """Drain, and after errors see whether the target still answers at low load; False if it does not."""
        if not self._has_answered:
            self.holder.drain(self.settings.drain_limit_s)
            return True
        overloaded = record.judgement.verdict == "bad" and backlog_s(record.measurement) >= RESTED_BACKLOG_S
        gone = why_gone(self.holder, record, self.settings.drain_limit_s)
        if not gone and overloaded:
            come_to_rest(self.holder, self.known.idle_s(math.inf), self.known.calm_levels(), self.known.goal.whole)
        if not gone:
            self._mind_failures(record)
            return True
        self._fail(gone)
        return False

    def _mind_failures(self, record: StepRecord) -> None:
        """See whether what failed in that step fails at low load too by now; then no level is too much for it."""
        seen = record.measurement
        failing = fails_more(seen, self.known.context(seen).base_errors)
        enough = self.known.left_s() >= CHECK_STEPS * self.known.step_cost_s()
        if not failing or record.judgement.verdict != "bad" or not enough:
            return
        found = self._checks.after(record, self.known.calm_levels(), self.known.goal.whole)
        if found is None:
            return
        self.known.persisting.append(found)
        if record.kind == "probe":
            record.judgement = self._conclude_probe(seen)
        elif record.kind == "confirm":
            record.judgement = self.confirming.conclude_again(seen)
        self.known.note()

    def _fail(self, reason: str) -> None:
        self.result.status, self.result.reason = "failed", reason
        self.holder.event("error", self.holder.source.now(), message=reason)

    def _reason(self) -> str:
        bounds, settings = self.result.bracket, self.settings
        if bounds.width <= settings.width:
            return f"The bracket is {share_words(bounds.width, 3)} wide, the goal was {share_words(settings.width)}."
        if bounds.bad is None and self.result.cap is not None:
            return f"No saturation up to what was sent. {self.result.cap.why}"
        if bounds.bad is None and settings.max_level is not None:
            return f"No level up to the greatest allowed ({settings.max_level:g}) was proven to be too much."
        if self.result.slowed is not None:
            spent = "what the target carries fell meanwhile, which more time does not narrow"
        elif self._has_time_for_a_step():
            spent = STEPS_SPENT
        else:
            spent = spent_words(bounds.width, settings.load_budget_s)
            self.result.more_time = more_time_words(bounds.width, settings.width, settings.load_budget_s)
        disturbed = sum(record.judgement.disturbed for record in self.holder.records)
        words = f" {disturbed} of its steps prove nothing, as others took CPU time of the host." if disturbed else ""
        return f"The bracket is wider than the goal of {share_words(settings.width)}: {spent}.{words}"
