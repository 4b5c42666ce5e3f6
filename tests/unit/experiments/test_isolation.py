"""Moving a target's threads off the generator's processors, and giving them back; real threads, no load."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator

import pytest

from plimsoll.experiments.target.isolation import target_off
from plimsoll.study import ProcessSelector

CPUS = sorted(os.sched_getaffinity(0))
THREADS_AND_CHILD = """
import os, sys, threading
def wait(): threading.Event().wait()
for _ in range(2): threading.Thread(target=wait, daemon=True).start()
child = os.fork()
if child == 0: wait()
print(child, flush=True)
for line in sys.stdin:
    threading.Thread(target=wait, daemon=True).start()
    print("made", flush=True)
"""
needs_two = pytest.mark.skipif(len(CPUS) < 2, reason="one processor cannot keep two programs apart")


@pytest.fixture
def target() -> Iterator[tuple[subprocess.Popen[str], int]]:
    """A process of three threads with a forked child; each line on its standard input makes it a thread more."""
    command = [sys.executable, "-W", "ignore", "-c", THREADS_AND_CHILD]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        child = int(process.stdout.readline())
        yield process, child
        os.kill(child, 9)
        process.kill()


def threads(*pids: int) -> dict[int, set[int]]:
    return {int(name): os.sched_getaffinity(int(name)) for pid in pids for name in os.listdir(f"/proc/{pid}/task")}


def make_thread(process: subprocess.Popen[str]) -> None:
    assert process.stdin is not None and process.stdout is not None
    process.stdin.write("\n")
    process.stdin.flush()
    assert process.stdout.readline() == "made\n"


@needs_two
def test_every_thread_of_every_process_leaves_and_comes_back_also_those_made_meanwhile(target) -> None:
    process, child = target
    before = threads(process.pid, child)
    assert len(before) >= 4
    said: list[str] = []
    with target_off(CPUS[-1:], [ProcessSelector(label="it", pid=process.pid)], said.append) as words:
        make_thread(process)
        inside = threads(process.pid, child)
        assert len(inside) == len(before) + 1
        assert all(CPUS[-1] not in cpus for cpus in inside.values())
        assert words == f"affinity: target on CPU {','.join(map(str, CPUS[:-1]))}, generator on CPU {CPUS[-1]}"
    after = threads(process.pid, child)
    assert len(after) == len(inside) and all(cpus == set(CPUS) for cpus in after.values()) and not said


@needs_two
def test_a_target_that_pinned_itself_stays_where_it_is(target) -> None:
    process, child = target
    for thread in threads(process.pid, child):
        os.sched_setaffinity(thread, {CPUS[0]})
    with target_off(CPUS[-1:], [ProcessSelector(label="it", pid=process.pid)], lambda _: None):
        assert set(map(frozenset, threads(process.pid, child).values())) == {frozenset({CPUS[0]})}
    assert set(map(frozenset, threads(process.pid, child).values())) == {frozenset({CPUS[0]})}


@needs_two
def test_where_it_is_not_permitted_the_command_to_type_is_said_and_nothing_is_claimed(target, monkeypatch) -> None:
    process, child = target

    def refuse(thread: int, cpus: set[int]) -> None:
        raise PermissionError(1, "Operation not permitted")

    monkeypatch.setattr(os, "sched_setaffinity", refuse)
    said: list[str] = []
    with target_off(CPUS[-1:], [ProcessSelector(label="it", pid=process.pid)], said.append) as words:
        assert words is None
    others = ",".join(map(str, CPUS[:-1]))
    assert any(f"sudo taskset -a -cp {others} {process.pid}" in text for text in said)
    assert any(f"sudo taskset -a -cp {others} {child}" in text for text in said)


@needs_two
def test_a_process_that_is_not_there_and_an_unknown_target_are_told(target) -> None:
    said: list[str] = []
    with target_off(CPUS[-1:], [ProcessSelector(label="it", name="no-such-program-at-all")], said.append) as words:
        assert words is None
    assert "no process is called no-such-program-at-all" in said[0] and "taskset -a -cp" in said[1]


def test_no_processor_left_for_the_target_is_told() -> None:
    said: list[str] = []
    with target_off(CPUS, [], said.append) as words:
        assert words is None
    assert "one processor only" in said[0]


@needs_two
def test_a_target_that_ends_meanwhile_is_nothing_to_worry_about() -> None:
    said: list[str] = []
    process = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE, text=True)
    with process, target_off(CPUS[-1:], [ProcessSelector(label="it", pid=process.pid)], said.append) as words:
        assert words is not None
        process.communicate("\n")
    assert not said
