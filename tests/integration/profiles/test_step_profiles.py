"""Profiles of steps with the real tools on processes that work: Python by py-spy, C by perf, Go's page by a server."""

from __future__ import annotations

import shutil
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

import psutil
import pytest
from pprof_message import GO

from plimsoll.errors import InputErrors
from plimsoll.probes.profiling import StepProfiles, tools
from plimsoll.probes.profiling.pprof import PIECE_S
from plimsoll.study import ProcessSelector
from plimsoll.study.probes.profile import ProfileOptions

BUSY = """
def dear(n):
    total = 0
    for i in range(n): total += i * i
    return total
def cheap(n):
    return dear(n // 50)
print("ready", flush=True)
while True:
    dear(20_000); cheap(20_000)
"""
BUSY_C = """
#include <stdio.h>
volatile long total;
__attribute__((noinline)) void dear(long n) { for (long i = 0; i < n; i++) total += i; }
__attribute__((noinline)) void cheap(long n) { for (long i = 0; i < n; i++) total -= i; }
int main() { puts("ready"); fflush(stdout); for (;;) { dear(1000000); cheap(20000); } }
"""


@pytest.fixture
def busy(tmp_path: Path) -> Iterator[dict[str, ProcessSelector]]:
    """Processes at work, by label: python and native."""
    (tmp_path / "busy.c").write_text(BUSY_C)
    subprocess.run(["cc", "-O1", "-o", str(tmp_path / "busy"), str(tmp_path / "busy.c")], check=True)
    commands = {"python": [sys.executable, "-c", BUSY], "native": [str(tmp_path / "busy")]}
    running = {}
    try:
        for label, command in commands.items():
            running[label] = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
            assert running[label].stdout.readline() == "ready\n"
        yield {label: ProcessSelector(label=label, pid=process.pid) for label, process in running.items()}
    finally:
        for process in running.values():
            process.kill()
            process.communicate()


def stepped(profiles: StepProfiles, seconds: float) -> list:
    """The events of one step that lasts so long."""
    profiles.step_started()
    time.sleep(seconds)
    profiles.step_ended(17.5)
    return profiles.finish()


def test_python_and_native_processes_tell_the_function_that_works(busy) -> None:
    missing = [name for name in ("perf",) if shutil.which(name) is None]
    wanted = [ProfileOptions(process="python"), ProfileOptions(process="native")]
    profiles = StepProfiles(wanted, list(busy.values()))
    events = stepped(profiles, 3.0)
    found = {details["source"]: details for kind, details in events if kind == "profile_step"}
    python = found["profile:python"]
    assert (python["profile_kind"], python["ended_s"]) == ("python", 17.5)
    assert python["functions"][0]["name"] == "dear" and python["functions"][0]["samples"] > 0.8 * python["samples"]
    if missing:  # said, and the rest goes on
        [note] = [details["message"] for kind, details in events if kind == "note"]
        assert note == f"profile:native: {tools.PERF_MISSING}."
    else:
        native = found["profile:native"]
        assert native["functions"][0]["name"] == "dear" and native["functions"][0]["where"] == "busy"
    assert not [one for one in psutil.Process().children(recursive=True) if one.name() in ("py-spy", "perf")]


def test_tools_that_are_not_installed_are_told_once_with_what_to_install(busy, monkeypatch) -> None:
    monkeypatch.setattr(tools.PySpy, "program", lambda self: None)
    monkeypatch.setattr(tools.Perf, "program", lambda self: None)
    profiles = StepProfiles([ProfileOptions(process=label) for label in busy], list(busy.values()))
    first, second = stepped(profiles, 0.0), stepped(profiles, 0.0)
    assert [details["message"] for _, details in first] == [
        f"profile:python: {tools.PY_SPY_MISSING}.", f"profile:native: {tools.PERF_MISSING}."
    ]  # fmt: skip
    assert second == []


@pytest.mark.parametrize(
    ("says", "words"),
    [
        ("Permission Denied: Try running again with elevated permissions", "setcap cap_sys_ptrace"),
        ("Error: Failed to find python version from target process", "gave no profile: Error: Failed to find python"),
    ],
)
def test_a_tool_that_fails_is_told_with_its_own_words_or_the_right_that_is_missing(
    busy, monkeypatch, tmp_path: Path, says: str, words: str
) -> None:
    (tmp_path / "py-spy").write_text(f"#!/bin/sh\necho '{says}' >&2\nexit 1\n")
    (tmp_path / "py-spy").chmod(0o755)
    monkeypatch.setattr(tools.PySpy, "program", lambda self: str(tmp_path / "py-spy"))
    [(kind, details)] = stepped(StepProfiles([ProfileOptions(process="python")], [busy["python"]]), 0.5)
    assert kind == "note" and words in details["message"]


def test_a_process_that_is_gone_and_a_label_that_none_has_are_told(busy) -> None:
    gone = ProcessSelector(label="gone", pid=2**22 + 1)
    [(kind, details)] = stepped(StepProfiles([ProfileOptions(process="gone")], [gone]), 0.0)
    assert kind == "note" and "no process has the id" in details["message"]
    with pytest.raises(InputErrors, match=r"probes.profile\[1\].process: no process .* 'nobody'. Use one of gone."):
        StepProfiles([ProfileOptions(process="gone"), ProfileOptions(process="nobody")], [gone])


def test_a_run_that_ends_in_the_middle_of_a_step_leaves_no_tool_running(busy) -> None:
    profiles = StepProfiles([ProfileOptions(process="python")], [busy["python"]])
    profiles.step_started()
    profiles.close()
    assert not [one for one in psutil.Process().children(recursive=True) if one.name() == "py-spy"]


class _Pages(BaseHTTPRequestHandler):
    """pprof's page: a profile after the seconds that were asked for, or 404."""

    body: bytes | None = None

    def do_GET(self) -> None:
        assert self.path == f"/debug/pprof/profile?seconds={PIECE_S}"
        time.sleep(0.2)
        self.send_response(200 if self.body else 404)
        self.send_header("Content-Length", str(len(self.body or b"")))
        self.end_headers()
        self.wfile.write(self.body or b"")

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture
def pages() -> Iterator[str]:
    server = HTTPServer(("127.0.0.1", 0), _Pages)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    thread.join()
    server.server_close()


def test_the_pieces_of_a_go_program_are_added_up(pages: str, monkeypatch) -> None:
    monkeypatch.setattr(_Pages, "body", GO)
    [(kind, details)] = stepped(StepProfiles([ProfileOptions(url=pages)], []), 1.5)
    assert (kind, details["source"], details["profile_kind"]) == ("profile_step", "profile:go", "go")
    pieces = round(details["seconds"] / 3)
    assert pieces >= 2 and details["samples"] == 305 * pieces
    assert details["functions"][0]["name"] == "main.inlined"


def test_a_go_program_without_the_page_is_told(pages: str, monkeypatch) -> None:
    monkeypatch.setattr(_Pages, "body", None)
    [(kind, details)] = stepped(StepProfiles([ProfileOptions(url=f"{pages}/debug/pprof/")], []), 0.6)
    assert kind == "note" and "404" in details["message"] and "Correct the path" in details["message"]
