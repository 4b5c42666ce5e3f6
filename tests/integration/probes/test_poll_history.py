"""The history of a consumer's polls, read over loopback."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from changing_server import ChangingServer, page

from plimsoll.errors import InputError
from plimsoll.probes import ProbeUnavailable
from plimsoll.probes.consumer.poll_history import PollHistory, new_places

OLD = {"poll": 1, "retrieved": 2000, "durationSeconds": 9, "changes": 0}


@pytest.fixture
def history(server: ChangingServer) -> Callable[..., PollHistory]:
    def make(entries: Any, text: str = "/history#members") -> PollHistory:
        server.answer = page(json.dumps({"members": entries}))
        return PollHistory(text, server.url)

    return make


def told(server: ChangingServer, entries: Any) -> None:
    server.answer = page(json.dumps({"members": entries}))


def test_only_polls_since_the_beginning_count(server: ChangingServer, history: Callable[..., PollHistory]) -> None:
    one = history([OLD])
    one.begin()
    assert one.polls() == []
    told(server, [{"poll": 2, "retrieved": 40, "durationSeconds": 1, "changes": 80}, OLD])
    assert one.polls() == [{"items": 40.0, "seconds": 1.0, "records": 80.0, "rounding_s": 1.0}]


def test_a_duration_in_milliseconds_is_taken_before_one_in_seconds(
    server: ChangingServer, history: Callable[..., PollHistory]
) -> None:
    one = history([{"retrieved": 40, "durationSeconds": 0, "durationMs": 130}])
    assert one.polls() == [{"items": 40.0, "seconds": 0.13, "records": None, "rounding_s": 0.001}]


def test_other_names_of_the_same_are_understood(server: ChangingServer, history: Callable[..., PollHistory]) -> None:
    one = history([])
    one.begin()
    told(server, [{"items": 3, "duration_s": 0.5}, {"processed": 4, "duration": 2, "records": 5}])
    assert [(p["items"], p["seconds"], p["records"]) for p in one.polls()] == [(3, 0.5, None), (4, 2, 5)]


def test_polls_without_a_time_that_equal_earlier_ones_count(
    server: ChangingServer, history: Callable[..., PollHistory]
) -> None:
    poll = {"retrieved": 50, "durationSeconds": 1}
    one = history([poll])
    one.begin()
    told(server, [poll, poll, poll])
    assert [found["items"] for found in one.polls()] == [50.0, 50.0]


@pytest.mark.parametrize(
    ("before", "now", "came"),
    [
        ("", "ab", "ab"),
        ("ab", "ab", ""),
        ("ab", "xab", "x"),  # the newest first
        ("ab", "abx", "x"),  # the newest last
        ("ab", "bab", "b"),
        ("ab", "aba", "a"),
        ("abc", "cab", "c"),  # the list holds three: c is gone, and an equal one came
        ("abc", "bca", "a"),
        ("abc", "xyz", "xyz"),  # all are gone
        ("abc", "", ""),  # the consumer began anew
        ("rppppp", "ppfppppp", "fpp"),  # the newest first, but r became f: it is new, and as many as there are more
        ("ppp", "ppp", ""),  # the limit: the list may have lost as many as came
    ],
)
def test_what_came_lies_before_or_behind_what_was_there(before: str, now: str, came: str) -> None:
    assert sorted(now[place] for place in new_places(before, now)) == sorted(came)


@pytest.mark.parametrize(
    "entries", [None, {}, [1], [{"retrieved": 1}], [{"durationSeconds": 1}], [{"retrieved": -1, "durationSeconds": 1}],
                [{"retrieved": "1", "durationSeconds": 1}], [{"retrieved": True, "durationSeconds": 1}]],
)  # fmt: skip
def test_what_is_no_list_of_polls_is_unavailable_with_a_reason(
    history: Callable[..., PollHistory], entries: Any
) -> None:
    with pytest.raises(ProbeUnavailable, match=r"no list of polls|has no number"):
        history(entries).polls()


def test_a_place_that_is_none_is_wrong_input(history: Callable[..., PollHistory]) -> None:
    with pytest.raises(InputError, match="no place of a list"):
        history([], "log:polls.txt")
