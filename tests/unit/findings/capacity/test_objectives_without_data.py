"""An objective of which no request was seen is in one state wherever it is told: no data, which counts as failed."""

from __future__ import annotations

from typing import Any

import pytest
from capacity_runs import FACTS, Rows
from capacity_runs import step as capacity_step
from findings_as_json import checked

from plimsoll.findings.capacity.finding import capacity_findings
from plimsoll.findings.exit_codes import exit_code
from plimsoll.findings.hold.finding import _objective_words
from plimsoll.report.finding_view import view
from plimsoll.report.screen import screen
from plimsoll.runs.snapshot import Series, Snapshot

WORDS = "no data: no request was seen. Check that the script makes HTTP requests."


class WithoutRequests(Rows):
    """A run whose iterations made no request."""

    def snapshots(self, *, metrics=None):
        done = Series("iterations", "counter", {"scenario": "default"}, total=20)
        return iter([Snapshot(second, 1.79e9, 1.0, planned=20, done=20, series=(done,)) for second in range(10)])


def found_of(*objectives: str) -> dict[str, Any]:
    run = WithoutRequests([])
    facts = {**FACTS, "open": True, "good": 1.0, "bad": None, "steps": [capacity_step(0, 1.0, 20.0)]}
    limits = [{"objective": text} for text in objectives]
    [found] = checked(capacity_findings(facts, run, objectives=limits))
    return found


@pytest.mark.parametrize("objectives", [("error_rate<1%",), ("error_rate<1%", "p95<1s")])
def test_answer_row_and_next_step_of_a_capacity_say_the_same(objectives: tuple[str, ...]) -> None:
    """Seen: "not decided", "✗ failed … not decided at any level" and "undecided" in one answer."""
    found = found_of(*objectives)
    assert exit_code(found) == 99
    told = screen([found], None)
    assert "error_rate<1% of all requests had no data and counts as failed" in found["answer"]
    assert {(line.row.badge, line.row.words) for line in view(found).objectives} == {("✗ failed", WORDS)}
    assert found["next"].count(f"{WORDS[:1].upper()}{WORDS[1:]}") == 1
    assert "undecided" not in told and "is not decided" not in told


def test_a_hold_counts_it_as_the_exit_code_does() -> None:
    blank = {"objective": "p95<1s", "verdict": "undecided", "verdicts": [{"level": 1.0, "samples": 0}]}
    assert _objective_words([blank]) == "0 of 1 objective is met, 1 had no data, which counts as failed."
    assert _objective_words([blank] * 2) == "0 of 2 objectives are met, 2 had no data, which count as failed."
