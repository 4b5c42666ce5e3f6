"""Cells of tables with their units: "350 ms", "1.2s", "78.64%", "130.5 MB", "1,664".

A comma separates thousands, a point the fraction. Where the file's own separator is ; or a tab, as programs write CSV
in countries whose fractions have a comma, "1,350" could be either, and is refused.

A cell is a number and a unit, which may stand in the column's heading instead: never in neither, never one in the
heading and another in the cell. Two units in one column are a mistake of the table, as nobody can tell which cells lack
theirs.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from typing import Literal

from plimsoll.runs.importers.source import BadRecord

Dimension = Literal["time", "share", "bytes", "rate", "count"]
# unit → (dimension, factor to ms, share, bytes, per s)
UNITS: dict[str, tuple[Dimension, float]] = {
    "ns": ("time", 1e-6), "us": ("time", 1e-3), "µs": ("time", 1e-3), "μs": ("time", 1e-3), "ms": ("time", 1.0),
    "msec": ("time", 1.0), "s": ("time", 1e3), "sec": ("time", 1e3), "secs": ("time", 1e3), "seconds": ("time", 1e3),
    "m": ("time", 6e4), "min": ("time", 6e4), "h": ("time", 3.6e6),
    "%": ("share", 0.01), "percent": ("share", 0.01), "share": ("share", 1.0), "ratio": ("share", 1.0),
    "b": ("bytes", 1.0), "bytes": ("bytes", 1.0), "kb": ("bytes", 1e3), "mb": ("bytes", 1e6), "gb": ("bytes", 1e9),
    "kib": ("bytes", 2.0**10), "mib": ("bytes", 2.0**20), "gib": ("bytes", 2.0**30),
    "/s": ("rate", 1.0), "per s": ("rate", 1.0), "per second": ("rate", 1.0), "req/s": ("rate", 1.0),
    "requests/s": ("rate", 1.0), "rps": ("rate", 1.0), "tps": ("rate", 1.0), "1/s": ("rate", 1.0),
    "/min": ("rate", 1 / 60), "per min": ("rate", 1 / 60), "per minute": ("rate", 1 / 60), "rpm": ("rate", 1 / 60),
    "/h": ("rate", 1 / 3600), "per h": ("rate", 1 / 3600), "per hour": ("rate", 1 / 3600),
}  # fmt: skip
MISSING = ("", "-", "--", "–", "—", "n/a", "na", "none", "null", "n.a.", "?")
LARGEST = 1e15
_DIGITS = re.compile(r"[+-]?(\d[\d.,]*)", re.ASCII)
_THOUSANDS = re.compile(r"[1-9]\d{0,2}(?:,\d{3})+", re.ASCII)
_CELL = re.compile(r"^([+-]?(?:\d{1,3}(?:,\d{3})+|\d+)?(?:\.\d*)?(?:[eE][+-]?\d+)?)\s*(.*)$", re.ASCII)


class UnknownUnit(BadRecord):
    """A unit that is none of UNITS."""


@dataclass(frozen=True)
class Quantity:
    """A number as written and its unit as written, lower case; the unit is empty where the cell has none."""

    value: float
    unit: str


def quantity(cell: str, column: str, delimiter: str = ",") -> Quantity | None:
    """The number and unit of a cell of a file whose cells are parted by `delimiter`; None where nothing was published.
    BadRecord for what is no number, NaN, negative or gigantic, or has a decimal comma or what may be one."""
    text = cell.strip()
    if text.lower() in MISSING:
        return None
    if text.lower().lstrip("+-") in ("nan", "inf", "infinity"):
        raise BadRecord(f"{text!r} is no number that says anything", column, "Leave the cell empty if it is not known.")
    _check_comma(text, column, delimiter)
    found = _CELL.match(text)
    number = found.group(1).replace(",", "") if found else ""
    try:
        value = float(number)
    except ValueError:
        raise BadRecord(f"{text[:40]!r} is no number", column, "Leave the cell empty if it is not known.") from None
    if value < 0:
        raise BadRecord(f"{text!r} is negative", column, "Leave the cell empty if it is not known.")
    if not math.isfinite(value) or value > LARGEST:
        raise BadRecord(f"{text[:40]!r} is larger than anything measured can be", column, "Correct it.")
    assert found is not None
    return Quantity(value, found.group(2).strip().lower())


def _check_comma(text: str, column: str, delimiter: str) -> None:
    found = _DIGITS.match(text)
    if found is None or "," not in found.group(1):
        return
    digits, point, fraction = found.group(1).partition(".")
    if "," in fraction or not _THOUSANDS.fullmatch(digits):
        raise BadRecord(f"{text[:40]!r} has a decimal comma", column, "Write it with a point.")
    if delimiter in ";\t" and digits.count(",") == 1 and not point:
        what = f"{text[:40]!r} is {digits.replace(',', '.')} or {digits.replace(',', '')}: its comma can mean both"
        raise BadRecord(what, column, "Write fractions with a point, and thousands without a separator.")


def whole(value: float, cell: str, column: str) -> int:
    """A count. BadRecord for one with a fraction, which may be thousands separated by a point."""
    if value != int(value):
        what = f"{cell.strip()!r} is no whole number"
        raise BadRecord(what, column, "Write counts without a fraction, and thousands without a point.")
    return int(value)


def rounded_by(cell: str) -> float:
    """By how much a cell that `quantity` reads may be rounded, in its own unit: half of its last digit. The zeros that
    end a whole number may be none that were measured: half of the digit before them, but at most 5% of the number."""
    found = _CELL.match(cell.strip())
    assert found is not None
    digits, _, power = found.group(1).replace(",", "").lower().partition("e")
    integer, point, fraction = digits.partition(".")
    if point or power:
        return float(f"0.5e{power or 0}") / 10.0 ** len(fraction)
    zeros = len(integer) - len(integer.rstrip("0"))
    return max(0.5, min(0.5 * 10.0**zeros, 0.05 * float(integer)))


def factor_of(unit: str, dimension: Dimension, column: str) -> float:
    """What to multiply with for ms, a share, bytes or per s. BadRecord for an unknown unit or one of another kind."""
    known = UNITS.get(unit.strip().lower())
    if known is None:
        raise UnknownUnit(f"the unit {unit!r} is not known", column, f"Use {_some(dimension)}.")
    if known[0] != dimension:
        raise BadRecord(f"{unit!r} is a unit of {known[0]}, but a {dimension} is wanted", column, "Correct it.")
    return known[1]


def _some(dimension: Dimension) -> str:
    return " or ".join({"time": ("ms", "s"), "share": ("%", "share"), "rate": ("/s", "/h")}.get(dimension, ("MB", "B")))
