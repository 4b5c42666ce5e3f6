"""The offset of another host's clock, from invented times."""

from __future__ import annotations

import math
import random
from email.utils import formatdate

import pytest

from plimsoll.probes.http.clock_offset import ClockOffset


def test_nothing_known_corrects_nothing_and_says_nothing() -> None:
    clock = ClockOffset("db1")
    assert (clock.applied, clock.take_note()) == (0.0, None)
    assert clock.error_s == math.inf


def test_a_date_header_bounds_the_offset_to_its_second_and_that_of_a_cache() -> None:
    clock = ClockOffset("db1")
    clock.date_header(formatdate(1_790_000_300, usegmt=True), 1_790_000_000.0, 1_790_000_000.1)
    assert (clock.low, clock.high) == (pytest.approx(299.9), pytest.approx(302.0))
    clock.date_header("no date", 0.0, 1.0)
    assert clock.low == pytest.approx(299.9)


@pytest.mark.parametrize("offset_s", [-300.0, 0.0, 0.4, 300.0])
def test_the_bounds_hold_the_truth_however_answers_are_delayed(offset_s: float) -> None:
    drawn = random.Random(7)
    clock = ClockOffset("db1")
    for number in range(200):
        sent = 1_790_000_000.0 + number + drawn.random()
        answered = sent + drawn.expovariate(20)
        received = answered + drawn.expovariate(20)
        date = math.floor(answered + offset_s - drawn.random())  # some servers keep the header for a second
        clock.date_header(formatdate(date, usegmt=True), sent, received)
        assert clock.low <= offset_s <= clock.high
    assert clock.error_s < 0.3


def test_a_clock_that_agrees_within_its_bounds_is_not_corrected() -> None:
    clock = ClockOffset("db1")
    clock.date_header(formatdate(1_790_000_000, usegmt=True), 1_790_000_000.6, 1_790_000_000.7)
    assert (clock.applied, clock.take_note()) == (0.0, None)


def test_five_minutes_off_is_told_once_and_a_clock_that_is_set_right_is_told_again() -> None:
    clock = ClockOffset("db1")
    clock.between(1_790_000_300.0, 1_790_000_000.0, 1_790_000_000.02)
    note = clock.take_note()
    assert note == (
        "the clock of db1 is 300 s ahead of this machine's (± 0.01 s); times of its values are corrected by that. "
        "Let both hosts keep their time with NTP."
    )
    assert clock.local(1_790_000_300.0) == pytest.approx(1_790_000_000.0, abs=0.02)
    clock.between(1_790_000_301.0, 1_790_000_001.0, 1_790_000_001.02)
    assert clock.take_note() is None
    clock.between(1_790_000_002.0, 1_790_000_002.0, 1_790_000_002.02)
    assert clock.take_note() == "the clock of db1 agrees with this machine's now."


def test_slow_drift_is_followed_without_a_word() -> None:
    clock = ClockOffset("db1")
    for second in range(3_600):
        now = 1_790_000_000.0 + second
        clock.between(now + 1e-4 * second, now - 0.001, now + 0.001)
        assert clock.low - 1e-3 <= 1e-4 * second <= clock.high + 1e-3
    assert clock.take_note() is None


def test_times_of_earlier_observations_tell_a_lead_and_a_lag_only_beyond_half_a_minute() -> None:
    ahead, late, behind = ClockOffset("a"), ClockOffset("b"), ClockOffset("c")
    ahead.not_before(1_300.0, 1_000.0)
    late.not_before(985.0, 1_000.0)
    behind.not_before(700.0, 1_000.0)
    assert [one.applied for one in (ahead, late, behind)] == [300.0, 0.0, -300.0]
    assert "at least" in str(ahead.take_note())


def test_one_time_of_the_future_counts_for_minutes_only() -> None:
    clock = ClockOffset("a")
    clock.not_before(1_500.0, 1_000.0)
    assert clock.applied == 500.0
    for now in range(1_010, 1_400, 10):
        clock.not_before(now - 0.5, float(now))
    assert (clock.applied, len(clock._leads)) == (0.0, 1)


def test_a_late_export_of_one_that_sends_each_minute_is_no_lag_of_its_clock() -> None:
    clock = ClockOffset("a")
    for now in (1_000.0, 1_060.0, 1_120.0):
        clock.not_before(now, now)
    clock.not_before(1_140.0, 1_180.0)
    assert clock.applied == 0.0


@pytest.mark.parametrize("days", [-1.1, 1.1, 20_000.0])
def test_a_time_of_another_day_says_nothing(days: float) -> None:
    clock = ClockOffset("a")
    clock.not_before(1_790_000_000.0 + 86_400 * days, 1_790_000_000.0)
    assert (clock.applied, clock.take_note()) == (0.0, None)


def test_leads_from_before_this_machine_s_clock_was_set_back_are_forgotten() -> None:
    clock = ClockOffset("a")
    clock.not_before(5_100.0, 5_000.0)
    clock.not_before(1_000.0, 1_000.0)
    assert clock.applied == 0.0
