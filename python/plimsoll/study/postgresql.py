"""A PostgreSQL database that is watched beside the load, as an entry of the study's `probes.postgresql`."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from urllib.parse import unquote

from pydantic import BaseModel, ConfigDict, Field, field_validator
from pydantic_core import PydanticCustomError

from plimsoll.errors import InputError

ENVIRONMENT = "env:"
FORMS = "Write env:NAME of an environment variable, postgresql://user@host/database, or host=… dbname=… user=…."
_URL = re.compile(r"^postgres(?:ql)?://\S+$")
_WORDS = re.compile(r"^\s*\w+\s*=\s*('(?:[^'\\]|\\.)*'|[^\s']\S*)(\s+\w+\s*=\s*('(?:[^'\\]|\\.)*'|[^\s']\S*))*\s*$")
_VARIABLE = re.compile(r"^env:[A-Za-z_][A-Za-z0-9_]*$")
_URL_PASSWORD = re.compile(r"^[a-z]+://[^:/@\s]*:(?P<password>[^\s]*)@")
_WORD_PASSWORD = re.compile(r"password\s*=\s*(?:'(?P<quoted>(?:[^'\\]|\\.)*)'|(?P<bare>[^\s'&]+))")


def is_dsn(text: str) -> bool:
    """Whether the text has one of the FORMS, without asking any server."""
    return bool(_VARIABLE.match(text) or _URL.match(text) or _WORDS.match(text))


class PostgresqlOptions(BaseModel):
    """Where the database is and what reports call it. `dsn` is never written to a run."""

    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)

    dsn: str = Field(description="env:NAME of an environment variable that holds it, a URL, or words as libpq takes")
    label: str = Field(default="db", min_length=1, description="what reports call it")

    @field_validator("dsn")
    @classmethod
    def _is_readable(cls, text: str) -> str:
        if not is_dsn(text):  # the text is not repeated: it may hold a password
            what = "this is no DSN of PostgreSQL"
            raise PydanticCustomError("dsn", "{what}", {"what": what, "next_step": FORMS})
        return text

    def resolved(self, environment: Mapping[str, str] = os.environ, *, key: str | None = None) -> str:
        """The DSN itself; InputError where its environment variable is missing or holds none."""
        if not self.dsn.startswith(ENVIRONMENT):
            return self.dsn
        name = self.dsn.removeprefix(ENVIRONMENT)
        if not environment.get(name):
            raise InputError(f"there is no environment variable {name}", f"export {name}=postgresql://…", key=key)
        text = environment[name]
        if not is_dsn(text) or text.startswith(ENVIRONMENT):
            raise InputError(f"the environment variable {name} holds no DSN of PostgreSQL", FORMS, key=key)
        return text


def secrets_of_dsn(dsn: str) -> Iterator[str]:
    """What of a DSN must appear nowhere: itself where it has a password, and the password in both spellings."""
    for pattern in (_URL_PASSWORD, _WORD_PASSWORD):
        found = pattern.search(dsn)
        if found is not None:
            password = next(value for value in found.groups() if value is not None)
            yield from (dsn, password, unquote(password), re.sub(r"\\(.)", r"\1", password))
