"""How the modules run their statements: each transaction on a thread, with one of a few pooled connections.

SQLite in WAL mode: readers see a consistent state and are not held up by the writer; only the storage module
writes, one transaction at a time. PostgreSQL: as many transactions at once as connections; changes lock their row.
"""

from __future__ import annotations

import contextlib
from collections.abc import AsyncIterator, Callable, Iterator
from pathlib import Path
from typing import Any, TypeVar

import anyio
import anyio.to_thread
from sqlalchemy import Connection, Engine, event

from plimsoll_lab import database

Result = TypeVar("Result")

CONNECTIONS = 8
SQLITE_CACHE_KIB = 16384
LOCK_LIMIT_S = 30


class Database:
    """Runs pieces of work, `work(connection, *arguments)`, each as one transaction."""

    def __init__(self, engine: Engine) -> None:
        self.engine = engine
        self.name = engine.dialect.name
        self._slots: anyio.Semaphore | None = None
        self._writer: anyio.Lock | None = None

    async def read(self, work: Callable[..., Result], *arguments: Any) -> Result:
        """The result of `work`, which changes nothing."""
        async with self._free_slot():
            return await anyio.to_thread.run_sync(self._run, work, arguments)

    async def write(self, work: Callable[..., Result], *arguments: Any) -> Result:
        """The result of `work`, committed; any exception of it rolls back and passes through."""
        if self.name != "sqlite":
            return await self.read(work, *arguments)
        if self._writer is None:
            self._writer = anyio.Lock()
        async with self._writer:
            return await self.read(work, *arguments)

    async def stream(self, work: Callable[..., Iterator[bytes]], *arguments: Any) -> AsyncIterator[bytes]:
        """The pieces that `work` makes, one at a time, from one transaction; ended early, it frees its connection."""
        async with self._free_slot():
            with contextlib.ExitStack() as open_things:
                connection = await anyio.to_thread.run_sync(self.engine.connect)
                open_things.enter_context(contextlib.closing(connection))
                pieces = work(connection, *arguments)
                while (piece := await anyio.to_thread.run_sync(next, pieces, None)) is not None:
                    yield piece

    def _free_slot(self) -> anyio.Semaphore:
        if self._slots is None:
            self._slots = anyio.Semaphore(CONNECTIONS)
        return self._slots

    def _run(self, work: Callable[..., Result], arguments: tuple[Any, ...]) -> Result:
        with self.engine.begin() as connection:
            return work(connection, *arguments)

    def close(self) -> None:
        """Close every connection; SQLite then folds its write-ahead log into the file."""
        self.engine.dispose()


def sqlite_engine(path: Path) -> Engine:
    """An engine on the SQLite file `path`. Synchronous NORMAL: a commit survives the death of the process."""
    engine = database.sqlite_engine(
        path,
        pragmas=(f"cache_size=-{SQLITE_CACHE_KIB}", "temp_store=FILE"),
        pool_size=CONNECTIONS,
        max_overflow=0,
        connect_args={"timeout": LOCK_LIMIT_S, "isolation_level": None},
    )

    @event.listens_for(engine, "begin")
    def _begin(connection: Connection) -> None:
        connection.exec_driver_sql("BEGIN")  # sqlite3 would begin before a change only: two reads could differ

    return engine


def postgresql_engine(dsn: str) -> Engine:
    """An engine on a PostgreSQL database; `dsn` as libpq writes it, postgresql://user@host:port/database."""
    patience = {"connect_timeout": 10}
    return database.postgresql_engine(dsn, pool_size=CONNECTIONS, pool_pre_ping=True, connect_args=patience)
