"""pg_stat_statements: what each statement cost between two readings.

Its columns changed with the extension's version: 1.8 (PostgreSQL 13) split times into planning and execution, 1.9 added
pg_stat_statements_info, 1.11 (17) renamed the times of blocks; a server may run an older extension than its own. So the
columns are asked for first. Counters go back when somebody resets them, and entries go when there are more than
pg_stat_statements.max of them: both are noticed, and what is left is a lower bound then.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from plimsoll.probes.postgresql.connection import MARK, Row, Session
from plimsoll.probes.postgresql.statement_text import masked

MOST_STATEMENTS = 25
LONGEST_TEXT = 6_000
_EXTENSION = f"""SELECT {MARK} quote_ident(n.nspname) AS schema FROM pg_catalog.pg_extension e
JOIN pg_catalog.pg_namespace n ON n.oid = e.extnamespace WHERE e.extname = %s"""
_COLUMNS = f"""SELECT {MARK} a.attname AS name FROM pg_catalog.pg_extension e
JOIN pg_catalog.pg_depend d ON d.refobjid = e.oid AND d.deptype = 'e' AND d.classid = 'pg_catalog.pg_class'::regclass
JOIN pg_catalog.pg_class c ON c.oid = d.objid AND c.relname = 'pg_stat_statements'
JOIN pg_catalog.pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0
WHERE e.extname = 'pg_stat_statements'"""
_HAS_INFO = f"SELECT {MARK} pg_catalog.to_regclass(%s) IS NOT NULL AS there"
# our name: the names that versions have for it, newest first
WANTED = {
    "calls": ("calls",),
    "exec_ms": ("total_exec_time", "total_time"),
    "plan_ms": ("total_plan_time",),
    "rows": ("rows",),
    "blocks_hit": ("shared_blks_hit",),
    "blocks_read": ("shared_blks_read",),
    "blocks_written": ("shared_blks_written",),
    "temp_blocks": ("temp_blks_written",),
    "wal_bytes": ("wal_bytes",),
    "block_read_ms": ("shared_blk_read_time", "blk_read_time"),
}
Counters = dict[str, float]


@dataclass(frozen=True)
class Layout:
    """Where the extension is and what it has; `counters`: our name → its column."""

    schema: str
    counters: Mapping[str, str]
    has_info: bool

    @classmethod
    def of(cls, session: Session) -> Layout | None:
        """None where the extension is not created in the database of the session."""
        schema = extension_schema(session, "pg_stat_statements")
        if schema is None:
            return None
        names = {row["name"] for row in session.rows(_COLUMNS)}
        [info] = session.rows(_HAS_INFO, (f"{schema}.pg_stat_statements_info",))
        return cls(schema, counters_in(names), bool(info["there"]))


def counters_in(names: Iterable[str]) -> dict[str, str]:
    """Our counters that a version's columns have: {our name: its column}."""
    there = set(names)
    found = {ours: next((name for name in theirs if name in there), None) for ours, theirs in WANTED.items()}
    return {ours: name for ours, name in found.items() if name is not None}


def extension_schema(session: Session, name: str) -> str | None:
    """The schema of an extension, quoted; None where it is not created."""
    rows = session.rows(_EXTENSION, (name,))
    return str(rows[0]["schema"]) if rows else None


@dataclass(frozen=True)
class Reading:
    """All counters at a moment. `hidden`: entries of other users that this one may not see by itself."""

    counters: Mapping[int, Counters]
    hidden: int = 0
    reset_at: str | None = None
    evicted: int = 0


def read(session: Session, layout: Layout) -> Reading:
    """The counters now, by queryid: users, and calls from within functions, are added up."""
    sums = ", ".join(f"sum({column})::float8 AS {ours}" for ours, column in layout.counters.items())
    rows = session.rows(
        f"SELECT {MARK} queryid, {sums} FROM {layout.schema}.pg_stat_statements(false) WHERE dbid = "
        "(SELECT oid FROM pg_catalog.pg_database WHERE datname = pg_catalog.current_database()) GROUP BY queryid"
    )
    info: Row = {}
    if layout.has_info:
        text = f"SELECT {MARK} dealloc, stats_reset::text AS reset_at FROM {layout.schema}.pg_stat_statements_info"
        [info] = session.rows(text)
    return reading_of(rows, info)


def reading_of(rows: Iterable[Row], info: Row) -> Reading:
    """A reading from rows of {queryid, our counters} and the row of pg_stat_statements_info, empty before 1.9."""
    counters: dict[int, Counters] = {}
    hidden = 0
    for row in rows:
        if row["queryid"] is None:
            hidden += int(row["calls"] or 0)
            continue
        counters[int(row["queryid"])] = {
            name: float(value or 0.0) for name, value in row.items() if name != "queryid" and name in WANTED
        }
    return Reading(counters, hidden, info.get("reset_at"), int(info.get("dealloc") or 0))


