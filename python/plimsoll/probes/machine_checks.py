"""What of this machine would limit or spoil a load: read once, judged without touching anything.

Each check says what was found, what it limits and the remedy. `spoils` means that a run's figures would be wrong or the
run would fail; `note` that they hold with the limit that is stated.
"""

from __future__ import annotations

import os
import shutil
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from plimsoll.runs.machine import memory_limit_bytes, usable_cores

State = Literal["ok", "note", "spoils"]
STEAL_WATCHED_S = 1.0
# A VU's memory as the engine reckons it for a script that states no maxVUs.
VU_BYTES = 256 << 10
MIB, GIB = 1 << 20, 1 << 30
# Read without a system call, in about 20 ns; hpet and acpi_pm take a microsecond and more for each of many readings.
QUICK_CLOCKS = ("tsc", "kvm-clock", "hyperv_clocksource_tsc_page", "xen", "arch_sys_counter")


@dataclass(frozen=True)
class Check:
    """One finding; `remedy` is empty where nothing has to be done."""

    name: str
    state: State
    found: str
    limits: str
    remedy: str = ""


@dataclass(frozen=True)
class Facts:
    """What was read; None where the system does not say. Shares are of 1."""

    open_files: int | None = None
    local_ports: int | None = None
    time_wait: int | None = None
    cores: float = 1.0
    host_cores: int = 1
    steal_share: float | None = None
    memory_limit_bytes: int | None = None
    available_bytes: int | None = None
    swap_used_bytes: int | None = None
    clock: str | None = None
    huge_pages: str | None = None
    runs_folder: Path = Path("runs")
    disk_free_bytes: int | None = None
    folder_is_writable: bool = True


def read_facts(runs: Path, root: Path = Path("/"), sleep: Callable[[float], None] = time.sleep) -> Facts:
    """Reads /proc and /sys under `root` and the folder of runs; takes STEAL_WATCHED_S to see steal."""
    memory = {name: int(value.split()[0]) << 10 for name, value in _pairs(root / "proc/meminfo") if value.split()}
    ports = _text(root / "proc/sys/net/ipv4/ip_local_port_range").split()
    sockets = _text(root / "proc/net/sockstat").split()
    folder = next((path for path in (runs, *runs.absolute().parents) if path.is_dir()), Path("."))
    before = _cpu_times(root)
    sleep(STEAL_WATCHED_S)
    after = _cpu_times(root)
    huge = _text(root / "sys/kernel/mm/transparent_hugepage/enabled")
    swap = memory.get("SwapTotal", 0) - memory.get("SwapFree", 0)
    return Facts(
        open_files=_open_files(),
        local_ports=int(ports[1]) - int(ports[0]) + 1 if len(ports) == 2 else None,
        time_wait=int(sockets[sockets.index("tw") + 1]) if "tw" in sockets[:-1] else None,
        cores=usable_cores(root),
        host_cores=os.cpu_count() or 1,
        steal_share=_steal_share(before, after),
        memory_limit_bytes=memory_limit_bytes(root),
        available_bytes=memory.get("MemAvailable"),
        swap_used_bytes=swap if "SwapTotal" in memory else None,
        clock=_text(root / "sys/devices/system/clocksource/clocksource0/current_clocksource").strip() or None,
        huge_pages=huge.partition("[")[2].partition("]")[0] or None,
        runs_folder=runs,
        disk_free_bytes=shutil.disk_usage(folder).free,
        folder_is_writable=os.access(folder, os.W_OK),
    )


def judge(facts: Facts) -> list[Check]:
    """Every check whose fact is known, in the order in which they are worth reading."""
    return [*_sockets(facts), *_processors(facts), *_memory(facts), *_rest(facts)]


def _sockets(facts: Facts) -> Iterator[Check]:
    if facts.open_files is not None:
        state: State = "spoils" if facts.open_files < 1024 else "note" if facts.open_files < 10_000 else "ok"
        limits = f"a connection each: about {facts.open_files // 5 * 4:,} VUs"
        yield _check("open files", state, f"{facts.open_files:,} at most", limits, "ulimit -Hn 65536, or LimitNOFILE=")
    if facts.local_ports is not None:
        state = "spoils" if facts.local_ports < 1000 else "note" if facts.local_ports < 20_000 else "ok"
        limits = f"connections to one address of the target: about {facts.local_ports // 5 * 4:,}"
        remedy = "sysctl -w net.ipv4.ip_local_port_range='1024 65535'"
        yield _check("local ports", state, f"{facts.local_ports:,}", limits, remedy)
    if facts.time_wait is not None:
        used = facts.time_wait / (facts.local_ports or 28_000)
        state = "spoils" if used > 0.5 else "note" if used > 0.2 else "ok"
        remedy = "wait a minute, keep connections open between requests, or sysctl -w net.ipv4.tcp_tw_reuse=1"
        limits = "ports that an ended connection still holds"
        yield _check("TIME_WAIT", state, f"{facts.time_wait:,}, {used:.0%} of the local ports", limits, remedy)


