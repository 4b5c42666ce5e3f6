"""Back pressure against targets whose best concurrency is known, in virtual windows."""

from __future__ import annotations

import numpy as np
import pytest

from plimsoll.experiments.long_runs.back_pressure import BackPressure, Window


def follow(pressure: BackPressure, windows: int, per_s, fails_above: float = 1e9, noise: float = 0.02) -> list[Window]:
    """`windows` windows of a target that does per_s(concurrency) creates a second."""
    random, seen, concurrency = np.random.default_rng(1), [], pressure.concurrency
    for _ in range(windows):
        rate = per_s(concurrency) * (1 + noise * random.standard_normal())
        failed = max(0, int(concurrency - fails_above))
        seen.append(Window(concurrency, rate, failed, 1000 * concurrency / rate))
        concurrency = pressure.next(seen[-1])
    return seen


def test_eight_servers_are_kept_busy_without_a_long_queue() -> None:
    seen = follow(BackPressure(), 80, lambda n: 10.0 * min(n, 8))
    late = [window.concurrency for window in seen[40:]]
    assert np.mean([window.per_s for window in seen[40:]]) > 0.9 * 80
    assert 6 <= np.median(late) <= 12


def test_a_target_that_fails_above_twenty_is_seldom_made_to_fail() -> None:
    seen = follow(BackPressure(), 200, lambda n: 5.0 * n, fails_above=20)
    failing = [window for window in seen if window.failed]
    assert 1 <= len(failing) <= 4, "the failures say where the limit is; afterwards it keeps below"
    assert np.mean([window.per_s for window in seen[50:]]) > 0.6 * 100


def test_a_failure_halves_and_sets_a_ceiling() -> None:
    pressure = BackPressure()
    pressure.concurrency = 16
    assert pressure.next(Window(16, 100.0, 3, 10.0)) == 8
    assert pressure.ceiling == 15 and "3 failed" in pressure.reason


def test_slow_answers_count_as_a_failure() -> None:
    assert BackPressure(slow_ms=100).next(Window(8, 10.0, 0, 150.0)) == 4


@pytest.mark.parametrize(("least", "most"), [(1, 4), (3, 3), (2, 7)])
def test_the_bounds_hold(least: int, most: int) -> None:
    seen = follow(BackPressure(least, most), 60, lambda n: 10.0 * n)
    assert {window.concurrency for window in seen} <= set(range(least, most + 1))
    assert np.median([window.concurrency for window in seen[30:]]) == most


def test_a_target_that_ages_is_not_throttled() -> None:
    cost = iter(np.linspace(1, 6, 1_000))
    seen = follow(BackPressure(), 120, lambda n: 100.0 * min(n, 4) / next(cost))
    assert np.median([window.concurrency for window in seen[60:]]) >= 3
