"""Controlling the target: commands with limits, logs without secrets, nothing left behind."""

from __future__ import annotations

import os
import re
import shlex
import signal
import subprocess
import sys
import sysconfig
import threading
import time
from pathlib import Path
from typing import Any

import psutil
import pytest

from plimsoll.errors import TargetError
from plimsoll.experiments.target.control import TargetControl
from plimsoll.study import Target

SERVER = """
import http.server, pathlib, sys
class Answer(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(404 if self.path == "/missing" else 200)
        self.end_headers()
    def log_message(self, *_): pass
server = http.server.HTTPServer(("127.0.0.1", 0), Answer)
pathlib.Path("port").write_text(str(server.server_port))
server.serve_forever()
"""


def control(folder: Path, events: list[Any] | None = None, **target: Any) -> TargetControl:
    limits = {"ready_s": 30, "switch_s": 30, "reset_s": 30, "stop_s": 30} | target.pop("time_limits", {})
    noted = events if events is not None else []
    return TargetControl(
        Target(time_limits=limits, **target),
        folder / "logs",
        directory=folder,
        on_event=lambda kind, message: noted.append((kind, message)),
    )


def wait_until(condition: Any) -> Any:
    deadline = time.monotonic() + 60
    while not (value := condition()) and time.monotonic() < deadline:
        time.sleep(0.02)
    return value


def lives(pid: int) -> bool:
    try:
        return psutil.Process(pid).status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


def number_in(file: Path) -> int:
    assert wait_until(lambda: file.exists() and file.read_text().strip())
    return int(file.read_text())


def test_a_target_is_started_becomes_ready_by_command_and_is_stopped(tmp_path):
    events: list[Any] = []
    target = control(tmp_path, events, start="echo hello; touch up; exec sleep 600", ready="test -e up")
    with target:
        pid = target.pid
        assert pid is not None
        assert lives(pid)
    assert not lives(pid)
    assert (tmp_path / "logs/start.log").read_text() == "hello\n"
    assert [kind for kind, _ in events] == ["note", "ready"]


def test_a_target_becomes_ready_when_its_url_answers(tmp_path):
    start = f"{shlex.quote(sys.executable)} -c {shlex.quote(SERVER)}"
    with control(tmp_path, start=start, ready="test -s port"):
        port = number_in(tmp_path / "port")
        base = f"http://127.0.0.1:{port}"
        control(tmp_path, url=base).wait_ready()
        control(tmp_path, url=base + "/missing").wait_ready()  # any answer below 500 will do without `ready`
        control(tmp_path, url=base, ready="/here").wait_ready()
        with pytest.raises(TargetError, match=r"answers with status 404[\s\S]*ready_s"):
            control(tmp_path, ready=base + "/missing", time_limits={"ready_s": 0.3}).wait_ready()


def test_a_target_that_never_answers_is_told_with_the_last_output(tmp_path):
    target = control(tmp_path, start="echo starting up; sleep 600", ready="false", time_limits={"ready_s": 0.3})
    with pytest.raises(TargetError, match=r"not ready within 0.3 s[\s\S]*starting up[\s\S]*ready_s"), target:
        pass
    assert target.pid is None


def test_what_is_waited_for_is_told_once_before_the_time_is_over(tmp_path, monkeypatch):
    monkeypatch.setattr("plimsoll.experiments.target.control._TOLD_AFTER_S", 0.1)
    told: list[str] = []
    limits = {"ready_s": 1}
    waiting = TargetControl(Target(ready="false", time_limits=limits), tmp_path / "logs", on_waiting=told.append)
    with pytest.raises(TargetError):
        waiting.wait_ready()
    what = "Waiting for the target to be ready, for 1 s at most (target.time_limits.ready_s)"
    assert told == [f"{what}: the ready command ended with 1"]


def test_a_start_command_that_fails_is_told_at_once_with_its_output(tmp_path):
    target = control(tmp_path, start="echo 'port in use' >&2; exit 3", ready="false", time_limits={"ready_s": 3600})
    with pytest.raises(TargetError, match=r"exit code 3[\s\S]*port in use[\s\S]*target\.start"), target:
        pass


