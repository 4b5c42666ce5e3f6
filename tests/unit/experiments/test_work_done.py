"""What a target does whose iterations make several requests: counted by its answers."""

from __future__ import annotations

import numpy as np
import pytest

from plimsoll.experiments.steps.evidence import Context
from plimsoll.experiments.steps.judge import judge
from plimsoll.experiments.steps.measure import Measurement
from plimsoll.experiments.steps.work_done import shares_of
from plimsoll.runs.histogram import Histogram
from plimsoll.runs.snapshot import Series, Snapshot

LIGHT, HEAVY = ("GET /list", "GET"), ("POST /order", "POST")


def times(operation: tuple[str, str], each_ms: float, count: int, failed: int = 0, epoch: int | None = None):
    tags = {"name": operation[0], "method": operation[1]}
    trend = Series.of_trend("http_req_response_time", tags, Histogram.from_values(np.full(count, each_ms)))
    rate = Series("http_req_failed", "rate", tags, passes=failed, total=count, epoch=epoch)
    return [Series(**{**{name: getattr(trend, name) for name in Series.__slots__}, "epoch": epoch}), rate]


def second(number: int, planned: int, ended: int, *rows: list[Series], epoch: int = 1) -> Snapshot:
    iterations = Series.of_trend("iteration_duration", {}, Histogram.from_values(np.full(ended, 100.0)))
    series = (iterations, *(one for some in rows for one in some))
    about = {"level": 1.0, "vus": 0, "vus_max": 9, "started": planned, "in_flight": 0, "generator": {}}
    return Snapshot(second=number, t_unix=0.0, planned=planned, done=ended, series=series, epoch=epoch, **about)


def calm() -> Measurement:
    """Ten iterations of two light requests (10 ms) and a heavy one (80 ms); some ended after the step."""
    seen = Measurement(10)
    seen.warm_up(second(0, 6, 2, times(LIGHT, 10, 12), times(HEAVY, 80, 3)))
    seen.add(second(1, 4, 6, times(LIGHT, 10, 8), times(HEAVY, 80, 5), times(LIGHT, 500, 9, epoch=0)))
    late = Series.of_trend("iteration_duration", {}, Histogram.from_values(np.full(2, 100.0)))
    seen.amend([late, *times(HEAVY, 80, 2)])
    return seen


def test_a_request_counts_as_its_share_of_the_time_of_an_iteration():
    shares = shares_of([calm()])
    assert shares.of == pytest.approx({LIGHT: 0.1, HEAVY: 0.8})
    assert shares.other == pytest.approx(1 / 3)
    assert shares.work([{LIGHT: 20, HEAVY: 10}, {LIGHT: 40}, {("GET /new", "GET"): 3}]) == pytest.approx([10, 4, 1])


def test_without_several_requests_in_an_iteration_completions_tell_what_is_done():
    one = Measurement(10)
    one.add(second(0, 10, 10, times(HEAVY, 80, 10)))
    assert shares_of([one]) is None
    few = Measurement(10)
    few.add(second(0, 2, 2, times(LIGHT, 10, 4)))
    assert shares_of([few]) is None and shares_of([]) is None


def test_the_work_is_in_doubt_as_far_as_the_mix_has_changed():
    shares = shares_of([calm()])
    assert shares.doubt([{LIGHT: 20, HEAVY: 10}]) == pytest.approx(0)
    assert shares.doubt([{LIGHT: 40, HEAVY: 10}]) == pytest.approx(1 / 3 * 50 / 12 - 1)
    assert shares.doubt([{}]) == 0


def test_an_overloaded_target_that_is_busy_with_first_requests_is_neither_cold_nor_collapsed():
    """23 iterations/s come and work for 20 a second is done; few iterations end at first, more and more later."""
    seen = Measurement(23)
    ended = np.linspace(14, 20, 30).round().astype(int)
    for number, now in enumerate(ended):
        answered = 20 * 3
        seen.add(second(number, 23, int(now), times(LIGHT, 10, answered - int(now)), times(HEAVY, 10, int(now))))
    equal = Measurement(10)
    equal.add(second(0, 10, 10, times(LIGHT, 10, 20), times(HEAVY, 10, 10)))
    context = Context(rate_per_level_s=1.0, half_width=0.048, least_seconds=10)
    by_ends, by_answers = (
        judge(seen, Context(**{**context.__dict__, "shares": s})) for s in (None, shares_of([equal]))
    )
    assert by_ends.unsteady and "gets faster" in by_ends.reasons[-1]
    assert by_answers.verdict == "bad" and not by_answers.unsteady
    assert by_answers.plateau.level == pytest.approx(20, rel=0.02)


def test_what_failed_is_no_work():
    seen = Measurement(10)
    seen.add(second(0, 10, 10, times(LIGHT, 10, 20, failed=15)))
    assert seen.answers.each[0] == {LIGHT: 5}