def _processors(facts: Facts) -> Iterator[Check]:
    remedy = "give the generator a machine or cores of its own"
    state: State = "note" if facts.cores < 2 else "ok"
    found = f"{facts.cores:g} of {facts.host_cores}"
    yield _check("cores", state, found, "what the generator and a target on this machine share", remedy)
    if facts.cores < min(1.0, facts.host_cores):
        limits = "every burst is held up when the quota of its period is used up"
        yield Check(
            "CPU quota", "spoils", f"{facts.cores:g} cores", limits, "give the container at least one whole core."
        )
    if facts.steal_share is not None:
        state = "spoils" if facts.steal_share > 0.05 else "note" if facts.steal_share > 0.01 else "ok"
        remedy = "move to a quieter host, or a machine with cores of its own"
        limits = "response times: the hypervisor takes the processor away"
        yield _check("steal", state, f"{facts.steal_share:.1%} within {STEAL_WATCHED_S:g} s", limits, remedy)
    if facts.clock is not None:
        state = "ok" if facts.clock in QUICK_CLOCKS else "spoils"
        remedy = "choose tsc, where the kernel trusts it: clocksource=tsc, or another machine"
        yield _check("clock", state, facts.clock, "what reading the time costs, several times per request", remedy)


def _memory(facts: Facts) -> Iterator[Check]:
    if facts.available_bytes is not None:
        free = min(facts.available_bytes, facts.memory_limit_bytes or facts.available_bytes)
        state: State = "spoils" if free < 256 * MIB else "note" if free < GIB else "ok"
        limits = f"about {free // 2 // VU_BYTES:,} VUs on half of it"
        yield _check("free memory", state, f"{free / GIB:.1f} GiB", limits, "stop what is not needed, or use fewer VUs")
    if facts.memory_limit_bytes is not None:
        found = f"{facts.memory_limit_bytes / GIB:.1f} GiB"
        yield Check("memory limit", "note", found, "the container is killed when it is passed")
    if facts.swap_used_bytes is not None:
        swaps = facts.swap_used_bytes > 64 * MIB
        scarce = swaps and (facts.available_bytes or 0) < GIB
        state = "spoils" if scarce else "note" if swaps else "ok"
        found = f"{facts.swap_used_bytes / MIB:.0f} MiB in use"
        yield _check("swap", state, found, "a page that must come back stops the thread", "swapoff -a, or free memory")


def _rest(facts: Facts) -> Iterator[Check]:
    if facts.disk_free_bytes is not None:
        free = facts.disk_free_bytes
        bad = free < 100 * MIB or not facts.folder_is_writable
        state: State = "spoils" if bad else "note" if free < GIB else "ok"
        found = f"{free / GIB:.1f} GiB free" if facts.folder_is_writable else "cannot be written"
        limits = f"what a run keeps in {facts.runs_folder}; raw samples take about 3 KiB per request"
        yield _check("disk", state, found, limits, "free some, or choose another folder with --runs")
    if facts.huge_pages is not None:
        yield Check("huge pages", "ok", facts.huge_pages, "nothing: the generator turns them off for itself")


def _check(name: str, state: State, found: str, limits: str, remedy: str) -> Check:
    return Check(name, state, found, limits, "" if state == "ok" else f"{remedy[0].upper()}{remedy[1:]}.")


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="ascii", errors="replace")
    except OSError:
        return ""


def _pairs(path: Path) -> Iterator[tuple[str, str]]:
    for line in _text(path).splitlines():
        name, colon, value = line.partition(":")
        if colon:
            yield name, value


def _cpu_times(root: Path) -> list[int]:
    """User, nice, system, idle, iowait, irq, softirq, steal in ticks, over all cores."""
    first = _text(root / "proc/stat").partition("\n")[0].split()
    return [int(ticks) for ticks in first[1:9]] if first[:1] == ["cpu"] else []


def _steal_share(before: list[int], after: list[int]) -> float | None:
    whole = sum(after) - sum(before)
    return (after[7] - before[7]) / whole if len(after) == len(before) == 8 and whole > 0 else None


def _open_files() -> int | None:
    """The hard limit, up to which the engine raises the soft one."""
    try:
        import resource
    except ImportError:
        return None
    return resource.getrlimit(resource.RLIMIT_NOFILE)[1]
