"""The law of scalability, throughput at a budget, and the asymptotic bounds, against closed forms."""

from __future__ import annotations

import math

import numpy as np
import pytest

from plimsoll.stats.throughput.asymptotes import Bounds, Estimate, asymptotes, bounds_by_demand, bounds_by_plateau
from plimsoll.stats.throughput.demand_curve import RISE, RISE_SD, reach_along_curve
from plimsoll.stats.throughput.scalability import FEWEST_LEVELS, NoLaw, Scalability, fit_scalability

LEVELS = np.array([1.0, 2, 4, 8, 16, 32, 64, 128])


def law(levels, single=10.0, contention=0.03, coherency=4e-4):
    return single * levels / (1 + contention * (levels - 1) + coherency * levels * (levels - 1))


def test_exact_throughputs_give_back_the_laws_parameters_and_peak():
    found = fit_scalability(LEVELS, law(LEVELS))
    assert isinstance(found, Scalability) and found.told and found.reached
    assert (found.single_per_s, found.contention, found.coherency) == pytest.approx((10, 0.03, 4e-4), rel=1e-6)
    where = math.sqrt((1 - 0.03) / 4e-4)
    assert found.peak_level == pytest.approx(where) and found.peak_per_s == pytest.approx(law(where))
    low, high = found.peak_interval
    assert low < law(where) < high < 1.1 * low
    assert found.level_interval[0] < where < found.level_interval[1]


def test_the_peak_does_not_depend_on_the_unit_of_the_levels():
    users, multiples = fit_scalability(LEVELS, law(LEVELS)), fit_scalability(LEVELS / 50, law(LEVELS), one=0.0)
    assert multiples.peak_per_s == pytest.approx(users.peak_per_s, rel=1e-4)
    assert multiples.peak_level == pytest.approx(users.peak_level / 50, rel=1e-3)


def test_proportional_throughput_has_no_end_in_sight():
    found = fit_scalability(LEVELS, 10 * LEVELS)
    assert not found.told and found.peak_interval[1] is None and not found.reached
    assert found.peak_interval[0] > 1280


def test_throughput_that_levels_off_without_falling_has_a_ceiling_and_no_peak():
    found = fit_scalability(
        np.append(LEVELS, [256.0, 1024.0, 4096.0]), law(np.append(LEVELS, [256, 1024, 4096]), coherency=0)
    )
    assert found.told and found.level_interval[1] is None
    assert found.peak_interval[0] < 10 / 0.03 < found.peak_interval[1]


def test_too_few_levels_and_a_curve_that_is_no_such_law_are_refused_with_what_would_settle_it():
    few = fit_scalability(LEVELS[:5], law(LEVELS[:5]))
    assert isinstance(few, NoLaw) and str(FEWEST_LEVELS) in few.reason and few.settle
    jagged = law(LEVELS) * np.where(np.arange(8) % 2, 1.3, 0.8)
    assert isinstance(fit_scalability(LEVELS, jagged), NoLaw)


@pytest.mark.parametrize("bad", [([0, 1], [1, 1]), ([1, 2], [1, -1]), ([1, 2], [1])])
def test_levels_and_throughputs_out_of_the_domain_are_an_error(bad):
    with pytest.raises(ValueError, match="above 0"):
        fit_scalability(*bad)


def test_more_scatter_makes_a_wider_region():
    draw = np.random.default_rng(3)
    noise = draw.standard_normal(8)
    calm, rough = (fit_scalability(LEVELS, law(LEVELS) * np.exp(sd * noise)).peak_interval for sd in (0.005, 0.03))
    assert rough[1] - rough[0] > calm[1] - calm[0]


def test_a_straight_line_near_the_budget_is_followed_in_spite_of_the_prior():
    per_s = np.linspace(10, 90, 9)
    found = reach_along_curve(0.05 + 0.009 * per_s, per_s, 0.95)
    assert found.per_s == pytest.approx(100, rel=0.005) and found.interval[0] < 100 < found.interval[1]
    assert found.from_share == pytest.approx(0.86 / 0.95) and found.beyond == pytest.approx(100 / 90, rel=0.005)
    assert abs(found.rise) < 0.03


def test_far_from_the_budget_the_prior_rise_decides_and_the_interval_is_its_width():
    per_s = np.array([5.0, 6, 7, 8, 9, 10])
    found = reach_along_curve(0.01 * per_s, per_s, 1.0)
    assert found.rise == pytest.approx(RISE, abs=0.02)
    assert found.per_s < 100 and found.interval[0] < 100 < found.interval[1]
    assert found.interval[1] / found.interval[0] > 1 + RISE_SD


