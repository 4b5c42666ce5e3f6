"""The tracker as a process of its own: ready line, port, signals."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest
from lab_process import LabProcess, ended_process, lab_process


@pytest.fixture
def tracker(tmp_path: Path) -> Iterator[LabProcess]:
    with lab_process("tracker", "--issues", 50, "--data", tmp_path, "--cpu", min(os.sched_getaffinity(0))) as served:
        yield served


def token_of(served: LabProcess) -> dict[str, str]:
    return {"Authorization": f"Bearer {served.first_user()['token']}"}


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_it_says_when_it_serves_and_stops_cleanly(tracker: LabProcess, number: signal.Signals) -> None:
    process, ready = tracker.process, tracker.ready
    assert ready["ready"] is True
    assert ready["pid"] == process.pid
    assert len(os.sched_getaffinity(process.pid)) == 1
    with httpx.Client(headers=token_of(tracker)) as client:  # an idle connection must not hold it up
        assert client.get(f"{tracker.url}/api/issues/DEMO-50").json()["id"] == "2-50"
        process.send_signal(number)
        assert process.wait(timeout=30) == 0
    assert process.stdout is not None
    assert process.stdout.read() == ""
    assert "Traceback" not in tracker.errors()


def test_a_port_in_use_ends_it_with_2(tracker: LabProcess, tmp_path: Path) -> None:
    port = tracker.url.rsplit(":", 1)[1]
    ended = ended_process("tracker", "--port", port, "--data", tmp_path / "other")
    assert (ended.returncode, ended.stdout) == (2, "")
    assert f"Port {port}" in ended.stderr


def test_a_tracker_with_a_job_works_on_it_while_it_serves_and_stops_cleanly(tmp_path: Path) -> None:
    job = ("--job-every", 0.2, "--job-work", 20)
    with lab_process("tracker", "--issues", 50, "--data", tmp_path, *job) as tracker:
        with httpx.Client(headers=token_of(tracker)) as client:
            deadline = time.monotonic() + 60
            while (told := client.get(f"{tracker.url}/api/admin/telemetry").json())["jobsDone"] < 3:
                assert time.monotonic() < deadline, told
                time.sleep(0.1)
            assert told["jobEverySeconds"] == 0.2 and told["pendingAsyncJobs"] in (0, 1)
        tracker.process.send_signal(signal.SIGTERM)
        assert tracker.process.wait(timeout=30) == 0
        assert "Traceback" not in tracker.errors()


def test_a_job_that_never_pauses_ends_it_with_2(tmp_path: Path) -> None:
    ended = ended_process("tracker", "--port", 0, "--data", tmp_path, "--job-every", 1)
    assert ended.returncode == 2 and "would never pause" in ended.stderr
