"""A dear look at one of the target's processes: one that took long is followed by seconds without one."""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from collections.abc import Callable
from pathlib import Path

import psutil

from plimsoll.probes.finding_processes import find_roots
from plimsoll.probes.probe import Clock
from plimsoll.study.models import ProcessSelector

MOST_SHARE = 0.003


class Rest:
    """When to look again, so that looking takes at most `share` of a core."""

    def __init__(self, share: float, clock: Clock = time.monotonic, cpu_clock: Clock = time.thread_time) -> None:
        self._share, self._clock, self._cpu_clock = share, clock, cpu_clock
        self._until = -1.0
        self._now, self._began_cpu_s = 0.0, 0.0

    def is_over(self) -> bool:
        """Whether it is time to look; the time of the look begins now."""
        self._now = self._clock()
        self.begin_anew()
        return self._now >= self._until

    def begin_anew(self) -> None:
        """What was spent so far does not count: it is dear and rare."""
        self._began_cpu_s = self._cpu_clock()

    def looked(self) -> None:
        """The look is over."""
        self._until = self._now + (self._cpu_clock() - self._began_cpu_s) / self._share

    @property
    def now(self) -> float:
        """When the look began."""
        return self._now


class RestingProbe(ABC):
    """A probe of a process that rests after a dear look. `root`: of the file system with /proc."""

    def __init__(
        self,
        kind: str,
        selector: ProcessSelector,
        clock: Clock = time.monotonic,
        find: Callable[[ProcessSelector], list[psutil.Process]] = find_roots,
        root: Path = Path("/"),
        cpu_clock: Clock = time.thread_time,
    ) -> None:
        self.source = f"{kind}:{selector.label}"
        self._selector, self._find, self._root = selector, find, root
        self._rest = Rest(MOST_SHARE, clock, cpu_clock)
        self._roots: list[psutil.Process] = []

    @abstractmethod
    def _look(self) -> dict[str, float]:
        """The values now, of the processes `_roots`; calls `_rest.looked()`. ProbeUnavailable if they cannot be read."""

    def take_notes(self) -> list[str]:
        """None: the process probe tells of restarts."""
        return []

    def sample(self) -> dict[str, float]:
        """Values now, none in a second that is left out; see the class. ProbeUnavailable if the process is gone or
        what it has may not be read."""
        if not self._rest.is_over():
            return {}
        if not self._roots or not all(root.is_running() for root in self._roots):
            self._roots = self._find(self._selector)
            self._rest.begin_anew()
        return self._look()
