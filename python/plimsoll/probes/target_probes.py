"""The probes of the target's processes: of those known at the start, and of those found while the load is on.

They share what they may cost, the kernel's answer about sockets, and the cores that the target may use.
"""

from __future__ import annotations

from collections.abc import Sequence

from plimsoll.probes.cgroup import CgroupProbe
from plimsoll.probes.connected import Connected, own_inodes
from plimsoll.probes.core_speed import CoreSpeedProbe
from plimsoll.probes.probe import Observer, Probe
from plimsoll.probes.process import ProcessProbe
from plimsoll.probes.resting import MOST_SHARE
from plimsoll.probes.sockets import SocketsProbe
from plimsoll.probes.target_cores import TargetCoresProbe
from plimsoll.probes.tcp_info import SocketTable
from plimsoll.probes.unix_sockets import UnixTable
from plimsoll.probes.waits import WaitsProbe
from plimsoll.study.models import Probes, ProcessSelector


class TargetProbes:
    """`selectors`: the processes so far; `sockets`: the probes of their sockets; `cores`: of the cores that they may
    use, None where that is not watched."""

    def __init__(self, wanted: Probes) -> None:
        self._wanted = wanted
        self._table, self._unix = SocketTable(), UnixTable()
        self._connected = Connected(self._own_ends)
        self.selectors: list[ProcessSelector] = []
        self.sockets: list[SocketsProbe] = []
        self.cores: TargetCoresProbe | None = None

    def of(self, processes: Sequence[ProcessSelector], *, are_peers: bool = False) -> list[Probe | Observer]:
        """The probes of these processes; with the first ones also those of their cores."""
        wanted, probes, is_first = self._wanted, list[Probe | Observer](), not self.selectors
        self.selectors += processes
        if wanted.core_speed and processes and is_first:
            probes.append(CoreSpeedProbe(processes))
        if not wanted.processes or not processes:
            return probes
        share = MOST_SHARE / len(self.selectors)
        probes += [ProcessProbe(selector) for selector in processes]
        if wanted.host and is_first:
            self.cores = TargetCoresProbe(self.selectors)
            probes.append(self.cores)
        if wanted.cgroups:
            probes += [CgroupProbe(selector) for selector in processes]
        if wanted.sockets:
            sockets = [self._sockets_of(selector, share, are_peers) for selector in processes]
            self.sockets += sockets
            probes += sockets
        if wanted.waits:
            probes += [WaitsProbe(selector, share=share) for selector in processes]
        return probes

    def _sockets_of(self, selector: ProcessSelector, share: float, is_peer: bool) -> SocketsProbe:
        return SocketsProbe(
            selector,
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
