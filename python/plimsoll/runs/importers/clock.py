"""Points in time as tools write them, as seconds since 1970."""

from __future__ import annotations

import math
import re
from datetime import UTC, datetime

from plimsoll.runs.importers.plain_numbers import integer, real
from plimsoll.runs.importers.source import BadRecord
from plimsoll.words import time_words

EARLIEST_S, LATEST_S = 631_152_000.0, 4_102_444_800.0  # 1990 to 2100
COARSEST_S = 1.0
_POWER = re.compile(r"\d(?:\.(\d+))?[eE]\+?(\d{1,2})")
_LAYOUTS = ("%Y/%m/%d %H:%M:%S.%f", "%Y/%m/%d %H:%M:%S", "%d/%m/%Y %H:%M:%S", "%m/%d/%y %H:%M:%S")
_LONG_FRACTION = re.compile(r"(\.\d{6})\d+")
# The unit of a bare number follows from its size: a time of this century in s, ms, µs or ns.
_DIVISORS = (1.0, 1e3, 1e6, 1e9)


def milliseconds(text: str, column: str) -> float:
    """Milliseconds since 1970, as seconds."""
    _check_rounding(text, column)
    try:
        seconds = integer(text) / 1000
    except (ValueError, OverflowError):
        seconds = moment(text, column, "ms since 1970")
    if not EARLIEST_S <= seconds <= LATEST_S:
        raise BadRecord(f"{text[:40]!r} is no time in ms since 1970", column, _use("ms since 1970"))
    return seconds


def moment(text: str, column: str = "time", numbers: str = "seconds or ms since 1970") -> float:
    """Seconds since 1970 from a number (s, ms, µs or ns by its size) or an ISO date; without a zone it is UTC."""
    text = text.strip()
    try:
        value = real(text)
    except ValueError:
        return _date(text, column, numbers)
    _check_rounding(text, column)
    for divisor in _DIVISORS:
        if math.isfinite(value) and EARLIEST_S <= value / divisor <= LATEST_S:
            return value / divisor
    raise _outside(text, column)


def _check_rounding(text: str, column: str) -> None:
    """BadRecord for 1.76E+12, as spreadsheets write times: what is left of it is no second."""
    found = _POWER.fullmatch(text.strip())
    if found is None:
        return
    value, step = float(text), 10.0 ** (int(found.group(2)) - len(found.group(1) or ""))
    divisor = next((one for one in _DIVISORS if EARLIEST_S <= value / one <= LATEST_S), 1.0)
    if step / divisor > COARSEST_S:
        what = f"{text.strip()[:40]!r} was rounded to {time_words(step / divisor)}, as spreadsheets do"
        raise BadRecord(what, column, "Give the file that the tool wrote, not one that a spreadsheet saved.")


def _outside(text: str, column: str) -> BadRecord:
    return BadRecord(f"{text[:40]!r} is no time between 1990 and 2100", column)


def _use(numbers: str) -> str:
    return f"Use {numbers}, or 2026-11-22T05:14:00Z."


def _date(text: str, column: str, numbers: str) -> float:
    try:
        at = datetime.fromisoformat(_LONG_FRACTION.sub(r"\1", text))
    except ValueError:
        at = None  # type: ignore[assignment]
        for layout in _LAYOUTS:
            try:
                at = datetime.strptime(text, layout)
                break
            except ValueError:
                continue
    if at is None:
        raise BadRecord(f"{text[:40]!r} is no time", column, _use(numbers))
    seconds = (at if at.tzinfo else at.replace(tzinfo=UTC)).timestamp()
    if not EARLIEST_S <= seconds <= LATEST_S:
        raise _outside(text, column)
    return seconds
