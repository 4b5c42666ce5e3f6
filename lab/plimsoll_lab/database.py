"""How a target runs its statements, and its engines.

SQLite: one connection, and every statement runs directly on the event loop. The process has one core, SQLite has
one writer, and each statement takes well under a few milliseconds. Worker threads would buy no parallelism but would
let requests overtake each other and fight for the interpreter lock; inline, requests are served strictly in the
order in which they arrive, one at a time: a queue with a single server, whose behaviour under load is predictable.

PostgreSQL works in processes of its own, so waiting for it on the event loop would waste the core. There each
transaction runs on one of a few threads with a pooled connection; in what order they finish is the database's choice.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, TypeVar

import anyio
import anyio.to_thread
from sqlalchemy import Connection, Engine, create_engine, event
from sqlalchemy.exc import DBAPIError, OperationalError

Result = TypeVar("Result")

POSTGRESQL_CONNECTIONS = 8
SQLITE_CACHE_KIB = 65536
SQLITE_PRAGMAS = ("foreign_keys=ON", f"cache_size=-{SQLITE_CACHE_KIB}")

# SQLSTATEs of what runs beside a reset by another process: the table that it has dropped, and a relation whose number
# is gone.
_REPLACED = ("42P01", "XX000")


def raise_mistake(error: DBAPIError) -> None:
    """Raise the error where it is a mistake of the target.

    It is none where the same request may do in a moment: the database is away, busy, locked or full, or its tables are
    being replaced by a reset.
    """
    replaced = getattr(error.orig, "sqlstate", None) in _REPLACED
    if not (error.connection_invalidated or isinstance(error, OperationalError) or replaced):
        raise error


class Database:
    """Runs a piece of work, `work(connection, *arguments)`, as one transaction."""

    def __init__(self, engine: Engine) -> None:
        self.engine = engine
        self.name = engine.dialect.name
        self._inline: Connection | None = engine.connect() if self.name == "sqlite" else None
        self._limiter: anyio.CapacityLimiter | None = None
        self._alone: anyio.Lock | None = None

    async def run(self, work: Callable[..., Result], *arguments: Any) -> Result:
        """The result of `work`, committed; any exception of it rolls back and passes through."""
        if self._inline is not None:
            with self._inline.begin():
                return work(self._inline, *arguments)
        return await anyio.to_thread.run_sync(self._run_pooled, work, arguments, limiter=self._turns())

    async def run_alone(self, work: Callable[..., Result], *arguments: Any) -> Result:
        """As `run`, once every transaction that came before is through; those that come meanwhile wait.

        For what locks many tables, as a reset does: beside transactions that lock them in another order it could
        deadlock. It keeps those of this process away, not those of another one on the same database.
        """
        if self._inline is not None:
            return await self.run(work, *arguments)
        if self._alone is None:
            self._alone = anyio.Lock()
        turns = self._turns()
        async with self._alone, contextlib.AsyncExitStack() as held:
            for _ in range(POSTGRESQL_CONNECTIONS):
                turn = object()
                await turns.acquire_on_behalf_of(turn)
                held.callback(turns.release_on_behalf_of, turn)
            return await anyio.to_thread.run_sync(self._run_pooled, work, arguments)

    def _turns(self) -> anyio.CapacityLimiter:
        """One turn for each connection, given in the order in which they are asked for."""
        if self._limiter is None:
            self._limiter = anyio.CapacityLimiter(POSTGRESQL_CONNECTIONS)
        return self._limiter

    def _run_pooled(self, work: Callable[..., Result], arguments: tuple[Any, ...]) -> Result:
        with self.engine.begin() as connection:
            return work(connection, *arguments)

    def close(self) -> None:
        """Close every connection; SQLite then folds its write-ahead log into the file."""
        if self._inline is not None:
            self._inline.close()
        self.engine.dispose()


def sqlite_engine(
    path: Path, *, journal: str = "WAL", pragmas: Sequence[str] = SQLITE_PRAGMAS, **options: Any
) -> Engine:
    """An engine on the SQLite file `path`, with further `pragmas` ("name=value") and options of `create_engine`.

    Synchronous NORMAL: a commit survives the death of the process, the last ones may be lost with the power.
    """
    connect_args = {"check_same_thread": False, **options.pop("connect_args", {})}
    engine = create_engine(f"sqlite:///{path}", connect_args=connect_args, **options)

    @event.listens_for(engine, "connect")
    def _set_pragmas(connection: Any, _record: Any) -> None:
        cursor = connection.cursor()
        for pragma in (f"journal_mode={journal}", "synchronous=NORMAL", *pragmas):
            cursor.execute(f"PRAGMA {pragma}")
        cursor.close()

    return engine


def postgresql_engine(dsn: str, **options: Any) -> Engine:
    """An engine on a PostgreSQL database, with further options of `create_engine`.

    `dsn` as libpq writes it: postgresql://user@host:port/database.
    """
    address = dsn.split("://", 1)[1] if "://" in dsn else dsn
    sizes = {"pool_size": POSTGRESQL_CONNECTIONS, "max_overflow": 0}
    return create_engine(f"postgresql+psycopg://{address}", **{**sizes, **options})
