"""The command as a user runs it: help for every verb, and Ctrl-C in a run."""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from plimsoll.runs.format.lines import unpacked
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
        found = [path for path in folder.glob("runs/*/series.jsonl.zst") if unpacked(path)]
        if found:
            return process, found[0].parent
        time.sleep(0.05)
    process.kill()
    raise AssertionError(f"no second was written: {process.communicate()}")


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
