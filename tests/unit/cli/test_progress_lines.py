"""Progress on a pipe: a line every five seconds, and one for a wait in which nothing changes."""

from __future__ import annotations

import pytest

from plimsoll.cli.progress import ProgressLine, TrialLine, listening
from plimsoll.experiments.steps.record import Bracket, Progress
from plimsoll.experiments.trials.making import TrialProgress


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


def test_on_a_pipe_every_byte_is_as_ever(capsys: pytest.CaptureFixture[str]) -> None:
    with listening(ProgressLine()) as told:
        told.note("a sentence that is longer than any terminal is wide, " * 3)
        for second in range(1, 8):
            bounds = Bracket(80.0, None if second < 5 else 204.5)
            told.progress(Progress("confirm", second, 160.0, "users", 1600.0, 1590.5, 12.0, bounds, "  240 items wait"))
        told.message("stopping")
    with listening(TrialLine()) as told:
        for number, second in ((1, 1), (1, 2), (2, 1)):
            told.progress(TrialProgress(number, 8, "A", "20 users", second, 10, 198.0))
    assert capsys.readouterr().err == (
        f"plimsoll: {'a sentence that is longer than any terminal is wide, ' * 3}\n"
        "    1 s  confirming              160 users   1590.5 of 1600.0/s done  12 unfinished  good 80  240 items wait\n"
        "    6 s  confirming              160 users   1590.5 of 1600.0/s done  12 unfinished  good 80, bad 204"
        "  240 items wait\n"
        "stopping\n"
        "trial   1 of 8  A, 20 users\n"
        "trial   2 of 8  A, 20 users\n"
    )
