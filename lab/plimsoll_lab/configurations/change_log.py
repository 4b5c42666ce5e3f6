"""The change log of a service: what changed, in its order. Functions take an open connection first."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass

from sqlalchemy import Connection, Table, func, insert, select, update

from plimsoll_lab.configurations import schema

CLOCK = "clock"


@dataclass(frozen=True)
class ChangeTables:
    """Where a service keeps its changes and its clock."""

    changes: Table
    counters: Table


GLOBAL = ChangeTables(schema.global_changes, schema.global_counters)
LOCAL = ChangeTables(schema.local_changes, schema.local_counters)


@dataclass(frozen=True)
class Change:
    """One entry: `kind` is creation, modification or deletion; `resource` the path of what changed."""

    number: int
    kind: str
    resource: str


def now_ms() -> int:
    """Milliseconds since 1970."""
    return time.time_ns() // 1_000_000


def advance(connection: Connection, tables: ChangeTables, name: str = CLOCK, by: int = 1) -> int:
    """The counter after advancing it; until this transaction ends no other one advances it."""
    counters = tables.counters
    statement = update(counters).where(counters.c.name == name).values(value=counters.c.value + by)
    return int(connection.execute(statement.returning(counters.c.value)).scalar_one())


def record(connection: Connection, tables: ChangeTables, last: int, entries: Sequence[tuple[str, str]]) -> None:
    """Write changes (kind, resource), the last of them numbered `last`, which `advance` gave for all of them."""
    first = last - len(entries) + 1
    at = now_ms()
    rows = [
        {"number": first + place, "kind": kind, "resource": resource, "at_ms": at}
        for place, (kind, resource) in enumerate(entries)
    ]
    if rows:
        connection.execute(insert(tables.changes), rows)


def clock(connection: Connection, tables: ChangeTables) -> int:
    """The number of the last change that is visible; 0 before the first."""
    counters = tables.counters
    return int(connection.execute(select(counters.c.value).where(counters.c.name == CLOCK)).scalar_one())


def count(connection: Connection, tables: ChangeTables) -> int:
    """How many changes the log holds."""
    return int(connection.execute(select(func.count()).select_from(tables.changes)).scalar_one())


def between(connection: Connection, tables: ChangeTables, after: int, upto: int) -> list[Change]:
    """Changes with numbers above `after` and not above `upto`, the newest first."""
    changes = tables.changes
    chosen = (
        select(changes.c.number, changes.c.kind, changes.c.resource)
        .where(changes.c.number > after, changes.c.number <= upto)
        .order_by(changes.c.number.desc())
    )
    return [Change(row.number, row.kind, row.resource) for row in connection.execute(chosen)]
