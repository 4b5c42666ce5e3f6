"""The mean of a few independent values, with its interval: x̄ ± t(1 − α/2, n − 1) s/√n (Student 1908)."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike


def mean_interval(values: ArrayLike, alpha: float = 0.05) -> list[float]:
    """[low, high] of confidence 1 − alpha in the values' unit. `values`: shape (n,), n ≥ 2; ValueError for fewer."""
    from scipy.stats import t as student

    array = np.asarray(values, dtype=float)
    if array.ndim != 1 or array.size < 2:
        raise ValueError("an interval of a mean needs two values at least")
    half = float(student.ppf(1 - alpha / 2, array.size - 1)) * float(array.std(ddof=1)) / math.sqrt(array.size)
    return [float(array.mean()) - half, float(array.mean()) + half]
