"""A database or a file that holds the data of one target is not taken for another's."""

from __future__ import annotations

from collections.abc import Callable
from itertools import product
from pathlib import Path
from typing import Any

import pytest
from postgresql_server import own_database
from sqlalchemy import Engine, inspect

from plimsoll.errors import InputError
from plimsoll_lab.database import postgresql_engine, sqlite_engine
from plimsoll_lab.discussions import data_directory as discussions
from plimsoll_lab.inventory import data_directory as inventory
from plimsoll_lab.seeded_data import SeedFacts, Seeding, Wanted
from plimsoll_lab.testcases import data as testcases
from plimsoll_lab.tracker import data_directory as tracker

Open = Callable[[Path, Any, str | None], object]


def silent(_: str) -> None: ...


def open_inventory(directory: Path, wanted: Any, dsn: str | None) -> object:
    return inventory.prepare_data(directory, wanted, dsn, silent)


# Name, the file whose facts are read, how it is opened, what it wants; the target whose data is there instead.
TARGETS: dict[str, tuple[str, Open, Any, Seeding]] = {
    "tracker": ("seed.db", tracker.open_data, Wanted, inventory.SEEDING),
    "discussions": ("seed.db", discussions.open_data, discussions.Wanted, tracker.SEEDING),
    "testcases": ("testcases.db", testcases.open_data, Wanted, discussions.SEEDING),
    "inventory": ("inventory.db", open_inventory, inventory.Wanted, testcases.SEEDING),
}


def seed(engine: Engine, seeding: Seeding) -> None:
    with engine.begin() as connection:
        seeding.seed_again(SeedFacts(3, 1, seeding.schema_version), connection)


@pytest.fixture
def empty_dsn(postgresql_dsn: str) -> str:
    return own_database(postgresql_dsn, "of_another_target")


# The inventory's reset in SQLite removes the file, whatever it holds.
CASES = [
    one for one in product(["sqlite", "postgresql"], TARGETS, [False, True]) if one != ("sqlite", "inventory", True)
]


@pytest.mark.parametrize(("kind", "name", "reset"), CASES)
def test_the_data_of_another_target_is_told_and_left_alone(
    kind: str, name: str, reset: bool, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    file, open_target, wanted, other = TARGETS[name]
    dsn = request.getfixturevalue("empty_dsn") if kind == "postgresql" else None
    engine = postgresql_engine(dsn) if dsn else sqlite_engine(tmp_path / file)
    seed(engine, other)
    tables = inspect(engine).get_table_names()
    with pytest.raises(InputError, match="another target of the lab") as told:
        open_target(tmp_path, wanted(reset=reset), dsn)
    assert str(told.value).endswith("as --dsn." if dsn else "as --data.")
    assert inspect(engine).get_table_names() == tables and other.counted in tables
    engine.dispose()
