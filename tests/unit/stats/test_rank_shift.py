"""The rank test of two histograms against scipy's of the values."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import mannwhitneyu, norm

from plimsoll.stats.comparison.rank_shift import rank_shift


@pytest.mark.parametrize(("n", "m", "shift"), [(40, 300, 0.0), (300, 40, 0.3), (200, 200, -0.5)])
def test_it_agrees_with_the_test_of_the_single_values(n: int, m: int, shift: float) -> None:
    random = np.random.default_rng(n)
    first, second = np.round(random.exponential(8, n)), np.round(random.exponential(8 * (1 + shift), m))
    found = rank_shift(*np.unique(first, return_counts=True), *np.unique(second, return_counts=True))
    u, p = mannwhitneyu(second, first, method="asymptotic", use_continuity=False)
    assert found.chance == pytest.approx(u / (n * m))
    assert 2 * norm.sf(abs(found.z)) == pytest.approx(p)


def test_values_that_are_all_the_same_have_not_shifted() -> None:
    found = rank_shift([5], [40], [5], [9])
    assert (found.chance, found.z) == (0.5, 0.0)


def test_of_equal_samples_one_in_thousands_seems_shifted_by_four_deviations() -> None:
    random = np.random.default_rng(1)
    zs = [
        rank_shift(
            *np.unique(random.exponential(1, 50), return_counts=True),
            *np.unique(random.exponential(1, 200), return_counts=True),
        ).z
        for _ in range(2000)
    ]
    assert max(np.abs(zs)) < 4.5 and 0.9 < np.std(zs) < 1.1
