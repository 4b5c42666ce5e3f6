"""Which way the cells of two tables point."""

from __future__ import annotations

import pytest

from plimsoll.stats.comparison.cell_ratios import ratios


def test_a_direction_needs_most_cells_and_a_median_that_matters() -> None:
    assert ratios([100] * 4, [110, 120, 130, 90]).direction == "up"
    assert ratios([110, 120, 130, 90], [100] * 4).direction == "down"
    assert ratios([100] * 4, [101, 102, 103, 104]).direction == "none"
    assert ratios([100] * 4, [150, 150, 80, 80]).direction == "none"


def test_cells_against_the_rest_are_named_the_farthest_first() -> None:
    found = ratios([100] * 8, [120, 120, 120, 120, 120, 120, 60, 30])
    assert found.direction == "up" and found.anomalies == (7, 6)


def test_without_cells_there_is_nothing_to_say() -> None:
    assert ratios([], []) is None
    with pytest.raises(ValueError, match="same cells"):
        ratios([1], [])
