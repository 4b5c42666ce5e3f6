"""Did values become greater? The rank test of two samples (Mann and Whitney 1947), of histograms.

The chance that a value of the second sample exceeds one of the first, ties counted half, is U ÷ (n m); its z is
against equal samples, with the variance that ties leave (Lehmann 1975, ch. 1). It asks nothing of the values' form, so
that a few very large ones weigh no more than others. What breaks it: values that depend on each other, as those of
requests that wait in one queue.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike


@dataclass(frozen=True)
class RankShift:
    """`chance`: that a value after exceeds one before, 0.5 where neither is greater; `z`: of its distance from 0.5."""

    chance: float
    z: float


def rank_shift(
    values_before: ArrayLike, counts_before: ArrayLike, values_after: ArrayLike, counts_after: ArrayLike
) -> RankShift:
    """From each sample's distinct values in order, shape (k,), and how often each was seen, shape (k,). Both samples
    need a value."""
    first, second = np.asarray(values_before), np.asarray(values_after)
    values = np.union1d(first, second)
    before, after = np.zeros(values.size), np.zeros(values.size)
    before[np.searchsorted(values, first)] = counts_before
    after[np.searchsorted(values, second)] = counts_after
    n, m = before.sum(), after.sum()
    below = np.cumsum(before) - before
    chance = float((after * (below + before / 2)).sum() / (n * m))
    both, total = before + after, n + m
    ties = float((both**3 - both).sum() / (total * (total - 1)))
    variance = (total + 1 - ties) / (12 * n * m)
    return RankShift(chance, (chance - 0.5) / math.sqrt(variance) if variance > 0 else 0.0)
