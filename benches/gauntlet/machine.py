"""What else happened on the machine: how fast its cores are, and CPU that neither the target nor the generator took.

A drift of the host's speed must be visible: a loop of fixed work is timed on each core before and after each trial.
The busy time of the host less that of this process and its descendants is what others took: it matters only where
the bench could not put its own processes first (processes.prefer).
"""

from __future__ import annotations

import os
import resource
import time
from dataclasses import dataclass
from pathlib import Path

from processes import GENERATOR_CORES, TARGET_CORES, descendants, on_cores, stats

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
    """Seconds of CPU up to a moment: of the host, stolen, of our own processes, of ended generators among them."""

    at_s: float
    busy_s: float
    stolen_s: float
    own_s: float
    generator_s: float


def usage() -> Usage:
    """Now."""
    fields = [int(field) / TICKS_PER_S for field in Path("/proc/stat").read_text().split("\n", 1)[0].split()[1:9]]
    user, nice, system, _idle, _wait, _irq, _soft, stolen = fields  # interrupts of loopback are booked on no process
    ended = resource.getrusage(resource.RUSAGE_CHILDREN)
    busy = user + nice + system
    return Usage(time.monotonic(), busy, stolen, _own_s(), ended.ru_utime + ended.ru_stime)


def between(before: Usage, after: Usage) -> dict[str, float]:
    """Mean cores in use by others, stolen, by the product, and by the generator, which ended in between."""
    seconds = max(1e-9, after.at_s - before.at_s)
    generator, own = after.generator_s - before.generator_s, after.own_s - before.own_s
    shares = {
        "foreign_cores": after.busy_s - before.busy_s - own,
        "stolen_cores": after.stolen_s - before.stolen_s,
        "target_cores": own - generator,
        "generator_cores": generator,
    }
    return {name: round(spent / seconds, 3) for name, spent in shares.items()}


def _own_s() -> float:
    """CPU of this process and its descendants, ended children that were waited for included."""
    spent = {number: sum(int(field) for field in fields[11:15]) / TICKS_PER_S for number, fields in stats()}
    return sum(spent.get(number, 0.0) for number in descendants())
