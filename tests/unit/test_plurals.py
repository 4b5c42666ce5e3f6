"""One of a thing is called so: "1 operation/s", "the expected 1 user"."""

from __future__ import annotations

import re

import pytest
from our_sources import ROOT

from plimsoll.findings.capacity.words import _headroom_words, headroom_of
from plimsoll.words import amount_words, counted_words, level_words

RATE = re.compile(r"\{(?:number|count_words)\([^{}]*\)\} (?:operations|requests|iterations|arrivals|items)/s")


@pytest.mark.parametrize(
    ("amount", "words"),
    [(1.0, "1 operation"), (0.9996, "1 operation"), (1.01, "1.01 operations"), (0.0, "0 operations")],
)
def test_an_amount_of_one_is_singular_as_it_is_shown(amount: float, words: str) -> None:
    assert amount_words(amount, "operation") == words


def test_a_count_and_a_level_of_one_are_too() -> None:
    assert (counted_words(1, "request"), counted_words(2_000, "request")) == ("1 request", "2,000 requests")
    assert level_words(1, "users") == "1 user"


@pytest.mark.parametrize(("good", "bad"), [(None, None), (3.0, None), (1.0, 2.0), (None, 1.0)])
def test_the_expected_user_is_one(good: float | None, bad: float | None) -> None:
    """Seen: "Whether it carries the expected 1 users was not decided"."""
    [words] = _headroom_words(headroom_of(1.0, good, bad), None, good, bad)
    assert "expected 1 user" in words and "1 users" not in words


def test_rates_in_sentences_are_put_into_words_by_their_amount() -> None:
    """Seen: "1 operations/s"; the words for an amount know the singular."""
    rooms = (ROOT / "python" / "plimsoll" / "findings", ROOT / "python" / "plimsoll" / "report")
    files = [file for room in rooms for file in room.rglob("*.py")]
    found = [f"{file.name}: {hit[0]}" for file in files for hit in RATE.finditer(file.read_text(encoding="utf-8"))]
    assert found == []
