"""The top of a curve of throughput, from points around it."""

from __future__ import annotations

import math

import numpy as np
import pytest

from plimsoll.stats.throughput.top_of_curve import Top, top_of

LEVELS = [128.0, 181.0, 256.0, 362.0, 512.0]


def law(level: float) -> float:
    """The universal scalability law with its peak of 1523.75 at 313."""
    return 40 * level / (1 + 0.02 * (level - 1) + 1e-5 * level * (level - 1))


def test_the_top_between_two_levels_is_found():
    found = top_of(LEVELS, [law(level) for level in LEVELS], [0.1] * 5)
    assert found.value == pytest.approx(1523.75, rel=1e-3)
    assert found.level == pytest.approx(313, rel=0.05)


def test_points_that_differ_by_chance_alone_are_nearly_pooled():
    found = top_of([90, 128, 181], [99, 101, 100], [2, 2, 2])
    assert found.value == pytest.approx(100, abs=0.3)
    assert 2 / math.sqrt(3) < found.sd < 1.5


def test_the_top_of_a_steep_hill_is_that_of_its_parabola():
    found = top_of([50, 100, 200 / 1.3], [90, 100, 92], [0.1] * 3)
    assert found.value == pytest.approx(100.0, abs=0.3)
    assert found.sd == pytest.approx(0.1, rel=0.1)


def test_two_equal_points_are_a_top_between_them():
    found = top_of([90, 128, 181], [6, 7, 7], [0.01] * 3)
    assert 7 < found.value < 7.3 and 128 < found.level < 181


@pytest.mark.parametrize("truth", [(605, 627, 600), (620, 627, 615), (600, 600, 600)])
def test_a_top_that_may_be_flat_is_as_doubtful_as_it_is_wrong(truth: tuple[float, ...]):
    random = np.random.default_rng(3)
    found = [top_of([32, 45, 64], truth + random.normal(0, 8, 3), [8.0] * 3) for _ in range(2000)]
    within = [abs(one.value - max(truth)) <= 2.25 * one.sd for one in found]
    assert np.mean(within) > 0.9


@pytest.mark.parametrize("levels", [[10.0], [10.0, 14.0], [5.0, 20.0, 80.0]])
def test_without_near_neighbours_on_both_sides_the_greatest_point_is_the_top(levels: list[float]):
    values = [10.0 + place for place in range(len(levels))]
    values = values if len(levels) < 3 else [10.0, 20.0, 11.0]
    best = int(np.argmax(values))
    assert top_of(levels, values, [0.1] * len(levels)) == Top(levels[best], values[best], 0.1)


def test_its_standard_deviation_is_that_of_many_noisy_curves():
    random, truth = np.random.default_rng(5), [law(level) for level in LEVELS]
    found = [top_of(LEVELS, truth + random.normal(0, 3, 5), [3.0] * 5) for _ in range(2000)]
    values = np.array([one.value for one in found])
    assert values.std() == pytest.approx(np.mean([one.sd for one in found]), rel=0.15)
    assert values.mean() == pytest.approx(1523.75, rel=2e-3)


def test_no_points_are_an_error():
    with pytest.raises(ValueError, match="no point"):
        top_of([], [], [])


def test_a_point_without_doubt_is_an_error():
    with pytest.raises(ValueError, match="standard deviation"):
        top_of([90, 128, 181], [6, 7, 6], [0, 1, 1])
