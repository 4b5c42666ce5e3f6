"""The top of a curve of throughput, from points around it."""

from __future__ import annotations

import math

import numpy as np
import pytest

from plimsoll.stats.top_of_curve import Top, top_of

LEVELS = [128.0, 181.0, 256.0, 362.0, 512.0]


def law(level: float) -> float:
    """The universal scalability law with its peak of 1523.75 at 313."""
    return 40 * level / (1 + 0.02 * (level - 1) + 1e-5 * level * (level - 1))


def test_the_top_between_two_levels_is_found():
    found = top_of(LEVELS, [law(level) for level in LEVELS], [0.1] * 5)
    assert found.value == pytest.approx(1523.75, rel=1e-3)
    assert found.level == pytest.approx(313, rel=0.05)


def test_points_that_differ_by_chance_alone_are_pooled():
    found = top_of([90, 128, 181], [99, 101, 100], [2, 2, 2])
    assert found.value == pytest.approx(100)
    assert found.sd == pytest.approx(2 / math.sqrt(3))


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
