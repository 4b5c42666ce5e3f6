"""Making the trials of a plan, one after the other, each a fresh start of the load held for the stated time.

Times and failures of a trial are those of what arrived in its measured seconds, whenever that ended: an answer that
comes while the load ends counts, and one that never came, and was cut off, is a failure.

A complete trial is one line of trials.jsonl, its seconds are in series.jsonl.zst, one behind the other: `second` counts
seconds of load, `t_unix` says when. A trial that was cut off has seconds and no line, and is made again by whoever
resumes. Time is the load source's own; nothing here reads a clock.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol

from plimsoll.experiments.load import LoadSource
from plimsoll.experiments.trials.plan import Order, Trial, TrialPlan
from plimsoll.runs.readings.endpoints import Endpoints
from plimsoll.runs.snapshot import Snapshot

Record = Mapping[str, Any]
MakeSource = Callable[[Trial], "TrialSource"]
Around = Callable[[Trial], AbstractContextManager[Any]]
Skip = Callable[[Trial, Sequence[Record]], str | None]
Sample = Callable[[int, float], Iterable[Mapping[str, Any]]]
SETTLED_SHARE = 0.1
MEASURED = (
    *("rss_bytes", "cpu_cores_used", "restarts", "busiest_thread_cores_used"),
    *("cores", "cpu_share", "cpu_steal_share"),  # of the host: what others took of it
)
COUNTED = ("restarts",)
WHY_IN_ORDER: Mapping[Order, str] = {
    "interleaved": "drawn at random, so that what drifts meets all alike",
    "grouped": "drawn at random among those of one variant, as changing it is costly",
    "ascending": "the order that was given, up to where nothing answers",
}


class TrialSource(LoadSource, Protocol):
    """A load source that keeps what it reports while it ends."""

    def rest(self) -> Iterator[Snapshot]:
        """The seconds that were not read when the load was stopped, each once."""


class TrialWriter(Protocol):
    """The part of runs.RunWriter that trials use."""

    def set_t0(self, t0_unix: float) -> None:
        """Wall clock at elapsed second 0."""

    def append_snapshot(self, snapshot: Snapshot | Mapping[str, Any]) -> None:
        """Append one second."""

    def append_resource(self, row: Mapping[str, Any]) -> None:
        """Append one row of a probe."""

    def append_event(
        self, kind: str, *, second: float | None = None, t_unix: float | None = None, **details: Any
    ) -> None:
        """Append one event."""

    def append_trial(self, trial: Mapping[str, Any]) -> None:
        """Append one complete trial."""


class TargetRead(Protocol):
    """What is known of the target's processes in the trial that is made."""

    @property
    def followed(self) -> Mapping[str, int]:
        """Ports to which they followed the variant that runs, by label."""

    def unseen(self) -> Mapping[str, str]:
        """Labels of those that cannot be read, and why."""


@dataclass(frozen=True)
class TrialProgress:
    """Live progress, once a second: which trial of how many, what it holds, and how far it is.

    `trial` of `plan`, and `why` it is next; `snapshot`, `rows`: the second, and what the probes said in it; `seen`:
    what was measured of the trial so far, nothing while it warms up; `records`: the complete trials. These two go on
    changing: they are to be read before the callback returns."""

    number: int
    of: int
    label: str
    level: str
    second: int
    seconds: int
    done_per_s: float
    why: str = ""
    snapshot: Snapshot | None = None
    rows: Sequence[Record] = ()
    seen: Endpoints | None = None
    records: Sequence[Record] = ()
    trial: Trial | None = None
    plan: TrialPlan | None = None


@dataclass
class TrialsResult:
    """The complete trials as trials.jsonl has them, those of earlier sessions too; `skipped`: number and why."""

    status: Literal["finished", "interrupted"] = "finished"
    records: list[Record] = field(default_factory=list)
    skipped: dict[int, str] = field(default_factory=dict)


@dataclass
class Session:
    """What trials need beside the plan: where results go, which are there already, and hooks.

    `make_source` gives fresh load for a trial; `around` is entered before it starts and left when it has ended (reset,
    switch, isolation); `skip` says why a trial is not made, or None; `sample(second, t_unix)` gives probe rows;
    `target` knows whose processes these are of; `on_interruption` is told of it before the load is ended.
    """

    make_source: MakeSource
    writer: TrialWriter
    around: Around = lambda trial: nullcontext()
    skip: Skip = lambda trial, records: None
    sample: Sample | None = None
    on_progress: Callable[[TrialProgress], None] | None = None
    complete: Sequence[Record] = ()
    begin_s: int = 0
    target: TargetRead | None = None
    on_interruption: Callable[[], None] = lambda: None


def run_trials(plan: TrialPlan, session: Session) -> TrialsResult:
    """Make what is not complete yet. KeyboardInterrupt ends with the complete ones, status "interrupted"; a second one
    ends the load at once and is raised. Errors of target and engine pass on; complete trials are on disk then."""
    result = TrialsResult(records=list(session.complete))
    trials = plan.trials()
    made = {record["trial"] for record in result.records}
    offset_s = session.begin_s
    for trial in trials:
        if trial.number in made:
            continue
        reason = session.skip(trial, result.records)
        if reason is not None:
            result.skipped[trial.number] = reason
            session.writer.append_event("trial_skipped", second=float(offset_s), trial=trial.number, reason=reason)
            continue
        holder = _Holder(plan, trial, len(trials), session, offset_s)
        holder.complete = result.records
        try:
            with session.around(trial):
                record = holder.hold()
        except KeyboardInterrupt:
            if not holder.is_told:
                session.on_interruption()
            session.writer.append_event("interrupted", second=float(holder.next_s), trial=trial.number)
            result.status = "interrupted"
            return result
        finally:
            offset_s = holder.next_s
        session.writer.append_trial(record)
        result.records.append(record)
    return result


