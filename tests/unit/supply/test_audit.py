"""An audit that could not ask says so: nothing that was skipped counts as well."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[3] / "supply"))
import audit
from audit import Part, _ended, _judged


def done(code: int, told: str) -> subprocess.CompletedProcess[str]:
    return subprocess.CompletedProcess([], code, "", told)


def test_packages_that_could_not_be_asked_about_are_skipped_and_not_well() -> None:
    asked = {"name": "a", "version": "1", "vulns": []}
    assert _judged("p", [asked]).state == "ok"
    part = _judged("p", [asked, {"name": "b", "skip_reason": "not found"}])
    assert (part.state, part.why) == ("SKIPPED", "the index told nothing about 1 of 2 packages")


def test_a_weakness_fails_whatever_else_was_skipped() -> None:
    weak = {"name": "a", "version": "1", "vulns": [{"id": "CVE-2024-1"}]}
    part = _judged("p", [weak, {"name": "b", "skip_reason": "not found"}])
    assert (part.state, part.why) == ("FAILED", "a 1: CVE-2024-1")


@pytest.mark.parametrize(
    ("code", "told", "state"),
    [
        (0, "", "ok"),
        (1, "error[rejected]: license is not allowed", "FAILED"),
        (1, "failed to fetch advisory database\nCould not resolve host", "SKIPPED"),
    ],
)
def test_a_database_that_does_not_answer_is_told_apart_from_findings(code: int, told: str, state: str) -> None:
    assert _ended("p", done(code, told)).state == state


@pytest.mark.parametrize(
    ("state", "strict", "code"), [("ok", [], 0), ("SKIPPED", [], 0), ("SKIPPED", ["--strict"], 1), ("FAILED", [], 1)]
)
def test_what_was_skipped_is_told_in_the_last_line(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], state: str, strict: list[str], code: int
) -> None:
    monkeypatch.setattr(audit, "PARTS", (lambda: Part("the part", state, "why"),))
    monkeypatch.setattr(sys, "argv", ["audit.py", *strict])
    with pytest.raises(SystemExit) as ended:
        audit.main()
    last = capsys.readouterr().out.splitlines()[-1]
    assert int(ended.value.code or 0) == code and ("NOT AUDITED HERE: the part" in last) is (state == "SKIPPED")
