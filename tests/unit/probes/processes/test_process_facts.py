"""Facts of processes read from /proc are those that psutil tells, whatever the process did in between."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import replace

import psutil
import pytest

from plimsoll.probes.processes import process_facts
from plimsoll.probes.processes.process import ProcessProbe
from plimsoll.probes.processes.process_facts import SURELY_AFTER_S, Facts, ProcessFacts, facts_by_psutil
from plimsoll.study.models import ProcessSelector

OBEDIENT = """
import os, subprocess, sys, threading, time
kept, over = [], threading.Event()
def spin(seconds):
    until = time.thread_time() + seconds
    while time.thread_time() < until: pass
def held():
    spin(0.15); over.wait()
for line in sys.stdin:
    word = line.strip()
    if word == "open": kept += [open("/dev/null") for _ in range(7)]
    if word == "memory": kept.append(b"x" * 20_000_000)
    if word == "spin": spin(0.2)
    if word == "write":
        with open(sys.argv[1], "wb") as file:
            file.write(b"x" * 300_000); file.flush(); os.fsync(file.fileno())
    if word == "threads":
        [threading.Thread(target=held, daemon=True).start() for _ in range(3)]; time.sleep(0.6)
    if word == "child": subprocess.run([sys.executable, "-c", "sum(range(3_000_000))"])
    if word == "brief":
        one = threading.Thread(target=spin, args=(0.3,)); one.start(); one.join()
    print("done", flush=True)
"""


@pytest.fixture
def told(tmp_path) -> Iterator[tuple[int, Callable[[str], None]]]:
    """A process that does what it is told: (its id, tell)."""
    command = [sys.executable, "-c", OBEDIENT, str(tmp_path / "file")]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:

        def tell(word: str) -> None:
            process.stdin.write(f"{word}\n")
            process.stdin.flush()
            assert process.stdout.readline() == "done\n"

        yield process.pid, tell
        process.kill()


def settled(read: ProcessFacts, pid: int) -> tuple[Facts, Facts]:
    """Ours and psutil's at a moment in which the process did nothing in between."""
    for _ in range(200):
        before = facts_by_psutil(psutil.Process(pid))
        [ours] = read.of([pid]).values()
        after = facts_by_psutil(psutil.Process(pid))
        if before == after:
            return ours, after
    raise AssertionError("the process does not come to rest")


def without_times(facts: Facts) -> Facts:
    return replace(facts, thread_cpu_s=(), cpu_s=0.0, reaped_cpu_s=0.0)


def test_every_value_is_that_of_psutil_after_each_thing_that_a_process_does(told) -> None:
    pid, tell = told
    read = ProcessFacts()
    seen = []
    for word in ("nothing", "open", "memory", "spin", "write", "child", "threads", "spin", "nothing"):
        tell(word)
        ours, theirs = settled(read, pid)
        assert ours.cpu_s == pytest.approx(theirs.cpu_s) and ours.reaped_cpu_s == pytest.approx(theirs.reaped_cpu_s)
        assert without_times(ours) == without_times(theirs), word
        assert [thread for thread, _ in ours.thread_cpu_s] == [thread for thread, _ in theirs.thread_cpu_s], word
        for (_, mine), (_, other) in zip(ours.thread_cpu_s, theirs.thread_cpu_s, strict=True):
            assert mine == pytest.approx(other, abs=0.021), word
        seen.append(ours)
    assert seen[1].open_files == seen[0].open_files + 7
    assert seen[2].rss_bytes > seen[1].rss_bytes + 15_000_000
    assert seen[3].cpu_s > seen[2].cpu_s + 0.15
    assert seen[5].reaped_cpu_s > seen[4].reaped_cpu_s
    assert seen[6].threads == 4 and len(seen[6].thread_cpu_s) == 4


def test_cpu_of_threads_that_came_and_went_is_not_that_of_the_first_thread(told) -> None:
    pid, tell = told
    read = ProcessFacts()
    read.of([pid])
    tell("brief")
    while psutil.Process(pid).num_threads() > 1:  # the kernel ends it a moment later
        pass
    [ours] = read.of([pid]).values()
    [(thread, cpu_s)] = ours.thread_cpu_s
    assert thread == pid and ours.threads == 1
    assert ours.cpu_s > cpu_s + 0.25


