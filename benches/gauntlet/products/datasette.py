"""Datasette: pages and JSON over a SQLite file, as a newsroom publishes its data. Python, from PyPI."""

from __future__ import annotations

import sqlite3
from contextlib import closing, contextmanager
from pathlib import Path

from processes import await_answer, running
from registries import Cache

from plimsoll_lab.ports import free_port
from products.product import Product, Started

ROWS, TOWNS = 60_000, 400


def install(cache: Cache) -> None:
    cache.python("datasette", "datasette==0.65.5")


@contextmanager
def stands(cache: Cache, folder: Path) -> Started:
    seed(folder / "sales.db")
    port, log = free_port(), folder / "datasette.log"
    program = cache.python("datasette", "datasette==0.65.5") / "datasette"
    flags = ["-p", port, "-h", "127.0.0.1", "--setting", "num_sql_threads", "3"]
    with running([program, "serve", folder / "sales.db", *flags], log, env={"HOME": str(folder)}) as process:
        await_answer(f"http://127.0.0.1:{port}/sales/houses?_size=1", process, log)
        yield {"BASE_URL": f"http://127.0.0.1:{port}"}


def seed(file: Path) -> None:
    """Houses sold, with towns, searchable and indexed where a careful publisher would."""
    with closing(sqlite3.connect(file)) as database:
        database.execute("CREATE TABLE towns (id INTEGER PRIMARY KEY, name TEXT, county TEXT)")
        database.execute(
            "CREATE TABLE houses (id INTEGER PRIMARY KEY, town INTEGER REFERENCES towns(id), street TEXT, "
            "price INTEGER, kind TEXT, sold TEXT)"
        )
        towns = ((number, f"Town {number}", f"County {number % 40}") for number in range(TOWNS))
        database.executemany("INSERT INTO towns VALUES (?, ?, ?)", towns)
        kinds = ("flat", "terraced", "detached", "semi")
        database.executemany(
            "INSERT INTO houses VALUES (?, ?, ?, ?, ?, ?)",
            (
                (number, number * 7919 % TOWNS, f"{number % 173} Street {number * 31 % 997}",
                 80_000 + number * 7907 % 900_000, kinds[number % 4], f"20{10 + number % 15}-{1 + number % 12:02}-01")
                for number in range(ROWS)
            ),
        )  # fmt: skip
        database.execute("CREATE INDEX houses_town ON houses(town)")
        database.execute("CREATE INDEX houses_sold ON houses(sold)")
        database.commit()


PRODUCT = Product(
    "datasette", "Python", "Datasette, SQLite", "PyPI datasette 0.65.5", install, stands, "/-/versions.json"
)
