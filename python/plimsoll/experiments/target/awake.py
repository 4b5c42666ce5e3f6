"""Keeping the generator's cores from halting while they share a virtual machine with the target.

A virtual core without work halts, and the hypervisor gives its time to others. A generator halts thousands of times a
second, between the answer it handles and the next; on hosts that schedule the cores of a machine together, the target's
core is then taken away with it, as steal: 10 to 20% of a busy core in docs/measurement.md, next to none while the
generator's core does not halt. So a process of the lowest kind there is (SCHED_IDLE, sched(7)) spins on each core of
the generator. It gives way at once to anything else; the target's cores, which it must not touch, are not among them.
"""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import psutil

from plimsoll import own_programs

_SPIN = """
import os, sys
parent, core = int(sys.argv[1]), int(sys.argv[2])
os.sched_setaffinity(0, {core})
os.sched_setscheduler(0, os.SCHED_IDLE, os.sched_param(0))
while os.getppid() == parent:
    for _ in range(200_000):
        pass
"""


class Awake:
    """The processes that spin, and the CPU time they took, which is no load of the host."""

    def __init__(self) -> None:
        self._spinning: list[psutil.Process] = []

    def cpu_s(self) -> float:
        """CPU seconds of those that spin now, since they began."""
        total = 0.0
        for process in self._spinning:
            with suppress(psutil.Error):
                times = process.cpu_times()
                total += times.user + times.system
        return total

    @contextmanager
    def on(self, cpus: Iterable[int]) -> Iterator[None]:
        """Spin on `cpus` while inside.

        In the session of this process, so that the kernel's grouping of sessions (autogroup) gives it no share of its
        own, but in another process group, which Ctrl-C leaves alone.
        """
        children = []
        try:
            for cpu in cpus:
                command = own_programs.code_command(_SPIN, os.getpid(), cpu)
                child = subprocess.Popen(command, process_group=0, stdin=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
                children.append(child)
                self._spinning.append(psutil.Process(child.pid))
            yield
        finally:
            self._spinning.clear()
            for child in children:
                child.kill()
                child.wait()


def is_virtual_machine(cpu_information: Path = Path("/proc/cpuinfo")) -> bool:
    """Whether this is Linux under a hypervisor, as the processor's flags say (CPUID leaf 1, ECX bit 31)."""
    if not hasattr(os, "SCHED_IDLE"):
        return False
    try:
        lines = cpu_information.read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return False
    return any(line.startswith("flags") and "hypervisor" in line.split() for line in lines)
