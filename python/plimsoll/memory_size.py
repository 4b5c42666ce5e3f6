"""Sizes of memory as flags and environment variables state them: 256MB, 1.5 GiB."""

from __future__ import annotations

import os
import re

from plimsoll.errors import InputError

_BYTES = {"": 1, "B": 1, "KB": 10**3, "MB": 10**6, "GB": 10**9, "KIB": 2**10, "MIB": 2**20, "GIB": 2**30}
_MOST_BYTES = 2**48


def memory_size(text: str, flag: str) -> int:
    """The bytes that a text like 256MB or 1.5GiB means. Raises InputError that names the flag."""
    parts = re.fullmatch(r"(\d+(?:\.\d+)?)\s*([a-zA-Z]*)", text.strip())
    unit = _BYTES.get(parts[2].upper()) if parts else None
    if parts is None or unit is None or not 1 <= float(parts[1]) * unit <= _MOST_BYTES:
        raise InputError(
            f"{flag} {text[:60]}: not a size of memory", "Write a number and KB, MB, GB, KiB, MiB or GiB, as in 256MB."
        )
    return int(float(parts[1]) * unit)


def memory_of_environment(variable: str, default_bytes: int) -> int:
    """What an environment variable states, or the default where it is not set. Raises InputError that names it."""
    text = os.environ.get(variable)
    return memory_size(text, variable) if text else default_bytes
