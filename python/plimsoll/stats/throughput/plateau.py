"""Capacity as seen from overload: while work waits, the target finishes as much as it can.

A step that ends with a growing queue measures the capacity directly: completions ÷ time, with the relative standard
deviation √(noise ÷ completions), where noise is the variance per completion (1 for exponential service). Estimates
of several steps are pooled with inverse-variance weights. What all of them may err by alike, as where work is told by
shares that are not known well, does not become less by pooling.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from statistics import NormalDist


@dataclass(frozen=True)
class Plateau:
    """A capacity estimate in units of level, with its relative standard deviation (> 0); `common`: the part of it that
    all estimates of a run share."""

    level: float
    relative_sd: float
    common: float = 0.0

    @property
    def sd(self) -> float:
        """Standard deviation in units of level."""
        return self.level * self.relative_sd


def plateau(done: float, seconds: float, rate_per_level_s: float, noise: float, common: float = 0.0) -> Plateau | None:
    """Estimate from `done` completions in `seconds` of uninterrupted work; None below 10 completions.

    `rate_per_level_s`: arrivals per second at level 1; `common`: relative standard deviation that all estimates share.
    """
    if done < 10 or seconds <= 0 or rate_per_level_s <= 0:
        return None
    return Plateau(done / seconds / rate_per_level_s, math.hypot(common, math.sqrt(noise / done)), common)


def capacity_interval(
    estimate: Plateau, good: float, bad: float, rate_relative_sd: float = 0.0, confidence: float = 0.95
) -> tuple[float, float]:
    """Interval of the capacity in units of level: normal in its log, and no wider than the bracket [good, bad].

    `rate_relative_sd`: of the arrival rate at level 1 where it was measured and not declared. Simulated coverage at a
    nominal 95% is in docs/measurement.md and held by tests/accuracy.
    """
    z = NormalDist().inv_cdf(0.5 + confidence / 2)
    factor = math.exp(z * math.hypot(estimate.relative_sd, rate_relative_sd))
    return max(good, estimate.level / factor), min(bad, estimate.level * factor)


def pool(estimates: Iterable[Plateau]) -> Plateau | None:
    """Inverse-variance mean of the estimates, in the log of the level; None without any."""
    parts = list(estimates)
    if not parts:
        return None
    total = math.fsum(1 / part.relative_sd**2 for part in parts)
    weighted = [(1 / part.relative_sd**2 / total, part) for part in parts]
    mean = math.fsum(weight * math.log(part.level) for weight, part in weighted)
    alone = math.fsum(weight**2 * (part.relative_sd**2 - part.common**2) for weight, part in weighted)
    common = math.fsum(weight * part.common for weight, part in weighted)
    return Plateau(math.exp(mean), math.sqrt(alone + common**2), common)
