"""What a DELETE looks up besides its own rows: for each, the tables whose foreign keys refer to it.

PostgreSQL checks them (or deletes, under ON DELETE CASCADE) by statements of its own, which EXPLAIN does not show:
without an index on the referring columns each row that is deleted reads the whole of the other table.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from plimsoll.probes.postgresql.connection import MARK, Session
from plimsoll.probes.postgresql.index_candidates import quoted

MOST_CHECKS = 10
_REFERRING = f"""SELECT {MARK} n.nspname AS schema, c.relname AS name, f.confdeltype = 'c' AS cascades,
  (SELECT array_agg(a.attname::text ORDER BY k.place) FROM unnest(f.conkey) WITH ORDINALITY k (number, place)
   JOIN pg_catalog.pg_attribute a ON a.attrelid = f.conrelid AND a.attnum = k.number) AS columns
FROM pg_catalog.pg_constraint f JOIN pg_catalog.pg_class c ON c.oid = f.conrelid
JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
JOIN pg_catalog.pg_class d ON d.oid = f.confrelid JOIN pg_catalog.pg_namespace m ON m.oid = d.relnamespace
WHERE f.contype = 'f' AND c.relkind = 'r' AND m.nspname = %s AND d.relname = %s ORDER BY f.oid"""


@dataclass(frozen=True)
class Check:
    """The look at one referring table, as a statement that can be planned."""

    text: str
    parameters: int


def checks_of(session: Session, schema: str, table: str) -> list[Check]:
    """What a DELETE of a row of that table looks up, down its cascades; at most MOST_CHECKS."""
    checks: list[Check] = []
    seen, waiting = {(schema, table)}, [(schema, table)]
    while waiting and len(checks) < MOST_CHECKS:
        for row in session.rows(_REFERRING, waiting.pop(0)):
            place = (str(row["schema"]), str(row["name"]))
            checks.append(_check(*place, list(row["columns"])))
            if row["cascades"] and place not in seen:
                seen.add(place)
                waiting.append(place)
    return checks[:MOST_CHECKS]


def _check(schema: str, table: str, columns: list[str]) -> Check:
    asked: Iterator[str] = (f"{quoted(column)} = ${place}" for place, column in enumerate(columns, 1))
    return Check(f"SELECT 1 FROM ONLY {quoted(schema)}.{quoted(table)} WHERE {' AND '.join(asked)}", len(columns))
