"""Ctrl-C once and twice, and SIGKILL at any moment: what was measured stays, nothing is left running."""

from __future__ import annotations

import os
import random
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from command_line import LIMIT_S, MINUTE_OF_LOAD, TESTKIT, Cli, lives, seconds_written, wait_until, working_in

from plimsoll.runs.reader import RunReader
from plimsoll_lab.ports import free_port

STUDY = """target:
  url: 'http://127.0.0.1:{port}'
  start: 'echo $$ > {name}.pid; exec {testkit} --port {port} --service-ms 2'
  ready: /
  stop: 'echo stopped >> {name}.stopped'
workload: {{script: script.js, operations: [{{name: a, exec: default, per_user_hour: 3600}}]}}
"""


def begin_study(cli: Cli, port: int, name: str = "study") -> subprocess.Popen[str]:
    """A capacity search of a target that it starts itself, with run directories below `name`."""
    cli.write(script_js=MINUTE_OF_LOAD)
    (cli.folder / f"{name}.yaml").write_text(STUDY.format(port=port, name=name, testkit=TESTKIT))
    return cli.begin("capacity", "-q", "--runs", name, f"{name}.yaml")


def target_of(cli: Cli, name: str = "study") -> int:
    """The process id that the target's start command wrote; 0 if it has not yet."""
    file = cli.folder / f"{name}.pid"
    return int(file.read_text().strip() or 0) if file.exists() else 0


def loaded(cli: Cli, name: str, seconds: int) -> Path:
    """The run directory once that many seconds of load are in it."""
    run_directory = wait_until(lambda: cli.runs(name), "a run directory")[0]
    wait_until(lambda: seconds_written(run_directory) >= seconds, f"{seconds} seconds of load")
    return run_directory


def test_ctrl_c_once_in_capacity_reports_what_was_measured_and_stops_the_target(
    cli: Cli,
) -> None:
    search = begin_study(cli, free_port())
    run_directory = loaded(cli, "study", 4)
    search.send_signal(signal.SIGINT)
    output, errors = search.communicate()
    assert search.returncode == 130 and errors.splitlines() == [
        "stopping: running iterations may end; Ctrl-C again stops at once"
    ]
    assert "Interrupted: this rests on what was measured until then." in " ".join(output.split())
    assert "generator may have been the limit" not in output and "INVALID" not in output
    reader = RunReader(run_directory)
    assert reader.state == "interrupted" and reader.findings()[0]["status"] == "interrupted"
    assert (run_directory / "report.html").is_file()
    assert not lives(target_of(cli)) and (cli.folder / "study.stopped").read_text() == "stopped\n"


LEAVES = (
    STUDY.replace("echo stopped >> {name}.stopped", "echo cannot >&2; exit 7")
    + "experiments: [hold: {{for: {time}}}, capacity]\n"
)


def begin_two(cli: Cli, text: str, time: str) -> tuple[subprocess.Popen[str], Path]:
    """A study of two experiments, a hold of that time and a search, and the run directory of the first."""
    cli.write(script_js=MINUTE_OF_LOAD)
    (cli.folder / "study.yaml").write_text(
        text.format(port=free_port(), name="study", testkit=TESTKIT, time=time) + "expected_users: 20\n"
    )
    study = cli.begin("study", "-q", "--runs", "study", "study.yaml")
    manifests = wait_until(lambda: list(cli.folder.glob("study/*/*-hold-*/manifest.json")), "a run directory")
    return study, manifests[0].parent


def test_a_study_whose_target_cannot_be_stopped_ends_at_ctrl_c_and_has_the_answer(cli: Cli) -> None:
    study, run_directory = begin_two(cli, LEAVES, "5m")
    wait_until(lambda: seconds_written(run_directory) >= 3, "seconds of load")
    study.send_signal(signal.SIGHUP)
    _, errors = study.communicate(timeout=60)
    assert study.returncode == 130 and "What `start` began was ended: the stop command ended with exit code 7" in errors
    assert not list(run_directory.parent.glob("*-capacity-*")) and not lives(target_of(cli))
    reader = RunReader(run_directory)
    assert reader.state == "interrupted" and (run_directory / "report.html").is_file()
    assert "What `start` began was ended" in " ".join(reader.findings()[0]["notes"])


def test_ctrl_c_while_the_answer_is_made_waits_for_it_and_nothing_follows(cli: Cli) -> None:
    study, run_directory = begin_two(cli, LEAVES.replace("exit 7", "sleep 3"), "20s")
    wait_until(lambda: RunReader(run_directory).events("hold_result"), "the end of the load")
    study.send_signal(signal.SIGTERM)
    output, errors = study.communicate(timeout=60)
    assert study.returncode == 130 and "The load has ended, its answer comes" in errors, errors
    first, second = output.split("2. capacity")
    assert "Is it stable at this load" in first and "not begun" not in first and second.startswith("\nnot begun")
    assert not list(run_directory.parent.glob("*-capacity-*"))
    reader = RunReader(run_directory)  # whether a busy machine lets it be told is not this test's question
    assert reader.findings()[0]["answer"] and "interrupted" not in reader.findings()[0]["status"]
    assert reader.state == "finished" and (run_directory / "report.html").is_file()


