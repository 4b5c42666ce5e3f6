"""Progress on a pipe: a line every five seconds, and one for a wait in which nothing changes."""

from __future__ import annotations

import pytest

from plimsoll.cli.progress import ProgressLine
from plimsoll.experiments.steps.record import Bracket, Progress


def at(second: float, phase: str, planned: float, unfinished: float) -> Progress:
    return Progress(phase, second, 2.0, "multiple", planned, planned, unfinished, Bracket(None, None))  # type: ignore[arg-type]


def test_lines_of_a_wait_are_folded_and_all_others_stand(capsys: pytest.CaptureFixture[str]) -> None:
    line = ProgressLine()
    for second in range(1, 11):
        line(at(second, "bracket", 50.0, 3.0))
    for second in range(11, 96):
        line(at(second, "drain", 0.0, 240.0))
    for second in range(96, 101):
        line(at(second, "drain", 0.0, 12.0))
    for second in range(101, 106):
        line(at(second, "bracket", 40.0, 12.0))
    line.done()
    told = [" ".join(text.split()) for text in capsys.readouterr().err.splitlines()]
    assert [text.partition(" s ")[0] for text in told if text[0].isdigit() and " of " in text] == [
        "1",
        "6",
        "11",
        "96",
        "101",
    ]
    [folded] = [text for text in told if "the same" in text]
    assert folded == "draining 240 unfinished, the same until 91 s, for 80 s" and told.index(folded) == 3


def test_a_wait_that_is_the_last_is_told_at_the_end(capsys: pytest.CaptureFixture[str]) -> None:
    line = ProgressLine()
    for second in range(1, 32):
        line(at(second, "drain", 0.0, 240.0))
    line.done()
    assert "the same until 31 s, for 30 s" in capsys.readouterr().err
    line.done()
    assert capsys.readouterr().err == ""
