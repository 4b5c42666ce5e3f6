"""Metrics of a script's own, each kind once, through the real engine to the finding."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import plimsoll
from plimsoll.findings.beside.script_metrics import QUESTION
from plimsoll.runs.reader import RunReader

SCRIPT = """import http from 'k6/http';
import { Counter, Gauge, Rate, Trend } from 'k6/metrics';
const links = new Counter('links_created');
const kept = new Rate('kept_share');
const parts = new Trend('parts_each');
const waiting = new Trend('waiting_of_answer', true);
const last = new Gauge('last_size');
const unused = new Counter('never_used');
export const options = { scenarios: { work: {
  executor: 'constant-arrival-rate', rate: 40, timeUnit: '1s', duration: '5s', preAllocatedVUs: 20 } } };
export function setup() { links.add(1000000); }
export default function () {
  const answer = http.get(__ENV.URL);
  links.add(2, { of: 'rm-cm' });
  links.add(1, { of: 'rm-qm' });
  for (let place = 0; place < 4; place += 1) kept.add(place === 0);
  parts.add(Number(__ENV.R || 7));
  waiting.add(answer.timings.waiting);
  last.add(5);
}
"""


@pytest.fixture
def script(tmp_path: Path) -> Path:
    path = tmp_path / "script.js"
    path.write_text(SCRIPT)
    return path


def own_of(findings: list[dict[str, Any]]) -> dict[str, dict[str, Any]]:
    [found] = [one for one in findings if one["question"] == QUESTION]
    return {one["metric"]: one for one in found["script_metrics"]}


def test_each_kind_of_metric_is_told_of_the_load_that_was_held(
    tmp_path: Path, script: Path, known_server: Callable[..., str]
) -> None:
    url = known_server("--servers", 0, "--service-ms", 5, "--constant")
    choices = plimsoll.Choices(runs=tmp_path / "runs", env={"URL": url})
    answer = plimsoll.hold(script, choices, duration_s=12, warm_up_s=1, baseline_s=2)
    own = own_of(answer.findings)
    assert set(own) == {"links_created", "kept_share", "parts_each", "waiting_of_answer", "last_size"}
    alone, held = own["links_created"]["loads"]
    assert alone["load"].endswith(" alone") and held["load"] == "the declared load"
    assert held["counted"] == pytest.approx(3 * held["iterations"], abs=30) and held["counted"] < 1_000_000
    assert held["per_iteration"] == pytest.approx(3, rel=0.05)
    assert held["per_hour"] == pytest.approx(3600 * 3 * held["iterations"] / held["seconds"], rel=0.05)
    assert held["per_hour_interval"][0] <= held["per_hour"] <= held["per_hour_interval"][1]
    share, parts, waiting, last = (
        own[name]["loads"][-1] for name in ("kept_share", "parts_each", "waiting_of_answer", "last_size")
    )
    assert share["share"] == 0.25 and share["share_interval"][0] < 0.25 < share["share_interval"][1]
    assert parts["mean"] == parts["most"] == 7 and own["parts_each"]["unit"] == "no unit"
    assert own["waiting_of_answer"]["unit"] == "ms" and 4 < waiting["mean"] <= waiting["most"]
    assert last["last"] == 5
    run = RunReader(answer.run_directory)
    assert [one.name for one in run.script_metrics()][-1] == "never_used" and len(run.script_metrics()) == 6
    assert run.findings() == json.loads(json.dumps(answer.findings))
    page = answer.report.read_text()
    assert "links_created, counter" in page and "waiting_of_answer, trend, in ms" in page


def test_each_cell_of_a_sweep_has_its_own_and_the_split_of_its_requests(
    tmp_path: Path, script: Path, known_server: Callable[..., str]
) -> None:
    url = known_server("--servers", 0, "--service-ms", 5, "--constant")
    choices = plimsoll.TrialChoices(runs=tmp_path / "runs", env={"URL": url})
    answer = plimsoll.sweep(script, choices, over={"R": ("2", "9")}, repetitions=2, trial_s=3, warm_up_s=0)
    excluded = {one["variant"] for one in answer.findings[0]["excluded"]}
    parts = own_of(answer.findings)["parts_each"]["loads"] if len(excluded) < 2 else []
    assert {(row["load"], row["mean"]) for row in parts} <= {("R=2", 2.0), ("R=9", 9.0)} and (parts or excluded)
    for cell in (cell for one in answer.findings for cell in one.get("request_split", ())):
        waiting = next(part for part in cell["parts"] if part["part"] == "waiting")
        assert waiting["share"] > 0.5 and waiting["mean_ms"] > 4
        assert sum(part["share"] for part in cell["parts"] if part["within"] is None) == pytest.approx(1)


def test_users_who_wait_have_a_counter_at_each_level_that_was_held(
    tmp_path: Path, script: Path, known_server: Callable[..., str]
) -> None:
    path = script.with_name("closed.js")
    path.write_text(script.read_text().replace("export const options", "const unusedOptions"))
    url = known_server("--servers", 1, "--service-ms", 20, "--constant")
    choices = plimsoll.Choices(runs=tmp_path / "runs", env={"URL": url})
    answer = plimsoll.capacity(path, choices, step_s=2, max_users=3, for_="30s")
    rows = own_of(answer.findings)["links_created"]["loads"]
    assert [row["level"] for row in rows] == sorted({row["level"] for row in rows})
    assert all(row["per_iteration"] == pytest.approx(3, rel=0.1) for row in rows)
    top = rows[-1]
    assert top["per_s"] <= 3 * 50 * 1.1, "a server that takes 20 ms a request does 50 a second"
