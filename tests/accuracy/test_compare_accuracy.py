"""What the scorecard of comparisons measures, in seconds: false alarms, power, and shares whose intervals hold."""

from __future__ import annotations

import pytest
from compare_scorecard import layers, normal, reports, sets, single, spiked

AT_MOST_1 = {"sign": "≤", "target": 0.01}
AT_MOST_5 = {"sign": "≤", "target": 0.05}
AT_LEAST_90 = {"sign": "≥", "target": 0.90}


@pytest.mark.parametrize("count", [5, 10, 40])
def test_one_comparison_of_the_same_raises_an_alarm_in_one_of_a_hundred_at_most(count: int) -> None:
    row = single("A/A", count, 0.0, normal(0.02), 1500, **AT_MOST_1)
    assert row.met, row


def test_neither_outlying_runs_nor_a_drifting_session_raise_alarms() -> None:
    assert single("A/A", 10, 0.0, spiked(0.02), 1000, **AT_MOST_1).met
    assert single("A/A", 10, 0.0, normal(0.02), 1000, drift=0.05, **AT_MOST_1).met
    assert sets("A/A", 10, 0.0, 0.02, 1000, **AT_MOST_1).met


def test_a_report_with_many_comparisons_raises_an_alarm_in_one_of_twenty_at_most() -> None:
    row = reports("A/A", 10, 2, 9, 0.0, 100, "alarm", **AT_MOST_5)
    assert row.met, row


def test_five_per_cent_are_found_within_ten_pairs_and_two_within_forty() -> None:
    for count, effect in ((10, 0.05), (40, 0.02)):
        row = single("slower", count, effect, normal(0.02), 500, **AT_LEAST_90)
        assert row.met and row.hits > 0.9 * row.trials, row


def test_five_per_cent_are_found_among_five_declared_comparisons() -> None:
    row = reports("slower", 10, 5, 0, 0.05, 60, "primary", **AT_LEAST_90)
    assert row.met, row


def test_shares_of_layers_lie_in_their_intervals_together() -> None:
    row = layers("shares", 10, 500, sign="≥", target=0.95)
    assert row.met and row.hits > 0.92 * row.trials, row
