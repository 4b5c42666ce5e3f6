"""What entries of a study share that name a database: a DSN, or the environment variable that holds it."""

from __future__ import annotations

import os
import re
from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import ClassVar

from pydantic import BaseModel, ConfigDict, Field, field_validator
from pydantic_core import PydanticCustomError

from plimsoll.errors import InputError

ENVIRONMENT = "env:"
_VARIABLE = re.compile(r"^env:[A-Za-z_][A-Za-z0-9_]*$")


class DsnOptions(BaseModel, ABC):
    """Where a database is and what reports call it. `dsn` is never written to a run."""

    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)

    forms: ClassVar[str]
    """How to write one, for messages."""
    scheme: ClassVar[str]

    dsn: str
    label: str = Field(default="db", min_length=1, description="what reports call it")

    @classmethod
    @abstractmethod
    def mistake_of(cls, text: str) -> str | None:
        """What is wrong with a DSN, without repeating any of it that may be secret; None if nothing is."""

    @classmethod
    def is_dsn(cls, text: str) -> bool:
        """Whether the text has one of the forms, without asking any server."""
        return bool(_VARIABLE.match(text)) or cls.mistake_of(text) is None

    @field_validator("dsn", "trial_dsn", check_fields=False)
    @classmethod
    def _is_readable(cls, text: str | None) -> str | None:
        if text is None:
            return None
        mistake = None if _VARIABLE.match(text) else cls.mistake_of(text)
        if mistake is not None:  # the text is not repeated: it may hold a password
            raise PydanticCustomError("dsn", "{what}", {"what": mistake, "next_step": cls.forms})
        return text

    def resolved(self, environment: Mapping[str, str] = os.environ, *, key: str | None = None) -> str:
        """The DSN itself; InputError where its environment variable is missing or holds none."""
        return self._resolved(self.dsn, environment, key)

    def _resolved(self, text: str, environment: Mapping[str, str], key: str | None) -> str:
        if not text.startswith(ENVIRONMENT):
            return text
        name = text.removeprefix(ENVIRONMENT)
        if not environment.get(name):
            raise InputError(f"there is no environment variable {name}", f"export {name}={self.scheme}://…", key=key)
        mistake = self.mistake_of(environment[name])
        if mistake is not None:
            raise InputError(f"the environment variable {name}: {mistake}", self.forms, key=key)
        return environment[name]
