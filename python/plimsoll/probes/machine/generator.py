"""The limits of the generator's own machine, and how near it came to them: read each second of a run."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from plimsoll.probes.machine import kernel_files
from plimsoll.probes.probe import Clock
from plimsoll.runs.machine import cgroup_folders, cpu_quota_cores, memory_limits, usable_cores

LEAST_JUMP_S = 0.1
_READINGS = 3


class Clocks(NamedTuple):
    """The wall clock and the time since boot, in s, each less the monotonic clock at the same moment."""

    wall_s: float
    boot_s: float


def clocks_of_system() -> Clocks:
    """Read between two readings of the monotonic clock, again where too much went by between them; time since boot
    counts sleep on Linux alone."""
    boot = getattr(time, "CLOCK_BOOTTIME", None)
    for _ in range(_READINGS):
        before_s = time.monotonic()
        wall_s, boot_s = time.time(), before_s if boot is None else time.clock_gettime(boot)
        between_s = time.monotonic() - before_s
        if between_s < LEAST_JUMP_S / 10:
            break
    return Clocks(wall_s - before_s, boot_s - before_s)


class GeneratorProbe:
    """Values: usable_cores, quota_cores (where there is a quota), host_busy_share and host_steal_share (of all cores),
    throttled_share (of the time for which the quota held the generator up; over 1 where several cores were), time_wait
    and tcp_in_use (sockets of this network namespace), local_ports, open_files_limit, memory_bytes (of the machine, or
    the limit of a cgroup where less of that is free) and memory_free_bytes of it. Shares are absent in the first call;
    what the system does not say is absent. clock_jump_s: by how much the wall clock went on more than the monotonic one
    since the last call (set by hand, or on a machine that was paused and restored); suspended_s: time in which the
    machine slept, which the monotonic clock leaves out. Both absent below 0.1 s.
    """

    source = "generator"

    def __init__(
        self,
        root: Path = Path("/"),
        clock: Clock = time.monotonic,
        clocks: Callable[[], Clocks] | None = None,
    ) -> None:
        self._root = root
        self._clock = clock
        self._clocks = clocks_of_system if clocks is None else clocks
        self._apart = self._clocks()
        self._cgroups = cgroup_folders("cpu", root)
        self._ticks = kernel_files.cpu_ticks(root)
        self._throttled_s = kernel_files.throttled_s(self._cgroups)
        self._read_s = clock()
        quota = cpu_quota_cores(root)
        ports = kernel_files.local_port_range(root)
        fixed = {
            "usable_cores": usable_cores(root),
            "quota_cores": quota,
            "local_ports": None if ports is None else float(ports[1] - ports[0] + 1),
        }
        self._fixed = {name: value for name, value in fixed.items() if value is not None}

    def take_notes(self) -> list[str]:
        """None."""
        return []

    def sample(self) -> dict[str, float]:
        """Values now; see the class. Shares are over the time since the last call, or since it was made."""
        sockets = kernel_files.tcp_sockets(self._root)
        limit = kernel_files.open_files_limit()
        values = {
            **self._shares(),
            **self._memory(),
            **self._jumps(),
            "time_wait": sockets.get("tw"),
            "tcp_in_use": sockets.get("inuse"),
            "open_files_limit": limit,
        }
        return self._fixed | {name: float(value) for name, value in values.items() if value is not None}

    def _shares(self) -> dict[str, float | None]:
        ticks, throttled_s, now_s = (
            kernel_files.cpu_ticks(self._root),
            kernel_files.throttled_s(self._cgroups),
            self._clock(),
        )
        elapsed_s = now_s - self._read_s
        throttled = None
        if throttled_s is not None and self._throttled_s is not None and elapsed_s > 0:
            throttled = (throttled_s - self._throttled_s) / elapsed_s
        shares = {
            "host_busy_share": kernel_files.busy_share(self._ticks, ticks),
            "host_steal_share": kernel_files.steal_share(self._ticks, ticks),
            "throttled_share": throttled,
        }
        self._ticks, self._throttled_s, self._read_s = ticks, throttled_s, now_s
        return shares

    def _jumps(self) -> dict[str, float | None]:
        before, self._apart = self._apart, self._clocks()
        slept = self._apart.boot_s - before.boot_s
        jumped = self._apart.wall_s - before.wall_s - slept
        return {
            "clock_jump_s": jumped if abs(jumped) >= LEAST_JUMP_S else None,
            "suspended_s": slept if slept >= LEAST_JUMP_S else None,
        }

    def _memory(self) -> dict[str, float | None]:
        memory = kernel_files.memory_bytes(self._root)
        free, whole = memory.get("MemAvailable"), memory.get("MemTotal")
        for limit, used in memory_limits(self._root):
            if free is None or limit - used < free:
                free, whole = limit - used, limit
        return {"memory_free_bytes": free, "memory_bytes": whole}
