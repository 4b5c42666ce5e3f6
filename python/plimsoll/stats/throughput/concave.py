"""The concave curve through 0 that is nearest to throughput at levels, and whether it explains what was seen.

Throughput of users who wait is concave in their number while what an operation costs does not fall with load (Lazowska
et al. 1984, ch. 5): up in proportion, then less, past a collapse down. With the scatter of each point known, the
nearest such curve takes noise out without a shape of its own: X(N) = a N − Σ b_k (N − N_k)₊ with a, b_k ≥ 0, by
non-negative least squares.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

PROPORTION_CHANCE = 0.05  # a proportion that is denied by chance: one table in twenty is judged by the curve instead
CHANCE = 1e-3  # of points that a concave target scatters so far; a wrong "noise, or a cure" in a thousand tables


@dataclass(frozen=True)
class Concave:
    """`fitted` at the levels, shape (n,); `explains`: whether the points scatter about it as their deviations say."""

    fitted: NDArray[np.float64]
    explains: bool


def in_proportion(levels: ArrayLike, per_s: ArrayLike, sd: ArrayLike) -> list[float] | None:
    """Throughput in proportion to the levels, shape (n,), n ≥ 3, if `per_s` scatters about it as the deviations `sd`
    say (PROPORTION_CHANCE); else None."""
    from scipy.stats import chi2

    at, seen, doubt = (np.asarray(values, dtype=float) for values in (levels, per_s, sd))
    if at.size < 3 or not np.all(doubt > 0):
        return None
    weight = 1 / doubt**2
    each = float(weight @ (at * seen)) / float(weight @ at**2)
    misfit = float(weight @ (seen - each * at) ** 2)
    return (each * at).tolist() if misfit <= float(chi2.isf(PROPORTION_CHANCE, at.size - 1)) else None


def concave(levels: ArrayLike, per_s: ArrayLike, sd: ArrayLike) -> Concave:
    """The curve for throughput `per_s` with standard deviations `sd` (> 0) at `levels` (> 0, rising), all of shape
    (n,)."""
    from scipy.optimize import nnls
    from scipy.stats import chi2

    at, seen, doubt = (np.asarray(values, dtype=float) for values in (levels, per_s, sd))
    hinges = np.maximum(0.0, at[:, None] - at[None, :-1])
    matrix = np.column_stack((at, -hinges))
    weights, _ = nnls(matrix / doubt[:, None], seen / doubt)
    fitted = matrix @ weights
    misfit = float((((seen - fitted) / doubt) ** 2).sum())
    free = at.size - int((weights > 0).sum())
    return Concave(fitted, free <= 0 or misfit <= float(chi2.isf(CHANCE, free)))
