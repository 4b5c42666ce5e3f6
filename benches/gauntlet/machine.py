"""What else happened on the machine: how fast its cores are, and CPU that neither the target nor the generator took.

A drift of the host's speed must be visible: a loop of fixed work is timed on each core before and after each trial.
The busy time of the host less that of this process and its descendants is what others took.
"""

from __future__ import annotations

import os
import time
from dataclasses import dataclass
from pathlib import Path

from processes import GENERATOR_CORES, TARGET_CORES, on_cores

LOOPS, ROUNDS = 5, 150_000
TICKS_PER_S = os.sysconf("SC_CLK_TCK")


def speeds() -> dict[str, float]:
    """Rounds of fixed work per microsecond of CPU, best of LOOPS, on the target's and the generator's cores."""
    found = {}
    for name, cores in (("target", TARGET_CORES), ("generator", GENERATOR_CORES)):
        with on_cores(cores):
            found[name] = round(ROUNDS / (1e6 * min(_timed() for _ in range(LOOPS))), 3)
    return found


def _timed() -> float:
    began, total = time.thread_time(), 0
    for number in range(ROUNDS):
        total += number & 7
    return time.thread_time() - began


@dataclass(frozen=True)
class Usage:
    """Seconds of CPU since the start of each, at a moment: of the host, stolen, of our own processes, the cores."""

    at_s: float
    busy_s: float
    stolen_s: float
    own_s: float
    target_cores_s: float
    generator_cores_s: float


def usage() -> Usage:
    """Now."""
    busy, stolen = 0.0, 0.0
    cores: dict[int, float] = {}
    for line in Path("/proc/stat").read_text().splitlines():
        name, *fields = line.split()
        if not name.startswith("cpu") or name == "cpu":
            continue
        user, nice, system, _idle, _wait, irq, soft, steal = (int(field) / TICKS_PER_S for field in fields[:8])
        cores[int(name[3:])] = user + nice + system + irq + soft
        busy += user + nice + system  # interrupts of the loopback interface are booked on no process
        stolen += steal
    of = {name: sum(cores.get(core, 0.0) for core in some) for name, some in _CORES.items()}
    return Usage(time.monotonic(), busy, stolen, _own_s(), of["target"], of["generator"])


_CORES = {"target": TARGET_CORES, "generator": GENERATOR_CORES}


def between(before: Usage, after: Usage) -> dict[str, float]:
    """Mean cores in use by others, stolen, and on the target's and generator's cores."""
    seconds = max(1e-9, after.at_s - before.at_s)
    foreign = (after.busy_s - before.busy_s) - (after.own_s - before.own_s)
    return {
        "foreign_cores": round(foreign / seconds, 3),
        "stolen_cores": round((after.stolen_s - before.stolen_s) / seconds, 3),
        "target_core_share": round((after.target_cores_s - before.target_cores_s) / seconds, 3),
        "generator_core_share": round((after.generator_cores_s - before.generator_cores_s) / seconds, 3),
    }


def _own_s() -> float:
    """CPU of this process and its descendants, ended children that were waited for included."""
    spent: dict[int, float] = {}
    parents: dict[int, int] = {}
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = stat.read_text().rpartition(")")[2].split()
        except OSError:
            continue
        number = int(stat.parent.name)
        parents[number] = int(fields[1])
        spent[number] = sum(int(field) for field in fields[11:15]) / TICKS_PER_S
    children: dict[int, list[int]] = {}
    for number, parent in parents.items():
        children.setdefault(parent, []).append(number)
    todo, total = [os.getpid()], 0.0
    while todo:
        number = todo.pop()
        total += spent.get(number, 0.0)
        todo += children.get(number, [])
    return total
