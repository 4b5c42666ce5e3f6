"""When a quantile may be judged, and its interval by order statistics (Conover 1999, §3.2).

Requests of one run are not independent (METHODS, finding 3): the interval by ranks is too narrow near saturation and
is offered as a lower bound of the uncertainty, never as a proof.
"""

from __future__ import annotations

import math
from statistics import NormalDist

SAMPLES_BEYOND = 20.0


def samples_needed(quantile: float) -> int:
    """Fewest samples that let `quantile` in [0, 1) be judged: 20 ÷ (1 − q), so that 20 lie beyond it."""
    if not 0 <= quantile < 1:
        raise ValueError(f"a quantile lies in [0, 1), got {quantile}")
    return math.ceil(SAMPLES_BEYOND / (1 - quantile) - 1e-9)


def rank_bounds(samples: int, quantile: float, confidence: float = 0.95) -> tuple[float, float]:
    """Quantiles (low, high) in [0, 1] between whose sample values the true quantile lies, for independent samples."""
    if samples <= 0:
        return 0.0, 1.0
    z = NormalDist().inv_cdf(0.5 + confidence / 2)
    half = z * math.sqrt(quantile * (1 - quantile) / samples)
    return max(0.0, quantile - half), min(1.0, quantile + half)
