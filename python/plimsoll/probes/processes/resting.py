"""A dear look at one of the target's processes: one that took long is followed by seconds without one."""

from __future__ import annotations

import os
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import ClassVar

import psutil

from plimsoll.probes.probe import Clock
from plimsoll.probes.processes.finding_processes import find_roots
from plimsoll.study.models import ProcessSelector

MOST_SHARE = 0.003


class Rest:
    """When to look again, so that looking takes at most `share` of a core."""

    def __init__(self, share: float, clock: Clock = time.monotonic, cpu_clock: Clock = time.thread_time) -> None:
        self._share, self._clock, self._cpu_clock = share, clock, cpu_clock
        self._until = -1.0
        self._began_s, self._began_cpu_s = 0.0, 0.0

    def is_over(self) -> bool:
        """Whether it is time to look; a look begins with this call."""
        self._began_s = self._clock()
        self.forget_cost()
        return self._began_s >= self._until

    def forget_cost(self) -> None:
        """What the look has cost so far does not count: it was dear, and is rare."""
        self._began_cpu_s = self._cpu_clock()

    def begin(self) -> None:
        """The look is over, and by its cost the rest after it is set."""
        self._until = self._began_s + (self._cpu_clock() - self._began_cpu_s) / self._share


class RestingProbe(ABC):
    """A probe of a process and its children that rests after a dear look, so that it takes at most `share` of a core.
    `root`: of the file system with /proc."""

    kind: ClassVar[str]

    def __init__(
        self,
        selector: ProcessSelector,
        clock: Clock = time.monotonic,
        find: Callable[[ProcessSelector], list[psutil.Process]] = find_roots,
        root: Path = Path("/"),
        cpu_clock: Clock = time.thread_time,
        share: float = MOST_SHARE,
    ) -> None:
        self.source = f"{self.kind}:{selector.label}"
        self._selector, self._find, self._root, self._clock = selector, find, root, clock
        self._rest = Rest(share, clock, cpu_clock)
        self._roots: list[psutil.Process] = []

    @abstractmethod
    def _look(self, pids: list[int]) -> dict[str, float]:
        """The values now, of these processes. ProbeUnavailable if they may not be read."""

    def take_notes(self) -> list[str]:
        """None: the process probe tells of restarts."""
        return []

    def sample(self) -> dict[str, float]:
        """Values now, none in a second that is left out; see the class. ProbeUnavailable if the process is gone or may
        not be read."""
        if not self._rest.is_over():
            return {}
        if not self._roots or not all(root.is_running() for root in self._roots):
            self._roots = self._find(self._selector)
            self._rest.forget_cost()
        values = self._look(process_tree(self._root, [root.pid for root in self._roots]))
        self._rest.begin()
        return values


def process_tree(root: Path, pids: Iterable[int]) -> list[int]:
    """Processes with all their children (/proc/PID/task/TID/children, proc(5))."""
    found: dict[int, None] = {}
    left = list(pids)
    while left:
        pid = left.pop()
        if pid in found:
            continue
        found[pid] = None
        folder = f"{root}/proc/{pid}/task"
        try:
            threads = os.listdir(folder)
        except OSError:
            continue
        for thread in threads:
            left += [int(word) for word in _children(f"{folder}/{thread}/children").split()]
    return list(found)


def _children(path: str) -> bytes:
    """That file of the kernel; empty where it is gone. (pathlib would take half of the time.)"""
    try:
        with open(path, "rb", buffering=0) as file:
            return file.read()
    except OSError:
        return b""
