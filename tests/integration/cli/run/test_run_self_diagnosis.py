"""What `plimsoll run` says when the generator itself was the limit, each provoked for real; and its live control."""

from __future__ import annotations

import json
import os
import re
import resource
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from command_line import TESTKIT, Cli, seconds_written, wait_until

from plimsoll.findings.of_run import findings_of_run
from plimsoll.runs.directory import is_being_written
from plimsoll.runs.reader import RunReader

GET = """import http from 'k6/http';
export const options = %s;
export default function () { http.get(__ENV.BASE_URL); }
"""
BATCH = """import http from 'k6/http';
export const options = { vus: 20, duration: '2s' };
const six = Array(6).fill(__ENV.BASE_URL);
export default function () { http.batch(six); }
"""
COMPUTING = """import http from 'k6/http';
import { sleep } from 'k6';
export const options = { vus: 5, duration: '3s' };
export default function () {
  http.get(__ENV.BASE_URL);
  const begun = Date.now();
  while (Date.now() - begun < 50) {}
  sleep(0.3);
}
"""
FULL = """export const options = { vus: 1, duration: '3s' };
export default function () { for (let i = 0; i < 1e4; i++) {} }
"""
# Troubles of the processor; which of them it is depends on what else works on the machine of the test.
PROCESSOR = {"thread", "waiting", "starved", "steal", "quota"}


def script(cli: Cli, text: str) -> None:
    cli.write(script_js=text)


def at_rate(per_s: int, duration: str, **more: Any) -> str:
    """Options of an open model."""
    arrivals = {"executor": "constant-arrival-rate", "rate": per_s, "duration": duration, "preAllocatedVUs": 9}
    return json.dumps({"scenarios": {"a": arrivals | more}})


def finding(cli: Cli) -> dict[str, Any]:
    return json.loads((cli.runs()[-1] / "findings.json").read_text())[0]


def names(cli: Cli) -> set[str]:
    return {one["name"] for one in finding(cli)["diagnoses"]}


def words(text: str) -> str:
    return " ".join(text.split())


def test_a_script_that_computes_keeps_other_vus_waiting(cli: Cli, known_server: Callable[..., str]) -> None:
    script(cli, COMPUTING)
    done = cli("run", "-q", "-e", f"BASE_URL={known_server()}", "script.js")
    assert done.returncode == 0 and "stall" in names(cli), done.stderr
    assert "The script kept a thread of the generator from its other VUs" in done.stderr
    found = finding(cli)
    times = [one for one in found["validity"] if one["rests_on"] == "response_time"]
    assert found["valid"] and any(one["verdict"] != "valid" for one in times), "it delayed, and took no load"
    assert found["generator"]["script_mean_ms"] > 5
    assert any("Make the script cheaper" in step for step in found["next"])


def test_a_thread_that_is_full_is_named(cli: Cli) -> None:
    script(cli, FULL)
    done = cli("run", "-q", "script.js")
    assert names(cli) & PROCESSOR, finding(cli)["generator"]
    assert "the generator was a limit" in done.stderr and not finding(cli)["valid"]


def limited_to(files: int) -> Callable[[], None]:
    return lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (files, files))


def test_connections_without_a_file_are_counted_apart(cli: Cli, known_server: Callable[..., str]) -> None:
    script(cli, BATCH)
    url = known_server("--servers", 0, "--service-ms", 20)
    done = cli("run", "-q", "-e", f"BASE_URL={url}", "script.js", preexec_fn=limited_to(64))
    assert "files" in names(cli), done.stderr
    text = words(done.stderr)
    assert "no open file left here" in text and "The target never saw them" in text
    assert "had no free file descriptor (64 are allowed)" in text and "ulimit -n 65536" in text
    assert finding(cli)["generator"]["refused_files"] > 0


