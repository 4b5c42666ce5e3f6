"""Processes that keep the generator's cores from halting: where, how, and that nothing is left of them."""

from __future__ import annotations

import os
import time
from collections import namedtuple
from pathlib import Path

import psutil
import pytest

from plimsoll.experiments.target.awake import Awake, is_virtual_machine
from plimsoll.probes.machine.host import HostProbe

PATIENCE_S = 20.0
linux = pytest.mark.skipif(not hasattr(os, "SCHED_IDLE"), reason="SCHED_IDLE is Linux's")


@linux
def test_a_process_of_the_lowest_kind_spins_on_each_core_and_ends_with_the_measurement() -> None:
    cpu = max(os.sched_getaffinity(0))
    awake = Awake()
    before = set(psutil.Process().children())
    with awake.on([cpu]):
        (spinning,) = set(psutil.Process().children()) - before
        end = time.monotonic() + PATIENCE_S
        while os.sched_getscheduler(spinning.pid) != os.SCHED_IDLE or awake.cpu_s() == 0.0:
            assert time.monotonic() < end, "nothing spins"
            time.sleep(0.01)
        assert os.sched_getaffinity(spinning.pid) == {cpu}
        assert os.getpgid(spinning.pid) != os.getpgid(0)
        assert os.getsid(spinning.pid) == os.getsid(0)
    assert not spinning.is_running()
    assert awake.cpu_s() == 0.0


@linux
@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("processor\t: 0\nflags\t\t: fpu vme hypervisor lahf_lm\n", True),
        ("processor\t: 0\nflags\t\t: fpu vme lahf_lm\nbugs\t\t: hypervisor\n", False),
        ("Features\t: fp asimd\n", False),
    ],
)
def test_a_virtual_machine_is_known_by_the_processors_flags(tmp_path: Path, text: str, expected: bool) -> None:
    information = tmp_path / "cpuinfo"
    information.write_text(text)
    assert is_virtual_machine(information) is expected
    assert not is_virtual_machine(tmp_path / "absent")


def test_what_keeps_cores_awake_is_no_load_of_the_host(monkeypatch: pytest.MonkeyPatch) -> None:
    times = namedtuple("times", ["user", "idle"])
    moments = iter([times(100.0, 50.0), times(103.0, 51.0)])
    whole = psutil.cpu_times
    monkeypatch.setattr(psutil, "cpu_times", lambda percpu=False: whole(percpu=True) if percpu else next(moments))
    idle_work_s = iter([20.0, 22.0])
    probe = HostProbe(idle_work_s=lambda: next(idle_work_s))
    probe.sample()
    assert probe.sample()["cpu_share"] == pytest.approx(0.25)
