"""Many comparisons at once: which of them chance does not explain.

Holm (1979)                   family-wise: the chance of any false alarm among all
Benjamini, Hochberg (1995)    false discovery rate: the share of false alarms among those raised; where nothing
                              differs, the chance of any
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike


def holm_levels(p: ArrayLike, family: float, single: float) -> list[float]:
    """The level at which each p-value, shape (m,), is tested: rejected where it is at most its level.

    `family`: chance of any false alarm; `single`: no comparison is tested at more. The i-th smallest is tested at
    min(single, family ÷ (m − i + 1)), until the first that is not rejected; the others keep that one's level. Levels
    below Holm's keep the family's chance.
    """
    values = np.asarray(p, dtype=float)
    levels = [0.0] * values.size
    going, level = True, single
    for rank, place in enumerate(np.argsort(values, kind="stable")):
        if going:
            level = min(single, family / (values.size - rank))
            going = bool(values[place] <= level)
        levels[int(place)] = level
    return levels


def benjamini_hochberg_level(p: Sequence[float], rate: float) -> float:
    """The greatest level k·rate/m whose k smallest p-values are at most it; rate/m if there is none."""
    values = sorted(p)
    if not values:
        return rate
    count = len(values)
    passed = [rank for rank, value in enumerate(values, 1) if value <= rank * rate / count]
    return max(passed, default=1) * rate / count