def test_a_process_at_rest_is_read_again_after_a_while_only(told, monkeypatch) -> None:
    from plimsoll.probes.processes import process_facts

    pid, tell = told
    tell("nothing")
    now, names = [0.0], []
    read_file = process_facts._file
    monkeypatch.setattr(process_facts, "_file", lambda pid, name: names.append(name) or read_file(pid, name))
    read = ProcessFacts(lambda: now[0])
    for _ in range(50):  # until it waits for its next order
        names.clear()
        read.of([pid])
        if names == ["schedstat"]:
            break
    assert names == ["schedstat"]
    now[0] = SURELY_AFTER_S
    names.clear()
    read.of([pid])
    assert {"stat", "statm"} < set(names)


def test_what_is_gone_and_what_is_a_zombie_has_no_facts() -> None:
    read = ProcessFacts()
    child = os.fork()
    if child == 0:
        signal.pause()
    assert len(read.of([child])) == 1
    os.kill(child, signal.SIGKILL)
    os.waitid(os.P_PID, child, os.WEXITED | os.WNOWAIT)
    assert read.of([child]) == {}
    os.waitpid(child, 0)
    assert read.of([child, 2**22 + 1]) == {}


def test_a_kernel_without_schedstat_is_read_in_full(told, monkeypatch) -> None:
    from plimsoll.probes.processes import process_facts

    pid, tell = told
    tell("nothing")
    read_file = process_facts._file

    def file(pid: int, name: str) -> bytes:
        if name == "schedstat":
            raise FileNotFoundError(name)
        return read_file(pid, name)

    monkeypatch.setattr(process_facts, "_file", file)
    ours, theirs = settled(ProcessFacts(), pid)
    assert ours.cpu_s == pytest.approx(theirs.cpu_s) and without_times(ours) == without_times(theirs)


def test_without_proc_psutil_answers(told, monkeypatch) -> None:
    from plimsoll.probes.processes import process_facts

    pid, tell = told
    tell("nothing")
    monkeypatch.setattr(process_facts, "PROC", "/nowhere")
    ours, theirs = settled(ProcessFacts(), pid)
    assert ours == theirs
    assert ProcessFacts().of([2**22 + 1]) == {}


def test_of_thousands_of_threads_no_second_reads_more_than_it_may(told, monkeypatch) -> None:
    """Seen: of a server with 3,600 threads the probe took 5% of a core."""
    monkeypatch.setattr(process_facts, "THREADS_PER_S", 2)
    pid, tell = told
    now = [0.0]
    probe = ProcessProbe(ProcessSelector(label="app", pid=pid), lambda: now[0])
    tell("threads")
    busiest = []
    for second in range(6):
        now[0] = float(second)
        if second == 2:
            tell("spin")
        busiest.append(probe.sample().get("busiest_thread_cores_used"))
    assert busiest[1] is None and busiest[3] is None and busiest[5] is None
    assert busiest[2] == pytest.approx(0.1, abs=0.03), "0.2 s of CPU time in the two seconds since"
    assert busiest[4] == pytest.approx(0.0, abs=0.02)


def test_processes_at_rest_hide_no_busy_thread_and_are_not_averaged_over_their_rest(told, tmp_path) -> None:
    """A server of many processes has most of them at rest, whose files are not read again."""
    pid, tell = told
    now = [0.0]
    with subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"]) as sleeper:
        roots = [psutil.Process(pid), psutil.Process(sleeper.pid)]
        time.sleep(0.3)
        probe = ProcessProbe(ProcessSelector(label="app", pid=pid), lambda: now[0], lambda _: roots)
        busiest = []
        for second in range(6):
            now[0] = float(second)
            if second in (1, 5):
                tell("spin")
            busiest.append(probe.sample().get("busiest_thread_cores_used"))
        sleeper.kill()
    assert busiest[1] == pytest.approx(0.2, abs=0.05)
    assert busiest[2:5] == pytest.approx([0.0, 0.0, 0.0], abs=0.03)
    assert busiest[5] == pytest.approx(0.2, abs=0.05), "of the last second, and not of all since it was read"
