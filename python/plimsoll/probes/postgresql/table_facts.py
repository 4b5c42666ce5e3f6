"""Facts of the tables that are scanned: size, indexes, types of expressions, and what may stand in an index."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from plimsoll.probes.postgresql.connection import MARK, Session
from plimsoll.probes.postgresql.expressions import bare, functions
from plimsoll.probes.postgresql.index_candidates import Candidate, quoted
from plimsoll.probes.postgresql.plans import Scan
from plimsoll.probes.postgresql.statement_text import tokens

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
class Table:
    """Rows and pages as of the last ANALYZE; `indexes`: name, method, whether partial, and keys of each."""

    id: int
    rows: float
    pages: int
    indexes: Sequence[Mapping[str, Any]]

    def index_like(self, candidate: Candidate) -> str | None:
        """The name of an index that is there and begins with the candidate's keys."""
        wanted = [bare(key.expression) for key in candidate.keys]
        for index in self.indexes:
            there = [bare(key) for key in index["keys"] or ()]
            if index["method"] == candidate.method and there[: len(wanted)] == wanted and not index["partial"]:
                return str(index["name"])
        return None


class TableFacts:
    """Asks for each fact once within a session."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._tables: dict[tuple[str, str], Table | None] = {}
        self._types: dict[tuple[str, str, str], int | None] = {}
        self._mutable: dict[str, str] = {}

    def table(self, schema: str, name: str) -> Table | None:
        """None where its facts cannot be read."""
        key = (schema, name)
        if key not in self._tables:
            rows = self._session.rows(_TABLE, key)
            self._tables[key] = None
            if rows:
                row = rows[0]
                count = float(row["rows"]) if float(row["rows"]) > 0 else float(row["live"] or 0)
                indexes = self._session.rows(_INDEXES, (row["id"],))
                self._tables[key] = Table(int(row["id"]), count, int(row["pages"]), indexes)
        return self._tables[key]

    def type_of(self, scan: Scan, expression: str) -> int | None:
        """The object id of the type of an expression of the scanned table; None where it cannot be evaluated."""
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

    def mutable(self, expression: str) -> str:
        """A function or cast in the expression that an index must not have, in words; empty if none."""
        if expression not in self._mutable:
            self._mutable[expression] = self._first_mutable(expression)
        return self._mutable[expression]

    def _first_mutable(self, expression: str) -> str:
        pieces = tokens(expression)
        for place, token in enumerate(pieces[:-1]):
            is_constant = place > 0 and pieces[place - 1].kind == "string"
            if token.text == "::" and pieces[place + 1].text.lower() in _TIMES and not is_constant:
                return f"the conversion to {pieces[place + 1].text}"
        called = functions(expression)
        if not called:
            return ""
        rows = self._session.rows(_FUNCTIONS, (sorted({name for name, _ in called}),))
        for name, arguments in called:
            alike = [row["immutable"] for row in rows if row["name"] == name and row["arguments"] == arguments]
            if alike and not any(alike):
                return f"the function {name} with {arguments} argument{'s' if arguments != 1 else ''}"
        return ""
