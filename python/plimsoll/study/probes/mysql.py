"""A MariaDB or MySQL database that is watched beside the load, as an entry of the study's `probes.mysql`."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import ClassVar
from urllib.parse import parse_qsl, unquote, urlsplit

from pydantic import Field

from plimsoll.study.probes.dsn import DsnOptions

PORT = 3306
_URL = re.compile(r"^(?:mysql|mariadb)://[^\s/?#]*(?:/[^\s?#]*)?(?:\?\S*)?$")
_OPTIONS = {"unix_socket", "ssl_ca"}


class MysqlOptions(DsnOptions):
    """Where the database is and what reports call it. `dsn` is never written to a run."""

    forms: ClassVar[str] = "Write env:NAME of an environment variable, or mysql://user@host:3306/database."
    scheme: ClassVar[str] = "mysql"

    dsn: str = Field(
        description="env:NAME of an environment variable that holds it, or mysql://user@host:3306/database"
    )

    @classmethod
    def mistake_of(cls, text: str) -> str | None:
        """See DsnOptions."""
        if not _URL.match(text):
            return "this is no DSN of MariaDB or MySQL"
        try:
            parts = urlsplit(text)
            port = parts.port
        except ValueError:
            return "the port of the DSN is no number from 1 to 65535"
        if port == 0:
            return "the port of the DSN is no number from 1 to 65535"
        unknown = sorted({name for name, _ in parse_qsl(parts.query, keep_blank_values=True)} - _OPTIONS)
        if unknown:
            return (
                f"the DSN has {', '.join(unknown)[:60]}, which is no option of it ({', '.join(sorted(_OPTIONS))} are)"
            )
        if "unix_socket" not in parts.query and not parts.hostname:
            return "the DSN names no host"
        return None


def parts_of_dsn(dsn: str) -> dict[str, str | int]:
    """host, port, user, password, database, unix_socket and ssl_ca, those that a URL has."""
    parts = urlsplit(dsn)
    found: dict[str, str | int] = {
        "host": parts.hostname or "",
        "port": parts.port or PORT,
        "user": unquote(parts.username or ""),
        "password": unquote(parts.password or ""),
        "database": unquote(parts.path.lstrip("/")),
        **dict(parse_qsl(parts.query)),
    }
    return {name: value for name, value in found.items() if value != ""}


def secrets_of_mysql(dsn: str) -> Iterator[str]:
    """What of a DSN must appear nowhere: itself where it has a password, and the password in both spellings."""
    password = urlsplit(dsn).password
    if password:
        yield from (dsn, password, unquote(password))
