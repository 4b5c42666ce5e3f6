"""Objectives against known truth: a part of the scorecard's rows (objective_scorecard.py), with seeds of its own."""

from __future__ import annotations

import pytest
from objective_scorecard import ALLOWED, ERROR, best_possible, borders, passed, queues

SEED = 91_000


@pytest.mark.parametrize("allowed", [0.5, *ALLOWED])
def test_the_sequential_test_errs_in_one_per_cent_at_the_very_border_however_often_it_is_asked(allowed: float) -> None:
    most = round(min(1000, 200 / allowed) / allowed)
    _, met, violated = passed(allowed, *borders(allowed, most))
    assert met <= ERROR and violated <= ERROR


@pytest.mark.parametrize("multiple", [0.0, 0.25, 0.5, 1.5, 2.0, 4.0, 8.0])
@pytest.mark.parametrize("allowed", ALLOWED)
def test_it_takes_at_most_1_3_times_the_samples_of_the_best_possible_test(allowed: float, multiple: float) -> None:
    mean, *_ = passed(allowed * multiple, *borders(allowed, round(100 / allowed)))
    assert mean <= 1.3 * best_possible(allowed, multiple)


@pytest.mark.parametrize("load", [0.5, 0.8, 0.9])
def test_verdicts_of_a_queue_are_not_wrong_where_the_limit_is_clearly_off(load: float) -> None:
    met_wrongly, violated_wrongly, *_, said_met, said_far = queues(load, 300, 10, False, 30, SEED)
    assert met_wrongly.hits + violated_wrongly.hits <= 2, "of 180"
    assert said_met.hits >= {0.5: 50, 0.8: 12, 0.9: 0}[load], "of 90: what waits for each other tells little"
    assert said_far.hits >= {0.5: 75, 0.8: 40, 0.9: 15}[load], "of 90, a limit of twenty mean times"
