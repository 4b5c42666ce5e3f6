"""Evidence in words, units by place, and that what checks both of every finding finds what is missing.

The findings of the seven experiments are checked where the other tests of this folder and of long_runs make them.
"""

from __future__ import annotations

from typing import Any

import pytest
from findings_as_json import checked, numbers_without_unit

from plimsoll.findings.evidence import Evidence, as_data, of_seconds, of_steps, of_trials
from plimsoll.findings.shape.units_of import with_units
from plimsoll.report.finding_view import view
from plimsoll.report.text import answer_lines

STEPS = [
    {"level": 100.0, "measured_from_s": 1.0, "end_s": 10.0},
    {"level": 168.0, "measured_from_s": 12.0, "end_s": 61.0},
]


def finding(**own: Any) -> dict[str, Any]:
    return {
        "schema": 1, "question": "How much load does it carry?", "answer": "Some.", "experiment": "capacity",
        "status": "finished", "valid": True, "level_unit": "users", "evidence": as_data([of_steps(STEPS, "users")]),
        "next": [], "run": None, **own,
    }  # fmt: skip


def capacity(**own: Any) -> dict[str, Any]:
    return {"unit": "vus", "model": "closed", "good": 4, "bad": None, **own}


@pytest.mark.parametrize(
    ("evidence", "words"),
    [
        (of_steps(STEPS, "users"), "2 steps at 100 to 168 users, 1 to 61 s of the run (events.jsonl)."),
        (
            of_steps(STEPS[1:], "users", "Carried"),
            "Carried: 1 step at 168 users, 12 to 61 s of the run (events.jsonl).",
        ),
        (of_steps([], "users"), "0 steps (events.jsonl)."),
        (  # the second was interrupted before anything of it was measured
            of_steps([STEPS[0], {"level": 168, "measured_from_s": 72.5, "end_s": 72.5}], "users"),
            "1 step at 100 users, 1 to 10 s of the run (events.jsonl).",
        ),
        (of_seconds([5, 6, 9]), "3 seconds, 5 to 10 s of the run (series.jsonl.zst)."),
        (
            of_trials([{"level": 2.0, "source": "runs/a"}, {"level": 2.0, "source": "runs/b"}], "vus"),
            "2 trials at 2 VUs: runs/a, runs/b (trials.jsonl).",
        ),
        (Evidence(8, "rows", "x.json", names=tuple("abcdefgh")), "8 rows: a, b, c, d, e, f and 2 more (x.json)."),
    ],
)
def test_evidence_is_a_sentence_with_its_units(evidence: Evidence, words: str) -> None:
    assert evidence.words == words == evidence.to_json()["words"]


def test_what_is_not_known_is_left_out() -> None:
    assert of_steps([], "users").to_json().keys() == {"words", "count", "unit", "file"}


def test_levels_have_the_unit_of_the_run_and_names_of_a_mapping_share_one() -> None:
    step = {"level": 4.0, "p90_ms": 3.0, "cpu": {"app": 0.5, "a.b": 0.1}}
    units = with_units(finding(capacity=capacity(), steps=[step]))["units"]
    assert units["capacity.good"] == units["steps[].level"] == "vus"
    assert units["steps[].p90_ms"] == "ms" and units["steps[].cpu.*"] == "ratio"
    assert "capacity.bad" not in units, "null is no number"


def test_the_unit_of_an_objective_is_in_the_objective() -> None:
    told = with_units(finding(objectives=[{"objective": "p90<=1s", "verdict": "met", "unit": "ms", "value": 12.0}]))
    assert told["units"]["objectives[].value"] == "named by objectives[].unit"
    assert numbers_without_unit(told) == []
    del told["objectives"][0]["unit"]
    assert numbers_without_unit(told) == [("objectives", "[]", "value")]


def test_page_and_terminal_show_the_evidence() -> None:
    assert view(finding()).evidence == ["2 steps at 100 to 168 users, 1 to 61 s of the run (events.jsonl)."]
    assert "Evidence: 2 steps at 100 to 168 users" in answer_lines([finding()])
    assert view(finding(evidence="Of an earlier version.")).evidence == ["Of an earlier version."]


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        ({"evidence": []}, "evidence"),
        ({"capacity": capacity(speed=3.0)}, "speed"),
        ({"level_unit": 5}, "level_unit"),
        ({"valid": None}, "valid"),
        ({"evidence": [{"words": "Much.", "count": 3, "file": "events.jsonl"}]}, "'unit' is a required property"),
    ],
)
def test_a_finding_that_is_not_as_published_is_refused(wrong: dict[str, Any], words: str) -> None:
    checked(finding())
    with pytest.raises(AssertionError, match=words):
        checked(finding(**wrong))


def test_a_number_that_no_field_declares_has_no_unit() -> None:
    told = with_units(finding(capacity=capacity(speed=3.0)))
    assert numbers_without_unit(told) == [("capacity", "speed")]
