"""What the scorecard's lines say, and that the truths they are judged by are the closed forms."""

from __future__ import annotations

import math

import numpy as np
import pytest
from longrun_scorecard import best_possible_drift, response_times, served, true_p99
from score_line import Figure, Line, Ratio
from simulators import UslUsers


@pytest.mark.parametrize(
    ("hits", "answered", "must_answer", "verdict"),
    [
        (95, 100, True, "met"),
        (60, 100, True, "missed"),
        (50, 50, True, "missed"),
        (50, 50, False, "met"),
        (0, 0, True, "missed"),
        (0, 0, False, "no answer"),
    ],
)
def test_a_cell_without_answers_is_neither_met_nor_missed_unless_it_must_answer(hits, answered, must_answer, verdict):
    line = Line("B1", "coverage", hits, answered, 100, "≥", 0.93, must_answer)
    assert line.verdict == verdict and line.cells[-1] == verdict
    assert Line("B1", "peer", hits, answered, 100).verdict == ""


def test_a_most_and_a_ratio_are_judged_from_the_other_side():
    assert Line("C1", "alarms", 2, 100, 100, "≤", 0.01).verdict == "met"
    assert Line("C1", "alarms", 20, 100, 100, "≤", 0.01).verdict == "missed"
    assert Ratio("A2", "load", 0.7, 0.65, 0.75, 50, 0.6).verdict == "missed"


def test_every_cell_that_must_answer_says_so_whether_or_not_a_trial_was_refused():
    for answered in (90, 100):
        assert Line("B1", "coverage", 85, answered, 100, "≥", 0.93, True).cells[2] == "≥ 93%, answers ≥ 90%"
        assert Line("B1", "coverage", 85, answered, 100, "≥", 0.93).cells[2] == "≥ 93%"


def test_a_figure_measured_once_is_judged_as_it_is():
    assert Figure("", "report", 5.04, 5, "s").verdict == "missed" and Figure("", "report", 5.0, 5, "s").verdict == "met"
    assert Figure("", "report", 372.4, 500, "MB").cells[2:] == ["≤ 500 MB", "372 MB", "measured once", "met"]


def test_the_true_p99_of_one_server_is_exponential_and_of_many_near_that_of_service():
    assert true_p99(1, 0.9) == pytest.approx(-math.log(0.01) / 0.1, rel=1e-6)
    assert true_p99(16, 0.3) == pytest.approx(-math.log(0.01), rel=0.01)
    assert true_p99(4, 0.75) == pytest.approx(
        np.quantile(served(4, 0.75, 300_000, np.random.default_rng(1)), 0.99), rel=0.06
    )
    assert np.quantile(response_times(0.5, 300_000, np.random.default_rng(1)), 0.99) == pytest.approx(9.21, rel=0.05)


def test_the_best_possible_test_of_a_drift_has_the_power_of_the_formula():
    trial = best_possible_drift(0.2, 0.8)
    assert 0.55 <= np.mean([trial(seed) for seed in range(400)]) <= 0.72  # 63.5%: normal, 2.92 standard errors
    none = best_possible_drift(0.2, 0.8, scatter=1e9)
    assert np.mean([none(seed) for seed in range(400)]) <= 0.03


def test_users_of_the_scalability_law_have_its_throughput_and_its_saturation():
    source = UslUsers(40.0, 0.02, 1e-5, seed=1)
    source.set_level(100)
    done = sum(snapshot.done for snapshot in source.snapshots(100))
    assert done == pytest.approx(100 * source.per_s(100), rel=0.02)
    most = source.per_s(math.sqrt(0.98 / 1e-5))
    assert source.per_s(source.saturated_from(0.95)) == pytest.approx(0.95 * most) and source.per_s(600) < most
    assert source.drain(10) <= 1
