"""Where the tracker keeps its data, and how it gets back to the seeded state.

    DIR/seed.db      the seeded data; never opened for writing again
    DIR/tracker.db   the working copy that the server changes (and its -wal and -shm)
    DIR/users.json   logins and bearer tokens for the load script, readable by the owner only
    DIR/study.yaml   a study of this tracker, with its script (load_files.py)
    DIR/lock         held by the process that serves from DIR

A folder that exists is used as it is, changes included. `reset` copies seed.db over tracker.db; if other data is asked
for than the folder holds, that is an error without `reset`, and with it the folder is seeded anew. PostgreSQL has no
pristine copy: there `reset` drops the tables and seeds again, with the same result. A tracker that serves can be taken
back to the seeded state as well (POST /api/admin/reset, by the function that `open_data` returns).
"""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import shutil
import sqlite3
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import IO, Any

from sqlalchemy import Connection, inspect, select
from sqlalchemy.exc import DBAPIError

from plimsoll.errors import InputError
from plimsoll.lab.tracker import schema
from plimsoll.lab.tracker.database import Database, postgresql_engine, sqlite_engine
from plimsoll.lab.tracker.seed import DEFAULT_ISSUES, DEFAULT_SEED, invented_users, seed_database

Say = Callable[[str], None]
Restore = Callable[[Connection], None]


@dataclass(frozen=True)
class Wanted:
    """The data asked for; None takes what there is, or the default."""

    issues: int | None = None
    seed: int | None = None
    reset: bool = False


@dataclass(frozen=True)
class SeedFacts:
    """What a database was seeded with."""

    issues: int
    seed: int
    schema: int = schema.SCHEMA_VERSION

    def differs_from(self, wanted: Wanted) -> str | None:
        """In words, how this is not what is wanted; None if it is."""
        if self.schema != schema.SCHEMA_VERSION:
            return f"tables of version {self.schema}, not {schema.SCHEMA_VERSION}"
        if wanted.issues not in (None, self.issues):
            return f"{self.issues} seeded issues, not {wanted.issues}"
        if wanted.seed not in (None, self.seed):
            return f"data of seed {self.seed}, not {wanted.seed}"
        return None


def open_data(
    directory: Path, wanted: Wanted, dsn: str | None = None, say: Say = print
) -> tuple[Database, Restore, IO[str]]:
    """The seeded database, what takes it back to that state, and the lock to keep open while it is used.

    `users.json` is written beside it.

    Raises InputError: the folder cannot be written, is in use, or holds other data than wanted.
    """
    try:
        directory.mkdir(parents=True, exist_ok=True)
        lock = _locked(directory)
    except (FileExistsError, NotADirectoryError, PermissionError) as error:
        raise InputError(
            f"No data can be kept in {directory}: {error.strerror}", "Give another folder as --data."
        ) from None
    with contextlib.ExitStack() as on_failure:
        on_failure.callback(lock.close)
        if dsn is None:
            facts = _prepare_sqlite(directory, wanted, say)
            database = Database(sqlite_engine(directory / "tracker.db"))
            restore: Restore = partial(_restore_sqlite, directory / "seed.db")
        else:
            database = Database(postgresql_engine(dsn))
            on_failure.callback(database.close)
            facts = _prepare_postgresql(database, wanted, say)
            restore = partial(_seed_again, facts)
        _write_users(directory / "users.json", facts.seed)
        on_failure.pop_all()
    return database, restore, lock


def _prepare_sqlite(directory: Path, wanted: Wanted, say: Say) -> SeedFacts:
    pristine, working = directory / "seed.db", directory / "tracker.db"
    facts = _facts_of_file(pristine)
    difference = facts.differs_from(wanted) if facts else "no seeded data"
    if facts and difference and not wanted.reset:
        raise _other_data(str(directory), difference, "give another folder as --data")
    if facts is None or difference:
        facts = SeedFacts(wanted.issues if wanted.issues is not None else DEFAULT_ISSUES, _seed_of(wanted))
        _remove_database(working)
        _seed_file(pristine, facts, say)
    if wanted.reset or not working.exists():
        _remove_database(working)
        _copy(pristine, working)
    return facts


