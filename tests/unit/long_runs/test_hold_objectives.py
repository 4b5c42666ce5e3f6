"""Objectives of a held load, through a real run directory: exact verdicts, names, tags, requests without an answer."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from findings_as_json import checked

from plimsoll.experiments.long_runs.drain import DrainSettings, run_drain
from plimsoll.experiments.long_runs.hold import HoldSettings, run_hold
from plimsoll.findings.drain.finding import drain_findings
from plimsoll.findings.exit_codes import exit_code
from plimsoll.findings.hold.finding import hold_findings
from plimsoll.runs import RunFacts, RunReader, RunWriter
from plimsoll.runs.histogram import Histogram
from plimsoll.runs.snapshot import Series

sys.path.insert(0, str(Path(__file__).parents[2] / "accuracy"))
from simulators import OpenQueue


class Refused(OpenQueue):
    """Nothing listens from `from_s` on: every request fails at once, without an answer."""

    from_s = 0

    def _emit(self, planned: int, finished: list[tuple[float, float, bool]]) -> None:
        super()._emit(planned, finished)
        if self.second < self.from_s:
            return
        snapshot = self.unread.pop()
        tags = {"scenario": "work", "name": "GET /work", "method": "GET", "status": "0", "error_code": "1212"}
        count = len(finished)
        series = (
            Series.of_trend("http_req_response_time", tags, Histogram.from_values([0.0] * count)),
            Series("http_req_failed", "rate", tags, passes=count, total=count),
        )
        self.unread.append(replace(snapshot, series=series))


def main_of(folder: Path, load: OpenQueue, *objectives: dict[str, Any], seconds: float = 60) -> dict[str, Any]:
    with RunWriter.create(folder, RunFacts("hold")) as run:
        run_hold(load, HoldSettings(50, seconds, 5, 0), None, run)
        main, *_ = checked(hold_findings(RunReader(run.path), objectives=objectives, run_path=str(run.path)))
    return main


def test_a_held_load_meets_and_violates_with_few_samples_where_the_limit_is_far_away(tmp_path: Path) -> None:
    wanted = [{"objective": text} for text in ("p90<=1000ms", "p95<1ms", "error_rate<=1%", "mean<=100ms", "max<=2s")]
    main = main_of(tmp_path, OpenQueue(1, 0.005, 3, rate_per_level_s=0.4), *wanted)
    assert [one["verdict"] for one in main["objectives"]] == ["met", "failed", "met", "met", "met"]
    assert exit_code(main) == 99


def test_an_objective_on_other_tags_finds_its_requests(tmp_path: Path) -> None:
    tagged = {"request": "requests with method GET", "tags": {"method": "GET"}, "objective": "p90<=1000ms"}
    main = main_of(tmp_path, OpenQueue(1, 0.005, 3), tagged)
    assert main["objectives"][0]["verdict"] == "met"


def test_a_name_that_no_request_has_is_no_data_with_the_nearest(tmp_path: Path) -> None:
    main = main_of(tmp_path, OpenQueue(1, 0.005, 3), {"request": "GET /wrok", "objective": "p90<=1s"})
    [one] = main["objectives"]
    assert one["verdict"] == "undecided" and "No data" in one["needs"] and "Did you mean 'GET /work'?" in one["needs"]


@pytest.mark.parametrize("objectives", [(), ({"objective": "p99<200ms"},)])
def test_a_load_of_which_no_request_was_answered_is_never_green(tmp_path: Path, objectives: Any) -> None:
    main = main_of(tmp_path, Refused(1, 0.005, 3), *objectives)
    assert not main["valid"] and exit_code(main) != 0 and not main["stable"]
    assert any("No request was answered" in reason for reason in main["invalid_because"])
    assert all(one["verdict"] == "failed" for one in main["objectives"])


def test_an_objective_that_matches_no_request_is_not_green(tmp_path: Path) -> None:
    main = main_of(tmp_path, OpenQueue(1, 0.005, 3), {"request": "GET /wrok", "objective": "p95<=1s"})
    [objective] = main["objectives"]
    assert objective["verdict"] == "undecided" and "Did you mean 'GET /work'?" in objective["needs"]
    assert main["valid"] and exit_code(main) == 99


class Unfed(Refused):
    """A target that refuses everything, before an idle consumer."""

    def sample(self, second: int, t_unix: float) -> list[dict[str, Any]]:
        """The consumer has nothing to do."""
        values = {"waiting": 0.0, "taken_out": 0.0}
        return [{"t_unix": t_unix, "second": second, "source": "consumer", "values": values}]


def test_an_idle_consumer_behind_a_target_that_refuses_everything_does_not_keep_up(tmp_path: Path) -> None:
    with RunWriter.create(tmp_path, RunFacts("drain")) as run:
        load = Unfed(1, 0.001, 3)
        run_drain(load, DrainSettings(50, 30, 5, 10), run, load.sample)
        main, *others = checked(drain_findings(RunReader(run.path)))
    assert main["answer"].startswith("No request was answered (1,4") and not main["valid"] and exit_code(main) == 3
    assert not any(one["valid"] for one in others)
