"""Exact and sequential tests of the share of values above a limit."""

from __future__ import annotations

import pytest

from plimsoll.stats.estimates.quantile_test import (
    chance_of_at_least,
    chance_of_at_most,
    fewest_samples,
    is_above,
    is_above_at_any_time,
    is_below,
    is_below_at_any_time,
    judge_share,
    share_bounds,
)

stats = pytest.importorskip("scipy.stats")
BOUNDARY = 1e-9


@pytest.mark.parametrize(("over", "count", "share"), [(0, 73, 0.1), (7, 73, 0.1), (73, 73, 0.1), (3, 2000, 0.001)])
def test_the_chances_are_those_of_the_binomial_distribution(over: int, count: int, share: float) -> None:
    assert chance_of_at_most(over, count, share) == pytest.approx(stats.binom.cdf(over, count, share), rel=1e-9)
    assert chance_of_at_least(over, count, share) == pytest.approx(stats.binom.sf(over - 1, count, share), rel=1e-9)


def test_73_values_none_above_the_limit_meet_a_p90() -> None:
    assert chance_of_at_most(0, 73, 0.1) == pytest.approx(0.9**73) and 0.9**73 < 0.0005
    assert judge_share(0, 73, 0.1) == "met" and judge_share(0, 73, 0.1, any_time=True) == "met"


def test_20_values_all_above_the_limit_violate_a_p95() -> None:
    assert judge_share(20, 20, 0.05) == "violated" and judge_share(20, 20, 0.05, any_time=True) == "violated"


@pytest.mark.parametrize(("allowed", "fewest"), [(0.1, 44), (0.05, 90), (0.01, 459)])
def test_the_fewest_samples_are_as_many_as_meet_it_with_none_above(allowed: float, fewest: int) -> None:
    assert fewest_samples(allowed) == fewest
    assert is_below(0, fewest, allowed) and not is_below(0, fewest - 1, allowed)


def test_a_share_that_is_what_is_allowed_stays_undecided() -> None:
    assert judge_share(100, 1000, 0.1) == "undecided"


@pytest.mark.parametrize("count", [20, 73, 500])
@pytest.mark.parametrize("allowed", [0.01, 0.05, 0.1, 0.5])
def test_the_bounds_of_the_share_and_the_test_say_the_same(count: int, allowed: float) -> None:
    for over in range(count + 1):
        low, high = share_bounds(over, count)
        assert is_below(over, count, allowed) == (high <= allowed + BOUNDARY)
        assert is_above(over, count, allowed) == (low >= allowed - BOUNDARY)


@pytest.mark.parametrize("count", [5, 44, 200, 1000])
@pytest.mark.parametrize("allowed", [0.01, 0.05, 0.1, 0.5])
def test_what_the_sequential_test_decides_the_fixed_one_decides_as_well(count: int, allowed: float) -> None:
    for over in range(count + 1):
        assert is_below(over, count, allowed) or not is_below_at_any_time(over, count, allowed)
        assert is_above(over, count, allowed) or not is_above_at_any_time(over, count, allowed, 0.005)


def test_a_limit_that_nothing_may_pass_is_violated_by_one_value() -> None:
    assert judge_share(1, 1000, 0.0) == "violated"
    assert judge_share(0, 1000, 0.0) == "met" and judge_share(0, 0, 0.0) == "undecided"


def test_no_values_decide_nothing() -> None:
    assert judge_share(0, 0, 0.1) == "undecided" and share_bounds(0, 0) == (0.0, 1.0)
    with pytest.raises(ValueError, match="impossible"):
        chance_of_at_most(3, 2, 0.1)