def test_a_start_command_that_goes_to_the_background_keeps_running_until_stop(tmp_path):
    with control(tmp_path, start="sleep 600 & echo $! > pid", ready="test -s pid"):
        pid = number_in(tmp_path / "pid")
        assert lives(pid)
    assert not lives(pid)


def test_stop_ends_children_also_those_that_ignore_signals_or_left_the_group(tmp_path):
    events: list[Any] = []
    stubborn = "trap '' TERM; (trap '' TERM; echo $BASHPID > child; exec sleep 600) & "
    start = f"bash -c {shlex.quote(stubborn + 'setsid sleep 601 & echo $! > left; wait; sleep 600')}"
    target = control(tmp_path, events, start=start, ready="test -s child && test -s left", time_limits={"stop_s": 0.3})
    with target:
        pids = [target.pid, number_in(tmp_path / "child"), number_in(tmp_path / "left")]
    assert not [pid for pid in pids if lives(pid)]
    assert any("were killed" in message for _, message in events)


def test_the_stop_command_runs_first_and_its_failure_does_not_leave_the_target_running(tmp_path):
    events: list[Any] = []
    target = control(tmp_path, events, start="exec sleep 600", stop="echo cannot; exit 1")
    target.start()
    pid = target.pid
    target.stop()
    assert re.search(
        r"What `start` began was ended: the stop command ended with exit code 1[\s\S]*cannot", target.stop_failure
    )
    assert ("note", target.stop_failure) in events and not lives(pid)


def test_where_plimsoll_started_nothing_a_stop_that_fails_leaves_the_target_running(tmp_path):
    target = control(tmp_path, stop="exit 3")
    target.stop()
    assert target.stop_failure.startswith("The target may still run: the stop command ended with exit code 3")


# The interruption may come while psutil reads: what it had open is then closed by the collector, which warns of it.
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning", "ignore::ResourceWarning")
def test_ctrl_c_while_the_target_ends_kills_what_is_left_at_once(tmp_path):
    start = "setsid sh -c 'trap : TERM; echo $$ > left; while :; do sleep 1; done' & wait"
    target = control(tmp_path, start=start, ready="test -s left", time_limits={"stop_s": 600})
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        with pytest.raises(KeyboardInterrupt), target:
            shell, left = psutil.Process(target.pid), number_in(tmp_path / "left")

            def interrupt() -> None:
                wait_until(lambda: not lives(shell.pid))  # it took SIGTERM; what it left does not
                os.kill(os.getpid(), signal.SIGINT)

            threading.Thread(target=interrupt).start()
    finally:
        signal.signal(signal.SIGINT, before)
    assert wait_until(lambda: not lives(left))


def test_stop_ends_also_what_lost_its_parents_and_left_the_session(tmp_path):
    start = "(setsid sh -c 'setsid sleep 602 & echo $! > left' &); exec sleep 600"
    with control(tmp_path, start=start, ready="test -s left"):
        left = number_in(tmp_path / "left")
        wait_until(lambda: psutil.Process(left).ppid() == 1)
    assert not lives(left)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
@pytest.mark.parametrize("cut", ["start", "ready", "reset"])
def test_ctrl_c_while_a_command_is_being_started_leaves_nothing_running(tmp_path, monkeypatch, cut, number):
    started: list[int] = []

    class Interrupted(subprocess.Popen):  # the signal comes when the process is there and nobody knows of it yet
        def __init__(self, command: Any, *rest: Any, **more: Any) -> None:
            super().__init__(command, *rest, **more)
            if isinstance(command, str):
                started.append(self.pid)
                if cut in command:
                    signal.raise_signal(number)

    monkeypatch.setattr(subprocess, "Popen", Interrupted)
    commands = {name: f"sleep 61; : {name}" for name in ("start", "reset")} | {"ready": "sleep 0; : ready"}
    target = control(tmp_path, **commands)
    before = signal.signal(number, signal.default_int_handler)
    try:
        with pytest.raises(KeyboardInterrupt), target:
            target.reset()
    finally:
        signal.signal(number, before)
    assert len(started) == 1 + ["start", "ready", "reset"].index(cut)
    assert not any(lives(pid) for pid in started)


