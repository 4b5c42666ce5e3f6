"""The host that Plimsoll sees: CPU, memory, disks, and the kernel's own measure of waiting (pressure)."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from pathlib import Path

import psutil

from plimsoll.probes.probe import Clock, ProbeUnavailable, Rates

_PRESSURE = {"cpu": "cpu_pressure_share", "memory": "memory_pressure_share", "io": "io_pressure_share"}


class HostProbe:
    """Values: cpu_cores_used and cpu_share (of all cores; I/O wait is idle, steal is apart),
    cpu_user_share, cpu_system_share, cpu_iowait_share, cpu_steal_share; cpu_steal_worst_core_share (of the core from
    which the hypervisor took most); load_1m; memory_used_bytes,
    memory_available_bytes, swap_used_bytes; disk_read_bytes_per_s, disk_write_bytes_per_s, disk_busy_share (the busiest
    disk); context_switches_per_s; cpu_, memory_ and io_pressure_share (Linux PSI, "some": share of time that at least
    one task waited).

    `idle_work_s`: CPU seconds, so far, of processes that only keep a core from halting; they count as idle.
    """

    source = "host"

    def __init__(
        self,
        clock: Clock = time.monotonic,
        pressure: Path = Path("/proc/pressure"),
        idle_work_s: Callable[[], float] = lambda: 0.0,
    ) -> None:
        self._rates = Rates(clock)
        self._pressure = pressure
        self._idle_work_s = idle_work_s
        self._cores = psutil.cpu_count() or 1

    def take_notes(self) -> list[str]:
        """None: a host does not come and go."""
        return []

    def sample(self) -> dict[str, float]:
        """Values now; see the class."""
        try:
            counters = self._counters()
        except (OSError, psutil.Error, RuntimeError) as error:
            raise ProbeUnavailable(f"cannot read the host's counters: {error}. Check that /proc is mounted.") from error
        rates, _ = self._rates.update(counters)
        memory, swap = psutil.virtual_memory(), psutil.swap_memory()
        values = {
            "cores": float(self._cores),
            "memory_used_bytes": float(memory.total - memory.available),
            "memory_available_bytes": float(memory.available),
            "memory_share": (memory.total - memory.available) / memory.total,
            "swap_used_bytes": float(swap.used),
        }
        if hasattr(os, "getloadavg"):
            values["load_1m"] = os.getloadavg()[0]
        return values | self._cpu(rates) | self._others(rates)

    def _counters(self) -> dict[str, float]:
        times = psutil.cpu_times()
        counters = {f"cpu:{name}": getattr(times, name) for name in times._fields if not name.startswith("guest")}
        idle_work_s = self._idle_work_s()
        counters["cpu:user"] -= idle_work_s
        counters["cpu:idle"] += idle_work_s
        for core, core_times in enumerate(psutil.cpu_times(percpu=True)):
            if hasattr(core_times, "steal"):
                counters[f"steal:{core}"] = core_times.steal
        counters["context_switches_per_s"] = float(psutil.cpu_stats().ctx_switches)
        disks = psutil.disk_io_counters(perdisk=True) or {}
        total = psutil.disk_io_counters(perdisk=False)
        if total is not None:
            counters["disk_read_bytes_per_s"] = float(total.read_bytes)
            counters["disk_write_bytes_per_s"] = float(total.write_bytes)
        for name, disk in disks.items():
            if hasattr(disk, "busy_time"):
                counters[f"busy:{name}"] = disk.busy_time / 1000
        for kind, name in _PRESSURE.items():
            waited_s = self._pressure_s(kind)
            if waited_s is not None:
                counters[name] = waited_s
        return counters

    def _cpu(self, rates: dict[str, float]) -> dict[str, float]:
        """Shares of all CPU time; I/O wait counts as idle, steal is apart."""
        times = {name.removeprefix("cpu:"): rate for name, rate in rates.items() if name.startswith("cpu:")}
        whole = sum(times.values())
        if whole <= 0:
            return {}
        busy = whole - sum(times.get(name, 0.0) for name in ("idle", "iowait", "steal"))
        values = {
            "cpu_cores_used": busy / whole * self._cores,
            "cpu_share": busy / whole,
            "cpu_user_share": (times.get("user", 0.0) + times.get("nice", 0.0)) / whole,
            "cpu_system_share": (times.get("system", 0.0) + times.get("irq", 0.0) + times.get("softirq", 0.0)) / whole,
        }
        for name in ("iowait", "steal"):
            if name in times:
                values[f"cpu_{name}_share"] = times[name] / whole
        return values

    def _others(self, rates: dict[str, float]) -> dict[str, float]:
        values = {name: rate for name, rate in rates.items() if ":" not in name}
        stolen = [min(1.0, rate) for name, rate in rates.items() if name.startswith("steal:")]
        if stolen:
            values["cpu_steal_worst_core_share"] = max(stolen)
        busy = [min(1.0, rate) for name, rate in rates.items() if name.startswith("busy:")]
        if busy:
            values["disk_busy_share"] = max(busy)
        for name in _PRESSURE.values():
            if name in values:
                values[name] = min(1.0, values[name])
        return values

    def _pressure_s(self, kind: str) -> float | None:
        """Seconds since boot that some task waited for it; None where the kernel does not say."""
        try:
            first = (self._pressure / kind).read_text(encoding="ascii").splitlines()[0]
            return int(first.rpartition("total=")[2]) / 1e6
        except (OSError, ValueError, IndexError):
            return None
