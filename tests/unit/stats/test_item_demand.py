"""CPU of an item from blocks whose truth is known: at rest, under load, while a backlog drains."""

from __future__ import annotations

import numpy as np
import pytest

from plimsoll.stats.consumption.item_demand import item_demand

IDLE, PUT, DONE = 0.05, 0.004, 0.010
BLOCK_S = 6.0


def blocks(*, done_of_load: float, drains: bool, scatter: float = 0.0, seed: int = 1):
    """(used, put, done, seconds): two at rest, ten of a load of 30 items/s, and five in which 20/s are drained."""
    put = np.array([0.0, 0.0, *[30.0] * 10, *([0.0] * 5 if drains else [])])
    done = np.array([0.0, 0.0, *[done_of_load] * 10, *([20.0] * 5 if drains else [])])
    noise = np.random.default_rng(seed)
    done[2:12] *= 1 + (0.3 * noise.standard_normal(10) if scatter else 0.0)
    used = (IDLE + PUT * put + DONE * done) * (1 + scatter * noise.standard_normal(put.size))
    return used, put, done, np.array([3.0, 3.0, *[BLOCK_S] * (put.size - 2)])


def test_an_item_costs_what_putting_it_in_and_doing_it_cost_though_fewer_are_done_than_come() -> None:
    found = item_demand(*blocks(done_of_load=20.0, drains=True))
    assert found is not None and found.per_item == pytest.approx(PUT + DONE) and found.idle == pytest.approx(IDLE)
    assert found.per_done == pytest.approx(DONE) and found.most_per_s == 30
    used, interval = found.at(25.0)
    assert used == pytest.approx(IDLE + 25 * (PUT + DONE)) and interval == pytest.approx((used, used))


def test_where_all_that_comes_is_done_at_once_the_two_are_not_told_apart() -> None:
    found = item_demand(*blocks(done_of_load=30.0, drains=False))
    assert found is not None and found.per_done is None and found.per_item == pytest.approx(PUT + DONE)


def test_the_interval_holds_the_truth_as_often_as_it_says() -> None:
    held = []
    for seed in range(300):
        found = item_demand(*blocks(done_of_load=20.0, drains=True, scatter=0.05, seed=seed))
        assert found is not None
        held.append(found.interval[0] <= PUT + DONE <= found.interval[1])
    assert 0.91 <= np.mean(held) <= 0.99


def test_beyond_what_was_seen_the_demand_may_be_another() -> None:
    found = item_demand(*blocks(done_of_load=20.0, drains=True))
    assert found is not None
    used, (low, high) = found.at(300.0)
    assert used == pytest.approx(IDLE + 1.05 * 300 * (PUT + DONE)) and low < IDLE + 300 * (PUT + DONE) < high


def test_a_use_without_any_load_that_would_be_below_nothing_is_left_out() -> None:
    used, put, done, seconds = blocks(done_of_load=30.0, drains=False)
    found = item_demand(np.where(put > 0, used, 0.0) - 0.02 * (put > 0), put * 1.0, done, seconds)
    assert found is not None and found.idle >= 0
    steeper = item_demand([0.0, 0.0, 0.1, 0.1, 0.5, 0.5], [0, 0, 10, 10, 20, 20], [0, 0, 10, 10, 20, 20], [5] * 6)
    assert steeper is not None and steeper.idle == 0 and steeper.per_item == pytest.approx(0.022)


def test_few_blocks_nothing_done_or_a_use_that_does_not_rise_tell_nothing() -> None:
    assert item_demand([0.1] * 4, [1] * 4, [1] * 4, [5] * 4) is None
    assert item_demand([0.1] * 6, [1] * 6, [0] * 6, [5] * 6) is None
    assert item_demand([0.5, 0.5, 0.1, 0.1, 0.1, 0.1], [0, 0, 9, 9, 9, 9], [0, 0, 9, 9, 9, 9], [5] * 6) is None
