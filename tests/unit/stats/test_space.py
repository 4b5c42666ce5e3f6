"""Growth of memory and disk with load, time and items, from data whose law is known; and CPU at another throughput."""

from __future__ import annotations

import numpy as np
import pytest

from plimsoll.stats.growth.space import per_item, with_load
from plimsoll.stats.throughput.demand_curve import reach_along_curve, use_along_curve, use_in_proportion

RATES = np.array([10.0, 20, 40, 80, 60, 70, 50, 65])
WHEN = np.arange(8) * 10.0


def noise(seed: int, size: int, sd: float) -> np.ndarray:
    return np.random.default_rng(seed).normal(0, sd, size)


def test_memory_that_grows_with_load_is_predicted_within_its_interval() -> None:
    found = with_load(100e6 + 1e6 * RATES + noise(1, 8, 0.5e6), RATES, WHEN)
    assert found.kind == "load"
    value, (low, high) = found.at(160)
    assert low < 260e6 < high and low < value < high and high - low < 20e6


def test_memory_that_stays_has_its_highest_reading_and_no_law() -> None:
    found = with_load(100e6 + noise(2, 8, 0.5e6), RATES, WHEN)
    assert found.kind == "none" and found.at(160) is None
    assert found.highest == pytest.approx(100e6, rel=0.02)


def test_memory_that_grows_with_time_is_not_taken_for_growth_with_load() -> None:
    found = with_load(100e6 + 1e6 * WHEN + noise(3, 8, 0.5e6), RATES, WHEN)
    assert found.kind == "time" and found.over_time == pytest.approx(70e6, rel=0.05)


def test_load_that_rises_with_time_all_along_leaves_open_what_memory_grew_with() -> None:
    rising = np.sort(RATES)
    assert with_load(100e6 + 1e6 * rising + noise(5, 8, 0.5e6), rising, rising).kind == "unknown"
    assert with_load(100e6 + noise(5, 8, 0.5e6), rising, rising).kind == "none"


def test_two_loads_do_not_tell_a_law_of_memory() -> None:
    assert with_load([1e8, 2e8, 1e8], [10, 20, 10], [0, 10, 20]).kind == "unknown"


def test_intervals_of_memory_by_load_hold_the_truth_as_often_as_they_say() -> None:
    hits = 0
    for seed in range(200):
        found = with_load(100e6 + 1e6 * RATES + noise(seed, 8, 2e6), RATES, WHEN)
        ahead = found.at(160)
        hits += ahead is not None and ahead[1][0] <= 260e6 <= ahead[1][1]
    assert 181 <= hits <= 199


def test_what_an_item_takes_is_known_from_increments_that_wander() -> None:
    items = np.linspace(0, 100_000, 200)
    hits = 0
    for seed in range(200):
        wander = np.cumsum(noise(seed, 200, 40e3))
        found = per_item(items, 50e6 + 300 * items + wander)
        assert found is not None and found.from_items == 0 and found.to_items == 100_000
        hits += found.interval[0] <= 300 <= found.interval[1]
    assert 180 <= hits <= 199


def test_items_that_never_came_tell_nothing() -> None:
    assert per_item([5, 5, 5, 5, 5], [1, 2, 3, 4, 5]) is None
    assert per_item([1], [1]) is None


def test_the_cpu_of_a_throughput_and_the_throughput_of_that_cpu_are_inverse_of_each_other() -> None:
    rate = np.array([10.0, 20, 40, 60, 80])
    used = 0.02 + 0.004 * rate
    ahead = use_along_curve(used, rate, 200)
    assert ahead is not None and ahead.interval[0] < 0.82 < ahead.interval[1] and ahead.beyond == pytest.approx(2.5)
    back = reach_along_curve(used, rate, ahead.used)
    assert back is not None and back.per_s == pytest.approx(200, rel=0.02)


def test_within_what_was_measured_the_cpu_is_known_closely() -> None:
    rate = np.array([10.0, 20, 40, 60, 80])
    ahead = use_along_curve(0.02 + 0.004 * rate + noise(4, 5, 0.001), rate, 50)
    assert ahead is not None and ahead.used == pytest.approx(0.22, rel=0.03)
    assert ahead.interval[1] - ahead.interval[0] < 0.05


def test_readings_of_one_load_are_no_curve_and_go_in_proportion() -> None:
    rate = 50 + noise(6, 10, 0.5)
    assert with_load(100e6 + noise(6, 10, 1e6), rate, np.arange(10.0)).kind == "unknown"
    here = use_in_proportion(0.004 * rate + noise(7, 10, 0.002), rate, 50)
    assert here is not None and here.interval[0] < 0.2 < here.interval[1] < 0.21
    ahead = use_in_proportion(0.004 * rate, rate, 500)
    assert ahead is not None and ahead.interval[0] < 2.0 < ahead.interval[1] and ahead.interval[1] > 2.3
    assert use_in_proportion([0.2, 0.2], [50, 50], 50) is None


def test_too_few_throughputs_and_use_that_does_not_rise_give_no_cpu() -> None:
    assert use_along_curve([0.1, 0.2], [10, 20], 30) is None
    assert use_along_curve([0.3, 0.2, 0.1], [10, 20, 30], 40) is None
    with pytest.raises(ValueError, match="above 0"):
        use_along_curve([0.1, 0.2, 0.3], [10, 20, 30], 0)
