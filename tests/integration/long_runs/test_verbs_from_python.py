"""hold, grow, drain, decompose and sweep as functions, each once to its end on a server of known truth.

A machine busy with other things may make a run invalid, which says so; so the numbers are looked at only where it is
valid.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

import plimsoll
from plimsoll.runs.reader import RunReader

Server = Callable[..., str]

SCRIPT = """import http from 'k6/http';
export const options = { scenarios: { views: {
  executor: 'constant-arrival-rate', rate: 60, timeUnit: '1s', duration: '5s', preAllocatedVUs: 20 } } };
const get = (times) => { for (let i = 0; i < times; i++) http.get(__ENV.URL); };
export default function () { get(1); }
export function whole() { get(4); }
export function sized() { get(Number(__ENV.R)); }
export function put() { http.post(`${__ENV.URL}/put`, 'x'); }
"""


@pytest.fixture
def script(tmp_path: Path) -> Path:
    path = tmp_path / "script.js"
    path.write_text(SCRIPT)
    return path


def of_default(script: Path, function: str) -> Path:
    """The script with that function as its default."""
    path = script.with_name(f"{function}.js")
    bodies = SCRIPT.replace("export default function () { get(1); }\n", "")
    path.write_text(bodies.replace(f"export function {function}(", "export default function ("))
    return path


def run_of(answer: plimsoll.Answer, experiment: str, folder: Path) -> RunReader:
    """What every answer has: words, a finished run directory in the folder asked for, its findings and its report."""
    main = answer.findings[0]
    assert answer.status == "finished" and main["experiment"] == experiment and main["answer"].endswith(".")
    assert answer.run_directory.parent == folder and main["run"] == str(answer.run_directory)
    assert answer.report == answer.run_directory / "report.html" and "<html" in answer.report.read_text()[:500]
    run = RunReader(answer.run_directory)
    assert run.state == "finished" and run.findings() == json.loads(json.dumps(answer.findings))
    return run


def test_hold(tmp_path: Path, script: Path, known_server: Server) -> None:
    url = known_server("--servers", 0, "--service-ms", 5, "--constant")
    choices = plimsoll.Choices(runs=tmp_path / "runs", env={"URL": url})
    answer = plimsoll.hold(script, choices, duration_s=10, warm_up_s=0, baseline_s=0)
    run = run_of(answer, "hold", tmp_path / "runs")
    assert run.per_second("planned")["planned"][:10].mean() == pytest.approx(60, rel=0.2)


def test_grow(tmp_path: Path, script: Path, known_server: Server) -> None:
    url = known_server("--servers", 1, "--service-ms", 5)
    choices = plimsoll.Choices(runs=tmp_path / "runs", env={"URL": url})
    answer = plimsoll.grow(script, choices, items=200, exec="put", max_users=4)
    run = run_of(answer, "grow", tmp_path / "runs")
    load = answer.findings[0]["load"]
    assert load["loaded"] >= 200 and load["failed"] == 0
    assert load["loaded"] == run.per_second("done")["done"].sum()


def test_drain(tmp_path: Path, script: Path, consumer: Callable[[float], str]) -> None:
    url = consumer(40)
    choices = plimsoll.Choices(runs=tmp_path / "runs", env={"URL": url})
    places = {"backlog": f"{url}/status#waiting", "consumed": f"{url}/status#done"}
    answer = plimsoll.drain(of_default(script, "put"), choices, **places, duration_s=10, warm_up_s=0, drain_s=8)
    run_of(answer, "drain", tmp_path / "runs")
    main = answer.findings[0]
    assert main["keeps_up"] is False and main["consumer"]["taken_per_s"] == pytest.approx(40, rel=0.1)


def test_decompose(tmp_path: Path, script: Path, known_server: Server) -> None:
    url = known_server("--servers", 0, "--service-ms", 10, "--constant")
    answer = plimsoll.decompose(
        sources=str(script), variants=("whole", "default"), env={"URL": url}, runs=tmp_path / "runs",
        repetitions=2, trial_s=1, warm_up_s=0,
    )  # fmt: skip
    run = run_of(answer, "decompose", tmp_path / "runs")
    assert sorted(trial["variant"] for trial in run.trials()) == ["default", "default", "whole", "whole"]
    if answer.findings[0]["valid"]:
        assert answer.findings[0]["levels"][0]["layers"][0]["share"] == pytest.approx(0.75, abs=0.15)


def test_sweep(tmp_path: Path, script: Path, known_server: Server) -> None:
    url = known_server("--servers", 0, "--service-ms", 10, "--constant")
    answer = plimsoll.sweep(
        of_default(script, "sized"), over={"R": ["1", "4"]}, env={"URL": url}, runs=tmp_path / "runs",
        repetitions=1, trial_s=1, warm_up_s=0,
    )  # fmt: skip
    run = run_of(answer, "sweep", tmp_path / "runs")
    assert sorted(trial["variant"] for trial in run.trials()) == ["R=1", "R=4"]
    first, last = (cell["work_ms"] for cell in answer.findings[0]["cells"])
    if answer.findings[0]["valid"] and first and last:
        assert last / first == pytest.approx(4, rel=0.3)
