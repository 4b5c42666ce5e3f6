"""Which processes descend from some others, found each second without reading every process of the host again.

Of a process that was there the second before, the parent is remembered; only new ones are read. A process id that is
given anew within one second would be taken for the earlier process: ids are given in turn, so that needs all of them.
"""

from __future__ import annotations

import os
from collections import defaultdict
from collections.abc import Iterable

import psutil

PROC = "/proc"


class Family:
    """The processes `roots` and all their descendants, as psutil knows them; on systems without /proc psutil finds
    them."""

    def __init__(self) -> None:
        self._parents: dict[int, int] = {}
        self._known: dict[int, psutil.Process] = {}

    def members(self, roots: Iterable[psutil.Process]) -> list[psutil.Process]:
        """Those that are there now; the roots first."""
        roots = [root for root in roots if _is_running(root)]
        ids = _process_ids()
        if ids is None:
            return [member for root in roots for member in (root, *_children(root))]
        for gone in self._parents.keys() - ids:
            del self._parents[gone]
            self._known.pop(gone, None)
        for new in ids - self._parents.keys():
            parent = _parent_of(new)
            if parent is not None:
                self._parents[new] = parent
        found = {root.pid: root for root in roots}
        for pid in self._descendants(found):
            process = self._known.get(pid) or _process(pid)
            if process is not None:
                self._known[pid] = found[pid] = process
        return list(found.values())

    def _descendants(self, roots: Iterable[int]) -> list[int]:
        children = defaultdict(list)
        for pid, parent in self._parents.items():
            children[parent].append(pid)
        found, seen, waiting = [], set(roots), list(roots)
        while waiting:
            for child in children[waiting.pop()]:
                if child not in seen:
                    seen.add(child)
                    found.append(child)
                    waiting.append(child)
        return found


def _process_ids() -> set[int] | None:
    try:
        return {int(name) for name in os.listdir(PROC) if name.isdigit()} or None
    except OSError:
        return None


def _parent_of(pid: int) -> int | None:
    """Of /proc/<pid>/stat, whose second field, the name, may hold anything (proc(5)); None if it is gone."""
    try:
        with open(f"{PROC}/{pid}/stat", "rb", buffering=0) as file:
            return int(file.read(1024).rpartition(b")")[2].split()[1])
    except (OSError, ValueError, IndexError):
        return None


def _process(pid: int) -> psutil.Process | None:
    try:
        return psutil.Process(pid)
    except psutil.Error:
        return None


def _is_running(process: psutil.Process) -> bool:
    try:
        return process.is_running()
    except psutil.Error:
        return False


def _children(process: psutil.Process) -> list[psutil.Process]:
    try:
        return process.children(recursive=True)
    except psutil.Error:
        return []
