"""performance_schema's digests: what each kind of statement cost between two readings; and what tables were read.

events_statements_summary_by_digest has a row for each schema and digest, times in picoseconds. It has
performance_schema_digests_size rows; what comes when it is full counts in one row without a digest. Entries are never
evicted: one that is gone, or whose calls fell, was cut off by a TRUNCATE, and what is left counts from there.
table_io_waits_summary_by_index_usage counts the rows of each table by the index that found them; its row without an
index are rows that were read in sequence.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from plimsoll.probes.mysql.connection import Row, Session

MOST_STATEMENTS = 25
MOST_TABLES = 50
LONGEST_TEXT = 6_000
PICOSECONDS_PER_MS = 1e9
_SYSTEM = "('mysql', 'sys', 'information_schema', 'performance_schema')"
_COLUMNS = {
    "calls": "count_star",
    "time_ps": "sum_timer_wait",
    "lock_ps": "sum_lock_time",
    "rows": "sum_rows_sent + sum_rows_affected",
    "rows_examined": "sum_rows_examined",
    "no_index_calls": "sum_no_index_used",
    "temp_disk_tables": "sum_created_tmp_disk_tables",
    "errors": "sum_errors",
}
_SUMS = ", ".join(f"{column} AS `{ours}`" for ours, column in _COLUMNS.items())
_OWN = re.compile(r"performance_schema|information_schema|^SHOW GLOBAL STATUS|^SET SESSION|@@global", re.IGNORECASE)
HIDDEN = "'…'"
_CONSTANT = re.compile(
    r"""(?P<comment>/\*.*?(?:\*/|\Z)|--\s[^\n]*|\#[^\n]*)
    |(?P<string>[nNxXbB]?'(?:[^'\\]|\\.|'')*(?:'|\Z)|"(?:[^"\\]|\\.|"")*(?:"|\Z))
    |(?P<name>`(?:[^`]|``)*(?:`|\Z)|[^\W\d][\w$]*)
    |(?P<number>(?:0[xb])?\d[\w.]*)""",
    re.VERBOSE | re.DOTALL,
)
Counters = dict[str, float]
Key = tuple[str, str]


@dataclass(frozen=True)
class Reading:
    """Counters by (schema, digest) at a moment; `untold_calls`: of statements for which there was no row left."""

    counters: Mapping[Key, Counters]
    untold_calls: float = 0.0


def read(session: Session) -> Reading:
    """The digests of the watched database; of all but the server's own without one."""
    where, values = _of_schema("schema_name", session.database)
    rows = session.rows(
        f"SELECT schema_name, digest, {_SUMS} FROM performance_schema.events_statements_summary_by_digest "
        f"WHERE digest IS NULL OR {where}",
        values,
    )
    return reading_of(rows)


def _of_schema(column: str, database: str) -> tuple[str, tuple[str, ...]]:
    if database:
        return f"{column} = %s", (database,)
    return f"{column} NOT IN {_SYSTEM}", ()


def reading_of(rows: Iterable[Row]) -> Reading:
    """A reading from rows of {schema_name, digest, our counters}."""
    counters: dict[Key, Counters] = {}
    untold = 0.0
    for row in rows:
        if row["digest"] is None:
            untold += float(row["calls"] or 0)
            continue
        key = (str(row["schema_name"] or ""), str(row["digest"]))
        counters[key] = {name: float(row[name] or 0) for name in _COLUMNS}
    return Reading(counters, untold)


@dataclass(frozen=True)
class Window:
    """What the statements cost between two readings, the dearest first; `was_reset`: entries were cut off meanwhile."""

    statements: Sequence[tuple[Key, Counters]]
    untold_calls: int = 0
    was_reset: bool = False

    @property
    def total_ms(self) -> float:
        """Time of all statements seen."""
        return sum(counters["time_ps"] for _, counters in self.statements) / PICOSECONDS_PER_MS


def between(before: Reading, after: Reading) -> Window:
    """The difference. An entry whose calls fell counts from nothing, as all do where one is gone."""
    gone = before.counters.keys() - after.counters.keys()
    fallen = {key for key, now in after.counters.items() if now["calls"] < before.counters.get(key, now)["calls"]}
    found = []
    for key, now in after.counters.items():
        earlier = {} if gone or key in fallen else before.counters.get(key, {})
        change = {name: max(0.0, value - earlier.get(name, 0.0)) for name, value in now.items()}
        if change["calls"] > 0:
            found.append((key, change))
    found.sort(key=lambda item: -item[1]["time_ps"])
    return Window(found, round(max(0.0, after.untold_calls - before.untold_calls)), bool(gone or fallen))


@dataclass
class Texts:
    """Texts of statements by key, asked for once each, as performance_schema has them: constants are ?."""

    known: dict[Key, str] = field(default_factory=dict)
    own: set[Key] = field(default_factory=set)

    def learn(self, session: Session, wanted: Sequence[Key]) -> list[Key]:
        """Ask for those not known yet; the keys that came new, without Plimsoll's own."""
        missing = [key for key in wanted if key not in self.known and key not in self.own]
        if not missing:
            return []
        marks = ", ".join(["%s"] * len(missing))
        rows = session.rows(
            "SELECT schema_name, digest, digest_text FROM performance_schema.events_statements_summary_by_digest "
            f"WHERE digest IN ({marks})",
            [digest for _, digest in missing],
        )
        found = []
        for row in rows:
            key, text = (str(row["schema_name"] or ""), str(row["digest"])), str(row["digest_text"] or "")
            if key not in missing:
                continue
            if _OWN.search(text):
                self.own.add(key)
            else:
                self.known[key] = text
                found.append(key)
        return found


def masked(text: str) -> str:
    """A statement as it was sent, in one line without its constants, which may be users' data or secrets. In MySQL's
    SQL both kinds of quotes are strings, with backslashes in them; names are in backticks."""
    return " ".join(_CONSTANT.sub(_mask, text).split())


def _mask(found: re.Match[str]) -> str:
    if found["name"]:
        return found["name"]
    return " " if found["comment"] else HIDDEN if found["string"] else "…"


def shown_text(text: str) -> str:
    """A statement as a run directory holds it: one line, a bounded length. Digests have no constants."""
    line = " ".join(text.split())
    return line if len(line) <= LONGEST_TEXT else f"{line[:LONGEST_TEXT]} …"


def id_of(key: Key) -> str:
    """As events name a statement."""
    return f"{key[0]}:{key[1]}"


def statement_json(key: Key, counters: Counters, total_ms: float) -> dict[str, Any]:
    """A statement of a window as events hold it; times in ms, `share` of the time of all statements."""
    calls, spent_ms = counters["calls"], counters["time_ps"] / PICOSECONDS_PER_MS
    entry: dict[str, Any] = {
        "id": id_of(key),
        "share": spent_ms / total_ms if total_ms > 0 else 0.0,
        "total_ms": spent_ms,
        "mean_ms": spent_ms / calls,
        "calls": int(calls),
        "rows": int(counters["rows"]),
    }
    for name in ("rows_examined", "no_index_calls", "temp_disk_tables", "errors"):
        if counters[name]:
            entry[name] = int(counters[name])
    if counters["lock_ps"]:
        entry["lock_ms"] = counters["lock_ps"] / PICOSECONDS_PER_MS
    return entry


def read_tables(session: Session) -> dict[str, tuple[float, float]]:
    """(rows read in sequence, rows written) so far of each table."""
    where, values = _of_schema("object_schema", session.database)
    rows = session.rows(
        "SELECT object_schema, object_name, sum(IF(index_name IS NULL, count_fetch, 0)) AS scanned, "
        "sum(count_insert + count_update + count_delete) AS written "
        f"FROM performance_schema.table_io_waits_summary_by_index_usage WHERE {where} GROUP BY 1, 2",
        values,
    )
    prefix = "" if session.database else None
    return {
        str(row["object_name"]) if prefix == "" else f"{row['object_schema']}.{row['object_name']}": (
            float(row["scanned"]),
            float(row["written"]),
        )
        for row in rows
    }


def scanned(
    before: Mapping[str, tuple[float, float]], after: Mapping[str, tuple[float, float]]
) -> list[dict[str, Any]]:
    """Tables of which rows were read in sequence in between, the most first; how many scans that were is not known."""
    found = []
    for table, (rows, written) in after.items():
        earlier = before.get(table, (0.0, 0.0))
        came = rows - earlier[0] if rows >= earlier[0] else rows
        if came > 0:
            changed = max(0.0, written - earlier[1])
            found.append({"table": table, "rows_read": int(came), "written": int(changed)})
    found.sort(key=lambda one: -int(str(one["rows_read"])))
    return found[:MOST_TABLES]
