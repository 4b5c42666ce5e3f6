"""Intervals, plateaus and trends against published or hand-computed numbers."""

from __future__ import annotations

import math

import numpy as np
import pytest

from plimsoll.stats.estimates.quantile import samples_needed
from plimsoll.stats.estimates.wilson import wilson_interval
from plimsoll.stats.growth.trend import theil_sen
from plimsoll.stats.throughput.plateau import Plateau, capacity_interval, plateau, pool


def test_wilson_matches_the_published_interval_for_81_of_263():
    interval = wilson_interval(81, 263)  # Newcombe 1998, table I: 0.2553 to 0.3662
    assert interval.low == pytest.approx(0.2553, abs=1e-4)
    assert interval.high == pytest.approx(0.3662, abs=1e-4)


def test_wilson_without_trials_knows_nothing_and_refuses_the_impossible():
    assert (wilson_interval(0, 0).low, wilson_interval(0, 0).high) == (0.0, 1.0)
    with pytest.raises(ValueError, match="impossible"):
        wilson_interval(3, 2)


@pytest.mark.parametrize(("quantile", "needed"), [(0.5, 40), (0.9, 200), (0.95, 400), (0.99, 2000), (0.999, 20_000)])
def test_a_quantile_needs_twenty_samples_beyond_it(quantile: float, needed: int):
    assert samples_needed(quantile) == needed


def test_a_plateau_is_completions_per_second_in_units_of_level():
    seen = plateau(done=3000, seconds=10, rate_per_level_s=0.5, noise=1.0)
    assert seen == Plateau(600.0, math.sqrt(1 / 3000))
    assert plateau(9, 1, 1, 1) is None


def test_pooled_plateaus_lie_between_and_are_surer_than_each():
    both = pool([Plateau(100, 0.02), Plateau(110, 0.01)])
    assert 107 < both.level < 109 and both.relative_sd < 0.01
    assert pool([]) is None


def test_the_interval_of_a_capacity_is_normal_in_its_log_and_stays_in_the_bracket():
    low, high = capacity_interval(Plateau(100, 0.02), 10, 1000)
    assert (low, high) == (pytest.approx(100 * math.exp(-0.0392), rel=1e-5), pytest.approx(104.0, abs=0.01))
    assert capacity_interval(Plateau(100, 0.02), 98, 103) == (98, 103)
    assert capacity_interval(Plateau(100, 0.02), 10, 1000, rate_relative_sd=0.02)[1] > high


def test_theil_sen_ignores_a_spike_and_sees_a_slope():
    values = 3 + 0.5 * np.arange(30)
    values[7] = 500
    seen = theil_sen(values)
    assert seen.slope == pytest.approx(0.5) and seen.rising
    assert not theil_sen([1, 2]).rising


@pytest.mark.parametrize(("confidence", "fewest"), [(0.95, 5), (0.99, 6)])
def test_theil_sen_has_no_interval_where_chance_orders_so_few_values_too_often(confidence: float, fewest: int):
    for count in range(1, fewest):
        seen = theil_sen(np.arange(count), confidence)
        assert (seen.low, seen.high) == (-math.inf, math.inf) and not seen.rising
    # A perfect order has chance 1 / n!, and counts in both directions: 2 / 5! and 2 / 6!.
    assert theil_sen(np.arange(fewest), confidence).rising


@pytest.mark.parametrize("confidence", [0.95, 0.99])
@pytest.mark.parametrize("count", [4, 5, 6, 8, 12, 30, 60])
def test_theil_sen_calls_chance_a_trend_no_oftener_than_it_says(count: int, confidence: float):
    random = np.random.default_rng(count)
    seen = [theil_sen(random.standard_normal(count), confidence) for _ in range(2_000)]
    wrong = sum(one.low > 0 or one.high < 0 for one in seen)
    share = 1 - confidence
    assert wrong <= 2_000 * share + 3 * math.sqrt(2_000 * share * (1 - share))
