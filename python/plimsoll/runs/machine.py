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


def usable_cores(root: Path = Path("/")) -> float:
    """Cores this process may use: the least of affinity and the CPU quotas of its cgroups."""
    cores = float(len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1)
    return min(cores, cpu_quota_cores(root) or cores)


def cpu_quota_cores(root: Path = Path("/")) -> float | None:
    """The least CPU quota of this process' cgroups, in cores; None without one."""
    found = []
    for folder in cgroup_folders("cpu", root):
        quota, _, period = (_read(folder / "cpu.max") or "").partition(" ")
        if not quota:
            quota = _read(folder / "cpu.cfs_quota_us") or ""
            period = _read(folder / "cpu.cfs_period_us") or ""
        if quota.isdigit() and period.isdigit() and int(period) > 0:
            found.append(int(quota) / int(period))
    return min(found, default=None)


def memory_limit_bytes(root: Path = Path("/")) -> int | None:
    """The least memory limit of this process' cgroups; None without one."""
    limits = [limit for limit, _ in memory_limits(root)]
    return min(limits, default=None)


def memory_limits(root: Path = Path("/")) -> list[tuple[int, int]]:
    """Limit and use in bytes of each of this process' cgroups that has a memory limit; what the kernel would give back
    first, pages of files that nobody used lately, is no use."""
    found = []
    for folder in cgroup_folders("memory", root):
        limit = _read(folder / "memory.max") or _read(folder / "memory.limit_in_bytes") or ""
        used = _read(folder / "memory.current") or _read(folder / "memory.usage_in_bytes") or ""
        if limit.isdigit() and int(limit) < 1 << 60:
            found.append((int(limit), max(0, int(used) - _idle_file_bytes(folder)) if used.isdigit() else 0))
    return found


def _idle_file_bytes(folder: Path) -> int:
    stat = dict(line.split()[:2] for line in (_read(folder / "memory.stat") or "").splitlines() if " " in line)
    return int(stat.get("total_inactive_file") or stat.get("inactive_file") or 0)


def cgroup_folders(controller: str, root: Path = Path("/"), process: str | int = "self") -> list[Path]:
    """The folders of the process' cgroup and of those around it, innermost first (cgroup 2, else 1; cgroups(7)).

    In a container that does not show the path it is the top one, which is the container's own. Empty where the process'
    cgroup cannot be seen from here, as it lies in another cgroup namespace ("/../other") or in another container: the
    top one is then this process' own and not its.
    """
    top, inner = _cgroup_place(controller, root, process)
    is_own = process == "self"
    if ".." in Path(inner).parts or inner.endswith(" (deleted)") or not (inner or is_own):
        return []
    below = top / inner.lstrip("/")
    if not is_own and not below.is_dir():
        own = Path(_cgroup_place(controller, root, "self")[1])
        if not Path(inner).is_relative_to(own):
            return []
        below = top / Path(inner).relative_to(own)
    folders = [below, *below.parents][: len(below.parts) - len(top.parts) + 1]
    return [folder for folder in folders if folder.is_dir()]


def _cgroup_place(controller: str, root: Path, process: str | int) -> tuple[Path, str]:
    """(top of the hierarchy, the path below it that the kernel tells)."""
    top, inner = root / "sys/fs/cgroup", ""
    for line in (_read(root / f"proc/{process}/cgroup") or "").splitlines():
        number, _, rest = line.partition(":")
        controllers, _, path = rest.partition(":")
        if controller in controllers.split(","):
            top, inner = root / "sys/fs/cgroup" / controller, path
            break
        if number == "0":
            inner = path
    return (top if top.is_dir() else root / "sys/fs/cgroup"), inner


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
