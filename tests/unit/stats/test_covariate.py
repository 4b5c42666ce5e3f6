"""Demand against data volume: planted changes are found, absent ones are not, and what cannot be told is not."""

from __future__ import annotations

import math

import numpy as np
import pytest

from plimsoll.stats.growth.covariate import demand_change

RATES = np.array([10, 20, 40, 80, 160, 300, 320, 285, 310, 300.0])
VOLUMES = 20_000 * np.linspace(1, 1.5, RATES.size)


def cores(per_doubling: float, noise: float, seed: int) -> np.ndarray:
    """An idle core share of 0.02 and 3 ms per operation, which grows with the volume; `noise` at 100/s."""
    scatter = 1 + noise * np.random.default_rng(seed).standard_normal(RATES.size) * np.sqrt(100 / RATES)
    return (0.02 + 0.003 * RATES * (1 + per_doubling * (VOLUMES / VOLUMES[0] - 1))) * scatter


def test_a_planted_growth_of_the_demand_is_found():
    found = [demand_change(cores(0.4, 0.01, seed), RATES, VOLUMES, np.full(10, 10), 20_000) for seed in range(50)]
    assert all(one is not None and one.significant for one in found)
    assert np.mean([one.low <= 0.4 <= one.high for one in found if one]) >= 0.85
    exact = demand_change(cores(0.4, 0.0, 0), RATES, VOLUMES, np.full(10, 10), 20_000)
    assert exact is not None and abs(exact.per_doubling - 0.4) < 1e-6


def test_no_growth_of_the_demand_is_rarely_called_one():
    found = [demand_change(cores(0.0, 0.01, seed), RATES, VOLUMES, np.full(10, 10), 20_000) for seed in range(300)]
    assert np.mean([one is not None and one.significant for one in found]) <= 0.04


@pytest.mark.parametrize("per_doubling", [0.0, 0.4, 2.0])
@pytest.mark.parametrize("noise", [0.01, 0.03])
def test_the_interval_of_99_percent_holds_the_truth_that_often(per_doubling: float, noise: float):
    # With the demand itself taken for known, it held 2.0 in 95% of these.
    found = [
        demand_change(cores(per_doubling, noise, seed), RATES, VOLUMES, np.full(10, 10), 20_000)
        for seed in range(2_000)
    ]
    held = sum(one is not None and one.low <= per_doubling <= one.high for one in found)
    assert held >= 2_000 * 0.99 - 2 * math.sqrt(2_000 * 0.99 * 0.01)


def test_the_interval_excludes_no_change_where_the_test_does():
    for seed in range(300):
        one = demand_change(cores(0.2, 0.01, seed), RATES, VOLUMES, np.full(10, 10), 20_000)
        assert one is not None and one.significant == (not one.low <= 0 <= one.high)


def test_a_demand_that_may_be_nothing_has_no_relative_change():
    noise = np.random.default_rng(3).uniform(0, 1, RATES.size)
    assert demand_change(noise, RATES, VOLUMES, np.full(10, 10), 20_000) is None


def test_what_cannot_be_told_is_none():
    ten = np.full(10, 10.0)
    assert demand_change(cores(0.4, 0.01, 1)[:7], RATES[:7], VOLUMES[:7], ten[:7], 20_000) is None
    assert demand_change(cores(0.0, 0.01, 1), RATES, np.full(10, 20_000.0), ten, 20_000) is None
    assert demand_change(cores(0.4, 0.01, 1), RATES, VOLUMES, ten, 0) is None
    assert demand_change(cores(0.4, 0.01, 1), np.full(10, 50.0), np.full(10, 20_000.0), ten, 20_000) is None
