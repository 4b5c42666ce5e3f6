"""For how long creates may be begun: rather too short than too long, whatever is known of their pace."""

from __future__ import annotations

import math

import pytest

from plimsoll.experiments.long_runs.stretch import FASTEST_PER_S, LEAST_STRETCH_S, REACTION_S, TRUSTED_S, OnTimes, Pace


def seen(per_s: float, level: int = 1, on_s: float = 1.0, longer: float = 1.0) -> Pace:
    """The pace after seconds of creates that take level ÷ per_s each, and `longer` times that from one to the next."""
    pace = Pace()
    for _ in range(math.ceil(TRUSTED_S / on_s)):
        creates = round(per_s * on_s / longer)
        pace.see(creates, creates, creates * 1000 * level / per_s, on_s, level)
    return pace


def test_before_anything_is_known_the_fastest_target_is_asked_for_no_more_than_is_wanted() -> None:
    assert Pace().stretch_s(2_000, 1) * FASTEST_PER_S == pytest.approx(2_000)
    assert Pace().stretch_s(2_000, 4) == pytest.approx(Pace().stretch_s(500, 1))


@pytest.mark.parametrize("level", [1, 8])
@pytest.mark.parametrize("on_s", [0.06, 0.2, 1.0])
@pytest.mark.parametrize("per_s", [3_000, 200])
def test_a_stretch_brings_no_more_than_what_is_left_at_the_pace_that_was_seen(
    per_s: float, on_s: float, level: int
) -> None:
    brought = seen(per_s, level, on_s).stretch_s(1_700, level) * per_s
    assert 0.6 * 1_700 <= brought <= 1_701


def test_more_at_a_time_may_bring_as_many_times_more() -> None:
    pace = seen(100, 2)
    assert pace.stretch_s(100, 4) == pytest.approx(pace.stretch_s(100, 2) / 2)


def test_creates_that_begin_seldomer_than_they_end_are_counted() -> None:
    """As where a script has a minIterationDuration: creates of 1 ms, ten a second."""
    assert seen(1_000, longer=100).stretch_s(100, 1) == pytest.approx(100 / 10, rel=0.3)


def test_one_second_in_which_the_target_was_kept_from_its_core_does_not_lengthen_the_next_stretch() -> None:
    pace = seen(3_000)
    before = pace.stretch_s(1_000, 1)
    pace.see(100, 100, 1_000, 1.0, 1)
    assert pace.stretch_s(1_000, 1) == before


def test_slow_creates_of_which_none_has_ended_are_no_faster_than_that() -> None:
    pace = Pace()
    pace.none_ended(0.95)
    assert pace.stretch_s(100, 1) > 50


def test_fewer_at_a_time_where_so_many_would_bring_more_in_the_shortest_stretch() -> None:
    pace = seen(3_000)
    assert pace.level_for(10, 8) == 1 and pace.level_for(10**6, 8) == 8
    assert 3_000 * pace.level_for(500, 8) * LEAST_STRETCH_S <= 500
    assert seen(1).level_for(3, 8) == 3, "each of them creates one"


def test_a_call_that_creates_several_items_is_as_many_times_faster() -> None:
    pace, several = seen(100), Pace()
    for _ in range(2):
        several.see(1_000, 100, 1_000.0, 1.0, 1)
    assert several.per_s(1) == pytest.approx(10 * pace.per_s(1))


def test_the_share_of_a_second_in_which_the_load_was_on() -> None:
    on = OnTimes()
    assert not on.is_on(0.0) and on.to_s + REACTION_S < 0
    on.go_on(0.5, 9.0)
    on.go_on(1.0, 1.25)
    assert [on.of_second(second) for second in range(3)] == pytest.approx([0.5, 0.25, 0.0])
    on.go_on(2.5, math.inf)
    on.end(2.75)
    assert on.of_second(2) == pytest.approx(0.25) and not on.is_on(2.75) and on.from_s == 2.5
    on.end(4.0)
    assert on.to_s == 2.75, "it was off already"
