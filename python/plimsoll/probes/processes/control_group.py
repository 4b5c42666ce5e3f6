"""A control group as its files tell of it, of both versions.

cgroups(7); kernel.org: Documentation/admin-guide/cgroup-v2.rst, cgroup-v1/memory.rst, cpuacct.rst, pids.rst and
blkio-controller.rst, and scheduler/sched-bwc.rst.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

_UNLIMITED = 1 << 60
_PRESSURE = ("cpu", "memory", "io")


@dataclass(frozen=True)
class Group:
    """A folder of a hierarchy, and its path below that one's top."""

    folder: Path
    below: Path = Path()

    def text(self, name: str) -> str:
        """A file of it; empty where it cannot be read. (Read each second: pathlib would take half of the time.)"""
        try:
            with open(f"{self.folder}/{name}", "rb", buffering=0) as file:
                return file.read().decode("ascii", errors="replace")
        except OSError:
            return ""

    def number(self, *names: str) -> float | None:
        """The number in the first of these files that has one."""
        for name in names:
            found = self.text(name).strip()
            if found.isdigit():
                return float(found)
        return None

    def keyed(self, name: str) -> dict[str, float]:
        """A file of lines "name number"."""
        pairs = (line.split() for line in self.text(name).splitlines())
        return {pair[0]: float(pair[1]) for pair in pairs if len(pair) == 2 and pair[1].isdigit()}

    @property
    def inode(self) -> int | None:
        """Which folder it is: one that was removed and made anew at its place has another. None if it is gone."""
        try:
            return os.stat(self.folder).st_ino
        except OSError:
            return None

    @property
    def is_limitable(self) -> bool:
        """Whether it has a limit, or could."""
        has_limit = self.cpu_limit_cores is not None or self.memory_limit_bytes is not None
        return has_limit or (self.folder / "cpu.max").exists()

    @property
    def cpu_limit_cores(self) -> float | None:
        """The quota; None without one."""
        quota, _, period = self.text("cpu.max").strip().partition(" ")
        if not quota:
            quota = self.text("cpu.cfs_quota_us").strip()
            period = self.text("cpu.cfs_period_us").strip()
        return int(quota) / int(period) if quota.isdigit() and period.isdigit() and int(period) else None

    @property
    def memory_limit_bytes(self) -> float | None:
        """The hard limit; None without one."""
        limit = self.number("memory.max", "memory.limit_in_bytes")
        return limit if limit is not None and limit < _UNLIMITED else None

    @property
    def memory_high_bytes(self) -> float | None:
        """From where on the kernel holds its processes up until memory is given back (cgroup 2); None without one."""
        return self.number("memory.high")

    @property
    def memory_used_bytes(self) -> float | None:
        """What would have to be swapped or killed: without pages of files that nobody used lately."""
        used = self.number("memory.current", "memory.usage_in_bytes")
        stat = self.keyed("memory.stat")
        idle = stat.get("total_inactive_file", stat.get("inactive_file", 0.0))
        return None if used is None else max(0.0, used - idle)

    def memory_events(self) -> dict[str, float]:
        """What happened at its own memory limits. memory.events alone counts what happened at those of groups within
        it as well, which may be a neighbour's; memory.events.local is there since Linux 5.2."""
        return self.keyed("memory.events.local") or self.keyed("memory.events")

    @property
    def tasks(self) -> tuple[float, float] | None:
        """Tasks that are there, and how many there may be; None without a limit."""
        limit, there = self.number("pids.max"), self.number("pids.current")
        return (there, limit) if limit and there is not None else None


def throttled_s(stat: dict[str, float]) -> float | None:
    """Seconds so far, of cpu.stat."""
    if "throttled_usec" in stat:
        return stat["throttled_usec"] / 1e6
    return stat["throttled_time"] / 1e9 if "throttled_time" in stat else None


def pressure(group: Group) -> dict[str, float]:
    """Seconds so far that some task of the group waited (cgroup 2)."""
    found = {}
    for kind in _PRESSURE:
        total = group.text(f"{kind}.pressure").partition("\n")[0].rpartition("total=")[2]
        if total.isdigit():
            found[f"{kind}_pressure_share"] = int(total) / 1e6
    return found


def disk_limits(group: Group, *, is_own: bool) -> dict[str, float]:
    """Bytes and operations per second that it may read and write, by "<device>:<what>"; empty without limits.

    cgroup 1: blkio.throttle.*_device, lines "8:0 1048576"; what these allow counts for the processes of the group
    itself, not for those of groups within it. cgroup 2: io.max, "8:0 rbps=max wbps=1048576 …".
    """
    found = {}
    for what in ("read_bps", "write_bps", "read_iops", "write_iops") if is_own else ():
        for line in group.text(f"blkio.throttle.{what}_device").splitlines():
            device, _, limit = line.partition(" ")
            if limit.strip().isdigit():
                found[f"{device}:{what}"] = float(limit)
    names = {"rbps": "read_bps", "wbps": "write_bps", "riops": "read_iops", "wiops": "write_iops"}
    return found | _of_devices(group.text("io.max"), names)


def disk_counters(group: Group) -> dict[str, float]:
    """Bytes and operations so far, by the keys of `disk_limits`."""
    found = {}
    for what, file in (("bps", "blkio.throttle.io_service_bytes"), ("iops", "blkio.throttle.io_serviced")):
        for line in group.text(file).splitlines():
            words = line.split()
            if len(words) == 3 and words[1] in ("Read", "Write"):
                found[f"{words[0]}:{words[1].lower()}_{what}"] = float(words[2])
    names = {"rbytes": "read_bps", "wbytes": "write_bps", "rios": "read_iops", "wios": "write_iops"}
    return found | _of_devices(group.text("io.stat"), names)


def _of_devices(text: str, names: dict[str, str]) -> dict[str, float]:
    """The numbers of lines "8:0 rbps=1048576 wbps=max" (cgroup 2), by "8:0:read_bps": by our names for its."""
    found = {}
    for line in filter(str.strip, text.splitlines()):
        device, *settings = line.split()
        for name, _, number in (setting.partition("=") for setting in settings):
            if name in names and number.isdigit():
                found[f"{device}:{names[name]}"] = float(number)
    return found
