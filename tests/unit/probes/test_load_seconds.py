"""Into which second of the load a moment falls."""

from __future__ import annotations

from plimsoll.probes.load_seconds import LoadSeconds


def test_what_is_read_at_a_seconds_end_describes_that_second() -> None:
    load = LoadSeconds()
    for second in range(10):
        load.add(second, 1000.0 + second)
    assert [load.second_of(at) for at in (1000.99, 1001.4, 1005.97, 1010.0)] == [0, 0, 5, 9]
    assert load.second_of(999.0) is None


def test_trials_that_lie_one_behind_another_keep_their_seconds() -> None:
    load = LoadSeconds()
    for second in range(3):
        load.add(second, 1000.0 + second)
    for second in range(3, 6):
        load.add(second, 2000.0 + second)
    assert load.second_of(1003.0) == 2
    assert load.second_of(1500.0) == 2  # after the first trial's end, at most its last second
    assert load.second_of(2005.0) == 4


def test_seconds_that_were_not_asked_for_lie_between_those_that_were() -> None:
    load = LoadSeconds()
    load.add(0, 1000.0)
    load.add(9, 1009.0)
    assert load.second_of(1005.0) == 4
