"""Tables and indexes: what sequential scans read, what is written, indexes nobody used, and how much of both is air.

Bloat is measured by pgstattuple where that is created and allowed (of the largest, within a time limit), else estimated
from the width of the columns that ANALYZE saw; each number says which.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from plimsoll.probes.postgresql.connection import MARK, Row, Session
from plimsoll.probes.postgresql.rights import Rights
from plimsoll.probes.postgresql.statements import extension_schema

MOST_TABLES = 15
MOST_MEASURED = 6
MEASURE_S = 5.0
LEAST_PAGES = 128  # 1 MiB; below, bloat is of no interest
_USER = "('pg_catalog', 'information_schema')"
_TABLES = f"""SELECT {MARK} c.oid::bigint AS id, n.nspname AS schema, c.relname AS name,
  pg_stat_get_numscans(c.oid) AS scans, pg_stat_get_tuples_returned(c.oid) AS rows_read,
  pg_stat_get_tuples_inserted(c.oid) + pg_stat_get_tuples_updated(c.oid) + pg_stat_get_tuples_deleted(c.oid) AS written,
  pg_stat_get_live_tuples(c.oid) AS live, pg_stat_get_dead_tuples(c.oid) AS dead, c.relpages::bigint AS pages
FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
WHERE c.relkind IN ('r', 'm') AND n.nspname NOT IN {_USER}"""
_INDEXES = f"""SELECT {MARK} i.indexrelid::bigint AS id, n.nspname AS schema, t.relname AS table, c.relname AS name,
  pg_stat_get_numscans(i.indexrelid) AS scans, pg_relation_size(i.indexrelid) AS bytes,
  i.indisunique OR i.indisexclusion AS keeps_rule, i.indisvalid AS valid
FROM pg_catalog.pg_index i JOIN pg_catalog.pg_class c ON c.oid = i.indexrelid
JOIN pg_catalog.pg_class t ON t.oid = i.indrelid JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
WHERE t.relkind IN ('r', 'm') AND n.nspname NOT IN {_USER}"""
_DEFINITIONS = f"""SELECT {MARK} pg_catalog.pg_get_indexdef(i.indexrelid) AS definition
FROM pg_catalog.pg_index i JOIN pg_catalog.pg_class c ON c.oid = i.indexrelid
JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
WHERE i.indisvalid AND n.nspname NOT IN {_USER} AND n.nspname NOT LIKE 'pg_toast%'
ORDER BY i.indexrelid DESC LIMIT 500"""
_RESET = f"""SELECT {MARK} stats_reset::text AS since FROM pg_catalog.pg_stat_database
WHERE datname = pg_catalog.current_database()"""
# A row: 4 bytes of line pointer, 23 of header (24 aligned, more where a bitmap of NULLs is long), the columns, to 8.
_TABLE_ESTIMATE = f"""SELECT {MARK} n.nspname AS schema, c.relname AS name, c.relpages::bigint AS pages,
  c.reltuples::float8 AS rows, w.width::float8 AS width, w.seen AS columns_seen, a.columns AS columns,
  coalesce((SELECT option_value::float8 FROM pg_catalog.pg_options_to_table(c.reloptions)
    WHERE option_name = 'fillfactor'), 100) AS fillfactor
FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
CROSS JOIN LATERAL (SELECT sum((1 - s.null_frac) * s.avg_width) AS width, count(*) AS seen
  FROM pg_catalog.pg_stats s WHERE s.schemaname = n.nspname AND s.tablename = c.relname AND NOT s.inherited) w
CROSS JOIN LATERAL (SELECT count(*) AS columns FROM pg_catalog.pg_attribute
  WHERE attrelid = c.oid AND attnum > 0 AND NOT attisdropped) a
WHERE c.relkind = 'r' AND n.nspname NOT IN {_USER} AND c.relpages >= {LEAST_PAGES} AND c.reltuples > 0
ORDER BY c.relpages DESC LIMIT {MOST_TABLES}"""
# An entry of a B-tree: 4 bytes of line pointer, 8 of header, the keys, to 8. Duplicates take less since version 13.
_INDEX_ESTIMATE = f"""SELECT {MARK} n.nspname AS schema, c.relname AS name, t.relname AS table,
  c.relpages::bigint AS pages, c.reltuples::float8 AS rows, w.width::float8 AS width, w.seen AS columns_seen,
  i.indnatts::int AS columns,
  coalesce((SELECT option_value::float8 FROM pg_catalog.pg_options_to_table(c.reloptions)
    WHERE option_name = 'fillfactor'), 90) AS fillfactor
FROM pg_catalog.pg_index i JOIN pg_catalog.pg_class c ON c.oid = i.indexrelid
JOIN pg_catalog.pg_class t ON t.oid = i.indrelid JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
JOIN pg_catalog.pg_am m ON m.oid = c.relam AND m.amname = 'btree'
CROSS JOIN LATERAL (SELECT sum((1 - s.null_frac) * s.avg_width) AS width, count(*) AS seen
  FROM pg_catalog.pg_attribute ia
  LEFT JOIN pg_catalog.pg_attribute ta ON ta.attrelid = i.indrelid AND ta.attnum = i.indkey[ia.attnum - 1]
  JOIN pg_catalog.pg_stats s ON s.schemaname = n.nspname AND (
    (ta.attnum > 0 AND s.tablename = t.relname AND s.attname = ta.attname AND NOT s.inherited)
    OR (i.indkey[ia.attnum - 1] = 0 AND s.tablename = c.relname AND s.attname = ia.attname))
  WHERE ia.attrelid = c.oid) w