def _of_trial(name: str, values: Sequence[float]) -> float:
    """One number of a trial: the most memory, restarts in the trial, means of the rest."""
    if name in COUNTED:
        return max(values) - min(values)
    return max(values) if name == "rss_bytes" else sum(values) / len(values)


class _Holder:
    """One trial: start, hold, stop; `next_s` is the second of the run after the last that it wrote."""

    def __init__(self, plan: TrialPlan, trial: Trial, of: int, session: Session, offset_s: int) -> None:
        self.plan, self.trial, self.session = plan, trial, session
        self.next_s = self._offset_s = offset_s
        self._of = of
        self.complete: Sequence[Record] = ()  # trials before this one
        self.is_told = False  # that it is interrupted
        self._seen = Endpoints()
        self._epoch = 0
        self._waiting_for: Mapping[str, int] = {}
        self._last_unix = 0.0
        self._resources: dict[str, dict[str, list[float]]] = {}

    def hold(self) -> dict[str, Any]:
        """Make the trial; its line of trials.jsonl."""
        source = self.session.make_source(self.trial)
        stopped = False
        try:
            source.start()
            begin_s = source.now()
            source.set_level(self.trial.level.level)
            measured_from = math.ceil(begin_s - SETTLED_SHARE) + math.ceil(self.plan.warm_up_s)
            until_s = measured_from + math.ceil(self.plan.trial_s)
            for snapshot in source.snapshots(measured_from):
                self._take(snapshot, measured_from, until_s)
            if measured_from > begin_s:
                source.set_level(self.trial.level.level)  # what arrives from here on has an epoch of its own
            for snapshot in source.snapshots(until_s):
                self._take(snapshot, measured_from, until_s)
            source.set_level(0)
            source.stop()
            stopped = True
            for snapshot in source.rest():
                self._take(snapshot, measured_from, until_s)
        except KeyboardInterrupt:
            self.is_told = True
            self.session.on_interruption()
            raise
        finally:
            if not stopped:
                source.stop(graceful=False)
        return self._record(measured_from, until_s)

    def _take(self, snapshot: Snapshot, measured_from: int, until_s: int) -> None:
        writer, second = self.session.writer, self._offset_s + snapshot.second
        if second == 0:
            writer.set_t0(snapshot.t_unix)
        writer.append_snapshot({**snapshot.to_json(), "second": second})
        self.next_s = max(self.next_s, second + 1)
        self._last_unix = snapshot.t_unix
        measured = measured_from <= snapshot.second < until_s
        if measured:
            self._epoch = self._epoch or snapshot.epoch
            self._seen.add(snapshot, self._epoch)
        elif self._epoch and snapshot.second >= until_s:
            self._take_late(snapshot)
        rows: Sequence[Record] = ()
        if self.session.sample is not None and snapshot.second < until_s:
            rows = list(self.session.sample(second, snapshot.t_unix))
            for row in rows:
                writer.append_resource(row)
                self._note(row, MEASURED if measured else COUNTED)
        if self.session.on_progress is not None and snapshot.second < until_s:
            self.session.on_progress(
                TrialProgress(
                    self.trial.number,
                    self._of,
                    self.plan.label(self.trial.variant),
                    self.trial.level.words,
                    snapshot.second + 1,
                    until_s,
                    float(snapshot.done),
                    WHY_IN_ORDER[self.plan.order],
                    snapshot,
                    rows,
                    self._seen,
                    self.complete,
                    self.trial,
                    self.plan,
                )
            )

    def _take_late(self, snapshot: Snapshot) -> None:
        self._seen.add_answers(snapshot, self._epoch)
        for one in snapshot.earlier:
            if one.epoch < self._epoch:
                continue
            if one.interrupted:  # all are cut off at one moment
                self._seen.add_unanswered(self._waiting_for)
            self._waiting_for = {} if one.interrupted else one.waiting_for

    def _note(self, row: Mapping[str, Any], names: Sequence[str]) -> None:
        for name in names:
            value = row.get("values", {}).get(name)
            if isinstance(value, int | float):
                self._resources.setdefault(str(row.get("source")), {}).setdefault(name, []).append(float(value))

    def _record(self, measured_from: int, until_s: int) -> dict[str, Any]:
        trial = self.trial
        return {
            "trial": trial.number,
            "repetition": trial.repetition,
            "variant": trial.variant,
            "level": trial.level.level,
            "load": trial.level.words,
            "start_s": self._offset_s,
            "measured_from_s": self._offset_s + measured_from,
            "end_s": self._offset_s + until_s,
            "ended_unix": self._last_unix + 1,
            **self._seen.to_json(),
            **self._of_processes(),
            "resources": {
                source: {name: _of_trial(name, values) for name, values in found.items()}
                for source, found in self._resources.items()
            },
        }

    def _of_processes(self) -> dict[str, Any]:
        """What must be known of the target's processes beside their numbers; nothing where all were read, where the
        study says."""
        if self.session.target is None:
            return {}
        read = {source for source, found in self._resources.items() if "cpu_cores_used" in found}
        unseen = {label: why for label, why in self.session.target.unseen().items() if f"process:{label}" not in read}
        followed = dict(self.session.target.followed)
        return {**({"unseen": unseen} if unseen else {}), **({"followed": followed} if followed else {})}
