"""The probes of the target's processes: of those known at the start, and of those found while the load is on.

They share what they may cost, the kernel's answer about sockets, and the cores that the target may use.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from contextlib import suppress

import psutil

from plimsoll.probes.probe import Observer, Probe, ProbeUnavailable
from plimsoll.probes.processes.cgroup import CgroupProbe
from plimsoll.probes.processes.connected import Connected, own_inodes
from plimsoll.probes.processes.core_speed import CoreSpeedProbe
from plimsoll.probes.processes.finding_processes import FoundRarely, find_roots
from plimsoll.probes.processes.process import ProcessProbe
from plimsoll.probes.processes.resting import MOST_SHARE
from plimsoll.probes.processes.sockets import SocketsProbe
from plimsoll.probes.processes.target_cores import TargetCoresProbe
from plimsoll.probes.processes.tcp_info import KEPT_S, SocketTable
from plimsoll.probes.processes.unix_sockets import UnixTable
from plimsoll.probes.processes.waits import WaitsProbe
from plimsoll.study.models import Probes, ProcessSelector


class TargetProbes:
    """`selectors`: the processes so far; `sockets`: the probes of their sockets; `cores`: of the cores that they may
    use, None where that is not watched."""

    def __init__(self, wanted: Probes) -> None:
        self._wanted = wanted
        self._table, self._unix = SocketTable(), UnixTable()
        self._connected = Connected(self._own_ends)
        self._found_rarely = FoundRarely()
        self._found: dict[str, tuple[float, list[psutil.Process]]] = {}
        self._peers: set[str] = set()
        self.selectors: list[ProcessSelector] = []
        self.sockets: list[SocketsProbe] = []
        self.cores: TargetCoresProbe | None = None

    def of(self, processes: Sequence[ProcessSelector], *, are_peers: bool = False) -> list[Probe | Observer]:
        """The probes of these processes; with the first ones also those of their cores."""
        wanted, is_first = self._wanted, not self.selectors
        self.selectors += processes
        probes = self._of_processes(processes, are_peers, is_first) if wanted.processes and processes else []
        if wanted.core_speed and processes and is_first:
            probes.append(CoreSpeedProbe(processes))
        return probes

    def _of_processes(
        self, processes: Sequence[ProcessSelector], are_peers: bool, is_first: bool
    ) -> list[Probe | Observer]:
        wanted = self._wanted
        share = MOST_SHARE / len(self.selectors)
        if are_peers:
            self._peers |= {selector.label for selector in processes}
            for selector in processes:  # dear, and asked by all of the probes in the next moment
                with suppress(ProbeUnavailable):
                    self._find(selector)
        probes: list[Probe | Observer] = [ProcessProbe(selector, find=self._find) for selector in processes]
        if wanted.host and is_first:
            self.cores = TargetCoresProbe(self.selectors, find=self._find)
            probes.append(self.cores)
        if wanted.cgroups:
            probes += [CgroupProbe(selector, find=self._find) for selector in processes]
        if wanted.sockets:
            sockets = [self._sockets_of(selector, share, are_peers) for selector in processes]
            self.sockets += sockets
            probes += sockets
        if wanted.waits:
            probes += [WaitsProbe(selector, find=self._find, share=share) for selector in processes]
        return probes

    def _find(self, selector: ProcessSelector) -> list[psutil.Process]:
        """Its processes; several probes ask in one second, and each look reads what all of the host have open."""
        found_s, found = self._found.get(selector.label, (-KEPT_S, []))
        now = time.monotonic()
        if now - found_s >= KEPT_S:
            found = self._found_rarely(selector) if selector.label in self._peers else find_roots(selector)
            self._found[selector.label] = now, found
        return list(found)

    def _sockets_of(self, selector: ProcessSelector, share: float, is_peer: bool) -> SocketsProbe:
        return SocketsProbe(
            selector,
            find=self._find,
            share=share,
            ask=self._table.connections,
            unix=self._unix,
            connected=self._connected,
            is_peer=is_peer,
        )

    def _own_ends(self) -> set[str]:
        """The ends of this process's own connections."""
        inodes = own_inodes()
        return {*inodes, *(f":{one.port}" for one in self._table.connections(inodes) or ())}
