"""How often something comes, and when it counts as silent."""

from __future__ import annotations

from plimsoll.probes.rhythm import Rhythm


def test_parts_of_one_export_are_no_interval() -> None:
    rhythm = Rhythm()
    for at in (0.0, 0.01, 0.02, 10.0, 10.01):
        rhythm.came(at)
    assert rhythm.interval_s == 10.0
    assert not rhythm.fell_silent(40.0)
    assert rhythm.fell_silent(40.1)
    assert not rhythm.fell_silent(50.0)  # told already


def test_one_that_comes_several_times_in_a_second_is_not_given_a_minute() -> None:
    rhythm = Rhythm()
    for n in range(20):
        rhythm.came(0.2 * n)
    assert rhythm.interval_s < 1.0
    assert rhythm.fell_silent(7.0)


def test_of_what_came_once_a_minute_is_assumed_and_of_nothing_there_is_no_silence() -> None:
    rhythm = Rhythm()
    assert not rhythm.fell_silent(1000.0)
    rhythm.came(0.0)
    assert rhythm.came_once
    assert not rhythm.fell_silent(180.0)
    assert rhythm.fell_silent(181.0)