def test_ctrl_c_twice_ends_a_search_at_once_and_its_run_still_reports(cli: Cli, hanging_url: str) -> None:
    cli.write(script_js=MINUTE_OF_LOAD)
    search = cli.begin("capacity", "-q", "-e", f"BASE_URL={hanging_url}", "script.js")
    run_directory = loaded(cli, "runs", 2)
    search.send_signal(signal.SIGINT)
    wait_until(lambda: RunReader(run_directory).events("interrupted"), "the first signal to be served")
    search.send_signal(signal.SIGINT)
    output, errors = search.communicate(timeout=20)  # gracefulStop alone would take 30 s
    assert search.returncode == 130 and not output
    assert errors.splitlines()[1:] == [
        "plimsoll: interrupted.",
        f"What was recorded is kept in runs/{run_directory.name}; "
        f"read it with: plimsoll report runs/{run_directory.name}",
    ]
    assert RunReader(run_directory).state == "interrupted"
    assert cli("report", run_directory).returncode == 0


def test_sigterm_twice_in_run_cuts_iterations_off_and_prints_the_summary(cli: Cli, hanging_url: str) -> None:
    cli.write(script_js=MINUTE_OF_LOAD)
    running = cli.begin("run", "-q", "-e", f"BASE_URL={hanging_url}", "script.js")
    run_directory = loaded(cli, "runs", 1)
    running.send_signal(signal.SIGTERM)
    wait_until(lambda: RunReader(run_directory).events("interrupted"), "the first signal to be served")
    written = seconds_written(run_directory)
    wait_until(lambda: seconds_written(run_directory) >= written + 2, "the second in which a repetition does not count")
    running.send_signal(signal.SIGTERM)
    output, errors = running.communicate(timeout=20)
    assert running.returncode == 105 and "vus_max" in output
    assert "2 of 2 iterations were cut off" in errors and run_directory.name in errors
    assert RunReader(run_directory).state == "interrupted"


def test_ctrl_c_while_the_target_gets_ready_stops_it_and_says_where_its_output_is(
    cli: Cli,
) -> None:
    cli.write(script_js=MINUTE_OF_LOAD)
    text = STUDY.format(port=free_port(), name="study", testkit=TESTKIT).replace("ready: /", "ready: 'false'")
    cli.write(study_yaml=text)
    search = cli.begin("capacity", "-q", "study.yaml")
    pid = wait_until(lambda: target_of(cli), "the target to be started")
    search.send_signal(signal.SIGINT)
    _, errors = search.communicate()
    assert search.returncode == 130 and errors.startswith("plimsoll: interrupted.\nWhat was recorded is kept in runs/")
    assert not lives(pid) and (cli.folder / "study.stopped").exists()


def test_a_kill_at_any_moment_leaves_a_run_that_opens_and_reports_and_no_target(
    cli: Cli, known_server: Callable[..., str]
) -> None:
    """Ten kills: five of searches that started their targets, five of plain runs, each at its own random moment."""
    url, seed = known_server(), random.randrange(10**6)
    moments = random.Random(seed)
    cli.write(script_js=MINUTE_OF_LOAD)
    running = {f"search{n}": begin_study(cli, free_port(), f"search{n}") for n in range(5)}
    for n in range(5):
        running[f"run{n}"] = cli.begin("run", "-q", "-e", f"BASE_URL={url}", "--runs", f"run{n}", "script.js")

    def kill(name: str, after_s: float) -> Path:
        run_directory = wait_until(lambda: cli.runs(name), "a run directory")[0]
        time.sleep(after_s)  # the random moment itself
        running[name].kill()
        running[name].communicate()
        return run_directory

    with ThreadPoolExecutor(len(running)) as killers:
        found = list(killers.map(kill, running, [moments.uniform(0, 4) for _ in running]))
    with ThreadPoolExecutor(2) as reporters:
        reports = list(reporters.map(lambda run_directory: cli("report", run_directory), found))
    for name, run_directory, report in zip(running, found, reports, strict=True):
        reader = RunReader(run_directory)
        assert reader.state == "killed", (name, seed)
        assert len(list(reader.snapshots())) == seconds_written(run_directory), (name, seed)
        assert report.returncode == 0 and (run_directory / "report.html").is_file(), (name, seed, report.stderr)
        if any(str(event.get("message")).startswith("started: ") for event in reader.events("note")):
            pid = wait_until(lambda name=name: target_of(cli, name), f"the process id of the target of {name}")
            wait_until(lambda pid=pid: not lives(pid), f"the end of the target of {name} (seed {seed})")
            wait_until((cli.folder / f"{name}.stopped").exists, f"the stop command of {name} (seed {seed})")
    # Also of a search that was killed before it could write that its target was started.
    wait_until(lambda: not working_in(cli.folder), f"the end of all targets and their guards (seed {seed})")


