"""`plimsoll capacity` with the real engine against servers of known capacity: what its flags bound, convert and pin."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from itertools import groupby
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

import plimsoll
from plimsoll.errors import InputError, TargetError
from plimsoll.experiments.steps.record import Progress
from plimsoll.probes.processes.finding_processes import pids_listening_on
from plimsoll.runs.format.lines import unpacked
from plimsoll.runs.reader import RunReader
from plimsoll.verbs.own_runs import Again, judge_again

Server = Callable[..., str]

OPEN = """import http from 'k6/http';
export const options = { scenarios: { views: {
  executor: 'constant-arrival-rate', rate: 3000, timeUnit: '1m', duration: '5s', preAllocatedVUs: 20 } } };
export default function () { http.get(__ENV.URL); }
"""
CLOSED = "import http from 'k6/http';\nexport default function () { http.get(__ENV.URL); }\n"
SHORT = ("--step", "2", "--width", "0.3")


def capacity(folder: Path, script: str, url: str, *flags: str) -> tuple[dict[str, Any], Path]:
    """The finding of `plimsoll capacity script.js --json` and its run directory."""
    (folder / "script.js").write_text(script)
    command = [sys.executable, "-m", "plimsoll", "capacity", "script.js", "--json", "-e", f"URL={url}", *flags]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=400, check=False)
    assert done.returncode in (0, 3), done.stderr  # 3: a machine busy with other things, which says so
    finding, *_ = json.loads(done.stdout)
    return finding, folder / finding["run"]


def levels_and_plans(run: Path) -> list[tuple[float, int]]:
    return [(snapshot.level, snapshot.planned) for snapshot in RunReader(run).snapshots()]


def scattered(run: Path) -> bool:
    """Whether the seconds at level 2 (100 arrivals per second) differ from their plan by more than an edge; a step's
    first and last second are not whole."""
    steps = groupby(levels_and_plans(run), key=lambda second: second[0])
    held = [planned for level, seconds in steps if level == 2 for _, planned in list(seconds)[1:-1]]
    assert len(held) >= 3
    return any(abs(planned - 100) > 2 for planned in held)


def test_max_users_bounds_the_multiple_of_a_script_and_even_arrivals_are_even(tmp_path: Path, known_server: Server):
    bounds = ("--min-users", "1", "--max-users", "2", "--arrival-process", "even")
    flags = (*bounds, "--budget", "cpu=0.5")
    finding, run = capacity(tmp_path, OPEN, known_server(), *SHORT, *flags)
    assert finding["capacity"]["unit"] == "multiple" and finding["capacity"]["users"] is None
    assert (finding["capacity"]["good"], finding["capacity"]["bad"]) == (2, None)
    assert max(level for level, _ in levels_and_plans(run)) == 2 and not scattered(run)
    assert "at least 2 times the declared load" in finding["answer"]
    far = next(one for one in RunReader(run).findings() if one["question"] == "How far would it go?")
    assert "Cannot tell for cpu" in far["answer"] or "of the host's" in far["answer"]
    assert "How far would it go?" in (run / "report.html").read_text(encoding="utf-8")


def test_users_at_1x_turns_multiples_into_users_and_users_arrive_at_random(tmp_path: Path, known_server: Server):
    flags = ("--users-at-1x", "500", "--min-users", "500", "--max-users", "1000")
    finding, run = capacity(tmp_path, OPEN, known_server(), *SHORT, *flags)
    assert (finding["capacity"]["good"], finding["capacity"]["users"]) == (2, 1000)
    assert max(level for level, _ in levels_and_plans(run)) == 2 and scattered(run)
    assert "which is 1,000 users" in finding["answer"]


def test_max_rate_bounds_the_arrivals_per_second(tmp_path: Path, known_server: Server):
    flags = ("--min-users", "1", "--max-rate", "75", "--arrival-process", "even")
    finding, run = capacity(tmp_path, OPEN, known_server(), *SHORT, *flags)
    assert finding["capacity"]["good"] == pytest.approx(1.5), "75/s of the 3,000 a minute that the script declares"
    assert max(planned for _, planned in levels_and_plans(run)) <= 76
    assert finding["capacity"]["rate_per_s"] == pytest.approx(75, rel=0.05)


def test_a_script_without_load_is_closed_and_its_level_is_vus(tmp_path: Path, known_server: Server):
    flags = ("--max-users", "4", "--for", "30s")
    finding, run = capacity(tmp_path, CLOSED, known_server("--service-ms", 20), *SHORT, *flags)
    assert (finding["capacity"]["unit"], finding["capacity"]["model"]) == ("vus", "closed")
    assert max(level for level, _ in levels_and_plans(run)) <= 4


@pytest.mark.parametrize(
    ("script", "users_at_1x", "options", "words"),
    [
        (CLOSED, None, {"max_rate": 10}, "no arrival rate"),
        (CLOSED, 10, {}, "declares no load"),
        (OPEN, 0, {}, "not above 0"),
        (OPEN, None, {"max_rate": 0}, "greater than 0"),
        (OPEN, None, {"min_users": 2, "max_rate": 50}, "leaves nothing"),
    ],
)
def test_bounds_that_make_no_sense_are_said_before_any_load(
    tmp_path: Path, script: str, users_at_1x: float | None, options: dict[str, float], words: str
) -> None:
    (tmp_path / "script.js").write_text(script)
    with pytest.raises(InputError, match=words):
        choices = plimsoll.Choices(runs=tmp_path / "runs", users_at_1x=users_at_1x)
        plimsoll.capacity(tmp_path / "script.js", choices, **options)
    assert not (tmp_path / "runs").exists()


def test_from_python_a_script_gives_the_capacity_of_a_known_queue(tmp_path: Path, known_server: Server) -> None:
    (tmp_path / "script.js").write_text(OPEN)
    url = known_server("--servers", 4, "--service-ms", 5)
    choices = plimsoll.Choices(runs=tmp_path / "runs", env={"URL": url})
    answer = plimsoll.capacity(tmp_path / "script.js", choices, width=0.3, step_s=2, min_users=4)
    finding, *_ = answer.findings
    assert finding["capacity"]["good"] * 50 <= 840 and finding["capacity"]["bad"] * 50 >= 760
    assert answer.status == "finished" and answer.report.is_file()
    assert any("cpu_cores_used" in row["values"] for row in RunReader(answer.run_directory).resources()), (
        "whoever listens at a local URL given to the script is probed"
    )


def test_from_python_a_study_gives_the_users_of_a_known_queue(tmp_path: Path, known_server: Server) -> None:
    (tmp_path / "script.js").write_text(OPEN.replace("__ENV.URL", "__ENV.BASE_URL"))
    url = known_server("--servers", 4, "--service-ms", 5)
    (tmp_path / "study.yaml").write_text(
        f"target: {{url: '{url}'}}\n"
        "workload: {script: script.js, operations: [{name: view, exec: default, per_user_hour: 360}]}\n"
        "expected_users: 2000\n"
        "objectives: [{operation: view, objective: 'p90<=1s'}]\n"
        "experiments: [capacity: {width: 0.3, step_s: 2, min_users: 2000}]\n"
    )
    seconds: list[Progress] = []
    choices = plimsoll.Choices(runs=tmp_path / "runs")
    answer = plimsoll.capacity(tmp_path / "study.yaml", choices, plimsoll.Listeners(seconds.append))
    finding, *_ = answer.findings
    assert finding["capacity"]["good"] <= 8400 and finding["capacity"]["bad"] >= 7600
    assert finding["headroom"]["ratio"] > 0 and finding["objectives"][0]["verdict"] == "met"
    assert seconds and {one.unit for one in seconds} == {"users"}


def test_a_variant_is_switched_to_and_the_data_volume_is_recorded_per_step(
    tmp_path: Path, known_server: Server
) -> None:
    (tmp_path / "script.js").write_text(OPEN.replace("__ENV.URL", "__ENV.BASE_URL"))
    new = known_server()
    (tmp_path / "study.yaml").write_text(
        "target:\n"
        "  url: 'http://127.0.0.1:9'\n"
        "  ready: test ! -e stopped\n"
        f"  variants: {{new: {{switch: echo now new | tee variant, url: '{new}'}}}}\n"
        "  data_volume: echo x >> rows; wc -l < rows\n"
        "workload: {script: script.js, operations: [{name: view, exec: default, per_user_hour: 360}]}\n"
        "experiments: [capacity: {step_s: 1, min_users: 499, max_users: 500}]\n"
    )
    with pytest.raises(InputError, match="Did you mean new"):
        plimsoll.capacity(tmp_path / "study.yaml", plimsoll.Choices(runs=tmp_path / "runs", variant="nw"))
    choices = plimsoll.Choices(runs=tmp_path / "runs", variant="new")
    answer = plimsoll.capacity(tmp_path / "study.yaml", choices)
    finding, *_ = answer.findings
    assert finding["variant"] == "new" and finding["capacity"]["good"] >= 499
    assert (tmp_path / "variant").read_text() == "now new\n"
    assert (answer.run_directory / "logs" / "switch.log").read_text() == "now new\n"
    volumes = [step["volume_start"] for step in finding["steps"]]
    assert volumes == sorted(set(volumes)) and finding["data_volume"]["end"] > volumes[-1]
    page = answer.report.read_text()
    assert "Data before" in page and "went from" in page


def threads_of(pid: int) -> dict[int, set[int]]:
    return {int(name): os.sched_getaffinity(int(name)) for name in os.listdir(f"/proc/{pid}/task")}


@pytest.mark.skipif(len(os.sched_getaffinity(0)) < 2, reason="one processor cannot keep two programs apart")
def test_isolate_keeps_the_threads_of_engine_and_target_on_different_processors(
    tmp_path: Path, known_server: Server
) -> None:
    url = known_server()
    [server] = pids_listening_on(urlsplit(url).port or 0)
    before = threads_of(server)
    (tmp_path / "script.js").write_text(OPEN)
    engine_cpu = max(os.sched_getaffinity(0))
    seen: list[tuple[dict[int, set[int]], set[int]]] = []

    def watch(_: Progress) -> None:
        names = {
            int(folder.name): (folder / "comm").read_text().strip() for folder in Path("/proc/self/task").iterdir()
        }
        [engine] = [thread for thread, name in names.items() if name == "plimsoll-0"]
        seen.append((threads_of(server), os.sched_getaffinity(engine)))

    choices = plimsoll.Choices(runs=tmp_path / "runs", env={"URL": url}, isolate=True)
    heard = plimsoll.Listeners(watch)
    answer = plimsoll.capacity(tmp_path / "script.js", choices, heard, step_s=1, min_users=1, max_users=2)
    assert len(seen) >= 4
    for target, engine in seen:
        assert engine == {engine_cpu}
        assert all(engine_cpu not in cpus for cpus in target.values())
    assert threads_of(server) == before
    assert os.sched_getaffinity(0) >= {engine_cpu} and len(os.sched_getaffinity(0)) >= 2
    assert "affinity: target on CPU" in answer.findings[0]["generator"]["kept_apart"]


def test_isolate_without_a_known_target_says_the_command_to_type(tmp_path: Path, known_server: Server) -> None:
    (tmp_path / "script.js").write_text(OPEN.replace("__ENV.URL", f"'{known_server()}'"))
    told: list[str] = []
    choices, heard = plimsoll.Choices(runs=tmp_path / "runs", isolate=True), plimsoll.Listeners(note=told.append)
    answer = plimsoll.capacity(tmp_path / "script.js", choices, heard, step_s=1, min_users=1, max_users=1)
    isolated = [message for message in told if message.startswith("--isolate")]
    assert isolated == told[:1] and told[0] in answer.findings[0]["notes"]
    assert answer.findings[0]["generator"]["kept_apart"] is None
    if len(os.sched_getaffinity(0)) > 1:
        assert "taskset -a -cp 0" in told[0]


def test_a_remedy_is_run_between_two_searches_and_the_finding_says_what_it_changed(
    tmp_path: Path, known_server: Server
) -> None:
    (tmp_path / "script.js").write_text(OPEN)
    env = {"URL": known_server("--servers", 0, "--service-ms", 2), "API_TOKEN": "s3cr3tword"}
    choices = plimsoll.Choices(runs=tmp_path / "runs", env=env)
    remedy = f"touch {tmp_path}/remedied && echo s3cr3tword"
    before, after = plimsoll.verify(tmp_path / "script.js", remedy, choices, step_s=1, min_users=1, max_users=1)
    assert (tmp_path / "remedied").exists() and before.run_directory != after.run_directory
    assert before.findings[0]["question"] == after.findings[0]["question"] == "How much load does it carry?"
    told = after.findings[-1]
    assert told["question"] == "What did the remedy change?" and f"touch {tmp_path}/remedied" in told["notes"][0]
    assert told["before"]["good"] == told["after"]["good"] == 1 and told["verdict"] in ("not shown", "cannot tell")
    assert "What did the remedy change?" in after.report.read_text()
    again, _ = judge_again(after.run_directory, Again())
    assert [one["answer"] for one in again if one["question"] == told["question"]] == [told["answer"]]
    assert not any(b"s3cr3tword" in unpacked(path) for path in after.run_directory.rglob("*") if path.is_file())


def test_a_remedy_that_an_interrupted_run_keeps_from_being_run_is_told_at_once_and_in_the_findings(
    tmp_path: Path, known_server: Server
) -> None:
    (tmp_path / "script.js").write_text(OPEN)
    command = [sys.executable, "-m", "plimsoll", "capacity", "script.js", "-e", f"URL={known_server()}", *SHORT]
    command += ["--verify", "touch remedied", "--min-users", "1", "--max-users", "1"]
    with subprocess.Popen(
        command, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True
    ) as process:
        until = time.monotonic() + 60
        while time.monotonic() < until and not any(
            '"step_started"' in path.read_text() for path in tmp_path.glob("runs/*/events.jsonl")
        ):
            time.sleep(0.1)
        process.send_signal(signal.SIGINT)
        printed, said = process.communicate(timeout=60)
    assert process.returncode == 130 and not (tmp_path / "remedied").exists(), said
    words = "The remedy was not run (touch remedied), as the run before it was interrupted. Run it again, to the end."
    assert words in " ".join(said.split()) and words in " ".join(printed.split())
    [run] = (tmp_path / "runs").iterdir()
    assert json.loads((run / "findings.json").read_text())[0]["next"][0] == words
    again, _ = judge_again(run, Again())
    assert again[0]["next"][0] == words


def test_a_remedy_that_fails_is_told_and_the_first_answer_is_kept(tmp_path: Path, known_server: Server) -> None:
    (tmp_path / "script.js").write_text(OPEN)
    env = {"URL": known_server("--servers", 0, "--service-ms", 2)}
    choices = plimsoll.Choices(runs=tmp_path / "runs", env=env)
    with pytest.raises(TargetError, match=r"the remedy command ended with exit code 3[\s\S]*correct it"):
        plimsoll.verify(tmp_path / "script.js", "exit 3", choices, step_s=1, min_users=1, max_users=1)
    first, _ = sorted((tmp_path / "runs").iterdir(), key=lambda path: path.stat().st_ctime_ns)
    assert (first / "report.html").is_file()


def negligible_of(run: Path) -> dict[str, Any]:
    return next(one for one in RunReader(run).findings() if one["question"] == "Are these operations negligible?")


def test_the_declared_load_is_negligible_beside_six_times_of_it_and_not_at_half_of_the_capacity(
    tmp_path: Path, known_server: Server
):
    flags = ("--min-users", "1", "--arrival-process", "even", "--negligible-below", "20%", "--for", "40s")
    finding, run = capacity(tmp_path, OPEN, known_server(), *SHORT, *flags, "--max-users", "6")
    little = negligible_of(run)
    assert finding["capacity"]["good"] == 6 and little["verdict"] == "negligible"
    assert little["negligible"]["share"] == [None, pytest.approx(1 / 6)]
    assert little["negligible"]["expected_per_s"] == pytest.approx(50, rel=0.02)
    slow = known_server("--servers", 1, "--service-ms", 10)
    finding, run = capacity(tmp_path, OPEN, slow, *SHORT, *flags, "--max-users", "4")
    much = negligible_of(run)
    assert much["verdict"] == "include" and much["negligible"]["share"][0] == pytest.approx(
        1 / finding["capacity"]["bad"]
    )
    again, _ = judge_again(run, Again(), report=False)
    assert much["negligible"] in [one.get("negligible") for one in json.loads(json.dumps(again))]


@pytest.mark.parametrize(
    ("script", "share", "words"),
    [
        (CLOSED, "5%", "this load has no arrival rate"),
        (OPEN, "5", "500% is no share"),
        (OPEN, "little", "'little' is no share"),
    ],
)
def test_a_share_that_cannot_be_asked_is_told_before_any_load(tmp_path: Path, script: str, share: str, words: str):
    (tmp_path / "script.js").write_text(script)
    command = [sys.executable, "-m", "plimsoll", "capacity", "script.js", "-e", "URL=http://127.0.0.1:9"]
    command += ["--negligible-below", share]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=400, check=False)
    assert done.returncode == 2 and words in done.stderr and not (tmp_path / "runs").exists()
