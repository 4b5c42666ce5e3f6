"""The data of a target: what it was seeded with, what is asked for, and the way back to the seeded state.

Data that exists is used as it is, changes included. If other data is asked for than there is, that is an error without
`reset`; with it, the data is seeded anew. There are two ways to keep it:

    with a pristine copy   SQLite: DIR/seed.db is seeded once and never opened for writing again, a working copy of it
                           is what the target changes, and a reset copies it again (`open_with_copy`)
    in place               a reset drops the tables and seeds again, with the same result (`open_in_place`); PostgreSQL
                           is always so

A table `seed_facts`, which all targets have, says what the data is; it also tells that a database or a file belongs to
another target.
"""

from __future__ import annotations

import contextlib
import os
import sqlite3
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import IO, Any

from sqlalchemy import Column, Connection, Engine, Integer, MetaData, String, Table, insert, inspect, select
from sqlalchemy.exc import DBAPIError

from plimsoll.errors import InputError
from plimsoll_lab.database import Database, postgresql_engine, sqlite_engine
from plimsoll_lab.folder import copy_file, locked_folder, remove_database, write_users
from plimsoll_lab.serving import Say

Restore = Callable[[Connection], None]

DEFAULT_SEED = 1

# One row a key: "schema" (the version of the tables), "seed", and the name of what is counted.
SEED_FACTS = Table(
    "seed_facts",
    MetaData(),
    Column("key", String(20), primary_key=True),
    Column("value", Integer, nullable=False),
)


@dataclass(frozen=True)
class Wanted:
    """The data asked for: how many of what the target counts, and the seed; None takes what there is, or the default.

    `reset`: throw away all changes.
    """

    count: int | None = None
    seed: int | None = None
    reset: bool = False


@dataclass(frozen=True)
class SeedFacts:
    """What a database was seeded with; `schema` is the version of its tables."""

    count: int
    seed: int
    schema: int


def _nothing(_connection: Connection) -> None: ...


@dataclass(frozen=True)
class Seeding:
    """What a target fills its database with.

    `target` is its name in messages ("the tracker"), `counted` what is counted ("issues"). `fill(connection, count,
    seed)` makes the tables in an empty database and fills them, `drop` drops them, each in the transaction of the
    connection. `users(seed)` are the rows of users.json. `finish` makes what depends on the options of this start (an
    index); it runs after each opening and each restoration and must not mind to run twice.
    """

    target: str
    counted: str
    default_count: int
    schema_version: int
    fill: Callable[[Connection, int, int], None]
    drop: Callable[[Connection], None]
    users: Callable[[int], Sequence[Mapping[str, object]]]
    finish: Callable[[Connection], None] = _nothing

    def difference(self, facts: SeedFacts, wanted: Wanted) -> str | None:
        """In words, how the data is not what is wanted; None if it is."""
        if facts.schema != self.schema_version:
            return f"tables of version {facts.schema}, not {self.schema_version}"
        if wanted.count not in (None, facts.count):
            return f"{facts.count} seeded {self.counted}, not {wanted.count}"
        if wanted.seed not in (None, facts.seed):
            return f"data of seed {facts.seed}, not {wanted.seed}"
        return None

    def facts_to_seed(self, wanted: Wanted, before: SeedFacts | None = None) -> SeedFacts:
        """What to seed: what is wanted, else what was there before, else the default."""
        count, seed = (before.count, before.seed) if before else (self.default_count, DEFAULT_SEED)
        return SeedFacts(
            count if wanted.count is None else wanted.count,
            seed if wanted.seed is None else wanted.seed,
            self.schema_version,
        )

    def seed_again(self, facts: SeedFacts, connection: Connection) -> None:
        """Drop the tables, if there are any, and fill them again: the same facts give the same data."""
        self.drop(connection)
        SEED_FACTS.drop(connection, checkfirst=True)
        self.fill(connection, facts.count, facts.seed)
        SEED_FACTS.create(connection)
        rows = {"schema": facts.schema, self.counted: facts.count, "seed": facts.seed}
        connection.execute(insert(SEED_FACTS), [{"key": key, "value": value} for key, value in rows.items()])

    def announce(self, facts: SeedFacts, say: Say) -> None:
        """Tell what is seeded now, as it takes a while."""
        say(f"Seeding {facts.count} {self.counted} (seed {facts.seed}) …")


@dataclass(frozen=True)
class OpenedData:
    """The seeded database, what takes it back to that state, its facts, and the lock of its folder."""

    database: Database
    restore: Restore
    facts: SeedFacts
    lock: IO[str]

    def close(self) -> None:
        """Close the database and let others use the folder."""
        self.database.close()
        self.lock.close()


def seeded_facts(connection: Connection, seeding: Seeding) -> SeedFacts | None:
    """What the database was seeded with; None if it was not. Raises InputError if another target has it."""
    if not inspect(connection).has_table(SEED_FACTS.name):
        return None
    values = {row.key: row.value for row in connection.execute(select(SEED_FACTS))}
    file = connection.engine.url.database if connection.dialect.name == "sqlite" else None
    return _facts_of(values, seeding, Path(file) if file else None)


def open_with_copy(
    directory: Path, name: str, seeding: Seeding, wanted: Wanted, dsn: str | None = None, say: Say = print
) -> OpenedData:
    """DIR/seed.db and its working copy DIR/`name`, or the database of `dsn`; seeded if need be, users.json written.

    Raises InputError: the folder cannot be written or is in use, or what there is holds other data than wanted.
    """
    if dsn is not None:
        return open_in_place(directory, name, seeding, wanted, dsn, say)
    with contextlib.ExitStack() as on_failure:
        lock = on_failure.enter_context(locked_folder(directory))
        facts = _prepare_copy(directory / "seed.db", directory / name, seeding, wanted, say)
        with database_errors(seeding.target, directory / name):
            database = Database(sqlite_engine(directory / name))
            on_failure.callback(database.close)
            with database.engine.begin() as connection:
                seeding.finish(connection)
        write_users(directory, seeding.users(facts.seed))
        on_failure.pop_all()
    return OpenedData(database, partial(_restore_copy, directory / "seed.db", seeding), facts, lock)


