"""Growth beyond chance: hand-made series with known answers, and the error rates that are promised."""

from __future__ import annotations

import numpy as np
import pytest

from plimsoll.stats.throughput.saturation import (
    arrivals_to_decide,
    busy_seconds,
    falls_within,
    growth,
    is_calm,
    is_growing,
    pooled_noise,
    smallest_overload,
    variance_per_event,
)


def single_server(load: float, seconds: int, random: np.random.Generator, capacity_per_s: float = 300.0):
    """Planned and done per second of an M/M/1 queue that starts empty (Lindley's recursion as a running maximum)."""
    arrivals = np.sort(random.uniform(0, seconds, random.poisson(load * capacity_per_s * seconds)))
    work = np.cumsum(services := random.exponential(1 / capacity_per_s, arrivals.size))
    ends = work + np.maximum.accumulate(arrivals - (work - services))
    edges = np.arange(seconds + 1)
    return np.histogram(arrivals, edges)[0], np.histogram(ends, edges)[0]


def test_a_queue_that_gains_a_tenth_of_the_arrivals_is_growing():
    seen = growth([110] * 60, [100] * 60, 0, 110)
    assert seen.growth_share == pytest.approx(600 / 6600)
    assert is_growing(seen, arrivals_to_decide(0.05))
    assert not is_calm(seen)
    assert seen.busy_done / seen.busy_s == pytest.approx(100)


def test_a_queue_that_stays_level_is_calm():
    seen = growth([100] * 60, [100] * 60, 7, 100)
    assert is_calm(seen) and not is_growing(seen, 1000)
    assert seen.unfinished_end == 7


def test_busy_seconds_are_those_that_began_with_work_enough():
    planned, done = [50] * 10 + [120] * 10, [50] * 10 + [100] * 10
    seen = growth(planned, done, 0, 85)
    assert list(np.flatnonzero(busy_seconds(planned, done, 0))) == list(range(12, 20))
    assert seen.busy_s == 8 and seen.busy_share == pytest.approx(0.4)
    assert seen.busy_done / seen.busy_s == pytest.approx(100)


def test_a_slow_host_explains_completions_that_fall_short_and_a_fast_one_hides_nothing():
    planned, slow = [300] * 30, [270] * 30
    assert is_growing(growth(planned, slow, 100, 300), arrivals_to_decide(0.05))
    explained = growth(planned, slow, 100, 300, host_speed=[0.9] * 30)
    assert explained.shortfall_z == pytest.approx(0, abs=1e-9) and not is_growing(explained, 1000)
    hidden = growth(planned, [300] * 30, 100, 300, host_speed=[1.1] * 30)
    assert is_growing(hidden, arrivals_to_decide(0.05))


def test_seconds_without_waiting_work_say_nothing_about_the_host():
    idle = growth([100] * 30, [100] * 30, 0, 100, host_speed=[1.3] * 30)
    assert idle.shortfall_z == 0 and idle.busy_share == 0


def test_the_pooled_noise_of_poisson_counts_is_one_and_that_of_a_target_that_collapses_is_not_more():
    random = np.random.default_rng(5)
    steady = [random.poisson(300, 30) for _ in range(4)]
    assert pooled_noise(steady) == pytest.approx(1.0, abs=0.7)
    assert pooled_noise([random.poisson(level, 30) for level in (100, 300, 500)]) == pytest.approx(1.0, abs=0.7)
    assert pooled_noise([np.repeat([270, 300, 330], 10)]) > 10, "wandering within a step counts"
    assert pooled_noise([]) == 1.0


def test_early_looks_need_more_evidence_than_the_full_step():
    planned, done = [106] * 10, [100] * 10
    seen = growth(planned, done, 0, 106)
    assert is_growing(seen, full_arrivals=500)
    assert not is_growing(seen, full_arrivals=20_000)


def test_arrivals_to_decide_and_smallest_overload_are_inverse():
    for overload in (0.01, 0.05, 0.2):
        assert smallest_overload(arrivals_to_decide(overload, 2.0), 2.0) == pytest.approx(overload)
    assert 5000 < arrivals_to_decide(0.05) < 9000


def test_seconds_of_different_shapes_are_refused():
    with pytest.raises(ValueError, match="same length"):
        growth([1, 2], [1], 0, 1)


def test_the_variance_of_poisson_counts_is_about_one_per_event_and_of_even_ones_small():
    random = np.random.default_rng(3)
    assert variance_per_event(random.poisson(300, 400)) == pytest.approx(1.0, abs=0.2)
    assert variance_per_event(np.full(400, 300)) < 0.35


@pytest.mark.parametrize(("load", "least", "most"), [(0.95, 0, 0.01), (0.97, 0, 0.02), (1.0, 0, 0.1), (1.05, 0.95, 1)])
def test_error_rates_after_nine_thousand_arrivals(load: float, least: float, most: float):
    random = np.random.default_rng(11)
    found = []
    for _ in range(200):
        planned, done = single_server(load, 30, random)
        found.append(is_growing(growth(planned, done, 0, load * 300), arrivals_to_decide(0.048)))
    assert least <= np.mean(found) <= most


@pytest.mark.parametrize(
    ("done", "falls"),
    [
        ([334, 285, 136, 139, 162, 109], True),  # retries that pile up
        ([300] * 19 + [155, 144, 149], True),  # tips over at its end
        ([272, 143, 130, 160], True),
        ([300] * 9 + [150, 300], False),  # a pause
        ([300] * 9 + [150], False),
        ([300, 285, 270, 255, 240], False),
        ([3, 2, 0, 0, 0, 0], False),  # too few to tell
        ([0] * 9, False),
        ([], False),
    ],
)
def test_a_collapse_within_a_step_is_no_chance(done: list[int], falls: bool):
    assert falls_within(done) is falls


def test_a_busy_target_hardly_ever_seems_to_collapse():
    random = np.random.default_rng(3)
    assert sum(falls_within(random.poisson(20.0, 30)) for _ in range(500)) <= 2
    assert sum(falls_within(4 * random.poisson(75.0, 30)) for _ in range(500)) <= 5


def _called_bad(load: float, seed: int, per_s: float = 300.0, seconds: int = 30) -> bool:
    """Whether a step, looked at each second, of a target that finishes sixteen at a time is said to be overloaded."""
    random = np.random.default_rng(seed)
    arrivals, able = random.poisson(per_s, seconds), 16 * random.poisson(per_s / load / 16, seconds)
    waiting, done = 0, np.zeros(seconds)
    for second in range(seconds):
        done[second] = min(waiting + arrivals[second], able[second])
        waiting += arrivals[second] - int(done[second])
    looks = (growth(arrivals[:n], done[:n], 0.0, per_s, idle_unfinished=0.0) for n in range(5, seconds + 1))
    return any(is_growing(look, arrivals_to_decide(0.048, look.service_noise), 0.0024) for look in looks)


def test_a_fifth_of_the_work_missing_is_seen_though_completions_scatter_sixteen_times_as_much_as_chance():
    assert sum(_called_bad(1.2, seed) for seed in range(100)) >= 60
    assert sum(_called_bad(0.97, seed) for seed in range(200)) <= 10
