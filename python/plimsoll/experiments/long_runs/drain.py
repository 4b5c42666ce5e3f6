"""Does the asynchronous consumer keep up? Load for a time, then none until the backlog is gone; a probe reads the
backlog.

    rest    a few seconds without load: what waits already
    load    the level, for the time: does the backlog grow?
    drain   no load, until the backlog is back where it was, or the limit is reached: how fast is the consumer alone?

The probe's rows (source "consumer") are what findings/drain/finding.py judges; each is of the second in which it was
read and may come some seconds later. Time is the load source's own.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from plimsoll.experiments.load import LoadSource
from plimsoll.experiments.long_runs.hold import conclude, decide
from plimsoll.experiments.steps.holding import ProbesSampler, StepHolder, Writer
from plimsoll.experiments.steps.record import ProgressCallback, Status, StepRecord
from plimsoll.interruptions import load_within
from plimsoll.words import count_words, time_words

SOURCE = "consumer"
REST_S = 3
AT_REST_SECONDS = 3
AT_REST_READINGS = 3
FRESH_S = 2.0


@dataclass(frozen=True)
class DrainSettings:
    """`level` in the source's unit; `drain_s`: how long to wait for the backlog after the load;
    `items_per_operation`: what one iteration puts in, where no counter tells; `operation`: only these iterations put
    something in."""

    level: float
    duration_s: float = 600.0
    warm_up_s: float = 10.0
    drain_s: float = 300.0
    items_per_operation: float = 1.0
    operation: str | None = None

    def __post_init__(self) -> None:
        if not (self.level > 0 and self.duration_s > 0 and self.drain_s >= 0 and self.items_per_operation > 0):
            raise ValueError("level, duration_s and items_per_operation are above 0, drain_s not below")


@dataclass
class DrainResult:
    """How it ended: when load began and ended, when the backlog was gone (None: not within the limit)."""

    unit: str
    settings: DrainSettings
    status: Status = "finished"
    reason: str = ""
    load_from_s: float = 0.0
    load_to_s: float = 0.0
    drained_at_s: float | None = None
    ended_s: float = 0.0
    steps: list[StepRecord] = field(default_factory=list)

    def to_json(self) -> dict[str, Any]:
        """The result as findings read it, from the run's event `drain_result`."""
        return {
            "unit": self.unit,
            "status": self.status,
            "reason": self.reason,
            "level": self.settings.level,
            "items_per_operation": self.settings.items_per_operation,
            "operation": self.settings.operation,
            "load_from_s": self.load_from_s,
            "load_to_s": self.load_to_s,
            "drained_at_s": self.drained_at_s,
            "ended_s": self.ended_s,
            "steps": [step.to_json() for step in self.steps],
        }


def run_drain(
    source: LoadSource,
    settings: DrainSettings,
    writer: Writer | None = None,
    probes_sampler: ProbesSampler | None = None,
    on_progress: ProgressCallback | None = None,
    on_message: Callable[[str], None] | None = None,
    before: Mapping[str, float] | None = None,
) -> DrainResult:
    """Rest, load, drain; the source is started here and stopped whatever happens. Rows of the probe "consumer" with
    the value `waiting`, or with `put_in` and `taken_out`, say when the backlog is gone; `before`: what was read of
    these before the start, which counts as at rest until there are rows."""
    backlog = _Backlog(probes_sampler, before or {})
    holder = StepHolder(source, writer, backlog.sample, on_progress, None, on_message)
    backlog.holder = holder
    result = DrainResult(source.unit, settings, steps=holder.records)
    started = False

    def stop(graceful: bool) -> None:
        if started:
            result.ended_s = source.now()
            source.stop(graceful=graceful)

    def interrupted() -> None:
        result.status, result.reason = "interrupted", "It was ended by an interruption."
        holder.say("stopping: running iterations may end; Ctrl-C again stops at once")

    with load_within(stop, interrupted):
        source.start()
        started = True
        holder.event("experiment_started", 0.0, experiment="drain", unit=source.unit, open=source.open)
        for snapshot in source.snapshots(source.now() + REST_S):
            holder.record(snapshot, "drain")
        at_rest = backlog.waiting or 0.0
        result.load_from_s = source.now()
        holder.warm_up_s = settings.warm_up_s
        holder.until_s = result.load_from_s + settings.warm_up_s + settings.duration_s
        try:
            why = "held for the time that was asked; then the load ends and the backlog is followed"
            record = holder.hold(settings.level, "expected", settings.duration_s, decide, conclude, why=why)
            if record.judgement.given_up:
                result.reason = f"The load was given up: {record.judgement.reasons[0]}"
        finally:
            source.set_level(0.0)
            result.load_to_s = source.now()
        _wait(source, holder, backlog, settings, at_rest, result)
    holder.event("drain_result", result.ended_s, result=result.to_json())
    return result


