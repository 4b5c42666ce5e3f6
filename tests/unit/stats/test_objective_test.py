"""Objectives of loads whose values come in clusters that say nothing of the limit."""

from __future__ import annotations

import numpy as np
import pytest

from plimsoll.runs.histogram import Histogram
from plimsoll.stats.estimates.objective_test import ShareTest, quantile_share_test


def share_test_of(slow_ms: np.ndarray, limit_ms: float) -> ShareTest:
    """Ten seconds of 50 requests of 1 ms, and of 49 slow ones, which take that long in each second."""
    blocks = [Histogram.from_values([1.0] * 50 + [ms + 0.1 * at for at in range(49)]) for ms in slow_ms]
    return quantile_share_test(blocks, Histogram.merge(blocks), limit_ms, 0.95, 30.0, 1.0, 99.0)


@pytest.mark.parametrize("drift_ms", [0.0, 2.0, -2.0])
def test_every_second_request_far_above_a_limit_violates_it_however_slowly_they_drift(drift_ms: float) -> None:
    """Users who wait in step for one lock: each second request takes 600 ms, a little more or less each second."""
    found = share_test_of(600 + drift_ms * np.arange(10), 200.0)
    assert found.verdict() == "violated" and found.effect < 5


def test_a_queue_whose_length_wanders_past_the_limit_is_not_taken_for_one_band() -> None:
    """Times that drift from 150 to 330 ms in ten seconds: the share above 200 ms depends on when one looked."""
    found = share_test_of(150 + 20.0 * np.arange(10), 200.0)
    assert found.verdict() == "undecided" and found.effect > 50


def test_of_calm_windows_of_a_queue_no_more_violate_than_may() -> None:
    """Times that wander as an autoregression of 20 s about 100 ms (sd 30 ms), seen for 10 s: 5% of all are above
    149.3 ms. Not more than a few of 400 windows are said to violate p95 <= 155 ms, which holds."""
    draw, wrong = np.random.default_rng(7), 0
    for _ in range(400):
        level, seconds = draw.normal(0, 1), []
        for _ in range(10):
            level = 0.95 * level + np.sqrt(1 - 0.95**2) * draw.normal()
            seconds.append(Histogram.from_values(100 + 30 * level + draw.normal(0, 1, 100)))
        found = quantile_share_test(seconds, Histogram.merge(seconds), 155.0, 0.95, None)
        wrong += found.verdict() == "violated"
    assert wrong <= 8, wrong
