"""Foreign processes: processes of this host that the target has no connection to, and that take cores which it needs.

For a plain run, which watches no process: asked while all cores are busy, a few times a minute. The target is who
listens where the load goes, on this host. What it is connected to belongs to it, and so on, and all children; so does
who is connected to any of these, as a worker that takes jobs from the target's queue. Connections are those that are
open at a look, by TCP and by unix sockets; whoever listens where TCP connections ended lately may have been called by
the target, and counts as belonging to it too.

Never counted: this process and its children, and who cannot be looked into, as processes in other network namespaces
(containers) and, unless this is root, of other users.
"""

from __future__ import annotations

import os
import socket
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import NamedTuple

from plimsoll.probes.probe import Clock
from plimsoll.probes.processes.tcp_info import listening
from plimsoll.probes.processes.unix_sockets import UnixTable

LOOK_EVERY_S = 5.0
LEAST_S = 1.0  # between two looks that say something
_LISTEN = "0A"  # of /proc/net/tcp
_MAPPED = "0000000000000000FFFF0000"  # before an IPv4 address that is told as one of IPv6, in that file
_SOCKET = "socket:["
_OF_KERNEL = 0x00200000  # PF_KTHREAD of a process's flags: what it does is done for others
_TICKS_PER_S = os.sysconf("SC_CLK_TCK") if hasattr(os, "sysconf") else 100
Address = tuple[str, int]
_NONE: set[int] = set()


class Used(NamedTuple):
    """CPU seconds of a process since it began, and its parent's id."""

    name: str
    began: str
    cpu_s: float
    parent: int


class ForeignProcesses:
    """`addresses`: where the load goes. `taken_s`: CPU seconds of each process, by id and name, between the looks."""

    def __init__(self, addresses: Callable[[], Sequence[Address]], clock: Clock = time.monotonic) -> None:
        self._addresses, self._clock = addresses, clock
        self._before: tuple[float, dict[int, Used]] | None = None
        self._looked_s = float("-inf")
        self.taken_s: dict[tuple[int, str], float] = {}

    @property
    def names(self) -> dict[str, float]:
        """The same by name."""
        found: dict[str, float] = {}
        for (_, name), taken_s in self.taken_s.items():
            found[name] = found.get(name, 0.0) + taken_s
        return found

    @property
    def is_due(self) -> bool:
        """Whether the last look is long enough ago for another."""
        return self._clock() - self._looked_s >= LOOK_EVERY_S

    @property
    def tells(self) -> bool:
        """Whether a look now would say something."""
        return self._before is not None and self._clock() - self._before[0] >= LEAST_S

    def look(self) -> float | None:
        """Cores that foreign processes took since the last look. None in the first one, and where the target is not on
        this host or its process, or what the kernel tells of others, is not seen."""
        self._looked_s = self._clock()
        ports = {port for _, port in filter(_is_here, self._addresses())}
        try:
            return self._look(ports) if ports else None
        except OSError:
            self._before = None
            return None

    def _look(self, ports: set[int]) -> float | None:
        table, (holders, seen) = _TcpTable.read(), _holders()
        roots = {pid for port in ports for inode in table.listening.get(port, ()) for pid in holders.get(inode, _NONE)}
        if not roots:
            self._before = None
            return None
        now_s, used = self._clock(), _used()
        before, self._before = self._before, (now_s, used)
        if before is None or now_s <= before[0]:
            return None
        belonging = _belonging(roots, holders, table, used) | _trees({os.getpid()}, used)
        taken_s = 0.0
        for pid in used.keys() & seen - belonging:
            then, now = before[1].get(pid), used[pid]
            more_s = now.cpu_s - (then.cpu_s if then is not None and then.began == now.began else 0.0)
            if more_s > 0:
                self.taken_s[pid, now.name] = self.taken_s.get((pid, now.name), 0.0) + more_s
                taken_s += more_s
        return taken_s / (now_s - before[0])


def _is_here(address: Address) -> bool:
    """Whether that is an address of this host: nobody can take a port of another's."""
    host = address[0].removeprefix("::ffff:")
    if host.startswith("127.") or host == "::1":
        return True
    try:
        with socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET, socket.SOCK_DGRAM) as one:
            one.bind((host, 0))
    except OSError:
        return False
    return True


