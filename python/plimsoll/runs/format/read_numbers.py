"""Numbers as they stand in the JSON of a run directory, which somebody may have changed: NaN, 1e300 and integers of a
thousand digits are JSON to Python, and no calendar, division or display takes them."""

from __future__ import annotations

from typing import Any

LATEST_UNIX = 253_402_300_799.0  # the last second of the year 9999, the last that a calendar shows
MOST_COUNTED = 1e18  # an hour of 10¹⁴/s: no run counts or lasts so much


def plausible(value: Any) -> float | None:
    """The number, if it is at most MOST_COUNTED either way, which NaN is not; else None."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return float(value) if abs(value) <= MOST_COUNTED else None


def moment(value: Any) -> float | None:
    """Unix seconds from 1970 to the year 9999; else None."""
    number = plausible(value)
    return number if number is not None and 0 <= number <= LATEST_UNIX else None
