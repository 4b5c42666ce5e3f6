"""What else happened on the machine: how fast the target's core is, and CPU that neither the target nor the generator
took.

A virtual machine's cores are a tenth and more slower or faster from one minute to the next, and what a product carries
with them. So the bench measures the speed of the target's core in each second of a run of Plimsoll and of a truth
trial, by Plimsoll's own probe of it (probes/core_speed.py), and compares the two under load.
The busy time of the host less that of this process and its descendants is what others took: it matters only where
the bench could not put its own processes first (processes.prefer).
"""

from __future__ import annotations

import json
import os
import resource
import subprocess
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean

import psutil
from processes import TARGET_CORES, descendants, on_cores, stats

from plimsoll.probes.core_speed import CoreSpeedProbe
from plimsoll.probes.probe import ProbeUnavailable
from plimsoll.study.models import ProcessSelector

LOADED = 0.7
TICKS_PER_S = os.sysconf("SC_CLK_TCK")


@contextmanager
def watched_speed() -> Iterator[list[tuple[float, float]]]:
    """(Unix time, speed of the target's cores) of each second while the block lasts."""
    seen: list[tuple[float, float]] = []
    ended = threading.Event()
    with on_cores(TARGET_CORES):
        there = subprocess.Popen(["sleep", "infinity"])  # stands for the target's cores
    probe = CoreSpeedProbe([ProcessSelector(pid=there.pid, label="cores")], lambda _: [psutil.Process(there.pid)])

    def watch() -> None:
        while not ended.wait(1):
            with suppress(ProbeUnavailable):
                values = probe.sample()
                if "work_per_cpu_s" in values:
                    seen.append((time.time(), values["work_per_cpu_s"]))

    thread = threading.Thread(target=watch)
    thread.start()
    try:
        yield seen
    finally:
        ended.set()
        thread.join()
        there.terminate()
        there.wait()


def loaded_speed(events: Path, level: float | None, seen: Sequence[tuple[float, float]]) -> float | None:
    """Mean speed in those steps of a run that held 0.7 times `level` or more; None if unknown. `events` of the run;
    `seen`: (Unix time, speed) of each second."""
    if level is None or not events.exists():
        return None
    held = []
    for line in events.read_text().splitlines():
        one = json.loads(line)
        if one["kind"] == "step_ended" and one["level"] >= LOADED * level:
            held.append((one["t_unix"] - (one["end_s"] - one["measured_from_s"]), one["t_unix"]))
    speeds = [speed for at, speed in seen if any(began < at <= ended for began, ended in held)]
    return round(fmean(speeds), 1) if speeds else None


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
