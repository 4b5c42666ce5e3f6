"""`--for` and `for`: what a duration is, what a time can reach, and which time is too short for any answer."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import pytest

from plimsoll.errors import InputError, InputErrors
from plimsoll.experiments.capacity.result import CapacitySettings
from plimsoll.experiments.capacity.time_plan import (
    DECIDING_SHARE,
    least_s,
    longest_step_s,
    more_time_words,
    promise,
    rate_needed,
    said,
    spent_words,
    typed,
    width_reached,
    with_more_time,
)
from plimsoll.experiments.steps.judge import smallest_distance
from plimsoll.plans.load_time import check_search_time, repetitions_within
from plimsoll.plans.long_runs import load_times
from plimsoll.plans.options import options_of
from plimsoll.study.durations import parse_duration
from plimsoll.study.experiments import CapacityOptions, CompareOptions, DrainOptions, HoldOptions


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("90s", 90),
        ("5m", 300),
        ("1h30m", 5400),
        ("1h 30m", 5400),
        ("1.5m", 90),
        ("500ms", 0.5),
        ("2min", 120),
        ("1d", 86_400),
    ],
)
def test_a_duration_has_its_unit(text: str, seconds: float) -> None:
    assert parse_duration(text) == pytest.approx(seconds)


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("5", "has no unit"),
        ("5 parsecs", "not a duration"),
        ("", "not a"),
        ("0s", "no time"),
        ("0", "no time"),
        ("-5m", "not a"),
        ("5m3", "not a"),
        ("nan", "not a duration"),
    ],
)
def test_what_is_no_duration_says_what_would_be(text: str, what: str) -> None:
    with pytest.raises(InputError, match=what) as told:
        parse_duration(text, "--for")
    assert told.value.what.startswith("--for: ") and told.value.next_step


def test_a_number_means_seconds_only_where_it_always_has() -> None:
    assert parse_duration("600", bare_s=True) == 600
    assert HoldOptions(duration_s="5m").duration_s == 300 and HoldOptions(duration_s=300).duration_s == 300
    with pytest.raises(InputErrors, match="has no unit"):
        options_of(CapacityOptions, "capacity", Path("script.js"), {"for_": 5})
    assert CapacityOptions(**{"for": "5m"}).for_s == 300 and CompareOptions(for_="90s").for_s == 90


def test_width_and_rate_are_inverses_and_agree_with_the_judge() -> None:
    for width in (0.05, 0.1, 0.3):
        for load_s in (60.0, 300.0, 3600.0):
            assert width_reached(rate_needed(width, load_s), load_s) == pytest.approx(width)
    half = smallest_distance(100 * 300 * DECIDING_SHARE, 1.0)
    assert width_reached(100, 300) == pytest.approx(2 * half / (1 + half))
    assert width_reached(100, 1200) == pytest.approx(width_reached(100, 300) / 2, rel=0.03)


def test_the_plan_is_told_with_a_rate_that_is_not_known_yet() -> None:
    words = promise(CapacitySettings(budget_s=300), is_open=True)
    assert words.startswith("With 5 min of load a bracket 10% wide can be reached if the target carries about ")
    assert "at most 5 min" in promise(CapacitySettings(budget_s=300), is_open=False)


def test_the_end_tells_what_more_time_would_give() -> None:
    more = with_more_time(0.2, 0.10, 300)
    assert more.seconds == 1200 and more.width == pytest.approx(0.10)
    assert with_more_time(0.9, 0.01, 300).seconds == 2400, "no more than eight times as long"
    assert "with 20 min it would be about 10% wide (--for 20m)" in more_time_words(0.2, 0.10, 300)
    assert more_time_words(float("inf"), 0.10, 300) == "give it 10 min (--for 10m)"
    assert "did not bound it on both sides" in spent_words(float("inf"), 300)


def test_a_search_too_short_for_any_answer_says_what_would_do() -> None:
    settings = CapacitySettings(budget_s=30)
    with pytest.raises(InputError, match="--for 30s is too short for any answer") as told:
        check_search_time(settings)
    needed = least_s(settings)
    assert f"--for {typed(needed)}" in told.value.next_step
    step_s = longest_step_s(30)
    assert f"--step {step_s:.0f}" in told.value.next_step and step_s >= 3
    check_search_time(dataclasses.replace(settings, step_s=step_s))
    check_search_time(dataclasses.replace(settings, budget_s=needed))
    check_search_time(CapacitySettings())
    with pytest.raises(InputError) as told:
        check_search_time(CapacitySettings(budget_s=5))
    assert "--step" not in told.value.next_step, "no step is short enough"


def test_trials_are_as_many_as_the_time_takes() -> None:
    assert repetitions_within(300, 24, 2, "pairs") == 12
    with pytest.raises(InputError, match="2 pairs take 48 s of load") as told:
        repetitions_within(30, 24, 2, "pairs")
    assert "--for 48s" in told.value.next_step


def test_a_held_load_takes_for_or_duration_and_not_both() -> None:
    assert load_times(HoldOptions(), {}, 10) == (30, 30, 600)
    assert load_times(HoldOptions(for_="5m"), {"for_": "5m"}, 10) == (30, 30, 240), "all of it takes that time"
    given = {"duration_s": 60.0}
    assert load_times(HoldOptions(for_="5m", duration_s=60), given, 10).duration_s == 60, "a flag before the study"
    assert sum(load_times(HoldOptions(for_="5m", duration_s=60), {"for_": "5m"}, 10)) == 300
    for both in ({}, {"for_": "5m", "duration_s": 60.0}):
        with pytest.raises(InputError, match="given together"):
            load_times(HoldOptions(for_="5m", duration_s=60), both, 10)


def test_what_comes_before_a_held_load_shrinks_to_fit_unless_it_was_asked_for() -> None:
    given = {"for_": "40s"}
    assert load_times(HoldOptions(for_="40s"), given, 10) == (10, 10, 20)
    assert load_times(HoldOptions(for_="40s", baseline_s=0, warm_up_s=25), given, 10) == (0, 25, 15)
    assert load_times(DrainOptions(for_="40s", backlog="x", warm_up_s=0), given, 10) == (0, 0, 40)
    with pytest.raises(InputError, match=r"--for 5s is too short for any answer: .* after 3 s that do not") as told:
        load_times(HoldOptions(for_="5s"), {"for_": "5s"}, 10)
    assert "--for 20s or more" in told.value.next_step
    with pytest.raises(InputError) as told:
        load_times(HoldOptions(for_="40s", baseline_s=3600), given, 10)
    assert "--for 3640s or more" in told.value.next_step


def test_times_are_said_and_typed() -> None:
    assert [typed(s) for s in (45, 90, 300, 5400, 7200)] == ["45s", "90s", "5m", "1h30m", "2h"]
    assert [said(s) for s in (45, 155, 300, 5400)] == ["45 s", "2 min 35 s", "5 min", "1 h 30 min"]
