"""TCP connections of one of the target's processes: who waits to be accepted, who is connected, to whom it connects.

A pool of N connections and a queue in front of the workers cost no CPU: they show here, as do requests that wait for
another service, and answers that wait for the network. Reading every socket of the machine takes time that grows with
their number, so a sample that took long is followed by seconds without one.
"""

from __future__ import annotations

import os
import time
from collections import Counter
from collections.abc import Callable, Iterable
from pathlib import Path

import psutil

from plimsoll.probes.machine.kernel_files import readable_address, text
from plimsoll.probes.probe import Clock, ProbeUnavailable
from plimsoll.probes.processes.connected import Callee, Connected
from plimsoll.probes.processes.finding_processes import find_roots
from plimsoll.probes.processes.resting import MOST_SHARE, RestingProbe
from plimsoll.probes.processes.tcp_info import LISTENING, Connection, connections, is_loopback
from plimsoll.probes.processes.unix_sockets import UnixTable
from plimsoll.study.models import ProcessSelector

MOST_REMOTES = 8
# Columns of /proc/net/tcp (proc(5)): addresses with ports, state, queues tx:rx, inode.
_LOCAL, _REMOTE, _STATE, _QUEUES, _INODE = 1, 2, 3, 4, 9
_ESTABLISHED, _LISTENING = "01", "0A"


class SocketsProbe(RestingProbe):
    """Values: accept_queue (connections that the kernel has made and the process has not yet accepted), connections_in
    (to its listening ports), connections_sending (of these, with a part of an answer that the other side has not
    acknowledged), connections_sending_local (of these, by loopback), connections_in_new (of those to its ports, that
    were not there at the last look), requests_inside and requests_answered (of these, that received last and that sent
    last), connections_out, and for the eight remote addresses with the most of them connections_to_<address>,
    new_to_<address> (that were not there at the last look), awaiting_<address> and answered_by_<address> (that sent
    last and that received last); listens_on_<port> is 1. Where each look finds other connections, each request makes
    its own.
    Sockets of its children count. Who was last is not known of a process in another network namespace that this one may
    not enter, nor where both happened in one tick of the kernel's clock: compare the two numbers.

    `callees`: what it was seen connected to on this host so far; `pids`: the processes of the last look. With
    `connected` it tells its ends there; one that `is_peer` has connections_of_others as well: those that were at work
    since the last look, and came from no process of the target, nor from this one (of unix sockets each counts).
    """

    kind = "sockets"

    def __init__(
        self,
        selector: ProcessSelector,
        clock: Clock = time.monotonic,
        find: Callable[[ProcessSelector], list[psutil.Process]] = find_roots,
        root: Path = Path("/"),
        cpu_clock: Clock = time.thread_time,
        share: float = MOST_SHARE,
        ask: Callable[[set[str], Path | None], list[Connection] | None] = connections,
        unix: UnixTable | None = None,
        connected: Connected | None = None,
        is_peer: bool = False,
    ) -> None:
        super().__init__(selector, clock, find, root, cpu_clock, share)
        self._ask, self._unix, self._connected, self._is_peer = ask, unix or UnixTable(), connected, is_peer
        self._before: set[str] | None = None
        self._looked_s = 0.0
        self._others_known: set[str] = set()  # sockets that are none of TCP
        self.callees: set[Callee] = set()
        self.pids: list[int] = []

    def _look(self, pids: list[int]) -> dict[str, float]:
        inodes = _inodes(self._root, pids)
        if inodes is None:
            raise ProbeUnavailable(f"{self._selector.label}: its sockets may not be read. Run as the target's user.")
        mine = [one for one in self._sockets(inodes) if one.inode in inodes]
        before, self._before = self._before, {one.inode for one in mine}
        self.pids = pids
        values = _values(mine, before)
        if self._root == Path("/") and not _is_elsewhere(self._root, self._roots[0].pid):
            values |= self._within_host(mine, inodes)
        return values

    def _within_host(self, mine: list[Connection], inodes: set[str]) -> dict[str, float]:
        """Keeps what it is connected to on this host; of a peer, how many of its connections are others'."""
        now, since_s = self._clock(), self._looked_s
        self._looked_s = now
        ports = {one.port for one in mine if one.state == LISTENING}
        outside = [one for one in mine if one.state != LISTENING and one.port not in ports and one.is_loopback]
        self.callees |= {Callee(int(one.remote.rpartition(":")[2])) for one in outside}
        rest = inodes - {one.inode for one in mine}
        fresh, self._others_known = rest - self._others_known, rest
        if fresh:
            self.callees |= {Callee(None, path, inode) for path, inode in self._unix.listeners_of(fresh).items()}
        if self._connected is None:
            return {}
        self._connected.tell(self._selector.label, [*(f":{one.port}" for one in outside), *rest])
        if not self._is_peer:
            return {}
        inside = [one for one in mine if one.state != LISTENING and one.port in ports]
        ends = {f":{one.remote.rpartition(':')[2]}" if one.is_loopback else one.remote: one for one in inside}
        others = self._connected.others(self._selector.label, {*ends, *self._unix.clients_of(rest)})
        since_ms = 1000 * (now - since_s)
        return {
            "connections_of_others": float(sum(1 for end in others if end not in ends or _worked(ends[end], since_ms)))
        }

    def _sockets(self, inodes: set[str]) -> list[Connection]:
        """In the process's network namespace, from the kernel or, where it does not tell, from its tables."""
        pid = self._roots[0].pid
        is_other = _is_elsewhere(self._root, pid)
        namespace = self._root / f"proc/{pid}/ns/net" if is_other else None
        told = self._ask(inodes, namespace) if self._root == Path("/") else None
        if told is not None:
            return told
        return _of_tables(self._root / (f"proc/{pid}/net" if is_other else "proc/net"))


