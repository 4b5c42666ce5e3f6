"""What the bench of repeated studies takes for an answer that repeats."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest

sys.path.insert(0, str(Path(__file__).parents[3] / "benches"))
import repeated_studies
from repeated_studies import Said, between, repeats, verdict


@pytest.mark.parametrize(
    ("first", "second", "same"),
    [
        (between([10, 20]), between([15, 30]), True),
        (between([10, 20]), between([20, 30]), True),  # a bracket's end is a level that was held
        (between([10, 20]), between([21, 30]), False),
        (between([10, 20]), between([10, None]), None),
        (between([10, 20]), None, None),
        (verdict("slower"), verdict("slower"), True),
        (verdict("slower"), verdict("same"), False),
        (verdict("slower"), verdict("undecided"), None),
        (verdict(True), verdict(False), False),
        (verdict(True), verdict(None), None),
    ],
)
def test_an_answer_repeats_where_brackets_overlap_or_verdicts_are_the_same(
    first: Said | None, second: Said | None, same: bool | None
) -> None:
    assert repeats(first, second) is same and repeats(second, first) is same


def capacity(good: float, bad: float | None, valid: bool = True) -> list[dict[str, Any]]:
    found = {"unit": "users", "good": good, "bad": bad}
    about = {"experiment": "capacity", "valid": valid, "invalid_because": ["The generator was late."]}
    limited_by = {"where": "the target's one core"}
    return [about | {"capacity": found, "limited_by": limited_by}, {"asymptotes": {"most_interval": [9.0, 11.0]}}]


def folder(where: Path, *experiments: list[dict[str, Any]]) -> Path:
    study = where / "20260101-000000-study-0001"
    study.mkdir(parents=True)
    (study / "study.json").write_text(json.dumps({"study": {"name": "mine"}}))
    for place, findings in enumerate(experiments):
        run = study / f"20260101-00000{place}-capacity-000{place}"
        run.mkdir()
        (run / "findings.json").write_text(json.dumps(findings))
    return where


def table(first: Path, second: Path) -> list[list[str]]:
    return list(repeated_studies.rows(repeated_studies.read(first), repeated_studies.read(second)))


def test_each_question_of_each_experiment_has_a_row(tmp_path: Path) -> None:
    found = table(folder(tmp_path / "a", capacity(57, 80)), folder(tmp_path / "b", capacity(81, 100)))
    assert found == [
        ["mine", "1 capacity", "bracket, users", "57 to 80", "81 to 100", "**no**"],
        ["mine", "1 capacity", "what stops it", "the target's one core", "the target's one core", "yes"],
        ["mine", "1 capacity", "ceiling of throughput, /s (95 %)", "9 to 11", "9 to 11", "yes"],
    ]


def test_what_is_not_valid_or_missing_is_told(tmp_path: Path) -> None:
    first = folder(tmp_path / "a", capacity(57, None), capacity(1, 2))
    found = table(first, folder(tmp_path / "b", capacity(81, 100, valid=False)))
    assert found[0][-1] == "**the second is not valid**: The generator was late."
    assert found[1][2:] == ["bracket, users", "cannot tell", "81 to 100", "one cannot tell"]
    assert found[-1] == ["mine", "2 capacity", "–", "–", "", "**is in one of them only**"]
