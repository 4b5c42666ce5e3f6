"""Answers are as wide as the terminal on which they are printed, down to a floor, and 100 columns anywhere else."""

from __future__ import annotations

import os
from collections.abc import Iterator

import pytest

from plimsoll.cli.live.waiting import Waiting
from plimsoll.report.columns import NARROWEST, WIDEST, columns, follow
from plimsoll.report.screen import screen
from plimsoll.report.text import answer_lines

FINDING = {
    "question": "How much load does it carry?",
    "answer": "Carries 168 users (1,680 operations/s) and meets the objectives up to 120 users; it does not carry 204 "
    "users. That is 180% more than the expected 60 users.",
    "valid": True,
    "capacity": {"good": 168, "bad": 204, "unit": "users", "users": 168},
    "headroom": {"expected_users": 60, "carries": True, "ratio": 1.8},
    "sustainable": {"level": 120.0},
    "limited_by": {"kind": "cpu", "where": "app", "evidence": "Its cores were full for all of the overloaded step."},
    "next": ["Give it more cores, and run it again with --cores to see what they would carry before buying them."],
}


@pytest.fixture
def terminal(monkeypatch: pytest.MonkeyPatch) -> Iterator[dict[str, int]]:
    """A terminal whose width the test sets."""
    about = {"columns": 80}
    monkeypatch.setattr(os, "get_terminal_size", lambda descriptor: os.terminal_size((about["columns"], 24)))
    follow(7)
    yield about
    follow(None)


@pytest.mark.parametrize("wide", [40, 50, 60, 79, 80, 99, 100])
def test_no_line_of_an_answer_is_wider_than_the_terminal_and_no_word_is_lost(
    terminal: dict[str, int], wide: int
) -> None:
    """Seen: lines of 100 columns on any terminal, which broke in the middle of words."""
    terminal["columns"] = wide
    for told in (screen([FINDING], "runs/r/report.html", "--details"), answer_lines([FINDING])):
        assert max(map(len, told.splitlines())) <= wide
        shown = " ".join(told.split())
        for words in (FINDING["answer"], FINDING["next"][0], "Its cores were full"):
            assert words in shown
    drawn = " ".join(screen([FINDING], None).split())
    for words in ("━ carried", "╳ not carried", "▲ expected 60", "◆ objectives met up to 120", "204"):
        assert words in drawn


@pytest.mark.parametrize(("wide", "found"), [(10, NARROWEST), (0, WIDEST), (250, WIDEST)])
def test_a_terminal_that_is_too_narrow_or_wider_than_one_reads(terminal: dict[str, int], wide: int, found: int) -> None:
    terminal["columns"] = wide
    assert columns() == found


def test_elsewhere_lines_have_a_hundred_columns(tmp_path) -> None:
    file = os.open(tmp_path / "out", os.O_CREAT | os.O_WRONLY)
    follow(file)
    try:
        assert columns() == WIDEST
    finally:
        follow(None)
        os.close(file)
    assert columns() == WIDEST


def test_the_line_of_a_long_computation_fits_a_narrow_terminal(
    terminal: dict[str, int], capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    import sys

    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    monkeypatch.setattr(sys.stderr, "fileno", lambda: 2)
    terminal["columns"], now = 30, 5.0
    with Waiting(lambda: now - 5) as waiting:
        now = 8.0
        waiting.tell("reading " + "a" * 60, 0.5)
    assert all(len(part) < 30 for part in capsys.readouterr().err.split("\r"))
