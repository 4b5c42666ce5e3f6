"""How much does it carry? A quick ramp finds the range, held steps bracket the capacity, under live control.

    ramp     double the level in probes of two seconds until work piles up; the overload shows the plateau
    bracket  hold a level just above the plateau until it is proven bad, one just below until it is proven good
             (search.py says where, judge.py says what a step proves), and drain the backlog between
    confirm  hold the level that is carried once more, from rest: a target that aged meanwhile, or a lucky step, shows;
             a step against it is followed by another, and the bracket by the search, if most steps say so
    expected hold the expected level once, so that objectives can be judged where they matter
    recover  where throughput falls under overload: the level at which the target recovers by itself (overload.py)

What the steps say is pooled: the seconds that kept the target busy, in whatever step, tell its capacity C. A bad step
goes on until C is known to 0.27 h (h: half the width that is wanted): a step held at C ± h is then decided with a
margin of one standard deviation of C (judge.py). An undecided one whose level lies too near to C ends when C is known,
when it has not kept the target busy for two step lengths (a calm step tells nothing more of C), or after three. After
each step all earlier ones are judged again, for the mean speed of the host and C are known better by then. 0.27 and the
lengths are those at which the simulated demo (tests/accuracy/capacity_scorecard.py) reached its width soonest.
Ctrl-C ends with what was measured. Time is the load source's own; nothing here reads a clock.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial

from plimsoll.experiments.closed_search import search_closed
from plimsoll.experiments.expected import hold_expected, kept_back_s
from plimsoll.experiments.judge import (
    Context,
    Judgement,
    backlog_s,
    busy_speeds,
    calm_words,
    falls_behind,
    judge,
    least_distance,
    plateau_of,
    smallest_distance,
)
from plimsoll.experiments.load import LoadSource
from plimsoll.experiments.measure import Measurement
from plimsoll.experiments.overload import find_recovery, time_needed_s
from plimsoll.experiments.ramp import MOST_BACKLOG_S, MOST_PROBES, Ramp, warm_up_from
from plimsoll.experiments.recovery import come_to_rest, why_gone
from plimsoll.experiments.result import (
    AFTER_OVERLOAD,
    BESIDE,
    Cap,
    CapacityResult,
    CapacitySettings,
    Collapse,
    Confirmation,
    Confirmed,
    ProgressCallback,
    StepRecord,
    level_text,
)
from plimsoll.experiments.search import (
    Trial,
    bracket_of,
    capacity_estimate,
    collapsed,
    collapses,
    falls_below,
    falls_past_top,
    has_no_plateau,
    is_same,
    pooled_plateau,
    propose,
    rounded,
)
from plimsoll.experiments.steps import DataVolume, OnStep, ProbesSampler, StepHolder, Writer
from plimsoll.experiments.time_plan import spent_words
from plimsoll.experiments.work_done import shares_of
from plimsoll.runs.histogram import Histogram
from plimsoll.runs.script_caps import LoadSeconds
from plimsoll.stats.host_speed import UNKNOWN, host_speed, wanders
from plimsoll.stats.plateau import Plateau, pool
from plimsoll.stats.saturation import falls_within, is_calm, pooled_noise

WIDEST_HALF = 0.3
LOW_LOAD = 0.7
MOST_DISTURBED_BACKLOG_S = 2.0
MOST_CONFIRMATIONS, MOST_DISTURBED, CONFIRM_STEPS = 2, 2, 3
KEPT_UP = "Another step carried this level, or a higher one."
QUICK_PLATEAU_SD = 0.02
HURRY_STEPS = 5
KNOWN_SHARE = 0.27
UNSTEADY_STEPS = 2
FEWEST_IDLE, ENOUGH_IDLE = 5, 20
CAP_SHARE = 0.95
SHOWN_BACKLOG_S = 2.0
RESTED_BACKLOG_S = 1.0
LONGEST_DRAIN_S = 20.0
MOST_WAITING_Z = 1.0


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
    holder.warm_up_s = settings.warm_up_s
    result = CapacityResult(source.unit, source.open, settings, steps=holder.records)
    search = _OpenSearch(holder, settings, result)
    started = False
    try:
        source.start()
        started = True
        about = {"experiment": "capacity", "unit": source.unit, "open": source.open, "width_goal": settings.width}
        holder.event("experiment_started", source.now(), **about)
        if source.open:
            search.run()
        else:
            search_closed(holder, settings, result)
        holder.read_data_volume()
    except KeyboardInterrupt:
        result.status, result.reason = "interrupted", "The search was ended by an interruption."
        holder.event("interrupted", source.now() if started else 0.0)
        holder.say("stopping: running iterations may end; Ctrl-C again stops at once")
    finally:
        result.load_s = source.now() if started else 0.0
        _stop(source, graceful=result.status != "failed" and not holder.only_stuck)
        holder.finish()
    result.rate_per_level_s = search.rate_per_level_s()
    result.rate_arrivals = None if settings.arrivals_per_level_s else holder.planned_total
    holder.event("capacity_result", result.load_s, result=result.to_json())
    return result


def _stop(source: LoadSource, *, graceful: bool) -> None:
    """End the load; Ctrl-C while running iterations may end cuts them off."""
    try:
        source.stop(graceful=graceful)
    except KeyboardInterrupt:
        source.stop(graceful=False)
        raise


def _confirmation(record: StepRecord, stands: bool) -> Confirmation:
    """What a confirming step says; `stands`: the level is still the one that is carried."""
    found, seconds = record.judgement, len(record.measurement.seconds)
    verdict: Confirmed = "undecided"
    if found.verdict == "good" and stands:
        verdict = "confirmed"
    elif found.verdict == "bad":
        verdict = "contradicted"
    return Confirmation(record.level, verdict, seconds, " ".join(found.reasons))


class _OpenSearch:
    """The search over an open workload; keeps the trials and the bracket of the result up to date."""

    def __init__(self, holder: StepHolder, settings: CapacitySettings, result: CapacityResult) -> None:
        self.holder = holder
        self.settings = settings
        self.result = result
        self.goal = settings.goal(result.unit)
        self.trials: list[Trial] = []
        self.host = UNKNOWN
        self._has_answered = False
        self.noise = 1.0
        self.busy_done = 0.0
        self.kept_s = 0.0
        self._held_s = 0.0

    def run(self) -> None:
        """Ramp, bracket, confirmation, expected level; sets the status on the way."""
        if not self._ramp():
            return
        held, contradicted = 0, True
        while contradicted:
            held = self._narrow(held)
            contradicted = self._confirm()
        if not self.result.reason:
            self.kept_s = 0.0
            left_s = self._budget_left_s()
            hold_expected(self.holder, self.settings, self.result.bracket.bad, left_s, self._conclude_expected)
            self.result.reason = self._reason()
        self._collapse()

    def _collapse(self) -> None:
        """Say where the target collapses, and with the time that is left, where it recovers."""
        good, rate = self.result.bracket.good, self.rate_per_level_s()
        fell = falls_below(self.trials, good) if good is not None else None
        if good is None or not rate or fell is None or fell.plateau is None:
            return
        self.result.collapse = Collapse(fell.level, fell.plateau.level * rate, good, good * rate)
        enough = self._budget_left_s() >= time_needed_s(self.settings.step_s)
        if self.result.status == "finished" and self.settings.recovery and enough:
            self.holder.say("searching the level at which the target recovers from overload")
            self.result.collapse = find_recovery(
                self.holder, self.result.collapse, self._budget_left_s, self.goal.whole
            )
            if not self.result.collapse.seen_again and not any(trial.proven for trial in collapses(self.trials)):
                self.result.collapse = None  # only the ramp saw it: the target may have been cold

    def _narrow(self, held: int) -> int:
        """Hold the levels that the search proposes, after `held` others, and keep the time to confirm one as soon as
        there is one that is carried; how many were held then."""
        while held < self.settings.most_steps and not self.result.reason:
            self.kept_s = kept_back_s(self.holder, self.settings, self.result.bracket.bad)
            if self.result.bracket.good is not None:
                self.kept_s += self.settings.confirm_s + math.ceil(self.holder.warm_up_s)
            hurry = self._budget_left_s() < HURRY_STEPS * self.settings.step_s
            proposal = propose(self.trials, self.goal, self._half_width(), hurry)
            if proposal is None or self._budget_left_s() < self.settings.step_s:
                break
            held += 1
            self._hold(proposal.level)
        self.kept_s = kept_back_s(self.holder, self.settings, self.result.bracket.bad)
        return held

    def _confirm(self) -> bool:
        """Hold the level that is carried once more, and again where the two disagree or the step was disturbed; True if
        it is no longer what is carried, so that the search goes on."""
        level, against, disturbed = self.result.bracket.good, 0, 0
        while against < MOST_CONFIRMATIONS and disturbed <= MOST_DISTURBED:
            if level is None or self.result.reason or self._budget_left_s() < self.settings.step_s:
                break
            decide = partial(self._kept_up, proof=against > 0)
            conclude = partial(self._conclude_confirmation, proof=against > 0)
            self._held_s = self.holder.source.now()
            limit_s = max(self._confirm_s(), CONFIRM_STEPS * self.settings.step_s)
            record = self.holder.hold(level, "confirm", limit_s, decide, conclude)
            self._note(again=record.judgement.verdict == "bad")
            if not self._recover(record):
                break
            self.result.confirmation = _confirmation(record, self.result.bracket.good == level)
            against += record.judgement.verdict == "bad"
            disturbed += record.judgement.disturbed
            if not (record.judgement.verdict == "bad" or record.judgement.disturbed) or self._tips_over(record):
                break
        return level is not None and not self.result.reason and self.result.bracket.good != level

    def _confirm_s(self) -> float:
        """Twice as long for a target that collapses, if there is time: it does so after a while, by chance."""
        doubled = 2 * self.settings.confirm_s
        spare_s = self.settings.load_budget_s - self._held_s - 2 * self.settings.step_s
        return doubled if falls_past_top(self.trials) and spare_s >= doubled else self.settings.confirm_s

    def _tips_over(self, record: StepRecord) -> bool:
        """Whether the target collapsed in a confirming step: no luck with arrivals, so that it needs no second one."""
        return falls_past_top(self.trials) and record.judgement.own

    def _kept_up(self, seen: Measurement, proof: bool) -> Judgement | None:
        """The judgement of a confirming step once there is one. `proof`: the step has to prove that the level is
        carried, as any other; else it is enough that it kept up for the least length."""
        found = self._conclude_confirmation(seen, proof)
        decided = found.given_up or found.verdict == "bad" or self._is_behind_others(found, seen)
        enough = found.verdict == "good" and len(seen.seconds) >= self._confirm_s()
        return found if decided or enough else None

    def _conclude_confirmation(self, seen: Measurement, proof: bool) -> Judgement:
        found = judge(seen, self._context(seen))
        if proof or found.verdict != "undecided" or found.says_nothing or found.growth is None:
            return found
        waits = found.growth.queue_z > MOST_WAITING_Z
        if waits or not is_calm(found.growth) or found.growth.seconds < self.settings.step_s:
            return found
        return replace(found, verdict="good", reasons=(calm_words(found.growth), KEPT_UP))

    def _conclude_expected(self, seen: Measurement) -> Judgement:
        """As a confirmation where a level as high is carried: of few arrivals a step alone proves nothing."""
        good = self.result.bracket.good
        return self._conclude_confirmation(seen, proof=good is None or seen.level > good)

    def rate_per_level_s(self) -> float | None:
        """Nominal arrivals per second at level 1: as declared, else as measured."""
        return self.settings.arrivals_per_level_s or self.holder.rate_per_level_s()

    def _ramp(self) -> bool:
        """Probe upwards to the first sign of saturation; False if the target cannot be measured at all."""
        ramp = Ramp(self.settings, self.result.unit)
        level = ramp.first_level()
        for count in range(MOST_PROBES):

            def decide(seen: Measurement, first: bool = count == 0) -> Judgement | None:
                return ramp.decide(seen, self._context(seen, quick=True), first)

            record = self.holder.hold(level, "probe", ramp.limit_s(self.holder.warm_up_s), decide, self._conclude_probe)
            seen = record.measurement
            if self._unusable(record):
                return False
            self._note()
            self._has_answered = self._has_answered or (record.judgement.verdict != "bad" and seen.times.count > 0)
            if record.judgement.capped or record.judgement.verdict == "bad":
                return self._recover(record)
            self.holder.warm_up_s = warm_up_from(seen, self.settings.warm_up_s)
            following = ramp.next_level(record.level, seen)
            if following is None or self._budget_left_s() < self.settings.step_s:
                break
            level = following
        return True

    def _hold(self, level: float) -> bool:
        """Hold one level until it is judged or its share of the time is spent; False if the target is gone."""

        def decide(seen: Measurement) -> Judgement | None:
            self._learn(seen)
            found = judge(seen, self._context(seen))
            if found.given_up or found.verdict == "good" or found.capped:
                return found
            if self._is_behind_others(found, seen):
                return found
            if found.unsteady and len(seen.seconds) >= UNSTEADY_STEPS * self.settings.step_s:
                return found
            if found.verdict == "bad" and self._bad_is_enough(found, seen):
                return found
            return found if self._is_spent(found, seen) else None

        record = self.holder.hold(level, "hold", self._longest_step_s(), decide, self._conclude)
        self._note()
        return self._recover(record)

    def _is_behind_others(self, found: Judgement, seen: Measurement) -> bool:
        """Whether a disturbed step only makes a backlog."""
        return found.disturbed and backlog_s(seen) >= MOST_DISTURBED_BACKLOG_S

    def _conclude(self, seen: Measurement) -> Judgement:
        return judge(seen, self._context(seen))

    def _conclude_probe(self, seen: Measurement) -> Judgement:
        return judge(seen, self._context(seen, quick=True))

    def _is_spent(self, found: Judgement, seen: Measurement) -> bool:
        """Whether another level helps more: this one lies too near to the capacity to be told from it, and either the
        capacity is known well, or this step does not keep the target busy after twice its least length, or it has
        lasted for three. A level that told nothing before is held that much longer: as long again tells as little."""
        known = self._known_with(found)
        if found.growth is None or found.growth.seconds < self.settings.step_s:
            return False
        if known is None or has_no_plateau(self.trials):
            long_held = found.growth.seconds >= 3 * (1 + self._tries(seen.level)) * self.settings.step_s
            plain = falls_behind(found.growth) and found.growth.growth_share >= self._half_width()
            return long_held and not plain  # about to be told
        doubt, times = least_distance(known, seen.level, self._half_width()), 1 + self._tries(seen.level)
        idle = found.growth.seconds >= 2 * times * self.settings.step_s and not falls_behind(found.growth)
        if idle and seen.level > known.level - doubt:
            return True
        long_held = found.growth.seconds >= 3 * times * self.settings.step_s
        return abs(seen.level - known.level) < doubt and (long_held or self._is_known(known))

    def _tries(self, level: float) -> int:
        """How often that level was held, or one that steps cannot tell from it, and stayed undecided."""
        half_width = self._half_width()
        held = [one for one in self.holder.records if one.kind == "hold" and is_same(level, one.level, half_width)]
        return sum(one.judgement.verdict == "undecided" and not one.judgement.says_nothing for one in held)

    def _known_with(self, found: Judgement) -> Plateau | None:
        """The capacity that all steps show, with the one under way."""
        return pool(filter(None, [found.plateau, pooled_plateau(self.trials)]))

    def _is_known(self, capacity: Plateau) -> bool:
        return capacity.relative_sd <= KNOWN_SHARE * self._half_width()

    def _bad_is_enough(self, found: Judgement, seen: Measurement) -> bool:
        """A bad step goes on until the capacity is known, unless the backlog would take long to drain."""
        if found.growth is None or not falls_behind(found.growth) or found.growth.growth_share > 0.3:
            return True
        if self._drain_s(seen) >= LONGEST_DRAIN_S:
            return True
        if found.plateau is None:
            return found.growth.seconds >= 2 * self.settings.step_s
        if has_no_plateau(self.trials):
            return found.own and backlog_s(seen) >= SHOWN_BACKLOG_S
        known = self._known_with(found)
        return backlog_s(seen) >= MOST_BACKLOG_S or (known is not None and self._is_known(known))

    def _drain_s(self, seen: Measurement) -> float:
        """Seconds that the backlog would take to drain, as slowly as the slowest did so far."""
        drained = [step for step in self.holder.records if step.drain_s and step.measurement.unfinished_end > 0]
        per_s = min((step.measurement.unfinished_end / (step.drain_s or 1.0) for step in drained), default=math.inf)
        return seen.unfinished_end / per_s if per_s > 0 else math.inf

    def _context(self, seen: Measurement, quick: bool = False, trials: Sequence[Trial] | None = None) -> Context:
        known = self.trials if trials is None else trials
        return Context(
            self.rate_per_level_s() or 0.0,
            self._half_width(),
            self.settings.step_s,
            None if has_no_plateau(known) else pooled_plateau(known),
            self._base_errors(seen.level),
            quick=quick,
            host=self.host,
            noise=self.noise,
            idle_s=self._idle_s(seen.level),
            shares=shares_of(self._calm(seen.level)),
            caps=self.settings.caps,
            low=self._low(seen.level) if self.settings.caps else None,
            foreign=self.holder.host_seconds.foreign_work(self._idle_s(math.inf)),
        )

    def _idle_s(self, level: float) -> float | None:
        """Mean seconds of an iteration in the calm steps well below this level; of few iterations their first quartile,
        which is less for times that are skewed to the right, as all that wait are."""
        times = [seen.iterations for seen in self._calm(level)]
        count = sum(one.count for one in times)
        if count >= ENOUGH_IDLE:
            return sum(one.mean * one.count for one in times if one.count) / count / 1000
        return Histogram.merge(times).percentile(0.25) / 1000 if count >= FEWEST_IDLE else None

    def _calm(self, level: float) -> list[Measurement]:
        """What the calm steps well below this level measured."""
        return [one.measurement for one in self.holder.records if self._is_calm(one) and one.level <= LOW_LOAD * level]

    def _is_calm(self, step: StepRecord) -> bool:
        return step.judgement.verdict == "good" and step.kind not in AFTER_OVERLOAD

    def _low(self, level: float) -> LoadSeconds:
        """The load of the lowest calm steps, well below this level."""
        whole = LoadSeconds()
        for seen in sorted(self._calm(level), key=lambda seen: seen.level):
            whole.fill(seen.load)
        return whole

    def _base_errors(self, level: float) -> tuple[int, int]:
        """(failed, requests) of the calm steps well below this level; what fails there is not for want of capacity."""
        below = self._calm(level)
        return sum(seen.failed for seen in below), sum(seen.requests for seen in below)

    def _estimate(self) -> Plateau | None:
        return capacity_estimate(self.trials, self.goal.half_width)

    def _half_width(self) -> float:
        """The goal's half width, or the distance at which the completions of the time left can tell, if more."""
        estimate, rate = self._estimate(), self.rate_per_level_s()
        if estimate is None or not rate:
            return self.goal.half_width
        arrivals = estimate.level * rate * self._longest_step_s()
        return min(WIDEST_HALF, max(self.goal.half_width, smallest_distance(arrivals + self.busy_done, self.noise)))

    def _longest_step_s(self) -> float:
        """Time one step may take so that the bounds still missing get theirs."""
        bounds = bracket_of(self.trials)
        share = 2.2 if bounds.good is None else 1.1
        return math.ceil(max(self.settings.step_s, min(self.settings.load_budget_s / 3, self._budget_left_s() / share)))

    def _budget_left_s(self) -> float:
        return self.settings.load_budget_s - self.kept_s - self.holder.source.now()

    def _note(self, again: bool = True) -> None:
        """Keep what the last step proved and, `again`, what it says of the others."""
        if again:
            self._learn()
            self._judge_again()
        else:
            self.trials = self._trials_of(self.holder.records)
        self._mind_cap()
        self.result.bracket = self.holder.bracket = bracket_of(self.trials)
        self.result.estimate = None if has_no_plateau(self.trials) else self._estimate()

    def _mind_cap(self) -> None:
        """No level above what the script or the generator can send is tried again."""
        self.goal, self.result.cap = self.settings.goal(self.result.unit), None
        for record in self.holder.records:
            found, seen = record.judgement.cap, record.measurement
            if found is None or record.kind in BESIDE:
                continue
            sent = self._sent(record)
            if self.goal.most_level is None or sent < self.goal.most_level:
                self.goal = replace(self.goal, most_level=sent)
                self.result.cap = Cap.of(found, sent, CAP_SHARE * seen.done_per_s)

    def _sent(self, record: StepRecord) -> float:
        """The level that the script can send for certain, by a step that it capped."""
        seen = record.measurement
        return rounded(CAP_SHARE * record.level * seen.done_per_s / max(seen.planned_per_s, 1e-9), self.goal.whole)

    def _judge_again(self) -> None:
        """Read the steps held so far in the light of what is known by now of the host's speed and of the capacity."""
        for record in self.holder.records:
            if record.kind == "hold" and not record.judgement.given_up:
                trials = self._trials_of([one for one in self.holder.records if one is not record])
                record.judgement = judge(record.measurement, self._context(record.measurement, trials=trials))
        self.trials = self._trials_of(self.holder.records)

    def _trials_of(self, records: Sequence[StepRecord]) -> list[Trial]:
        return [self._trial(record) for record in records if record.kind not in BESIDE]

    def _learn(self, seen: Measurement | None = None) -> None:
        """Bring the speed of the host, chance and the trials up to date, with the step that is under way. Steps
        that collapsed, or do while they last, and disturbed ones tell neither what the host nor what chance does."""
        records = [record for record in self.holder.records if record.kind not in BESIDE]
        fell = collapsed(self._trials_of(records))
        telling = [
            record.measurement
            for record, less in zip(records, fell, strict=True)
            if not (less or record.judgement.disturbed)
        ]
        telling += [seen] if seen is not None else []
        best = max((step.done_per_s for step in telling), default=0.0)
        loaded = [step for step in telling if step.done and step.done_per_s >= LOW_LOAD * best]
        busy = [busy_speeds(step, self._context(step, trials=())) for step in loaded]
        busy = [(done, speeds) for done, speeds in busy if not falls_within(done)]
        if any(math.isfinite(speed) for speed in self.holder.speeds):
            self.host = host_speed(busy, self.holder.speeds, self.holder.speed_error_share)
        self.busy_done = sum(float(done.sum()) for done, _ in busy)
        adjusted = [done / self.host.factors(speeds) for done, speeds in busy]
        drifts = wanders(self.holder.speeds, self.holder.speed_error_share) and not has_no_plateau(self.trials)
        self.noise = pooled_noise(adjusted, drifts)
        self.trials = self._trials_of(records)

    def _trial(self, record: StepRecord) -> Trial:
        """What a step proved. Probes of the ramp only hint, and so do disturbed steps, which are held again, and capped
        ones, at the level that was sent."""
        found, quick = record.judgement, record.kind == "probe"
        if found.capped:
            return Trial(self._sent(record), "good", proven=False)
        top = plateau_of(record.measurement, self._context(record.measurement, trials=())) if found.plateau else None
        if top is not None and quick:
            top = Plateau(top.level, max(top.relative_sd, QUICK_PLATEAU_SD))
        proven = not (quick or found.says_nothing) or found.given_up
        return Trial(record.level, found.verdict, top, proven, found.own, record.kind == "confirm" and found.own)

    def _unusable(self, record: StepRecord) -> bool:
        """Whether the very first probe shows a target that answers nothing or only errors."""
        seen = record.measurement
        if self._has_answered or not sum(seen.planned):
            return False
        if not sum(seen.done):
            self._fail(
                f"No iteration finished within {len(seen.seconds)} s at level {level_text(record.level)}: "
                "the target hangs (it takes connections and does not answer), or one iteration takes longer."
            )
            return True
        if seen.requests and seen.error_share > 0.5:
            share, causes = f"{seen.error_share:.0%}", seen.failures.words()
            self._fail(f"{share} of the requests failed at the lowest level ({level_text(record.level)}): {causes}.")
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
            calm = [step.level for step in self.holder.records if self._is_calm(step)]
            come_to_rest(self.holder, self._idle_s(math.inf), calm, self.goal.whole)
        if not gone:
            return True
        self._fail(gone)
        return False

    def _fail(self, reason: str) -> None:
        self.result.status, self.result.reason = "failed", reason
        self.holder.event("error", self.holder.source.now(), message=reason)

    def _reason(self) -> str:
        bounds, settings = self.result.bracket, self.settings
        if bounds.width <= settings.width:
            return f"The bracket is {bounds.width:.1%} wide, the goal was {settings.width:.0%}."
        if bounds.bad is None and self.result.cap is not None:
            return f"No saturation up to what was sent. {self.result.cap.why}"
        if bounds.bad is None and settings.max_level is not None:
            return f"No saturation up to the greatest level allowed ({settings.max_level:g})."
        spent = (
            spent_words(bounds.width, settings.width, settings.load_budget_s)
            if self._budget_left_s() < settings.step_s
            else "further steps would not have decided"
        )
        disturbed = sum(record.judgement.disturbed for record in self.holder.records)
        words = f" {disturbed} of its steps prove nothing, as others took CPU time of the host." if disturbed else ""
        return f"The bracket is wider than the goal of {settings.width:.0%}: {spent}.{words}"