SLOW = """import { sleep } from 'k6';
export const options = { vus: 2, duration: '60s' };
export default function () { sleep(3); }
"""


def test_timeout_which_signals_twice_lets_iterations_end(cli: Cli) -> None:
    cli.write(script_js=SLOW)
    command = ["timeout", "2", sys.executable, "-m", "plimsoll", "run", "-q", "script.js"]
    # In a session of its own: timeout signals its whole process group.
    done = subprocess.run(
        command, cwd=cli.folder, capture_output=True, text=True, check=False, timeout=60, start_new_session=True
    )
    assert done.returncode == 124 and done.stderr.count("stopping:") == 1, done.stderr
    assert "cut off" not in done.stderr and re.search(r"iterations\.+: 2 ", done.stdout)


def test_ctrl_c_right_after_sigterm_ends_at_once(cli: Cli, hanging_url: str) -> None:
    cli.write(script_js=MINUTE_OF_LOAD)
    running = cli.begin("run", "-q", "-e", f"BASE_URL={hanging_url}", "script.js")
    run_directory = loaded(cli, "runs", 1)
    running.send_signal(signal.SIGTERM)
    wait_until(lambda: RunReader(run_directory).events("interrupted"), "the first signal to be served")
    running.send_signal(signal.SIGINT)
    _, errors = running.communicate(timeout=20)  # gracefulStop alone would take 30 s
    assert running.returncode == 105 and "2 of 2 iterations were cut off" in errors


def test_a_closed_terminal_ends_a_search_as_sigterm_does(cli: Cli) -> None:
    search = begin_study(cli, free_port())
    run_directory = loaded(cli, "study", 4)
    search.send_signal(signal.SIGHUP)
    search.send_signal(signal.SIGHUP)  # of the shell and of the kernel: one
    output, errors = search.communicate(timeout=LIMIT_S)
    assert search.returncode == 130 and errors.count("stopping: running iterations may end") == 1
    assert "Interrupted: this rests on what was measured until then." in " ".join(output.split())
    reader = RunReader(run_directory)
    assert reader.state == "interrupted" and reader.findings() and (run_directory / "report.html").is_file()
    assert not lives(target_of(cli)) and (cli.folder / "study.stopped").read_text() == "stopped\n"


def test_a_closed_terminal_ends_a_run_unless_nohup_said_otherwise(cli: Cli) -> None:
    cli.write(script_js=SLOW.replace("60s", "6s"))
    running, nohup = (
        cli.begin("run", "-q", "script.js"),
        cli.begin_after("nohup", "run", "-q", "--runs", "no", "script.js"),
    )
    written = [loaded(cli, folder, 1) for folder in ("runs", "no")]
    for process in (running, nohup):
        process.send_signal(signal.SIGHUP)
    _, errors = running.communicate(timeout=LIMIT_S)
    nohup.communicate(timeout=LIMIT_S)
    assert (running.returncode, nohup.returncode) == (105, 0) and "stopping:" in errors
    assert [RunReader(run_directory).state for run_directory in written] == ["interrupted", "finished"]


def test_a_closed_terminal_ends_a_target_of_the_lab_with_all_its_processes(cli: Cli) -> None:
    data = cli.folder / "data"
    serving = cli.begin("lab", "inventory", "--port", "0", "--instances", "20", "--data", data)
    assert serving.stdout is not None and serving.stdout.readline()
    os.killpg(serving.pid, signal.SIGHUP)  # every process of the terminal
    _, errors = serving.communicate(timeout=LIMIT_S)
    assert serving.returncode == 0 and "Traceback" not in errors, errors
    wait_until(lambda: not working_in(cli.folder), "the end of its modules")


def test_an_interruption_before_the_command_can_serve_one_ends_it_without_a_traceback(tmp_path: Path) -> None:
    text = """import os, signal, sys
class Interrupting:
    def find_spec(self, name, *_):
        if name == 'plimsoll.cli':
            os.kill(os.getpid(), signal.SIGINT)
sys.meta_path.insert(0, Interrupting())
from plimsoll.__main__ import main
main()"""
    done = subprocess.run([sys.executable, "-c", text], capture_output=True, text=True, timeout=LIMIT_S, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (-signal.SIGINT, "", "")


ENDING = """
import os, signal, sys
from plimsoll.__main__ import main

class Late:
    def __del__(self, kill=os.kill, pid=os.getpid(), numbers=(signal.SIGINT, signal.SIGTERM, signal.SIGHUP)):
        for number in numbers:
            kill(pid, number)

late = Late()  # goes when Python takes itself down
sys.argv = ["plimsoll", "report", "nowhere"]
main()
"""


def test_an_interruption_when_all_is_done_leaves_the_exit_code(tmp_path: Path) -> None:
    ended = subprocess.run(
        [sys.executable, "-c", ENDING], cwd=tmp_path, capture_output=True, text=True, timeout=60, check=False
    )
    assert (ended.returncode, ended.stdout) == (2, "") and "Traceback" not in ended.stderr
