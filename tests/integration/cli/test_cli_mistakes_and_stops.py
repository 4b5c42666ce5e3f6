"""The command as a user runs it: what it says to mistakes, and what a killed or interrupted run leaves."""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from plimsoll.report.html import write_html
from plimsoll.runs.reader import RunReader

SCRIPT = """import http from 'k6/http';
import { sleep } from 'k6';
export const options = { vus: 2, duration: '30s' };
export default function () { http.get(__ENV.URL); sleep(0.01); }
"""


def plimsoll(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "plimsoll", *arguments]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=60, check=False)


def started(folder: Path, url: str) -> tuple[subprocess.Popen[str], Path]:
    """A run that has written its first second, and its directory."""
    (folder / "script.js").write_text(SCRIPT)
    command = [sys.executable, "-m", "plimsoll", "run", "-q", "-e", f"URL={url}", "script.js"]
    process = subprocess.Popen(command, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    for _ in range(400):
        found = [path for path in folder.glob("runs/*/series.jsonl") if b"\n" in path.read_bytes()]
        if found:
            return process, found[0].parent
        time.sleep(0.05)
    process.kill()
    raise AssertionError(f"no second was written: {process.communicate()}")


def test_a_script_with_a_syntax_error_ends_with_107_and_names_the_line(tmp_path: Path) -> None:
    (tmp_path / "script.js").write_text("export default function () {\n  const x = ;\n}\n")
    done = plimsoll(tmp_path, "run", "script.js")
    assert done.returncode == 107 and "script.js:2" in done.stderr and "const x = ;" in done.stderr


def test_a_study_with_mistakes_ends_with_2_and_lists_them_with_lines(tmp_path: Path) -> None:
    (tmp_path / "script.js").write_text(SCRIPT)
    (tmp_path / "study.yaml").write_text(
        "workload:\n  script: script.js\n  operatons: []\n  operations:\n    - {name: a, per_user_hour: -1}\n"
    )
    done = plimsoll(tmp_path, "capacity", "study.yaml")
    assert done.returncode == 2
    assert "study.yaml:3" in done.stderr and "operations" in done.stderr and "study.yaml:5" in done.stderr
    assert not (tmp_path / "runs").exists()


def test_a_target_that_is_down_is_said_before_any_load(tmp_path: Path) -> None:
    (tmp_path / "script.js").write_text(SCRIPT)
    (tmp_path / "study.yaml").write_text(
        "target: {url: 'http://127.0.0.1:9', time_limits: {ready_s: 1}}\n"
        "workload: {script: script.js, operations: [{name: a, exec: default, per_user_hour: 1}]}\n"
    )
    done = plimsoll(tmp_path, "capacity", "study.yaml")
    assert done.returncode == 3 and "not ready" in done.stderr and "Traceback" not in done.stderr


def test_a_run_folder_that_cannot_be_made_is_said(tmp_path: Path) -> None:
    (tmp_path / "script.js").write_text("export default function () {}")
    (tmp_path / "runs").write_text("a file is in the way")
    done = plimsoll(tmp_path, "run", "script.js")
    assert done.returncode != 0 and "runs" in done.stderr and "Traceback" not in done.stderr


def test_a_killed_run_opens_and_reports(tmp_path: Path, known_server: Callable[..., str]) -> None:
    process, run_directory = started(tmp_path, known_server())
    process.kill()
    process.communicate()
    reader = RunReader(run_directory)
    assert reader.state == "killed" and len(list(reader.snapshots())) >= 1
    assert write_html(run_directory).read_text(encoding="utf-8").startswith("<!DOCTYPE html>")


def test_ctrl_c_once_ends_gracefully_with_the_summary(tmp_path: Path, known_server: Callable[..., str]) -> None:
    process, run_directory = started(tmp_path, known_server())
    process.send_signal(signal.SIGINT)
    output, errors = process.communicate(timeout=40)
    assert process.returncode == 105, errors
    assert "http_reqs" in output and RunReader(run_directory).manifest["status"] == "interrupted"


@pytest.mark.parametrize("arguments", [("--help",), ("capacity", "--help"), ("lab", "tracker", "--help")])
def test_help_is_there_for_every_verb(tmp_path: Path, arguments: tuple[str, ...]) -> None:
    done = plimsoll(tmp_path, *arguments)
    assert done.returncode == 0 and "usage" in done.stdout.lower()
