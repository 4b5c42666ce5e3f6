"""Is it stable at one load? One user alone first, then the load held for the time asked; findings read the run
directory.

    baseline   each operation by one user who does nothing at the same time: what is slow here is slow without any load
    hold       the level, for the time, without looking back: the answer is in its time series
               (findings/hold/finding.py); or, with `keep`, the level at which objectives just hold (keep.py), whose
               course is the answer

It ends early only where going on would hurt: most requests fail, or the work that waits would take the target half a
minute. Ctrl-C ends with what was measured. Time is the load source's own.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

from plimsoll.experiments.load import LoadSource
from plimsoll.experiments.long_runs.keep import Keeper, State
from plimsoll.experiments.long_runs.kept_load import KeptLoad, KeptObjective, event_of
from plimsoll.experiments.long_runs.shifted import Shifted
from plimsoll.experiments.steps.failing import failing_share, give_up_reason
from plimsoll.experiments.steps.holding import Conclude, DataVolume, Decide, OnStep, ProbesSampler, StepHolder, Writer
from plimsoll.experiments.steps.judgement import Judgement
from plimsoll.experiments.steps.measure import Measurement
from plimsoll.experiments.steps.record import ProgressCallback, Status, StepRecord
from plimsoll.interruptions import load_within
from plimsoll.runs.readings.declared_caps import DeclaredCap
from plimsoll.runs.readings.script_caps import LoadSeconds, binding_cap
from plimsoll.words import joined, number, time_words

WHY_KEPT: dict[State, str] = {
    "climb": "climbing: the objectives have room left",
    "keep": "steered to where the objectives just hold",
    "recover": "cut after an overload, until the backlog is gone",
}
ALONE = "one user who does nothing at the same time: what is slow here is slow without any load"
HELD = "held for the time that was asked"
PATIENCE_S = 30
DRAIN_LIMIT_S = 30.0
LOST = "After an overload the work inside did not go away, though hardly any load was left."
FEWEST_UNREACHABLE_S = 15
ALONE_FAILS_S, FEWEST_ALONE = 3, 3
UNREACHABLE = "No level kept the objective, not even one at which nothing waits."


@dataclass(frozen=True)
class HoldSettings:
    """`level` in the source's unit; times in seconds of its clock; `baseline_s`: of the run of one user before it.

    `keep`: objectives that the load is steered to, from `level` on and up to `most_level`; none: the level is held.
    `caps`: of the script."""

    level: float
    duration_s: float = 600.0
    warm_up_s: float = 30.0
    baseline_s: float = 30.0
    keep: tuple[KeptObjective, ...] = ()
    most_level: float | None = None
    caps: tuple[DeclaredCap, ...] = ()

    def __post_init__(self) -> None:
        if not (self.level > 0 and self.duration_s > 0 and self.warm_up_s >= 0 and self.baseline_s >= 0):
            raise ValueError("level and duration_s are above 0, warm_up_s and baseline_s not below")


@dataclass
class HoldResult:
    """How it ended, and its steps as they were held: the baseline's, if there was one, and the hold's."""

    unit: str
    open: bool
    settings: HoldSettings
    status: Status = "finished"
    reason: str = ""
    steps: list[StepRecord] = field(default_factory=list)
    load_s: float = 0.0

    def to_json(self) -> dict[str, Any]:
        """The result as findings read it, from the run's event `hold_result`."""
        return {
            "unit": self.unit,
            "open": self.open,
            "status": self.status,
            "reason": self.reason,
            "level": self.settings.level,
            "duration_s": self.settings.duration_s,
            "warm_up_s": self.settings.warm_up_s,
            "load_s": self.load_s,
            "judged_caps": True,
            "cap": next((one.judgement.cap.to_json() for one in self.steps if one.judgement.cap), None),
            "steps": [step.to_json() for step in self.steps],
        }


def run_hold(
    source: LoadSource,
    settings: HoldSettings,
    baseline: LoadSource | None = None,
    writer: Writer | None = None,
    probes_sampler: ProbesSampler | None = None,
    on_progress: ProgressCallback | None = None,
    data_volume: DataVolume | None = None,
    on_message: Callable[[str], None] | None = None,
    on_step: OnStep | None = None,
) -> HoldResult:
    """Hold the level; both sources are started here and stopped whatever happens.

    `baseline`: a source whose level 1 is one user at work; without it there is no baseline. The others as in
    `run_capacity`; the last event written is `hold_result`.
    """
    holder = StepHolder(baseline or source, writer, probes_sampler, on_progress, data_volume, on_message, on_step)
    holder.until_s = settings.baseline_s * (baseline is not None) + settings.warm_up_s + settings.duration_s
    result = HoldResult(source.unit, source.open, settings, steps=holder.records)
    under_way = _UnderWay()

    def interrupted() -> None:
        result.status, result.reason = "interrupted", "It was ended by an interruption."
        holder.say("stopping: running iterations may end; Ctrl-C again stops at once")

    with load_within(under_way.stop, interrupted):
        if baseline is not None and settings.baseline_s > 0:
            result.reason = _alone(holder, baseline, settings.baseline_s, under_way)
        if result.reason:
            result.status = "failed"
        else:
            _under_load(holder, source, settings, result, under_way)
    result.load_s = max((step.end_s for step in holder.records), default=0.0)
    holder.event("hold_result", result.load_s, result=result.to_json())
    return result


