"""Facts about the machine that a run's manifest keeps, to judge its numbers by later. Never its name or address."""

from __future__ import annotations

import os
import platform
from pathlib import Path
from typing import Any


def machine_facts() -> dict[str, Any]:
    """Cores, CPU model, memory, kernel, limits of the container and of open files; None where unknown."""
    import psutil

    return {
        "cores": psutil.cpu_count(logical=True),
        "physical_cores": psutil.cpu_count(logical=False),
        "usable_cores": usable_cores(),
        "cpu_model": _cpu_model(),
        "memory_bytes": psutil.virtual_memory().total,
        "memory_limit_bytes": memory_limit_bytes(),
        "swap_bytes": psutil.swap_memory().total,
        "system": platform.system(),
        "kernel": platform.release(),
        "architecture": platform.machine(),
        "virtual": _is_virtual(),
        "open_files_limit": _open_files_limit(),
    }


def usable_cores(cgroup: Path = Path("/sys/fs/cgroup")) -> float:
    """Cores this process may use: the least of affinity and the container's CPU quota (cgroup 2, then 1)."""
    cores = float(len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1)
    quota, _, period = (_read(cgroup / "cpu.max") or "").partition(" ")
    if not quota:
        quota = _read(cgroup / "cpu/cpu.cfs_quota_us") or ""
        period = _read(cgroup / "cpu/cpu.cfs_period_us") or ""
    if quota.isdigit() and period.strip().isdigit() and int(period) > 0:
        cores = min(cores, int(quota) / int(period))
    return cores


def memory_limit_bytes(cgroup: Path = Path("/sys/fs/cgroup")) -> int | None:
    """The container's memory limit; None without one."""
    for name in ("memory.max", "memory/memory.limit_in_bytes"):
        text = _read(cgroup / name)
        if text and text.isdigit() and int(text) < 1 << 60:
            return int(text)
    return None


def _cpu_model() -> str | None:
    for line in (_read(Path("/proc/cpuinfo")) or "").splitlines():
        name, _, value = line.partition(":")
        if name.strip() in ("model name", "Model", "cpu model"):
            return value.strip()
    return platform.processor() or None


def _is_virtual() -> bool | None:
    text = _read(Path("/proc/cpuinfo"))
    return None if text is None else " hypervisor" in text


def _open_files_limit() -> int | None:
    try:
        import resource
    except ImportError:
        return None
    return resource.getrlimit(resource.RLIMIT_NOFILE)[0]


def _read(path: Path) -> str | None:
    try:
        return path.read_text(encoding="utf-8", errors="replace").strip()
    except OSError:
        return None
