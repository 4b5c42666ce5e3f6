"""A duration with its unit: "90s", "5m", "1h30m", as k6 and Go write it. A bare number is refused, as a reader must not
guess whether it means seconds or minutes."""

from __future__ import annotations

import math
import re

from plimsoll.errors import InputError
from plimsoll.study.bounds import MOST_SECONDS
from plimsoll.words import count_words

_SECONDS_PER = {"ms": 1e-3, "s": 1.0, "m": 60.0, "min": 60.0, "h": 3600.0, "d": 86_400.0}
_PART = r"(\d+(?:\.\d+)?)\s*(ms|s|min|m|h|d)"
_WHOLE = re.compile(rf"\s*(?:{_PART}\s*)+")
_LONGEST_TEXT = 100


def parse_duration(
    text: str, name: str = "the duration", *, bare_s: bool = False, most_s: float = MOST_SECONDS
) -> float:
    """Seconds above 0, at most `most_s`: 30 days, as of a load. `bare_s`: a number without a unit means seconds, where
    it always has. Raises InputError, which names `name` unless that is empty."""
    given = str(text).strip()
    about = f"{name}: " if name else ""
    if len(given) > _LONGEST_TEXT:
        raise InputError(f"{about}{given[:20]!r}… is not a duration", "Write it like 90s, 5m or 1h30m.")
    try:
        number = float(given)
    except ValueError:
        number = None
    is_known = math.isfinite(number) if number is not None else _WHOLE.fullmatch(given)
    if not is_known:
        raise InputError(f"{about}{given!r} is not a duration", "Write it like 90s, 5m or 1h30m.")
    if number is not None and not bare_s and number != 0:
        raise InputError(f"{about}{given!r} has no unit", f"Write {given}s, {given}m or {given}h.")
    seconds = number
    if seconds is None:
        seconds = sum(float(amount) * _SECONDS_PER[unit] for amount, unit in re.findall(_PART, given))
    if not seconds > 0:
        raise InputError(f"{about}{given!r} is no time at all", "Give a duration above zero, as in 5m.")
    if seconds > most_s:
        raise InputError(
            f"{about}{given!r} is over {count_words(most_s / 86_400)} days", "Give a shorter time, as in 5m."
        )
    return seconds
