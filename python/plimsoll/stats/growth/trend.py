"""Slope of an evenly spaced series: Theil–Sen with Sen's (1968) interval, which the ranks of the pairwise slopes bound.

The slope lies between the k-th slope from below and the k-th from above unless fewer than k of Kendall's (1938) pairs
are in disorder, or in order. Up to MOST_EXACT values the chance of that is counted, beyond it is normal with Kendall's
variance; both are for independent values without ties. So few pairs have no interval of high confidence: one of 95%
takes five values, one of 99% six. Below that the interval is unbounded, and nothing is called a trend.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from statistics import NormalDist

import numpy as np
from numpy.typing import ArrayLike

MOST_EXACT = 50


@dataclass(frozen=True)
class Trend:
    """Change per step of the series, with the interval, unbounded (−∞ to ∞) where so few values have none."""

    slope: float
    low: float
    high: float

    @property
    def rising(self) -> bool:
        """Whether the whole interval is above zero."""
        return self.low > 0


def theil_sen(values: ArrayLike, confidence: float = 0.95) -> Trend:
    """Median of all pairwise slopes of `values`, shape (n,), per step; its interval has at least that confidence.

    The interval assumes independent scatter around the line: read it as evidence beside others, for a queue's
    length wanders slowly.
    """
    series = np.asarray(values, dtype=float)
    count = series.size
    if count < 2:
        return Trend(0.0, -np.inf, np.inf)
    first, second = np.triu_indices(count, k=1)
    slopes = np.sort((series[second] - series[first]) / (second - first))
    slope = float(np.median(slopes))
    rank = _rank(count, confidence)
    if rank == 0:
        return Trend(slope, -np.inf, np.inf)
    return Trend(slope, float(slopes[rank - 1]), float(slopes[-rank]))


def _rank(count: int, confidence: float) -> int:
    """The greatest k for which fewer than k of the pairs are in disorder by chance in at most half of what the
    confidence leaves; 0 where even a series in perfect order is likelier than that."""
    tail = (1 - confidence) / 2
    if count > MOST_EXACT:
        sd = math.sqrt(count * (count - 1) * (2 * count + 5) / 18)
        return math.floor((count * (count - 1) / 2 + NormalDist().inv_cdf(tail) * sd) / 2)
    return int(np.searchsorted(np.cumsum(_disorder(count)), tail * (1 + 1e-12), side="right"))


def _disorder(count: int) -> np.ndarray:
    """Chance of 0, 1, 2 … pairs in disorder among so many values in random order (Kendall 1938)."""
    chances = np.ones(1)
    for place in range(2, count + 1):
        chances = np.convolve(chances, np.full(place, 1 / place))
    return chances
