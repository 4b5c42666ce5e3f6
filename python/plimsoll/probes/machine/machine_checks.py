"""What of this machine would limit or spoil a load: read once, judged without touching anything.

Each check says what was found, what it limits and the remedy. `spoils` means that a run's figures would be wrong or the
run would fail; `note` that they hold with the limit that is stated.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from plimsoll.probes.machine import kernel_files, remedies
from plimsoll.probes.machine.vu_runtimes import COST, FOUND, REMEDY, VuRuntimes
from plimsoll.runs.kept.catalogue import size_of
from plimsoll.runs.kept.unfinished import unfinished_bytes
from plimsoll.runs.machine import cpu_quota_cores, memory_limit_bytes, usable_cores
from plimsoll.runs.space import FLOOR_BYTES, TYPICAL_BYTES_PER_S, free_bytes
from plimsoll.words import share_words, size_words, time_words

State = Literal["ok", "note", "spoils"]
WATCHED_S = 1.0
# A VU's stack is a memory map with its guard page.
MAPS_PER_VU = 2
# A VU's memory as the engine reckons it for a script that states no maxVUs.
VU_BYTES = 128 << 10
MIB, GIB = 1 << 20, 1 << 30
# Read without a system call, in about 20 ns; hpet and acpi_pm take a microsecond and more for each of many readings.
QUICK_CLOCKS = ("tsc", "kvm-clock", "hyperv_clocksource_tsc_page", "xen", "arch_sys_counter")
_NO_LIMIT = "this limits nothing"


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
    time_wait_reuse: int | None = None
    tracked_connections: int | None = None
    most_tracked_connections: int | None = None
    cores: float = 1.0
    host_cores: int = 1
    quota_cores: float | None = None
    busy_share: float | None = None
    busiest: str | None = None
    steal_share: float | None = None
    governors: tuple[str, ...] = ()
    memory_maps: int | None = None
    memory_limit_bytes: int | None = None
    available_bytes: int | None = None
    swap_used_bytes: int | None = None
    clock: str | None = None
    huge_pages: str | None = None
    runs_folder: Path = Path("runs")
    disk_free_bytes: int | None = None
    runs_bytes: int = 0
    unfinished_bytes: int = 0  # of these, what interrupted deletions and imports left
    folder_is_writable: bool = True
    vu_runtimes: VuRuntimes | None = None  # asked of the engine by the caller


def read_facts(runs: Path, root: Path = Path("/"), sleep: Callable[[float], None] = time.sleep) -> Facts:
    """Reads /proc and /sys under `root` and the folder of runs; takes WATCHED_S to see what else works here."""
    memory = kernel_files.memory_bytes(root)
    ports = kernel_files.local_port_range(root)
    folder = next((path for path in (runs, *runs.absolute().parents) if os.path.isdir(path)), Path("."))
    before, worked_before = kernel_files.cpu_ticks(root), kernel_files.ticks_by_process(root)
    sleep(WATCHED_S)
    after, worked = kernel_files.cpu_ticks(root), kernel_files.ticks_by_process(root)
    huge = kernel_files.text(root / "sys/kernel/mm/transparent_hugepage/enabled")
    clock = kernel_files.text(root / "sys/devices/system/clocksource/clocksource0/current_clocksource").strip()
    swap = memory.get("SwapTotal", 0) - memory.get("SwapFree", 0)
    governors = root.glob("sys/devices/system/cpu/cpu*/cpufreq/scaling_governor")
    return Facts(
        open_files=kernel_files.open_files_limit(hard=True),
        local_ports=ports[1] - ports[0] + 1 if ports else None,
        time_wait=kernel_files.tcp_sockets(root).get("tw"),
        time_wait_reuse=_number(root / "proc/sys/net/ipv4/tcp_tw_reuse"),
        tracked_connections=_number(root / "proc/sys/net/netfilter/nf_conntrack_count"),
        most_tracked_connections=_number(root / "proc/sys/net/netfilter/nf_conntrack_max"),
        cores=usable_cores(root),
        host_cores=os.cpu_count() or 1,
        quota_cores=cpu_quota_cores(root),
        busy_share=kernel_files.busy_share(before, after),
        busiest=kernel_files.busiest_process(worked_before, worked),
        steal_share=kernel_files.steal_share(before, after),
        governors=tuple(sorted({kernel_files.text(path).strip() for path in governors})),
        memory_maps=_number(root / "proc/sys/vm/max_map_count"),
        memory_limit_bytes=memory_limit_bytes(root),
        available_bytes=memory.get("MemAvailable"),
        swap_used_bytes=swap if "SwapTotal" in memory else None,
        clock=clock or None,
        huge_pages=huge.partition("[")[2].partition("]")[0] or None,
        runs_folder=runs,
        disk_free_bytes=free_bytes(runs),
        runs_bytes=size_of(runs),
        unfinished_bytes=unfinished_bytes(runs),
        folder_is_writable=os.access(folder, os.W_OK),
    )


def judge(facts: Facts) -> list[Check]:
    """Every check whose fact is known, in the order in which they are worth reading."""
    return [*_sockets(facts), *_processors(facts), *_other_load(facts), *_memory(facts), *_rest(facts), *_engine(facts)]


def _sockets(facts: Facts) -> Iterator[Check]:
    if facts.open_files is not None:
        state: State = "spoils" if facts.open_files < 1024 else "note" if facts.open_files < 10_000 else "ok"
        limits = f"a connection each: about {facts.open_files // 5 * 4:,} VUs"
        yield _check("open files", state, f"{facts.open_files:,} at most", limits, remedies.OPEN_FILES)
    if facts.local_ports is not None:
        state = "spoils" if facts.local_ports < 1000 else "note" if facts.local_ports < 20_000 else "ok"
        limits = f"connections to one address of the target: about {facts.local_ports // 5 * 4:,}"
        yield _check("local ports", state, f"{facts.local_ports:,}", limits, remedies.LOCAL_PORTS)
    if facts.time_wait is not None:
        used = facts.time_wait / (facts.local_ports or 28_000)
        state = "spoils" if used > 0.5 else "note" if used > 0.2 else "ok"
        found = f"{facts.time_wait:,} sockets, {share_words(used)} of the local ports"
        yield _check("TIME_WAIT", state, found, "ports that an ended connection still holds", remedies.TIME_WAIT)
    if facts.time_wait_reuse is not None:
        words = {0: "never", 1: "after a second", 2: "after a second, on loopback only"}
        per_s = (facts.local_ports or 28_000) // 60
        limits = f"new connections to one address, where each request makes one: about {per_s:,} per second"
        limits = "no limit of connections per second" if facts.time_wait_reuse == 1 else limits
        found = words.get(facts.time_wait_reuse, str(facts.time_wait_reuse))
        yield Check("port reuse", "ok", found, limits)
    if facts.tracked_connections is not None and facts.most_tracked_connections:
        most = facts.most_tracked_connections
        state = "spoils" if facts.tracked_connections > 0.8 * most else "note" if most < 65_536 else "ok"
        limits = "packets of further connections are dropped by the firewall"
        remedy = "Raise it: sysctl -w net.netfilter.nf_conntrack_max=262144."
        yield _check("tracking", state, f"{facts.tracked_connections:,} of {most:,} connections", limits, remedy)


def _processors(facts: Facts) -> Iterator[Check]:
    state: State = "note" if facts.cores < 2 else "ok"
    found = f"{facts.cores:g} of {facts.host_cores}"
    limits = "what the generator and a target on this machine share"
    yield _check("cores", state, found, limits, "Give the generator a machine or cores of its own.")
    if facts.quota_cores is not None:
        state = "spoils" if facts.quota_cores < 1 else "note"
        limits = "every burst is held up when the quota of its period is used up"
        yield _check("CPU quota", state, f"{facts.quota_cores:g} cores", limits, remedies.QUOTA)
    if facts.governors:
        state = "ok" if facts.governors == ("performance",) else "note"
        limits = "the clock rate follows the load: the same work takes longer when little is to be done"
        remedy = "Set it for the test: cpupower frequency-set -g performance."
        yield _check("governor", state, ", ".join(facts.governors), limits if state != "ok" else _NO_LIMIT, remedy)
    if facts.clock is not None:
        state = "ok" if facts.clock in QUICK_CLOCKS else "spoils"
        remedy = "Choose tsc, where the kernel trusts it (clocksource=tsc), or another machine."
        yield _check("clock", state, facts.clock, "what reading the time costs, several times per request", remedy)


def _other_load(facts: Facts) -> Iterator[Check]:
    if facts.busy_share is not None:
        state: State = "spoils" if facts.busy_share > 0.5 else "note" if facts.busy_share > 0.1 else "ok"
        mostly = f", mostly {facts.busiest}" if facts.busiest and state != "ok" else ""
        found = f"{share_words(facts.busy_share)} of all cores within {WATCHED_S:g} s{mostly}"
        yield _check("other work", state, found, "the cores that are left for a load", remedies.OWN_CORES)
    if facts.steal_share is not None:
        state = "spoils" if facts.steal_share > 0.05 else "note" if facts.steal_share > 0.01 else "ok"
        limits = "response times: the hypervisor takes the processor away"
        yield _check("steal", state, f"{share_words(facts.steal_share)} within {WATCHED_S:g} s", limits, remedies.STEAL)


def _memory(facts: Facts) -> Iterator[Check]:
    if facts.available_bytes is not None:
        free = min(facts.available_bytes, facts.memory_limit_bytes or facts.available_bytes)
        state: State = "spoils" if free < 256 * MIB else "note" if free < GIB else "ok"
        limits = f"about {free // 2 // VU_BYTES:,} VUs on half of it"
        yield _check("free memory", state, size_words(free), limits, remedies.MEMORY)
    if facts.memory_limit_bytes is not None:
        found = size_words(facts.memory_limit_bytes)
        yield Check("memory limit", "note", found, "the container is killed when it is passed")
    if facts.swap_used_bytes is not None:
        swaps = facts.swap_used_bytes > 64 * MIB
        scarce = swaps and (facts.available_bytes or 0) < GIB
        state = "spoils" if scarce else "note" if swaps else "ok"
        found = f"{size_words(facts.swap_used_bytes)} in use"
        remedy = "Turn it off (swapoff -a), or free memory."
        yield _check("swap", state, found, "a page that must come back stops the thread", remedy)
    if facts.memory_maps is not None:
        vus = facts.memory_maps // MAPS_PER_VU
        state = "note" if vus < 20_000 else "ok"
        remedy = "Raise it: sysctl -w vm.max_map_count=262144."
        yield _check("memory maps", state, f"{facts.memory_maps:,}", f"a stack for each of about {vus:,} VUs", remedy)


def _rest(facts: Facts) -> Iterator[Check]:
    if facts.disk_free_bytes is not None:
        free = facts.disk_free_bytes
        bad = free < FLOOR_BYTES or not facts.folder_is_writable
        state: State = "spoils" if bad else "note" if free < GIB else "ok"
        found = f"{size_words(free)} free" if facts.folder_is_writable else "cannot be written"
        found += f", {size_words(facts.runs_bytes)} in {facts.runs_folder}" if facts.runs_bytes else ""
        left = facts.unfinished_bytes
        found += (
            f" ({size_words(left)} of it left by interrupted deletions; `plimsoll runs prune` removes it)"
            if left
            else ""
        )
        lasts_s = max(0.0, free - FLOOR_BYTES) / TYPICAL_BYTES_PER_S
        limits = f"what runs keep: about {time_words(lasts_s)} of load; raw samples take about 3 KiB per request"
        yield _check(
            "disk", state, found, limits, "Free some (plimsoll runs prune), or choose another folder with --runs."
        )
    if facts.huge_pages is not None:
        yield Check("huge pages", "ok", facts.huge_pages, f"{_NO_LIMIT}: the generator turns them off for itself")


def _engine(facts: Facts) -> Iterator[Check]:
    if facts.vu_runtimes is not None:
        state: State = "ok" if facts.vu_runtimes == "shared" else "note"
        limits = f"memory: {COST}" if state != "ok" else _NO_LIMIT
        yield _check("runtimes", state, FOUND[facts.vu_runtimes], limits, REMEDY[facts.vu_runtimes])


def _check(name: str, state: State, found: str, limits: str, remedy: str) -> Check:
    return Check(name, state, found, limits, "" if state == "ok" else remedy)


def _number(path: Path) -> int | None:
    digits = kernel_files.text(path).strip()
    return int(digits) if digits.isdigit() else None
