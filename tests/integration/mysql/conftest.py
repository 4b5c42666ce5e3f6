"""A database of the tests' own on the shared server, with a table of 5,000 orders without an index on the customer."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from mariadb_server import MariadbServer

from plimsoll.probes.mysql import MysqlProbe

ROWS = 5_000


@pytest.fixture(scope="session")
def shop(mariadb_server: MariadbServer) -> Iterator[Any]:
    """`shop.execute(text)` as root in the database shop."""
    owner = mariadb_server.connect()
    with owner.cursor() as cursor:
        cursor.execute("CREATE DATABASE shop")
        cursor.execute("USE shop")
        cursor.execute("CREATE TABLE orders (id INT PRIMARY KEY, customer INT, note VARCHAR(80))")
        rows = [(number, number % 100, f"note {number}") for number in range(ROWS)]
        cursor.executemany("INSERT INTO orders VALUES (%s, %s, %s)", rows)
        yield cursor
    owner.close()


@pytest.fixture
def watch(mariadb_server: MariadbServer) -> Iterator[Callable[..., MysqlProbe]]:
    """`watch(user="root", database="shop")`: a probe, closed at the end."""
    made: list[MysqlProbe] = []

    def make(user: str = "root", database: str = "shop", password: str = "") -> MysqlProbe:
        made.append(MysqlProbe(mariadb_server.dsn(user, database, password)))
        return made[-1]

    yield make
    for probe in made:
        probe.close()
