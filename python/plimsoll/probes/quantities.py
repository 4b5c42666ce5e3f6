"""Numbers with their units inside a text, as servers tell them: "130.5 MB", "78.64%", "1d 2h", "1,024", "350 ms".

A value of one place may come in another unit each time, so each kind has one unit of ours: bytes, share, s, per s. MB
is 10⁶ bytes and MiB 2²⁰ (IEC 80000-13), whatever a server may mean by it.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass

from plimsoll.runs.importers.units import UNITS

SUFFIX = {"bytes": "_bytes", "share": "_share", "time": "_s", "rate": "_per_s", "count": ""}
_MORE: dict[str, tuple[str, float]] = {
    "tb": ("bytes", 1e12), "tib": ("bytes", 2.0**40), "byte": ("bytes", 1.0), "kbytes": ("bytes", 1e3),
    "mbytes": ("bytes", 1e6), "gbytes": ("bytes", 1e9), "d": ("time", 8.64e7), "day": ("time", 8.64e7),
    "days": ("time", 8.64e7), "w": ("time", 6.048e8), "week": ("time", 6.048e8), "weeks": ("time", 6.048e8),
    "hour": ("time", 3.6e6), "hours": ("time", 3.6e6), "hr": ("time", 3.6e6), "hrs": ("time", 3.6e6),
    "minute": ("time", 6e4), "minutes": ("time", 6e4), "mins": ("time", 6e4), "second": ("time", 1e3),
    "millis": ("time", 1.0), "milliseconds": ("time", 1.0), "ops/s": ("rate", 1.0), "ops/sec": ("rate", 1.0),
    "/sec": ("rate", 1.0), "req/sec": ("rate", 1.0),
}  # fmt: skip
_NUMBER = r"[+-]?(?:\d{1,3}(?:,\d{3})+|\d+)(?:\.\d+)?(?:[eE][+-]?\d+)?|[+-]?\.\d+"
_ONE = re.compile(rf"^\s*({_NUMBER})\s*([^\d\s].*)?$")
_PARTS = re.compile(r"(\d+(?:\.\d+)?)\s*([A-Za-zµμ]+)[\s,]*")
_CLOCK = re.compile(r"^(?:(\d+)\s*d(?:ays?)?,?\s+)?(\d+):([0-5]\d)(?::([0-5]\d(?:\.\d+)?))?$")
_ISO = re.compile(r"^P(?:(\d+)D)?(?:T(?:(\d+)H)?(?:(\d+)M)?(?:(\d+(?:\.\d+)?)S)?)?$")
_LONGEST = 80


@dataclass(frozen=True)
class Amount:
    """A number in bytes, share, s or per s, by its kind; of kind "count" as written."""

    value: float
    kind: str


def amount_of(given: object) -> Amount | None:
    """What a value of a JSON document says; None for what is no finite number."""
    if isinstance(given, bool) or given is None:
        return None
    if isinstance(given, int | float):
        try:
            number = float(given)
        except OverflowError:
            return None
        return Amount(number, "count") if math.isfinite(number) else None
    if not isinstance(given, str) or len(given) > _LONGEST:
        return None
    return _of_text(given.strip())


def _of_text(text: str) -> Amount | None:
    found = _ONE.match(text)
    if found is not None:
        value, unit = float(found[1].replace(",", "")), (found[2] or "").strip().lower()
        if not math.isfinite(value):
            return None
        if not unit:
            return Amount(value, "count")
        kind, factor = _unit(unit)
        if kind:
            return Amount(value * factor, kind)
    return _duration(text)


def _unit(unit: str) -> tuple[str, float]:
    """Kind and factor to our unit of that kind; no kind where the unit is not known."""
    known = _MORE.get(unit) or UNITS.get(unit)
    if known is None:
        return "", 0.0
    kind, factor = known
    return str(kind), factor / 1000 if kind == "time" else factor


def _duration(text: str) -> Amount | None:
    """Several units together ("1d 2h 3m"), hours:minutes:seconds, or ISO 8601 ("PT1H2M")."""
    clock = _CLOCK.match(text)
    if clock is not None:
        days, hours, minutes, seconds = (float(part or 0) for part in clock.groups())
        return Amount(86_400 * days + 3_600 * hours + 60 * minutes + seconds, "time")
    iso = _ISO.match(text)
    if iso is not None and any(iso.groups()):
        days, hours, minutes, seconds = (float(part or 0) for part in iso.groups())
        return Amount(86_400 * days + 3_600 * hours + 60 * minutes + seconds, "time")
    total, place = 0.0, 0
    for part in _PARTS.finditer(text):
        kind, factor = _unit(part[2].lower())
        if part.start() != place or kind != "time":
            return None
        total, place = total + float(part[1]) * factor, part.end()
    return Amount(total, "time") if place == len(text) and place > 0 else None
