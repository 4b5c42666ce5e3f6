"""compare, decompose and sweep through the command line, on servers whose times are known.

A machine busy with other things may spoil trials, which are then left out and named; so nothing here depends on all of
them being counted.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from plimsoll.runs.reader import RunReader

Server = Callable[..., str]
Verb = Callable[..., tuple[int, dict[str, Any], str]]

SCRIPT = """import http from 'k6/http';
export const options = { vus: 4, duration: '1s' };
export default function () { http.get(__ENV.BASE_URL, { tags: { name: 'GET /' } }); }
"""
LAYERS = """import http from 'k6/http';
const get = (times) => { for (let i = 0; i < times; i++) http.get(__ENV.BASE_URL); };
const gone = () => http.get('http://127.0.0.1:9/');
export function whole() { get(4); }
export function inner() { get(1); }
export default function () { get(Number(__ENV.R)); }
"""
SHORT = ("--trial", 1, "--warm-up", 0, "-q")


def slower(finding: dict[str, Any], statistic: str) -> dict[str, Any]:
    return next(one for one in finding["comparisons"] if one["primary"] and one["statistic"] == statistic)


def test_a_doubled_service_time_is_found_and_a_changed_plan_is_refused(
    tmp_path: Path, known_server: Server, verb: Verb
) -> None:
    (tmp_path / "script.js").write_text(SCRIPT)
    a, b = (known_server("--servers", 0, "--service-ms", ms, "--constant") for ms in (10, 20))
    command = ("compare", "script.js", "--a", a, "--b", b, "--primary", "p50", *SHORT)
    code, finding, words = verb(*command, "--pairs", 3)
    run = tmp_path / finding["run"]
    assert len(RunReader(run).trials()) == 6 and (run / "report.html").is_file()
    kept = slower(finding, "p50")
    if finding["valid"] and kept["pairs"] == 3 and kept["pair_sd"] < 0.1:
        assert code == 99 and finding["verdict"] == "slower", words
        assert 1.5 < kept["ratio"] < 2.2 and kept["interval"][0] > 1
    assert "All comparisons" in (run / "report.html").read_text()
    code, finding, words = verb(*command, "--pairs", 5, "--resume", run)
    assert code == 2 and "repetitions: 3 there, 5 now" in words and finding == {}


def test_an_interrupted_comparison_goes_on_where_it_ended(tmp_path: Path, known_server: Server, verb: Verb) -> None:
    (tmp_path / "script.js").write_text(SCRIPT)
    url = known_server("--servers", 0, "--service-ms", 5)
    words = ["compare", "script.js", "--a", url, "--b", url, "--pairs", "2", *map(str, SHORT)]
    process = subprocess.Popen([sys.executable, "-m", "plimsoll", *words], cwd=tmp_path, stderr=subprocess.DEVNULL)
    deadline = time.monotonic() + 60
    while not (lines := [path.read_text() for path in tmp_path.glob("runs/*/trials.jsonl")]) or not lines[0].strip():
        assert time.monotonic() < deadline and process.poll() is None
        time.sleep(0.02)
    os.kill(process.pid, signal.SIGINT)
    assert process.wait(60) == 130
    [run] = (tmp_path / "runs").iterdir()
    before = RunReader(run).trials()
    assert RunReader(run).state == "interrupted" and 1 <= len(before) < 4
    _, finding, said = verb("compare", "--resume", run)
    after = RunReader(run).trials()
    assert finding["status"] == "finished", said
    assert [one["trial"] for one in after] == [1, 2, 3, 4] and after[: len(before)] == before
    assert RunReader(run).state == "finished" and json.loads((run / "findings.json").read_text())[0] == finding


def test_layers_are_told_on_a_server_of_known_time(tmp_path: Path, known_server: Server, verb: Verb) -> None:
    (tmp_path / "script.js").write_text(LAYERS)
    base = f"BASE_URL={known_server('--servers', 0, '--service-ms', 10, '--constant')}"
    code, finding, words = verb(
        "decompose", "script.js", "--variant", "whole", "--variant", "inner", "-e", base, "--rounds", 3, *SHORT
    )
    [level] = finding["levels"]
    if finding["valid"]:
        assert code == 0 and sum(layer["share"] for layer in level["layers"]) == pytest.approx(1), words
        assert [layer["layer"] for layer in level["layers"]] == ["whole without inner", "inner"]
        assert level["layers"][0]["share"] == pytest.approx(0.75, abs=0.1)


def test_a_sweep_gives_the_exponent_and_where_nothing_answers_and_tries_no_larger_values(
    tmp_path: Path, known_server: Server, verb: Verb
) -> None:
    (tmp_path / "script.js").write_text(LAYERS.replace("get(Number", "if (__ENV.R > 4) gone(); else get(Number"))
    base = f"BASE_URL={known_server('--servers', 0, '--service-ms', 10, '--constant')}"
    words = ("sweep", "script.js", "--over", "R=1,2,4,8,16", "-e", base, "--repeats", 2, "--stop-at-failure", *SHORT)
    _, finding, said = verb(*words)
    assert [cell["state"] for cell in finding["cells"]] == [*["answers"] * 3, "silent", "not tried"], said
    [stop] = finding["stops"]
    assert stop["parameters"] == {"R": "8"} and stop["words"] == "From R=8 on nothing answers (connection refused)."
    law = [one for one in finding["dependencies"] if one["metric"] == "work"]
    if len([cell for cell in finding["cells"] if cell["work_ms"]]) == 3 and law:
        assert law[0]["exponent"] == pytest.approx(1, abs=0.25)