def _used() -> dict[int, Used]:
    """By process id (/proc/PID/stat, proc(5)); the kernel's own and what ends meanwhile are left out."""
    found = {}
    for name in os.listdir("/proc") if os.path.isdir("/proc") else ():
        if not name.isdigit():
            continue
        try:
            with open(f"/proc/{name}/stat", encoding="utf-8", errors="replace") as file:
                head, _, rest = file.read().rpartition(")")
        except OSError:
            continue
        fields = rest.split()
        if int(fields[6]) & _OF_KERNEL:
            continue
        cpu_s = (int(fields[11]) + int(fields[12])) / _TICKS_PER_S
        found[int(name)] = Used(head.partition("(")[2], fields[19], cpu_s, int(fields[1]))
    return found


def _trees(roots: Iterable[int], used: Mapping[int, Used]) -> set[int]:
    """These processes with all their children."""
    children: dict[int, list[int]] = {}
    for pid, one in used.items():
        children.setdefault(one.parent, []).append(pid)
    found, left = set[int](), list(roots)
    while left:
        pid = left.pop()
        if pid not in found:
            found.add(pid)
            left += children.get(pid, ())
    return found


def _belonging(
    roots: Iterable[int], holders: Mapping[str, set[int]], table: _TcpTable, used: Mapping[int, Used]
) -> set[int]:
    """Processes that have to do with these, this one left out."""
    ends = [*table.calls(), *_unix_calls()]
    calls = [(holders.get(caller, _NONE), holders.get(callee, _NONE)) for caller, callee in ends]
    called = {pid for inode in table.called() for pid in holders.get(inode, _NONE)}
    own, found = os.getpid(), set[int]()
    fresh = _trees({*roots, *called} - {own}, used)
    while fresh:
        found |= fresh
        called = {pid for caller, callee in calls if caller & fresh for pid in callee}
        fresh = _trees(called - {own}, used) - found
    callers = {pid for caller, callee in calls if callee & found for pid in caller}
    return found | _trees(callers - {own}, used)


def _holders() -> tuple[dict[str, set[int]], set[int]]:
    """The processes that have a socket open, by its inode; and all that could be looked into."""
    found: dict[str, set[int]] = {}
    seen: set[int] = set()
    namespace = os.readlink("/proc/self/ns/net")
    for name in filter(str.isdigit, os.listdir("/proc")):
        folder = f"/proc/{name}/fd"
        try:
            if os.readlink(f"/proc/{name}/ns/net") != namespace:
                continue
            handles = os.listdir(folder)
        except OSError:
            continue
        seen.add(int(name))
        for handle in handles:
            try:
                what = os.readlink(f"{folder}/{handle}")
            except OSError:
                continue
            if what.startswith(_SOCKET):
                found.setdefault(what[len(_SOCKET) : -1], set()).add(int(name))
    return found, seen


class _TcpTable(NamedTuple):
    """`listening`: the inodes of the listening sockets of each port; `rows`: own end, other end and inode ("0" of one
    that is over, whose owner is not known any more) of each connection."""

    listening: Mapping[int, Sequence[str]]
    rows: Sequence[tuple[str, str, str]]

    @classmethod
    def read(cls) -> _TcpTable:
        ports = {port: [inode for inode, _ in ends] for port, ends in (listening() or {}).items()}
        rows = []
        for table in ("/proc/net/tcp", "/proc/net/tcp6"):
            try:
                with open(table, encoding="ascii") as file:
                    lines = [line.split() for line in file][1:]
            except OSError:
                continue
            rows += [(_plain(line[1]), _plain(line[2]), line[9]) for line in lines if line[3] != _LISTEN]
        return cls(ports, rows)

    def calls(self) -> list[tuple[str, str]]:
        """(inode of who connected, inode of who accepted) of each connection within this host that is open."""
        inodes = {(own, other): inode for own, other, inode in self.rows}
        return [
            (inodes[other, own], inode)
            for (own, other), inode in inodes.items()
            if _port(own) in self.listening and (other, own) in inodes
        ]

    def called(self) -> set[str]:
        """The listening sockets to which connections of unknown processes were open until lately: perhaps the
        target's, as one that connects anew for each request."""
        ended = {port for own, other, inode in self.rows if inode == "0" for port in (_port(own), _port(other))}
        return {inode for port in ended & self.listening.keys() for inode in self.listening[port]}


def _port(end: str) -> int:
    return int(end.rpartition(":")[2], 16)


def _plain(end: str) -> str:
    return end.removeprefix(_MAPPED)


def _unix_calls() -> list[tuple[str, str]]:
    """The same of unix sockets: who accepted has the listening one's name."""
    told = UnixTable().now()
    return [(str(one.peer), str(one.inode)) for one in told.values() if one.name and one.peer]
