"""What the scorecard of the models measures, in seconds: peaks and capacities within their errors, ranges that hold."""

from __future__ import annotations

import pytest
from model_scorecard import closed_queue, demand_rows, law, peak_rows, peaks

from plimsoll.stats.throughput.scalability import Scalability, fit_scalability


@pytest.mark.parametrize("share", [1.5, 2.0])
def test_a_peak_that_was_passed_is_found_within_three_per_cent(share: float) -> None:
    for row in peak_rows(share, 100):
        assert row.met and row.hits >= 0.9 * row.trials, row


def test_a_range_from_below_three_quarters_of_the_peak_holds_it() -> None:
    held, answered = list(peak_rows(0.75, 120))
    assert held.met and held.hits > 0.9 * held.trials and answered.hits > 60, (held, answered)
    few = [fit for fit, _ in peaks(0.3, 60) if fit.told]
    assert len(few) < 20


@pytest.mark.parametrize(("rise", "within"), [(0.0, 0.05), (0.15, 0.08)])
def test_capacity_from_sixty_per_cent_is_within_its_error_and_interval(rise: float, within: float) -> None:
    close, held, answered, _ = demand_rows(rise, within, 200)
    assert close.met and held.met and answered.met, (close, held, answered)
    assert held.hits > 0.92 * held.trials


def test_the_simulated_truths_are_the_closed_forms() -> None:
    import numpy as np

    levels = np.array([1.0, 2.0, 200.0])
    seen = closed_queue(levels, 0.01, 0.09)
    assert seen == pytest.approx([10, 2 / (0.09 + 0.011), 100])
    assert law(1.0, 7.0, 0.1, 0.01) == 7
    assert isinstance(fit_scalability(np.arange(1.0, 9), law(np.arange(1.0, 9), 7.0, 0.1, 0.01)), Scalability)
