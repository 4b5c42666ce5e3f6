"""Holding one level: set it, let it settle, measure second by second until the judge has decided, drain.

The only part of the experiment that touches the load source, the probes and the run's writer.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Callable, Iterable, Mapping
from typing import Any, Literal, Protocol

from plimsoll.experiments.load import LoadSource
from plimsoll.experiments.steps.booking import Books
from plimsoll.experiments.steps.foreign_work import SHORT_OF_CPU, HostSeconds
from plimsoll.experiments.steps.judgement import Judgement
from plimsoll.experiments.steps.measure import Measurement
from plimsoll.experiments.steps.patience import patience_s, words_of_loss
from plimsoll.experiments.steps.record import (
    AFTER_OVERLOAD,
    PHASE_OF,
    Bracket,
    Phase,
    Progress,
    ProgressCallback,
    StepKind,
    StepRecord,
)
from plimsoll.runs.snapshot import Snapshot

DataVolume = Callable[[], float | None]
OnStep = Callable[[Literal["started", "ended"], float], None]
ProbesSampler = Callable[[int, float], Iterable[Mapping[str, Any]]]
Decide = Callable[[Measurement], Judgement | None]
Conclude = Callable[[Measurement], Judgement]
Filling = Callable[[Measurement, float], bool]
SETTLED_SHARE = 0.1
DRAINING_SHARE = 0.9
MOST_DRAINS = 10
DRAIN_ROUND_S = 1.0
CORE_SPEED_SOURCE = "core_speed"


def stolen_share(rows: Iterable[Mapping[str, Any]]) -> float:
    """Share of a core's time that the hypervisor took in a second for which CPU time was short: with it, the host or
    the busiest thread of a probed process would have been at its ceiling. 0 where that time was not missed."""
    values = {row["source"]: row["values"] for row in rows if "values" in row}
    host = values.get("host", {})
    stolen = float(host.get("cpu_steal_worst_core_share", 0.0))
    threads = [seen.get("busiest_thread_cores_used", 0.0) + stolen for seen in values.values()]
    whole = host.get("cpu_share", 0.0) + host.get("cpu_steal_share", 0.0)
    return stolen if max([whole, *threads]) >= SHORT_OF_CPU else 0.0


def core_speed(rows: Iterable[Mapping[str, Any]]) -> tuple[float, float]:
    """Speed of the target's cores in a second, in the probe's own unit, and the share by which it may err; NaN where
    nobody measured."""
    values: Mapping[str, float] = next((row["values"] for row in rows if row.get("source") == CORE_SPEED_SOURCE), {})
    return values.get("work_per_cpu_s", math.nan), values.get("work_error_share", math.nan)


class Writer(Protocol):
    """The part of runs.RunWriter that an experiment uses."""

    def set_t0(self, t0_unix: float) -> None:
        """Wall clock at elapsed second 0."""

    def append_snapshot(self, snapshot: Snapshot) -> None:
        """Append one second."""

    def append_resource(self, row: Mapping[str, Any]) -> None:
        """Append one row of a probe."""

    def append_event(self, kind: str, *, second: float, **details: Any) -> None:
        """Append one event."""


class StepHolder:
    """Holds levels one after another and keeps the records."""

    def __init__(
        self,
        source: LoadSource,
        writer: Writer | None,
        probes_sampler: ProbesSampler | None = None,
        on_progress: ProgressCallback | None = None,
        data_volume: DataVolume | None = None,
        on_message: Callable[[str], None] | None = None,
        on_step: OnStep | None = None,
    ) -> None:
        self.source = source
        self.writer = writer
        self.records: list[StepRecord] = []
        self.bracket = Bracket(None, None)
        self.warm_up_s = 1.0
        self.planned_total = 0
        self.level_seconds = 0.0
        self.host_seconds = HostSeconds()
        self._sample = probes_sampler
        self._report, self._tell = on_progress, on_message
        self._data_volume, self._on_step = data_volume, on_step
        self.watch: Callable[[float, Snapshot], None] | None = None  # of each level's measured seconds
        self._began = False
        self._books, self._booked = Books(), source
        self._unfinished = 0
        self.is_still = False  # nothing ended any more when the last drain gave up
        self.words = self.why = ""
        self.until_s: float | None = None  # second at which the load time ends
        self._held: Measurement | None = None
        self._stolen, self._speed = 0.0, math.nan
        self._speed_errors: list[float] = []

    def hold(
        self,
        level: float,
        kind: StepKind,
        limit_s: float,
        decide: Decide,
        conclude: Conclude,
        filling: Filling | None = None,
        why: str = "",
    ) -> StepRecord:
        """Hold `level` until `decide` returns a judgement or `limit_s` measured seconds passed; then `conclude`.
        `filling`: whether the warm-up goes on, where nobody knows yet how long it takes. `why`: this level, in words.

        Steps after an overload (`AFTER_OVERLOAD`) show how the target comes to rest and are no points of its curve:
        their events have names of their own. An interruption (KeyboardInterrupt) closes the record as undecided
        and passes on.
        """
        after_overload = kind in AFTER_OVERLOAD
        volume = None if after_overload else self.read_data_volume()
        if not after_overload:
            self._tell_step("started")
        self._tell_amended()
        start_s = self.source.now()
        about = {"level": level, "step_kind": kind} | ({"why": why} if why else {})
        self.event("recovery_started" if after_overload else "step_started", start_s, **about)
        self.source.set_level(level)
        began = math.ceil(start_s - SETTLED_SHARE)
        measured_from = began + math.ceil(self.warm_up_s)
        best_per_s = max((record.measurement.done_per_s for record in self.records), default=0.0)
        seen = self._held = Measurement(level, best_done_per_s=best_per_s)
        self.why = why
        judgement: Judgement | None = None
        try:
            for snapshot in self.source.snapshots(measured_from + math.ceil(limit_s)):
                judged = self.record(snapshot, PHASE_OF[kind])
                if snapshot.second < measured_from:
                    seen.warm_up(judged)
                    if filling is not None and filling(seen, snapshot.second + 1 - began):
                        measured_from = max(measured_from, snapshot.second + 2)
                    continue
                seen.add(judged, self._stolen, self._speed)
                if self.watch is not None and not after_overload:
                    self.watch(level, judged)
                self.planned_total += int(snapshot.planned)
                self.level_seconds += level
                judgement = decide(seen)
                if judgement is not None:
                    break
        except KeyboardInterrupt:
            self._close(seen, kind, start_s, Judgement("undecided", ("Interrupted.",)), volume)
            raise
        return self._close(seen, kind, start_s, judgement or conclude(seen), volume)

    def drain(self, limit_s: float) -> float:
        """Level 0 until nothing waits or runs; seconds taken. Infinity if the rest was given up: it did not shrink at
        all in a time plainly longer than the service needs (patience.py), or by less than a tenth in `limit_s`."""
        drained_s = self._until_drained(patience_s(self.records, limit_s), limit_s)
        if self.records:
            self.records[-1].drain_s = drained_s
        return drained_s

    def _until_drained(self, patience: float, limit_s: float) -> float:
        least = window_start = self._unfinished
        total_s = still_s = window_s = 0.0
        while still_s < patience and total_s < MOST_DRAINS * limit_s:
            took_s, is_done = self._drain_on(min(DRAIN_ROUND_S, patience))
            total_s, still_s, window_s = total_s + took_s, still_s + took_s, window_s + took_s
            if is_done:
                return total_s
            if self._unfinished < least:
                least, still_s = self._unfinished, 0.0
            if window_s >= limit_s:
                if self._unfinished >= DRAINING_SHARE * window_start:
                    break
                window_start, window_s = self._unfinished, 0.0
        self.is_still = still_s >= patience
        self._give_up(total_s)
        return math.inf

    def _drain_on(self, limit_s: float) -> tuple[float, bool]:
        """Drain for `limit_s` more; seconds taken, and whether nothing is left but what was given up before."""
        began_s = self.source.now()
        took_s = self.source.drain(limit_s)
        seconds = list(self.source.snapshots(self.source.now()))
        for snapshot in seconds:
            self.record(snapshot, "drain", probe=snapshot is seconds[-1])
        if math.isfinite(took_s):
            return took_s, True
        return max(limit_s, self.source.now() - began_s), bool(seconds) and self.only_stuck

    def _give_up(self, after_s: float) -> None:
        """What is left is no backlog of the next steps, and is told."""
        lost = self._books.give_up(self.records[-1] if self.records else None)
        self._unfinished = 0
        about = {"count": lost.count, "after_s": after_s, "oldest_s": lost.oldest_s, "waiting_for": list(lost.names)}
        self.event("drain_gave_up", self.source.now(), levels=list(lost.levels), **about)
        self.say(words_of_loss(lost, self.source.unit, after_s))

    @property
    def unanswered(self) -> int:
        """How many iterations of earlier steps, which were given up, the target may still be busy with."""
        return self._books.given_up

    @property
    def only_stuck(self) -> bool:
        """Whether all that is unfinished was given up, so that nothing is gained by waiting for it."""
        return self._unfinished == 0 and self._books.given_up > 0

    def finish(self) -> None:
        """After the source was stopped: book and write the seconds until the last iteration had ended."""
        for snapshot in getattr(self.source, "rest", tuple)():
            self._books.take(snapshot)
            if self.writer is not None:
                self.writer.append_snapshot(snapshot)
        self._tell_amended()

    def _tell_amended(self) -> None:
        """Write what steps were that have been added to since they ended."""
        for record in self._books.amended():
            after_overload = record.kind in AFTER_OVERLOAD
            kind = "recovery_amended" if after_overload else "step_amended"
            self.event(kind, self.source.now(), **record.to_json())

    def read_data_volume(self) -> float | None:
        """The data volume now, which is also that after the last step; None where the study does not say how, and
        while the target has more than a second's work before it: the answer would wait behind that."""
        best_per_s = max((record.measurement.done_per_s for record in self.records), default=math.inf)
        if self._data_volume is None or self._unfinished > best_per_s:
            return None
        volume = self._data_volume()
        if volume is not None:
            self.event("data_volume", self.source.now(), value=volume)
        held = [record for record in self.records if record.kind not in AFTER_OVERLOAD]
        if held:
            held[-1].volume_end = volume
        return volume

    def rate_per_level_s(self) -> float | None:
        """Arrivals per second at level 1 over all measured seconds so far; None before the first arrival."""
        return self.planned_total / self.level_seconds if self.planned_total and self.level_seconds else None

    @property
    def speed_error_share(self) -> float:
        """Share by which the speed of the target's cores in a second may err (one standard deviation)."""
        return statistics.median(self._speed_errors) if self._speed_errors else 0.0

    def event(self, kind: str, second: float, **details: Any) -> None:
        """Write an event, if there is a writer."""
        if self.writer is not None:
            self.writer.append_event(kind, second=second, **details)

    def say(self, message: str) -> None:
        """Tell whoever follows the progress."""
        if self._tell is not None:
            self._tell(message)

    def _close(
        self, seen: Measurement, kind: StepKind, start_s: float, judgement: Judgement, volume: float | None
    ) -> StepRecord:
        end_s = float(seen.seconds[-1] + 1) if seen.seconds else self.source.now()
        record = StepRecord(seen.level, kind, start_s, end_s, seen, judgement, volume_start=volume)
        self.records.append(record)
        self._held, self.why = None, ""
        self._books.enter(record)
        after_overload = kind in AFTER_OVERLOAD
        self.event("recovery_ended" if after_overload else "step_ended", end_s, **record.to_json())
        if not after_overload:
            self._tell_step("ended")
        return record

    def _tell_step(self, what: Literal["started", "ended"]) -> None:
        """Tell whoever reads something before and after each step, such as a database's statements."""
        if self._on_step is not None:
            self._on_step(what, self.source.now())

    def record(self, snapshot: Snapshot, phase: Phase, probe: bool = True) -> Snapshot:
        """Write one second and ask the probes, whose rates span the time since they were last asked. Returned is the
        second as it may be judged: without what was given up."""
        if self._booked is not self.source:
            self._books.begin_source()
            self._booked = self.source
        judged = self._books.take(snapshot)
        self._unfinished = int(judged.backlog) + int(judged.in_flight)
        if self.writer is not None:
            if not self._began:
                self._began = True
                self.writer.set_t0(snapshot.t_unix - snapshot.second)
            self.writer.append_snapshot(snapshot)
        rows: list[Mapping[str, Any]] | None = None
        if self._sample is not None and probe:
            rows = list(self._sample(snapshot.second, snapshot.t_unix))
            self._take(rows)
        self.host_seconds.add(judged, rows)
        if self._report is not None:
            self._report(
                Progress(
                    phase,
                    snapshot.second + 1.0,
                    snapshot.level,
                    self.source.unit,
                    float(snapshot.planned),
                    float(judged.done),
                    float(self._unfinished),
                    self.bracket,
                    self.words,
                    self.why,
                    self.until_s,
                    judged,
                    rows or (),
                    self._held,
                    self.records,
                )
            )
        return judged

    def _take(self, rows: list[Mapping[str, Any]]) -> None:
        """Write the rows of the probes and keep what judges need of them."""
        if self.writer is not None:
            for row in rows:
                self.writer.append_resource(row)
        self._stolen = stolen_share(rows)
        self._speed, error_share = core_speed(rows)
        if math.isfinite(error_share):
            self._speed_errors.append(error_share)
