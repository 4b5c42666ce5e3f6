"""The one connection to a watched server: read-only, named plimsoll, every question with a time limit
(probes/database_link.py)."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from plimsoll.errors import InputError
from plimsoll.probes.database_link import CONNECT_LIMIT_S, DatabaseLink
from plimsoll.probes.probe import Clock
from plimsoll.study.probes.postgresql import secrets_of_dsn

Row = dict[str, Any]
MARK = "/* plimsoll */"
SETTINGS = (
    "SET default_transaction_read_only = on; SET lock_timeout = '500ms'; SET jit = off; "
    "SET plan_cache_mode = force_generic_plan; SET max_parallel_workers_per_gather = 0; "
    "SET DateStyle = 'ISO'; SET standard_conforming_strings = on"
)
MISSING = "The PostgreSQL driver psycopg is not installed"
INSTALL = "Install it with: pip install 'plimsoll-line[postgresql]'"


def driver() -> Any:
    """psycopg 3, imported at first use; InputError where it is missing."""
    try:
        import psycopg
    except ImportError as error:
        raise InputError(MISSING, INSTALL) from error
    return psycopg


class Connection(DatabaseLink["Session"]):
    """Answers questions about one database; a failure is ProbeUnavailable, without any secret in its text."""

    def __init__(self, dsn: str, clock: Clock = time.monotonic) -> None:
        super().__init__(secrets_of_dsn(dsn), clock)
        self._dsn = dsn
        self._link: Any = None

    @property
    def is_open(self) -> bool:
        """Whether psycopg knows of no loss."""
        return self._link is not None and not self._link.closed

    def connect(self) -> Session:
        """A session with SETTINGS."""
        psycopg = driver()
        self._link = None
        self._link = psycopg.connect(
            self._dsn, autocommit=True, connect_timeout=CONNECT_LIMIT_S, application_name="plimsoll",
            row_factory=psycopg.rows.dict_row, prepare_threshold=2,
        )  # fmt: skip
        self._link.execute(SETTINGS)
        return Session(self._link)

    def limit(self, session: Session, limit_s: float) -> None:
        """statement_timeout."""
        session.limit(limit_s)

    def disconnect(self) -> None:
        """Close it."""
        if self._link is not None:
            self._link.close()
            self._link = None

    def descriptor(self) -> int | None:
        """libpq's socket."""
        return None if self._link is None else int(self._link.fileno())

    def is_drivers(self, error: BaseException) -> bool:
        """psycopg.Error."""
        return isinstance(error, driver().Error)

    def is_late(self, error: BaseException) -> bool:
        """Whether statement_timeout ended it."""
        return isinstance(error, driver().errors.QueryCanceled)


class Session:
    """A connected server, within one question; each statement is a transaction of its own. `version` as in 150004 for
    15.4. Raises psycopg.Error, after which it takes further statements if it `outlives` the error."""

    def __init__(self, link: Any) -> None:
        self._link = link
        self.version: int = link.info.server_version
        self._limit_ms = 0

    def limit(self, limit_s: float) -> None:
        """No statement may take longer than this from now on."""
        limit_ms = max(1, round(1000 * limit_s))
        if limit_ms != self._limit_ms:
            self._link.execute(f"SET statement_timeout = {limit_ms}", prepare=False)
            self._limit_ms = limit_ms

    @contextmanager
    def within(self, limit_s: float) -> Iterator[None]:
        """A shorter limit for a time; a longer one than now is not given."""
        before_ms = self._limit_ms
        if before_ms:
            self.limit(min(limit_s, before_ms / 1000))
        try:
            yield
        finally:
            if before_ms and not self._link.closed:
                self.limit(before_ms / 1000)

    def rows(self, text: str, values: Sequence[Any] | Mapping[str, Any] | None = None) -> list[Row]:
        """The rows of a query, each {column: value}."""
        return list(self._link.execute(text, values).fetchall())

    def run(self, text: str) -> list[Row]:
        """A statement sent as it is, without parameters and never prepared; its rows, if it has any."""
        cursor = self._link.execute(text, prepare=False)
        return list(cursor.fetchall()) if cursor.description else []

    def types(self, text: str) -> list[int]:
        """Object ids of the column types of a query, which should be one for no row."""
        cursor = self._link.execute(text, prepare=False)
        return [column.type_code for column in cursor.description or ()]

    def outlives(self, error: Exception) -> bool:
        """Whether the server refused one statement, and takes others."""
        return isinstance(error, driver().Error) and not self._link.closed
