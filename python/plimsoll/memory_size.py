"""Sizes of memory and of disks as flags and environment variables state them: 256MB, 1.5 GiB, 2TB."""

from __future__ import annotations

import os
import re

from plimsoll.errors import InputError

_BYTES = {
    "": 1, "B": 1, "KB": 10**3, "MB": 10**6, "GB": 10**9, "TB": 10**12,
    "KIB": 2**10, "MIB": 2**20, "GIB": 2**30, "TIB": 2**40,
}  # fmt: skip
_MOST_BYTES = 2**48


def memory_size(text: str, flag: str) -> int:
    """The bytes that a text like 256MB or 1.5GiB means. Raises InputError that names the flag."""
    return _size(text, f"{flag} {text[:60]}: not a size of memory", "256MB")


def disk_size(text: str, flag: str) -> int:
    """The same of room on a disk, as 5GB or 2TB."""
    return _size(text, f"{flag} {text[:60]}: not a size", "5GB")


def _size(text: str, what: str, example: str) -> int:
    parts = re.fullmatch(r"(\d+(?:\.\d+)?)\s*([a-zA-Z]*)", text.strip())
    unit = _BYTES.get(parts[2].upper()) if parts else None
    if parts is None or unit is None:
        raise InputError(what, f"Write a number and kB, MB, GB, TB, KiB, MiB, GiB or TiB, as in {example}.")
    if not 1 <= float(parts[1]) * unit <= _MOST_BYTES:
        raise InputError(f"{what} between 1 byte and {_MOST_BYTES >> 40} TiB", f"Write one, as in {example}.")
    return int(float(parts[1]) * unit)


def memory_of_environment(variable: str, default_bytes: int) -> int:
    """What an environment variable states, or the default where it is not set. Raises InputError that names it."""
    text = os.environ.get(variable)
    return memory_size(text, variable) if text else default_bytes
