"""What a host's speed explains: made series with a known exponent."""

from __future__ import annotations

import numpy as np
import pytest

from plimsoll.stats.throughput.host_speed import PRIOR, HostSpeed, host_speed, slower_from


def made(exponent: float, cv: float, error: float = 0.0, seconds: int = 120, seed: int = 3):
    """Completions of a busy target, and the speed as a probe that errs saw it."""
    random = np.random.default_rng(seed)
    speed = 1 + cv * random.standard_normal(seconds)
    done = random.poisson(300 * speed**exponent)
    return done, 50 * speed * (1 + error * random.standard_normal(seconds))


@pytest.mark.parametrize("exponent", [0.0, 1.0, 2.0])
def test_the_exponent_of_a_drifting_host_is_found(exponent: float):
    done, speed = made(exponent, cv=0.1)
    assert host_speed([(done, speed)], speed, 0.0).exponent == pytest.approx(exponent, abs=0.15)


def test_the_error_of_the_probe_does_not_flatten_the_exponent():
    done, speed = made(2.0, cv=0.08, error=0.05, seconds=400)
    assert host_speed([(done, speed)], speed, 0.0).exponent < 1.7
    assert host_speed([(done, speed)], speed, 0.05).exponent == pytest.approx(2.0, abs=0.25)


def test_a_speed_that_hardly_changed_leaves_the_prior_and_explains_nothing():
    done, speed = made(1.0, cv=1e-6)
    found = host_speed([(done, speed)], speed, 0.0)
    assert found.exponent == pytest.approx(PRIOR, abs=0.1)
    assert found.factors(speed) == pytest.approx(np.ones(speed.size), abs=1e-3)


def test_factors_are_one_on_average_and_where_the_speed_is_not_known():
    done, speed = made(1.0, cv=0.1)
    found = host_speed([(done, speed)], speed, 0.0)
    assert found.factors(speed).mean() == pytest.approx(1.0)
    assert found.factors([np.nan, 2 * speed.mean()])[0] == 1.0
    assert HostSpeed().factors([3.0, 5.0]).tolist() == [1.0, 1.0]


def test_without_busy_seconds_nothing_is_explained():
    assert host_speed([], [1.0, 1.1], 0.0) == HostSpeed()
    assert host_speed([([300, 310, 290], [np.nan] * 3)], [np.nan] * 3, 0.0) == HostSpeed()


def test_a_host_that_slows_is_told_from_one_that_scatters():
    random, seconds = np.random.default_rng(5), np.arange(40)
    scatter = np.exp(0.2 * random.standard_normal(40))
    assert slower_from(24, seconds, 50 * scatter * np.where(seconds < 24, 1, 0.7)) == pytest.approx(0.3, abs=0.12)
    assert slower_from(24, seconds, 50 * scatter) is None
    assert slower_from(24, seconds, 50 * scatter * np.where(seconds < 24, 1, 1.4)) is None
    assert slower_from(36, seconds, 50 * np.where(seconds < 36, 1, 0.5)) is None, "four seconds are too few"


def test_a_speed_that_is_not_known_counts_on_no_side():
    seconds, speed = np.arange(20), np.where(np.arange(20) < 10, 2.0, 1.0)
    speed[[0, 12]] = np.nan
    assert slower_from(10, seconds, speed) == pytest.approx(0.5)
    assert slower_from(10, [], []) is None
