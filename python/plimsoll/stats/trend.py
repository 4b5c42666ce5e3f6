"""Slope of an evenly spaced series: Theil–Sen with Sen's (1968) interval from Kendall's variance.

Kendall's variance is for independent values without ties. So few pairwise slopes have no interval of high confidence:
below six values one of 99 % is narrower than it says.
"""

from __future__ import annotations

from dataclasses import dataclass
from statistics import NormalDist

import numpy as np
from numpy.typing import ArrayLike


@dataclass(frozen=True)
class Trend:
    """Change per step of the series, with the interval; rising means that the interval lies above 0."""

    slope: float
    low: float
    high: float

    @property
    def rising(self) -> bool:
        """Whether the whole interval is above zero."""
        return self.low > 0


def theil_sen(values: ArrayLike, confidence: float = 0.95) -> Trend:
    """Median of all pairwise slopes of `values`, shape (n,), per step; unbounded interval below four values.

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
    if count < 4:
        return Trend(slope, -np.inf, np.inf)
    z = NormalDist().inv_cdf(0.5 + confidence / 2)
    spread = z * np.sqrt(count * (count - 1) * (2 * count + 5) / 18)
    low = int(max(0, np.floor((slopes.size - spread) / 2)))
    high = int(min(slopes.size - 1, np.ceil((slopes.size + spread) / 2)))
    return Trend(slope, float(slopes[low]), float(slopes[high]))
