"""The cores that the target may use, where those are fewer than the host's."""

from __future__ import annotations

import os
import subprocess
from collections import namedtuple
from collections.abc import Callable

import psutil
import pytest

from plimsoll.probes.probe import ProbeUnavailable
from plimsoll.probes.processes.target_cores import TargetCoresProbe
from plimsoll.study.models import ProcessSelector

Times = namedtuple("Times", ("user", "system", "idle", "iowait", "guest"))
APP = ProcessSelector(label="app", pid=os.getpid())


@pytest.fixture
def machine(monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """Sets what the kernel tells: each core's (busy, idle) seconds, and the cores of the target."""

    def tell(cores: list[tuple[float, float]], usable: set[int]) -> None:
        times = [Times(busy * 0.75, busy * 0.25, idle * 0.5, idle * 0.5, busy) for busy, idle in cores]
        monkeypatch.setattr(psutil, "cpu_times", lambda percpu: times)
        monkeypatch.setattr(os, "sched_getaffinity", lambda pid: usable, raising=False)

    return tell


def probe(now: list[float]) -> TargetCoresProbe:
    return TargetCoresProbe([APP], lambda: now[0], lambda selector: [psutil.Process()])


def test_how_busy_the_target_s_cores_are_is_told_of_these_alone(machine: Callable[..., None]) -> None:
    now = [0.0]
    watched = probe(now)
    machine([(10, 90), (50, 50), (0, 100), (20, 80)], {1, 2})
    assert watched.sample() == {"usable_cores": 2.0}
    now[0] = 2.0
    machine([(12, 90), (51.5, 50.5), (0.1, 101.9), (22, 80)], {1, 2})
    assert watched.sample() == {"usable_cores": 2.0, "cpu_share": pytest.approx((1.5 + 0.1) / 2 / 2)}


def test_the_share_begins_anew_where_the_cores_change(machine: Callable[..., None]) -> None:
    now = [0.0]
    watched = probe(now)
    machine([(10, 90), (50, 50)], {1})
    watched.sample()
    now[0] = 1.0
    machine([(11, 90), (51, 50)], {0})
    assert watched.sample() == {"usable_cores": 1.0}


def test_nothing_is_told_where_the_target_may_use_all_cores(machine: Callable[..., None]) -> None:
    machine([(10, 90), (50, 50)], {0, 1})
    assert probe([0.0]).sample() == {}


@pytest.mark.skipif(not hasattr(os, "sched_getaffinity"), reason="affinity is Linux's")
def test_a_target_that_is_gone_leaves_a_gap() -> None:
    gone = subprocess.Popen(["true"])
    gone.wait()
    with pytest.raises(ProbeUnavailable):
        TargetCoresProbe([ProcessSelector(label="app", pid=gone.pid)]).sample()


def test_processes_that_are_bound_to_different_cores_are_told_apart(monkeypatch: pytest.MonkeyPatch) -> None:
    first = 2**22 + 1  # no process has such an id
    cores = {first: {0}, first + 1: {1}, first + 2: {0, 1, 2, 3}}
    times = [Times(10, 10, 80, 0, 0)] * 4
    monkeypatch.setattr(psutil, "cpu_times", lambda percpu: times)
    monkeypatch.setattr(os, "sched_getaffinity", cores.get, raising=False)

    class Process:
        def __init__(self, pid: int) -> None:
            self.pid = pid

        def is_running(self) -> bool:
            return True

    selectors = [ProcessSelector(label=name, pid=pid) for pid, name in enumerate(("web", "db", "logger"), first)]
    found = TargetCoresProbe(selectors, find=lambda one: [Process(one.pid)]).sample()  # type: ignore[list-item]
    assert found == {"usable_cores": 2, "free_logger": 1, "core_0_of_web": 1, "core_1_of_db": 1}
    times[2:] = []
    assert TargetCoresProbe(selectors[:2], find=lambda one: [Process(one.pid)]).sample() == {  # type: ignore[list-item]
        "core_0_of_web": 1, "core_1_of_db": 1
    }  # fmt: skip
