"""What a long computation says meanwhile."""

from __future__ import annotations

import sys

import pytest

from plimsoll.cli.live.waiting import Waiting


def test_what_is_done_quickly_says_nothing_and_then_a_line_comes_each_ten_seconds(
    capsys: pytest.CaptureFixture[str],
) -> None:
    now = 0.0
    with Waiting(lambda: now) as waiting:
        for second in range(25):
            now = float(second)
            waiting.tell("reading r.jtl.gz", second / 24)
    assert capsys.readouterr().err.splitlines() == [f"reading r.jtl.gz: {share}%" for share in (8, 50, 92)]


def test_a_terminal_has_one_line_that_is_gone_at_the_end(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    now = 5.0
    with Waiting(lambda: now - 5) as waiting:
        now = 8.0
        waiting.tell("reading", 2.0)
    told = capsys.readouterr().err
    assert "\n" not in told and told.split("\r")[1].strip() == "reading: 100%" and told.split("\r")[-2].strip() == ""


def test_nobody_who_reads_it_ends_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stderr", None)
    with Waiting(lambda: 100.0) as waiting:
        waiting.tell("reading", 0.5)