def test_vus_beyond_the_machine_s_limits_are_said(cli: Cli, known_server: Callable[..., str]) -> None:
    script(cli, GET % json.dumps({"vus": 100, "duration": "2s"}))
    url = known_server("--servers", 0, "--service-ms", 5)
    done = cli("run", "-q", "-e", f"BASE_URL={url}", "script.js", preexec_fn=limited_to(60))
    assert "80 of the VUs that the script asks for never ran" in words(done.stderr)
    assert finding(cli)["generator"]["denied_vus"] == 80


NARROW = """set -e
ip link set lo up
sysctl -qw net.ipv4.ip_local_port_range='40000 40099' net.ipv4.tcp_tw_reuse=0
{testkit} --port 20000 --servers 0 --service-ms 2 > url &
server=$!
trap 'kill $server' EXIT
while ! [ -s url ]; do :; done
{python} -m plimsoll run -q -e BASE_URL=$(cat url) script.js
"""


@pytest.fixture
def own_network() -> list[str]:
    """The command that gives a command a network of its own."""
    command = ["unshare", "--map-root-user", "--net"]
    if not all(map(shutil.which, ("unshare", "ip", "sysctl"))):
        pytest.skip("needs unshare, ip and sysctl")
    if subprocess.run([*command, "true"], capture_output=True, check=False).returncode:
        pytest.skip("no network namespace may be made here")
    return command


def test_connections_without_a_port_are_counted_apart(cli: Cli, own_network: list[str]) -> None:
    script(cli, GET % "{ vus: 30, duration: '2s', noConnectionReuse: true }")
    text = NARROW.format(testkit=TESTKIT, python=sys.executable)
    done = subprocess.run(
        [*own_network, "sh", "-c", text], cwd=cli.folder, capture_output=True, text=True, check=False, timeout=60
    )
    assert "ports" in names(cli), done.stderr
    told = words(done.stderr)
    assert "no local port was free (100 of 100 held to 127.0.0.1:20000" in told and "no local port left here" in told
    assert "leave noConnectionReuse" in told
    assert finding(cli)["generator"]["busiest_destination"] == {"address": "127.0.0.1:20000", "local_ports": 100}


@pytest.fixture
def busy_core() -> Iterator[int]:
    """A processor on which somebody else computes all the time."""
    core = max(os.sched_getaffinity(0))
    neighbour = subprocess.Popen(
        [sys.executable, "-c", "while True: pass"], preexec_fn=lambda: os.sched_setaffinity(0, {core})
    )
    yield core
    neighbour.kill()
    neighbour.communicate()


def test_a_neighbour_on_the_generator_s_core_is_told(
    cli: Cli, known_server: Callable[..., str], busy_core: int
) -> None:
    url = known_server("--servers", 0, cpu=min(os.sched_getaffinity(0)))
    done = cli("run", "-q", "--url", url, "-u", 20, "-d", "3s", preexec_fn=lambda: os.sched_setaffinity(0, {busy_core}))
    assert names(cli) & {"waiting", "starved"}, done.stderr
    assert "ther work on this machine kept a thread of" in done.stderr
    assert finding(cli)["generator"]["usable_cores"] == 1


def test_work_that_takes_the_cores_of_a_target_on_this_machine_is_told_and_its_times_are_not_its_own(
    cli: Cli, known_server: Callable[..., str]
) -> None:
    url = known_server("--servers", 0)
    computing = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(2 * (os.cpu_count() or 1))]
    try:
        done = cli("run", "-q", "--url", url, "-u", 2, "-d", "8s")
    finally:
        for one in computing:
            one.kill()
            one.wait()
    assert "foreign_work" in names(cli) and "has no connection to it, had to wait for them" in done.stderr
    found = finding(cli)
    verdicts = {one["words"] for one in found["validity"]}
    assert {"throughput: valid", "response times at p50: invalid"} <= verdicts
    judged_again = findings_of_run(RunReader(cli.runs("runs")[0]))[0]
    assert judged_again["validity"] == found["validity"] and judged_again["notes"] == found["notes"]


