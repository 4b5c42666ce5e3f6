"""Databases of the tests' own on the shared server, with a table of 20,000 JSON documents."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import psycopg
import pytest
from postgresql_server import PostgresqlServer

from plimsoll.probes.postgresql import PostgresqlProbe

ROWS = 20_000
SCHEMA = f"""
CREATE EXTENSION pg_stat_statements; CREATE EXTENSION pg_trgm;
CREATE TABLE item (id bigint PRIMARY KEY, customer bigint, state text, created timestamptz, name varchar(80), doc jsonb,
  tags text[], during int8range);
INSERT INTO item SELECT i, i % 500, CASE WHEN i % 100 = 0 THEN 'open' ELSE 'closed' END,
  '2026-01-01'::timestamptz - i * interval '1 minute', md5(i::text),
  jsonb_build_object('title', 'title ' || md5(i::text), 'kind', i % 997), ARRAY['t' || i % 700],
  int8range(i * 10, i * 10 + 5)
FROM generate_series(1, {ROWS}) i;
CREATE TABLE customer (id bigint PRIMARY KEY, city text);
INSERT INTO customer SELECT i, 'city ' || i % 50 FROM generate_series(0, 499) i;
CREATE TABLE setting (key text, value text);
INSERT INTO setting VALUES ('a', 'b');
CREATE INDEX item_never_used ON item (during);
VACUUM ANALYZE;
"""


@pytest.fixture(scope="session")
def database(postgresql_server: PostgresqlServer) -> Iterator[psycopg.Connection]:
    """A connection of the owner to the database "advice"."""
    with psycopg.connect(postgresql_server.dsn(), autocommit=True) as owner:
        owner.execute("CREATE DATABASE advice")
    with psycopg.connect(postgresql_server.dsn(database="advice"), autocommit=True) as owner:
        for statement in SCHEMA.split(";"):
            if statement.strip():
                owner.execute(statement)
        yield owner


@pytest.fixture
def watch(postgresql_server: PostgresqlServer) -> Iterator[Callable[..., PostgresqlProbe]]:
    """`watch(user="plimsoll", database="advice")`: a probe, closed at the end."""
    made: list[PostgresqlProbe] = []

    def make(user: str = "plimsoll", database: str = "advice", label: str = "db") -> PostgresqlProbe:
        made.append(PostgresqlProbe(postgresql_server.dsn(user, database), label))
        return made[-1]

    yield make
    for probe in made:
        probe.close()