def test_reset_runs_to_its_end_and_its_failures_are_told(tmp_path):
    events: list[Any] = []
    control(tmp_path, events, reset='echo "$WHAT" > done', environment={"WHAT": "data"}).reset()
    assert (tmp_path / "done").read_text() == "data\n"
    assert events[0][0] == "reset"
    with pytest.raises(TargetError, match="not found"):
        control(tmp_path, reset="no_such_command_at_all").reset()
    with pytest.raises(TargetError, match=r"within 0.2 s[\s\S]*reset_s"):
        control(tmp_path, reset="sleep 600", time_limits={"reset_s": 0.2}).reset()
    control(tmp_path).reset()


def test_commands_find_plimsoll_after_all_that_is_on_their_path(tmp_path, monkeypatch):
    shadowed = tmp_path / "bin"
    shadowed.mkdir()
    (shadowed / "python").write_text("#!/bin/sh\necho mine\n")
    (shadowed / "python").chmod(0o755)
    monkeypatch.setenv("PATH", f"{shadowed}{os.pathsep}/usr/bin{os.pathsep}/bin")
    control(tmp_path, reset="python > which; command -v plimsoll >> which").reset()
    assert (tmp_path / "which").read_text().split() == ["mine", str(Path(sysconfig.get_path("scripts")) / "plimsoll")]


def test_a_variant_is_switched_to_and_is_the_target_from_then_on(tmp_path):
    events: list[Any] = []
    variants = {
        "new": {"switch": "touch new; echo switched"},
        "slow": {"switch": "sleep 600"},
        "far": {"url": "http://x"},
    }
    target = control(tmp_path, events, ready="test -e new", variants=variants, time_limits={"switch_s": 30})
    target.switch("new")
    assert (tmp_path / "logs/switch.log").read_text() == "switched\n"
    assert [kind for kind, _ in events] == ["switch", "ready"]
    target.switch("far")
    assert target.target.url == "http://x"
    with pytest.raises(TargetError, match=r"switch command did not end within 0.2 s[\s\S]*switch_s"):
        control(tmp_path, variants=variants, time_limits={"switch_s": 0.2}).switch("slow")


def test_logs_hold_no_secrets(tmp_path):
    secret = "s3cr3tword"
    environment = {"DB_PASSWORD": secret}
    target = control(tmp_path, reset='echo "password: $DB_PASSWORD, again $DB_PASSWORD"', environment=environment)
    target.reset()
    assert wait_until(lambda: (tmp_path / "logs/reset.log").read_text())
    assert secret not in (tmp_path / "logs/reset.log").read_text()


def test_a_log_of_one_endless_line_holds_no_secrets_and_all_the_rest(tmp_path):
    befores = (65_530, 65_519, 65_519, 100)  # the first three lie across 64, 128 and 192 KiB
    pieces = "; ".join(f"head -c {count} /dev/zero | tr '\\0' x; printf %s \"$API_TOKEN\"" for count in befores)
    with control(
        tmp_path, environment={"API_TOKEN": "tk-Envi-ron-7788"}, reset=f"{pieces}; printf 'end\\303'"
    ) as target:
        target.reset()
    log = (tmp_path / "logs" / "reset.log").read_text()
    assert log == "".join("x" * count + "***" for count in befores) + "end\ufffd"


def test_a_target_without_commands_is_taken_to_run_already(tmp_path):
    with control(tmp_path) as target:
        assert target.pid is None


def test_a_folder_that_is_not_there_is_told(tmp_path):
    with pytest.raises(TargetError, match="cannot run the start command"):
        TargetControl(Target(start="true"), tmp_path, directory=tmp_path / "none").start()
