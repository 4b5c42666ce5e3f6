"""In a folder whose files are named like modules of Python, nothing of it is run, and nothing stops working."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from command_line import MINUTE_OF_LOAD, TESTKIT, Cli, lives, seconds_written, wait_until, working_in
from hostile_folder import HOME, LATER, command_script, ended, hostile_folder, ran_in

from plimsoll_lab.ports import free_port

STUDY = """target:
  url: 'http://127.0.0.1:{port}'
  start: 'echo $$ > pid; exec {testkit} --port {port} --service-ms 2'
  ready: /
  stop: 'echo stopped >> stopped'
workload: {{script: script.js, operations: [{{name: a, exec: default, per_user_hour: 3600}}]}}
"""


@pytest.fixture
def folder(tmp_path: Path) -> Iterator[Path]:
    made = hostile_folder(tmp_path / "hostile")
    yield made
    assert ran_in(made) == []


def test_a_report_made_inside_it(cli: Cli, folder: Path) -> None:
    cli.write(script_js="export default function () {}\n")
    assert cli("run", "-q", "script.js").returncode == 0
    done = ended([*command_script(cli.folder), "report", f"../runs/{cli.runs()[0].name}"], folder)
    assert done.returncode == 0 and (cli.runs()[0] / "report.html").is_file(), done.stderr


def test_a_killed_hold_leaves_no_target_behind(cli: Cli, folder: Path) -> None:
    (folder / "script.js").write_text(MINUTE_OF_LOAD)
    (folder / "study.yaml").write_text(STUDY.format(port=free_port(), testkit=TESTKIT))
    environment = {key: value for key, value in os.environ.items() if key != "PYTHONPATH"}
    command = [*command_script(cli.folder), "hold", "study.yaml", "--users", "2", "--duration", "60", "-q"]
    with subprocess.Popen(command, cwd=folder, env=environment, stderr=subprocess.DEVNULL) as holding:
        try:
            runs = lambda: list((folder / "runs").glob("*/manifest.json"))  # noqa: E731
            run_directory = wait_until(runs, "a run directory")[0].parent
            wait_until(lambda: seconds_written(run_directory) >= 1, "the load")
        finally:
            holding.kill()
    target = int((folder / "pid").read_text())
    wait_until(lambda: not lives(target), "the end of the target")
    wait_until((folder / "stopped").exists, "the stop command")
    wait_until(lambda: not working_in(folder), "the end of the guard")


def test_a_target_of_the_lab_with_processes_of_its_own(cli: Cli, folder: Path) -> None:
    command = [*command_script(cli.folder), "lab", "inventory", "--port", "0", "--instances", "20", "--data", "data"]
    environment = {key: value for key, value in os.environ.items() if key != "PYTHONPATH"}
    with subprocess.Popen(command, cwd=folder, env=environment, stdout=subprocess.PIPE, text=True) as serving:
        assert serving.stdout is not None
        ready = json.loads(serving.stdout.readline() or "{}")
        serving.terminate()
        assert serving.wait(60) == 0
    assert ready["ready"]


def test_what_resets_a_target_is_run_by_its_study_in_the_folder_of_its_data(cli: Cli, folder: Path) -> None:
    """The command is in the study; its current folder is the data's, into which anybody may have put a file."""
    data = folder / "data"
    command = [*command_script(cli.folder), "lab", "tracker", "--port", "0", "--issues", "100", "--data", "data"]
    environment = {key: value for key, value in os.environ.items() if key != "PYTHONPATH"}
    with subprocess.Popen(command, cwd=folder, env=environment, stdout=subprocess.PIPE, text=True) as serving:
        assert serving.stdout is not None and json.loads(serving.stdout.readline())["ready"]
        line = next(text for text in (data / "study.yaml").read_text().splitlines() if "reset:" in text)
        (data / "types.py").write_text(f"open({str(cli.folder / 'ran' / 'reset')!r}, 'w').close()\n")
        reset = json.loads(line.partition("reset: ")[2])
        done = ended(["/bin/sh", "-c", reset], data)
        serving.terminate()
        assert serving.wait(60) == 0
    assert done.returncode == 0, done.stderr


def test_python_m_plimsoll_looks_there_for_nothing_once_it_has_begun(cli: Cli, tmp_path: Path) -> None:
    """Python itself looks for `plimsoll` and for what it imports first in the current folder; `plimsoll` does not."""
    made = hostile_folder(tmp_path / "later", LATER)
    done = ended([sys.executable, "-m", "plimsoll", "doctor", "--json"], made, PYTHONPATH=HOME)
    assert json.loads(done.stdout)["checks"], done.stderr
    assert ran_in(made) == []
