"""Indexes that the dearest statements miss: candidates of each scan compared, the best advised with what proves it.

A statement is planned for the values that were seen in pg_stat_activity, else for values of its tables' rows
(statement_values.py). Where a plan reads a table in sequence, or sifts what an index gave, that scan's candidates are
compared by the strongest means there is (docs/decisions/0016-index-advice.md):

    executed   a run of the statement with the index, on a database that the study names (index_trials.py)
    planner    its cost with a hypothetical index of hypopg, for B-trees (index_options.py)
    none       an estimate from a sample of the rows, or a rule

An index is advised when the statement takes a fifth less at least; the advice says what proves it. Only a run is proof
of a time. Of a DELETE the look at referring tables is planned too (foreign_keys.py). Nothing is made in this database.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from plimsoll.probes.postgresql.activity import SeenTexts
from plimsoll.probes.postgresql.connection import Session
from plimsoll.probes.postgresql.foreign_keys import checks_of
from plimsoll.probes.postgresql.index_options import Means, Option, OptionsOfScan, cheapest, first_line
from plimsoll.probes.postgresql.index_trials import IndexTrials, Verdict
from plimsoll.probes.postgresql.plans import Scan, conditions, deleted_from, explain
from plimsoll.probes.postgresql.rights import Rights
from plimsoll.probes.postgresql.statement_text import tokens
from plimsoll.probes.postgresql.statement_values import Statement, drawn, statement_of
from plimsoll.probes.postgresql.table_facts import Table
from plimsoll.probes.postgresql.workload import Workload, workload_of
from plimsoll.probes.probe import ProbeUnavailable

MOST_STATEMENTS = 10
LEAST_SHARE = 0.01
LONGEST_S = 15.0
LEAST_ROWS, LEAST_PAGES = 1_000, 16
MOST_ALTERNATIVES = 4
_PLANNED = ("select", "with", "insert", "update", "delete", "merge", "values", "(")


@dataclass(frozen=True)
class Dear:
    """A statement that takes much of the time; `text` with $n for constants."""

    id: int
    text: str
    share: float


@dataclass
class Advice:
    """What was found. `indexes` and `plans` as events hold them; `notes`: what could not be told and why."""

    indexes: list[dict[str, Any]] = field(default_factory=list)
    plans: list[dict[str, Any]] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)


class IndexAdviser:
    """Looks at dear statements within one session; it makes nothing in its database. `trials`: where indexes may be
    made for a run."""

    def __init__(
        self, session: Session, rights: Rights, seen: SeenTexts, written: Mapping[str, int],
        trials: IndexTrials | None = None,
    ) -> None:  # fmt: skip
        self._session, self._rights, self._seen, self._written = session, rights, seen, written
        self._trials = trials
        self._means = Means(session, rights)
        self._until = time.monotonic() + LONGEST_S
        self.advice = Advice()

    def advise(self, statements: Iterable[Dear]) -> Advice:
        """The advice for those statements, dearest first; what remains after LONGEST_S, runs left out, is said."""
        self._until = time.monotonic() + LONGEST_S
        dear = [one for one in statements if one.share >= LEAST_SHARE and _is_planned(one.text)]
        for place, statement in enumerate(dear[:MOST_STATEMENTS]):
            if time.monotonic() > self._until:
                left = len(dear[:MOST_STATEMENTS]) - place
                self.advice.notes.append(f"{left} statements were not planned: the {LONGEST_S:g} s for it were over.")
                break
            self._look_at(statement)
        self.advice.indexes.sort(key=lambda item: -item["share"])
        return self.advice

    def _look_at(self, statement: Dear) -> None:
        entry: dict[str, Any] = {"id": str(statement.id), "scans": []}
        self.advice.plans.append(entry)
        workload = self._planned(
            statement_of(statement.text, self._seen.constants(statement.id, statement.text)), entry
        )
        if workload is None:
            return
        for scan in workload.scans:
            entry["scans"].append(self._look_at_scan(statement, scan, workload))
        for place in deleted_from(workload.plans[0]):
            self._look_at_checks(statement, place, entry)

    def _planned(self, statement: Statement, entry: dict[str, Any]) -> Workload | None:
        """Its plans, with values drawn where none were seen; None, with a note in the entry, where it has none."""
        try:
            if not statement.complete and statement.parameters:
                statement = self._with_values(statement)
            return workload_of(self._session, statement)
        except Exception as error:
            if not self._session.outlives(error):
                raise
            entry["note"] = self._why_unplanned(error)
            return None

    def _with_values(self, statement: Statement) -> Statement:
        """With drawn values, if it can be planned with them."""
        plan = explain(self._session, statement.generic, statement.parameters)
        places = {(schema, name) for schema, name, _, _ in conditions(plan)}
        rows = {place: table.rows for place in places if (table := self._means.facts.table(*place)) is not None}
        complete = drawn(self._session, statement, plan, rows)
        try:
            for text in complete.complete:
                explain(self._session, text, 0)
        except Exception as error:
            if not self._session.outlives(error):
                raise
            return statement
        return complete

    def _look_at_checks(self, statement: Dear, place: tuple[str, str], entry: dict[str, Any]) -> None:
        """The scans of tables that refer to one which the statement deletes from; costs are those of one such look."""
        for check in checks_of(self._session, *place):
            workload = self._planned(Statement(check.text, check.parameters, binds=True), entry)
            if workload is None:
                continue
            for scan in workload.scans:
                entry["scans"].append(self._look_at_scan(statement, replace(scan, is_check=True), workload))

    def _look_at_scan(self, statement: Dear, scan: Scan, workload: Workload) -> dict[str, Any]:
        """What to say of a scan: the table, the share of its rows that it keeps, and why no index if none."""
        name = f"{scan.schema}.{scan.table}"
        table = self._means.facts.table(scan.schema, scan.table)
        if table is None:
            return {"table": name, "why": "its facts cannot be read"}
        kept = min(1.0, scan.rows / max(1.0, table.rows))
        said: dict[str, Any] = {"table": name, "rows": table.rows, "kept_share": kept}
        if table.rows < LEAST_ROWS or table.pages < LEAST_PAGES:
            return said | {"why": "it is small: reading all of it costs little"}
        found = OptionsOfScan(self._means, table, workload, scan, self._until)
        if not found.candidates:
            is_asked = scan.filter or scan.join
            why = "no index helps with its condition" if is_asked else "the statement needs all of its rows"
            return said | {"why": why}
        if not any(one.is_known for one in found.candidates):
            return said | {"why": _UNKNOWN_CONSTANT}
        best, options, reason = self._best(found, workload, table, scan)
        if best is None:
            reasons = [reason] if reason else found.reasons
            return said | {"why": "; ".join(dict.fromkeys(reasons)) or "no index would pay"}
        for entry in self._entries(best, workload, statement, scan):
            entry |= {"table_rows": table.rows, "kept_share": kept, "sampled_rows": found.sampled}
            entry["alternatives"] = [_alternative(one) for one in options if one.candidates != best.candidates]
            entry["alternatives"] = entry["alternatives"][:MOST_ALTERNATIVES]
            said.setdefault("index", entry["sql"])
            self._add(entry, statement, best, workload)
        return said

    def _best(
        self, found: OptionsOfScan, workload: Workload, table: Table, scan: Scan
    ) -> tuple[Option | None, list[Option], str]:
        """(the option to advise, all that were compared, why none after runs)."""
        verdict = Verdict(why_not="")
        if self._trials is not None:
            options = found.all(is_run_later=True)
            verdict = self._run(options, workload, table, scan) if options else verdict
            if verdict.runs:
                return (
                    verdict.best,
                    list(verdict.runs),
                    "" if verdict.best else "in runs no index saved a fifth of its time",
                )
        options = found.all()
        best = cheapest(options)
        if best is not None and verdict.why_not:
            best = replace(best, why_not=f"{best.why_not}; {verdict.why_not}")
        return best, options, ""

    def _run(self, options: list[Option], workload: Workload, table: Table, scan: Scan) -> Verdict:
        assert self._trials is not None
        began = time.monotonic()
        try:
            return self._trials.of(options, workload, table, (scan.schema, scan.table))
        except ProbeUnavailable as error:
            self.advice.notes.append(f"The database of trial_dsn: {error}")
            self._trials = None
            return Verdict(why_not="the database of trial_dsn is gone")
        finally:
            self._until += time.monotonic() - began  # what runs take is not counted

    def _entries(self, option: Option, workload: Workload, statement: Dear, scan: Scan) -> list[dict[str, Any]]:
        """The indexes of an option, as events hold them."""
        all_sql = [f"CREATE INDEX CONCURRENTLY {one.definition};" for one in option.candidates]
        name = f"{scan.schema}.{scan.table}"
        return [
            {
                "sql": sql,
                "table": name,
                "method": one.method,
                "serves": one.kind,
                "share": 0.0,
                "proof": option.proof,
                "proven": option.proof == "executed" and workload.statement.origin == "seen",
                "why_unproven": option.why_not,
                "values": workload.statement.origin,
                "is_order": one.gives_order,
                "rows_written": self._written.get(name, 0),
                "needs": " ".join(
                    f"CREATE EXTENSION IF NOT EXISTS {each};" for each in one.needs if not self._rights.has(each)
                ),
                "together_with": [other for other in all_sql if other != sql],
                "statements": [],
            }
            for one, sql in zip(option.candidates, all_sql, strict=True)
        ]  # fmt: skip

    def _add(self, made: dict[str, Any], statement: Dear, option: Option, workload: Workload) -> None:
        """Put it with what was advised for other statements."""
        entry = next((one for one in self.advice.indexes if one["sql"] == made["sql"]), None)
        if entry is None:
            entry = made
            self.advice.indexes.append(entry)
        if str(statement.id) not in (one["id"] for one in entry["statements"]):
            entry["share"] += statement.share
            costs = {"cost_before": workload.cost, "cost_after": option.cost if option.proof != "none" else None}
            times = {"time_before_ms": option.before_ms, "time_after_ms": option.time_ms}
            entry["statements"].append({"id": str(statement.id), "share": statement.share} | costs | times)

    def _why_unplanned(self, error: Exception) -> str:
        if type(error).__name__ == "InsufficientPrivilege":
            grant = "GRANT pg_read_all_data" if self._rights.major >= 14 else "GRANT SELECT ON its tables"
            return (
                f"It cannot be planned: {first_line(error)}. To plan reading statements, run "
                f"{grant} TO {self._rights.facts['quoted_role']}; as a superuser; writing ones need the owner's role."
            )
        return f"It cannot be planned: {first_line(error)}."


_UNKNOWN_CONSTANT = (
    "its condition has a constant (a JSON key, a configuration) that pg_stat_statements hides, and no session was seen "
    "with the statement as it was sent; with a longer run, or a larger track_activity_query_size, it may be"
)


def _alternative(option: Option) -> dict[str, Any]:
    return {
        "sql": " ".join(f"CREATE INDEX CONCURRENTLY {one.definition};" for one in option.candidates),
        "proof": option.proof,
        "cost_after": option.cost,
        "time_after_ms": option.time_ms,
    }


def _is_planned(text: str) -> bool:
    first = next(iter(tokens(text)), None)
    return first is not None and first.text.lower() in _PLANNED
