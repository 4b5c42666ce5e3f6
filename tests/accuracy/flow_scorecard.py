"""Are faults of the measurement found, and healthy levels left alone? (issue 26, Little's law)

    PYTHONPATH=python:tests/accuracy python tests/accuracy/flow_scorecard.py [--scale 1] [--seed 50000]

Steps of 12 s of simulated targets, open and closed, from idle to overloaded, and each adversary; the same steps with a
planted fault: times that were cut, completions that were lost or counted twice. A generator that stands still is seen
by its timers (validity_scorecard.py, V1): the burst after it is no more than chance to the law.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial

import adversaries
import numpy as np
from score_line import Job, Line, Lines, print_rows
from simulators import ClosedQueue, OpenQueue, UslUsers

from plimsoll.findings.validity.flow import FlowFault, fault_of
from plimsoll.runs.histogram import Histogram
from plimsoll.runs.readings.flow_seconds import flow_second
from plimsoll.runs.snapshot import Series, Snapshot

STEP_S, DRAIN_S = 12, 30
OPEN = ((1, 0.005), (4, 0.05), (64, 0.3), (16, 1.0))  # servers, mean service in s
CLOSED = ((1, 0.005, 0.1), (4, 0.05, 1.0), (64, 0.3, 0.0))  # and mean think time in s
SHARES = (0.1, 0.5, 0.8, 0.95, 1.2)  # of the capacity
KINDS = ("Retrograde", "Metastable", "Retries", "ColdCache", "WarmUp", "Autoscaling", "Collector", "HeavyTail",
         "Sessions", "Bucket", "Credits", "Connections", "Stuck", "Foreign", "OneOperationCollapses")  # fmt: skip
Random = np.random.Generator
Change = Callable[[Random, list[Snapshot]], list[Snapshot]]


def step(source: OpenQueue, level: float) -> list[Snapshot]:
    """The seconds of a level and of its drain; the level is the first epoch, as the engine numbers it."""
    source.start()
    source.set_level(level)
    held = [replace(one, epoch=1) for one in source.snapshots(STEP_S)]
    source.drain(DRAIN_S)
    return [*held, *(replace(one, epoch=1) for one in source.snapshots(source.now()))]


def fault(snapshots: Sequence[Snapshot], is_open: bool) -> FlowFault | None:
    """What is said of the step after its first second."""
    flow = [flow_second(one) for one in snapshots]
    return fault_of(flow[1:STEP_S], flow[0], flow[STEP_S:], is_open=is_open)


def healthy_open(seed: int) -> tuple[list[Snapshot], bool]:
    """Service and arrivals of any kind, at any share of the capacity."""
    random = np.random.default_rng([seed, 31])
    servers, mean_s = OPEN[seed % len(OPEN)]
    service = str(random.choice(["exponential", "constant", "bursty"]))
    source = OpenQueue(servers, mean_s, seed, service=service, even=bool(random.random() < 0.5))
    return step(source, servers / mean_s * float(random.choice(SHARES))), True


def healthy_closed(seed: int) -> tuple[list[Snapshot], bool]:
    """Users who think between iterations, or not at all."""
    random = np.random.default_rng([seed, 32])
    if seed % 4 == 3:
        return step(UslUsers(200.0, 0.03, 0.0002, seed), float(random.integers(1, 150))), False
    servers, mean_s, think_s = CLOSED[seed % len(CLOSED)]
    return step(ClosedQueue(servers, mean_s, think_s, seed), float(random.choice([1, 5, 20, 60, 150]))), False


def healthy_adversary(seed: int) -> tuple[list[Snapshot], bool]:
    """Each kind of target that breaks what estimators assume."""
    random = np.random.default_rng([seed, 33])
    kind = getattr(adversaries, KINDS[seed % len(KINDS)])
    return step(kind(4, 0.02, seed), 200 * float(random.choice(SHARES))), True


def planted(change: Change) -> Callable[[int], tuple[list[Snapshot], bool]]:
    """A change of what was measured of closed and open loads with at least 20 inside."""

    def trial(seed: int) -> tuple[list[Snapshot], bool]:
        random = np.random.default_rng([seed, 34])
        if seed % 2:
            return change(random, step(ClosedQueue(64, 0.3, 0.0, seed), float(random.integers(20, 150)))), False
        source = OpenQueue(64, 0.3, seed, even=True, service="constant")
        return change(random, step(source, 213 * float(random.choice([0.5, 0.8, 0.95])))), True

    return trial


def _timed(snapshot: Snapshot, factor: float = 1.0, kept: float = 1.0) -> Snapshot:
    """With times multiplied, and a share of them kept."""
    series = []
    for one in snapshot.series:
        if one.kind == "trend":
            seen = one.histogram()
            counts = [(index, round(count * kept)) for index, count in seen.buckets()]
            values = Histogram.from_buckets(counts, None, seen.max)
            scaled = Series.of_trend(one.metric, one.tags, values)
            one = replace(scaled, sum=scaled.sum * factor, max=(scaled.max or 0.0) * factor)
        series.append(one)
    return replace(snapshot, series=tuple(series))


def cut(random: Random, seconds: list[Snapshot]) -> list[Snapshot]:
    """Times too short by a third and more, as where the wait for a connection is left out."""
    factor = random.uniform(0.3, 0.65)
    return [_timed(one, factor) for one in seconds]


def lost(random: Random, seconds: list[Snapshot]) -> list[Snapshot]:
    """A tenth to a third of the completions is not counted."""
    kept = random.uniform(0.67, 0.9)
    return [replace(_timed(one, kept=kept), done=round(one.done * kept)) for one in seconds]


def twice(random: Random, seconds: list[Snapshot]) -> list[Snapshot]:
    """A tenth to a third of the completions is counted twice."""
    kept = random.uniform(1.1, 1.33)
    return [replace(_timed(one, kept=kept), done=round(one.done * kept)) for one in seconds]


HEALTHY = {
    "open targets": healthy_open,
    "closed targets": healthy_closed,
    "targets that break assumptions": healthy_adversary,
}
PLANTED = {
    "times that were cut": planted(cut),
    "completions that were lost": planted(lost),
    "completions that were counted twice": planted(twice),
}


def lines(name: str, repeat: int, first_seed: int) -> Lines:
    """How many steps of that kind have a fault."""
    trial = (HEALTHY | PLANTED)[name]
    found = sum(fault(*trial(seed)) is not None for seed in range(first_seed, first_seed + repeat))
    if name in HEALTHY:
        return [
            Line("V4", f"counts and times of healthy steps, {name}: called a fault", found, repeat, repeat, "≤", 0.02)
        ]
    return [Line("V4", f"counts and times, planted: {name}: found", found, repeat, repeat, "≥", 0.95)]


def jobs(scale: float, first_seed: int) -> Iterator[Job]:
    """300 steps of each kind at scale 1, 100 at least."""
    repeat = max(100, round(300 * scale))
    for name in HEALTHY | PLANTED:
        yield Job(f"flow {name}", partial(lines, name, repeat, first_seed))


if __name__ == "__main__":
    print_rows(jobs, __doc__)
