"""The control group of a process: what it may use, what it uses, when it was held up, and what was killed in it.

A limit counts wherever it is set, in the process's own group or in one around it: the least of them is its limit, and
what it is compared with is the use of that group. What a group's files say is control_group.py; whose a kill was,
memory_kills.py.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

import psutil

from plimsoll.probes.machine.kernel_files import text
from plimsoll.probes.probe import Clock, ProbeUnavailable, Rates
from plimsoll.probes.processes.control_group import Group, disk_counters, disk_limits, pressure, throttled_s
from plimsoll.probes.processes.finding_processes import find_roots
from plimsoll.probes.processes.memory_kills import MemoryKills
from plimsoll.runs.machine import cgroup_folders
from plimsoll.study.models import ProcessSelector

_CONTROLLERS = ("cpu", "cpuacct", "memory", "pids", "blkio")
_EXITING = 0x4  # PF_EXITING of the flags in /proc/PID/stat (proc(5), include/linux/sched.h)
Limited = tuple[float, Group] | None


class CgroupProbe:
    """Values, each where the kernel tells it and, for limits, where there is one: cpu_cores_used; cpu_limit_cores,
    cpu_limit_share; cpu_throttled_share (of the time; over 1 where several cores were held up),
    cpu_throttled_periods_share; memory_used_bytes, memory_limit_bytes, memory_share; memory_limit_hits_per_s;
    memory_high_bytes, memory_high_share, memory_high_hits_per_s (cgroup 2); oom_kills_per_s; disk_limit_bytes_per_s or
    disk_limit_operations_per_s, and disk_limit_share (written or read, of the limit that is nearest); processes,
    processes_limit, processes_share, processes_refused_per_s (tasks, which are threads as well); cpu_, memory_ and
    io_pressure_share (cgroup 2).

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
        self._selector, self._root, self._find, self._clock = selector, root, find, clock
        self._now = 0.0
        self._rates = Rates(lambda: self._now)
        self._kills, self._kill_rates = MemoryKills(selector.label), Rates(lambda: self._now)
        self._process: psutil.Process | None = None
        self._place = ""
        self._found: dict[str, list[Group]] = {name: [] for name in _CONTROLLERS}
        self._limited: Limited = None

    def take_notes(self) -> list[str]:
        """Processes that the kernel killed for memory."""
        return self._kills.take_notes()

    def sample(self) -> dict[str, float]:
        """Values now; see the class. ProbeUnavailable if the process is gone, or there are no control groups; but what
        was killed is told once more when it is, as that may be why."""
        self._now = self._clock()
        try:
            self._look_for_groups()
        except ProbeUnavailable:
            if not self._kills.look_at_the_end(self._limited):
                raise
            limit = {"memory_limit_bytes": self._limited[0]} if self._limited is not None else {}
            return {**limit, **self._killed()}
        cpu, usage, memory, pids, disk = self._found.values()
        counters, values = self._cpu(cpu, usage or cpu)
        self._memory(memory, values, counters)
        self._kills.look(memory, self._limited)
        _tasks(pids, values, counters)
        for group in cpu[:1]:
            counters |= pressure(group)
        limits = _disks(disk, counters)
        rates, _ = self._rates.update(counters)
        values |= _of_disks(rates, limits)
        plain = {name: rate for name, rate in rates.items() if ":" not in name}
        return values | _of_rates(plain, values) | self._killed()

    def _killed(self) -> dict[str, float]:
        total = self._kills.total
        return {} if total is None else self._kill_rates.update({"oom_kills_per_s": total})[0]

    def _look_for_groups(self) -> None:
        """Anew where the process is another, or was moved."""
        pid = self._pid()
        place = text(self._root / f"proc/{pid}/cgroup")
        if not place:
            self._place = ""
            raise ProbeUnavailable(f"{self._selector.label}: the system tells no control group of process {pid}.")
        if f"{pid} {place}" == self._place:
            return
        if self._is_ending(pid):  # it was put into the top group to end there
            self._place, self._process = "", None
            raise ProbeUnavailable(f"{self._selector.label}: process {pid} is ending.")
        folders = {name: cgroup_folders(name, self._root, pid) for name in _CONTROLLERS}
        if not any(folders.values()):
            self._place = ""
            raise ProbeUnavailable(
                f"{self._selector.label}: the control group of process {pid} cannot be seen from here, as it is that "
                "of another container or cgroup namespace: its limits, and what was killed, are not known. Run "
                "Plimsoll on the host itself, or read the page of its cAdvisor (probes.prometheus)."
            )
        self._place = f"{pid} {place}"
        found = {name: self._groups(name, folders[name]) for name in _CONTROLLERS}
        if found != self._found:  # what another group counted is no rate of this one
            self._found, self._rates = found, Rates(lambda: self._now)

    def _pid(self) -> int:
        if self._process is None or not self._process.is_running():
            self._process = None
            self._process = self._find(self._selector)[0]
        return self._process.pid

    def _is_ending(self, pid: int) -> bool:
        """Whether it is a zombie, or on its way to be one: cgroup 1 shows such a process in the top group."""
        fields = text(self._root / f"proc/{pid}/stat").rpartition(")")[2].split()
        return len(fields) > 6 and (fields[0] in ("Z", "X") or bool(int(fields[6]) & _EXITING))

    @staticmethod
    def _groups(controller: str, folders: Sequence[Path]) -> list[Group]:
        """The process's group and those around it, innermost first. The top one counts where it is a container's own,
        which has limits or, in cgroup 2, a cpu.max: that of the host has neither."""
        groups = [Group(folder, folder.relative_to(folders[-1])) for folder in folders]
        if controller != "blkio" and groups and not groups[-1].is_limitable:
            groups.pop()
        return groups

    def _cpu(self, limits: list[Group], usage: list[Group]) -> tuple[dict[str, float], dict[str, float]]:
        counters: dict[str, float] = {}
        values: dict[str, float] = {}
        limited = _least((group.cpu_limit_cores, group) for group in limits)
        own = usage[0] if usage else None
        if limited is not None:
            values["cpu_limit_cores"], group = limited
            own = next((other for other in usage if other.below == group.below), own)
            stat = group.keyed("cpu.stat")
            _put(counters, "cpu_throttled_share", throttled_s(stat))
            _put(counters, "periods", stat.get("nr_periods"))
            _put(counters, "throttled", stat.get("nr_throttled"))
        if own is not None:
            used_us = own.keyed("cpu.stat").get("usage_usec")
            used_ns = own.number("cpuacct.usage")
            used_s = used_us / 1e6 if used_us is not None else used_ns / 1e9 if used_ns is not None else None
            _put(counters, "cpu_cores_used", used_s)
        return counters, values

    def _memory(self, groups: list[Group], values: dict[str, float], counters: dict[str, float]) -> None:
        """Adds values and counters; keeps the limit."""
        self._limited = limited = _least((group.memory_limit_bytes, group) for group in groups)
        group = limited[1] if limited is not None else groups[0] if groups else None
        if group is None:
            return
        used = group.memory_used_bytes
        _put(values, "memory_used_bytes", used)
        if limited is not None:
            values["memory_limit_bytes"] = limited[0]
            if used is not None and limited[0] > 0:
                values["memory_share"] = used / limited[0]
        hits = group.memory_events().get("max")
        _put(counters, "memory_limit_hits_per_s", hits if hits is not None else group.number("memory.failcnt"))
        held_up = _least((one.memory_high_bytes, one) for one in groups)
        if held_up is not None:
            high, group = held_up
            used = group.memory_used_bytes
            values["memory_high_bytes"] = high
            _put(values, "memory_high_share", used / high if used is not None and high > 0 else None)
            _put(counters, "memory_high_hits_per_s", group.memory_events().get("high"))


