"""The finding on a consumer's own history of polls."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from plimsoll.findings.drain.polls import EVENT, polls_finding


@dataclass
class Run:
    """A run with that event."""

    event: dict[str, Any] | None

    def events(self, kind: str) -> list[dict[str, Any]]:
        return [self.event] if self.event is not None and kind == EVENT else []


def polls(*given: tuple[float, float, float | None], problem: str | None = None) -> Run:
    rows = [
        {"items": items, "seconds": seconds, "records": records, "rounding_s": 1.0} for items, seconds, records in given
    ]
    return Run({"polls": rows, "problem": problem})


def test_items_and_change_records_are_told_apart_and_for_each_operation() -> None:
    """As of test cases that are saved twice: three records and two items a link."""
    found = polls_finding(polls((100, 5, 150), (60, 3, 90), (0, 0, 0)), operations=80)
    assert found is not None
    assert found["polls"]["per_s"] == 20 and found["polls"]["polls"] == 2
    low, high = found["polls"]["interval"]
    assert 17.7 < low < 18.2 and 22 < high < 23
    assert "160 items in 8 s of work, in 2 polls" in found["answer"]
    assert "how the polls varied" in found["notes"][0]
    assert "240 change records, 1.5 for each item" in found["answer"]
    assert "3 change records and 2 items" in found["answer"]


def test_polls_shorter_than_their_rounding_bound_the_rate_from_below() -> None:
    found = polls_finding(polls((5, 0, None)), operations=None)
    assert found is not None
    assert found["answer"].startswith("At least 10 items/s") and found["polls"]["per_s"] is None
    assert found["polls"]["interval"][1] is None and "for longer" in found["next"][0]


def test_one_poll_gives_the_interval_of_its_rounding_and_says_so() -> None:
    found = polls_finding(polls((2000, 8, None)), operations=None)
    assert found is not None
    assert "250 items/s (95% for the rounding: 235 to 267)" in found["answer"]
    assert "one poll does not tell how polls vary" in found["notes"][0]


def test_what_cannot_be_told_says_why() -> None:
    assert polls_finding(Run(None), 5) is None
    nothing = polls_finding(polls((0, 4, 0)), 5)
    unread = polls_finding(polls(problem="http://x gave no JSON"), 5)
    assert nothing is not None and "no poll retrieved anything" in nothing["answer"] and nothing["polls"] is None
    assert unread is not None and "http://x gave no JSON" in unread["answer"]
