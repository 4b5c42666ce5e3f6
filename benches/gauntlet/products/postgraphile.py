"""PostGraphile: a GraphQL API that is read off a PostgreSQL schema. JavaScript, from npm."""

from __future__ import annotations

from contextlib import contextmanager
from pathlib import Path

from postgresql_server import PostgresqlServer
from processes import await_answer, on_target_cores, running
from registries import Cache

from plimsoll_lab.ports import free_port
from products.product import Product, Started

VERSION = "4.14.1"
SCHEMA = """
CREATE TABLE author (id int PRIMARY KEY, name text NOT NULL);
CREATE TABLE book (id serial PRIMARY KEY, author_id int NOT NULL REFERENCES author, title text NOT NULL, year int);
CREATE TABLE review (id serial PRIMARY KEY, book_id int NOT NULL REFERENCES book, stars int NOT NULL, text text);
INSERT INTO author SELECT i, 'Author ' || i FROM generate_series(1, 2000) i;
INSERT INTO book (author_id, title, year)
  SELECT 1 + i % 2000, 'Book ' || i, 1950 + i % 75 FROM generate_series(1, 20000) i;
INSERT INTO review (book_id, stars, text)
  SELECT 1 + i % 20000, 1 + i % 5, repeat('good ', 20) FROM generate_series(1, 60000) i;
CREATE INDEX ON book (author_id);
CREATE INDEX ON review (book_id);
ANALYZE;
"""


def install(cache: Cache) -> None:
    cache.debian("postgresql")
    cache.npm("postgraphile", f"postgraphile@{VERSION}")


@contextmanager
def stands(cache: Cache, folder: Path) -> Started:
    import psycopg

    place, port, log = cache.npm("postgraphile", f"postgraphile@{VERSION}"), free_port(), folder / "postgraphile.log"
    with on_target_cores(PostgresqlServer(preload="")) as database:
        with psycopg.connect(database.dsn(), autocommit=True) as session:
            session.execute(SCHEMA)
        program = place / "node_modules" / ".bin" / "postgraphile"
        flags = ["--connection", database.dsn(), "--host", "127.0.0.1", "--port", port, "--disable-query-log"]
        with running([program, *flags, "--max-pool-size", "10"], log, env={"NODE_ENV": "production"}) as process:
            await_answer(f"http://127.0.0.1:{port}/graphql?query={{__typename}}", process, log)
            yield {"BASE_URL": f"http://127.0.0.1:{port}"}


PRODUCT = Product(
    "postgraphile", "JavaScript", "PostGraphile, PostgreSQL", f"npm postgraphile {VERSION}", install, stands, "/graphql"
)
