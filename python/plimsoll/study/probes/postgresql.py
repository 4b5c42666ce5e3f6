"""A PostgreSQL database that is watched beside the load, as an entry of the study's `probes.postgresql`."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from typing import ClassVar
from urllib.parse import unquote

from pydantic import Field

from plimsoll.study.probes.dsn import DsnOptions
from plimsoll.study.urls import MOST_PORT

_URL = re.compile(r"^postgres(?:ql)?://\S+$")
_WORDS = re.compile(r"^\s*\w+\s*=\s*('(?:[^'\\]|\\.)*'|[^\s']\S*)(\s+\w+\s*=\s*('(?:[^'\\]|\\.)*'|[^\s']\S*))*\s*$")
_URL_PASSWORD = re.compile(r"^[a-z]+://[^:/@\s]*:(?P<password>[^\s]*)@")
_WORD_PASSWORD = re.compile(r"password\s*=\s*(?:'(?P<quoted>(?:[^'\\]|\\.)*)'|(?P<bare>[^\s'&]+))")


class PostgresqlOptions(DsnOptions):
    """Where the database is and what reports call it. `dsn` is never written to a run."""

    forms: ClassVar[str] = (
        "Write env:NAME of an environment variable, postgresql://user@host/database, or host=… dbname=… user=…."
    )
    scheme: ClassVar[str] = "postgresql"

    dsn: str = Field(description="env:NAME of an environment variable that holds it, a URL, or words as libpq takes")
    trial_dsn: str | None = Field(
        default=None,
        description="a database of the same tables, a copy say, where index advice may make indexes to run statements "
        "with them; each is rolled back. Forms as of dsn",
    )

    def resolved_trial(self, environment: Mapping[str, str] = os.environ, *, key: str | None = None) -> str | None:
        """The trial_dsn itself, None without one; InputError where its environment variable holds none."""
        return None if self.trial_dsn is None else self._resolved(self.trial_dsn, environment, key)

    @classmethod
    def mistake_of(cls, text: str) -> str | None:
        """See DsnOptions."""
        if not (_URL.match(text) or _WORDS.match(text)):
            return "this is no DSN of PostgreSQL"
        return None if all(map(_is_port, _ports(text))) else "the port of the DSN is no number from 1 to 65535"


def _ports(dsn: str) -> Iterator[str]:
    """The ports that a DSN names; a URL may name one for each of several hosts."""
    if _URL.match(dsn):
        hosts = re.split(r"[/?#]", dsn.partition("://")[2].rpartition("@")[2], maxsplit=1)[0]
        yield from (port for host in hosts.split(",") for port in re.findall(r":([^:\]]+)$", host))
    words = re.findall(r"(?:^|[\s?&])port\s*=\s*'?([^\s'&]+)", dsn)
    yield from (port for word in words for port in word.split(",") if port)


def _is_port(text: str) -> bool:
    return bool(re.fullmatch(r"0*[1-9][0-9]{0,4}", text)) and int(text) <= MOST_PORT


def secrets_of_dsn(dsn: str) -> Iterator[str]:
    """What of a DSN must appear nowhere: itself where it has a password, and the password in both spellings."""
    for pattern in (_URL_PASSWORD, _WORD_PASSWORD):
        found = pattern.search(dsn)
        if found is not None:
            password = next(value for value in found.groups() if value is not None)
            yield from (dsn, password, unquote(password), re.sub(r"\\(.)", r"\1", password))
