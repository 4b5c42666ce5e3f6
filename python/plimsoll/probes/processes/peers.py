"""Peers: processes of this host to which the target's are connected, as a database, a cache or another service.

They work for each request of the target and share its cores, so that they are watched and counted as processes of it.
Found by the connections that the sockets probes see, of peers as well, from the second on in which these are there.
Never who is watched already, nor this process, nor one from which any of these descends: its children are not the
target's alone. Not found: who only connects to the target or to its peers, who is in another network namespace, and
whose connections end between two looks.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

import psutil

from plimsoll.probes.processes.connected import Callee
from plimsoll.probes.processes.finding_processes import only_root_of_user, roots_holding
from plimsoll.probes.processes.resting import process_tree
from plimsoll.probes.processes.tcp_info import listening
from plimsoll.study.models import ProcessSelector

MOST_PEERS = 8
LEAVE_OUT = "Leave such processes out with `probes: {peers: false}` in a study."


class Caller(Protocol):
    """A process of the target as its sockets were seen."""

    callees: set[Callee]
    pids: list[int]


@dataclass(frozen=True)
class Peer:
    """A peer: how it is found again, and by what it was found."""

    selector: ProcessSelector
    pids: tuple[int, ...]
    callee: Callee

    @property
    def words(self) -> str:
        """ "redis-server (process 812, port 6379)"."""
        several = "processes" if len(self.pids) > 1 else "process"
        return f"{self.selector.label} ({several} {', '.join(map(str, self.pids))}, {self.callee.words})"


class Peers:
    """Looks for callees that are new, hands their processes over, and tells the user. `callers`: the processes that are
    watched so far as they were seen, peers included; `selectors`: all that are watched."""

    def __init__(
        self,
        callers: Callable[[], Sequence[Caller]],
        on_found: Callable[[Sequence[ProcessSelector]], None],
        tell: Callable[[str], None],
        selectors: Callable[[], Sequence[ProcessSelector]],
    ) -> None:
        self._callers, self._on_found, self._tell, self._selectors = callers, on_found, tell, selectors
        self._known: set[Callee] = set()
        self._roots: set[int] = set()
        self._is_full = False

    def look(self) -> None:
        """See whether there are new callees; costs next to nothing where there are none."""
        callers = self._callers()
        fresh = {callee for one in callers for callee in one.callees} - self._known
        if fresh:
            self._known |= fresh
            with suppress(psutil.Error, OSError):  # what ended in between
                self._look_up(fresh, callers)

    def _look_up(self, fresh: set[Callee], callers: Sequence[Caller]) -> None:
        ports = {one.port for one in self._selectors()} - {None}
        sockets = listening() or {}
        # What a process accepted without a listening socket of its own looks like a connection that it opened.
        fresh = {callee for callee in fresh if callee.path or (callee.port in sockets and callee.port not in ports)}
        watched = {os.getpid(), *(pid for one in callers for pid in one.pids), *self._roots}
        found: list[Peer] = []
        hidden: list[Callee] = []
        for callee in sorted(fresh, key=lambda one: (one.port or 0, one.path)):
            ends = sockets[callee.port] if callee.port is not None else [(callee.inode, _owner(callee.path))]
            seen = roots_holding({inode for inode, _ in ends})
            roots = seen or only_root_of_user(ends[0][1])
            tree = set(process_tree(Path("/"), [root.pid for root in roots]))
            if not roots:
                hidden.append(callee)
            elif not watched & tree:
                watched |= tree
                found.append(self._peer(callee, roots, bool(seen), [one.selector.label for one in found]))
        self._watch(found)
        if hidden:
            where = " and ".join(callee.words for callee in hidden)
            self._tell(
                f"The target is connected to {where} of this host, whose process may not be seen: its CPU is not "
                "counted. Run Plimsoll as root, or name it in target.processes of a study by its pid."
            )

    def _watch(self, found: list[Peer]) -> None:
        room = MOST_PEERS - len(self._roots)
        if len(found) > room and not self._is_full:
            self._is_full = True
            self._tell(f"The target is connected to more than {MOST_PEERS} other processes: the rest is not watched.")
        found = found[:room]
        if not found:
            return
        self._roots |= {one.pids[0] for one in found}
        names = " and ".join(one.words for one in found)
        answers = (
            "answers the target on this host: it is" if len(found) == 1 else "answer the target on this host: they are"
        )
        self._tell(f"{names} {answers} watched and counted as part of it. {LEAVE_OUT}")
        self._on_found([one.selector for one in found])

    def _peer(self, callee: Callee, roots: Sequence[psutil.Process], is_seen: bool, taken: Sequence[str]) -> Peer:
        name = _name_of(roots[0])
        labels = {*(one.label for one in self._selectors()), *taken}
        label = name if name not in labels else f"{name} {callee.words}"
        pids = tuple(sorted(root.pid for root in roots))
        if callee.port is not None and is_seen:
            return Peer(ProcessSelector(label=label, port=callee.port), pids, callee)
        return Peer(ProcessSelector(label=label, pid=pids[0]), pids, callee)


def _owner(path: str) -> int:
    """Whose unix socket it is, by user id; the superuser's (0) where that is not known."""
    try:
        return os.stat(path).st_uid
    except OSError:
        return 0


def _name_of(process: psutil.Process) -> str:
    try:
        return process.name() or f"process {process.pid}"
    except psutil.Error:
        return f"process {process.pid}"
