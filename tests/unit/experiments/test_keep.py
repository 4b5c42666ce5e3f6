"""The controller of `hold --keep`, second by second, against simulated targets in virtual time."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest

from plimsoll.errors import InputError
from plimsoll.experiments.long_runs.keep import Keeper, Second
from plimsoll.experiments.long_runs.keep_loop import allowed_share, seen_of
from plimsoll.experiments.long_runs.kept_load import KeptObjective, kept_objectives
from plimsoll.runs.histogram import Histogram
from plimsoll.study.objectives import parse_objective

sys.path.insert(0, str(Path(__file__).parents[2] / "accuracy"))
from keep_targets import Collapsing, Metastable, kept_rate, kept_users, share_above, steer
from simulators import ClosedQueue, OpenQueue

P95 = "p95<=300ms"


def test_the_truth_of_a_queue_agrees_with_its_simulation() -> None:
    per_s = kept_rate(4, 25, 0.95, 0.3)
    load = OpenQueue(4, 0.04, 3)
    load.set_level(per_s)
    times = Histogram.merge(one.series[0].histogram() for one in load.snapshots(3000))
    assert times.percentile(0.95) == pytest.approx(300, rel=0.06)
    assert share_above(1, 100, 90, 0.3) == pytest.approx(np.exp(-3))


def test_what_counts_as_bad_is_what_misses_the_limit() -> None:
    times = Histogram.from_values([100, 200, 400, 500])
    slow = seen_of(parse_objective(P95), times, 1, 4)
    assert (slow.requests, slow.bad) == (4, 2) and allowed_share(parse_objective(P95)) == pytest.approx(0.05)
    failed = seen_of(parse_objective("errors<=1%"), times, 1, 4)
    assert (failed.requests, failed.bad) == (4, 1) and allowed_share(parse_objective("errors<=1%")) == 0.01
    mean = seen_of(parse_objective("mean<=300ms"), times, 0, 4)
    assert mean.bad == pytest.approx(4) and allowed_share(parse_objective("mean<=300ms")) == 1


@pytest.mark.parametrize("objective", ["max<=1s", "errors<=0%", "GET /x: max<=1s"])
def test_an_objective_without_exceptions_cannot_be_kept(objective: str) -> None:
    with pytest.raises(InputError, match="allows no exception"):
        KeptObjective.of(objective)


def test_an_objective_may_name_a_request_or_an_operation() -> None:
    one = KeptObjective.of("GET /items/{id}: p95<=20ms")
    assert one.request == "GET /items/{id}" and str(one.limit) == "p95<=20ms"
    assert [each.implied for each in kept_objectives(["p95<=20ms"])] == [False, True]
    assert [each.implied for each in kept_objectives(["p95<=20ms", "errors<=1%"])] == [False, False]


@pytest.mark.parametrize(("servers", "mean_s"), [(1, 0.01), (4, 0.04)])
def test_the_level_settles_where_the_percentile_is_at_its_limit(servers: int, mean_s: float) -> None:
    truth = kept_rate(servers, 1 / mean_s, 0.95, 0.3)
    for seed in (1, 2, 3):
        run = steer(OpenQueue(servers, mean_s, seed), [P95], 20.0)
        assert run.levels[120:].mean() == pytest.approx(truth, rel=0.06), seed
        assert run.keeper.settled_at is not None and run.keeper.settled_at < 100


def test_a_start_far_above_the_capacity_is_left_at_once() -> None:
    run = steer(OpenQueue(1, 0.01, 1), [P95], 1000.0, 300)
    assert run.levels[4] < 100 and run.keeper.overloads[0].second <= 2
    assert run.levels[120:].mean() == pytest.approx(90, rel=0.08)


def test_users_who_wait_are_steered_in_whole_numbers() -> None:
    truth = kept_users(80, 1.0, 0.95, 0.3)
    run = steer(ClosedQueue(1, 0.0125, 1.0, 1), [P95], 5.0)
    assert set(run.levels) == {round(level) for level in run.levels}
    assert run.levels[120:].mean() == pytest.approx(truth, rel=0.05)


def test_half_of_the_capacity_gone_is_seen_in_seconds_and_followed() -> None:
    speeds = np.where(np.arange(1000) < 300, 1.0, 0.5)
    run = steer(OpenQueue(1, 0.01, 1, speeds=speeds), [P95], 20.0)
    assert run.levels[305] <= 0.6 * run.levels[299]
    assert run.levels[-150:].mean() == pytest.approx(kept_rate(1, 50, 0.95, 0.3), rel=0.1)


def test_a_capacity_that_comes_back_is_found_again() -> None:
    speeds = np.where(np.arange(1000) < 200, 0.5, 1.0)
    run = steer(OpenQueue(1, 0.01, 1, speeds=speeds), [P95], 20.0)
    assert run.levels[-60:].mean() > 75


def test_drift_is_followed_downwards() -> None:
    speeds = 1 - 0.3 * np.arange(1000) / 600
    run = steer(OpenQueue(1, 0.01, 1, speeds=speeds), [P95], 20.0)
    assert run.levels[-60:].mean() == pytest.approx(63, rel=0.08) and run.levels[60:120].mean() > 70


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_a_target_that_collapses_is_kept_away_from_its_collapse(seed: int) -> None:
    run = steer(Collapsing(4, 0.04, 40, seed), [P95], 20.0)
    assert 1 <= len(run.keeper.overloads) <= 6
    waits = [one.in_flight / max(one.done, 1) for one in run.snapshots[60:]]
    assert sum(wait > 1 for wait in waits) <= 0.05 * len(waits)
    apart = np.diff([one.second for one in run.keeper.overloads])
    assert apart.size == 0 or apart[-1] > 60, "each time it is tried more seldom"


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_a_metastable_target_is_brought_back(seed: int) -> None:
    run = steer(Metastable(0.004, 60, 2.0, seed), ["p95<=100ms"], 20.0)
    assert run.levels[120:].mean() > 180 and not run.keeper.lost
    assert run.snapshots[-1].in_flight < 60


def test_a_target_that_never_comes_back_is_lost() -> None:
    run = steer(OpenQueue(1, 0.01, 1, dies_at_s=200, dead_mode="hang"), [P95], 20.0, 400)
    assert run.keeper.lost and run.levels[-1] < 1
    assert run.events_of("keep_lost")[0]["second"] == pytest.approx(262, abs=5)


def test_errors_are_kept_below_their_share() -> None:
    run = steer(OpenQueue(8, 0.01, 1, failing_above_per_s=80), ["errors<=1%"], 20.0, 900)
    late = run.snapshots[450:]
    failed, requests = sum(one.series[3].passes or 0 for one in late), sum(one.series[3].total or 0 for one in late)
    assert failed / requests == pytest.approx(0.01, rel=0.4)


def test_a_level_is_never_above_its_most() -> None:
    keeper = Keeper((parse_objective(P95),), 10.0, most=25.0)
    quick = seen_of(parse_objective(P95), Histogram.from_values([10.0] * 40), 0, 40)
    levels = [keeper.next_level(Second(at, keeper.level, 40, 40, 1, 40, 0, (quick,))) for at in range(60)]
    assert max(levels) == pytest.approx(25.0) and levels[-1] == pytest.approx(25.0)
