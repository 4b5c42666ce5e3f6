"""The end of a plain run: what its summary, its note and its exit code say of thresholds and VUs is one thing."""

from __future__ import annotations

from typing import Any

import pytest

from plimsoll.cli.run.ending import note_of, settled_end
from plimsoll.cli.run.tally import Tally
from plimsoll.cli.run.verb import EXIT_THRESHOLDS, _exit_code
from plimsoll.findings.outcome import outcome_of_note
from plimsoll.runs.snapshot import Series, Snapshot


def ended(**own: Any) -> dict[str, Any]:
    summary = {"metrics": {}, "state": {"testRunDurationMs": 3020}}
    return {"aborted": None, "marked_failed": False, "summary": summary, **own}


def seen(status: str = "200") -> Tally:
    tally = Tally()
    failed = Series("http_req_failed", "rate", {"status": status}, passes=int(status == "0"), total=1)
    tally.add(Snapshot(0, series=(failed,)))
    return tally


@pytest.mark.parametrize(("status", "strict"), [("0", False), ("200", True)])
def test_each_threshold_that_fails_the_run_is_failed_in_its_note(status: str, strict: bool) -> None:
    row = {"p(95)<9": {"verdict": "undecided", "ok": False, "observed": None}}
    metrics = {"http_req_duration": {"type": "trend", "contains": "time", "values": {}, "thresholds": row}}
    end, tally = ended(summary={"metrics": metrics}), seen(status)
    assert _exit_code(end, tally, strict) == EXIT_THRESHOLDS
    outcome = outcome_of_note(note_of(settled_end(end, tally, strict), tally))
    assert [one["verdict"] for one in outcome["thresholds"]] == ["failed"]
    assert outcome["words"] == "1 of 1 threshold failed."


def test_the_note_has_the_checks_of_all_groups_and_how_the_script_ended_the_run() -> None:
    inner = {"name": "pay", "path": "::cart::pay", "checks": [{"name": "paid", "passes": 1, "fails": 2}], "groups": []}
    cart = {"name": "cart", "path": "::cart", "checks": [], "groups": [inner]}
    root = {"name": "", "path": "", "checks": [{"name": "up", "passes": 3, "fails": 0}], "groups": [cart]}
    end = ended(summary={"metrics": {}, "root_group": root}, marked_failed=True)
    outcome = outcome_of_note(note_of(end, seen()))
    assert outcome["checks"] == [
        {"name": "paid", "group": "::cart::pay", "passes": 1, "fails": 2},
        {"name": "up", "group": "", "passes": 3, "fails": 0},
    ]
    assert outcome["ended_by_script"] == "marked as failed by exec.test.fail()"