def _wait(
    source: LoadSource,
    holder: StepHolder,
    backlog: _Backlog,
    settings: DrainSettings,
    at_rest: float,
    result: DrainResult,
) -> None:
    """Follow the backlog without load until it stays at rest: in AT_REST_READINGS readings one after another, each of
    a time at which the load had ended and none of its iterations ran any more."""
    calm, counted_s, quiet_from_s = 0, 0.0, math.inf
    for snapshot in source.snapshots(source.now() + settings.drain_s):
        holder.record(snapshot, "drain")
        if snapshot.second + 1.0 < result.load_to_s:  # it was under load: this process was kept from its core since
            continue
        is_quiet = snapshot.backlog == 0 and snapshot.in_flight == 0
        quiet_from_s = min(quiet_from_s, snapshot.second + 1.0) if is_quiet else math.inf
        if not is_quiet:
            calm = 0
        elif backlog.waiting is not None and backlog.read_at_s >= quiet_from_s and backlog.read_at_s > counted_s:
            counted_s = backlog.read_at_s
            calm = calm + 1 if backlog.waiting <= at_rest + 1 else 0
            if calm == 1:
                result.drained_at_s = counted_s
        if calm >= AT_REST_READINGS:
            return
        if backlog.waiting is None and is_quiet and snapshot.second + 1 > result.load_to_s + 3 * AT_REST_SECONDS:
            return
    result.drained_at_s = None


class _Backlog:
    """Passes the probes' rows on and keeps the last reading of the backlog, which may be some seconds old."""

    def __init__(self, sampler: ProbesSampler | None, before: Mapping[str, float]) -> None:
        self._sampler = sampler
        self._last = {name: (0.0, value) for name, value in before.items()}
        self.holder: StepHolder | None = None

    @property
    def _parts(self) -> tuple[str, ...]:
        """The values that it is read from."""
        for names in (("waiting",), ("put_in", "taken_out")):
            if all(name in self._last for name in names):
                return names
        return ()

    @property
    def waiting(self) -> float | None:
        """Items by the last reading; None if there was none."""
        values = [self._last[name][1] for name in self._parts]
        return values[0] - sum(values[1:]) if values else None

    @property
    def read_at_s(self) -> float:
        """Second of the run at which that was so, of the older of its parts; 0 if it was read before the run."""
        return min((self._last[name][0] for name in self._parts), default=0.0)

    def sample(self, second: int, t_unix: float) -> Iterable[Mapping[str, Any]]:
        """All rows that came in that second."""
        rows = list(self._sampler(second, t_unix)) if self._sampler is not None else []
        for row in rows:
            if row.get("source") == SOURCE:
                read_at_s = float(row.get("second", second)) + 1.0
                self._last |= {name: (read_at_s, float(value)) for name, value in (row.get("values") or {}).items()}
        if self.holder is not None:
            self.holder.words = self._words(second + 1.0)
        return rows

    def _words(self, now_s: float) -> str:
        """What a follower of the run is told."""
        if self.waiting is None:
            return ""
        age_s = now_s - self.read_at_s
        return f"  {count_words(self.waiting)} items wait{f' ({time_words(age_s)} ago)' if age_s > FRESH_S else ''}"
