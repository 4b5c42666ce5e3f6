"""Little's law over seconds that were counted: what edges, chance and hung requests explain, and what they do not."""

from __future__ import annotations

from typing import Any

import pytest

from plimsoll.stats.throughput.littles_law import LawGap, law_gap, unaccounted


def gap(inside: list[float], each_s: float, per_s: int = 100, longest_s: float = 0.2, **more: Any) -> LawGap:
    """`per_s` end in each second and took `each_s`."""
    seconds = len(inside) - 1
    found = law_gap(inside, [per_s * each_s] * seconds, [per_s] * seconds, [longest_s] * seconds, **more)
    assert found is not None
    return found


def test_what_is_inside_is_throughput_times_time() -> None:
    found = gap([20.0] * 13, 0.2)
    assert not found.is_fault and found.inside == found.told == 20 and found.share == 0
    assert (found.per_s, found.mean_s) == (100, pytest.approx(0.2))


@pytest.mark.parametrize(("each_s", "is_fault"), [(0.2, False), (0.195, False), (0.15, True), (0.27, True)])
def test_times_that_are_too_short_or_too_long_do_not_fit_the_count(each_s: float, is_fault: bool) -> None:
    found = gap([20.0] * 61, each_s)
    assert found.is_fault is is_fault
    assert found.share == pytest.approx(abs(0.2 - each_s) / max(0.2, each_s))


def test_a_step_that_is_not_much_longer_than_an_iteration_says_little() -> None:
    assert not gap([20.0] * 7, 0.15, longest_s=2.0).is_fault
    assert law_gap([20.0] * 4, [1.0] * 3, [5] * 3, [0.2] * 3) is None, "too short"
    assert law_gap([20.0] * 7, [0.0] * 6, [0] * 6, [0.0] * 6) is None, "nothing ended"


def test_a_count_that_scatters_allows_for_its_scatter() -> None:
    assert not gap([30.0, 10.0] * 6, 0.15).is_fault
    assert gap([15.0] * 12, 0.2).is_fault


def test_time_in_which_the_generator_did_not_live_counts_for_neither() -> None:
    assert gap([20.0] * 13, 0.15).is_fault
    assert not gap([20.0] * 13, 0.15, blind_s=3.0).is_fault


def test_requests_that_hang_are_inside_and_have_no_time_yet() -> None:
    growing = [20.0 + 5 * second for second in range(13)]
    assert gap(growing, 0.2).is_fault
    assert not gap(growing, 0.2, hung=60).is_fault
    assert not gap([80.0] * 13, 0.2, hung=80, hung_before=80).is_fault, "since before"


def test_arrivals_that_came_have_left_or_are_inside() -> None:
    assert unaccounted([3.0, 5.0], [10], [8]) == 0
    assert unaccounted([3.0, 3.0], [10, 10], [10, 8]) == 2
    assert unaccounted([3.0, 3.0], [10], [12]) == -2
