"""Who is connected to whom on this host, as the looks at the sockets of the target's processes find it.

Each process tells its own ends of the connections that it opened. What is connected to a process by an end that none
of them has is another client of it. An end is ":port" of loopback, or the inode of a unix socket.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from plimsoll.probes.probe import Clock

OWN_AGAIN_S = 10.0
GONE_S = 60.0  # without a look, after which a process is not waited for


@dataclass(frozen=True)
class Callee:
    """What a process is connected to on this host: a port of loopback, else the unix socket of that `path`, whose
    listening end has that `inode`."""

    port: int | None = None
    path: str = ""
    inode: str = ""

    @property
    def words(self) -> str:
        """ "port 5432", "/run/postgresql/.s.PGSQL.5432"."""
        return f"port {self.port}" if self.port is not None else self.path


class Connected:
    """The ends that the processes told, by label. `own_ends`: those of this process, which is no client of theirs; it
    is dear and asked rarely."""

    def __init__(self, own_ends: Callable[[], set[str]] = lambda: set(), clock: Clock = time.monotonic) -> None:
        self._own_ends, self._clock = own_ends, clock
        self._told: dict[str, tuple[float, frozenset[str]]] = {}
        self._first_seen: dict[str, dict[str, float]] = {}
        self._is_own: dict[str, dict[str, bool]] = {}
        self._own_asked_s = -OWN_AGAIN_S

    def tell(self, label: str, ends: Iterable[str]) -> None:
        """What the look at a process found that ends now."""
        self._told[label] = self._clock(), frozenset(ends)

    def others(self, label: str, ends: set[str]) -> set[str]:
        """Those of the `ends`, connected to a process now, that are no process's of the target: all of these were
        looked at since the end was first seen, and did not have it."""
        known = set().union(*(those for _, those in self._told.values()))
        before, now = self._first_seen.get(label, {}), self._clock()
        seen = {end: before.get(end, now) for end in ends - known}
        self._first_seen[label] = seen
        looked_s = min((when for when, _ in self._told.values() if now - when < GONE_S), default=now)
        found = {end for end, first_s in seen.items() if first_s < looked_s}
        is_own = {end: own for end, own in self._is_own.get(label, {}).items() if end in found}
        if found - is_own.keys() and now - self._own_asked_s >= OWN_AGAIN_S:
            self._own_asked_s, own_ends = now, self._own_ends()
            is_own |= {end: end in own_ends for end in found - is_own.keys()}
        self._is_own[label] = is_own
        return {end for end, own in is_own.items() if not own}


def own_inodes() -> set[str]:
    """The inodes of this process's sockets."""
    found = set()
    for name in os.listdir("/proc/self/fd"):
        try:
            link = os.readlink(f"/proc/self/fd/{name}")
        except OSError:
            continue
        if link.startswith("socket:["):
            found.add(link[8:-1])
    return found