def _prepare_postgresql(database: Database, wanted: Wanted, say: Say) -> SeedFacts:
    try:
        with database.engine.begin() as connection:
            facts = seeded_facts(connection)
            difference = facts.differs_from(wanted) if facts else None
            if facts and difference and not wanted.reset:
                raise _other_data("the database", difference, "give another database as --dsn")
            if facts and not wanted.reset:
                return facts
            fallback = facts or SeedFacts(DEFAULT_ISSUES, DEFAULT_SEED)
            issues = fallback.issues if wanted.issues is None else wanted.issues
            facts = SeedFacts(issues, fallback.seed if wanted.seed is None else wanted.seed)
            say(f"Seeding {facts.issues} issues (seed {facts.seed}) …")
            _seed_again(facts, connection)
            return facts
    except DBAPIError as error:
        reason = str(error.orig).strip().splitlines()[0] if error.orig else "unknown"
        raise InputError(
            f"PostgreSQL refused: {reason}", "Check --dsn (postgresql://user@host:port/database) and that it runs."
        ) from None


def _restore_sqlite(pristine: Path, connection: Connection) -> None:
    """Copy every page of seed.db into the open database."""
    working: Any = connection.connection.driver_connection
    with contextlib.closing(sqlite3.connect(f"file:{pristine}?mode=ro", uri=True)) as source:
        source.backup(working)


def _seed_again(facts: SeedFacts, connection: Connection) -> None:
    schema.drop_tables(connection)
    seed_database(connection, facts.issues, facts.seed)


def _seed_of(wanted: Wanted) -> int:
    return wanted.seed if wanted.seed is not None else DEFAULT_SEED


def _other_data(where: str, difference: str, otherwise: str) -> InputError:
    return InputError(
        f"{where} holds {difference}", f"Seed it anew with --reset (all its data is lost), or {otherwise}."
    )


def seeded_facts(connection: Connection) -> SeedFacts | None:
    """What the database was seeded with; None if it was not."""
    if not inspect(connection).has_table(schema.seed_facts.name):
        return None
    values = {row.key: row.value for row in connection.execute(select(schema.seed_facts))}
    return SeedFacts(values["issues"], values["seed"], values["schema"])


def _facts_of_file(path: Path) -> SeedFacts | None:
    if not path.exists():
        return None
    try:
        with contextlib.closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True)) as connection:
            values = dict(connection.execute("SELECT key, value FROM seed_facts"))
    except sqlite3.DatabaseError as error:
        raise InputError(
            f"{path} is no database of the tracker: {error}", "Remove that file, or give another folder as --data."
        ) from None
    return SeedFacts(values["issues"], values["seed"], values["schema"])


def _seed_file(pristine: Path, facts: SeedFacts, say: Say) -> None:
    """Seed aside, then rename: an interrupted seeding leaves no half-filled seed.db."""
    unfinished = pristine.with_suffix(".unfinished")
    _remove_database(unfinished)
    engine = sqlite_engine(unfinished, journal="OFF")
    with engine.begin() as connection:
        say(f"Seeding {facts.issues} issues (seed {facts.seed}) …")
        seed_database(connection, facts.issues, facts.seed)
    engine.dispose()
    os.replace(unfinished, pristine)


def _copy(pristine: Path, working: Path) -> None:
    unfinished = working.with_suffix(".unfinished")
    shutil.copyfile(pristine, unfinished)
    os.replace(unfinished, working)


def _remove_database(path: Path) -> None:
    """Remove a SQLite file with its write-ahead log; a log left behind would be replayed into the next file."""
    for suffix in ("", "-wal", "-shm", "-journal"):
        path.with_name(path.name + suffix).unlink(missing_ok=True)


def _locked(directory: Path) -> IO[str]:
    lock = (directory / "lock").open("a+")
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        lock.seek(0)
        holder = lock.read().strip() or "unknown"
        lock.close()
        raise InputError(
            f"{directory} is in use by the process {holder}", "Stop that one, or give another folder as --data."
        ) from None
    lock.truncate(0)
    lock.write(str(os.getpid()))
    lock.flush()
    return lock


def _write_users(path: Path, seed: int) -> None:
    rows = [
        {"login": user.login, "name": user.name, "email": user.email, "token": user.token}
        for user in invented_users(seed)
    ]
    unfinished = path.with_suffix(".unfinished")
    with open(os.open(unfinished, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w") as file:
        json.dump(rows, file, indent=1)
    os.replace(unfinished, path)
