"""Sessions: who they are, how long they last, how many there are at once."""

from __future__ import annotations

from random import Random

import pytest

from plimsoll.drafts.logs.sessions import ALONE_S, Activity, Sessions


def _activity(*requests: tuple[float, str]) -> Activity:
    sessions = Sessions(Random(1))
    for time_s, address in requests:
        sessions.request(time_s, address, "agent")
    found = sessions.activity()
    assert found is not None
    return found


def test_a_session_ends_with_a_gap_of_half_an_hour() -> None:
    assert _activity((0, "a"), (1800, "a")).sessions == 1
    assert _activity((0, "a"), (1801, "a")).sessions == 2
    assert _activity((0, "a"), (10, "b")).sessions == 2


def test_two_agents_at_one_address_are_two_users() -> None:
    sessions = Sessions(Random(1))
    sessions.request(0, "a", "Firefox")
    sessions.request(1, "a", "Chrome")
    found = sessions.activity()
    assert found is not None and found.sessions == 2


def test_a_session_of_one_request_lasts_as_long_as_a_gap_of_the_others() -> None:
    found = _activity((0, "a"), (10, "a"), (20, "a"), (100, "b"))
    assert found.stay_s == 10 and not found.is_stay_assumed
    assert found.hours * 3600 == pytest.approx(30 + 10)


def test_where_nobody_came_back_a_stay_is_assumed() -> None:
    found = _activity((0, "a"), (5, "b"))
    assert found.is_stay_assumed and found.hours * 3600 == 2 * ALONE_S


def test_users_active_at_once_are_those_of_the_busiest_hour() -> None:
    alone = [(float(at), "a") for at in range(0, 7200, 60)]
    crowd = [(float(at), f"u{user}") for at in range(10_800, 14_400, 60) for user in range(10)]
    found = _activity(*alone, *crowd)
    assert found.busiest_s == 10_800 and found.busiest_for_s == 3600
    assert found.busiest_mean == pytest.approx(10, rel=0.01) and found.most == pytest.approx(10, rel=0.01)


def test_a_log_shorter_than_an_hour_counts_whole() -> None:
    found = _activity(*((float(at), f"u{user}") for at in range(0, 601, 60) for user in range(4)))
    assert found.busiest_for_s == 600 and found.busiest_mean == pytest.approx(4 * 660 / 600)


def test_users_times_their_rate_is_the_load_of_the_log() -> None:
    random = Random(7)
    times = sorted(random.uniform(0, 3600) for _ in range(4000))
    found = _activity(*((time_s, f"u{random.randrange(300)}") for time_s in times))
    users = found.hours * 3600 / 3600
    assert users * found.requests / found.hours == pytest.approx(4000)


def test_sessions_of_failures_alone_do_not_count() -> None:
    sessions = Sessions(Random(1))
    for at in range(50):
        sessions.request(float(at), "scanner", "x", is_success=False)
    sessions.request(0, "user", "x")
    sessions.request(9, "user", "x", is_success=False)
    found = sessions.activity()
    assert found is not None and (found.sessions, found.failed_sessions, found.requests) == (1, 1, 2)


def test_sessions_that_ended_are_forgotten() -> None:
    sessions = Sessions(Random(1))
    for number in range(20_000):
        sessions.request(10.0 * number, f"user {number}", "agent")
    assert len(sessions._open) < 200


def test_lines_out_of_order_change_little() -> None:
    assert _activity((10, "a"), (0, "a"), (20, "a")).hours == _activity((0, "a"), (10, "a"), (20, "a")).hours


def test_without_a_request_there_is_nothing_to_tell() -> None:
    assert Sessions(Random(1)).activity() is None