@pytest.fixture
def tenth_of_a_core() -> Iterator[Path]:
    """A cgroup whose processes may use a tenth of a core, of version 2, else 1."""
    name = f"plimsoll-test-{os.getpid()}"
    for top, limit in (("/sys/fs/cgroup", {"cpu.max": "1000 10000"}),
                       ("/sys/fs/cgroup/cpu", {"cpu.cfs_period_us": "10000", "cpu.cfs_quota_us": "1000"})):  # fmt: skip
        group = Path(top) / name
        try:
            group.mkdir()
        except OSError:
            continue
        if all((group / file).exists() for file in limit):
            for file, text in limit.items():
                (group / file).write_text(text)
            yield group
            wait_until(lambda group=group: not (group / "cgroup.procs").read_text(), "the cgroup's processes to end")
            group.rmdir()
            return
        group.rmdir()
    pytest.skip("no cgroup with a CPU quota may be made here")


def test_a_cpu_quota_that_holds_the_generator_up_is_told(
    cli: Cli, known_server: Callable[..., str], tenth_of_a_core: Path
) -> None:
    url = known_server("--servers", 0)

    def enter() -> None:
        (tenth_of_a_core / "cgroup.procs").write_text(str(os.getpid()))

    done = cli("run", "-q", "--url", url, "-u", 20, "-d", "3s", preexec_fn=enter)
    assert names(cli) & {"quota", "starved"}, done.stderr
    assert "CPU quota of 0.1 cores" in done.stderr
    assert "other work on this machine" not in done.stderr and "waiting" not in names(cli)


def test_arrivals_without_a_vu_are_said(cli: Cli, hanging_url: str) -> None:
    script(cli, GET % at_rate(10, "2s", preAllocatedVUs=2, maxVUs=2, gracefulStop="1s"))
    done = cli("run", "-q", "-e", f"BASE_URL={hanging_url}", "script.js")
    assert "of 20 planned arrivals 18 were never sent, because no VU was free" in words(done.stderr)
    dropped = cli("run", "-q", "--late-arrivals", "drop", "-e", f"BASE_URL={hanging_url}", "script.js")
    assert "18 were never sent" in words(dropped.stderr)


def test_every_run_keeps_what_its_generator_did(cli: Cli, known_server: Callable[..., str]) -> None:
    script(cli, GET % at_rate(20, "2s"))
    done = cli("run", "-q", "--summary-mode", "legacy", "-e", f"BASE_URL={known_server()}", "script.js")
    for metric in ("iteration_response_time", "http_req_response_time", "arrival_lag", "http_req_blocked"):
        assert metric in done.stdout
    (run,) = cli.runs()
    rows = [row["values"] for row in RunReader(run).resources() if row["source"] == "generator"]
    assert len(rows) == seconds_written(run) and all(row["time_wait"] >= 0 and row["open_files_limit"] for row in rows)
    first = next(iter(RunReader(run).snapshots())).generator
    assert {"busiest_thread_share", "longest_turn_ms", "script_p99_ms", "refused_files"} <= set(first)
    found = finding(cli)
    assert found["question"] == "Did the generator limit this run?" and found["run"].endswith(run.name)
    assert cli("report", run).returncode == 0
    assert "Did the generator limit this run?" in (run / "report.html").read_text()
    (run / "findings.json").unlink()  # as of a run that was killed
    again = json.loads(cli("report", "--json", run).stdout)
    assert again[0]["generator"]["threads"] == found["generator"]["threads"]


def arrivals_in_a_whole_second(run: Path, level: float) -> int | None:
    """Arrivals planned in the second after the first one that ended at that level; None before it has gone by."""
    seen = list(RunReader(run).snapshots())
    at = next((at for at, snapshot in enumerate(seen) if snapshot.level == level), len(seen))
    return seen[at + 1].planned if at + 1 < len(seen) else None


