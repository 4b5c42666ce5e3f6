"""Does a series drift? Theil–Sen slope whose interval respects that neighbours depend on each other.

Sen's (1968) interval comes from Kendall's variance, which assumes independent values. With an autocorrelation φ of
lag 1 that variance is multiplied by (1 + φ) / (1 − φ), its value for an AR(1) process and many values (Yue and Wang
2004). φ is that of the residuals, corrected for the bias of a short series by + (1 + 3 φ) / n (Kendall 1954), and
never below 0.

A slope that chance explains is not yet a steady series. The smallest drift that shows with 95% power is (z + 1.645)
standard errors, z that of the interval; where that is more than COARSEST of the start, nothing was found and nothing is
excluded: the verdict is "undecided". No test does much better there: of an AR(1) series of 600 values with φ = 0.8 and
15% scatter, the best test at 1% that knows φ and the form finds a drift of 20% in 64% of runs, in 99% of 1,800
values (docs/measurement.md).

Values are first averaged into at most 80 blocks of equal time: what remains of the dependence is mild, and single
outliers weigh little. What breaks it: a memory longer than a block or two, as of a queue near saturation; then φ
comes near 1 and the answer is None.
"""

from __future__ import annotations

from dataclasses import dataclass
from statistics import NormalDist
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

MOST_BLOCKS = 80
FEWEST_BLOCKS = 10
MOST_DEPENDENCE = 0.93
POWER_Z = 1.645
COARSEST = 0.20

Verdict = Literal["drifts", "steady", "undecided"]


@dataclass(frozen=True)
class Drift:
    """Slope per second with its interval; `start` and `end`: values of the line at the first and last moment, the least
    value where all are above 0 and the line is not; `dependence`: φ of the block means; `blocks`: how many."""

    slope: float
    low: float
    high: float
    confidence: float
    start: float
    end: float
    span_s: float
    dependence: float
    blocks: int

    @property
    def significant(self) -> bool:
        """Whether the interval excludes 0."""
        return self.low > 0 or self.high < 0

    @property
    def share(self) -> float:
        """Change over the span ÷ the value at its start (÷ a tenth of the middle where the line starts below that)."""
        return self.slope * self._scale

    @property
    def share_interval(self) -> tuple[float, float]:
        """The interval of `share`."""
        return self.low * self._scale, self.high * self._scale

    @property
    def smallest_detectable(self) -> float:
        """The `share` that a series like this one shows with 95% power."""
        z = NormalDist().inv_cdf(0.5 + self.confidence / 2)
        low, high = self.share_interval
        return (high - low) / 2 * (1 + POWER_Z / z)

    @property
    def verdict(self) -> Verdict:
        """Drifts beyond chance; or not, in a series that would have shown a drift of COARSEST; or neither is known."""
        if self.significant:
            return "drifts"
        return "steady" if self.smallest_detectable <= COARSEST else "undecided"

    @property
    def _scale(self) -> float:
        base = max(self.start, 0.1 * abs(self.start + self.end) / 2)
        return self.span_s / base if base > 0 else 0.0


def drift(seconds: ArrayLike, values: ArrayLike, confidence: float = 0.99) -> Drift | None:
    """Drift of `values` at `seconds`, both of shape (n,); NaN is left out.

    None where it cannot be told: fewer than 10 blocks with values, a dependence that reaches beyond the blocks, or one
    that leaves so few independent values that not even the steepest slopes bound it.
    """
    at, series = _blocks(np.asarray(seconds, dtype=float), np.asarray(values, dtype=float))
    count = series.size
    if count < FEWEST_BLOCKS:
        return None
    first, second = np.triu_indices(count, k=1)
    slopes = np.sort((series[second] - series[first]) / (at[second] - at[first]))
    slope = float(np.median(slopes))
    offset = float(np.median(series - slope * at))
    phi = dependence(series - offset - slope * at)
    if phi > MOST_DEPENDENCE:
        return None
    variance = count * (count - 1) * (2 * count + 5) / 18 * (1 + phi) / (1 - phi)
    spread = NormalDist().inv_cdf(0.5 + confidence / 2) * np.sqrt(variance)
    low = int(np.floor((slopes.size - spread) / 2))
    high = int(np.ceil((slopes.size + spread) / 2))
    if low < 0 or high >= slopes.size:
        return None
    span = float(at[-1] - at[0]) * count / (count - 1)
    begin = float(at[0]) - span / count / 2
    least = float(series.min())
    ends = (offset + slope * begin, offset + slope * (begin + span))
    start, end = (least if one <= 0 < least else one for one in ends)
    return Drift(
        slope=slope,
        low=float(slopes[low]),
        high=float(slopes[high]),
        confidence=confidence,
        start=start,
        end=end,
        span_s=span,
        dependence=phi,
        blocks=count,
    )


def dependence(residuals: ArrayLike) -> float:
    """Autocorrelation of lag 1 of shape (n,), bias-corrected, within [0, 1]."""
    rest = np.asarray(residuals, dtype=float)
    rest = rest - rest.mean()
    whole = float(rest @ rest)
    if whole <= 0 or rest.size < 4:
        return 0.0
    phi = float(rest[1:] @ rest[:-1]) / whole
    return float(min(1.0, max(0.0, phi + (1 + 3 * phi) / rest.size if phi > 0 else 0.0)))


def _blocks(at: NDArray[np.float64], values: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Means of at most MOST_BLOCKS stretches of equal time: (middle, mean) of those with values."""
    known = np.isfinite(values) & np.isfinite(at)
    at, values = at[known], values[known]
    if at.size < FEWEST_BLOCKS:
        return at, values
    edges = np.linspace(at.min(), np.nextafter(at.max(), np.inf), min(MOST_BLOCKS, at.size) + 1)
    place = np.clip(np.searchsorted(edges, at, side="right") - 1, 0, edges.size - 2)
    counts = np.bincount(place, minlength=edges.size - 1)
    filled = counts > 0
    sums = np.bincount(place, weights=values, minlength=edges.size - 1)
    middles = np.bincount(place, weights=at, minlength=edges.size - 1)
    return middles[filled] / counts[filled], sums[filled] / counts[filled]
