"""The end of a plain run: what its summary, its note and its exit code say of thresholds and VUs is one thing."""

from __future__ import annotations

from typing import Any

import pytest

from plimsoll.cli.run.ending import note_of, settled_end
from plimsoll.cli.run.tally import Tally
from plimsoll.cli.run.verb import EXIT_THRESHOLDS, _exit_code
from plimsoll.findings.outcome import outcome_of_note
from plimsoll.runs.snapshot import Series, Snapshot

VUS = {"type": "gauge", "contains": "default", "values": {"value": 2, "min": 0, "max": 2}}


def ended(lasted_s: float = 3.02, **own: Any) -> dict[str, Any]:
    summary = {"metrics": {"vus": VUS, "vus_max": VUS}, "state": {"testRunDurationMs": 1000 * lasted_s}}
    return {"aborted": None, "marked_failed": False, "summary": summary, **own}


def seen(*vus: int, status: str = "200") -> Tally:
    tally = Tally()
    failed = Series("http_req_failed", "rate", {"status": status}, passes=int(status == "0"), total=1)
    for second, count in enumerate(vus):
        tally.add(Snapshot(second, vus=count, series=(failed,)))
    return tally


@pytest.mark.parametrize(
    ("vus", "lasted_s", "values"),
    [
        ((2, 2, 1, 0), 3.02, {"value": 2, "min": 2, "max": 2}),  # they leave at the end of the third second
        ((3, 6, 4, 2, 0), 4.05, {"value": 4, "min": 3, "max": 6}),
        ((2, 2, 2, 1), 3.9, {"value": 2, "min": 2, "max": 2}),  # iterations that are let end
    ],
)
def test_vus_are_those_of_the_load_and_not_of_its_end(
    vus: tuple[int, ...], lasted_s: float, values: dict[str, int]
) -> None:
    """Seen: "vus: 2 min=0 max=2" of two VUs that looped for 3 s, where k6 says min=2."""
    assert settled_end(ended(lasted_s), seen(*vus), False)["summary"]["metrics"]["vus"]["values"] == values


def test_a_run_of_less_than_a_second_has_no_vus_as_in_k6() -> None:
    assert settled_end(ended(0.4), seen(0), False)["summary"]["metrics"] == {"vus_max": VUS}
    watched = {**VUS, "thresholds": {"value>0": {"verdict": "undecided", "observed": None}}}
    kept = ended(0.4, summary={"metrics": {"vus": watched}, "state": {"testRunDurationMs": 400}})
    assert "vus" in settled_end(kept, seen(0), False)["summary"]["metrics"]


@pytest.mark.parametrize(("status", "strict"), [("0", False), ("200", True)])
def test_each_threshold_that_fails_the_run_is_failed_in_its_note(status: str, strict: bool) -> None:
    row = {"p(95)<9": {"verdict": "undecided", "ok": False, "observed": None}}
    metrics = {"http_req_duration": {"type": "trend", "contains": "time", "values": {}, "thresholds": row}}
    end, tally = ended(summary={"metrics": metrics}), seen(1, status=status)
    assert _exit_code(end, tally, strict) == EXIT_THRESHOLDS
    outcome = outcome_of_note(note_of(settled_end(end, tally, strict), tally))
    assert [one["verdict"] for one in outcome["thresholds"]] == ["failed"]
    assert outcome["words"] == "1 of 1 threshold failed."


def test_the_note_has_the_checks_of_all_groups_and_how_the_script_ended_the_run() -> None:
    inner = {"name": "pay", "path": "::cart::pay", "checks": [{"name": "paid", "passes": 1, "fails": 2}], "groups": []}
    cart = {"name": "cart", "path": "::cart", "checks": [], "groups": [inner]}
    root = {"name": "", "path": "", "checks": [{"name": "up", "passes": 3, "fails": 0}], "groups": [cart]}
    end = ended(summary={"metrics": {}, "root_group": root}, marked_failed=True)
    outcome = outcome_of_note(note_of(end, seen(1)))
    assert outcome["checks"] == [
        {"name": "paid", "group": "::cart::pay", "passes": 1, "fails": 2},
        {"name": "up", "group": "", "passes": 3, "fails": 0},
    ]
    assert outcome["ended_by_script"] == "marked as failed by exec.test.fail()"