def test_a_demand_that_rises_is_seen_where_the_levels_show_it():
    per_s = np.linspace(10, 85, 12)
    found = reach_along_curve(0.008 * per_s * (1 + 0.25 * per_s / 100), per_s, 1.0)
    assert found.per_s == pytest.approx(100, rel=0.01) and found.rise == pytest.approx(0.25, abs=0.04)


def test_few_levels_a_use_that_does_not_rise_and_no_budget_are_told_apart():
    assert reach_along_curve([0.1, 0.2], [10, 20], 0.8) is None
    assert reach_along_curve([0.3, 0.2, 0.1], [10, 20, 30], 0.8) is None
    with pytest.raises(ValueError, match="budget"):
        reach_along_curve([0.1, 0.2, 0.3], [10, 20, 30], 0.0)


def test_asymptotes_meet_where_the_round_time_divided_by_the_demand_says():
    bounds = asymptotes(0.01, 2.0, 4.0)
    assert (bounds.most_per_s, bounds.round_s, bounds.crossing) == pytest.approx((100, 0.5, 50))
    assert bounds.bound(10) == pytest.approx(20) and bounds.bound(500) == pytest.approx(100)
    assert asymptotes(0.01).bound(1e9) == pytest.approx(100)
    with pytest.raises(ValueError, match="above 0"):
        asymptotes(0.0)


USERS, STEP_S = [1, 2, 4, 8, 16, 23, 32], 30
DEMAND_S, ROUND_S = 0.010, 0.100


def closed_throughput(users: int) -> float:
    """Exact mean value analysis of one queueing station and a delay (Lazowska et al. 1984, ch. 6)."""
    queue = throughput = 0.0
    for count in range(1, users + 1):
        response_s = DEMAND_S * (1 + queue)
        throughput = count / (response_s + ROUND_S - DEMAND_S)
        queue = throughput * response_s
    return throughput


def held(found: list[Bounds | None], name: str, truth: float) -> float:
    pairs = [getattr(one, name) for one in found if one is not None]
    return sum(one.low <= truth <= one.high for one in pairs) / len(found)


def test_bounds_of_counted_levels_hold_the_true_ones_in_95_percent():
    exact = np.array([closed_throughput(users) for users in USERS])
    seconds, random = np.full(len(USERS), STEP_S), np.random.default_rng(5)
    found, demands = [], []
    for _ in range(400):
        done = random.poisson(exact * STEP_S)
        found.append(bounds_by_plateau(USERS, done, seconds))
        seen = math.exp(0.05 * random.standard_normal()) / DEMAND_S
        most = Estimate(seen, seen * math.exp(-0.098), seen * math.exp(0.098))
        demands.append(bounds_by_demand(USERS, done, seconds, most))
    least = 0.95 - 2 * math.sqrt(0.95 * 0.05 / 400)
    for bounds in (found, demands):
        assert held(bounds, "most_per_s", 1 / DEMAND_S) >= least
        assert held(bounds, "round_s", ROUND_S) >= least
        assert held(bounds, "crossing", ROUND_S / DEMAND_S) >= least


def test_levels_that_do_not_tell_have_no_bounds():
    most = Estimate(100, 95, 105)
    assert bounds_by_demand([8, 16], [2_000, 2_500], [30, 30], most) is None, "users wait for each other at 8"
    assert bounds_by_demand([1, 2], [3, 6], [1, 1], most) is None, "three iterations tell no round"
    assert bounds_by_demand([1, 2], [0, 6], [1, 1], most) is None
    assert bounds_by_plateau([8, 16], [2_000, 2_500], [30, 30]) is None


@pytest.mark.parametrize(
    "rates",
    [
        [95.82, 96.48, 96.2, 95.7, 96.32, 95.3, 96.28, 95.73, 96.3],
        [96.17, 96.73, 95.14, 96.81, 95.98, 95.62, 95.61, 95.48, 95.89],
        [96, 95, 94, 93, 92, 91, 90, 89, 88],
    ],
)
def test_throughput_that_more_users_do_not_raise_has_the_peak_of_one_user(rates: list[float]) -> None:
    found = fit_scalability([1, 2, 5, 10, 20, 30, 40, 50, 60], rates, [0.01] * 9)
    assert isinstance(found, Scalability) and found.peak_per_s == pytest.approx(96, rel=0.02)
    assert found.peak_level is None or found.peak_level >= 1
