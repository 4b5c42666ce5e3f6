"""Shares of layers that add up to the whole, with intervals.

Each repetition measures every variant of the work next to the others; what drifts between repetitions cancels in the
ratios within one. With the whole w and what the others took v₁ … v_k (same unit):

    nested   w ⊃ v₁ ⊃ … ⊃ v_k    shares (w − v₁)/w, (v₁ − v₂)/w, …, v_k/w
    parts    v₁ … v_k disjoint    shares v₁/w, …, v_k/w and the rest (w − Σ v)/w

They add up to 1 in every repetition, so their means do. Intervals are those of the t distribution over repetitions,
each at 1 − α/k (Bonferroni), so that all k shares lie in theirs together with confidence 1 − α.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray


@dataclass(frozen=True)
class Share:
    """Share of the whole with its simultaneous interval."""

    share: float
    low: float
    high: float

    @property
    def is_there(self) -> bool:
        """Whether it is more than nothing beyond chance."""
        return self.low > 0

    @property
    def is_negative(self) -> bool:
        """Whether it is below nothing beyond chance: the variants are not what they were taken for."""
        return self.high < 0


def shares_per_repetition(values: ArrayLike, nested: bool) -> NDArray[np.float64]:
    """Shares, shape (repetitions, layers), of `values`, shape (repetitions, variants), the whole first; rows add to 1.

    Nested, a layer is a variant without what the next still has; of parts, the first layer is the rest of the whole.
    ValueError for values that are not above 0.
    """
    array = np.asarray(values, dtype=float)
    if array.ndim != 2 or array.shape[1] < 2 or not (np.isfinite(array) & (array > 0)).all():
        raise ValueError("shares need a time above zero of every variant, the whole and at least one more")
    whole = array[:, :1]
    if nested:
        following = np.column_stack([array[:, 1:], np.zeros(len(array))])
        return (array - following) / whole
    rest = whole[:, 0] - array[:, 1:].sum(axis=1)
    return np.column_stack([rest, array[:, 1:]]) / whole


def layer_shares(per_repetition: ArrayLike, alpha: float = 0.05) -> list[Share] | None:
    """Mean share of each layer with its interval; None below two repetitions."""
    shares = np.asarray(per_repetition, dtype=float)
    if shares.shape[0] < 2:
        return None
    means, half = shares.mean(axis=0), _half_widths(shares, alpha / shares.shape[1])
    return [Share(float(m), float(m - h), float(m + h)) for m, h in zip(means, half, strict=True)]


def larger(per_repetition: ArrayLike, first: int, second: int, alpha: float = 0.05) -> bool:
    """Whether layer `first` is larger than layer `second` beyond chance, by their difference within repetitions; at
    α ÷ the number of pairs of layers."""
    shares = np.asarray(per_repetition, dtype=float)
    if shares.shape[0] < 2:
        return False
    layers = shares.shape[1]
    difference = (shares[:, first] - shares[:, second])[:, None]
    half = _half_widths(difference, alpha / max(1, layers * (layers - 1) // 2))
    return bool(difference.mean() - half[0] > 0)


def _half_widths(samples: NDArray[np.float64], alpha: float) -> NDArray[np.float64]:
    from scipy.stats import t as student

    count = samples.shape[0]
    return float(student.ppf(1 - alpha / 2, count - 1)) * samples.std(axis=0, ddof=1) / math.sqrt(count)
