"""When a quantile may be judged: from 20 samples beyond it, a rule of our own.

Requests of one run are not independent, so as many samples are the least that a judgement needs and no proof of it;
stats/estimates/block_quantile.py has the interval that respects their dependence.
"""

from __future__ import annotations

import math

SAMPLES_BEYOND = 20.0


def samples_needed(quantile: float) -> int:
    """Fewest samples that let `quantile` in [0, 1) be judged: 20 ÷ (1 − q), so that 20 lie beyond it."""
    if not 0 <= quantile < 1:
        raise ValueError(f"a quantile lies in [0, 1), got {quantile}")
    return math.ceil(SAMPLES_BEYOND / (1 - quantile) - 1e-9)
