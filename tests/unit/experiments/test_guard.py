"""The guard: it ends what a killed Plimsoll left running, and does nothing when it is sent away."""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path

import psutil

from plimsoll.experiments.target.guard import Guard
from plimsoll.experiments.target.process_tree import end_tree, tree_of

OWNER = """
import os, signal, subprocess, sys
from pathlib import Path
from plimsoll.experiments.target.guard import Guard
guard = Guard(20, "echo $WORD > farewell", Path(), {"WORD": "bye", "PATH": os.environ["PATH"]})
target = guard.begin("setsid sleep 601 & echo $! > left; exec sleep 600")
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


HASTY = """
import os, signal
from pathlib import Path
from plimsoll.experiments.target.guard import Guard
target = Guard(20, "touch farewell", Path(), dict(os.environ)).begin("exec sleep 600")
os.write(1, str(target.pid).encode())
os.kill(os.getpid(), signal.SIGKILL)
"""


def test_an_owner_that_is_killed_right_after_the_start_leaves_no_target(tmp_path: Path) -> None:
    done = subprocess.run([sys.executable, "-c", HASTY], cwd=tmp_path, stdout=subprocess.PIPE, check=False, timeout=60)
    assert done.returncode == -9 and ends(int(done.stdout))
    assert (tmp_path / "farewell").exists()


def test_an_owner_that_is_killed_before_the_start_has_no_stop_command_run(tmp_path: Path) -> None:
    before = HASTY.replace('.begin("exec sleep 600")', "")
    done = subprocess.run([sys.executable, "-c", before], cwd=tmp_path, stdout=subprocess.PIPE, check=False, timeout=60)
    assert done.returncode == -9 and ends(int(done.stdout)), "the guard itself"
    assert not (tmp_path / "farewell").exists()


def test_a_command_begins_though_its_guard_is_gone_and_reads_nothing(tmp_path: Path) -> None:
    guard = Guard(20, None, tmp_path, {})
    psutil.Process(guard.pid).kill()
    assert ends(guard.pid)
    target = guard.begin("cat; echo ran > ran", cwd=tmp_path)
    assert target.wait(20) == 0 and (tmp_path / "ran").read_text() == "ran\n"
    guard.dismiss()


def test_a_guard_that_is_sent_away_lets_the_command_go_on(tmp_path: Path) -> None:
    guard = Guard(20, f"touch {tmp_path}/farewell", tmp_path, {})
    target = guard.begin("exec sleep 600")
    guard.dismiss()
    assert ends(guard.pid)
    assert target.poll() is None and not (tmp_path / "farewell").exists()
    assert [one.pid for one in tree_of(target.pid)] == [target.pid]
    assert end_tree(target.pid, 20) == 0
    assert target.wait() == -15


ORPHAN = HASTY.replace("exec sleep 600", "(setsid sh -c 'setsid sleep 603 & echo $! > left' &); sleep 600")


def test_an_owner_that_is_killed_leaves_nothing_that_left_the_session_and_lost_its_parents(tmp_path: Path) -> None:
    before = ORPHAN.replace("os.kill(", "while not os.path.exists('left') or not open('left').read(): pass\nos.kill(")
    done = subprocess.run([sys.executable, "-c", before], cwd=tmp_path, stdout=subprocess.PIPE, check=False, timeout=60)
    assert done.returncode == -9 and ends(int((tmp_path / "left").read_text())) and ends(int(done.stdout))


def test_a_stop_command_of_a_guard_that_hangs_is_ended_with_all_that_came_of_it(tmp_path: Path) -> None:
    hangs = HASTY.replace("touch farewell", "sleep 604 & echo $! > child; wait").replace("Guard(20", "Guard(0.5")
    done = subprocess.run([sys.executable, "-c", hangs], cwd=tmp_path, stdout=subprocess.PIPE, check=False, timeout=60)
    assert ends(int(done.stdout)) and ends(int((tmp_path / "child").read_text()))
