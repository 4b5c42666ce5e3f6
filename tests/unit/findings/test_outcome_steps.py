"""A plain run's next steps are about what failed in it, before they are about its machine."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from plimsoll.cli.run.watch import RunWatch
from plimsoll.findings.outcome import outcome_of_note, outcome_steps
from plimsoll.runs.histogram import Histogram
from plimsoll.runs.snapshot import Series, Snapshot
from plimsoll.runs.writer import RunFacts, RunWriter
from plimsoll.study.secrets.redactor import Redactor

TIME = {"p(95)<1": {"verdict": "failed", "observed": 33.8}}
REFUSED = "Start the target, or correct its URL: nothing listens there."


def note(**more: Any) -> dict[str, Any]:
    summary = {
        "http_reqs": {"type": "counter", "values": {"count": 40.0, "rate": 10.0}},
        "http_req_failed": {"type": "rate", "values": {"rate": 0.0, "passes": 0.0, "fails": 40.0}},
        "http_req_duration": {"type": "trend", "contains": "time", "values": {}, "thresholds": more.get("time", {})},
        "checks": {"type": "rate", "values": {}, "thresholds": more.get("rate", {})},
    }
    checks = [{"name": "is on", "group": "", "passes": 1.0, "fails": 9.0}]
    return {"summary": summary, "checks": checks, "causes": more.get("causes", {})}


def steps(**more: Any) -> list[str]:
    return outcome_steps(outcome_of_note(note(**more)))


def test_a_time_that_was_missed_is_looked_at_and_its_load_is_sought() -> None:
    """Seen: "Stop what else runs on this machine" as the only next step of a failed threshold."""
    [step] = steps(time=TIME)
    assert "http_req_duration p(95)<1 is missed" in step and "plimsoll capacity" in step


@pytest.mark.parametrize(
    ("more", "step"),
    [
        ({"causes": {"connection refused": 40}}, REFUSED),
        ({"causes": {"status 404": 3}}, "Check the URL in the script"),
        ({"rate": {"rate>0.9": {"verdict": "failed", "observed": 0.1}}}, "See why the check 'is on' fails"),
    ],
)
def test_what_failed_has_a_step_of_its_own(more: dict[str, Any], step: str) -> None:
    assert steps(**more)[0].startswith(step)


def test_nothing_is_advised_where_nothing_failed_or_nothing_was_answered() -> None:
    assert steps() == []
    assert steps(time={"p(95)<1": {"verdict": "failed", "why": "no request was answered"}}) == []


def test_they_come_before_what_is_said_of_the_machine(tmp_path: Path) -> None:
    watch = RunWatch(lambda: [])
    with RunWriter.create(tmp_path, RunFacts("run"), tables=False, redactor=Redactor()) as writer:
        for second in range(5):
            late = {"lag_p50_ms": 900.0, "lag_p99_ms": 900.0, "cpu_s": 0.1, "threads": 1.0}
            times = Series.of_trend("http_req_duration", {}, Histogram.from_values([5.0] * 9))
            one = Snapshot(second, 1.79e9 + second, 1.0, planned=9, started=9, done=9, generator=late, series=(times,))
            watch.add(one, writer)
    found = watch.finding("finished", "runs/x", note(time=TIME))
    assert found is not None and "http_req_duration p(95)<1" in found["next"][0] and len(found["next"]) > 1
