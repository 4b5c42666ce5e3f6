"""The objective language: one service-level objective in one short text.

    objective  = statistic comparison limit
    statistic  = "p" number | "median" | "mean" | "max" | "error_rate"
    comparison = "<=" | "<"
    limit      = number unit        times: us, ms, s, min; error_rate: % or a bare ratio

Examples: "p90<=1000ms", "p99.9 < 2s", "error_rate<=1%". A time without a unit is refused: the reader of a
report must never have to guess.
"""

from __future__ import annotations

import difflib
import re
from dataclasses import dataclass
from typing import Literal

from plimsoll.errors import InputError

Unit = Literal["ms", "ratio"]

_MILLISECONDS_PER = {"us": 1e-3, "µs": 1e-3, "ms": 1.0, "s": 1e3, "min": 6e4}
_NAMED_STATISTICS = ("median", "mean", "max", "error_rate")
_SAME_STATISTIC = {"avg": "mean", "med": "median", "average": "mean", "errors": "error_rate"}
_SHAPE = re.compile(
    r"^\s*([A-Za-z_]+[0-9.]*)\s*(<=|<|>=|>|==|=|≤)\s*([0-9]*\.?[0-9]+(?:[eE][+-]?[0-9]+)?)\s*([%A-Za-zµ]*)\s*$"
)
_EXAMPLE = "Write it like p90<=1000ms or error_rate<=1%."


@dataclass(frozen=True)
class Limit:
    """A parsed objective.

    `statistic`: "p90", "mean", "max" or "error_rate"; `quantile`: in (0, 1) for percentiles, else None;
    `limit`: milliseconds if `unit` is "ms", a share in [0, 1] if "ratio"; `inclusive`: "<=" rather than "<".
    """

    statistic: str
    limit: float
    unit: Unit
    quantile: float | None = None
    inclusive: bool = True

    def is_met_by(self, value: float) -> bool:
        """Whether `value`, in the unit of this limit, meets it. NaN never does."""
        return value <= self.limit if self.inclusive else value < self.limit

    def __str__(self) -> str:
        number = f"{self.limit:g}ms" if self.unit == "ms" else f"{100 * self.limit:g}%"
        return f"{self.statistic}{'<=' if self.inclusive else '<'}{number}"


def parse_objective(text: str) -> Limit:
    """Parse one objective; raises InputError without a place (the loader of the study adds it)."""
    match = _SHAPE.match(str(text))
    if match is None:
        raise InputError(f"cannot read the objective {text!r}", _EXAMPLE)
    statistic, comparison, number, unit = match.groups()
    if comparison in (">", ">=", "==", "="):
        raise InputError(
            f"the objective {text!r} compares with {comparison}, but an objective is an upper limit",
            "Use <= or <, as in p90<=1000ms.",
        )
    name, quantile = _statistic(statistic, text)
    inclusive = comparison != "<"
    if name == "error_rate":
        return Limit(name, _ratio(number, unit, text), "ratio", None, inclusive)
    return Limit(name, _milliseconds(number, unit, text), "ms", quantile, inclusive)


def _statistic(word: str, text: str) -> tuple[str, float | None]:
    lowered = word.lower()
    lowered = _SAME_STATISTIC.get(lowered, lowered)
    if lowered == "median":
        return "p50", 0.5
    if lowered in _NAMED_STATISTICS:
        return lowered, None
    percentile = re.fullmatch(r"p(\d+(?:\.\d+)?)", lowered)
    if percentile is None:
        near = difflib.get_close_matches(lowered, _NAMED_STATISTICS, n=1)
        raise InputError(
            f"the objective {text!r} names no known statistic ({word!r})",
            f"Did you mean {near[0]}?"
            if near
            else "Use p followed by a number (p90), median, mean, max or error_rate.",
        )
    percent = float(percentile.group(1))
    if not 0 < percent < 100:
        raise InputError(
            f"the objective {text!r} asks for percentile {percent:g}, which is not between 0 and 100",
            "Use a number between 0 and 100, or max.",
        )
    return f"p{percent:g}", percent / 100


def _milliseconds(number: str, unit: str, text: str) -> float:
    if not unit:
        raise InputError(f"the objective {text!r} has no unit of time", f"Write {text.strip()}ms or {text.strip()}s.")
    factor = _MILLISECONDS_PER.get(unit if unit == "µs" else unit.lower())
    if factor is None:
        raise InputError(f"the objective {text!r} has the unknown unit {unit!r}", "Use us, ms, s or min.")
    limit = float(number) * factor
    if limit <= 0:
        raise InputError(f"the objective {text!r} can never be met", "Give a limit above zero.")
    return limit


def _ratio(number: str, unit: str, text: str) -> float:
    if unit not in ("", "%"):
        raise InputError(
            f"the objective {text!r} has the unit {unit!r}, but an error rate is a share",
            "Use %, as in error_rate<=1%.",
        )
    ratio = float(number) / (100 if unit else 1)
    if ratio > 1:
        raise InputError(
            f"the objective {text!r} allows more errors than requests",
            f"Write {number}% for per cent." if not unit else "Use a share up to 100%.",
        )
    return ratio
