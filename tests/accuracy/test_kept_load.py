"""`hold --keep` on a simulated queue: what stands beside the kept level is of the kept time, and too little time is no
answer."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

import pytest
from keep_targets import kept_rate
from simulators import OpenQueue

from plimsoll.experiments.long_runs.hold import HoldSettings, run_hold
from plimsoll.experiments.long_runs.kept_load import kept_objectives
from plimsoll.findings.exit_codes import exit_code
from plimsoll.findings.hold.finding import hold_findings
from plimsoll.runs import RunFacts, RunReader, RunWriter

P95 = "p95<=300ms"


def kept_for(seconds: int) -> dict[str, Any]:
    """The main finding of a load that is steered to P95 of M/M/1 of 100/s from 20/s on, for so long."""
    with tempfile.TemporaryDirectory() as folder:
        with RunWriter.create(Path(folder), RunFacts("hold", level_unit="arrivals/s")) as run:
            run_hold(OpenQueue(1, 0.01, 3), HoldSettings(20.0, seconds, 30.0, 0.0, kept_objectives([P95])), None, run)
        return hold_findings(RunReader(run.path))[0]


def test_what_stands_beside_the_kept_level_is_of_the_kept_time() -> None:
    finding = kept_for(240)
    low, high = finding["keep"]["interval"]
    assert low <= kept_rate(1, 100, 0.95, 0.3) <= high
    facts = dict(finding["facts"])
    done = float(facts["Operations"].split()[0])
    assert done == pytest.approx(finding["keep"]["mean_level"], rel=0.05), "as many are done as come"
    assert facts["Kept for"].endswith(" of 4 min") and finding["limited_by"]["kind"] != "none"
    assert finding["valid"] and exit_code(finding) == 0


def test_too_little_time_to_keep_a_level_is_no_answer() -> None:
    finding = kept_for(40)
    assert finding["keep"]["level"] is None and not finding["valid"] and exit_code(finding) == 3
    [why] = finding["invalid_because"]
    assert "p95 ≤ 300 ms" in why and why.startswith("It cannot be said")
    assert any("more time" in one for one in finding["next"])
