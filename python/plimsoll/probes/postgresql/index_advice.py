"""Indexes that the dearest statements miss, each proven where that is possible without making anything.

A statement is planned as it was sent where it was seen in pg_stat_activity, else as pg_stat_statements shows it. Where
the plan reads a table in sequence, or sifts what an index gave, the candidates of that scan are put before the planner
by hypopg, which keeps hypothetical indexes in the memory of our own session; an index is advised when the planner takes
it and its cost falls by a fifth at least. Without hypopg, or for the kinds of index that it lacks (GIN, GiST), a rule
decides by the share of rows that the scan keeps, and the advice says that it is not proven. A cost is no time.
Of a DELETE the look at referring tables is planned too (foreign_keys.py).
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from plimsoll.probes.postgresql.activity import SeenTexts
from plimsoll.probes.postgresql.connection import MARK, Session
from plimsoll.probes.postgresql.expressions import bare, functions
from plimsoll.probes.postgresql.foreign_keys import checks_of
from plimsoll.probes.postgresql.index_candidates import Candidate, candidates, quoted
from plimsoll.probes.postgresql.plans import Node, Scan, cost, deleted_from, explain, uses_index, wasteful_scans
from plimsoll.probes.postgresql.rights import Rights
from plimsoll.probes.postgresql.statement_text import filled, masked, tokens
from plimsoll.probes.postgresql.statements import extension_schema

MOST_STATEMENTS = 10
LEAST_SHARE = 0.01
LONGEST_S = 15.0
LEAST_ROWS, LEAST_PAGES = 1_000, 16
MOST_KEPT = 0.2
MOST_KEPT_OF_SEARCH = 0.5
MOST_JOINED = 0.05
LEAST_GAIN = 0.2
NEARLY = 1.1
HYPOTHETICAL = ("btree", "brin", "hash", "bloom")
_PLANNED = ("select", "with", "insert", "update", "delete", "merge", "values", "(")
_TABLE = f"""SELECT {MARK} c.oid::bigint AS id, c.reltuples::float8 AS rows, c.relpages::bigint AS pages,
  pg_stat_get_live_tuples(c.oid) AS live
FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
WHERE n.nspname = %s AND c.relname = %s"""
_INDEXES = f"""SELECT {MARK} c.relname AS name, m.amname AS method, i.indpred IS NOT NULL AS partial,
  (SELECT array_agg(pg_catalog.pg_get_indexdef(i.indexrelid, k, true) ORDER BY k)
   FROM generate_series(1, i.indnkeyatts) k) AS keys
