"""Where the inventory keeps its data.

    DIR/inventory.db    the database, unless a DSN is given (and its -wal and -shm)
    DIR/users.json      usernames and passwords for the load script, readable by the owner only
    DIR/keywords.json   what the load script searches for, with the hits of each
    DIR/secret          what tokens are signed with, readable by the owner only
    DIR/lock            held by the process that serves from DIR

How they are kept and reset: plimsoll_lab/seeded_data.py, in place; the modules open the database each for themselves.
"""

from __future__ import annotations

import contextlib
import secrets
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import IO

from plimsoll_lab import seeded_data
from plimsoll_lab.folder import locked_folder, remove_database, write_file, write_users
from plimsoll_lab.inventory import schema
from plimsoll_lab.inventory.database import Database, postgresql_engine, sqlite_engine
from plimsoll_lab.inventory.seed import DEFAULT_INSTANCES, invented_users, keywords_text, seed_database
from plimsoll_lab.seeded_data import SeedFacts, Seeding, database_errors, prepare_in_place
from plimsoll_lab.serving import Say

FILE = "inventory.db"


@dataclass(frozen=True)
class Wanted(seeded_data.Wanted):
    """The data asked for, and whether searches lack their indexes."""

    missing_index: bool = False


def users_of(seed: int) -> list[dict[str, object]]:
    """The rows of users.json."""
    return [{"username": one.username, "password": one.password} for one in invented_users(seed)]


SEEDING = Seeding(
    target="the inventory",
    counted="instances",
    default_count=DEFAULT_INSTANCES,
    schema_version=schema.SCHEMA_VERSION,
    fill=seed_database,
    drop=schema.metadata.drop_all,
    users=users_of,
)


def open_database(directory: Path, dsn: str | None) -> Database:
    """The database of that folder, or of the DSN."""
    return Database(sqlite_engine(directory / FILE) if dsn is None else postgresql_engine(dsn))


def prepare_data(directory: Path, wanted: Wanted, dsn: str | None, say: Say) -> tuple[SeedFacts, IO[str]]:
    """Seed what is not there yet, write the files beside it; returns what there is, and the lock to keep open.

    Raises InputError: the folder cannot be written, is in use, or holds other data than wanted.
    """
    seeding = replace(SEEDING, finish=partial(schema.set_search_indexes, present=not wanted.missing_index))
    with contextlib.ExitStack() as on_failure:
        lock = on_failure.enter_context(locked_folder(directory))
        if dsn is None and wanted.reset:
            remove_database(directory / FILE)
        with (
            database_errors(seeding.target, directory / FILE if dsn is None else None),
            contextlib.closing(open_database(directory, dsn)) as database,
        ):
            facts = prepare_in_place(database.engine, directory, seeding, wanted, say)
            with database.engine.begin() as connection:
                write_file(directory / "keywords.json", keywords_text(connection))
        write_users(directory, seeding.users(facts.seed))
        if not (directory / "secret").exists():
            write_file(directory / "secret", secrets.token_hex(32), private=True)
        on_failure.pop_all()
    return facts, lock
