"""How the advised index compares with those that somebody might make: the statement run with each of them.

Each index is made by itself, the table analysed, and the same draws of the statement run twice under EXPLAIN (ANALYZE);
of each draw the quicker run counts, of all draws the mean.
"""

from __future__ import annotations

import json
from random import Random
from statistics import fmean
from typing import Any

import psycopg
from tickets import Case

DRAWS, RUNS, SEED = 8, 2, 11


def of_rivals(dsn: str, case: Case) -> dict[str, Any]:
    """`rivals_ms`: of each of the case's indexes, and `without_ms`."""
    found: dict[str, Any] = {"without_ms": executed_ms(dsn, case), "rivals_ms": {}}
    with psycopg.connect(dsn, autocommit=True) as owner:
        for definition in case.target.rivals:
            if "gin_trgm_ops" in definition:
                owner.execute("CREATE EXTENSION IF NOT EXISTS pg_trgm")
            owner.execute(f"CREATE INDEX rival {definition}")  # type: ignore[call-overload]
            owner.execute("ANALYZE ticket")
            found["rivals_ms"][definition] = executed_ms(dsn, case)
            owner.execute("DROP INDEX rival")
    return found


def executed_ms(dsn: str, case: Case) -> float:
    """Mean time of the statement's runs, by the server, with the indexes that are there."""
    random = Random(SEED)
    times = []
    with psycopg.connect(dsn, autocommit=True, cursor_factory=psycopg.ClientCursor) as client:
        for number in range(DRAWS):
            values = case.target.values(random, 1_000_000 + number) or None
            text = f"EXPLAIN (ANALYZE, TIMING OFF, FORMAT JSON) {case.target.text}"
            times.append(min(_run_ms(client, text, values) for _ in range(RUNS)))
    return round(fmean(times), 5)


def _run_ms(client: psycopg.Connection, text: str, values: tuple[Any, ...] | None) -> float:
    [document] = client.execute(text, values).fetchone() or [None]  # type: ignore[call-overload]
    found = json.loads(document) if isinstance(document, str) else document
    return float(found[0]["Execution Time"])
