"""The rate of a consumer from polls whose durations are rounded."""

from __future__ import annotations

import math
import random

import pytest

from plimsoll.stats.consumption.poll_rate import poll_rate


def test_one_poll_is_bounded_by_half_a_second_either_way() -> None:
    found = poll_rate([446], [9])
    assert found is not None
    assert (found.per_s, found.low, found.high) == pytest.approx((446 / 9, 446 / 9.5, 446 / 8.5))


def test_many_polls_are_weighed_by_their_length_and_their_roundings_even_out() -> None:
    found = poll_rate([100] * 12, [2] * 12)
    assert found is not None
    assert found.per_s == 50
    assert found.low == pytest.approx(1200 / (24 + 1.96)) and found.high == pytest.approx(1200 / (24 - 1.96))


def test_polls_without_items_do_not_count_and_none_at_all_give_none() -> None:
    assert poll_rate([0, 0], [3, 0]) is None and poll_rate([], []) is None
    found = poll_rate([0, 10], [5, 1])
    assert found is not None and (found.items, found.seconds, found.polls) == (10, 1, 1)


def test_durations_that_round_to_nothing_bound_the_rate_from_below_only() -> None:
    found = poll_rate([5], [0])
    assert found is not None
    assert found.per_s == found.high == math.inf and found.low == 10


@pytest.mark.parametrize("bad", [([1], [1, 2]), ([-1], [1]), ([1], [-1]), ([math.inf], [1]), ([1], [math.nan])])
def test_what_are_no_polls_is_refused(bad: tuple[list[float], list[float]]) -> None:
    with pytest.raises(ValueError):
        poll_rate(*bad)


def test_the_interval_holds_the_true_rate_95_times_of_100() -> None:
    source = random.Random(1)
    held = 0
    for _ in range(2000):
        true = [source.uniform(1, 8) for _ in range(10)]
        found = poll_rate([50.0 * seconds for seconds in true], [round(seconds) for seconds in true])
        assert found is not None
        held += found.low <= 50 <= found.high
    assert 0.93 < held / 2000 < 0.97


def test_polls_that_differ_widen_the_interval_beyond_their_rounding() -> None:
    """By hand: without one of 120 the rate is 28/3, without one of 80 32/3; mean of their logarithms 2.30036, each
    off by 0.066766; error √(3/4 · 4 · 0.066766²) = 0.11564; t of 3 degrees 3.1824."""
    found = poll_rate([120, 80, 120, 80], [10, 10, 10, 10], rounding_s=0.001)
    assert found is not None
    factor = math.exp(3.1824 * 0.11564)
    assert (found.per_s, found.low, found.high) == pytest.approx((10, 10 / factor, 10 * factor), rel=1e-3)


@pytest.mark.parametrize(("polls", "rounding_s"), [(5, 0.001), (12, 0.001), (40, 0.001), (12, 1.0)])
def test_the_interval_holds_the_true_rate_of_polls_that_vary(polls: int, rounding_s: float) -> None:
    source = random.Random(2)
    held = 0
    for _ in range(1500):
        items = [source.randint(50, 500) for _ in range(polls)]
        lengths = [count / 50 * source.lognormvariate(-0.02, 0.2) for count in items]
        found = poll_rate(items, [round(one / rounding_s) * rounding_s for one in lengths], rounding_s)
        assert found is not None
        held += found.low <= 50 <= found.high
    assert 0.93 < held / 1500 < 0.985
