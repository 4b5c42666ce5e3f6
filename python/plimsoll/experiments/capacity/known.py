"""What an open search knows by now: what its steps say together of the host's speed, of chance and of the capacity, and
each step judged in that light.

After each step all earlier ones are judged again, for the mean speed of the host and the capacity are known better by
then. Steps that collapsed, and disturbed ones, tell neither what the host nor what chance does.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

from plimsoll.experiments.capacity.ramp import mostly_pauses
from plimsoll.experiments.capacity.result import Cap, CapacityResult, CapacitySettings, FailingAnyway
from plimsoll.experiments.capacity.search import (
    Trial,
    bracket_of,
    capacity_estimate,
    collapsed,
    falls_past_top,
    has_no_plateau,
    pooled_plateau,
    rounded,
)
from plimsoll.experiments.steps.evidence import Context, busy_speeds, plateau_of
from plimsoll.experiments.steps.evidence import host_speed as speed_of_host
from plimsoll.experiments.steps.holding import StepHolder
from plimsoll.experiments.steps.judge import FEWEST_ARRIVALS, judge, smallest_distance
from plimsoll.experiments.steps.measure import Measurement
from plimsoll.experiments.steps.record import BESIDE, StepRecord
from plimsoll.experiments.steps.under_way import UnderWay, under_way
from plimsoll.experiments.steps.work_done import shares_of
from plimsoll.runs.histogram import Histogram
from plimsoll.runs.readings.script_caps import LoadSeconds
from plimsoll.stats.throughput.host_speed import UNKNOWN, host_speed
from plimsoll.stats.throughput.plateau import Plateau
from plimsoll.stats.throughput.saturation import falls_within, pooled_noise

WIDEST_HALF = 0.3
LOW_LOAD = 0.7
QUICK_PLATEAU_SD = 0.02
FEWEST_IDLE, ENOUGH_IDLE, ENOUGH_TO_FILL = 5, 20, 100
CAP_SHARE = 0.95


class Known:
    """The steps of `holder` as trials; keeps the bracket, the estimate and the cap of `result` up to date.

    `kept_s` of the load time are kept back for what comes after the search.
    """

    def __init__(self, holder: StepHolder, settings: CapacitySettings, result: CapacityResult) -> None:
        self.holder = holder
        self.settings = settings
        self.result = result
        self.goal = settings.goal(result.unit)
        self.trials: list[Trial] = []
        self.kept_s = 0.0
        self.persisting: list[FailingAnyway] = []
        self.telling: list[StepRecord] = []  # of the expected level, beside no work of an overload
        self._outgrown: list[StepRecord] = []
        self._withdrawn: list[StepRecord] = []
        self._host = UNKNOWN
        self._noise = 1.0
        self._busy_done = 0.0
        self._merged: dict[tuple[tuple[int, int], ...], tuple[Histogram, UnderWay | None]] = {}

    def rate_per_level_s(self) -> float | None:
        """Nominal arrivals per second at level 1: as declared, else as measured."""
        return self.settings.arrivals_per_level_s or self.holder.rate_per_level_s()

    def context(self, seen: Measurement, quick: bool = False, trials: Sequence[Trial] | None = None) -> Context:
        """What a step is judged against. `trials`: other ones than all so far; without any it tells what the step alone
        shows."""
        known = self.trials if trials is None else trials
        no_plateau = has_no_plateau(known)
        return Context(
            self.rate_per_level_s() or 0.0,
            self.half_width() if known or trials is None else self.goal.half_width,
            self.settings.step_s,
            None if no_plateau else pooled_plateau(known),
            bracket_of(known).bad if no_plateau and falls_past_top(known) else None,
            self._base_errors(seen),
            quick=quick,
            host=self._host,
            noise=self._noise,
            idle_s=self.idle_s(seen.level),
            lasting=self._lasting(seen),
            shares=shares_of(self._calm(seen.level)),
            caps=self.settings.caps,
            low=self._low(seen.level) if self.settings.caps else None,
            foreign=self.holder.host_seconds.foreign_work(self.idle_s(math.inf)),
        )

    def idle_s(self, level: float) -> float | None:
        """Mean seconds of an iteration in the calm steps well below this level; of few iterations their first quartile,
        which is less for times that are skewed to the right, as all that wait are."""
        times = [seen.iterations for seen in self._calm(level)]
        count = sum(one.count for one in times)
        if count >= ENOUGH_IDLE:
            return sum(one.mean * one.count for one in times if one.count) / count / 1000
        return Histogram.merge(times).percentile(0.25) / 1000 if count >= FEWEST_IDLE else None

    def _lasting(self, seen: Measurement) -> UnderWay | None:
        """How iterations end in the calm steps well below the level of `seen`, if they last for seconds; before there
        are any, how they did at the begin of the run, if the script pauses."""
        durations, lasting = self._ended(seen.level)
        if durations.count >= ENOUGH_IDLE:
            return lasting
        first = self.holder.records[0].measurement if self.holder.records else seen
        ended = first.warm_iterations
        return under_way(ended) if ended.count >= FEWEST_IDLE and mostly_pauses(first) else None

    def filling(self, level: float) -> Histogram:
        """Durations (ms) of iterations that tell how long a load of that level takes to fill: at so low a load that
        they do not wait, if there is any. At half of what is too much one operation of several may wait for seconds
        already, while the others hide that in a short probe."""
        for most in (level / 2, level):
            if (found := self.durations(most)).count >= ENOUGH_TO_FILL:
                return found
        return self.durations()

    def durations(self, level: float = math.inf) -> Histogram:
        """Those of all iterations so far (ms) that began in calm steps well below this level, warm-ups included."""
        return self._ended(level)[0]

    def _ended(self, level: float) -> tuple[Histogram, UnderWay | None]:
        """These durations and what they say is under way; kept, as each second asks for them many times."""
        all_ended = [ended for seen in self._calm(level) for ended in (seen.iterations, seen.warm_iterations)]
        which = tuple((id(ended), ended.count) for ended in all_ended)
        if which not in self._merged:
            durations = Histogram.merge(all_ended)
            self._merged[which] = durations, under_way(durations)
        return self._merged[which]

    def _calm(self, level: float) -> list[Measurement]:
        """What the calm steps well below this level measured."""
        return [one.measurement for one in self.holder.records if self.is_calm(one) and one.level <= LOW_LOAD * level]

    def calm_levels(self) -> list[float]:
        """The levels of the calm steps."""
        return [step.level for step in self.holder.records if self.is_calm(step)]

    def host_speed_in(self, seen: Measurement) -> float:
        """What the speed of the host let the target do in that step, 1 in the mean of the search."""
        return speed_of_host(seen, self.context(seen))

    def is_calm(self, step: StepRecord) -> bool:
        return step.judgement.verdict == "good" and step.kind not in BESIDE

    def _low(self, level: float) -> LoadSeconds:
        """The load of the lowest calm steps, well below this level."""
        whole = LoadSeconds()
        for seen in sorted(self._calm(level), key=lambda seen: seen.level):
            whole.fill(seen.load)
        return whole

    def _base_errors(self, seen: Measurement) -> tuple[int, int]:
        """(failed, requests) of the calm steps well below the level of `seen`, or of low load since then, where as much
        fails there by now; what fails there is not for want of capacity."""
        since = [one for one in self.persisting if seen.seconds and seen.seconds[0] >= one.from_s]
        if since:
            return since[-1].failed, since[-1].requests
        below = self._calm(seen.level)
        return sum(seen.failed for seen in below), sum(seen.requests for seen in below)

    def estimate(self) -> Plateau | None:
        return capacity_estimate(self.trials, self.goal.half_width)

    def half_width(self) -> float:
        """The goal's half width, or the distance at which the completions of the time left can tell, if more."""
        estimate, rate = self.estimate(), self.rate_per_level_s()
        if estimate is None or not rate:
            return self.goal.half_width
        arrivals = estimate.level * rate * self.longest_step_s()
        return min(WIDEST_HALF, max(self.goal.half_width, smallest_distance(arrivals + self._busy_done, self._noise)))

    def longest_step_s(self) -> float:
        """Time one step may take so that the bounds still missing get theirs."""
        bounds = bracket_of(self.trials)
        left_s = self.left_s() / (2.2 if bounds.good is None else 1.1) - self._filling_s()
        return math.ceil(max(self.settings.step_s, min(self.settings.load_budget_s / 3, left_s)))

    def telling_step_s(self, level: float) -> float:
        """Seconds that a step of that level takes before it can be told to be carried: of a slow target longer than the
        least length, as that takes FEWEST_ARRIVALS."""
        rate = (self.rate_per_level_s() or 0.0) * level
        return max(self.settings.step_s, FEWEST_ARRIVALS / rate) if rate else self.settings.step_s

    def step_cost_s(self) -> float:
        """The least time that one more step takes, beside the usual warm-up."""
        return self.settings.step_s + self._filling_s()

    def _filling_s(self) -> float:
        """By how much the warm-up is longer than usual, as iterations last."""
        return max(0.0, math.ceil(self.holder.warm_up_s) - self.settings.warm_up_s)

    def left_s(self) -> float:
        return self.settings.load_budget_s - self.kept_s - self.holder.source.now()

    def note(self, again: bool = True) -> None:
        """Keep what the last step proved and, `again`, what it says of the others."""
        if again:
            self.learn()
            self._judge_again()
        else:
            self.trials = self._trials_of(self.holder.records)
        self._mind_cap()
        self.result.bracket = self.holder.bracket = bracket_of(self.trials)
        self.result.estimate = None if has_no_plateau(self.trials) else self.estimate()

    def outgrow(self, before_s: float, words: str) -> None:
        """Leave out what was not carried until then, as the target is quicker now, and the confirmation of less."""
        self.result.confirmation = None
        for record in self.holder.records:
            if record.end_s <= before_s and record.judgement.verdict == "bad" and self._tells(record):
                found = record.judgement
                reasons = (*found.reasons, words)
                record.judgement = replace(found, verdict="undecided", reasons=reasons, unsteady=True, own=False)
                self._outgrown.append(record)
        self.note()

    def carried_from(self, level: float) -> list[StepRecord]:
        """The steps that show that this level, or a higher one, is carried."""
        return [one for one in self._held_from(level) if one.judgement.verdict == "good"]

    def _held_from(self, level: float) -> list[StepRecord]:
        return [one for one in self.holder.records if one.kind in ("hold", "confirm") and one.level >= level]

    def withdraw(self, level: float, words: str) -> None:
        """Leave open whether that level and higher ones are carried, which held steps had shown, or would by what is
        learned later."""
        for record in self.carried_from(level):
            found = record.judgement
            record.judgement = replace(found, verdict="undecided", reasons=(*found.reasons, words), own=False)
        self._withdrawn += [one for one in self._held_from(level) if one.judgement.verdict == "undecided"]
        self.note()

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
        settled = [*self._outgrown, *self._withdrawn]
        for record in self.holder.records:
            if record.kind == "hold" and not record.judgement.given_up and not _is_among(record, settled):
                trials = self._trials_of([one for one in self.holder.records if one is not record])
                context = self.context(record.measurement, trials=trials)
                was_bad = record.judgement.verdict == "bad" and record.judgement.own
                record.judgement = judge(record.measurement, replace(context, was_bad=was_bad))
        self.trials = self._trials_of(self.holder.records)

    def _trials_of(self, records: Sequence[StepRecord]) -> list[Trial]:
        return [self._trial(record) for record in records if self._tells(record)]

    def _tells(self, record: StepRecord) -> bool:
        """Whether the search goes by it. The expected level is held for what it says of itself; that it is not carried
        counts where no work of an overload was left."""
        if _is_among(record, self.telling) and record.judgement.verdict == "bad":
            return True
        return record.kind not in BESIDE and not _is_among(record, self._outgrown)

    def learn(self, seen: Measurement | None = None) -> None:
        """Bring the speed of the host, chance and the trials up to date, with the step that is under way. Steps
        that collapsed, or do while they last, and disturbed ones tell neither what the host nor what chance does. The
        host's mean speed is that under load: a core that idles reads slower, as it wakes up cold."""
        records = [one for one in self.holder.records if self._tells(one)]
        fell = collapsed(self._trials_of(records))
        telling = [
            record.measurement
            for record, less in zip(records, fell, strict=True)
            if not (less or record.judgement.disturbed)
        ]
        telling += [seen] if seen is not None else []
        best = max((step.done_per_s for step in telling), default=0.0)
        loaded = [step for step in telling if step.done and step.done_per_s >= LOW_LOAD * best]
        busy = [busy_speeds(step, self.context(step, trials=())) for step in loaded]
        busy = [(done, speeds) for done, speeds in busy if not falls_within(done)]
        under_load = [speed for step in loaded for speed in step.speed]
        if any(math.isfinite(speed) for speed in under_load):
            self._host = host_speed(busy, under_load, self.holder.speed_error_share)
        self._busy_done = sum(float(done.sum()) for done, _ in busy)
        adjusted = [done / self._host.factors(speeds) for done, speeds in busy]
        self._noise = pooled_noise(adjusted)
        self.trials = self._trials_of(records)

    def _trial(self, record: StepRecord) -> Trial:
        """What a step proved. Probes of the ramp only hint, and so do disturbed steps, which are held again, and capped
        ones, at the level that was sent."""
        found, quick = record.judgement, record.kind == "probe"
        if found.capped:
            return Trial(self._sent(record), "good", proven=False)
        top = plateau_of(record.measurement, self.context(record.measurement, trials=())) if found.plateau else None
        if top is not None and quick:
            top = replace(top, relative_sd=max(top.relative_sd, QUICK_PLATEAU_SD))
        proven = not (quick or found.says_nothing) or found.given_up
        return Trial(record.level, found.verdict, top, proven, found.own, record.kind == "confirm")


def _is_among(record: StepRecord, records: Sequence[StepRecord]) -> bool:
    return any(one is record for one in records)
