"""A database as the limit: statements that wait for each other's locks, or one statement that takes its time.

By Little's law the time that executions of a statement took in a second is how many of them were under way. Where the
database's CPU, or the pool that leads to it, is full of one statement, that statement is the cause and they are the
symptom.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from textwrap import shorten
from typing import TYPE_CHECKING, Any

from plimsoll.findings.database.index_effect import effect_words, for_statements
from plimsoll.findings.database.without_index import locks_what_it_reads, without_index
from plimsoll.findings.limits.limit import Limit, Scope
from plimsoll.findings.resources import Means, Step
from plimsoll.words import count_words, ms_words, number, share_words

if TYPE_CHECKING:
    from plimsoll.runs.reader import RunReader

PROBES = ("postgresql:", "mysql:")
LEAST_WAITERS = 1.5
OF_ACTIVE = 0.5
LEAST_SHARE = 0.4
LEAST_UNDER_WAY = 0.8
NO_MORE_ACTIVE = 1.2  # sessions at work, under which a database is not what requests wait for
STEP_EVENT, RUN_EVENT, TEXT_EVENT = "database_step", "database_run", "database_statement"


@dataclass(frozen=True)
class Statements:
    """What the run recorded of its databases: events of steps with `ended_s`, the end of theirs; those of the run by
    source; texts by id; and who waited for whom, by source ("mysql:shop": a label may be there for each kind)."""

    steps: Sequence[Mapping[str, Any]] = ()
    runs: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    texts: Mapping[str, str] = field(default_factory=dict)
    waits: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def of(cls, run: RunReader | None) -> Statements:
        """Those of a run's events; none without a run."""
        if run is None:
            return cls()
        waits: dict[str, str] = {}
        for note in run.events("note"):
            source, _, message = str(note.get("message")).partition(": ")
            if source.startswith(PROBES) and " waits for " in message:
                waits.setdefault(source, message.partition(" that another holds")[2].partition(": ")[2] or message)
        return cls(
            _by_step(run.events()),
            {str(event.get("source")): event for event in run.events(RUN_EVENT)},
            {str(event["id"]): str(event["text"]) for event in run.events(TEXT_EVENT)},
            waits,
        )

    def in_step(self, source: str, step: Step) -> Mapping[str, Any] | None:
        """What the database did in that step."""
        mine = (one for one in self.steps if (one["source"], one["ended_s"]) == (source, float(step["end_s"])))
        return next(mine, None)

    def shape(self, one: Mapping[str, Any]) -> str:
        """What statements of one shape share: their text; where that is not known, each is its own."""
        return self.texts.get(str(one["id"]), str(one["id"]))

    def index_for(self, source: str, identifiers: Collection[str]) -> Mapping[str, Any] | None:
        """The advice of an index for one of these statements, with what was proven of them."""
        for advice in self.runs.get(source, {}).get("advice") or ():
            if any(one.get("id") in identifiers for one in advice.get("statements") or ()):
                return for_statements(advice, identifiers)
        return None


