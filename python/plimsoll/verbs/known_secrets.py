"""What a verb must write nowhere: the secrets in what it was given, and in the environment of this process."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from typing import Any

from plimsoll.study import Redactor


def redactor_of(told: Mapping[str, Any], env: Mapping[str, str], secrets: Iterable[str] = ()) -> Redactor:
    """A redactor that knows the secrets of what was told (study, target, commands), of the script's variables, those
    that are given, and those of environment variables."""
    return Redactor.for_data({**told, "env": dict(env), "secrets": list(secrets)}, environment=os.environ)
