"""What a host's counters say, the same for this host (host.py) and for another whose metrics are read (prometheus/).

Counters are named by kind: "cpu:<mode>" in CPU seconds over all cores, "core:<core>:<mode>" of one core,
"disk:<device>:<what>", others by the name of their rate.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

IDLE = ("idle", "iowait")
_MOST_CORES = 32
# Parts of disks, and devices made of others, whose bytes would count twice.
_NO_WHOLE_DISK = re.compile(r"^(loop|ram|zram|dm-|md|sr|fd)\d*|^(sd|vd|xvd|hd)[a-z]+\d+$|^(nvme\d+n\d+|mmcblk\d+)p\d+$")
_LOOPBACK = re.compile(r"^(lo|lo0|Loopback Pseudo-Interface 1)$")


def is_whole_disk(device: str) -> bool:
    """Whether it is a disk and neither a part of one nor made of others."""
    return not _NO_WHOLE_DISK.match(device)


def is_loopback(interface: str) -> bool:
    """Whether what it carries stays on the host."""
    return bool(_LOOPBACK.match(interface))


def cpu_values(rates: Mapping[str, float], cores: float) -> dict[str, float]:
    """Shares of all CPU time from the rates of "cpu:…"; I/O wait counts as idle, steal is apart."""
    times = {name.removeprefix("cpu:"): rate for name, rate in rates.items() if name.startswith("cpu:")}
    whole = sum(times.values())
    if whole <= 0 or "idle" not in times:
        return {}
    busy = max(0.0, whole - sum(times.get(name, 0.0) for name in (*IDLE, "steal")))
    values = {
        "cpu_cores_used": busy / whole * cores,
        "cpu_share": busy / whole,
        "cpu_user_share": (times.get("user", 0.0) + times.get("nice", 0.0)) / whole,
        "cpu_system_share": (times.get("system", 0.0) + times.get("irq", 0.0) + times.get("softirq", 0.0)) / whole,
    }
    for name in ("iowait", "steal"):
        if name in times:
            values[f"cpu_{name}_share"] = times[name] / whole
    return values


def core_values(rates: Mapping[str, float]) -> dict[str, float]:
    """Of each core its busy share (at most 32 of them), the busiest, and the one most was stolen from, from the rates
    of "core:…"."""
    cores: dict[str, dict[str, float]] = {}
    for name, rate in rates.items():
        if name.startswith("core:"):
            _, core, mode = name.split(":", 2)
            cores.setdefault(core, {})[mode] = rate
    busy, stolen = {}, []
    for core, times in cores.items():
        if "steal" in times:
            stolen.append(min(1.0, times["steal"]))
        whole = sum(times.values())
        if whole > 0 and "idle" in times:
            rest = times["idle"] + times.get("iowait", 0.0) + times.get("steal", 0.0)
            busy[core] = max(0.0, 1.0 - rest / whole)
    values = {}
    if stolen:
        values["cpu_steal_worst_core_share"] = max(stolen)
    if busy:
        values["cpu_busiest_core_share"] = max(busy.values())
        if len(busy) <= _MOST_CORES:
            values |= {f"core_{core}_share": share for core, share in busy.items()}
    return values


def disk_values(rates: Mapping[str, float]) -> dict[str, float]:
    """Bytes per second over all disks, the busiest disk's share of time at work and its mean latencies, from the rates
    of "disk:<device>:" read_bytes, written_bytes, busy_s, reads, writes, read_s, write_s."""
    disks: dict[str, dict[str, float]] = {}
    for name, rate in rates.items():
        if name.startswith("disk:"):
            device, _, what = name.removeprefix("disk:").rpartition(":")
            disks.setdefault(device, {})[what] = rate
    if not disks:
        return {}
    values: dict[str, float] = {}
    whole = [seen for device, seen in disks.items() if is_whole_disk(device)]
    for what, name in (("read_bytes", "disk_read_bytes_per_s"), ("written_bytes", "disk_write_bytes_per_s")):
        known = [seen[what] for seen in whole if what in seen]
        if known:
            values[name] = sum(known)
    busy = {device: min(1.0, seen["busy_s"]) for device, seen in disks.items() if "busy_s" in seen}
    if busy:
        busiest = max(busy, key=lambda device: busy[device])
        values["disk_busy_share"] = busy[busiest]
        values |= _latencies("disk", disks[busiest])
    for device, seen in disks.items():
        if device in busy and is_whole_disk(device) and len(whole) <= _MOST_CORES:
            values[f"disk_{device}_busy_share"] = busy[device]
            values |= _latencies(f"disk_{device}", seen)
    return values


def _latencies(name: str, seen: Mapping[str, float]) -> dict[str, float]:
    """Mean ms of a read and a write that ended, waiting in the queue included; absent where none ended."""
    values = {}
    for what, seconds, count in (("read", "read_s", "reads"), ("write", "write_s", "writes")):
        if seen.get(count, 0.0) > 0 and seconds in seen:
            values[f"{name}_{what}_ms"] = 1000.0 * seen[seconds] / seen[count]
    return values


def pressure_values(rates: Mapping[str, float]) -> dict[str, float]:
    """cpu_, memory_ and io_pressure_share, at most 1, from rates of those names."""
    return {name: min(1.0, rate) for name, rate in rates.items() if name.endswith("_pressure_share")}


def memory_values(total_bytes: float, available_bytes: float, swap_used_bytes: float | None) -> dict[str, float]:
    """Used, available and share; what the kernel would give back at once is available."""
    values = {
        "memory_used_bytes": total_bytes - available_bytes,
        "memory_available_bytes": available_bytes,
        "memory_share": (total_bytes - available_bytes) / total_bytes,
    }
    if swap_used_bytes is not None:
        values["swap_used_bytes"] = swap_used_bytes
    return values
