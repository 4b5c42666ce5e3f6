"""How many pairs settle a comparison: the power of the paired t-test (Cohen 1988, ch. 2; by the noncentral t)."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

POWER = 0.80
MOST_PAIRS = 100_000
MOST_DIFFERENCE = math.log(100.0)
USUAL_SCATTER = 0.03  # of a pair's ratio: trials of 10 s scatter by 2% (docs/measurement.md, "How well")
FEWEST_TO_KNOW = 5  # pairs, below which their own scatter is hardly known: of two it may be a sixteenth of what it is
_STEPS = 512


def power_of_pairs(pairs: int, effect: float, sd: float, alpha: float) -> float:
    """Chance that `pairs` show a true difference of logarithms `effect` where one pair scatters by `sd`; two-sided."""
    from scipy.stats import chi2, norm
    from scipy.stats import t as student

    if pairs < 2:
        return 0.0
    if sd <= 0:
        return 1.0 if effect else alpha
    freedom = pairs - 1
    critical = float(student.ppf(1 - alpha / 2, freedom))
    shift = abs(effect) / sd * math.sqrt(pairs)
    # The noncentral t as a normal over the square root of a chi-square: scipy's own is NaN for some large shifts.
    scatter = np.sqrt(chi2.ppf((np.arange(_STEPS) + 0.5) / _STEPS, freedom) / freedom)
    return float((norm.cdf(shift - critical * scatter) + norm.cdf(-shift - critical * scatter)).mean())


def pairs_to_tell(effect: float, sd: float, alpha: float, power: float = POWER) -> int | None:
    """Fewest pairs that show the difference `effect` (of logarithms) with that power; None beyond MOST_PAIRS."""
    if effect == 0:
        return None
    return _fewest(lambda pairs: power_of_pairs(pairs, effect, sd, alpha) >= power)


def pairs_to_call_same(effect: float, margin: float, sd: float, alpha: float, power: float = POWER) -> int | None:
    """Fewest pairs whose interval of confidence 1 − alpha lies within ± margin (logarithms) with about that power if
    the true difference is `effect`; None where that lies outside, or beyond MOST_PAIRS."""
    room = margin - abs(effect)
    if room <= 0:
        return None
    # Each side must hold: with a difference near 0 both can fail, and half of the missing power is theirs each.
    share = power if abs(effect) > margin / 3 else (1 + power) / 2
    return _fewest(lambda pairs: power_of_pairs(pairs, room, sd, alpha) >= share)


def scatter_to_plan_by(sd: float, pairs: int) -> float:
    """The scatter for a further comparison, by that of so many pairs: of few, no less than is usual."""
    return sd if pairs >= FEWEST_TO_KNOW else max(sd, USUAL_SCATTER)


def difference_told(pairs: int, sd: float, alpha: float, power: float = POWER) -> float | None:
    """The smallest difference (of logarithms) that so many pairs show with that power; None beyond MOST_DIFFERENCE."""
    low, high = 0.0, MOST_DIFFERENCE
    if power_of_pairs(pairs, high, sd, alpha) < power:
        return None
    while high - low > 1e-4:
        middle = (low + high) / 2
        low, high = (low, middle) if power_of_pairs(pairs, middle, sd, alpha) >= power else (middle, high)
    return high


def _fewest(enough: Callable[[int], bool]) -> int | None:
    high = 2
    while not enough(high):
        high *= 2
        if high > MOST_PAIRS:
            return None
    low = high // 2
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if enough(middle) else (middle, high)
    return max(2, high)
