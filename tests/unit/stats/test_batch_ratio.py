"""Intervals of rates, means and shares from batches of time, against simulated processes of known truth."""

from __future__ import annotations

import numpy as np
import pytest

from plimsoll.stats.estimates.batch_ratio import batched_share, ratio_interval

RUNS = 400


def covered(draw, truth: float) -> tuple[int, int]:
    """(runs with an interval, of these such that hold the truth)."""
    found = [one for _ in range(RUNS) if (one := draw()) is not None and one.low is not None]
    return len(found), sum(one.low <= truth <= one.high for one in found)


@pytest.mark.parametrize(("per_s", "seconds"), [(0.3, 20), (2.0, 12), (5.0, 30), (200.0, 15)])
def test_a_rate_of_independent_events_lies_in_its_interval_nineteen_times_of_twenty(per_s: float, seconds: int) -> None:
    random = np.random.default_rng(1)
    told, right = covered(lambda: ratio_interval(random.poisson(per_s, seconds), np.ones(seconds)), per_s)
    assert told > 0.9 * RUNS and 0.92 * told <= right


def test_events_in_clusters_of_ten_have_a_wider_interval_that_holds_too() -> None:
    random = np.random.default_rng(2)
    told, right = covered(lambda: ratio_interval(10 * random.poisson(1.5, 30), np.ones(30)), 15.0)
    assert told == RUNS and 0.92 * told <= right


def test_seconds_that_go_together_for_a_while_are_told_as_such_or_not_at_all() -> None:
    """A rate whose logarithm remembers for about five seconds, over five minutes."""
    random = np.random.default_rng(3)

    def draw():
        shocks, level = random.standard_normal(300) * 0.3 * np.sqrt(1 - 0.8**2), np.zeros(300)
        for at in range(1, 300):
            level[at] = 0.8 * level[at - 1] + shocks[at]
        return ratio_interval(random.poisson(50 * np.exp(level - 0.045)), np.ones(300))

    told, right = covered(draw, 50.0)
    assert told > 0.7 * RUNS and 0.9 * told <= right


def test_what_an_iteration_counts_and_a_mean_are_ratios_whose_parts_vary_together() -> None:
    """Bursts of iterations, each of which counts 0 to 4: the scatter of iterations cancels."""
    random = np.random.default_rng(4)

    def draw():
        done = random.poisson(random.choice([2, 20], 30))
        return ratio_interval([random.integers(0, 5, one).sum() for one in done], done)

    told, right = covered(draw, 2.0)
    assert told == RUNS and 0.92 * told <= right
    one = draw()
    assert one.high - one.low < 0.6, "not as wide as the bursts"


def test_a_share_of_values_that_come_in_alike_groups_is_as_sure_as_the_groups_are_many() -> None:
    random = np.random.default_rng(5)

    def draw():
        groups = random.poisson(4, 30)
        return batched_share([8 * random.binomial(one, 0.4) for one in groups], 8 * groups)

    told, right = covered(draw, 0.4)
    assert told > 0.98 * RUNS and 0.92 * told <= right
    naive = 1.96 * np.sqrt(0.4 * 0.6 / (8 * 120))
    assert (draw().high - draw().low) / 2 > 1.5 * naive


def test_independent_values_have_the_interval_of_wilson_at_the_least() -> None:
    alternating = batched_share([5] * 20, [10] * 20)
    assert alternating.value == 0.5 and alternating.low == pytest.approx(0.427, abs=0.005)
    never = batched_share([0] * 20, [10] * 20)
    assert never.low == 0.0 and 0.01 < never.high < 0.03


def test_what_is_always_alike_has_no_doubt_and_what_never_came_no_interval() -> None:
    same = ratio_interval([0.3] * 25, np.ones(25))
    assert same.value == pytest.approx(0.3) and same.low == same.high == same.value
    nothing = ratio_interval(np.zeros(25), np.ones(25))
    assert nothing.value == 0 and nothing.interval is None and nothing.reason == "nothing was counted"
    assert ratio_interval([1.0], [0.0]) is None and batched_share([], []) is None


def test_too_few_batches_and_batches_that_remember_give_a_reason_in_place_of_an_interval() -> None:
    few = ratio_interval([1, 2, 1], np.ones(3))
    assert few.value == pytest.approx(4 / 3) and few.interval is None and "10 are needed" in few.reason
    rising = ratio_interval(np.arange(25.0), np.ones(25))
    assert rising.interval is None and "neighbouring" in rising.reason


def test_sums_below_zero_have_a_symmetric_interval() -> None:
    random = np.random.default_rng(6)
    found = ratio_interval(random.normal(-1, 3, 40), np.ones(40))
    assert found.low + found.high == pytest.approx(2 * found.value)