def open_in_place(
    directory: Path, name: str, seeding: Seeding, wanted: Wanted, dsn: str | None = None, say: Say = print
) -> OpenedData:
    """DIR/`name`, or the database of `dsn`; seeded if need be, users.json written.

    Raises InputError: the folder cannot be written or is in use, or what there is holds other data than wanted.
    """
    with contextlib.ExitStack() as on_failure:
        lock = on_failure.enter_context(locked_folder(directory))
        with database_errors(seeding.target, directory / name if dsn is None else None):
            database = Database(sqlite_engine(directory / name) if dsn is None else postgresql_engine(dsn))
            on_failure.callback(database.close)
            facts = prepare_in_place(database.engine, directory, seeding, wanted, say)
        write_users(directory, seeding.users(facts.seed))
        on_failure.pop_all()
    return OpenedData(database, partial(_restore_in_place, seeding, facts), facts, lock)


def prepare_in_place(engine: Engine, directory: Path, seeding: Seeding, wanted: Wanted, say: Say) -> SeedFacts:
    """Seed what is not there yet, in one transaction; returns what there is. Raises InputError, DBAPIError."""
    with engine.begin() as connection:
        facts = seeded_facts(connection, seeding)
        difference = seeding.difference(facts, wanted) if facts else None
        if difference and not wanted.reset:
            raise _other_data(directory if engine.dialect.name == "sqlite" else None, difference)
        if facts is None or wanted.reset:
            facts = seeding.facts_to_seed(wanted, facts)
            seeding.announce(facts, say)
            seeding.seed_again(facts, connection)
        seeding.finish(connection)
        return facts


@contextlib.contextmanager
def database_errors(target: str, file: Path | None) -> Iterator[None]:
    """What the database refuses within becomes an InputError; `file` is the SQLite file, None for PostgreSQL."""
    try:
        yield
    except DBAPIError as error:
        reason = str(error.orig).strip().splitlines()[0] if error.orig else "unknown"
        if file is None:
            step = "Check --dsn (postgresql://user@host:port/database) and that it runs."
            raise InputError(f"PostgreSQL refused: {reason}", step) from None
        raise _no_database(target, file, reason) from None


def _prepare_copy(pristine: Path, working: Path, seeding: Seeding, wanted: Wanted, say: Say) -> SeedFacts:
    facts = _facts_of_file(pristine, seeding)
    difference = seeding.difference(facts, wanted) if facts else "no seeded data"
    if facts and difference and not wanted.reset:
        raise _other_data(pristine.parent, difference)
    if facts is None or difference:
        facts = seeding.facts_to_seed(wanted)
        remove_database(working)
        _seed_file(pristine, seeding, facts, say)
    if wanted.reset or not working.exists():
        remove_database(working)
        copy_file(pristine, working)
    return facts


def _seed_file(pristine: Path, seeding: Seeding, facts: SeedFacts, say: Say) -> None:
    """Seed aside, then rename: an interrupted seeding leaves no half-filled seed.db."""
    unfinished = pristine.with_name(f"{pristine.name}.unfinished")
    remove_database(unfinished)
    engine = sqlite_engine(unfinished, journal="OFF")
    with engine.begin() as connection:
        seeding.announce(facts, say)
        seeding.seed_again(facts, connection)
    engine.dispose()
    os.replace(unfinished, pristine)


def _restore_in_place(seeding: Seeding, facts: SeedFacts, connection: Connection) -> None:
    seeding.seed_again(facts, connection)
    seeding.finish(connection)


def _restore_copy(pristine: Path, seeding: Seeding, connection: Connection) -> None:
    """Copy every page of seed.db into the open database."""
    working: Any = connection.connection.driver_connection
    with contextlib.closing(sqlite3.connect(f"file:{pristine}?mode=ro", uri=True)) as source:
        source.backup(working)
    seeding.finish(connection)


def _facts_of_file(path: Path, seeding: Seeding) -> SeedFacts | None:
    """As `seeded_facts`, of a file that must not be changed, nor its journal mode."""
    if not path.exists():
        return None
    try:
        with contextlib.closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True)) as connection:
            values = dict(connection.execute("SELECT key, value FROM seed_facts"))
    except sqlite3.DatabaseError as error:
        raise _no_database(seeding.target, path, str(error)) from None
    return _facts_of(values, seeding, path)


def _facts_of(values: Mapping[str, int], seeding: Seeding, file: Path | None) -> SeedFacts:
    if not {"schema", "seed", seeding.counted} <= values.keys():
        step = "Give another folder as --data." if file else "Give a database of its own as --dsn."
        what = f"{file or 'the database'} holds the data of another target of the lab, not of {seeding.target}"
        raise InputError(what, step)
    return SeedFacts(values[seeding.counted], values["seed"], values["schema"])


def _no_database(target: str, file: Path, reason: str) -> InputError:
    step = "Remove that file, or give another folder as --data."
    return InputError(f"{file} is no database of {target}: {reason}", step)


def _other_data(directory: Path | None, difference: str) -> InputError:
    otherwise = "another folder as --data" if directory else "another database as --dsn"
    step = f"Seed it anew with --reset (all its data is lost), or give {otherwise}."
    return InputError(f"{directory or 'the database'} holds {difference}", step)