@dataclass(frozen=True)
class Window:
    """What the statements cost between two readings, the dearest first: (queryid, counters). Times in ms."""

    statements: Sequence[tuple[int, Counters]]
    hidden_calls: int = 0
    was_reset: bool = False
    evicted: int = 0
    began_anew: int = 0

    @property
    def total_ms(self) -> float:
        """Planning and execution of all statements seen."""
        return sum(time_ms(counters) for _, counters in self.statements)


def time_ms(counters: Counters) -> float:
    """Planning (where the server tracks it) and execution."""
    return counters.get("exec_ms", 0.0) + counters.get("plan_ms", 0.0)


def between(before: Reading, after: Reading, leave_out: frozenset[int] = frozenset()) -> Window:
    """The difference. After a reset the second reading stands alone; an entry whose calls fell was evicted and came
    back, and counts from there. `leave_out`: Plimsoll's own statements."""
    fallen = [key for key, now in after.counters.items() if now["calls"] < before.counters.get(key, {}).get("calls", 0)]
    was_reset = before.reset_at != after.reset_at
    found = []
    for key, now in after.counters.items():
        earlier = {} if was_reset or key in fallen else before.counters.get(key, {})
        change = {name: value - earlier.get(name, 0.0) for name, value in now.items()}
        if change["calls"] > 0 and key not in leave_out:
            found.append((key, change))
    found.sort(key=lambda item: -time_ms(item[1]))
    hidden = after.hidden if was_reset else max(0, after.hidden - before.hidden)
    return Window(found, hidden, was_reset, max(0, after.evicted - before.evicted), 0 if was_reset else len(fallen))


@dataclass
class Texts:
    """Texts of statements by queryid, asked for once each, as pg_stat_statements has them (constants are $n)."""

    known: dict[int, str] = field(default_factory=dict)
    own: set[int] = field(default_factory=set)

    def learn(
        self, session: Session, layout: Layout, wanted: Sequence[int], joined: Mapping[int, str] | None = None
    ) -> list[int]:
        """Ask for those not known yet; the ids that came new, without Plimsoll's own. `joined`: texts of statements
        that stand for several entries (named_statements.py), which the server does not know."""
        found = [key for key in wanted if key not in self.known and key in (joined or {})]
        self.known |= {key: joined[key] for key in found if joined}
        missing = [key for key in wanted if key not in self.known and key not in self.own]
        if not missing:
            return found
        rows = session.rows(
            f"SELECT {MARK} DISTINCT ON (queryid) queryid, query FROM {layout.schema}.pg_stat_statements(true) "
            "WHERE queryid = ANY(%s)",
            (missing,),
        )
        for row in rows:
            key, text = int(row["queryid"]), str(row["query"] or "")
            if is_own(text):
                self.own.add(key)
            else:
                self.known[key] = text
                found.append(key)
        return found


_OWN = ("SET statement_timeout", "SET default_transaction_read_only", "SET lock_timeout", "SET jit", "SET DateStyle",
        "SET plan_cache_mode", "SET max_parallel_workers_per_gather",
        "SET standard_conforming_strings")  # fmt: skip


def is_own(text: str) -> bool:
    """Whether Plimsoll sent it: all its queries are marked, and its settings are few."""
    return MARK in text or text.startswith(_OWN)


def statement_json(key: int, counters: Counters, total_ms: float) -> dict[str, Any]:
    """A statement of a window as events hold it; times in ms, `share` of the time of all statements."""
    calls = counters["calls"]
    spent_ms = time_ms(counters)
    entry = {
        "id": str(key),
        "share": spent_ms / total_ms if total_ms > 0 else 0.0,
        "total_ms": spent_ms,
        "mean_ms": spent_ms / calls,
        "calls": int(calls),
        "rows": int(counters.get("rows", 0.0)),
    }
    for name in ("blocks_hit", "blocks_read", "blocks_written", "temp_blocks", "wal_bytes"):
        if counters.get(name):
            entry[name] = int(counters[name])
    if counters.get("block_read_ms"):
        entry["block_read_ms"] = counters["block_read_ms"]
    return entry


def shown_text(text: str) -> str:
    """A statement as a run directory holds it: one line, no string constants, a bounded length."""
    line = masked(text)
    return line if len(line) <= LONGEST_TEXT else f"{line[:LONGEST_TEXT]} …"
