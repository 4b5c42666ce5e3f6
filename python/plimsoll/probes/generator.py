"""The limits of the generator's own machine, and how near it came to them: read each second of a run."""

from __future__ import annotations

import time
from pathlib import Path

from plimsoll.probes import kernel_files
from plimsoll.probes.probe import Clock
from plimsoll.runs.machine import cgroup_folders, cpu_quota_cores, memory_limits, usable_cores


class GeneratorProbe:
    """Values: usable_cores, quota_cores (where there is a quota), host_busy_share and host_steal_share (of all cores),
    throttled_share (of the time for which the quota held the generator up; over 1 where several cores were), time_wait
    and tcp_in_use (sockets of this network namespace), local_ports, open_files_limit, memory_bytes (of the machine, or
    the limit of a cgroup where less of that is free) and memory_free_bytes of it. Shares are absent in the first call;
    what the system does not say is absent.
    """

    source = "generator"

    def __init__(self, root: Path = Path("/"), clock: Clock = time.monotonic) -> None:
        self._root = root
        self._clock = clock
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

    def _memory(self) -> dict[str, float | None]:
        memory = kernel_files.memory_bytes(self._root)
        free, whole = memory.get("MemAvailable"), memory.get("MemTotal")
        for limit, used in memory_limits(self._root):
            if free is None or limit - used < free:
                free, whole = limit - used, limit
        return {"memory_free_bytes": free, "memory_bytes": whole}
