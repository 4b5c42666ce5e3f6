"""The languages of the search box and of commands."""

from __future__ import annotations

import pytest

from plimsoll_lab.tracker.search_syntax import (
    Command,
    Search,
    SyntaxMistake,
    completions,
    parse_command,
    parse_search,
    unfinished_word,
)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", Search()),
        ("Crash on Login", Search(words=("crash", "on", "login"))),
        ("state: open", Search(state="Open")),
        ("state: {in progress} crash", Search(words=("crash",), state="In Progress")),
        ("for: me by:user002", Search(assignee="me", reporter="user002")),
        ("priority: Critical #unresolved x", Search(words=("x",), priority="Critical", tags=frozenset({"Unresolved"}))),
        ('"quoted" AND (odd) -signs*', Search(words=("quoted", "and", "odd", "signs"))),
    ],
)
def test_a_search_is_words_attributes_and_tags(text: str, expected: Search) -> None:
    assert parse_search(text) == expected


LONG = 100_000  # letters, the most that a command may have


@pytest.mark.parametrize("text", ["a" * (LONG - 1) + "!", "a" * LONG, "a " * (LONG // 2), "_" * LONG])
def test_a_long_text_is_read_once_and_not_from_each_of_its_letters(text: str) -> None:
    """Of 100,000 letters that took half a minute, and a target that does one thing at a time stood still."""
    assert unfinished_word(text) == ("" if text[-1] in "! " else text)
    assert parse_search(text).state is None


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", Command()),
        ("state Fixed", Command(state="Fixed")),
        ("state in progress priority minor", Command(state="In Progress", priority="Minor")),
        ("state won't fix assignee user007", Command(state="Won't fix", assignee="user007")),
        ("assignee Unassigned comment state is unknown", Command(assignee="Unassigned", comment="state is unknown")),
    ],
)
def test_a_command_changes_what_it_names_and_leaves_the_rest(text: str, expected: Command) -> None:
    assert parse_command(text) == expected


def test_the_text_of_a_comment_may_come_beside_the_command() -> None:
    assert parse_command("state Fixed comment", "done") == Command(state="Fixed", comment="done")
    assert parse_command("", "done") == Command(comment="done")


@pytest.mark.parametrize(
    ("text", "advice"),
    [
        ("state Wrong", "Use one of Submitted"),
        ("state", "Write one"),
        ("close it", "Use one of state"),
        ("comment", "Write"),
    ],
)
def test_a_wrong_command_is_told_what_would_be_right(text: str, advice: str) -> None:
    with pytest.raises(SyntaxMistake, match=advice):
        parse_command(text)


@pytest.mark.parametrize("text", ["colour: red", "state: Wrong", "#nothing"])
def test_a_wrong_search_is_told_what_would_be_right(text: str) -> None:
    with pytest.raises(SyntaxMistake, match="Use one of"):
        parse_search(text)


def test_the_word_before_the_caret_is_completed() -> None:
    assert unfinished_word("state Op") == "op"
    assert unfinished_word("state Open now", caret=8) == "op"
    assert unfinished_word("state ") == ""
    assert completions("op", ("Open", "Fixed")) == ["Open"]
