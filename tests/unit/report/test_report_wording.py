from __future__ import annotations

import math

import pytest

from plimsoll.report import wording
from plimsoll.report.finding_view import ObjectiveLine, objective_verdict
from plimsoll.report.tables import objective_rows


@pytest.mark.parametrize(
    ("value", "words"),
    [
        (7000, "7,000"),
        (97.2222, "97.2"),
        (0.41234, "0.412"),
        (123456.7, "123,457"),
        (0, "0"),
        (-0.5, "-0.5"),
        (None, "–"),
        (math.nan, "–"),
        (math.inf, "–"),
        (True, "–"),
        ("many", "–"),
    ],
)
def test_numbers_have_three_digits_and_what_is_no_number_is_a_dash(value: object, words: str) -> None:
    assert wording.number(value) == words


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("p90<=1000ms", "p90 ≤ 1,000 ms"),
        ("p99 < 0.5 s", "p99 < 0.5 s"),
        ("rate<=1%", "rate ≤ 1%"),
        ("never slow", "never slow"),
    ],
)
def test_objectives_read_as_people_write_them(text: str, words: str) -> None:
    assert wording.objective(text) == words


def test_durations_change_unit_with_their_size() -> None:
    assert [wording.duration(s) for s in (45, 120, 125, 12_000, None)] == [
        "45 s",
        "2 min",
        "2 min 5 s",
        "3 h 20 min",
        "–",
    ]


def test_small_percentages_keep_two_digits() -> None:
    assert [wording.percent(ratio) for ratio in (0.0034, 0.683, 1.33)] == ["0.34%", "68%", "133%"]


def test_headroom_below_the_expectation_is_not_called_more() -> None:
    assert wording.headroom(-0.32) == "32% less than expected"


def test_a_verdict_reads_without_colour() -> None:
    assert wording.verdict("good") == "✓ carried"
    assert wording.verdict("failed") == "✗ failed"
    assert wording.verdict(None) == "not judged"


def test_an_impossible_time_is_a_dash() -> None:
    assert wording.moment(1e30) == "–"
    assert wording.moment(0) == "1970-01-01 00:00:00 UTC"


@pytest.mark.parametrize(
    ("above", "verdict"),
    [
        ([], "undecided"),
        ([(40, "met")], "met"),
        ([(40, "met"), (80, "failed")], "met"),
        ([(40, "failed"), (80, "met")], "undecided"),
        ([(10, "met")], "undecided"),
    ],
)
def test_what_is_undecided_at_a_level_is_met_where_a_higher_one_meets_it(
    above: list[tuple[float, str]], verdict: str
) -> None:
    """The report's first screen said met at 20 users, where a higher level met it, and its table undecided."""
    verdicts = [{"level": level, "verdict": one} for level, one in [(20, "undecided"), *above]]
    line = ObjectiveLine("a", "p95", "", "met", verdicts)
    assert objective_verdict(line, 20) == verdict
    rows = {row["level"]: row for row in objective_rows(line)}
    assert rows["20"]["key"] == verdict
    assert ("higher level" in rows["20"]["verdict"]) == (verdict == "met")


@pytest.mark.parametrize(
    ("unit", "text"), [("users", "1 user"), ("VUs", "1 VU"), ("× declared load", "1 × declared load")]
)
def test_one_of_a_unit_is_not_several(unit: str, text: str) -> None:
    """Seen: "1 users"."""
    assert wording.level(1, unit) == text and wording.level(2, unit) == f"2 {unit}"