def _by_step(events: Iterable[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Those of databases, each behind the end of its step: how long behind depends on how busy the database was."""
    found, ended_s = [], None
    for event in events:
        if event.get("kind") == "step_ended":
            ended_s = event.get("end_s")
        elif event.get("kind") == STEP_EVENT and ended_s is not None:
            found.append({**event, "ended_s": float(ended_s)})
    return found


def database_locks(here: Means, bad: Step, statements: Statements, words: str) -> list[Limit]:
    """Databases most of whose sessions at work waited for locks of others."""
    found = []
    for source, label, values in _databases(here):
        waiting, active = values.get("lock_waits", 0.0), values.get("connections_active", 0.0)
        if waiting < LEAST_WAITERS or waiting < OF_ACTIVE * active:
            continue
        text = (
            f"{count_words(waiting)} of {count_words(max(active, waiting))} sessions at work in {label} waited for a "
            f"lock that another held {words}{_how_long(values)}."
        )
        pair = statements.waits.get(source)
        if pair:
            text += f" {pair[:1].upper()}{pair[1:]}."
        remedy = "hold the row for less time (do the rest before or after), or spread the writes over more rows"
        event = statements.in_step(source, bad) or {}
        wide = locks_what_it_reads(event.get("statements") or (), statements.texts)
        if wide is not None:
            text += f" This one reads rows without an index, and InnoDB locks each that it reads: {_short(wide)}"
            remedy = (
                "give that statement an index (ALTER TABLE … ADD INDEX …), so that it locks few rows, which is not "
                f"proven, as no planner was asked; or {remedy}"
            )
        found.append(
            Limit("database_lock", f"locks in {label}", min(1.0, waiting / max(active, 1.0)), None, text, remedy)
        )
    return found


def _how_long(values: Mapping[str, float]) -> str:
    """How long the waits were: each on average where the server counts that, as MySQL does, which tells the longest in
    whole seconds only; else the longest of a second."""
    begun, waited_ms = values.get("lock_waits_per_s", 0.0), values.get("lock_wait_ms_per_s", 0.0)
    if begun > 0 and waited_ms > 0:
        return f", {ms_words(waited_ms / begun)} each on average"
    longest_s = values.get("longest_lock_wait_s", 0.0)
    return f", the longest {ms_words(1000 * longest_s)} on average" if longest_s > 0 else ""


def database_statements(here: Means, bad: Step, statements: Statements, words: str) -> list[Limit]:
    """Databases that were at work on one statement, or a few of one shape, for most of their time."""
    found = []
    for source, label, values in _databases(here):
        event = statements.in_step(source, bad)
        if event is None or not event.get("statements"):
            continue
        waiting, active = values.get("lock_waits", 0.0), values.get("connections_active", 0.0)
        first = event["statements"][0]
        alike = [one for one in event["statements"] if statements.shape(one) == statements.shape(first)]
        share = min(1.0, sum(float(one["share"]) for one in alike))
        # Its window is read late where the database is busy: if the load has ended by then, this is a lower bound.
        window_s = max(float(bad["end_s"]), float(event["second"])) - float(bad["start_s"])
        under_way = sum(float(one["total_ms"]) for one in alike) / 1000 / window_s
        if share < LEAST_SHARE or under_way < LEAST_UNDER_WAY or active < NO_MORE_ACTIVE:
            continue
        if waiting >= OF_ACTIVE * max(active, 1.0):
            continue
        evidence = (
            f"{share_words(share)} of the time of {label} went into one statement {words}, {number(under_way)} of it "
            "under way"
        )
        limit = _statement(evidence, alike, event, statements)
        found.append(Limit("database_statement", f"a statement in {label}", share, None, *limit, owner=label))
    return found


def _statement(
    evidence: str, alike: Sequence[Mapping[str, Any]], event: Mapping[str, Any], statements: Statements
) -> tuple[str, str, Scope]:
    """The evidence to its end, the remedy and the scope: an index that is advised, or what was seen without one."""
    calls = sum(int(one["calls"]) for one in alike)
    mean_ms = sum(float(one["total_ms"]) for one in alike) / max(calls, 1)
    text = _text(statements, alike[0])
    evidence += f" at a time, {ms_words(mean_ms)} each: {_short(text)}"
    index = statements.index_for(str(event["source"]), [str(one["id"]) for one in alike])
    if index:
        first = f"{index['needs']} " if index["needs"] else ""
        remedy = f"run {first}{index['sql'].rstrip(';')}. Its predicted effect is {effect_words(index)}"
        return f"{evidence} An index that is missing: {index['sql']}", remedy, Scope.UNINDEXED
    scan = without_index(alike, text, event.get("tables") or ())
    if scan is not None:
        return f"{evidence} {scan.words}", scan.remedy, Scope.UNINDEXED
    return evidence, "make this statement cheaper, or call it less often", Scope.STATEMENT


def _text(statements: Statements, one: Mapping[str, Any]) -> str:
    return statements.texts.get(str(one["id"]), "(its text is not known)")


def _short(text: str) -> str:
    return shorten(text, 200, placeholder=" …")


def _databases(here: Means) -> list[tuple[str, str, Mapping[str, float]]]:
    """Source, label and values of each database that was probed, whichever kind."""
    return [(source, source.partition(":")[2], values) for source, values in here.items() if source.startswith(PROBES)]
