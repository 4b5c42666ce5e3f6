"""Samples in proportion, counts of distinct visitors, quantiles: bounded, and merged as if they had been one."""

from __future__ import annotations

from collections import Counter
from random import Random

import pytest

from plimsoll.drafts.logs.tallies import Distinct, Durations, Sample


def test_a_sample_has_what_came_often_in_its_proportion() -> None:
    sample = Sample(Random(1), most=1000)
    for number in range(50_000):
        sample.add("often" if number % 4 else "rare")
    found = Counter(sample.texts)
    assert len(sample.texts) == 1000 and found["often"] == pytest.approx(750, abs=60)


def test_merged_samples_are_in_the_proportion_of_what_they_were_given() -> None:
    random = Random(2)
    large, small = Sample(random, most=1000), Sample(random, most=1000)
    for _ in range(9000):
        large.add("large")
    for _ in range(1000):
        small.add("small")
    large.merge(small)
    assert len(large.texts) == 1000 and large.given == 10_000
    assert Counter(large.texts)["small"] == pytest.approx(100, abs=40)


def test_small_samples_are_merged_whole() -> None:
    one, two = Sample(Random(1)), Sample(Random(1))
    one.add("a")
    two.add("b")
    one.merge(two)
    assert one.texts == ["a", "b"] and one.given == 2


@pytest.mark.parametrize("visitors", [0, 1, 200, 256, 1000, 50_000])
def test_distinct_visitors_are_counted_to_a_fifth(visitors: int) -> None:
    random = Random(3)
    marks = [random.random() for _ in range(visitors)]
    one, two = Distinct(), Distinct()
    for mark in marks:
        one.add(mark)
        one.add(mark)
        two.add(mark)
    one.merge(two)
    assert one.count() == (visitors if visitors < 256 else pytest.approx(visitors, rel=0.2))


def test_quantiles_are_right_to_two_percent() -> None:
    one, two = Durations(), Durations()
    for ms in range(1, 1001):
        (one if ms % 2 else two).add(float(ms))
    one.merge(two)
    assert one.quantile_ms(0.95) == pytest.approx(950, rel=0.021)
    assert one.count == 1000 and one.sum_ms == 500_500


def test_no_time_at_all_is_no_time() -> None:
    durations = Durations()
    assert durations.quantile_ms(0.95) is None
    durations.add(0.0)
    assert durations.quantile_ms(0.95) == 0.0
