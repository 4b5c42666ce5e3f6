"""How much slower is B than A? The ratio of a time, from one value a trial, with its interval.

Requests of one run are not independent, so a run counts once: with its mean or its quantile. Times scatter by a
factor, so their logarithms are compared:

    paired      x_i = ln(b_i / a_i);  x̄ ± t(1 − α/2, n − 1) s/√n               two trials next to each other are a pair
    two sets    x̄_B − x̄_A ± t(1 − α/2, ν) √(s_A²/n_A + s_B²/n_B)                Welch (1947), ν by Satterthwaite (1946)

Exact for log-normal scatter. Under "A is B" a pair in random order is symmetric about 0 whatever the scatter, for which
the paired t-test errs on the safe side (Efron 1969).
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

MOST_LOG = 690.0


@dataclass(frozen=True)
class LogRatio:
    """`mean`: of ln(B/A), with the standard error `error` and the `freedom` of its t distribution; `p`: probability of
    as much by chance if there were no difference; `sd`: of one pair (of two sets: of the pair they would make)."""

    mean: float
    error: float
    freedom: float
    p: float
    sd: float

    @property
    def ratio(self) -> float:
        """Geometric mean of B ÷ A."""
        return _exp(self.mean)

    def interval(self, alpha: float) -> tuple[float, float]:
        """Bounds of the ratio B ÷ A, of confidence 1 − alpha."""
        from scipy.stats import t as student

        half = float(student.ppf(1 - alpha / 2, self.freedom)) * self.error
        return _exp(self.mean - half), _exp(self.mean + half)


def _exp(log: float) -> float:
    """e to the power, at most e^690: two or three pairs that scatter have intervals beyond what a float holds."""
    return math.exp(min(log, MOST_LOG))


def paired_log_ratio(a: ArrayLike, b: ArrayLike) -> LogRatio | None:
    """Of pairs, each of shape (n,), above 0; None below two pairs. ValueError for other values."""
    differences = _logs(b) - _logs(a)
    if differences.size < 2:
        return None
    sd = float(differences.std(ddof=1))
    return _tested(float(differences.mean()), sd / math.sqrt(differences.size), differences.size - 1.0, sd)


def welch_log_ratio(a: ArrayLike, b: ArrayLike) -> LogRatio | None:
    """Of two sets, shapes (n,) and (m,), above 0; None where one has fewer than two. ValueError for other values."""
    first, second = _logs(a), _logs(b)
    if min(first.size, second.size) < 2:
        return None
    parts = [float(values.var(ddof=1)) / values.size for values in (first, second)]
    error = math.sqrt(sum(parts))
    counts = (first.size - 1, second.size - 1)
    weight = sum(part**2 / count for part, count in zip(parts, counts, strict=True))
    freedom = sum(parts) ** 2 / weight if weight > 0 else float(sum(counts))
    sd = math.sqrt(float(first.var(ddof=1)) + float(second.var(ddof=1)))
    return _tested(float(second.mean() - first.mean()), error, freedom, sd)


def paired_difference_p(a: ArrayLike, b: ArrayLike) -> float:
    """Two-sided p of the paired t-test that b − a is 0, for shares, which may be 0 and have no logarithm."""
    differences = np.asarray(b, dtype=float) - np.asarray(a, dtype=float)
    if differences.size < 2:
        return 1.0
    error = float(differences.std(ddof=1)) / math.sqrt(differences.size)
    return _tested(float(differences.mean()), error, differences.size - 1.0, 0.0).p


def _tested(mean: float, error: float, freedom: float, sd: float) -> LogRatio:
    from scipy.stats import t as student

    if error == 0:  # the very same numbers: a copy, or a clock too coarse to show any scatter
        return LogRatio(mean, 0.0, freedom, 1.0 if mean == 0 else 0.0, sd)
    return LogRatio(mean, error, freedom, 2 * float(student.sf(abs(mean) / error, freedom)), sd)


def _logs(values: ArrayLike) -> NDArray[np.float64]:
    array = np.asarray(values, dtype=float)
    if array.ndim != 1 or not (np.isfinite(array) & (array > 0)).all():
        raise ValueError("ratios need times above zero, one a trial")
    return np.log(array)
