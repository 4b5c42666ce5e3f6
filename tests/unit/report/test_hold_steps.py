"""The baseline of a hold run is one user alone, and no level of the load."""

from __future__ import annotations

from plimsoll.report.steps import steps_from_findings


def test_the_baseline_is_not_mixed_with_the_load() -> None:
    steps = [
        {"level": 1.0, "start_s": 0.0, "end_s": 5.0, "step_kind": "baseline"},
        {"level": 1.0, "start_s": 5.0, "end_s": 45.0, "step_kind": "expected", "verdict": "undecided"},
    ]
    assert [(step.start_s, step.verdict) for step in steps_from_findings([{"steps": steps}])] == [(5.0, "expected")]
