"""A few stark stalls: at even gaps they are a job, at uneven ones chance."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.signal import lfilter

from plimsoll.stats.pulses.periodic import periodic_pulse
from plimsoll.stats.pulses.regular_stalls import chance_of, regular_stalls


def minute(*stalls: int, seconds: int = 66) -> np.ndarray:
    """Log response times that scatter by a quarter, forty times as long in the stalls."""
    series = np.random.default_rng(3).normal(2.0, 0.25, seconds)
    series[list(stalls)] += np.log(40)
    return series


def test_a_job_in_a_minute_is_found_with_its_period() -> None:
    found = periodic_pulse(minute(6, 20, 35, 49, 64))
    assert found is not None and found.low_s < 14.5 < found.high_s
    assert (found.cycles, found.width_s, found.z > found.border) == (5, 1, True)


@pytest.mark.parametrize("stalls", [(6, 20, 49), (6, 13, 35, 49, 64), (6, 20, 35), (30, 38, 46, 54)])
def test_stalls_that_are_few_uneven_or_bunched_are_no_job(stalls: tuple[int, ...]) -> None:
    assert regular_stalls(minute(*stalls), np.ones(66, dtype=bool), 8) is None


def test_noise_without_stalls_has_none() -> None:
    for seed in range(50):
        tails = np.random.default_rng(seed).standard_t(3, 120)
        assert regular_stalls(tails, np.ones(120, dtype=bool), 8) is None


def test_the_chance_is_that_of_even_gaps_by_accident() -> None:
    assert chance_of(4, 66, 1) == pytest.approx(0.0017, abs=0.001)
    assert chance_of(7, 66, 1) < 0.0005


def test_a_pulse_that_begins_where_one_period_ends_is_located() -> None:
    """Its phase is the last one of the fold, which a shorter trial period has not."""
    random = np.random.default_rng([40_031, 190])
    series = np.asarray(lfilter([np.sqrt(0.75)], [1, -0.5], random.standard_normal(800))[200:])
    first = random.uniform(0, 190)
    for start in np.arange(first, 600, 190).astype(int):
        series[start : start + 20] += 2
    found = periodic_pulse(series)
    assert found is not None and found.period_s == pytest.approx(190, rel=0.02)