FROM pg_catalog.pg_index i JOIN pg_catalog.pg_class c ON c.oid = i.indexrelid
JOIN pg_catalog.pg_am m ON m.oid = c.relam WHERE i.indrelid = %s::oid AND i.indisvalid"""
_FUNCTIONS = f"""SELECT {MARK} proname AS name, pronargs::int AS arguments, provolatile = 'i' AS immutable
FROM pg_catalog.pg_proc WHERE proname = ANY(%s)"""
_TIMES = ("date", "timestamp", "timestamptz", "time", "timetz")


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


@dataclass(frozen=True)
class _Table:
    id: int
    rows: float
    pages: int
    indexes: Sequence[Mapping[str, Any]]


@dataclass(frozen=True)
class _Proof:
    before: float | None = None
    after: float | None = None
    why_not: str = ""


class IndexAdviser:
    """Looks at dear statements within one session; it makes nothing in the database."""

    def __init__(self, session: Session, rights: Rights, seen: SeenTexts, written: Mapping[str, int]) -> None:
        self._session, self._rights, self._seen, self._written = session, rights, seen, written
        self._hypopg = extension_schema(session, "hypopg")
        self._tables: dict[tuple[str, str], _Table | None] = {}
        self._types: dict[tuple[str, str, str], int | None] = {}
        self.advice = Advice()

    def advise(self, statements: Iterable[Dear]) -> Advice:
        """The advice for those statements, dearest first; what remains after LONGEST_S is said."""
        until = time.monotonic() + LONGEST_S
        dear = [one for one in statements if one.share >= LEAST_SHARE and _is_planned(one.text)]
        for place, statement in enumerate(dear[:MOST_STATEMENTS]):
            if time.monotonic() > until:
                left = len(dear[:MOST_STATEMENTS]) - place
                self.advice.notes.append(f"{left} statements were not planned: the {LONGEST_S:g} s for it were over.")
                break
            self._look_at(statement)
        self.advice.indexes.sort(key=lambda item: -item["share"])
        return self.advice

    def _look_at(self, statement: Dear) -> None:
        constants = self._seen.constants(statement.id, statement.text)
        text, parameters = filled(statement.text, constants or {})
        entry: dict[str, Any] = {"id": str(statement.id), "scans": []}
        try:
            plan = explain(self._session, text, parameters)
        except Exception as error:
            if not self._session.outlives(error):
                raise
            entry["note"] = self._why_unplanned(error)
            self.advice.plans.append(entry)
            return
        for scan in wasteful_scans(plan):
            entry["scans"].append(self._look_at_scan(statement, scan, plan, text, parameters))
        for place in deleted_from(plan):
            self._look_at_checks(statement, place, entry)
        self.advice.plans.append(entry)

    def _look_at_checks(self, statement: Dear, place: tuple[str, str], entry: dict[str, Any]) -> None:
        """The scans of tables that refer to one which the statement deletes from; costs are those of one such look."""
        for check in checks_of(self._session, *place):
            try:
                plan = explain(self._session, check.text, check.parameters)
            except Exception as error:
                if not self._session.outlives(error):
                    raise
                entry["note"] = self._why_unplanned(error)
                continue
            for scan in wasteful_scans(plan):
                looked = replace(scan, is_check=True)
                entry["scans"].append(self._look_at_scan(statement, looked, plan, check.text, check.parameters))

    def _look_at_scan(self, statement: Dear, scan: Scan, plan: Node, text: str, parameters: int) -> dict[str, Any]:
        """What to say of a scan: the table, the share of its rows that it keeps, and why no index if none."""
        table = self._table(scan)
        if table is None:
            return {"table": f"{scan.schema}.{scan.table}", "why": "its facts cannot be read"}
        kept = min(1.0, scan.rows / max(1.0, table.rows))
        said = {"table": f"{scan.schema}.{scan.table}", "rows": table.rows, "kept_share": kept}
        if table.rows < LEAST_ROWS or table.pages < LEAST_PAGES:
            return said | {"why": "it is small: reading all of it costs little"}
        found = candidates(scan, self._type_of, self._rights.facts["collation"] in ("C", "POSIX"))
        if not found:
            why = (
                "no index helps with its condition"
                if scan.filter or scan.join
                else "the statement needs all of its rows"
            )
            return said | {"why": why}
        known = [one for one in found if one.is_known]
        if not known:
            return said | {"why": _UNKNOWN_CONSTANT}
        reasons: list[str] = []
        usable = [one for one in known if self._is_usable(one, table, reasons)]
        chosen = self._chosen(usable, scan, kept, table, plan, (text, parameters), reasons)
        if chosen is None:
            return said | {"why": "; ".join(dict.fromkeys(reasons)) or "no index would pay"}
        candidate, proof = chosen
        self._add(candidate, proof, statement, table, kept, scan)
        return said | {"index": f"CREATE INDEX CONCURRENTLY {candidate.definition};"}

    def _chosen(
        self,
        usable: Sequence[Candidate],
        scan: Scan,
        kept: float,
        table: _Table,
        plan: Node,
        statement: tuple[str, int],
        reasons: list[str],
    ) -> tuple[Candidate, _Proof] | None:
        """The index to advise: the cheapest that hypopg proves, the shorter of two alike; else the first by rule."""
        proven: list[tuple[Candidate, _Proof]] = []
        for one in usable:
            if self._hypopg is None or one.method not in HYPOTHETICAL:
                why = "hypopg is not there" if self._hypopg is None else f"hypopg makes no {one.method.upper()} indexes"
                if scan.by_index or not _pays(one, scan, kept, table.rows, reasons):
                    reasons += ["an index is used already, and without a proof no better one is named"] * scan.by_index
                    continue
                if not proven:
                    return one, _Proof(cost(plan), None, why)
                continue
            proof = self._prove(one, cost(plan), statement)
            if proof.after is not None:
                proven.append((one, proof))
            else:
                reasons.append(proof.why_not)
        if not proven:
            return None
        best = min(proof.after or 0.0 for _, proof in proven)
        near = [item for item in proven if (item[1].after or 0.0) <= NEARLY * best]
        return min(near, key=lambda item: len(item[0].keys))

    def _prove(self, candidate: Candidate, before: float, statement: tuple[str, int]) -> _Proof:
        """Plan the statement again with the index as if it were there."""
        create = f"CREATE INDEX {candidate.definition}"
        try:
            columns = "indexrelid::bigint AS id, indexname AS name"
            make = f"SELECT {MARK} {columns} FROM {self._hypopg}.hypopg_create_index(%s)"
            [made] = self._session.rows(make, (create,))
        except Exception as error:
            if not self._session.outlives(error):
                raise
            return _Proof(why_not=f"no such index can be made ({_first_line(error)})")
        try:
            plan = explain(self._session, *statement)
        finally:
            self._session.rows(f"SELECT {MARK} {self._hypopg}.hypopg_drop_index(%s::oid)", (made["id"],))
        after = cost(plan)
        if not uses_index(plan, made["name"]) or after > (1 - LEAST_GAIN) * before:
            average = ", for average values of its parameters" if statement[1] else ""
            return _Proof(why_not=f"the planner would not use the index that its condition suggests{average}")
        return _Proof(before, after)

    def _is_usable(self, candidate: Candidate, table: _Table, reasons: list[str]) -> bool:
        """Whether it can be made and is not there yet."""
        wanted = [bare(key.expression) for key in candidate.keys]
        for index in table.indexes:
            there = [bare(key) for key in index["keys"] or ()]
            if index["method"] == candidate.method and there[: len(wanted)] == wanted and not index["partial"]:
                reasons.append(
                    f"the index {index['name']} has these columns and the planner does not take it: too many rows, "
                    f"another type or collation, or old statistics (ANALYZE {quoted(candidate.table)};)"
                )
                return False
        unfit = self._mutable(candidate)
        if unfit:
            reasons.append(f"{unfit} is not IMMUTABLE, so that no index can be made on it")
            return False
        return True

    def _mutable(self, candidate: Candidate) -> str:
        """A function or cast in its expressions that an index must not have; empty if none."""
        for key in candidate.keys:
            pieces = tokens(key.expression)
            for place, token in enumerate(pieces[:-1]):
                if token.text == "::" and pieces[place + 1].text.lower() in _TIMES:
                    return f"the conversion to {pieces[place + 1].text}"
            called = functions(key.expression)
            if not called:
                continue
            rows = self._session.rows(_FUNCTIONS, (sorted({name for name, _ in called}),))
            for name, arguments in called:
                alike = [row["immutable"] for row in rows if row["name"] == name and row["arguments"] == arguments]
                if alike and not any(alike):
                    return f"the function {name} with {arguments} argument{'s' if arguments != 1 else ''}"
        return ""

    def _add(
        self, candidate: Candidate, proof: _Proof, statement: Dear, table: _Table, kept: float, scan: Scan
    ) -> None:
        sql = f"CREATE INDEX CONCURRENTLY {candidate.definition};"
        entry = next((one for one in self.advice.indexes if one["sql"] == sql), None)
        if entry is None:
            name = f"{scan.schema}.{scan.table}"
            entry = {
                "sql": sql,
                "table": name,
                "method": candidate.method,
                "serves": candidate.kind,
                "share": 0.0,
                "proven": proof.after is not None,
                "why_unproven": proof.why_not,
                "table_rows": table.rows,
                "kept_share": kept,
                "is_order": bool(scan.sort_keys),
                "rows_written": self._written.get(name, 0),
                "needs": "" if self._rights.has(candidate.needs) or not candidate.needs
                else f"CREATE EXTENSION {candidate.needs};",
                "statements": [],
            }  # fmt: skip
            self.advice.indexes.append(entry)
        if str(statement.id) not in (one["id"] for one in entry["statements"]):
            entry["share"] += statement.share
            costs = {"cost_before": proof.before, "cost_after": proof.after}
            entry["statements"].append({"id": str(statement.id), "share": statement.share} | costs)

    def _table(self, scan: Scan) -> _Table | None:
        key = (scan.schema, scan.table)
        if key not in self._tables:
            rows = self._session.rows(_TABLE, key)
            if rows:
                row = rows[0]
                count = float(row["rows"]) if float(row["rows"]) > 0 else float(row["live"] or 0)
                indexes = self._session.rows(_INDEXES, (row["id"],))
                self._tables[key] = _Table(int(row["id"]), count, int(row["pages"]), indexes)
            else:
                self._tables[key] = None
        return self._tables[key]

    def _type_of(self, scan: Scan, expression: str) -> int | None:
        key = (scan.schema, scan.table, expression)
        if key not in self._types:
            text = f"SELECT {MARK} {expression} FROM {quoted(scan.schema)}.{quoted(scan.table)} LIMIT 0"
            try:
                self._types[key] = self._session.types(text)[0]
            except Exception as error:
                if not self._session.outlives(error):
                    raise
                self._types[key] = None
        return self._types[key]

    def _why_unplanned(self, error: Exception) -> str:
        if type(error).__name__ == "InsufficientPrivilege":
            grant = "GRANT pg_read_all_data" if self._rights.major >= 14 else "GRANT SELECT ON its tables"
            return (
                f"It cannot be planned: {_first_line(error)}. To plan reading statements, run "
                f"{grant} TO {self._rights.facts['quoted_role']}; as a superuser; writing ones need the owner's role."
            )
        return f"It cannot be planned: {_first_line(error)}."


_UNKNOWN_CONSTANT = (
    "its condition has a constant (a JSON key, a configuration) that pg_stat_statements hides, and no session was seen "
    "with the statement as it was sent; with a longer run, or a larger track_activity_query_size, it may be"
)


def _pays(candidate: Candidate, scan: Scan, kept: float, table_rows: float, reasons: list[str]) -> bool:
    """Without a proof: whether the scan keeps so few of the rows that reading them by an index is cheaper."""
    if scan.sort_keys and "order" in candidate.kind:
        return True
    if scan.join and not scan.filter:
        if scan.other_rows <= MOST_JOINED * table_rows:
            return True
        reasons.append("the join needs so many of its rows that reading all of them is right")
        return False
    most = MOST_KEPT if candidate.method == "btree" else MOST_KEPT_OF_SEARCH
    if kept <= most:
        return True
    reasons.append(f"the condition keeps {kept:.0%} of its rows, so that reading all of them is right")
    return False


def _is_planned(text: str) -> bool:
    first = next(iter(tokens(text)), None)
    return first is not None and first.text.lower() in _PLANNED


def _first_line(error: Exception) -> str:
    """The server's message without constants, which may be users' data."""
    if str(getattr(error, "sqlstate", None) or "").startswith("22"):  # data exceptions quote the data
        return "a constant of it does not fit"
    lines = str(error).strip().splitlines()
    return masked(lines[0])[:200].rstrip(".") if lines else type(error).__name__
