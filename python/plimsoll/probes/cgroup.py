"""The control group of a process: what it may use, what it uses, when it was held up, and what was killed in it.

cgroups(7); kernel.org: Documentation/admin-guide/cgroup-v2.rst, cgroup-v1/memory.rst and cpuacct.rst, and
scheduler/sched-bwc.rst.
A limit counts wherever it is set, in the process's own group or in one around it: the least of them is its limit, and
what it is compared with is the use of that group.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import psutil

from plimsoll.probes.finding_processes import find_roots
from plimsoll.probes.kernel_files import text
from plimsoll.probes.probe import Clock, ProbeUnavailable, Rates
from plimsoll.runs.machine import cgroup_folders
from plimsoll.study.models import ProcessSelector

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
    def memory_used_bytes(self) -> float | None:
        """What would have to be swapped or killed: without pages of files that nobody used lately."""
        used = self.number("memory.current", "memory.usage_in_bytes")
        stat = self.keyed("memory.stat")
        idle = stat.get("total_inactive_file", stat.get("inactive_file", 0.0))
        return None if used is None else max(0.0, used - idle)


class CgroupProbe:
    """Values, each where the kernel tells it and, for limits, where there is one: cpu_cores_used; cpu_limit_cores,
    cpu_limit_share; cpu_throttled_share (of the time; over 1 where several cores were held up),
    cpu_throttled_periods_share; memory_used_bytes, memory_limit_bytes, memory_share; memory_limit_hits_per_s;
    oom_kills_per_s; disk_limit_bytes_per_s and disk_limit_share (written or read, of the limit that is nearest);
    processes, processes_limit; cpu_, memory_ and io_pressure_share (cgroup 2).

    Rates are absent in the first call. Empty for a process in the top group, which has no limits and is the host.
    """

    def __init__(
        self,
        selector: ProcessSelector,
        root: Path = Path("/"),
        clock: Clock = time.monotonic,
        find: Callable[[ProcessSelector], list[psutil.Process]] = find_roots,
    ) -> None:
        self.source = f"cgroup:{selector.label}"
        self._selector, self._root, self._find = selector, root, find
        self._rates = Rates(clock)
        self._process: psutil.Process | None = None
        self._place = ""
        self._found: dict[str, list[Group]] = {}
        self._kills: float | None = None
        self._notes: list[str] = []

    def take_notes(self) -> list[str]:
        """Processes that the kernel killed for memory."""
        notes, self._notes = self._notes, []
        return notes

    def sample(self) -> dict[str, float]:
        """Values now; see the class. ProbeUnavailable if the process is gone, or there are no control groups."""
        self._look_for_groups()
        cpu, usage, memory, pids, disk = self._found.values()
        if not any((cpu, usage, memory, pids, disk)):
            return {}
        counters, values = self._cpu(cpu, usage or cpu)
        limited = self._memory(memory, values, counters)
        self._note_kills(counters.pop("oom_kills", None), limited)
        for group in pids[:1]:
            self._put(values, "processes", group.number("pids.current"))
            self._put(values, "processes_limit", group.number("pids.max"))
        for group in cpu[:1]:
            counters |= _pressure(group)
        limits = {key: limit for group in disk for key, limit in disk_limits(group).items()}
        counters |= {key: count for group in disk[:1] if limits for key, count in _disk_counters(group).items()}
        rates, _ = self._rates.update(counters)
        values |= _of_disks(rates, limits)
        return values | _of_rates({name: rate for name, rate in rates.items() if ":" not in name}, values)

    def _look_for_groups(self) -> None:
        """Anew where the process is another, or was moved."""
        pid = self._pid()
        place = text(self._root / f"proc/{pid}/cgroup")
        if not place:
            self._place = ""
            raise ProbeUnavailable(f"{self._selector.label}: the system tells no control group of process {pid}.")
        if f"{pid} {place}" != self._place:
            self._place = f"{pid} {place}"
            self._found = {name: self._groups(name, pid) for name in ("cpu", "cpuacct", "memory", "pids", "blkio")}

    def _pid(self) -> int:
        if self._process is None or not self._process.is_running():
            self._process = None
            self._process = self._find(self._selector)[0]
        return self._process.pid

    def _groups(self, controller: str, pid: int) -> list[Group]:
        """The process's group and those around it, innermost first. The top one counts where it is a container's own,
        which has limits or, in cgroup 2, a cpu.max: that of the host has neither."""
        folders = cgroup_folders(controller, self._root, pid)
        groups = [Group(folder, folder.relative_to(folders[-1])) for folder in folders]
        if controller == "blkio":
            return [one for one in groups if disk_limits(one)]
        if groups and not groups[-1].is_limitable:
            groups.pop()
        return groups

    def _cpu(self, limits: list[Group], usage: list[Group]) -> tuple[dict[str, float], dict[str, float]]:
        counters: dict[str, float] = {}
        values: dict[str, float] = {}
        limited = min(
            ((cores, group) for group in limits if (cores := group.cpu_limit_cores) is not None),
            key=lambda one: one[0],
            default=None,
        )
        own = usage[0] if usage else None
        if limited is not None:
            values["cpu_limit_cores"], group = limited
            own = next((other for other in usage if other.below == group.below), own)
            stat = group.keyed("cpu.stat")
            self._put(counters, "cpu_throttled_share", _throttled_s(stat))
            self._put(counters, "periods", stat.get("nr_periods"))
            self._put(counters, "throttled", stat.get("nr_throttled"))
        if own is not None:
            used_us = own.keyed("cpu.stat").get("usage_usec")
            used_ns = own.number("cpuacct.usage")
            used_s = used_us / 1e6 if used_us is not None else used_ns / 1e9 if used_ns is not None else None
            self._put(counters, "cpu_cores_used", used_s)
        return counters, values

    def _memory(self, groups: list[Group], values: dict[str, float], counters: dict[str, float]) -> float | None:
        """Adds values and counters; the limit."""
        limited = min(
            ((limit, group) for group in groups if (limit := group.memory_limit_bytes) is not None),
            key=lambda one: one[0],
            default=None,
        )
        group = limited[1] if limited is not None else groups[0] if groups else None
        if group is None:
            return None
        self._put(values, "memory_used_bytes", group.memory_used_bytes)
        if limited is not None:
            values["memory_limit_bytes"] = limited[0]
            if "memory_used_bytes" in values and limited[0] > 0:
                values["memory_share"] = values["memory_used_bytes"] / limited[0]
        events = group.keyed("memory.events")
        hits = events.get("max")
        self._put(counters, "memory_limit_hits_per_s", hits if hits is not None else group.number("memory.failcnt"))
        kills = [found for one in groups if (found := _kills(one)) is not None]
        self._put(counters, "oom_kills_per_s", max(kills, default=None))
        self._put(counters, "oom_kills", max(kills, default=None))
        return None if limited is None else limited[0]

    def _note_kills(self, kills: float | None, limit_bytes: float | None) -> None:
        if kills is not None and self._kills is not None and kills > self._kills:
            count = int(kills - self._kills)
            of = f", at a limit of {limit_bytes / 2**20:,.0f} MiB" if limit_bytes is not None else ""
            what = "a process" if count == 1 else f"{count} processes"
            self._notes.append(f"the kernel killed {what} of {self._selector.label} for memory{of}.")
        self._kills = kills

    @staticmethod
    def _put(values: dict[str, float], name: str, value: float | None) -> None:
        if value is not None:
            values[name] = value


def _kills(group: Group) -> float | None:
    found = group.keyed("memory.events").get("oom_kill")
    return found if found is not None else group.keyed("memory.oom_control").get("oom_kill")


def _throttled_s(stat: dict[str, float]) -> float | None:
    if "throttled_usec" in stat:
        return stat["throttled_usec"] / 1e6
    return stat["throttled_time"] / 1e9 if "throttled_time" in stat else None


def _pressure(group: Group) -> dict[str, float]:
    """Seconds so far that some task of the group waited (cgroup 2)."""
    found = {}
    for kind in _PRESSURE:
        total = group.text(f"{kind}.pressure").partition("\n")[0].rpartition("total=")[2]
        if total.isdigit():
            found[f"{kind}_pressure_share"] = int(total) / 1e6
    return found


def _of_rates(rates: dict[str, float], values: dict[str, float]) -> dict[str, float]:
    found = {name: rate for name, rate in rates.items() if name not in ("periods", "throttled")}
    if rates.get("periods"):
        found["cpu_throttled_periods_share"] = rates.get("throttled", 0.0) / rates["periods"]
    if "cpu_cores_used" in found and values.get("cpu_limit_cores"):
        found["cpu_limit_share"] = found["cpu_cores_used"] / values["cpu_limit_cores"]
    for name in found:
        if name.endswith("_pressure_share"):
            found[name] = min(1.0, found[name])
    return found


def disk_limits(group: Group) -> dict[str, float]:
    """Bytes and operations per second that it may read and write, by "disk:<device>:<what>"; empty without limits.

    cgroup 1: blkio.throttle.*_device, lines "8:0 1048576"; cgroup 2: io.max, "8:0 rbps=max wbps=1048576 …".
    """
    found = {}
    for what in ("read_bps", "write_bps", "read_iops", "write_iops"):
        for line in group.text(f"blkio.throttle.{what}_device").splitlines():
            device, _, limit = line.partition(" ")
            if limit.strip().isdigit():
                found[f"disk:{device}:{what}"] = float(limit)
    names = {"rbps": "read_bps", "wbps": "write_bps", "riops": "read_iops", "wiops": "write_iops"}
    for line in group.text("io.max").splitlines():
        device, *settings = line.split()
        for name, _, limit in (setting.partition("=") for setting in settings):
            if name in names and limit.isdigit():
                found[f"disk:{device}:{names[name]}"] = float(limit)
    return found


def _disk_counters(group: Group) -> dict[str, float]:
    """Bytes and operations so far, by the keys of `disk_limits`."""
    found = {}
    for what, file in (("bps", "blkio.throttle.io_service_bytes"), ("iops", "blkio.throttle.io_serviced")):
        for line in group.text(file).splitlines():
            words = line.split()
            if len(words) == 3 and words[1] in ("Read", "Write"):
                found[f"disk:{words[0]}:{words[1].lower()}_{what}"] = float(words[2])
    names = {"rbytes": "read_bps", "wbytes": "write_bps", "rios": "read_iops", "wios": "write_iops"}
    for line in group.text("io.stat").splitlines():
        device, *settings = line.split()
        for name, _, count in (setting.partition("=") for setting in settings):
            if name in names and count.isdigit():
                found[f"disk:{device}:{names[name]}"] = float(count)
    return found


def _of_disks(rates: dict[str, float], limits: dict[str, float]) -> dict[str, float]:
    """The limit that is nearest to what was read or written, and the share of it that was used."""
    shares = {key: rates[key] / limit for key, limit in limits.items() if key in rates and limit > 0}
    nearest = max(shares, key=lambda key: shares[key], default=None)
    if nearest is None:
        return {}
    name = "disk_limit_bytes_per_s" if nearest.endswith("_bps") else "disk_limit_operations_per_s"
    return {"disk_limit_share": shares[nearest], name: limits[nearest]}
