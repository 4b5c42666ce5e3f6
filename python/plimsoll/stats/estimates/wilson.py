"""Wilson's interval of a share (Wilson 1927; Brown, Cai and DasGupta 2001 recommend it for small samples)."""

from __future__ import annotations

import math
from dataclasses import dataclass
from statistics import NormalDist


@dataclass(frozen=True)
class Interval:
    """Closed interval; `confidence` in (0, 1)."""

    low: float
    high: float
    confidence: float


def wilson_interval(successes: float, trials: float, confidence: float = 0.95) -> Interval:
    """Interval of successes ÷ trials; [0, 1] without trials. Both may be effective sample sizes (Kish 1965), which are
    seldom whole. ValueError outside 0 ≤ successes ≤ trials."""
    if not 0 <= successes <= trials:
        raise ValueError(f"{successes} successes of {trials} trials is impossible")
    if trials == 0:
        return Interval(0.0, 1.0, confidence)
    z = NormalDist().inv_cdf(0.5 + confidence / 2)
    share, weight = successes / trials, z * z / trials
    centre = (share + weight / 2) / (1 + weight)
    half = z * math.sqrt(share * (1 - share) / trials + weight / (4 * trials)) / (1 + weight)
    low = max(0.0, centre - half) if successes else 0.0  # exactly, where rounding would leave 1e-17
    high = min(1.0, centre + half) if successes < trials else 1.0
    return Interval(low, high, confidence)
