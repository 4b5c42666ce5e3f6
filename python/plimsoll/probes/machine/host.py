"""The host that Plimsoll sees: CPU, memory, disks, and the kernel's own measure of waiting (pressure)."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import psutil

from plimsoll.probes.machine.host_values import core_values, cpu_values, disk_values, memory_values, pressure_values
from plimsoll.probes.probe import Clock, ProbeUnavailable, Rates

_PRESSURE = {"cpu": "cpu_pressure_share", "memory": "memory_pressure_share", "io": "io_pressure_share"}


class HostProbe:
    """Values: cores, cpu_cores_used and cpu_share (of all cores; I/O wait is idle, steal is apart), cpu_user_share,
    cpu_system_share, cpu_iowait_share, cpu_steal_share; cpu_busiest_core_share and core_<number>_share (of up to 32
    cores); cpu_steal_worst_core_share (of the core from which the hypervisor took most); load_1m; memory_used_bytes,
    memory_available_bytes, memory_share, swap_used_bytes, swap_in_ and swap_out_bytes_per_s; disk_read_bytes_per_s,
    disk_write_bytes_per_s (all disks), disk_busy_share, disk_read_ms, disk_write_ms (the busiest disk; mean of what
    ended), and disk_<device>_busy_share, _read_ms, _write_ms of each; context_switches_per_s; cpu_, memory_ and
    io_pressure_share (Linux PSI, "some": share of time that at least one task waited).

    `idle_work_s`: CPU seconds, so far, of processes that only keep a core from halting; they count as idle, and while
    they run, shares of single cores are not told.
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
            swap = psutil.swap_memory()
            counters = self._counters() | {
                "swap_in_bytes_per_s": float(swap.sin),
                "swap_out_bytes_per_s": float(swap.sout),
            }
        except (OSError, psutil.Error, RuntimeError) as error:
            raise ProbeUnavailable(f"cannot read the host's counters: {error}. Check that /proc is mounted.") from error
        rates, _ = self._rates.update(counters)
        if rates.get("idle_work"):  # which core they kept awake is not known
            rates = {name: rate for name, rate in rates.items() if not name.startswith("core:") or "steal" in name}
        memory = psutil.virtual_memory()
        values = {"cores": float(self._cores)}
        values |= memory_values(float(memory.total), float(memory.available), float(swap.used))
        if hasattr(os, "getloadavg"):
            values["load_1m"] = os.getloadavg()[0]
        plain = {name: rate for name, rate in rates.items() if ":" not in name and name != "idle_work"}
        return (
            values
            | cpu_values(rates, self._cores)
            | core_values(rates)
            | disk_values(rates)
            | plain
            | pressure_values(plain)
        )

    def _counters(self) -> dict[str, float]:
        times = psutil.cpu_times()
        counters = {f"cpu:{name}": getattr(times, name) for name in times._fields if not name.startswith("guest")}
        idle_work_s = self._idle_work_s()
        counters["cpu:user"] -= idle_work_s
        counters["cpu:idle"] += idle_work_s
        counters["idle_work"] = idle_work_s
        for core, core_times in enumerate(psutil.cpu_times(percpu=True)):
            for name in core_times._fields:
                if not name.startswith("guest"):
                    counters[f"core:{core}:{name}"] = getattr(core_times, name)
        counters["context_switches_per_s"] = float(psutil.cpu_stats().ctx_switches)
        for device, disk in (psutil.disk_io_counters(perdisk=True, nowrap=False) or {}).items():
            counters |= {f"disk:{device}:{what}": value for what, value in _disk(disk).items()}
        for kind, name in _PRESSURE.items():
            waited_s = self._pressure_s(kind)
            if waited_s is not None:
                counters[name] = waited_s
        return counters

    def _pressure_s(self, kind: str) -> float | None:
        """Seconds since boot that some task waited for it; None where the kernel does not say."""
        try:
            first = (self._pressure / kind).read_text(encoding="ascii").splitlines()[0]
            return int(first.rpartition("total=")[2]) / 1e6
        except (OSError, ValueError, IndexError):
            return None


def _disk(disk: Any) -> dict[str, float]:
    """Counters of a device; which there are depends on the system. psutil has times in ms."""
    counters = {
        "read_bytes": float(disk.read_bytes),
        "written_bytes": float(disk.write_bytes),
        "reads": float(disk.read_count),
        "writes": float(disk.write_count),
        "read_s": disk.read_time / 1000,
        "write_s": disk.write_time / 1000,
    }
    return counters | ({"busy_s": disk.busy_time / 1000} if hasattr(disk, "busy_time") else {})
