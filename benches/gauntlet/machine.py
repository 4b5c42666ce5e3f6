"""What else happened on the machine: CPU that neither the target nor the generator took.

The busy time of the host less that of this process and its descendants is what others took: it matters only where
the bench could not put its own processes first (processes.prefer).
"""

from __future__ import annotations

import os
import resource
import time
from dataclasses import dataclass
from pathlib import Path

from processes import descendants, stats

TICKS_PER_S = os.sysconf("SC_CLK_TCK")


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
