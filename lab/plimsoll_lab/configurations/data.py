"""Where the configurations keep their data.

    DIR/gc.db, rm.db, qm.db, cm.db   a database each, unless a DSN is given: then each has a schema of that name
    DIR/users.json                   usernames and passwords for the load script, readable by the owner only
    DIR/secret                       what tokens are signed with, readable by the owner only
    DIR/services.json                where the services answer, while they do
    DIR/lock                         held by the process that serves from DIR

A folder that exists is used as it is, changes included; other data than asked for is an error without `--reset`.
"""

from __future__ import annotations

import contextlib
import secrets
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from sqlalchemy import Engine

from plimsoll_lab.configurations.seed import TOOLS, global_seeding, tool_seeding, users_rows
from plimsoll_lab.database import Database, postgresql_engine, sqlite_engine
from plimsoll_lab.folder import locked_folder, write_file, write_users
from plimsoll_lab.seeded_data import SeedFacts, Seeding, Wanted, database_errors, prepare_in_place
from plimsoll_lab.serving import Say

STORED = ("gc", *TOOLS)


@dataclass(frozen=True)
class WantedData:
    """The data asked for; None takes what there is, or the default. `artifacts`: of each tool."""

    components: int | None = None
    artifacts: int | None = None
    seed: int | None = None
    reset: bool = False


@dataclass(frozen=True)
class Prepared:
    """What the services share: the seed, the secret of the tokens, how much there is, and the lock of the folder."""

    components: int
    artifacts: int
    seed: int
    secret: str
    lock: IO[str]


def prepare_data(directory: Path, wanted: WantedData, dsn: str | None, say: Say) -> Prepared:
    """Seed what is not there yet, write the files beside it.

    Raises InputError: the folder cannot be written or is in use, or what there is holds other data than wanted.
    """
    with contextlib.ExitStack() as on_failure:
        lock = on_failure.enter_context(locked_folder(directory))
        asked = Wanted(wanted.components, wanted.seed, wanted.reset)
        facts = _prepare("gc", directory, global_seeding(), asked, dsn, say)
        artifacts = 0
        for tool in TOOLS:
            seeding = tool_seeding(tool, facts.count)
            of_tool = Wanted(wanted.artifacts, facts.seed, wanted.reset)
            artifacts = _prepare(tool, directory, seeding, of_tool, dsn, say).count
        write_users(directory, users_rows(facts.seed))
        secret = directory / "secret"
        if not secret.exists():
            write_file(secret, secrets.token_hex(32), private=True)
        on_failure.pop_all()
    return Prepared(facts.count, artifacts, facts.seed, secret.read_text(), lock)


def _prepare(name: str, directory: Path, seeding: Seeding, wanted: Wanted, dsn: str | None, say: Say) -> SeedFacts:
    file = directory / f"{name}.db"
    with database_errors(seeding.target, file if dsn is None else None):
        engine = engine_of(name, directory, dsn)
        try:
            if dsn is not None:
                with engine.begin() as connection:
                    connection.exec_driver_sql(f"CREATE SCHEMA IF NOT EXISTS {schema_of(name)}")
                engine.dispose()  # connections know a schema that was there when they were opened
            return prepare_in_place(engine, directory, seeding, wanted, say)
        finally:
            engine.dispose()


def open_database(name: str, directory: Path, dsn: str | None) -> Database:
    """The database of a service, which is seeded."""
    return Database(engine_of(name, directory, dsn))


def engine_of(name: str, directory: Path, dsn: str | None) -> Engine:
    """Its engine: a SQLite file, or a schema of the PostgreSQL database."""
    if dsn is None:
        return sqlite_engine(directory / f"{name}.db")
    return postgresql_engine(dsn, connect_args={"options": f"-csearch_path={schema_of(name)}", "connect_timeout": 10})


def schema_of(name: str) -> str:
    """The schema of a service in a PostgreSQL database."""
    return f"configurations_{name}"
