"""Interval of a ratio of two sums over time, when what happens in a second depends on the seconds around it: batches.

A counter per second (its sum ÷ seconds) or per iteration, the mean of values (their sum ÷ their number) and a share
(passes ÷ all) are ratios of sums. The seconds are put into at most 40 batches of equal time; how these scatter around
the ratio gives its variance (ratio estimator, Cochran 1977 ch. 6; batch means, Law 2015 § 9.5.3), with the covariance
of neighbouring batches where it is positive. Where neighbours go together (correlation above 0.5), batches of twice the
length take their place as long as ten remain; else there is no interval, as with fewer than ten batches.

What is assumed: batches that are no neighbours do not go together, and the target was the same throughout. Quotients of
sums that cannot be negative have an interval that is normal in their logarithm, with Student's t of one degree less
than there are batches; shares have Wilson's for as many independent values as would scatter as much.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from plimsoll.stats.estimates.block_quantile import share_interval

Array = NDArray[np.float64]
MOST_BATCHES = 40
FEWEST_BATCHES = 10
MOST_LAG_ONE = 0.5


@dataclass(frozen=True)
class RatioInterval:
    """`value` with its interval, None where there is none and then `reason`; `batches`: of time that had values."""

    value: float
    low: float | None
    high: float | None
    batches: int
    reason: str = ""

    @property
    def interval(self) -> list[float] | None:
        """[low, high], or None."""
        return None if self.low is None or self.high is None else [self.low, self.high]


@dataclass(frozen=True)
class _Batches:
    tops: Array
    bottoms: Array

    @property
    def ratio(self) -> float:
        return float(self.tops.sum() / self.bottoms.sum())

    @property
    def filled(self) -> int:
        return int((self.bottoms > 0).sum())

    @property
    def neighbours(self) -> float:
        """Correlation of what neighbouring batches have beyond the ratio."""
        rest = self._rest()
        square = float(rest @ rest)
        return float(rest[1:] @ rest[:-1]) / square if square > 0 else 0.0

    @property
    def variance(self) -> float:
        """Of the ratio."""
        rest, count = self._rest(), self.tops.size
        square = float(rest @ rest) * count / (count - 1) * (1 + 2 * max(0.0, self.neighbours))
        return square / float(self.bottoms.sum()) ** 2

    def _rest(self) -> Array:
        rest = self.tops - self.ratio * self.bottoms
        # Sums of decimals that are exactly in proportion differ by rounding alone.
        return np.where(np.abs(rest) <= 1e-9 * np.abs(self.tops).max(initial=0.0), 0.0, rest)

    @property
    def reason(self) -> str:
        if self.filled < FEWEST_BATCHES:
            return f"only {self.filled} batches of time have values, {FEWEST_BATCHES} are needed"
        if self.neighbours > MOST_LAG_ONE:
            return "neighbouring batches go together: it was held too shortly for how long the target remembers"
        return ""


def ratio_interval(tops: ArrayLike, bottoms: ArrayLike, confidence: float = 0.95) -> RatioInterval | None:
    """Interval of Σ tops ÷ Σ bottoms, of consecutive seconds, both of shape (n,); None where nothing is below."""
    found = _batches(tops, bottoms)
    if found is None:
        return None
    value = found.ratio
    reason = found.reason or ("" if found.tops.any() else "nothing was counted")
    if reason:
        return RatioInterval(value, None, None, found.filled, reason)
    half = _student(found.filled, confidence) * math.sqrt(found.variance)
    if found.tops.min() < 0:
        return RatioInterval(value, value - half, value + half, found.filled)
    factor = math.exp(min(half / value, 700.0))
    return RatioInterval(value, value / factor, value * factor, found.filled)


def batched_share(passes: ArrayLike, totals: ArrayLike, confidence: float = 0.95) -> RatioInterval | None:
    """Interval of a share, passes of totals of consecutive seconds, both of shape (n,); None without any."""
    found = _batches(passes, totals)
    if found is None:
        return None
    share, count = found.ratio, float(found.bottoms.sum())
    if found.reason:
        return RatioInterval(share, None, None, found.filled, found.reason)
    variance = found.variance
    effective = min(count, share * (1 - share) / variance) if variance > 0 else count
    low, high = share_interval(share, effective, _student(found.filled, confidence))
    return RatioInterval(share, low, high, found.filled)


def _batches(tops: ArrayLike, bottoms: ArrayLike) -> _Batches | None:
    """At most MOST_BATCHES of equal time, and fewer where neighbours go together; None where nothing is below."""
    top, bottom = np.asarray(tops, dtype=float), np.asarray(bottoms, dtype=float)
    if not bottom.sum() > 0:
        return None
    size = math.ceil(top.size / MOST_BATCHES)
    found = _of_size(top, bottom, size)
    while found.filled and found.neighbours > MOST_LAG_ONE and top.size // (2 * size) >= FEWEST_BATCHES:
        size *= 2
        found = _of_size(top, bottom, size)
    return found


def _of_size(top: Array, bottom: Array, size: int) -> _Batches:
    """Batches of `size` seconds; the last takes what is left over."""
    starts = np.arange(max(1, top.size // size)) * size
    return _Batches(np.add.reduceat(top, starts), np.add.reduceat(bottom, starts))


def _student(batches: int, confidence: float) -> float:
    from scipy.special import stdtrit  # scipy.stats takes most of a second to import

    return float(stdtrit(batches - 1, 0.5 + confidence / 2))
