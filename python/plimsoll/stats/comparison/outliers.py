"""Values far from the rest: the generalized extreme Studentized deviate test (Rosner 1983), which several do not mask.

Assumes that the rest are normal; the chance to name any of them wrongly is `alpha`.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike

FEWEST = 6


def outliers(values: ArrayLike, alpha: float = 0.01) -> list[int]:
    """Places of the outliers among `values`, shape (n,), ascending; at most a quarter of them, none below six."""
    from scipy.stats import t as student

    series = np.asarray(values, dtype=float)
    count = series.size
    if count < FEWEST:
        return []
    left = np.arange(count)
    taken: list[int] = []
    found = 0
    for removed in range(1, count // 4 + 1):
        rest = series[left]
        sd = float(rest.std(ddof=1))
        if sd <= 1e-12 * max(1.0, float(np.abs(rest).max())):
            break
        distances = np.abs(rest - rest.mean())
        worst = int(distances.argmax())
        deviate = float(distances[worst]) / sd
        size = rest.size
        quantile = float(student.ppf(1 - alpha / (2 * size), size - 2))
        critical = (size - 1) * quantile / math.sqrt((size - 2 + quantile**2) * size)
        taken.append(int(left[worst]))
        left = np.delete(left, worst)
        if deviate > critical:
            found = removed
    return sorted(taken[:found])
