"""What profiles of steps become: the functions at the knee and at half of it, and whether they differ beyond chance."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from findings_as_json import checked

from plimsoll.findings.beside.further import findings_beside
from plimsoll.report.finding_view import view


class Run:
    """The part of a RunReader that is read."""

    path = Path("runs/x")

    def __init__(self, events: list[dict[str, Any]]) -> None:
        self._events = events
        self.manifest = {"experiment": "capacity"}

    def events(self, kind: str | None = None) -> list[dict[str, Any]]:
        return self._events


def step(level: float, start: float, counts: dict[str, int], verdict: str = "good", **more: Any) -> list:
    """A step of ten seconds with its profile, ten samples a second."""
    functions = [{"name": name, "where": "app.py:1", "samples": count} for name, count in counts.items()]
    ended = {"level": level, "end_s": start + 10, "verdict": verdict, "done_per_s": level, **more}
    return [
        {"kind": "step_started", "second": start, "level": level},
        {"kind": "step_ended", "second": start + 10, **ended},
        {"kind": "profile_step", "source": "profile:app", "profile_kind": "python", "ended_s": start + 10.4,
         "samples": sum(counts.values()), "sample_s": 0.1, "seconds": 10.0, "errors": 0, "functions": functions},
    ]  # fmt: skip


KNEE = [{"experiment": "capacity", "status": "finished", "run": "runs/x", "capacity": {"knee": 205.0}}]
GROWS = [
    {"kind": "experiment_started", "unit": "users"},
    *step(50, 0, {"encode": 300, "scan": 10}),
    *step(100, 10, {"encode": 800, "scan": 200}),
    *step(200, 20, {"encode": 900, "scan": 1100}),
    *step(400, 30, {"encode": 1, "scan": 3000}, "bad"),
]


def test_the_step_at_the_knee_is_compared_with_the_one_at_half_of_it() -> None:
    [found] = checked(findings_beside(Run(GROWS), KNEE))
    json.dumps(found)
    assert found["question"] == "Where does the CPU time go of app?"
    assert found["answer"] == (
        "At 200 users 55% of it is scan (app.py:1) itself, 20% at 100 users. That is the growth that is largest "
        "beyond chance."
    )
    first, second = found["profile"]["functions"]
    assert (first["name"], first["share"], first["share_half"]) == ("scan", 0.55, 0.2) and first["beyond_chance"]
    assert first["ms_per_operation"] == pytest.approx(55.0) and first["ms_per_operation_half"] == pytest.approx(20.0)
    assert second["share"] == 0.45 and second["share_half"] == 0.8
    [table] = view(found).tables
    assert table.rows[0] == ["scan", "app.py:1", "55%", "55 ms", "20%", "20 ms", "+35"]
    assert "plimsoll capacity --verify" in found["next"][0]


def test_a_difference_that_chance_explains_is_called_so() -> None:
    events = [*step(100, 0, {"encode": 80, "scan": 20}), *step(200, 10, {"encode": 78, "scan": 22})]
    [found] = checked(findings_beside(Run(events), KNEE))
    assert "No function's share grew with load beyond chance." in found["answer"]
    assert found["tables"][0]["rows"][1][-1] == "+2 (chance)" and found["sentences"] == []


def test_a_function_that_only_one_load_has_is_shown() -> None:
    events = [*step(100, 0, {"encode": 500}), *step(200, 10, {"encode": 500, "wait": 500})]
    [found] = checked(findings_beside(Run(events), KNEE))
    by_name = {one["name"]: one for one in found["profile"]["functions"]}
    assert by_name["wait"]["share_half"] == 0 and by_name["wait"]["beyond_chance"]


def test_a_hold_is_compared_with_one_user_alone() -> None:
    events = [
        *step(1, 0, {"encode": 90}, "undecided", step_kind="baseline"),
        *step(40, 20, {"encode": 100, "scan": 300}, "undecided", step_kind="expected"),
    ]
    [found] = checked(findings_beside(Run(events), [{"experiment": "hold"}]))
    assert found["answer"].startswith("At 40 users 75% of it is scan (app.py:1) itself, 0% at one user alone.")


def test_one_load_alone_is_told_without_a_comparison_and_too_few_samples_are_no_answer() -> None:
    [found] = checked(findings_beside(Run(step(100, 0, {"encode": 500})), KNEE))
    assert "nothing is compared" in found["answer"] and found["profile"]["samples_half"] is None
    [found] = checked(findings_beside(Run(step(100, 0, {"encode": 30})), KNEE))
    assert found["answer"] == "Cannot tell: no step has 50 samples or more, the most are 30."


def test_without_profiles_there_is_no_finding() -> None:
    assert findings_beside(Run([{"kind": "step_ended", "level": 1}]), KNEE) == []
