"""Asymptotic bounds of throughput (Denning and Buzen 1978; Lazowska et al. 1984, ch. 5).

    X(N) ≤ min(1 / D_max, N / (D + Z))

D_max is the largest service demand of a resource, the whole of it being 1; D + Z the time that one user takes for a
round alone, think time included. N of users who wait for their answers; of arrivals only the first bound holds. They
need no distribution, but demands that do not change with load. The bounds meet at N* = (D + Z) / D_max.

Of levels of users the largest demand is known where throughput stopped rising, as the resource that limits then
finishes 1 / D_max, whichever it is (stats/throughput/knee.py pools that plateau and finds N*); or of a resource whose
use was measured. Intervals are of 95% and normal in the log: counts scatter as Poisson's, and 2% more is allowed for
what users wait for each other at light load and for a plateau that is only nearly reached.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from plimsoll.stats.throughput.knee import CLOSED_DOUBT, LIGHT_SHARE, WIDEST, Z_95, Knee, closed_knee, closed_plateau


@dataclass(frozen=True)
class Asymptotes:
    """`most_per_s` = 1 / D_max; `round_s` = D + Z and `crossing` = N* where users wait, else None."""

    most_per_s: float
    round_s: float | None = None
    crossing: float | None = None

    def bound(self, level: float) -> float:
        """The most throughput at that level."""
        return self.most_per_s if self.round_s is None else min(self.most_per_s, level / self.round_s)


def asymptotes(
    largest_demand_s: float, light_level: float | None = None, light_per_s: float | None = None
) -> Asymptotes:
    """From the largest demand in seconds of the whole resource, and throughput at a light level of users who wait,
    which gives D + Z by the response time law. ValueError for numbers that are not above 0."""
    if largest_demand_s <= 0 or (light_level is not None and (light_level <= 0 or not light_per_s or light_per_s <= 0)):
        raise ValueError("demand, level and throughput are above 0")
    most = 1 / largest_demand_s
    if light_level is None or light_per_s is None:
        return Asymptotes(most)
    round_s = light_level / light_per_s
    return Asymptotes(most, round_s, round_s * most)


@dataclass(frozen=True)
class Estimate:
    """A value with its 95% interval."""

    value: float
    low: float
    high: float

    def times(self, factor: Estimate) -> Estimate:
        """The product with an independent one."""
        value = self.value * factor.value
        down = math.hypot(math.log(self.value / self.low), math.log(factor.value / factor.low))
        up = math.hypot(math.log(self.high / self.value), math.log(factor.high / factor.value))
        return Estimate(value, value * math.exp(-down), value * math.exp(up))

    def inverse(self) -> Estimate:
        """One by it."""
        return Estimate(1 / self.value, 1 / self.high, 1 / self.low)


@dataclass(frozen=True)
class Bounds:
    """The asymptotes of users who wait, with intervals: `most_per_s` = 1 / D_max, `round_s` = D + Z of one user alone,
    and `crossing` = N* in users."""

    most_per_s: Estimate
    round_s: Estimate
    crossing: Estimate


def bounds_by_plateau(levels: ArrayLike, done: ArrayLike, seconds: ArrayLike) -> Bounds | None:
    """From the iterations `done` in `seconds` at levels (users), all of shape (n,), of which some reached the plateau.

    None where closed_knee cannot tell N*. The round's interval holds the plateau's doubt as well: it is N*'s."""
    knee = closed_knee(levels, done, seconds)
    if not isinstance(knee, Knee):
        return None
    count, span = np.asarray(done, dtype=float), np.asarray(seconds, dtype=float)
    plateau, at_plateau = closed_plateau(count[count > 0], span[count > 0])
    most = _estimate(plateau, at_plateau)
    low, high = knee.interval
    return Bounds(most, Estimate(knee.level / plateau, low / plateau, high / plateau), Estimate(knee.level, low, high))


def bounds_by_demand(levels: ArrayLike, done: ArrayLike, seconds: ArrayLike, most_per_s: Estimate) -> Bounds | None:
    """From what the resource of the largest demand could finish, and the lowest of the levels for the round.

    None where that level is too near to N* for users not to wait for each other, or counted too little."""
    at, count, span = (np.asarray(values, dtype=float) for values in (levels, done, seconds))
    lowest = at == at.min()
    light = float(count[lowest].sum())
    if light <= 0:
        return None
    round_s = _estimate(float(at.min() * span[lowest].sum()) / light, light)
    crossing = round_s.times(most_per_s)
    if at.min() > LIGHT_SHARE * crossing.value or crossing.high > WIDEST * crossing.low:
        return None
    return Bounds(most_per_s, round_s, crossing)


def _estimate(value: float, count: float) -> Estimate:
    factor = math.exp(Z_95 * math.hypot(1 / math.sqrt(count), CLOSED_DOUBT))
    return Estimate(value, value / factor, value * factor)
