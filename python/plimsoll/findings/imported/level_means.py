"""The throughputs that are told of a curve: each a mean that was measured, told with what it is the mean of.

Levels are judged by a smoothed curve (stats/throughput/flattening.py). No number of that is told, as it is no level's.
What answer, facts, bounds and JSON tell is computed here, once.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import NormalDist

from plimsoll.stats.throughput.flattening import PLATEAU_SHARE

CHANCE = 0.001  # that a level of so many falls from the highest, or strays from their mean, by noise alone
UNEVEN = (
    1.25  # times Poisson's deviation: requests of several kinds on one server have a variance of 1.3 to 1.6 times it
)


@dataclass(frozen=True)
class LevelMean:
    """Throughput `per_s` of good answers at `level`, all that was measured there together; `relative_sd`: its scatter,
    where requests are counted; `seconds`: how long, where that is known."""

    level: float
    per_s: float
    relative_sd: float | None = None
    seconds: float | None = None

    @property
    def sd(self) -> float:
        """Its scatter per s, 0 where that is not known."""
        return self.per_s * (self.relative_sd or 0.0)


@dataclass(frozen=True)
class Plateau:
    """The mean `per_s` over the seconds of all levels from one on; `least` and `most` of the means of each."""

    levels: tuple[float, ...]
    per_s: float
    least: float
    most: float


def highest_of(means: Sequence[LevelMean]) -> LevelMean | None:
    """The level with the most throughput, the lowest of equal ones."""
    return max(means, key=lambda one: (one.per_s, -one.level), default=None)


def plateau_of(means: Sequence[LevelMean]) -> Plateau | None:
    """Of these levels, in order; each counts the same where it is not known of all how long it lasted."""
    if not means:
        return None
    known = all(one.seconds for one in means)
    weights = [one.seconds or 1.0 if known else 1.0 for one in means]
    mean = sum(weight * one.per_s for weight, one in zip(weights, means, strict=True)) / sum(weights)
    rates = [one.per_s for one in means]
    return Plateau(tuple(one.level for one in means), mean, min(rates), max(rates))


def fall_of(means: Sequence[LevelMean]) -> float | None:
    """By which share the throughput at the highest level is below the most at a lower one; None where it is not, or by
    no more than a plateau and chance explain."""
    top, last = highest_of(means), means[-1] if means else None
    if top is None or last is None or top.level >= last.level or last.per_s >= PLATEAU_SHARE * top.per_s:
        return None
    doubt = _border(len(means)) * (top.sd**2 + last.sd**2) ** 0.5
    return 1 - last.per_s / top.per_s if top.per_s - last.per_s > doubt else None


def is_level(means: Sequence[LevelMean]) -> bool:
    """Whether throughput is the same at all of them: each reaches PLATEAU_SHARE of the most, or strays from the mean of
    all by no more than chance explains."""
    whole = plateau_of(means)
    if whole is None or len(means) < 2 or whole.per_s <= 0:
        return False
    if whole.least >= PLATEAU_SHARE * whole.most:
        return True
    border = _border(len(means))
    return all(abs(one.per_s - whole.per_s) <= border * one.sd for one in means)


def _border(count: int) -> float:
    """Standard deviations of counts beyond which one of so many lies with CHANCE."""
    return UNEVEN * NormalDist().inv_cdf(1 - CHANCE / (2 * count))
