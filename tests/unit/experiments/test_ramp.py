"""When the first load of a run is measured, and how long the next levels warm up."""

from __future__ import annotations

import pytest

from plimsoll.experiments.capacity.ramp import is_filling, warm_up_from
from plimsoll.experiments.steps.measure import Measurement
from plimsoll.runs.histogram import Histogram


def warmed(iterations_ms: list[float], answers: int, answer_ms: float) -> Measurement:
    """A warm-up in which these iterations and so many requests ended."""
    seen = Measurement(1.0)
    seen.warm_iterations = Histogram.from_values(iterations_ms)
    seen.answers.count["", "GET"] = answers
    seen.answers.total_ms["", "GET"] = answers * answer_ms
    return seen


@pytest.mark.parametrize(
    ("iterations_ms", "answers", "answer_ms", "elapsed_s", "filling"),
    [
        ([], 0, 0.0, 3, True),  # few arrivals: nothing was answered yet
        ([], 0, 0.0, 30, False),  # a target that hangs
        ([], 30, 10.0, 20, True),  # the first iterations have not ended
        ([], 900, 10.0, 60, False),
        ([6_000.0] * 10, 40, 10.0, 7, True),
        ([6_000.0] * 10, 40, 10.0, 8, False),
        ([6_000.0] * 10 + [20_000.0] * 5, 60, 10.0, 20, True),
        ([20.0] * 10, 10, 20.0, 1, False),
        ([20.0] * 10, 0, 0.0, 1, False),  # a script without HTTP
        ([6_000.0] * 10, 0, 0.0, 7, True),
        ([9_000.0] * 10, 10, 9_000.0, 10, True),
        ([16_000.0] * 10, 10, 16_000.0, 16, False),  # what only waits for answers may be a queue
    ],
)
def test_the_first_load_fills_with_iterations_that_pause(
    iterations_ms: list[float], answers: int, answer_ms: float, elapsed_s: float, filling: bool
) -> None:
    assert is_filling(warmed(iterations_ms, answers, answer_ms), elapsed_s) is filling


def test_a_level_warms_up_until_what_was_under_way_before_has_left():
    assert warm_up_from(Histogram(), 1.0) == 1.0
    assert warm_up_from(Histogram.from_values([20.0] * 10), 1.0) == 1.0
    assert warm_up_from(Histogram.from_values([6_000.0] * 10), 1.0) == 8.0
    assert warm_up_from(Histogram.from_values([55_000.0] * 10), 1.0) == 60.0
    rare_and_long = [40.0] * 95 + [10_000.0] * 5
    assert warm_up_from(Histogram.from_values(rare_and_long), 1.0) == 13.0  # most of what is under way are these
