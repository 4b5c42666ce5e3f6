"""The one connection to a watched MariaDB or MySQL server: read-only, every question with a time limit
(probes/database_link.py).

It has no default database: so its own statements are counted under none, and not among those of the database that is
watched.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any

from plimsoll.errors import InputError
from plimsoll.probes.database_link import CONNECT_LIMIT_S, DatabaseLink
from plimsoll.probes.probe import Clock
from plimsoll.study.probes.mysql import parts_of_dsn, secrets_of_mysql

Row = dict[str, Any]
SLACK_S = 1.0
MISSING = "The MySQL driver pymysql is not installed"
INSTALL = "Install it with: pip install 'plimsoll-line[mysql]'"
# Errors of a statement that was ended for its time: MariaDB's and MySQL's.
_LATE = (1969, 3024)


def driver() -> Any:
    """pymysql, imported at first use; InputError where it is missing."""
    try:
        import pymysql
        import pymysql.cursors
    except ImportError as error:
        raise InputError(MISSING, INSTALL) from error
    return pymysql


class Connection(DatabaseLink["Session"]):
    """Answers questions about one database; a failure is ProbeUnavailable, without any secret in its text."""

    def __init__(self, dsn: str, clock: Clock = time.monotonic) -> None:
        super().__init__(secrets_of_mysql(dsn), clock)
        self._parts = parts_of_dsn(dsn)
        self._link: Any = None

    @property
    def is_open(self) -> bool:
        """Whether pymysql knows of no loss."""
        return self._link is not None and bool(self._link.open)

    def connect(self) -> Session:
        """A session that reads only and waits for no lock for long."""
        pymysql, parts = driver(), self._parts
        self._link = None
        tls = {"ssl": {"ca": parts["ssl_ca"]}} if "ssl_ca" in parts else {}
        self._link = pymysql.connect(
            host=parts.get("host", "localhost"), port=parts["port"], user=parts.get("user"),
            password=str(parts.get("password", "")), unix_socket=parts.get("unix_socket"), charset="utf8mb4",
            autocommit=True, connect_timeout=CONNECT_LIMIT_S, read_timeout=10, write_timeout=10,
            program_name="plimsoll", cursorclass=pymysql.cursors.DictCursor, **tls,
        )  # fmt: skip
        return Session(self._link, str(parts.get("database", "")))

    def limit(self, session: Session, limit_s: float) -> None:
        """The server's limit of a statement, and that of reading its answer."""
        session.limit(limit_s)

    def disconnect(self) -> None:
        """Close it."""
        if self.is_open:
            self._link.close()
        self._link = None

    def descriptor(self) -> int | None:
        """pymysql's socket."""
        link = self._link
        return None if link is None or link._sock is None else int(link._sock.fileno())

    def is_drivers(self, error: BaseException) -> bool:
        """pymysql.MySQLError, or a socket's."""
        return isinstance(error, driver().MySQLError | OSError)

    def is_late(self, error: BaseException) -> bool:
        """Whether the server ended it for its time."""
        return error_code(error) in _LATE


def error_code(error: BaseException) -> int | None:
    """The server's number of an error."""
    return error.args[0] if error.args and isinstance(error.args[0], int) else None


class Session:
    """A connected server, within one question. `version`: (10, 11) of 10.11.6; `is_mariadb`; `database`: the one that
    is watched, empty for all. Raises pymysql.MySQLError."""

    def __init__(self, link: Any, database: str) -> None:
        self._link, self.database = link, database
        self._limit_s = 0.0
        self.version_text = str(link.get_server_info())
        self.is_mariadb = "mariadb" in self.version_text.lower()
        self.version = _version(self.version_text, self.is_mariadb)
        self.run("SET SESSION TRANSACTION READ ONLY")
        self.run("SET SESSION lock_wait_timeout = 1, SESSION innodb_lock_wait_timeout = 1")

    @property
    def server(self) -> str:
        """ "MariaDB 10.11.6", "MySQL 8.4.0"."""
        return f"{'MariaDB' if self.is_mariadb else 'MySQL'} {'.'.join(map(str, self.version))}"

    def limit(self, limit_s: float) -> None:
        """No statement may take longer than this from now on."""
        if limit_s != self._limit_s:
            if self.is_mariadb:
                self.run(f"SET SESSION max_statement_time = {limit_s:.3f}")
            else:
                self.run(f"SET SESSION max_execution_time = {max(1, round(1000 * limit_s))}")
            self._link._read_timeout = limit_s + SLACK_S
            self._limit_s = limit_s

    def rows(self, text: str, values: Sequence[Any] | None = None) -> list[Row]:
        """The rows of a query, each {column in small letters: value}."""
        with self._link.cursor() as cursor:
            cursor.execute(text, values)
            return [{str(name).lower(): value for name, value in row.items()} for row in cursor.fetchall()]

    def run(self, text: str) -> None:
        """A statement without rows."""
        with self._link.cursor() as cursor:
            cursor.execute(text)


def _version(text: str, is_mariadb: bool) -> tuple[int, ...]:
    """Of "8.0.36", "10.11.6-MariaDB", "5.5.5-10.11.6-MariaDB-log"."""
    if is_mariadb and text.startswith("5.5.5-"):
        text = text.removeprefix("5.5.5-")
    numbers = text.split("-")[0].split(".")
    return tuple(int(part) for part in numbers[:3] if part.isdigit())
