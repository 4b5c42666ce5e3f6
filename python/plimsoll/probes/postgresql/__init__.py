"""A PostgreSQL database beside the load: numbers each second, statements of each step, tables and index advice after.

One file a subject: `connection` (the one session), `seconds`, `statements`, `tables`; `activity` and `statement_text`
find the constants of statements, `plans`, `expressions`, `index_candidates` and `index_advice` the missing indexes.
"""

from __future__ import annotations

from plimsoll.probes.postgresql.probe import PostgresqlProbe

__all__ = ["PostgresqlProbe"]
