"""The cores that the target's processes may use."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable

import psutil

from plimsoll.study.models import ProcessSelector


class UsableCores:
    """The processes are found once, and anew when one of them has ended."""

    def __init__(
        self, selectors: Iterable[ProcessSelector], find: Callable[[ProcessSelector], list[psutil.Process]]
    ) -> None:
        self._selectors, self._find = list(selectors), find
        self._roots: list[psutil.Process] = []

    def now(self) -> set[int]:
        """Cores that some process of the target may use. ProbeUnavailable if one is not there; OSError if the system
        does not tell."""
        if not self._roots or not all(root.is_running() for root in self._roots):
            self._roots = [root for selector in self._selectors for root in self._find(selector)]
        return {core for root in self._roots for core in os.sched_getaffinity(root.pid)}
