"""Service demand and its extrapolation: exact on its own laws, calibrated under noise."""

from __future__ import annotations

import numpy as np
import pytest

from plimsoll.stats.throughput.demand import demand_s, fit_line, reach
from plimsoll.stats.throughput.littles_law import contradicts, think_time_s, waiting_users


def test_constant_demand_without_idle_load_gives_the_same_by_both_assumptions() -> None:
    found = reach([0.1, 0.2, 0.4], [50, 100, 200], 0.8)
    assert found.constant_per_s == pytest.approx((400, 400, 400))
    assert found.line_per_s == pytest.approx(400)
    assert found.interval == pytest.approx((400, 400))
    assert found.beyond == pytest.approx(2.0)


def test_an_idle_load_separates_the_two() -> None:
    used = [0.1 + 0.001 * rate for rate in (100, 200)]
    found = reach(used, [100, 200], 0.8)
    assert found.line_per_s == pytest.approx(700)
    assert found.constant_per_s == pytest.approx((400, 800 / 1.5))
    assert found.interval is None  # two points


@pytest.mark.parametrize("used", [[0.3, 0.3], [0.4, 0.2]])
def test_a_utilisation_that_does_not_rise_has_no_line(used: list[float]) -> None:
    assert reach(used, [10, 20], 0.9).line_per_s is None


def test_one_throughput_has_no_line_and_none_has_no_demand() -> None:
    assert fit_line([0.2, 0.3], [10, 10]) is None
    with pytest.raises(ValueError, match="throughput"):
        demand_s(0.2, 0.0)
    with pytest.raises(ValueError, match="budget"):
        reach([0.2], [10], 1.2)


def test_the_interval_covers_the_truth_as_often_as_it_says() -> None:
    """U = 5% + X / 500 with noise of a percentage point, five levels up to 60%; 800 seeded repetitions."""
    random = np.random.default_rng(4)
    rate = np.array([50.0, 100.0, 150.0, 200.0, 275.0])
    covered = 0
    for _ in range(800):
        used = 0.05 + rate / 500 + random.normal(0, 0.01, rate.size)
        found = reach(used.tolist(), rate.tolist(), 0.85)
        assert found.interval is not None
        covered += found.interval[0] <= 400 <= found.interval[1]
    assert 0.93 <= covered / 800 <= 0.97


def test_littles_law_finds_what_cannot_be() -> None:
    assert waiting_users(19, 0.050) == pytest.approx(0.95)
    assert not contradicts(1, 19, 0.050) and contradicts(1, 25, 0.050)
    assert think_time_s(100, 20, 1.0) == pytest.approx(4.0)
