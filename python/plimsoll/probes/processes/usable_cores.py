"""The cores that the target's processes may use.

The kernel tells them of each thread (sched_getaffinity(2)): those of its own affinity that its control group's cpuset
allows as well, of both versions (cpuset(7), kernel.org: Documentation/admin-guide/cgroup-v2.rst).
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from pathlib import Path

import psutil

from plimsoll.probes.probe import ProbeUnavailable
from plimsoll.probes.processes.resting import process_tree
from plimsoll.study.models import ProcessSelector

_ROOT = Path("/")


class UsableCores:
    """The processes are found once, and anew when one of them has ended. More may be added to `selectors`."""

    def __init__(
        self, selectors: Sequence[ProcessSelector], find: Callable[[ProcessSelector], list[psutil.Process]]
    ) -> None:
        self._selectors, self._find = selectors, find
        self._roots: dict[str, list[psutil.Process]] = {}

    def now(self) -> set[int]:
        """Cores that some process of the target may use. ProbeUnavailable if none is there; OSError if the system does
        not tell."""
        return set().union(*self.by_process().values())

    def by_process(self) -> dict[str, set[int]]:
        """The cores of each process that is there, by label, as its first thread may use them. Raises as `now`."""
        found: dict[str, set[int]] = {}
        missing: ProbeUnavailable | None = None
        for selector in self._selectors:
            try:
                roots = self._roots_of(selector)
                found[selector.label] = set().union(*(os.sched_getaffinity(root.pid) for root in roots))
            except ProbeUnavailable as error:
                missing = error
            except ProcessLookupError:  # it ended in between
                continue
        if not found and missing is not None:
            raise missing
        return found

    def of_all_threads(self) -> dict[str, set[int]]:
        """The same of every thread of them and of their children; dear where these are many."""
        found: dict[str, set[int]] = {}
        for label, roots in self._roots.items():
            threads = (thread for pid in process_tree(_ROOT, [root.pid for root in roots]) for thread in _threads(pid))
            found[label] = set().union(*map(_cores_of, threads))
        return found

    def _roots_of(self, selector: ProcessSelector) -> list[psutil.Process]:
        roots = self._roots.get(selector.label)
        if not roots or not all(root.is_running() for root in roots):
            self._roots.pop(selector.label, None)
            self._roots[selector.label] = roots = self._find(selector)
        return roots


def _threads(pid: int) -> list[int]:
    try:
        return [int(name) for name in os.listdir(f"/proc/{pid}/task")]
    except OSError:
        return []


def _cores_of(thread: int) -> set[int]:
    try:
        return os.sched_getaffinity(thread)
    except OSError:
        return set()
