"""What the scorecard of imported tests measures, in seconds: a knee planted in usual shapes of load is found."""

from __future__ import annotations

import numpy as np
import pytest
from imported_scorecard import WITHIN, trial
from imported_shapes import SHAPES, Truth, played, stairs


@pytest.mark.parametrize("tool", ["JTL", "k6", "Locust"])
@pytest.mark.parametrize("shape", ["ramp, a user at a time, coarse", "ramp, hold, ramp down", "spikes"])
def test_a_planted_knee_is_told_within_fifteen_per_cent(shape: str, tool: str) -> None:
    knee, truth = trial(shape, tool, 70_001)
    assert knee is not None and abs(knee / truth - 1) <= WITHIN


def test_the_simulated_queue_has_the_throughput_of_exact_mean_value_analysis() -> None:
    truth = Truth(0.02, 0.98, thinks_first=True)
    run = played(stairs([0.5, 2.0], 400), truth, 5)
    ends = run.start_s + run.took_s
    light, full = (np.sum((ends >= low) & (ends < low + 350)) / 350 for low in (50, 450))
    queue = 0.0
    for users in range(1, 26):
        response_s = truth.demand_s * (1 + queue)
        rate = users / (response_s + truth.think_s)
        queue = rate * response_s
    # Three labels whose mean demands differ make service less even than exponential, which bends throughput a little.
    assert light == pytest.approx(rate, rel=0.04) and full == pytest.approx(50, rel=0.03)


def test_there_are_ten_shapes() -> None:
    assert len(SHAPES) == 10