def _least(limits: Iterable[tuple[float | None, Group]]) -> Limited:
    """The least of the limits that there are, and whose it is."""
    known = [(limit, group) for limit, group in limits if limit is not None]
    return min(known, key=lambda one: one[0], default=None)


def _put(values: dict[str, float], name: str, value: float | None) -> None:
    if value is not None:
        values[name] = value


def _tasks(groups: list[Group], values: dict[str, float], counters: dict[str, float]) -> None:
    """Tasks of the group whose limit is nearest, else of the own one, and how many were refused."""
    if not groups:
        return
    known = [(tasks, group) for group in groups if (tasks := group.tasks) is not None]
    nearest = max(known, key=lambda one: one[0][0] / one[0][1], default=None)
    if nearest is None:
        _put(values, "processes", groups[0].number("pids.current"))
        return
    (there, limit), group = nearest
    values |= {"processes": there, "processes_limit": limit, "processes_share": there / limit}
    # Since Linux 6.12 a refusal counts where the limit is, before that in the group of the task that was refused.
    refused = group.keyed("pids.events.local") or groups[0].keyed("pids.events")
    _put(counters, "processes_refused_per_s", refused.get("max"))


def _disks(groups: list[Group], counters: dict[str, float]) -> dict[str, float]:
    """Limits of disks by "disk:<group>:<device>:<what>", and what each group did, added to the counters. A limit of a
    group around holds for all in it, so that the looser of two may be the nearer."""
    limits: dict[str, float] = {}
    for depth, group in enumerate(groups):
        own = disk_limits(group, is_own=depth == 0)
        limits |= {f"disk:{depth}:{key}": limit for key, limit in own.items()}
        if own:
            counters |= {f"disk:{depth}:{key}": count for key, count in disk_counters(group).items()}
    return limits


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


def _of_disks(rates: dict[str, float], limits: dict[str, float]) -> dict[str, float]:
    """The limit that is nearest to what was read or written, and the share of it that was used."""
    shares = {key: rates[key] / limit for key, limit in limits.items() if key in rates and limit > 0}
    nearest = max(shares, key=lambda key: shares[key], default=None)
    if nearest is None:
        return {}
    name = "disk_limit_bytes_per_s" if nearest.endswith("_bps") else "disk_limit_operations_per_s"
    return {"disk_limit_share": shares[nearest], name: limits[nearest]}
