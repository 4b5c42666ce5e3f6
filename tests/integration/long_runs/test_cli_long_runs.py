"""`plimsoll hold`, `grow` and `drain` with the real engine on loopback targets whose truth is known."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import plimsoll
from plimsoll.errors import InputError
from plimsoll.runs.reader import RunReader

Server = Callable[..., str]

SCRIPT = """import http from 'k6/http';
export const options = { scenarios: { views: {
  executor: 'constant-arrival-rate', rate: 60, timeUnit: '1s', duration: '5s', preAllocatedVUs: 20 } } };
export default function () { http.get(__ENV.URL); }
export function create() { http.post(`${__ENV.URL}/put`, 'x'); }
"""


def plimsoll_says(folder: Path, *words: str, codes: tuple[int, ...] = (0, 3)) -> list[dict[str, Any]]:
    """The findings that a command prints; 3: a machine busy with other things, which says so."""
    (folder / "script.js").write_text(SCRIPT)
    command = [sys.executable, "-m", "plimsoll", *words, "--json", "-q"]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=400, check=False)
    assert done.returncode in codes, done.stderr
    return json.loads(done.stdout) if done.stdout else [{"stderr": done.stderr}]


def test_hold_tells_one_user_alone_from_the_load(tmp_path: Path, known_server: Server) -> None:
    url = known_server("--servers", 1, "--service-ms", 4)
    (tmp_path / "study.yaml").write_text(
        f"target: {{url: '{url}'}}\n"
        f"workload: {{script: script.js, env: {{URL: '{url}'}}, "
        "operations: [{name: view, exec: default, per_user_hour: 3600}]}\n"
        "expected_users: 100\n"
        "objectives: [{operation: view, objective: 'error_rate<=5%'}, {operation: view, objective: 'max<=0.2ms'}]\n"
        "experiments: [hold: {duration_s: 5, warm_up_s: 1, baseline_s: 3}]\n"
    )
    findings = plimsoll_says(tmp_path, "hold", "study.yaml", "--duration", "12", codes=(3, 99))
    main = findings[0]
    rate, longest = main["objectives"]
    assert rate["verdict"] == "met" and longest["verdict"] == "failed" and longest["alone"] > 0.2
    slow = next(one for one in findings if one["question"] == "Is it slow, or overloaded?")
    [row] = slow["operations"]
    assert row["alone_ms"] < row["loaded_ms"], "at 40% utilisation one in three waits"
    assert "Slow: one user alone misses the objective of view too" in slow["answer"]
    steps = {step["step_kind"]: step for step in main["steps"]}
    assert set(steps) == {"baseline", "expected"} and steps["expected"]["start_s"] >= steps["baseline"]["end_s"]
    seconds = [snapshot.second for snapshot in RunReader(tmp_path / main["run"]).snapshots()]
    assert seconds == sorted(set(seconds)), "one clock over both"


def test_a_script_s_thresholds_are_judged_by_hold_and_again_by_analyze(tmp_path: Path, known_server: Server) -> None:
    url = known_server("--service-ms", 4)
    limits = """thresholds: { http_req_duration: ['max<0.001', { threshold: 'max<60000', abortOnFail: true }],
      http_req_failed: ['rate<0.5'], http_reqs: ['count>1'] }, scenarios"""
    (tmp_path / "limits.js").write_text(SCRIPT.replace("scenarios", limits))
    words = ("hold", "limits.js", "-e", f"URL={url}", "--duration", "12", "--warm-up", "1", "--baseline", "0")
    findings = plimsoll_says(tmp_path, *words, codes=(3, 99))
    main = findings[0]
    assert [one["verdict"] for one in main["objectives"]] == ["failed", "met", "met"]
    assert any("http_reqs count>1" in note for note in main["notes"])
    done = subprocess.run(
        [sys.executable, "-m", "plimsoll", "analyze", main["run"], "--json"],
        cwd=tmp_path, capture_output=True, text=True, timeout=400, check=False,
    )  # fmt: skip
    again = json.loads(done.stdout)
    assert again == findings


def test_grow_loads_the_items_and_goes_on_after_an_interruption(tmp_path: Path, known_server: Server) -> None:
    url = known_server("--servers", 1, "--service-ms", 20)
    words = ("grow", "script.js", "--exec", "create", "-e", f"URL={url}")
    first = plimsoll_says(tmp_path, *words, "--items", "300")[0]
    assert first["load"]["loaded"] >= 300 and first["load"]["failed"] == 0 and first["valid"], first["invalid_because"]
    more = first["load"]["loaded"] + 200
    second = plimsoll_says(tmp_path, *words, "--items", str(more), "--resume", first["run"])[0]
    done = [sum(one.done for one in RunReader(tmp_path / run["run"]).snapshots()) for run in (first, second)]
    assert done[0] == first["load"]["loaded"] and sum(done) == second["load"]["loaded"] >= more, (
        "every create counts once"
    )
    assert any(label == "Loaded before" for label, _ in second["facts"])


@pytest.mark.parametrize("kept", [True, False])
def test_grow_goes_on_without_a_reset_and_begins_anew_where_the_items_are_gone(
    tmp_path: Path, known_server: Server, kept: bool
) -> None:
    url = known_server("--servers", 1, "--service-ms", 5)
    (tmp_path / "study.yaml").write_text(
        f"target: {{url: '{url}', data_volume: cat volume, reset: 'echo reset >> resets'}}\n"
        f"workload: {{script: script.js, env: {{URL: '{url}'}}, operations: [{{name: create, per_user_hour: 60}}]}}\n"
    )
    (tmp_path / "volume").write_text("100")
    words = ("grow", "study.yaml", "--exec", "create")
    first = plimsoll_says(tmp_path, *words, "--items", "300")[0]
    loaded = first["load"]["loaded"]
    (tmp_path / "volume").write_text(str(100 + loaded if kept else 100))
    second = plimsoll_says(tmp_path, *words, "--items", str(loaded + 200), "--resume", first["run"])[0]
    assert (tmp_path / "resets").read_text() == "reset\n", "the second run keeps what the first one loaded"
    done = sum(one.done for one in RunReader(tmp_path / second["run"]).snapshots())
    assert second["load"]["loaded"] == (loaded + done if kept else done) >= loaded + 200
    assert any("so loading begins anew" in note for note in second["notes"]) != kept


def test_grow_of_a_fast_target_ends_at_the_number_and_tells_a_rate_that_is_possible(
    tmp_path: Path, known_server: Server
) -> None:
    url = known_server("--servers", 4, "--service-ms", 0.1)
    words = ("grow", "script.js", "--exec", "create", "-e", f"URL={url}", "--items", "1500", "--max-users", "1")
    main = plimsoll_says(tmp_path, *words)[0]
    loaded, windows = main["load"]["loaded"], RunReader(tmp_path / main["run"]).events("grow_window")
    fastest_per_s = max(1000 / one["mean_ms"] for one in windows)
    assert 1_500 <= loaded <= 1_500 + 0.15 * fastest_per_s, "of three reactions of the engine at most"
    assert loaded / main["load"]["loading_s"] <= 1.1 * fastest_per_s
    assert sum(one.done for one in RunReader(tmp_path / main["run"]).snapshots()) == loaded


def test_grow_stops_where_nothing_can_be_created(tmp_path: Path, known_server: Server) -> None:
    url = known_server("--status", 500)
    main = plimsoll_says(tmp_path, "grow", "script.js", "--items", "500", "-e", f"URL={url}", codes=(3,))[0]
    assert main["status"] == "failed" and "status 500" in main["answer"] and main["load"]["loaded"] == 0


def test_drain_finds_a_consumer_of_forty_short_of_sixty(tmp_path: Path, consumer: Callable[[float], str]) -> None:
    url = consumer(40)
    script = SCRIPT.replace("http.get(__ENV.URL)", "http.post(`${__ENV.URL}/put`, 'x')")
    (tmp_path / "put.js").write_text(script)
    places = ("--backlog", f"{url}/status#waiting", "--consumed", f"{url}/status#done", "--index", "size:index")
    times = ("--duration", "12", "--warm-up", "1", "--drain-limit", "30")
    main, *more = plimsoll_says(tmp_path, "drain", "put.js", "-e", f"URL={url}", *places, *times, codes=(99,))
    time, index = (next(one for one in more if one.get(name)) for name in ("drain", "index"))
    assert main["keeps_up"] is False and main["consumer"]["taken_per_s"] == pytest.approx(40, rel=0.05)
    assert time["drain"]["alone_per_s"] == pytest.approx(40, rel=0.15)
    assert index["index"]["bytes_per_item"] == pytest.approx(100, rel=0.05)


def test_mistakes_are_said_before_any_load(tmp_path: Path) -> None:
    (tmp_path / "script.js").write_text(SCRIPT)
    choices = plimsoll.Choices(runs=tmp_path / "runs")
    script = tmp_path / "script.js"
    for function, options, words in (
        (plimsoll.grow, {"items": 10, "exec": "creat"}, "exports no function 'creat'"),
        (plimsoll.grow, {"items": 10, "min_users": 5, "max_users": 2}, "below min_users"),
        (plimsoll.grow, {}, "items"),
        (plimsoll.drain, {}, "--backlog"),
        (plimsoll.hold, {"duration_s": -1}, "duration_s"),
    ):
        with pytest.raises(InputError, match=words):
            function(script, choices, **options)
    assert not (tmp_path / "runs").exists()
