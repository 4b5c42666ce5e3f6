"""The seconds of a load in columns of bounded length, for charts: where there are too many, two become one."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from statistics import fmean
from typing import Any

MOST_POINTS = 1200
Values = Sequence[float | None]


def _mean(values: Values) -> float | None:
    known = [one for one in values if one is not None and math.isfinite(one)]
    return fmean(known) if known else None


def _most(values: Values) -> float | None:
    return max((one for one in values if one is not None and math.isfinite(one)), default=None)


def _last(values: Values) -> float | None:
    return values[-1]


# What a column is called on the page, and how seconds of it become one point: rates are averaged, times keep their
# highest.
COLUMNS: dict[str, Callable[[Values], float | None]] = {
    "second": _last,
    "done": _mean,
    "planned": _mean,
    "failed": _mean,
    "level": _last,
    "p50": _most,
    "p95": _most,
    "target": _mean,
    "generator": _mean,
}


class Course:
    """`each_s` seconds are a point. `number` counts the points that were ever added: it goes up by one with a point,
    and everything changes when `each_s` does."""

    def __init__(self) -> None:
        self.each_s = 1
        self.number = 0
        self._columns: dict[str, list[float | None]] = {name: [] for name in COLUMNS}
        self._open: list[dict[str, float | None]] = []

    def add(self, second: dict[str, float | None]) -> None:
        """One second, by names of columns."""
        self._open.append(second)
        if len(self._open) < self.each_s:
            return
        for name, merge in COLUMNS.items():
            self._columns[name].append(_short(merge([one.get(name) for one in self._open])))
        self._open.clear()
        self.number += 1
        if len(self._columns["second"]) >= MOST_POINTS:
            self._halve()

    def whole(self) -> dict[str, Any]:
        """All points."""
        return {"each_s": self.each_s, "columns": {name: list(values) for name, values in self._columns.items()}}

    def since(self, number: int) -> dict[str, Any]:
        """The points that were added after there were `number`."""
        count = self.number - number
        columns = {name: values[len(values) - count :] for name, values in self._columns.items()}
        return {"each_s": self.each_s, "columns": columns}

    def _halve(self) -> None:
        self.each_s *= 2
        for name, merge in COLUMNS.items():
            values = self._columns[name]
            self._columns[name] = [_short(merge(values[at : at + 2])) for at in range(0, len(values), 2)]


def _short(value: float | None) -> float | None:
    """As many digits as a chart shows."""
    return None if value is None or not math.isfinite(value) else float(f"{value:.6g}")
