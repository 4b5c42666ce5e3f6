"""A MariaDB or MySQL database that is watched beside the load, as an entry of the study's `probes.mysql`."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from urllib.parse import parse_qsl, unquote, urlsplit

from pydantic import BaseModel, ConfigDict, Field, field_validator
from pydantic_core import PydanticCustomError

from plimsoll.errors import InputError

ENVIRONMENT = "env:"
FORMS = "Write env:NAME of an environment variable, or mysql://user@host:3306/database."
PORT = 3306
_URL = re.compile(r"^(?:mysql|mariadb)://[^\s/?#]*(?:/[^\s?#]*)?(?:\?\S*)?$")
_VARIABLE = re.compile(r"^env:[A-Za-z_][A-Za-z0-9_]*$")
_OPTIONS = {"unix_socket", "ssl_ca"}


def is_dsn(text: str) -> bool:
    """Whether the text has one of the FORMS, without asking any server."""
    return bool(_VARIABLE.match(text)) or _mistake_of_url(text) is None


def _mistake_of_url(text: str) -> str | None:
    """What is wrong with a URL, without repeating any of it that may be secret; None if nothing is."""
    if not _URL.match(text):
        return "this is no DSN of MariaDB or MySQL"
    try:
        parts = urlsplit(text)
        port = parts.port
    except ValueError:
        return "the port of the DSN is no number up to 65535"
    if port == 0:
        return "the port of the DSN is no number from 1"
    unknown = sorted({name for name, _ in parse_qsl(parts.query, keep_blank_values=True)} - _OPTIONS)
    if unknown:
        return f"the DSN has {', '.join(unknown)[:60]}, which is no option of it ({', '.join(sorted(_OPTIONS))} are)"
    if "unix_socket" not in parts.query and not parts.hostname:
        return "the DSN names no host"
    return None


class MysqlOptions(BaseModel):
    """Where the database is and what reports call it. `dsn` is never written to a run."""

    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)

    dsn: str = Field(
        description="env:NAME of an environment variable that holds it, or mysql://user@host:3306/database"
    )
    label: str = Field(default="db", min_length=1, description="what reports call it")

    @field_validator("dsn")
    @classmethod
    def _is_readable(cls, text: str) -> str:
        mistake = None if _VARIABLE.match(text) else _mistake_of_url(text)
        if mistake is not None:  # the text is not repeated: it may hold a password
            raise PydanticCustomError("dsn", "{what}", {"what": mistake, "next_step": FORMS})
        return text

    def resolved(self, environment: Mapping[str, str] = os.environ, *, key: str | None = None) -> str:
        """The DSN itself; InputError where its environment variable is missing or holds none."""
        if not self.dsn.startswith(ENVIRONMENT):
            return self.dsn
        name = self.dsn.removeprefix(ENVIRONMENT)
        if not environment.get(name):
            raise InputError(f"there is no environment variable {name}", f"export {name}=mysql://…", key=key)
        mistake = _mistake_of_url(environment[name])
        if mistake is not None:
            raise InputError(f"the environment variable {name}: {mistake}", FORMS, key=key)
        return environment[name]


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
