"""A load time that was given ends a run, and what more of it would give is told."""

from __future__ import annotations

import sys
from pathlib import Path

from findings_as_json import checked

from plimsoll.experiments.capacity.experiment import run_capacity
from plimsoll.experiments.capacity.result import CapacitySettings
from plimsoll.experiments.long_runs.grow import GrowSettings, run_grow
from plimsoll.findings.grow import grow_findings
from plimsoll.runs import RunFacts, RunReader, RunWriter

sys.path.insert(0, str(Path(__file__).parents[2] / "accuracy"))
from simulators import ClosedQueue, OpenQueue


def test_loading_items_ends_with_its_time_and_says_so(tmp_path: Path) -> None:
    with RunWriter.create(tmp_path, RunFacts("grow")) as run:
        result = run_grow(ClosedQueue(4, 0.01, 0.0, 1), GrowSettings(10**6, longest_s=60.0), run)
        [main, *_] = checked(grow_findings(RunReader(run.path)))
    assert result.loading_s <= 61 and 0 < result.loaded < 10**6
    assert "It ended with the load time of 60 s (--for)." in main["answer"], main["answer"]


def test_a_search_whose_time_was_not_enough_says_what_more_would_give() -> None:
    result = run_capacity(OpenQueue(1, 0.05, 1), CapacitySettings(width=0.01, budget_s=60, recovery=False))
    assert "wider than the goal of 1%: 60 s of load did" in result.reason or "1 min of load did" in result.reason
    assert "(--for " in result.more_time and "load time was spent" not in result.reason


def test_a_search_of_that_time_puts_on_little_more_load_than_that() -> None:
    result = run_capacity(OpenQueue(1, 0.01, 1), CapacitySettings(width=0.005, budget_s=120, recovery=False))
    assert result.load_s <= 1.25 * 120
