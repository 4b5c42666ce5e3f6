"""How much memory or disk something takes, as load, time or the number of items grows.

With load:   M = M₀ + m X + g t by least squares over the steps (X throughput, t when), Student's t for the slopes. A
             run tries loads in an order of its own, so that what grows with time can be told from what grows with load
             from FEWEST_FOR_TIME steps on; below that there is no g, and from FEWEST_LEVELS loads on an m. Loads that
             rise with time all along (correlation above MOST_TOGETHER) do not tell the two apart.
With items:  the mean of the increments between readings, each per item that came in between, and Student's t of their
             scatter. Increments and not a line: readings of a process's memory wander, so that a line's residuals are
             not independent and its interval is too narrow.

What breaks it: allocators that keep what they freed, caches that fill up to a limit, and readings that are rarer than
what they measure. A growth of less than LEAST_SHARE of the size over what was measured is called none.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

FEWEST_LEVELS, FEWEST_FOR_TIME = 3, 6
MOST_TOGETHER = 0.98
LEAST_SPREAD = 1.25
FEWEST_INCREMENTS = 3
MOST_INCREMENTS = 10
LEAST_SHARE = 0.02
CONFIDENCE = 0.95
Array = NDArray[np.float64]


@dataclass(frozen=True)
class WithLoad:
    """`kind`: "none" (neither load nor time matters), "load", "time" (it grew whatever the load), "unknown" (too few
    loads, or it grew as load rose with time). `highest`: the most that was read; `over_time`: what it grew by in all,
    where kind is "time"."""

    kind: Literal["none", "load", "time", "unknown"]
    highest: float
    over_time: float = 0.0
    _found: tuple[float, float] = (0.0, 0.0)
    _covariance: tuple[tuple[float, float], tuple[float, float]] = ((0.0, 0.0), (0.0, 0.0))
    _t: float = 0.0

    def at(self, per_s: float) -> tuple[float, tuple[float, float]] | None:
        """(size, its interval) at a throughput; None unless kind is "load"."""
        if self.kind != "load":
            return None
        row = np.array([1.0, per_s])
        value = float(row @ np.array(self._found))
        half = self._t * float(np.sqrt(row @ np.array(self._covariance) @ row))
        return max(0.0, value), (max(0.0, value - half), value + half)


@dataclass(frozen=True)
class PerItem:
    """`per_item` more for each item, with its 95% `interval`, from `increments` readings between `from_items` and
    `to_items`; `last`: the last reading."""

    per_item: float
    interval: tuple[float, float]
    increments: int
    from_items: float
    to_items: float
    last: float


def are_different_loads(per_s: ArrayLike) -> bool:
    """Whether throughputs of shape (n,) are of at least FEWEST_LEVELS loads, and not of one that scatters."""
    rate = np.asarray(per_s, dtype=float)
    return np.unique(rate).size >= FEWEST_LEVELS and float(rate.max()) >= LEAST_SPREAD * float(rate.min())


def with_load(size: ArrayLike, per_s: ArrayLike, when_s: ArrayLike) -> WithLoad:
    """Sizes of shape (n,), n ≥ 1, at throughputs `per_s` in steps at `when_s`."""
    found, rate, when = (np.asarray(one, dtype=float) for one in (size, per_s, when_s))
    highest = float(found.max())
    if not are_different_loads(rate):
        return WithLoad("unknown", highest)
    has_time = found.size >= FEWEST_FOR_TIME
    together = has_time and abs(float(np.corrcoef(rate, when)[0, 1])) > MOST_TOGETHER
    has_time = has_time and not together
    columns = [np.ones_like(rate), rate] + ([when - when.max()] if has_time else [])
    design = np.column_stack(columns)
    values, _, rank, _ = np.linalg.lstsq(design, found, rcond=None)
    freedom = found.size - design.shape[1]
    if rank < design.shape[1] or freedom < 1:
        return WithLoad("unknown", highest)
    rest = found - design @ values
    covariance = np.linalg.inv(design.T @ design) * max(float(rest @ rest) / freedom, (1e-6 * highest) ** 2)
    t = _t(freedom)
    low = values - t * np.sqrt(np.diag(covariance))
    span = float(when.max() - when.min())
    if has_time and low[2] > 0 and values[2] * span > LEAST_SHARE * highest:
        return WithLoad("time", highest, float(values[2]) * span)
    if low[1] <= 0 or values[1] * float(np.ptp(rate)) <= LEAST_SHARE * highest:
        return WithLoad("none", highest)
    if together:
        return WithLoad("unknown", highest)
    top = covariance[:2, :2]
    pair = ((float(top[0, 0]), float(top[0, 1])), (float(top[1, 0]), float(top[1, 1])))
    return WithLoad("load", highest, 0.0, (float(values[0]), float(values[1])), pair, t)


def per_item(items: ArrayLike, size: ArrayLike) -> PerItem | None:
    """From readings of shape (n,) of the number of items and the size. None below FEWEST_INCREMENTS increments."""
    count, found = np.asarray(items, dtype=float), np.asarray(size, dtype=float)
    order = np.argsort(count, kind="stable")
    count, found = count[order], found[order]
    if count.size < 2 or count[-1] <= count[0]:
        return None
    wanted = np.linspace(count[0], count[-1], min(MOST_INCREMENTS, count.size - 1) + 1)
    places = np.unique(np.searchsorted(count, wanted).clip(0, count.size - 1))
    came = np.diff(count[places])
    grew = np.diff(found[places])[came > 0]
    came = came[came > 0]
    if came.size < FEWEST_INCREMENTS:
        return None
    mean = float(grew.sum() / came.sum())
    spread = float(np.sqrt((came * (grew / came - mean) ** 2).sum() / (came.size - 1) / came.sum()))
    half = _t(came.size - 1) * spread
    return PerItem(
        mean, (mean - half, mean + half), int(came.size), float(count[0]), float(count[-1]), float(found[-1])
    )


def _t(freedom: int) -> float:
    from scipy.stats import t as student

    return float(student.ppf(0.5 + CONFIDENCE / 2, freedom))