def test_a_run_is_paused_resumed_scaled_and_stopped_from_another_terminal(
    cli: Cli, known_server: Callable[..., str]
) -> None:
    script(
        cli,
        GET % at_rate(20, "90s"),
    )
    running = cli.begin("run", "-q", "-e", f"BASE_URL={known_server()}", "script.js")
    run = wait_until(lambda: cli.runs(), "a run directory")[0]
    wait_until(lambda: seconds_written(run) >= 1, "the first second")
    assert cli("control", "runs", "pause").stdout.startswith("paused: running iterations end")
    wait_until(lambda: arrivals_in_a_whole_second(run, 0.0) is not None, "a second of the pause")
    assert arrivals_in_a_whole_second(run, 0.0) == 0
    assert "level 3 waits" in cli("control", run, "level", 3).stdout
    assert cli("control", run, "resume").stdout == "level 3: 3 times the declared load\n"
    wait_until(lambda: arrivals_in_a_whole_second(run, 3.0) is not None, "a second at that level")
    assert 55 <= (arrivals_in_a_whole_second(run, 3.0) or 0) <= 65
    assert cli("control", run, "stop").stdout == "stopping: running iterations may end\n"
    output, _ = running.communicate(timeout=60)
    assert running.returncode == 103 and "iterations" in output
    reader = RunReader(run)
    assert reader.state == "interrupted"
    assert [event["verb"] for event in reader.events("control")] == ["pause", "level", "resume", "stop"]
    late = cli("control", run, "pause")
    assert late.returncode == 2 and "has ended" in late.stderr


def listening(cli: Cli) -> int:
    """The number of the newest run if it goes on; 0 if it has not begun or has ended."""
    runs = cli.runs()
    return len(runs) if runs and is_being_written(runs[-1] / "series.jsonl.zst") else 0


def test_a_paused_run_begins_when_it_is_resumed(cli: Cli, known_server: Callable[..., str]) -> None:
    script(cli, GET % "{ vus: 1, iterations: 3 }")
    running = cli.begin("run", "-q", "--paused", "-e", f"BASE_URL={known_server()}", "script.js")
    wait_until(lambda: listening(cli) == 1, "a run that listens")
    assert cli("control", "runs", "level", 2).stdout.startswith("paused")
    assert cli("control", "runs", "resume").stdout.startswith("level 2")
    output, errors = running.communicate(timeout=60)
    assert running.returncode == 0 and re.search(r"iterations\.+: 3 ", output) and "paused" in errors
    paused = cli.begin("run", "-q", "--paused", "script.js")
    wait_until(lambda: listening(cli) == 2, "another run that listens")
    assert cli("control", "runs", "stop").returncode == 0
    output, _ = paused.communicate(timeout=60)
    assert paused.returncode == 103 and not output


def test_control_says_what_it_cannot_do(cli: Cli, hanging_url: str) -> None:
    for arguments, message in (
        (("runs", "fly"), "Say one of pause, resume, level, stop"),
        (("runs", "level"), "a number from 0 to 1,000,000 belongs there"),
        (("runs", "level", "--", "-1"), "a number from 0 to 1,000,000 belongs there"),
        (("runs", "pause", 3), "takes no number"),
        (("runs", "pause"), "there is no run in runs"),
    ):
        told = cli("control", *arguments)
        assert told.returncode == 2 and message in told.stderr, told.stderr
    script(cli, GET % "{ scenarios: { each: { executor: 'per-vu-iterations', vus: 1, iterations: 5 } } }")
    running = cli.begin("run", "-q", "-e", f"BASE_URL={hanging_url}", "script.js")
    run = wait_until(lambda: cli.runs(), "a run directory")[0]
    wait_until(lambda: seconds_written(run) >= 1, "the first second")
    told = cli("control", run, "pause")
    assert "not so each: a fixed number of iterations follows no level" in told.stdout
    running.kill()
