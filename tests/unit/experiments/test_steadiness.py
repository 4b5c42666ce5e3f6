"""A step in which the target changes: what it says, and when it is not said."""

from __future__ import annotations

import numpy as np
import pytest

from plimsoll.experiments.steps.measure import Measurement
from plimsoll.experiments.steps.steadiness import response_drifts, throughput_drifts, warms_up

SECONDS = 30
EVEN = np.ones(SECONDS)


def measured(mean_ms=None, done=None, stolen=None) -> Measurement:
    """A step of 30 s with these means, completions and stolen shares a second."""
    seen = Measurement(100.0, seconds=list(range(40, 40 + SECONDS)))
    seen.mean_ms = list(mean_ms) if mean_ms is not None else [5.0] * SECONDS
    seen.done = list(done) if done is not None else [100] * SECONDS
    seen.planned = [100] * SECONDS
    seen.stolen = list(stolen) if stolen is not None else [0.0] * SECONDS
    return seen


def noisy(values, seed: int = 3, share: float = 0.03) -> np.ndarray:
    return np.asarray(values) * (1 + share * np.random.default_rng(seed).standard_normal(SECONDS))


def test_response_times_that_rise_all_the_while_say_by_how_much():
    why = response_drifts(measured(noisy(np.linspace(5, 7.5, SECONDS))), EVEN)
    assert why.startswith("The target gets slower all the while: the mean response time rises by 5")
    assert "in 30 s (99%: +" in why and why.endswith("so this step bounds nothing.")


def test_response_times_that_fall_say_that_it_still_warms_up():
    assert "gets faster all the while" in response_drifts(measured(noisy(np.linspace(8, 5, SECONDS))), EVEN)


def test_response_times_of_a_queue_that_grow_faster_and_faster_are_seen():
    load = np.linspace(0.6, 0.93, SECONDS)
    found = [response_drifts(measured(noisy(3 / (1 - load), seed, 0.1)), EVEN) for seed in range(20)]
    assert sum(why is not None for why in found) >= 18


def test_seconds_without_an_answer_count_for_nothing():
    means = noisy(np.linspace(5, 7.5, SECONDS))
    means[[3, 9]] = 0.0, np.nan
    assert response_drifts(measured(means), EVEN) is not None


@pytest.mark.parametrize("means", [np.full(SECONDS, 5.0), np.linspace(5, 5.3, SECONDS)])
def test_even_times_and_a_drift_of_less_than_a_tenth_are_steady(means):
    assert response_drifts(measured(noisy(means)), EVEN) is None


def test_one_pause_is_no_drift():
    means = noisy(np.full(SECONDS, 5.0))
    means[20:23] = 80.0
    assert response_drifts(measured(means), EVEN) is None


def test_a_host_that_slows_down_is_not_the_target():
    speed = np.linspace(1.25, 0.75, SECONDS)
    seen = measured(noisy(5.0 / speed))
    assert response_drifts(seen, EVEN) is not None and response_drifts(seen, speed) is None


def test_seconds_with_stolen_time_are_left_out():
    means = noisy(np.full(SECONDS, 5.0))
    means[1::2] *= np.linspace(1, 3, 15)
    assert response_drifts(measured(means), EVEN) is not None
    assert response_drifts(measured(means, stolen=[0.0, 0.2] * 15), EVEN) is None


def test_an_overloaded_target_that_does_more_and_more_was_not_warm():
    busy = np.full(SECONDS, True)
    rising, falling = (noisy(np.linspace(*ends, SECONDS)).round() for ends in ((60, 95), (95, 60)))
    why = warms_up(measured(done=rising), rising, busy, EVEN)
    assert "what it finishes rises by" in why
    assert warms_up(measured(done=falling), falling, busy, EVEN) is None, "it thrashes"


def test_a_closed_step_is_unsteady_either_way_from_three_per_cent_on():
    rising, falling = (noisy(line, share=0.01) for line in (np.linspace(100, 110, 30), np.linspace(110, 100, 30)))
    assert "Throughput rises by" in throughput_drifts(measured(done=rising))
    assert "Throughput falls by" in throughput_drifts(measured(done=falling))
    assert throughput_drifts(measured(done=noisy(np.linspace(100, 101.5, 30), share=0.001))) is None


def test_too_few_seconds_cannot_be_told():
    seen = measured(np.linspace(5, 9, SECONDS))
    seen.seconds, seen.mean_ms, seen.stolen = seen.seconds[:8], seen.mean_ms[:8], seen.stolen[:8]
    assert response_drifts(seen, EVEN[:8]) is None
