"""Iterations that last for seconds: what is under way is told from what waits."""

from __future__ import annotations

import numpy as np
import pytest

from plimsoll.experiments.steps.evidence import Context, arrivals_and_queue, growth_of
from plimsoll.experiments.steps.measure import Measurement
from plimsoll.experiments.steps.under_way import UnderWay, lasting_s, under_way
from plimsoll.runs.histogram import Histogram


def test_an_arrival_ends_as_much_later_as_iterations_take():
    lasting = under_way(Histogram.from_values([2_250.0] * 40))
    assert lasting is not None
    assert lasting.shares == pytest.approx((0, 0, 0.75, 0.25), abs=0.01)
    assert lasting.due([8, 0, 0, 0, 4]) == pytest.approx([0, 0, 6, 2, 0], abs=0.05)


def test_rare_iterations_that_last_are_most_of_what_is_under_way():
    durations = Histogram.from_values([40.0] * 95 + [10_000.0] * 5)
    assert lasting_s(durations, 0.5) == pytest.approx(10, rel=0.01) and lasting_s(durations, 0.05) < 0.05
    lasting = under_way(durations)
    assert lasting is not None and lasting.shares[0] == pytest.approx(0.91, abs=0.02)


def test_short_iterations_are_not_told_apart():
    assert under_way(Histogram.from_values([900.0] * 40)) is None
    assert under_way(Histogram()) is None


def test_a_burst_of_arrivals_that_are_under_way_is_no_queue():
    lasting = UnderWay((0.0, 0.0, 0.0, 1.0))
    seen = Measurement(10.0, unfinished_start=30.0, warm_planned=[10] * 6)
    seen.planned, seen.done, seen.seconds = [10, 30, 10, 10, 10], [10] * 5, list(range(6, 11))
    told = growth_of(seen, 10.0, Context(1.0, 0.05, 10, idle_s=3.0, lasting=lasting))
    blind = growth_of(seen, 10.0, Context(1.0, 0.05, 10, idle_s=3.0))
    assert blind.growth_z > 1 and told.unfinished_end == 20
    assert told.unfinished_start == 0 and told.queue_z < blind.queue_z


def test_what_is_unfinished_beyond_what_is_under_way_waits():
    seen = Measurement(10.0, unfinished_start=45.0, warm_planned=[10] * 6)
    seen.planned, seen.done, seen.seconds = [10] * 3, [10] * 3, [6, 7, 8]
    arrivals, queued = arrivals_and_queue(
        seen, Context(1.0, 0.05, 10, idle_s=3.0, lasting=UnderWay((0.0, 0.0, 0.0, 1.0)))
    )
    assert queued == 15 and np.array_equal(arrivals, [10] * 3)


def test_a_warm_up_that_did_not_see_them_all_leaves_the_arrivals_as_they_are():
    seen = Measurement(10.0, unfinished_start=45.0, warm_planned=[10] * 2)
    seen.planned, seen.done, seen.seconds = [10, 30], [10] * 2, [2, 3]
    arrivals, _ = arrivals_and_queue(seen, Context(1.0, 0.05, 10, idle_s=3.0, lasting=UnderWay((0.0, 0.0, 0.0, 1.0))))
    assert list(arrivals) == [10, 30]
