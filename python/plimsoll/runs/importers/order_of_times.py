"""Times of one row rise from the minimum over the percentiles to the maximum, and their mean lies between the two ends.

Times that do not are no times of one load: columns were exchanged, or a cell is wrong, and what is judged by them would
be made of air. Every source of statistics is checked here. Numbers that may be the same before they were rounded are no
mistake: a number may be off by half of its last digit, "1300" by half of a hundred or 5%, as Locust prints 1,260 ms.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import combinations

from plimsoll.runs.importers.source import BadRecord
from plimsoll.runs.importers.units import rounded_by

# Tools' own estimates differ by this: wrk2's histogram says 12.36 ms at 100%, and a maximum of 12.34 ms.
ESTIMATED = 0.002


@dataclass(frozen=True)
class Stated:
    """A statistic as the source states it: its column or key, the text there, and what it is in ms.

    `unit_ms`: how many ms one of the text is, where that may be rounded; 0 where the source states all digits.
    """

    column: str
    text: str
    value_ms: float
    unit_ms: float = 0.0

    @property
    def slack_ms(self) -> float:
        """By how much it may differ from what was measured."""
        rounding = rounded_by(self.text) * self.unit_ms if self.unit_ms else 0.0
        return rounding + ESTIMATED * self.value_ms


def check_order(times: Mapping[str, Stated]) -> None:
    """BadRecord if statistics named as in a row ("min", "p50", "max", "mean", …) cannot be of the same times."""
    rising = sorted((place, name) for name in times if (place := _place(name)) is not None)
    pairs = list(combinations([name for _, name in rising], 2))
    if "mean" in times:
        pairs += [pair for pair in (("min", "mean"), ("mean", "max")) if set(pair) <= set(times)]
    wrong = dict.fromkeys(name for pair in pairs if _falls(*(times[name] for name in pair)) for name in pair)
    if wrong:
        told = ", ".join(f"{times[name].column} is {times[name].text[:40]}" for name in wrong)
        step = "Correct it, or leave out what is not known. Are two columns exchanged?"
        raise BadRecord(f"{told}: times rise from min over p50, p90, … to max, and their mean lies between", None, step)


def _place(name: str) -> float | None:
    """Where a statistic stands among those that rise; None if it is none of them."""
    if name in ("min", "max"):
        return -1.0 if name == "min" else 101.0
    share = name.removeprefix("p")
    return float(share) if share != name and share.replace(".", "", 1).isdecimal() else None


def _falls(low: Stated, high: Stated) -> bool:
    return low.value_ms > high.value_ms and low.value_ms - low.slack_ms > high.value_ms + high.slack_ms
