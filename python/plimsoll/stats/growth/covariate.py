"""Does an operation cost more as the data grows? Linear regression of what a resource did on load and data volume.

By the utilisation law U = U₀ + X D (Lazowska et al. 1984, ch. 3), and D may depend on the volume V:

    cores = a + b X + c X v + d X²        v = V / V at the start − 1

c / b is the relative change of the demand per operation when the data doubles; the t-test of c says whether chance
explains it. Its interval is that of a ratio (Fieller 1954): all r for which c − r b lies within t standard deviations
of 0, those of c and b and their covariance, so that it excludes 0 where the test does. The square takes what the load
itself does to the demand, as later steps hold higher loads. Steps weigh by length ÷ X, as CPU time scatters
like a Poisson count of operations.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

FEWEST_STEPS = 8
SIGNIFICANCE = 0.01


@dataclass(frozen=True)
class DemandChange:
    """`per_doubling`: relative change of the demand per operation when the volume doubles, with its 99% interval;
    `p`: probability of as much by chance; `significant`: p below 1%."""

    per_doubling: float
    low: float
    high: float
    p: float

    @property
    def significant(self) -> bool:
        """Whether chance is no explanation."""
        return self.p < SIGNIFICANCE


def demand_change(
    cores: ArrayLike, per_s: ArrayLike, volume: ArrayLike, seconds: ArrayLike, start: float
) -> DemandChange | None:
    """Fit steps of shape (n,): cores used, operations per second, data volume, length; `start`: volume to compare with.

    None where it cannot be told: fewer than eight steps, no growth, growth that cannot be kept apart from the load, or
    a demand that may be nothing, so that its relative change has no bounds.
    """
    from scipy.stats import t as student

    used, rate, data, length = (np.asarray(values, dtype=float) for values in (cores, per_s, volume, seconds))
    if used.size < FEWEST_STEPS or start <= 0 or np.ptp(data) <= 0:
        return None
    design = np.column_stack([np.ones_like(rate), rate, rate * (data / start - 1), rate**2])
    weight = np.sqrt(length / np.maximum(rate, 1e-9))
    weighted = design * weight[:, None]
    scaled = weighted / np.linalg.norm(weighted, axis=0)
    if np.linalg.cond(scaled) > 1e6:
        return None
    freedom = used.size - design.shape[1]
    inverse = np.linalg.inv(weighted.T @ weighted)
    found = inverse @ weighted.T @ (used * weight)
    rest = used * weight - weighted @ found
    covariance = inverse[1:3, 1:3] * float(rest @ rest) / freedom
    demand, change = float(found[1]), float(found[2])
    within = float(student.ppf(1 - SIGNIFICANCE / 2, freedom))
    interval = _ratio_interval(change, demand, covariance[::-1, ::-1], within)
    if demand <= 0 or interval is None:
        return None
    sd = math.sqrt(max(covariance[1, 1], 0.0))
    p = 2 * float(student.sf(abs(change) / sd, freedom)) if sd > 0 else 0.0
    return DemandChange(change / demand, *interval, p)


def _ratio_interval(
    above: float, below: float, covariance: NDArray[np.float64], within: float
) -> tuple[float, float] | None:
    """All r with |above − r below| ≤ within standard deviations (Fieller 1954); `covariance` of shape (2, 2). None
    where the divisor may be 0."""
    square = below**2 - within**2 * covariance[1, 1]
    if square <= 0:
        return None
    middle = above * below - within**2 * covariance[0, 1]
    last = above**2 - within**2 * covariance[0, 0]
    half = math.sqrt(max(middle**2 - square * last, 0.0))
    return float((middle - half) / square), float((middle + half) / square)