WHERE n.nspname NOT IN {_USER} AND c.relpages >= {LEAST_PAGES} AND c.reltuples > 0
ORDER BY c.relpages DESC LIMIT {MOST_TABLES}"""


def read_tables(session: Session) -> dict[int, Row]:
    """Counters of every table by object id: scans and rows_read of sequential scans, written, live, dead, pages."""
    return {int(row["id"]): row for row in session.rows(_TABLES)}


def scanned(before: Mapping[int, Row], after: Mapping[int, Row]) -> list[dict[str, Any]]:
    """Tables that sequential scans read between two readings, most rows first, at most MOST_TABLES."""
    found = []
    for key, now in after.items():
        earlier = before.get(key, {})
        scans, rows = (_grown(name, earlier, now) for name in ("scans", "rows_read"))
        if scans > 0 and rows > 0:
            name = f"{now['schema']}.{now['name']}"
            entry: dict[str, Any] = {"table": name, "scans": scans, "rows_read": rows, "rows_per_scan": rows / scans}
            found.append(entry | {"written": _grown("written", earlier, now), "live_rows": int(now["live"])})
    found.sort(key=lambda item: item["rows_read"], reverse=True)
    return found[:MOST_TABLES]


def _grown(name: str, before: Mapping[str, Any], now: Mapping[str, Any]) -> int:
    """The growth of a counter; after a reset of the statistics what it shows since."""
    value, earlier = int(now[name] or 0), int(before.get(name) or 0)
    return value - earlier if value >= earlier else value


def read_indexes(session: Session) -> dict[int, Row]:
    """Counters of every index by object id."""
    return {int(row["id"]): row for row in session.rows(_INDEXES)}


def unused(before: Mapping[int, Row], after: Mapping[int, Row]) -> list[dict[str, Any]]:
    """Indexes that keep no rule (unique, exclusion) and that nothing used since the statistics began, largest first."""
    found: list[dict[str, Any]] = [
        {
            "index": f"{row['schema']}.{row['name']}",
            "table": f"{row['schema']}.{row['table']}",
            "bytes": int(row["bytes"]),
        }
        for key, row in after.items()
        if not row["keeps_rule"] and row["valid"] and not row["scans"] and key in before
    ]
    return sorted(found, key=lambda item: item["bytes"], reverse=True)[:MOST_TABLES]


def index_definitions(session: Session) -> list[str]:
    """CREATE INDEX of the newest indexes that are ready, so that a later run knows which were made since."""
    return [str(row["definition"]) for row in session.rows(_DEFINITIONS)]


def counted_since(session: Session) -> str | None:
    """When the counters of the database began; None if never reset."""
    rows = session.rows(_RESET)
    return rows[0]["since"] if rows else None


def estimated_bloat(rows: Iterable[Row], block_bytes: int, *, is_index: bool) -> list[dict[str, Any]]:
    """Share of the pages that rows of the seen width would not need; those whose columns have no statistics are out."""
    found = []
    for row in rows:
        if not row["columns_seen"] or row["width"] is None or int(row["columns_seen"]) < int(row["columns"]):
            continue
        header = 8 if is_index else 24 + (int(row["columns"]) > 8) * 8 * -(-int(row["columns"]) // 64)
        size = 4 + header + -(-float(row["width"]) // 8) * 8
        page = (block_bytes - (40 if is_index else 24)) * float(row["fillfactor"]) / 100
        needed = float(row["rows"]) / max(1.0, page // size)
        share = max(0.0, 1 - needed / float(row["pages"]))
        entry = {"name": f"{row['schema']}.{row['name']}", "share": share, "bytes": int(row["pages"]) * block_bytes}
        found.append(entry | {"kind": "index" if is_index else "table", "by": "estimate"})
    return found


def bloat(session: Session, rights: Rights) -> list[dict[str, Any]]:
    """Bloat of the largest tables and B-tree indexes: {name, kind, share, bytes, by: "pgstattuple" or "estimate"}."""
    block_bytes = int(rights.facts["block_bytes"])
    tables = estimated_bloat(session.rows(_TABLE_ESTIMATE), block_bytes, is_index=False)
    indexes = estimated_bloat(session.rows(_INDEX_ESTIMATE), block_bytes, is_index=True)
    schema = extension_schema(session, "pgstattuple")
    if schema is not None and rights.facts["scans_tables"]:
        _measure(session, schema, [*tables[:MOST_MEASURED], *indexes[:MOST_MEASURED]])
    return [*tables, *indexes]


def _measure(session: Session, schema: str, entries: Sequence[dict[str, Any]]) -> None:
    """Put measured shares in the place of estimates, until the time is over."""
    until = time.monotonic() + MEASURE_S
    for entry in entries:
        if time.monotonic() > until:
            return
        name = ".".join(f'"{part}"' for part in entry["name"].replace('"', '""').split(".", 1))
        if entry["kind"] == "table":
            text = f"SELECT {MARK} approx_free_percent + dead_tuple_percent AS air FROM {schema}.pgstattuple_approx(%s)"
        else:
            text = f"SELECT {MARK} 100 * greatest(0, 1 - avg_leaf_density / 90) AS air FROM {schema}.pgstatindex(%s)"
        try:
            [row] = session.rows(text, (name,))
        except Exception as error:
            if not session.outlives(error):
                raise
            continue  # too long, or no right to this one: the estimate stands
        entry |= {"share": float(row["air"]) / 100, "by": "pgstattuple"}
