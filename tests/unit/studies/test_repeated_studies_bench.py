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


def capacity(
    good: float, bad: float | None, valid: bool = True, most: list[float] | None = None
) -> list[dict[str, Any]]:
    found = {"unit": "users", "good": good, "bad": bad}
    about = {"experiment": "capacity", "valid": valid, "invalid_because": ["The generator was late."]}
    limited_by = {"where": "the target's one core"}
    ceiling = {"asymptotes": {"most_interval": most or [9.0, 11.0]}}
    return [about | {"capacity": found, "limited_by": limited_by}, ceiling]


def folder(where: Path, *experiments: list[dict[str, Any]], speed: float | None = None) -> Path:
    study = where / "20260101-000000-study-0001"
    study.mkdir(parents=True)
    (study / "study.json").write_text(json.dumps({"study": {"name": "mine"}}))
    for place, findings in enumerate(experiments):
        run = study / f"20260101-00000{place}-capacity-000{place}"
        run.mkdir()
        (run / "findings.json").write_text(json.dumps(findings))
        if speed:
            values = [{}, {"work_per_cpu_s": speed - 100}, {"work_per_cpu_s": speed + 100}]
            rows = [{"source": "core_speed", "values": one} for one in values] + [{"source": "host", "values": {}}]
            (run / "resources.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    return where


def table(first: Path, second: Path) -> list[list[str]]:
    return list(repeated_studies.rows(repeated_studies.read(first), repeated_studies.read(second)))


def test_each_question_of_each_experiment_has_a_row(tmp_path: Path) -> None:
    found = table(folder(tmp_path / "a", capacity(57, 80)), folder(tmp_path / "b", capacity(81, 100)))
    assert found == [
        ["mine", "1 capacity", "bracket, users", "57 to 80", "81 to 100", "**no**"],
        ["mine", "1 capacity", "what stops it", "the target's one core", "the target's one core", "yes"],
        ["mine", "1 capacity", "ceiling of throughput, /s (95%)", "9 to 11", "9 to 11", "yes"],
    ]


def test_what_is_not_valid_or_missing_is_told(tmp_path: Path) -> None:
    first = folder(tmp_path / "a", capacity(57, None), capacity(1, 2))
    found = table(first, folder(tmp_path / "b", capacity(81, 100, valid=False)))
    assert found[0][-1] == "**the second is not valid**: The generator was late."
    assert found[1][2:] == ["bracket, users", "cannot tell", "81 to 100", "one cannot tell"]
    assert found[-1] == ["mine", "2 capacity", "–", "–", "", "**is in one of them only**"]


@pytest.mark.parametrize(
    ("most", "words"),
    [
        ([10.0, 12.0], "yes"),
        ([13.0, 14.0], "yes, on cores 1.25 times as fast"),
        ([14.0, 15.0], "**no**"),
        ([5.0, 6.0], "**no**"),
    ],
)
def test_what_is_counted_a_second_repeats_where_it_does_on_cores_as_fast(
    tmp_path: Path, most: list[float], words: str
) -> None:
    first = folder(tmp_path / "a", capacity(57, 80), speed=8000)
    found = table(first, folder(tmp_path / "b", capacity(81, 100, most=most), speed=10000))
    assert found[2][2:] == ["ceiling of throughput, /s (95%)", "9 to 11", f"{most[0]:g} to {most[1]:g}", words]
    assert found[0][-1] == "**no**", "users are not a rate"
    assert found[3][2:] == ["speed of the target's cores, second ÷ first", "", "1.25", ""]
