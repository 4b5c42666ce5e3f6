"""Profiles as the tools write them: stacks of py-spy, reports of perf, pprof's message; and what is none."""

from __future__ import annotations

import gzip
import signal
import subprocess
from typing import Any

import pytest
from pprof_message import GO, message

from plimsoll.probes import ProbeUnavailable
from plimsoll.probes.profiling.pprof import profile_of
from plimsoll.probes.profiling.profile import MOST_FUNCTIONS, Profile
from plimsoll.probes.profiling.steps import kind_of
from plimsoll.probes.profiling.tools import PySpy, own_of_report, own_of_stacks


def test_the_own_time_of_a_stack_is_that_of_its_innermost_function() -> None:
    lines = [
        'process 7:"python app.py";<module> (app.py:1);serve (app.py:9);encode (json/encoder.py:12) 30',
        "<module> (app.py:1);serve (app.py:9) 5",
        "<module> (app.py:1);other (app.py:20);encode (json/encoder.py:12) 2",
        'process 8:"python; rm"',
        "no count (a.py:1)",
        "",
    ]
    assert own_of_stacks(lines) == {("encode", "json/encoder.py:12"): 32, ("serve", "app.py:9"): 5}


def test_a_report_of_perf_is_read_by_function_and_library() -> None:
    lines = [
        " 13         \tlibpython3.11.so.1.0\t[.] _PyEval_EvalFrameDefault",
        " 4\t[kernel.kallsyms]\t[k] copy_user_generic",
        " 2\tapp\t[.] 0x0000000000001f40",
        " 1\tapp\t[.] 00007f12ab",
        "Error: nothing",
        " x\ty\tz",
    ]
    assert own_of_report(lines) == {
        ("_PyEval_EvalFrameDefault", "libpython3.11.so.1.0"): 13,
        ("copy_user_generic", "[kernel.kallsyms]"): 4,
        ("(a function without a name)", "app"): 3,
    }


@pytest.mark.parametrize("body", [GO, gzip.compress(GO, mtime=0)])
def test_a_profile_of_go_is_read_with_inlined_functions_as_the_innermost(body: bytes) -> None:
    found = profile_of(body)
    assert found.counts == {("main.inlined", "main.go"): 300, ("runtime.main", "main.go"): 5}
    assert (found.seconds, found.sample_s, found.samples) == (3.0, 0.01, 305)


def test_samples_without_a_location_or_a_function_count_as_unknown() -> None:
    without_location = message((2, 7))
    without_line = message((1, 3), (2, 11))
    without_name = message((1, 4), (2, 13))
    of_no_function = message((1, 9), (2, 17))
    more = message(
        *((2, sample) for sample in (without_location, without_line, without_name, of_no_function)),
        (4, message((1, 3), (3, 8192))),
        (4, message((1, 4), (4, message((1, 4))))),
        (5, message((1, 4), (4, 6))),
    )
    found = profile_of(GO + more)
    assert found.counts == {
        ("main.inlined", "main.go"): 300, ("runtime.main", "main.go"): 5, ("(unknown)", ""): 7 + 11 + 13 + 17
    }  # fmt: skip
    assert found.samples == 353


@pytest.mark.parametrize(
    "body",
    [b"", b"<html>not found</html>", gzip.compress(b"\xff" * 40, mtime=0), gzip.compress(GO, mtime=0)[:60], GO[:100],
     message((1, message((1, 9)))), message((2, b"\x08"))],
)  # fmt: skip
def test_a_page_that_is_no_profile_is_told(body: bytes) -> None:
    with pytest.raises(ProbeUnavailable, match="no CPU profile of pprof"):
        profile_of(body)


def test_an_event_holds_the_functions_with_the_most_own_time_and_counts_all() -> None:
    counts = {(f"f{number}", "a.py:1"): number for number in range(1, MOST_FUNCTIONS + 20)}
    found = Profile(counts, 0.01, 9.9999).to_json()
    assert len(found["functions"]) == MOST_FUNCTIONS and found["samples"] == sum(counts.values())
    assert found["functions"][0] == {"name": "f59", "where": "a.py:1", "samples": 59}


def test_the_kind_of_a_process_is_known_by_its_program() -> None:
    assert kind_of(1, lambda _: "/usr/bin/python3.11") == "python"
    assert kind_of(1, lambda _: "/opt/app/server (deleted)") == "native"
    with pytest.raises(ProbeUnavailable, match="async-profiler"):
        kind_of(1, lambda _: "/usr/lib/jvm/bin/java")

    def denied(_: str) -> str:
        raise PermissionError

    with pytest.raises(ProbeUnavailable, match="gone, or may not be read"):
        kind_of(2**22 + 1, denied)


def test_ctrl_c_while_a_sampler_is_being_started_leaves_nothing_running(monkeypatch: pytest.MonkeyPatch) -> None:
    started: list[subprocess.Popen[bytes]] = []

    class Interrupted(subprocess.Popen):  # the signal comes when the process is there and nobody knows of it yet
        def __init__(self, *rest: Any, **more: Any) -> None:
            super().__init__(*rest, **more)
            started.append(self)
            signal.raise_signal(signal.SIGINT)

    class Sleeper(PySpy):
        def program(self) -> str:
            return "/bin/sh"

        def commands(self, program: str) -> list[list[str]]:
            return [[program, "-c", "sleep 62"]]

    monkeypatch.setattr(subprocess, "Popen", Interrupted)
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    tool = Sleeper([1], 100)
    try:
        with pytest.raises(KeyboardInterrupt):
            tool.start()
        tool.close()
        assert [process.poll() for process in started] == [-signal.SIGKILL]
    finally:
        signal.signal(signal.SIGINT, before)
        for process in started:
            process.kill()