@dataclass
class _UnderWay:
    """The source that runs. What does not move any more after a drain is cut off."""

    source: LoadSource | None = None
    is_still: bool = False

    def start(self, source: LoadSource) -> None:
        source.start()
        self.source = source

    def drain(self, holder: StepHolder) -> None:
        self.is_still = math.isinf(holder.drain(DRAIN_LIMIT_S)) and holder.is_still

    def stop(self, graceful: bool = True) -> None:
        if self.source is not None:
            self.source.stop(graceful=graceful and not self.is_still)
        self.source, self.is_still = None, False


def _alone(holder: StepHolder, baseline: LoadSource, seconds: float, under_way: _UnderWay) -> str:
    """One user at work before the load; why no load is put on a target that does nothing for one user."""
    holder.source, holder.warm_up_s = baseline, 0.0
    under_way.start(baseline)
    about = {"experiment": "hold", "unit": baseline.unit, "open": baseline.open}
    holder.event("experiment_started", baseline.now(), **about)
    record = holder.hold(1.0, "baseline", seconds, _fails_alone, conclude, why=ALONE)
    under_way.drain(holder)
    under_way.stop()
    holder.finish()
    return record.judgement.reasons[0] if record.judgement.given_up else ""


def _fails_alone(seen: Measurement) -> Judgement | None:
    """The end of a baseline in which nothing succeeds."""
    if len(seen.seconds) < ALONE_FAILS_S or not FEWEST_ALONE <= seen.requests == seen.failed:
        return None
    what = joined([f"no {noun.removesuffix('s')}" for noun in seen.judged_noun.split(" and ")])
    why = f"{what.capitalize()} of one user alone succeeded ({seen.failures.words()}), so no load was put on it."
    return Judgement("bad", (why,), given_up=True)


def _under_load(
    holder: StepHolder, source: LoadSource, settings: HoldSettings, result: HoldResult, under_way: _UnderWay
) -> None:
    offset_s = math.ceil(holder.source.now()) if holder.records else 0
    shifted: Shifted | KeptLoad = Shifted(source, offset_s)
    alone = holder.records[0].measurement.load if holder.records else None
    capped = partial(judge_cap, caps=settings.caps, low=alone)
    decide_second: Decide = partial(decide, capped=capped)
    if settings.keep:
        shifted = _kept(shifted, settings, holder)
        shifted.on_state = partial(_tell_state, holder)
        decide_second = partial(decide_kept, load=shifted, capped=capped)
    under_way.start(shifted)
    holder.source, holder.warm_up_s = shifted, settings.warm_up_s
    holder.until_s = offset_s + settings.warm_up_s + settings.duration_s
    holder.event("experiment_started", shifted.now(), experiment="hold", unit=source.unit, open=source.open)
    record = holder.hold(settings.level, "expected", settings.duration_s, decide_second, capped, why=HELD)
    if record.judgement.given_up:
        result.reason = (
            f"Ended after {time_words(record.end_s - record.start_s)} at level {number(settings.level)}: "
            f"{record.judgement.reasons[0]}"
        )
    if not record.judgement.capped:  # else what waits was never sent, and stopping drops it
        under_way.drain(holder)
    holder.read_data_volume()


def _kept(source: LoadSource, settings: HoldSettings, holder: StepHolder) -> KeptLoad:
    """The source, steered so that the objectives just hold."""
    limits = tuple(one.limit for one in settings.keep)
    keeper = Keeper(limits, settings.level, most=settings.most_level, whole=source.unit == "vus")
    holder.event("keep_started", source_second(holder), **event_of(settings.keep, keeper))

    def tell(kind: str, **details: Any) -> None:
        holder.event(kind, **details)

    return KeptLoad(source, settings.keep, keeper, tell)


def _tell_state(holder: StepHolder, state: State) -> None:
    """Why the level is what it is, for who watches."""
    holder.why = WHY_KEPT[state]


def source_second(holder: StepHolder) -> float:
    """Second of the run at which its last step ended."""
    return holder.records[-1].end_s if holder.records else 0.0


def conclude(seen: Measurement) -> Judgement:
    """A held step bounds nothing."""
    return Judgement("undecided")


def judge_cap(seen: Measurement, caps: Sequence[DeclaredCap], low: LoadSeconds | None) -> Judgement:
    """What a held step is called: undecided, and capped where the script could not send what was planned."""
    cap = binding_cap(caps, seen.load, low) if caps and failing_share(seen) is None else None
    return Judgement("undecided", (cap.words,) if cap is not None else (), cap=cap)


def decide_kept(seen: Measurement, load: KeptLoad, capped: Conclude) -> Judgement | None:
    """As `decide`; the step's level is the mean of those it had, and no level is left where none holds the
    objective."""
    seen.level = load.mean_level(len(seen.seconds))
    if load.keeper.unreachable and len(seen.seconds) >= FEWEST_UNREACHABLE_S:
        return Judgement("bad", (UNREACHABLE,), given_up=True)
    if load.keeper.lost:
        return Judgement("bad", (LOST,), given_up=True)
    return decide(seen, capped)


def decide(seen: Measurement, capped: Conclude = conclude) -> Judgement | None:
    """The end of a step in which going on would only hurt, or waits for what the script cannot send."""
    if len(seen.seconds) < PATIENCE_S:
        return None
    stop = give_up_reason(seen)
    if stop is None:
        return None
    found = capped(seen)
    return replace(found, given_up=True) if found.capped else Judgement("bad", (stop,), given_up=True)
