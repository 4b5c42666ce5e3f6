"""A database as the limit: statements that wait for each other's locks, or one statement that takes its time.

By Little's law the time that executions of a statement took in a second is how many of them were under way. Where the
database's CPU, or the pool that leads to it, is full of one statement, that statement is the cause and they are the
symptom.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from textwrap import shorten
from typing import Any

from plimsoll.findings.limit import Limit
from plimsoll.findings.resources import Means, Step

LEAST_WAITERS = 1.5
OF_ACTIVE = 0.5
LEAST_SHARE = 0.4
LEAST_UNDER_WAY = 0.8
NO_MORE_ACTIVE = 1.2  # sessions at work, under which a database is not what requests wait for
STEP_EVENT, RUN_EVENT, TEXT_EVENT = "database_step", "database_run", "database_statement"


@dataclass(frozen=True)
class Statements:
    """What the run recorded of its databases: events of steps and of the run, texts by id, and who waited for whom, by
    label."""

    steps: Sequence[Mapping[str, Any]] = ()
    runs: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    texts: Mapping[str, str] = field(default_factory=dict)
    waits: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def of(cls, run: Any) -> Statements:
        """Those of a run's events; none without events."""
        if run is None or not hasattr(run, "events"):
            return cls()
        waits: dict[str, str] = {}
        for note in run.events("note"):
            source, _, message = str(note.get("message")).partition(": ")
            if source.startswith("postgresql:") and " waits for " in message:
                waits.setdefault(source.partition(":")[2], message.rpartition("): ")[2] or message)
        return cls(
            run.events(STEP_EVENT),
            {_label(event): event for event in run.events(RUN_EVENT)},
            {str(event["id"]): str(event["text"]) for event in run.events(TEXT_EVENT)},
            waits,
        )

    def in_step(self, label: str, step: Step) -> Mapping[str, Any] | None:
        """What the database did in that step: its event comes at the step's end."""
        start, end = (float(step.get(name) or 0.0) for name in ("measured_from_s", "end_s"))
        most = max(2.0, 0.5 * (end - start))
        near = [
            event for event in self.steps
            if _label(event) == label and start < float(event.get("second") or -1.0)
        ]  # fmt: skip
        found = min(near, key=lambda event: abs(float(event["second"]) - end), default=None)
        return found if found is not None and abs(float(found["second"]) - end) <= most else None

    def index_for(self, label: str, identifiers: Iterable[str]) -> str | None:
        """The index that is advised for one of these statements."""
        for advice in self.runs.get(label, {}).get("advice") or ():
            if any(one.get("id") in identifiers for one in advice.get("statements") or ()):
                return str(advice["sql"])
        return None


def _label(event: Mapping[str, Any]) -> str:
    return str(event.get("source")).partition(":")[2]


def database_locks(here: Means, statements: Statements, words: str) -> list[Limit]:
    """Databases most of whose sessions at work waited for locks of others."""
    found = []
    for label, values in _databases(here):
        waiting, active = values.get("lock_waits", 0.0), values.get("connections_active", 0.0)
        if waiting < LEAST_WAITERS or waiting < OF_ACTIVE * active:
            continue
        longest = values.get("longest_lock_wait_s", 0.0)
        text = (
            f"{waiting:.0f} of {max(active, waiting):.0f} sessions at work in {label} waited for a lock that another "
            f"held {words}, the longest {1000 * longest:.0f} ms on average."
        )
        pair = statements.waits.get(label)
        remedy = "hold the row for less time (do the rest before or after), or spread the writes over more rows"
        if pair:
            text += f" {pair[:1].upper()}{pair[1:]}."
        found.append(
            Limit("database_lock", f"locks in {label}", min(1.0, waiting / max(active, 1.0)), None, text, remedy)
        )
    return found


def database_statements(here: Means, bad: Step, statements: Statements, words: str) -> list[Limit]:
    """Databases that were at work on one statement, or a few of one shape, for most of their time."""
    found = []
    for label, values in _databases(here):
        event = statements.in_step(label, bad)
        if event is None or not event.get("statements"):
            continue
        waiting, active = values.get("lock_waits", 0.0), values.get("connections_active", 0.0)
        first = event["statements"][0]
        alike = [one for one in event["statements"] if _text(statements, one) == _text(statements, first)]
        share = min(1.0, sum(float(one["share"]) for one in alike))
        # Its window is longer than the measured part: with the load at its end this is a lower bound.
        under_way = sum(float(one["total_ms"]) for one in alike) / 1000 / (float(bad["end_s"]) - float(bad["start_s"]))
        if share < LEAST_SHARE or under_way < LEAST_UNDER_WAY or active < NO_MORE_ACTIVE:
            continue
        if waiting >= OF_ACTIVE * max(active, 1.0):
            continue
        found.append(_statement(label, alike, share, under_way, statements, words))
    return found


def _statement(
    label: str, alike: Sequence[Mapping[str, Any]], share: float, under_way: float, statements: Statements, words: str
) -> Limit:
    calls = sum(int(one["calls"]) for one in alike)
    mean_ms = sum(float(one["total_ms"]) for one in alike) / max(calls, 1)
    text = _text(statements, alike[0])
    index = statements.index_for(label, [str(one["id"]) for one in alike])
    evidence = (
        f"{share:.0%} of the time of {label} went into one statement {words}, {under_way:.1f} of it under way at a "
        f"time, {mean_ms:.3g} ms each: {shorten(text, 200, placeholder=' …')}"
    )
    remedy = f"run {index}" if index else "make this statement cheaper, or call it less often"
    if index:
        evidence += f" An index that is missing: {index}"
    return Limit("database_statement", f"a statement in {label}", share, None, evidence, remedy)


def _text(statements: Statements, one: Mapping[str, Any]) -> str:
    return statements.texts.get(str(one["id"]), "(its text is not known)")


def _databases(here: Means) -> list[tuple[str, Mapping[str, float]]]:
    return [(source.partition(":")[2], values) for source, values in here.items() if source.startswith("postgresql:")]
