"""The tracker as a process of its own: ready line, port, signals."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

COMMAND = [sys.executable, "-m", "plimsoll.lab", "tracker", "--port", "0", "--issues", "50"]


@pytest.fixture
def tracker(tmp_path: Path) -> Iterator[tuple[subprocess.Popen[str], dict[str, Any]]]:
    command = [*COMMAND, "--data", str(tmp_path), "--cpu", str(min(os.sched_getaffinity(0)))]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        line = process.stdout.readline()
        try:
            yield process, json.loads(line)
        finally:
            process.kill()


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_it_says_when_it_serves_and_stops_cleanly(
    tracker: tuple[subprocess.Popen[str], dict[str, Any]], number: signal.Signals
) -> None:
    process, ready = tracker
    assert ready["ready"] is True
    assert ready["pid"] == process.pid
    assert len(os.sched_getaffinity(process.pid)) == 1
    token = json.loads(Path(ready["users"]).read_text())[0]["token"]
    with httpx.Client(headers={"Authorization": f"Bearer {token}"}) as client:  # an idle connection must not hold it up
        assert client.get(f"{ready['url']}/api/issues/DEMO-50").json()["id"] == "2-50"
        process.send_signal(number)
        assert process.wait(timeout=30) == 0
    assert process.stdout is not None and process.stderr is not None
    assert process.stdout.read() == ""
    assert "Traceback" not in process.stderr.read()


def test_a_port_in_use_ends_it_with_2(tracker: tuple[subprocess.Popen[str], dict[str, Any]], tmp_path: Path) -> None:
    port = tracker[1]["url"].rsplit(":", 1)[1]
    command = [sys.executable, "-m", "plimsoll.lab", "tracker", "--port", port, "--data", str(tmp_path / "other")]
    ended = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)
    assert (ended.returncode, ended.stdout) == (2, "")
    assert f"Port {port}" in ended.stderr