def _worked(one: Connection, since_ms: float) -> bool:
    """Whether it received something in that time, or that is not known."""
    return one.received_ms is None or one.received_ms < since_ms


def _inodes(root: Path, pids: Iterable[int]) -> set[str] | None:
    """Inodes of the processes' sockets; None if none of the processes lets them be read."""
    found: set[str] = set()
    was_read = False
    for pid in pids:
        folder = root / "proc" / str(pid) / "fd"
        try:
            with os.scandir(folder) as entries:
                links = [os.readlink(entry.path) for entry in entries]
        except OSError:
            continue
        was_read = True
        found |= {link[8:-1] for link in links if link.startswith("socket:[")}
    return found if was_read else None


def _is_elsewhere(root: Path, pid: int) -> bool:
    """Whether a process is in another network namespace; not if it is in this one, or that may not be seen."""
    try:
        return os.readlink(root / f"proc/{pid}/ns/net") != os.readlink(root / "proc/self/ns/net")
    except OSError:
        return False


def _of_tables(tables: Path) -> list[Connection]:
    """The established and listening sockets of a folder's tcp and tcp6."""
    found = []
    for name in ("tcp", "tcp6"):
        for line in text(tables / name).splitlines()[1:]:
            if f" {_ESTABLISHED} " not in line and f" {_LISTENING} " not in line:  # most others are in TIME_WAIT
                continue
            words = line.split()
            if words[_STATE] not in (_ESTABLISHED, _LISTENING):
                continue
            sending, _, receiving = words[_QUEUES].partition(":")
            port, state = int(words[_LOCAL].rpartition(":")[2], 16), int(words[_STATE], 16)
            remote = "" if state == LISTENING else readable_address(words[_REMOTE])
            own = readable_address(words[_LOCAL]).rpartition(":")[0]
            here = state != LISTENING and is_loopback(own, remote.rpartition(":")[0])
            queues = int(receiving, 16), int(sending, 16)
            found.append(Connection(words[_INODE], state, port, remote, *queues, is_loopback=here))
    return found


def _values(mine: list[Connection], before: set[str] | None) -> dict[str, float]:
    """`before`: the inodes of the last look; None at the first one."""
    listening = [one for one in mine if one.state == LISTENING]
    ports = {one.port for one in listening}
    inside = [one for one in mine if one.state != LISTENING and one.port in ports]
    outside = [one for one in mine if one.state != LISTENING and one.port not in ports]
    values = {
        "connections_in": float(len(inside)),
        "connections_sending": float(sum(1 for one in inside if one.unsent)),
        "connections_sending_local": float(sum(1 for one in inside if one.unsent and one.is_loopback)),
        "connections_out": float(len(outside)),
    }
    fresh = {one.inode for one in mine} - before if before is not None else None
    if fresh is not None:
        values["connections_in_new"] = float(sum(1 for one in inside if one.inode in fresh))
    if listening:
        values["accept_queue"] = float(sum(one.received for one in listening))
        values |= {f"listens_on_{port}": 1.0 for port in sorted(ports)[:MOST_REMOTES]}
    is_timed = any(one.sent_ms is not None for one in (*inside, *outside))
    if is_timed:
        values["requests_inside"] = float(sum(1 for one in inside if one.has_received_last))
        values["requests_answered"] = float(sum(1 for one in inside if one.has_sent_last))
    for remote, count in Counter(one.remote for one in outside).most_common(MOST_REMOTES):
        values[f"connections_to_{remote}"] = float(count)
        there = [one for one in outside if one.remote == remote]
        if fresh is not None:
            values[f"new_to_{remote}"] = float(sum(1 for one in there if one.inode in fresh))
        if is_timed:
            values[f"awaiting_{remote}"] = float(sum(1 for one in there if one.has_sent_last))
            values[f"answered_by_{remote}"] = float(sum(1 for one in there if one.has_received_last))
    return values
