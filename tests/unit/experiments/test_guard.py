"""The guard: it ends what a killed Plimsoll left running, and does nothing when it is sent away."""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path

import psutil

from plimsoll.experiments.guard import Guard
from plimsoll.experiments.process_tree import end_tree, tree_of

OWNER = """
import os, signal, subprocess, sys
from pathlib import Path
from plimsoll.experiments.guard import Guard
target = subprocess.Popen("setsid sleep 601 & echo $! > left; exec sleep 600", shell=True, start_new_session=True)
Guard(target.pid, 20, "echo $WORD > farewell", Path(), {"WORD": "bye", "PATH": os.environ["PATH"]})
Path("pid").write_text(str(target.pid))
signal.pause()
"""


def number_in(file: Path) -> int:
    deadline = time.monotonic() + 60
    while not (file.exists() and file.read_text().strip()):
        assert time.monotonic() < deadline, f"nothing in {file}"
        time.sleep(0.02)
    return int(file.read_text())


def ends(pid: int) -> bool:
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        try:
            if psutil.Process(pid).status() == psutil.STATUS_ZOMBIE:
                return True
        except psutil.NoSuchProcess:
            return True
        time.sleep(0.02)
    return False


def test_when_its_owner_is_killed_the_target_is_told_to_stop_and_ended_with_all_that_came_of_it(tmp_path: Path) -> None:
    owner = subprocess.Popen([sys.executable, "-c", OWNER], cwd=tmp_path)
    pids = [number_in(tmp_path / "pid"), number_in(tmp_path / "left")]
    owner.kill()
    owner.wait()
    assert all(map(ends, pids))
    assert (tmp_path / "farewell").read_text() == "bye\n"


def test_a_guard_that_is_sent_away_lets_the_command_go_on(tmp_path: Path) -> None:
    target = subprocess.Popen(["sleep", "600"], start_new_session=True)
    guard = Guard(target.pid, 20, f"touch {tmp_path}/farewell", tmp_path, {})
    guard.dismiss()
    assert ends(guard.pid)
    assert target.poll() is None and not (tmp_path / "farewell").exists()
    assert [one.pid for one in tree_of(target.pid)] == [target.pid]
    assert end_tree(target.pid, 20) == 0
    assert target.wait() == -15
