"""Whether A and B make the same requests: where one makes more in an iteration, times are not of the same work."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import median
from typing import Any

from plimsoll.findings.trials.trials import requests_made
from plimsoll.words import joined, number

Trial = Mapping[str, Any]
APART = 1.1  # more requests in an iteration ÷ fewer: what is under way at the ends of a trial does not make that


@dataclass(frozen=True)
class RequestChange:
    """Requests in an iteration of A and of B at a load, that differ."""

    load: str
    a: float
    b: float

    @property
    def words(self) -> str:
        """ "A 1, B 2 requests in an iteration"."""
        return f"A {number(self.a, 2)}, B {number(self.b, 2)} requests in an iteration"


def request_changes(trials: Sequence[Trial]) -> list[RequestChange]:
    """Loads at which A and B make different numbers of requests in an iteration, by the median of their trials."""
    found = []
    for level in dict.fromkeys(trial["level"] for trial in trials):
        here = [trial for trial in trials if trial["level"] == level and requests_made(trial) and trial["done"]]
        each = [[requests_made(one) / one["done"] for one in here if one["variant"] == arm] for arm in "ab"]
        if not all(each):
            continue
        a, b = map(median, each)
        if max(a, b) >= APART * min(a, b):
            found.append(RequestChange(str(here[0]["load"]), a, b))
    return found


def request_words(changes: Sequence[RequestChange]) -> list[str]:
    """That in a sentence, to be said before any verdict."""
    if not changes:
        return []
    where = joined([f"{one.words} at {one.load}" for one in changes])
    return [f"A and B do not make the same requests: {where}. Times of all requests are not of the same work."]
