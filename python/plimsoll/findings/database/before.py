"""What an index brought: the same statements in the run that missed it and in this one, which has it.

The earlier run lies beside this one, is of the same experiment and script, and watched a database of the same label;
the newest such run that has advice counts. A statement is the same by its queryid, which an index does not change.
MariaDB's and MySQL's digests, by which a statement is the same there, tell of each whether it used an index, and not
which.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from plimsoll.errors import RunDirectoryError
from plimsoll.findings.database.without_index import ran_without_index, uses_index
from plimsoll.runs.directory import list_runs
from plimsoll.runs.format.read_numbers import moment
from plimsoll.runs.reader import RunReader

MOST_RUNS = 20


@dataclass(frozen=True)
class Effect:
    """An index that was made since it was advised, and a statement that it serves; means in ms. `sql` is empty where
    the server does not tell which index that is."""

    sql: str
    statement: str
    text: str
    before_ms: float
    after_ms: float
    calls_before: int
    calls_after: int
    predicted: Mapping[str, Any]
    run: str

    @property
    def factor(self) -> float:
        """How many times less a call takes now."""
        return self.before_ms / max(self.after_ms, 1e-6)


def effects_of(run: RunReader, source: str, whole: Mapping[str, Any], texts: Mapping[str, str]) -> list[Effect]:
    """The effects that this run measures, the largest share of time first; empty where nothing was made since.

    `whole`: this run's database_run.
    """
    now = {one["id"]: one for one in whole.get("statements") or ()}
    if "statistics" in whole:
        return _used_now(run, source, now, texts)
    there = {_shape(definition) for definition in whole.get("indexes") or ()}
    if not there or not now:
        return []
    for name, earlier in _earlier(run, source):
        before = {one["id"]: one for one in earlier.get("statements") or ()}
        had = {_shape(definition) for definition in earlier.get("indexes") or ()}
        made = [one for one in earlier.get("advice") or () if _shape(one["sql"]) in there - had]
        if made or earlier.get("advice"):
            return [
                _effect(one["sql"], item, (before[item["id"]], now[item["id"]]), texts.get(item["id"], ""), name)
                for one in made
                for item in one["statements"]
                if item["id"] in before and item["id"] in now
            ]
    return []


def _used_now(
    run: RunReader, source: str, now: Mapping[str, Mapping[str, Any]], texts: Mapping[str, str]
) -> list[Effect]:
    """Statements that ran without an index in the newest earlier run that had such, and use one now."""
    for name, earlier in _earlier(run, source):
        missed = {one["id"]: one for one in earlier.get("statements") or () if ran_without_index(one)}
        if missed:
            costs = {"cost_before": None, "cost_after": None}
            return [
                _effect("", {"id": key, "share": one["share"], **costs}, (one, now[key]), texts.get(key, ""), name)
                for key, one in missed.items()
                if key in now and uses_index(now[key])
            ]
    return []


def _effect(
    sql: str, predicted: Mapping[str, Any], means: tuple[Mapping[str, Any], Mapping[str, Any]], text: str, run: str
) -> Effect:
    """`means`: the statement then and now."""
    before, now = means
    return Effect(
        sql, predicted["id"], text, before["mean_ms"], now["mean_ms"], before["calls"], now["calls"], predicted, run
    )


def _earlier(run: RunReader, source: str) -> Sequence[tuple[str, Mapping[str, Any]]]:
    """(name, database_run) of earlier runs of the same kind, newest first."""
    try:
        runs = [path for path in list_runs(run.path.parent) if path.resolve() != run.path.resolve()]
    except RunDirectoryError:
        return []
    found = []
    for path in reversed(runs[-MOST_RUNS:]):
        try:
            other = RunReader(path)
            if _kind(other.manifest) != _kind(run.manifest) or not _is_before(other.manifest, run.manifest):
                continue
            events = [event for event in other.events("database_run") if event.get("source") == source]
        except RunDirectoryError:
            continue
        found += [(path.name, event) for event in events[-1:]]
    return found


def _kind(manifest: Mapping[str, Any]) -> tuple[Any, Any]:
    script = manifest.get("script")
    return manifest.get("experiment"), script.get("sha256") if isinstance(script, Mapping) else None


def _is_before(manifest: Mapping[str, Any], than: Mapping[str, Any]) -> bool:
    return (moment(manifest.get("started_unix")) or 0.0) < (moment(than.get("started_unix")) or 0.0)


def _shape(definition: str) -> str:
    """What CREATE INDEX says of table and keys, without its name, brackets and spaces."""
    _, _, rest = definition.partition(" ON ")
    return re.sub(r"[()\s;]", "", rest).lower()
