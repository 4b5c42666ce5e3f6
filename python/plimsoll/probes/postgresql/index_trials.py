"""Runs of a statement with real indexes, on the database that the study's `trial_dsn` names: the proof of advice.

Each index is made in a transaction that is rolled back: CREATE INDEX, then SET TRANSACTION READ ONLY, then EXPLAIN
(ANALYZE) of the statement with its values, a few times, then ROLLBACK. So nothing remains, and the statement itself can
write nothing. CREATE INDEX keeps writers of its table waiting until then, which is why only a database that the user
names is taken: a copy, or the watched one where nobody minds after the load. Only reading statements are run.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from statistics import fmean, median

from plimsoll.probes.postgresql.connection import MARK, Connection, Session
from plimsoll.probes.postgresql.index_candidates import Candidate, quoted
from plimsoll.probes.postgresql.index_options import LEAST_GAIN, NEARLY, Option, first_line, paired
from plimsoll.probes.postgresql.plans import Node, indexes_of, top_node
from plimsoll.probes.postgresql.statement_text import tokens
from plimsoll.probes.postgresql.table_facts import Table, TableFacts
from plimsoll.probes.postgresql.workload import Workload
from plimsoll.words import count_words

TRIALS_S = 90.0
MOST_TRIED = 8
REPEATS, LONG_RUN_MS = 5, 500.0
LONGEST_STATEMENT_S = 20.0
LEAST_ALIKE = 0.5
NOTHING_MS = 0.01  # the same run takes so much more the next time
_HIDDEN = f"""SELECT {MARK} c.relname AS name FROM pg_catalog.pg_index i
JOIN pg_catalog.pg_class c ON c.oid = i.indexrelid WHERE i.indcheckxmin AND c.relname = ANY(%s)"""
_READS = ("select", "with", "values", "(")
_NAME = "plimsoll_trial"


class _Hidden(Exception):
    """PostgreSQL keeps an index from older snapshots where rows of it were updated in place (indcheckxmin)."""


@dataclass
class Verdict:
    """What the runs say. `best`: the option to advise, None where none pays; `why_not`: why nothing was run; `runs`:
    each option with its time."""

    best: Option | None = None
    why_not: str = ""
    runs: Sequence[Option] = ()


class IndexTrials:
    """Runs within TRIALS_S in all. The connection is to the database of `trial_dsn`."""

    def __init__(self, connection: Connection, clock: Callable[[], float] = time.monotonic) -> None:
        self._connection, self._clock = connection, clock
        self._until: float | None = None

    def of(self, options: Sequence[Option], workload: Workload, table: Table, place: tuple[str, str]) -> Verdict:
        """The option with the shortest run. Raises ProbeUnavailable where the database is gone."""
        if not workload.statement.complete:
            return Verdict(why_not="the values of its parameters are not known, so that it was not run")
        first = next(iter(tokens(workload.statement.complete[0])), None)
        if first is None or first.text.lower() not in _READS:
            return Verdict(why_not="it writes, so that it was not run")
        self._until = self._until or self._clock() + TRIALS_S
        left_s = self._until - self._clock()
        if left_s <= 1.0:
            return Verdict(why_not=f"the {TRIALS_S:g} s for runs were over")

        def run(session: Session) -> Verdict:
            return self._run(session, options, workload.statement.complete, table, place)

        return self._connection.ask(run, LONGEST_STATEMENT_S, left_s + 2 * LONGEST_STATEMENT_S)

    def _run(
        self, session: Session, options: Sequence[Option], texts: Sequence[str], table: Table, place: tuple[str, str]
    ) -> Verdict:
        there = TableFacts(session).table(*place)
        if there is None or there.rows < LEAST_ALIKE * table.rows or there.rows * LEAST_ALIKE > table.rows:
            rows = "no such table" if there is None else f"{count_words(there.rows)} rows"
            return Verdict(why_not=f"the database of trial_dsn has {rows} where this one has {count_words(table.rows)}")
        try:
            with _undone(session):
                before = self._timed(session, texts)
        except Exception as error:
            if not session.outlives(error):
                raise
            return Verdict(why_not=f"it cannot be run ({first_line(error)})")
        runs, refused = [], ""
        for option in self._tried(options):
            try:
                time_ms = self._time_with(session, option, texts)
            except _Hidden as hidden:
                refused = str(hidden)
                continue
            except Exception as error:
                if not session.outlives(error):
                    raise
                refused = first_line(error)
                continue
            if time_ms is not None:
                runs.append(replace(option, proof="executed", why_not="", time_ms=time_ms, before_ms=before))
        if not runs:
            return Verdict(why_not=f"no index could be tried ({refused})" if refused else "no run used any of them")
        return Verdict(_quickest(runs, before), runs=runs)

    def _tried(self, options: Sequence[Option]) -> Iterator[Option]:
        """The cheapest by planner or estimate, some of each kind of index, and two together; until time is over."""
        by_cost = sorted(options, key=lambda one: float("inf") if one.cost is None else one.cost)
        searches = [one for one in by_cost if one.candidates[0].method != "btree"][: MOST_TRIED // 2]
        trees = [one for one in by_cost if one.candidates[0].method == "btree"][: MOST_TRIED - len(searches)]
        for option in [*sorted([*trees, *searches], key=by_cost.index), *paired([*trees, *searches])]:
            if self._until is not None and self._clock() > self._until:
                return
            yield option

    def _time_with(self, session: Session, option: Option, texts: Sequence[str]) -> float | None:
        """Mean time of the texts in ms with the indexes made; None where no run used one of them."""
        with _undone(session):
            for number, candidate in enumerate(option.candidates):
                for text in _made(candidate, f"{_NAME}_{number}"):
                    session.run(text)
            names = {f"{_NAME}_{number}" for number in range(len(option.candidates))}
            if session.rows(_HIDDEN, (sorted(names),)):
                raise _Hidden("rows that were updated lately hide a new index there until a VACUUM")
            used: set[str] = set()
            time_ms = self._timed(session, texts, used)
        return time_ms if names <= used else None

    def _timed(self, session: Session, texts: Sequence[str], used: set[str] | None = None) -> float:
        session.run("SET TRANSACTION READ ONLY")
        times = []
        for text in texts:
            took: list[float] = []
            while len(took) < REPEATS + 1:  # the first one warms up, unless it is long
                plan, time_ms = _executed(session, text)
                took.append(time_ms)
                if used is not None:
                    used |= indexes_of(plan)
                if time_ms > LONG_RUN_MS and len(took) >= 2:
                    break
            times.append(median(took[1:]))
        return fmean(times)


def _made(candidate: Candidate, name: str) -> Iterator[str]:
    yield from (f"CREATE EXTENSION IF NOT EXISTS {one}" for one in candidate.needs)
    yield f"CREATE INDEX {MARK} {name} {candidate.definition}"
    if any("(" in key.sql for key in candidate.keys):  # its own statistics
        yield f"ANALYZE {MARK} {quoted(candidate.schema)}.{quoted(candidate.table)}"


@contextmanager
def _undone(session: Session) -> Iterator[None]:
    """A transaction that may write, rolled back whatever happens."""
    session.run("BEGIN READ WRITE")
    try:
        yield
    finally:
        session.run("ROLLBACK")


def _executed(session: Session, text: str) -> tuple[Node, float]:
    """(plan, execution in ms) of one run."""
    document = session.run(f"EXPLAIN {MARK} (ANALYZE, TIMING OFF, FORMAT JSON) {text}")[0]["QUERY PLAN"]
    found = json.loads(document) if isinstance(document, str) else document
    return top_node(found), float(found[0]["Execution Time"])


def _quickest(runs: Sequence[Option], before: float) -> Option | None:
    """The shortest run, of nearly equal ones the simplest; None where none saves LEAST_GAIN."""
    times = [one.time_ms for one in runs if one.time_ms is not None]
    near = [one for one in runs if one.time_ms is not None and one.time_ms <= NEARLY * min(times) + NOTHING_MS]
    best = min(near, key=lambda one: one.simplicity)
    return best if best.time_ms is not None and best.time_ms <= (1 - LEAST_GAIN) * before else None
