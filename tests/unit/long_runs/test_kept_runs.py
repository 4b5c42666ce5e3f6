"""hold --keep in virtual time: a simulated target, the run directory, the findings and the report."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from findings_as_json import checked

from plimsoll.errors import InputError
from plimsoll.experiments.long_runs.hold import HoldSettings, run_hold
from plimsoll.experiments.long_runs.kept_load import kept_objectives
from plimsoll.findings.exit_codes import exit_code
from plimsoll.findings.hold.finding import hold_findings
from plimsoll.report.html import write_html
from plimsoll.runs import RunFacts, RunReader, RunWriter

sys.path.insert(0, str(Path(__file__).parents[2] / "accuracy"))
from keep_targets import Collapsing, kept_rate
from simulators import ClosedQueue, OpenQueue

P95 = "p95<=300ms"


def kept_run(
    folder: Path, load: Any, *texts: str, start: float = 20.0, seconds: float = 600, objectives: Any = (), alone=None
) -> list[dict[str, Any]]:
    """Findings of a simulated steered hold."""
    with RunWriter.create(folder, RunFacts("hold", level_unit=load.unit)) as run:
        run_hold(load, HoldSettings(start, seconds, 30, 20, kept_objectives(texts)), alone, run)
        findings = checked(hold_findings(RunReader(run.path), objectives=objectives, run_path=str(run.path)))
        run.write_findings(findings)
    page = write_html(run.path).read_text()
    assert "Load over the run" in page
    return findings


def test_the_kept_load_of_a_queue_is_the_answer_with_its_interval(tmp_path: Path) -> None:
    truth = kept_rate(1, 100, 0.95, 0.3)
    main, *others = kept_run(tmp_path, OpenQueue(1, 0.01, 3), P95, alone=ClosedQueue(1, 0.01, 0.0, 5))
    keep = main["keep"]
    assert keep["level"] == pytest.approx(truth, rel=0.05)
    assert keep["interval"][0] <= truth <= keep["interval"][1]
    assert main["answer"].startswith("At p95 ≤ 300 ms it carries "), main["answer"]
    assert "would have shown" in main["answer"] and exit_code(main) == 0
    assert not any("slower over time" in one["question"] for one in others), "the load is steered against that"
    assert sum(window["seconds"] for window in keep["windows"]) == keep["kept_s"]


def test_a_target_that_slows_down_shows_as_a_kept_load_that_falls(tmp_path: Path) -> None:
    speeds = 1 - 0.4 * np.arange(1000) / 600
    keep = kept_run(tmp_path, OpenQueue(1, 0.01, 3, speeds=speeds), P95)[0]["keep"]
    assert keep["drift"]["drifts"] and -0.4 < keep["drift"]["share"] < -0.15


def test_the_tightest_of_several_objectives_rules(tmp_path: Path) -> None:
    load = OpenQueue(1, 0.01, 3, failing_above_per_s=60)
    main = kept_run(tmp_path, load, P95, "errors<=1%")[0]
    keep = main["keep"]
    assert keep["objectives"][keep["ruling"]]["objective"] == "error_rate<=1%"
    assert keep["level"] < 60 and keep["seen"][0]["bad_share"] < 0.01
    assert main["answer"].startswith("At error rate ≤ 1% it carries ")


def test_a_target_that_only_refuses_is_not_quick(tmp_path: Path) -> None:
    main = kept_run(tmp_path, OpenQueue(8, 0.01, 3, failing_above_per_s=60), P95)[0]
    assert main["keep"]["objectives"][main["keep"]["ruling"]]["implied"] and main["keep"]["level"] < 75
    assert "which --keep did not name" in main["answer"]


def test_an_objective_that_no_level_keeps_is_said_soon_and_fails(tmp_path: Path) -> None:
    main = kept_run(tmp_path, OpenQueue(1, 0.01, 3), "p95<=20ms")[0]
    assert main["keep"]["unreachable"] and main["keep"]["level"] is None and exit_code(main) == 99
    assert main["answer"].startswith("No level keeps p95 ≤ 20 ms: ")
    assert main["steps"][-1]["end_s"] < 150, "it does not wait for the time to be over"


def test_a_kept_objective_of_the_study_is_not_judged_by_a_toss(tmp_path: Path) -> None:
    study = [{"objective": P95}, {"operation": "work", "objective": "p95<=1ms"}]
    main = kept_run(tmp_path, OpenQueue(1, 0.01, 3), P95, objectives=study)[0]
    assert [one["objective"] for one in main["objectives"]] == ["p95<=1ms"] and exit_code(main) == 99


def test_too_little_time_gives_no_load(tmp_path: Path) -> None:
    main = kept_run(tmp_path, OpenQueue(1, 0.01, 3), P95, seconds=45)[0]
    assert main["keep"]["level"] is None and "It cannot be said at which load" in main["answer"]


def test_a_collapse_is_told_with_its_level(tmp_path: Path) -> None:
    main = kept_run(tmp_path, Collapsing(4, 0.04, 40, 1), P95)[0]
    assert any(one["collapsed"] for one in main["keep"]["overloads"])
    assert "it collapses, or lost capacity just then" in main["answer"]


def test_an_interrupted_steered_run_says_what_was_kept_until_then(tmp_path: Path) -> None:
    main = kept_run(tmp_path, OpenQueue(1, 0.01, 3, interrupt_at_s=300), P95)[0]
    assert main["status"] == "interrupted" and main["keep"]["level"] == pytest.approx(90, rel=0.08)


def test_an_objective_of_a_request_that_never_comes_ends_the_run_with_its_name(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no request or operation is called 'wrk'"):
        kept_run(tmp_path, OpenQueue(1, 0.01, 3), "wrk: p95<=300ms")
    main = kept_run(tmp_path, OpenQueue(1, 0.01, 3), "GET /work: p95<=300ms")[0]
    assert "p95 ≤ 300 ms of GET /work" in main["answer"]


def test_objectives_as_strict_as_the_kept_one_are_not_judged_against_the_steering(tmp_path: Path) -> None:
    given = [{"objective": text} for text in ("p95<300ms", "p95<=200ms", "p95<=900ms", "p50<=250ms")]
    main, *_ = kept_run(tmp_path, OpenQueue(1, 0.01, 3), P95, objectives=given)
    assert [one["objective"] for one in main["objectives"]] == ["p95<=900ms", "p50<=250ms"]


def test_a_level_that_had_not_stood_for_long_enough_asks_for_more_time(tmp_path: Path) -> None:
    main, *_ = kept_run(tmp_path, OpenQueue(1, 0.01, 3), P95, seconds=60)
    assert main["keep"]["level"] is None and any("Give it more time (--for)" in step for step in main["next"])
