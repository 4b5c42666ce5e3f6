from __future__ import annotations

import json
from pathlib import Path

import synthetic_run

from plimsoll.report.columns import WIDEST as WIDTH
from plimsoll.report.json_out import findings_json
from plimsoll.report.text import answer_lines


def findings(tmp_path: Path) -> list[dict]:
    run_dir = synthetic_run.write_run(tmp_path / "run")
    return json.loads((run_dir / "findings.json").read_text(encoding="utf-8"))


def test_the_answer_stands_below_its_question(tmp_path: Path) -> None:
    lines = answer_lines(findings(tmp_path)).splitlines()
    assert lines[0] == "How much load does it carry?"
    assert lines[1].startswith("  Carries 7,000 users")


def test_what_supports_the_answer_is_named(tmp_path: Path) -> None:
    text = answer_lines(findings(tmp_path))
    for words in ("7,400 users", "133% more than expected", "CPU, target process 4711", "Evidence:", "Next:"):
        assert words in text
    assert "Objective create_issue p90 ≤ 100 ms: met up to 4,000 users" in text


def test_an_invalid_answer_says_so_and_why() -> None:
    text = answer_lines([{"answer": "None.", "valid": False, "reasons": ["The generator was the limit."]}])
    assert "INVALID" in text
    assert "Note: The generator was the limit." in text


def test_a_limit_that_cannot_be_told_is_said_plainly() -> None:
    assert "cannot tell" in answer_lines([{"limited_by": {"kind": "unknown"}}])


def test_without_findings_the_reader_is_sent_to_the_report() -> None:
    assert "what was measured" in answer_lines([])


def test_names_cannot_steer_the_terminal() -> None:
    assert "\x1b" not in answer_lines(
        [{"answer": "red \x1b[31m and \x07 bell", "objectives": [{"operation": "\x1b[2J"}]}]
    )


def test_long_answers_are_wrapped() -> None:
    text = answer_lines([{"answer": "word " * 100}])
    assert max(map(len, text.splitlines())) <= WIDTH


def test_the_json_is_what_the_run_directory_holds(tmp_path: Path) -> None:
    expected = findings(tmp_path)
    assert json.loads(findings_json(tmp_path / "run")) == expected


def test_a_run_without_an_answer_is_an_empty_list_for_machines(tmp_path: Path) -> None:
    run_dir = synthetic_run.write_run(tmp_path / "run", findings=False)
    assert findings_json(run_dir) == "[]"


def test_an_objective_says_what_it_is_where_it_matters() -> None:
    entry = {"objective": "p90<=1s", "verdict": "undecided", "at_level": 3000, "failed_from": 6000, "met_up_to": None}
    text = answer_lines([{"answer": "Yes.", "objectives": [entry]}])
    assert "all requests p90 ≤ 1 s: undecided at 3,000 users; failed from 6,000 users" in text


def test_levels_carry_the_unit_of_their_finding() -> None:
    text = answer_lines([{"capacity": {"good": 1.5, "bad": 1.6, "unit": "multiple", "users": 300, "level": 1.5}}])
    assert "1.5 × declared load" in text
    assert "300 users" in text
