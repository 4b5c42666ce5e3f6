"""Numbers, times and levels as people read them; every function is total: what it cannot say becomes "–"."""

from __future__ import annotations

import math
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any, TypeGuard

from plimsoll import words

NOTHING = "–"
VERDICT_WORDS = {
    "good": "carried",
    "bad": "not carried",
    "undecided": "undecided",
    "probe": "range finding",
    "behind": "fell behind in a short step",
    "expected": "held for objectives",
    "met": "met",
    "passed": "passed",
    "failed": "failed",
    "mixed": "mixed: its repeats disagree",
    "unknown": "not judged",
    "rises": "throughput rises",
    "flat": "no more throughput",
    "failing": "too many fail",
}
VERDICT_SIGNS = {"good": "✓", "met": "✓", "passed": "✓", "bad": "✗", "failed": "✗", "failing": "✗"}
ONE_OF_UNITS = {"users": "user", "VUs": "VU", "connections": "connection"}
LEVEL_UNITS = {"users": "users", "multiple": "× declared load", "vus": "VUs", "connections": "connections"}


def is_number(value: Any) -> TypeGuard[float]:
    """True for a finite int or float; bool is not a number here."""
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)


def number(value: Any, digits: int = 3) -> str:
    """Value to `digits` significant digits with thousands separators; whole digits are never rounded away."""
    if not is_number(value):
        return NOTHING
    return words.number(value, digits)


def percent(ratio: Any) -> str:
    """A ratio as a percentage: 0.683 -> "68%", below 10% with two digits."""
    return words.share_words(ratio) if is_number(ratio) else NOTHING


def duration(seconds: Any) -> str:
    """Seconds as "45 s", "2 min 5 s" or "3 h 20 min"."""
    return words.time_words(seconds) if is_number(seconds) else NOTHING


def milliseconds(value_ms: Any) -> str:
    """Milliseconds as "340 ms" or "2.1 s"."""
    return words.ms_words(value_ms) if is_number(value_ms) else NOTHING


def size(count_bytes: Any) -> str:
    """Bytes with a binary unit: 1.5e8 -> "143 MiB"."""
    return words.size_words(count_bytes) if is_number(count_bytes) else NOTHING


def moment(unix_s: Any) -> str:
    """Seconds since 1970 as "2026-09-21 14:13:20 UTC"."""
    if not is_number(unix_s):
        return NOTHING
    try:
        return datetime.fromtimestamp(unix_s, tz=UTC).strftime("%Y-%m-%d %H:%M:%S UTC")
    except (OverflowError, OSError, ValueError):
        return NOTHING


def level_unit(manifest: Mapping[str, Any]) -> str:
    """The words after a level: "users", "VUs", "× declared load", or what the levels of a table are ("processors")."""
    return unit_words(manifest.get("level_unit"), "users")


def unit_words(unit: Any, otherwise: str) -> str:
    """The words of a level's unit; `otherwise` for what is none."""
    return LEVEL_UNITS.get(unit, unit) if isinstance(unit, str) and unit else otherwise


def level(value: Any, unit: str) -> str:
    """A level with its unit: "7,000 users", "1 user", "1.5 × declared load"."""
    return (
        NOTHING if not is_number(value) else f"{number(value)} {ONE_OF_UNITS.get(unit, unit) if value == 1 else unit}"
    )


def objective(text: Any) -> str:
    """An objective as people write it: "p90<=1000ms" -> "p90 ≤ 1,000 ms"."""
    whole = str(text)
    for sign, shown in (("<=", " ≤ "), (">=", " ≥ "), ("<", " < "), (">", " > ")):
        left, found, right = whole.partition(sign)
        if found:
            return f"{left.strip()}{shown}{_amount(right.strip())}"
    return whole


def _amount(text: str) -> str:
    digits = text.rstrip("abcdefghijklmnopqrstuvwxyz% ")
    unit = text[len(digits) :].strip()
    try:
        return f"{number(float(digits), 6)}{'' if unit == '%' else ' '}{unit}".strip()
    except ValueError:
        return text


def verdict(value: Any) -> str:
    """A verdict with its sign, so that it reads without colour: "✓ carried"."""
    key = str(value or "unknown")
    return f"{VERDICT_SIGNS.get(key, '')} {VERDICT_WORDS.get(key, key)}".strip()


def headroom(ratio: Any) -> str:
    """Room over the expected load: 0.68 -> "68% more than expected"; negative -> "32% less than expected"."""
    if not is_number(ratio):
        return NOTHING
    return f"{percent(abs(ratio))} {'more' if ratio >= 0 else 'less'} than expected"


def section(document: Mapping[str, Any], key: str) -> Mapping[str, Any]:
    """The part `key` of a finding, a manifest or a study; empty where it is missing, null or no mapping."""
    found = document.get(key)
    return found if isinstance(found, Mapping) else {}
