"""A1 and A2: does a bracket at most 3% wide hold the true capacity, and how much load does it take beside bisection?

Searches in virtual time, Poisson arrivals at 300/s of capacity unless said otherwise. A search *answers* if its bracket
has both bounds and is at most 3% wide; else it says that it is wider. Plain bisection (the peer): doubling, then
halving with trials of a fixed length that begin with an empty queue; a trial passes if its completions fall short of
its arrivals by at most a tolerance. Length, tolerance and the width at which it stops are those of a grid that reach
our p90 error of the midpoint with the least load, tuned on seeds of their own. The MLRsearch package, where it is
installed, searches the same targets with losses up to 0.5%, half of the time bad at most, and trials of 60 s.

Closed: users of a target whose throughput falls again (the universal scalability law); the truth is the number of users
with 95% of the most throughput, as of `capacity`.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import NDArray
from score_line import Job, Line, Lines, Ratio, percent
from simulators import ClosedQueue, OpenQueue, UslUsers, drifting_speeds

from plimsoll.experiments.capacity.experiment import run_capacity
from plimsoll.experiments.capacity.result import CapacitySettings

WIDTH = 0.03
START_PER_S = 10.0
LENGTHS_S = (5, 10, 20, 40, 80, 160, 320, 640)
TOLERANCES = (0.002, 0.005, 0.01)
WIDTHS = (0.03, 0.02, 0.01, 0.005)


@dataclass(frozen=True)
class Target:
    """A simulated target: `servers` with a capacity of `capacity_per_s` together, and its trouble."""

    name: str
    servers: int = 1
    capacity_per_s: float = 300.0
    service: str = "exponential"
    stall_every_s: float = 0.0
    stall_s: float = 0.0
    drift: str = ""
    bisected: bool = False

    @property
    def truth_per_s(self) -> float:
        """Its long-run capacity."""
        return self.capacity_per_s * (1 - (self.stall_s / self.stall_every_s if self.stall_s else 0.0))


TARGETS = (
    Target("M/M/1", bisected=True),
    Target("M/M/4", 4, bisected=True),
    Target("M/M/16", 16, bisected=True),
    Target("M/G/1, service of 4 times the variance", service="bursty"),
    Target("M/M/1, all servers pause 0.5 s in every 10 s", stall_every_s=10, stall_s=0.5),
    Target("M/M/1, its host's speed drifts by 9% and is probed", drift="quick"),
)


@dataclass(frozen=True)
class Found:
    """Bounds in shares of the truth, None where missing, and the load it took."""

    good: float | None
    bad: float | None
    load_s: float

    @property
    def answers(self) -> bool:
        """Whether the bracket is complete and narrow."""
        return bool(self.good and self.bad and 1 - self.good / self.bad <= WIDTH + 1e-9)

    @property
    def error(self) -> float:
        """Distance of the midpoint from the truth, as a share of it; infinite without both bounds."""
        return abs((self.good + self.bad) / 2 - 1) if self.good and self.bad else np.inf


def search(target: Target, seed: int) -> Found:
    """One search by Plimsoll."""
    trouble = {"stall_every_s": target.stall_every_s, "stall_s": target.stall_s} if target.stall_s else {}
    speeds = drifting_speeds(target.drift, 0.09, seed, 4000) if target.drift else None
    source = OpenQueue(
        target.servers,
        target.servers / target.capacity_per_s,
        seed,
        service=target.service,
        speeds=speeds,
        **trouble,
    )
    settings = CapacitySettings(width=WIDTH, step_s=60, budget_s=1800, arrivals_per_level_s=1.0)
    result = run_capacity(source, settings, probes_sampler=source.sample if target.drift else None)
    # No search can know another capacity of a drifting host than that at the mean speed it had while it was looked at.
    mean_speed = 1.0 if speeds is None else float(speeds[: int(result.load_s)].mean())
    truth = target.truth_per_s * mean_speed
    good, bad = result.bracket.good, result.bracket.bad
    return Found(good and good / truth, bad and bad / truth, result.load_s)


def finished(target: Target, rate_per_s: float, length_s: float, random: np.random.Generator) -> tuple[int, int]:
    """(completions, arrivals) of one trial of c exponential servers that begins empty."""
    count = int(random.poisson(rate_per_s * length_s))
    arrivals = np.sort(random.random(count)) * length_s
    service = random.exponential(target.servers / target.capacity_per_s, count)
    if target.servers == 1:
        total = np.cumsum(service)
        done = total + np.maximum.accumulate(arrivals - (total - service))
        return int((done <= length_s).sum()), count
    free, within = [0.0] * target.servers, 0
    for arrival, took in zip(arrivals.tolist(), service.tolist(), strict=True):
        end = max(arrival, free[0]) + took
        heapq.heapreplace(free, end)
        within += end <= length_s
    return within, count


def bisect(target: Target, length_s: float, tolerance: float, seed: int) -> list[Found]:
    """One plain bisection: what it has found when its bracket is first as narrow as each of WIDTHS, shape (WIDTHS,)."""
    random = np.random.default_rng([seed, 4])
    rate = START_PER_S * float(random.uniform(1, 2))  # else the truth might lie on the grid of halvings
    good, bad, load_s, truth = 0.0, 0.0, 0.0, target.truth_per_s
    found: list[Found] = []
    while len(found) < len(WIDTHS):
        done, arrived = finished(target, rate, length_s, random)
        load_s += length_s
        if arrived - done <= tolerance * arrived:
            good = rate
        else:
            bad = rate
        rate = (good + bad) / 2 if bad else 2 * rate
        while len(found) < len(WIDTHS) and (load_s > 60 * length_s or (bad and 1 - good / bad <= WIDTHS[len(found)])):
            found.append(Found(good / truth or None, bad / truth or None, load_s))
    return found


@dataclass(frozen=True)
class Plan:
    """How to bisect: length of a trial, tolerance, place of the width in WIDTHS; whether that reaches the error."""

    length_s: float
    tolerance: float
    width: int
    reached: bool


def tuned(target: Target, error: float, repeat: int, first_seed: int) -> Plan:
    """The bisection with the least load whose p90 error is at most `error`; else the one with the least error."""
    tried: list[tuple[bool, float, Plan]] = []
    for length_s in LENGTHS_S:
        for tolerance in TOLERANCES:
            runs = [bisect(target, length_s, tolerance, first_seed + seed) for seed in range(repeat)]
            for width in range(len(WIDTHS)):
                theirs = float(np.quantile([run[width].error for run in runs], 0.9))
                load_s = float(np.mean([run[width].load_s for run in runs]))
                reached = theirs <= error
                tried.append((not reached, load_s if reached else theirs, Plan(length_s, tolerance, width, reached)))
        if not min(tried, key=lambda one: one[:2])[0]:
            break  # longer trials load longer
    return min(tried, key=lambda one: one[:2])[2]


def ratio_of_means(ours: NDArray[np.float64], theirs: NDArray[np.float64], seed: int) -> tuple[float, float, float]:
    """Ratio with its 95% interval by a percentile bootstrap over searches."""
    random = np.random.default_rng(seed)
    drawn = [
        ours[random.integers(0, ours.size, ours.size)].mean()
        / theirs[random.integers(0, theirs.size, theirs.size)].mean()
        for _ in range(2000)
    ]
    low, high = np.quantile(drawn, [0.025, 0.975])
    return float(ours.mean() / theirs.mean()), float(low), float(high)


def lines(target: Target, repeat: int, first_seed: int) -> Lines:
    """The lines of one target."""
    found = [search(target, first_seed + seed) for seed in range(repeat)]
    told = [one for one in found if one.answers]
    held = [bool(one.good and one.bad and one.good <= 1 <= one.bad) for one in told]
    near = [one.error <= 0.03 for one in told]
    well = not target.drift
    made: Lines = [
        Line("A1", f"{target.name}: bracket of ≤ 3% holds the capacity", sum(held), len(told), repeat, "≥", 0.95, well),
        Line("A1", f"{target.name}: midpoint within 3%", sum(near), len(told), repeat, "≥", 0.90, well),
    ]
    if target.bisected:
        made += beside_bisection(target, found, first_seed)
    return made


def beside_bisection(target: Target, found: list[Found], first_seed: int) -> Lines:
    """A2, and how right the peer is."""
    repeat = len(found)
    error = float(np.quantile([one.error for one in found], 0.9))
    plan = tuned(target, error, max(5, repeat // 5), first_seed + 1_000_000)
    bisections = [bisect(target, plan.length_s, plan.tolerance, first_seed + seed) for seed in range(repeat)]
    peers = [steps[plan.width] for steps in bisections]
    theirs = float(np.quantile([one.error for one in peers], 0.9))
    value, low, high = ratio_of_means(
        np.array([one.load_s for one in found]), np.array([one.load_s for one in peers]), first_seed
    )
    load_s = np.mean([one.load_s for one in found]), np.mean([one.load_s for one in peers])
    how = f"trials of {plan.length_s:g} s, tolerance {percent(plan.tolerance)}, width {percent(WIDTHS[plan.width])}"
    words = (
        f"{target.name}: load over that of plain bisection, {load_s[0]:.0f} s to {load_s[1]:.0f} s; p90 error of the "
        f"midpoint {percent(error)} to {percent(theirs)} ({how}{'' if plan.reached else ', which did not reach ours'})"
    )
    held = sum(bool(one.good and one.bad and one.good <= 1 <= one.bad) for one, *_ in bisections)
    peer = f"peer: plain bisection, {target.name}: bracket of ≤ 3% holds the capacity"
    return [Ratio("A2", words, value, low, high, repeat, 0.60), Line("A1", peer, held, repeat, repeat)]


def mlrsearch(target: Target, seed: int) -> Found:
    """One search by the MLRsearch package.

    Raises:
        ModuleNotFoundError: It is not installed.
    """
    from MLRsearch import AbstractMeasurer, Config, MeasurementResult, MultipleLossRatioSearch, SearchGoal

    random, truth, load_s = np.random.default_rng([seed, 5]), target.truth_per_s, 0.0

    class Trials(AbstractMeasurer):  # type: ignore[misc]
        def measure(self, intended_duration: float, intended_load: float) -> MeasurementResult:
            nonlocal load_s
            load_s += intended_duration
            done, arrived = finished(target, intended_load, intended_duration, random)
            return MeasurementResult(intended_duration, intended_load, arrived, arrived - done)

    goal = SearchGoal(0.005, 0.5, WIDTH, 5.0, 60.0, 120.0, fail_fast=False)
    search = MultipleLossRatioSearch(Config((goal,), START_PER_S, 1000.0, 600.0, 0.0))
    result = search.search(Trials(), lambda _: None)[goal]
    low, high = result.relevant_lower_bound, result.relevant_upper_bound
    return Found(low and float(low) / truth, high and float(high) / truth, load_s)


def beside_mlrsearch(target: Target, repeat: int, first_seed: int) -> Lines:
    """How right the package is, and what it takes; nothing where it is not installed."""
    try:
        found = [mlrsearch(target, first_seed + seed) for seed in range(repeat)]
    except ModuleNotFoundError:
        print("MLRsearch is not installed, its rows are left out: pip install MLRsearch")
        return []
    told = [one for one in found if one.good and one.bad and 1 - one.good / one.bad <= 1.1 * WIDTH]
    held = sum(bool(one.good and one.bad and one.good <= 1 <= one.bad) for one in told)
    error, load_s = np.quantile([one.error for one in found], 0.9), np.mean([one.load_s for one in found])
    name = f"peer: MLRsearch, {target.name}: bracket of ≤ 3.3% holds the capacity"
    words = f"{name} (load {load_s:.0f} s, p90 error of the midpoint {percent(float(error))})"
    return [Line("A1", words, held, len(told), repeat)]


USL = (40.0, 0.02, 1e-5)
FALLING = (40.0, 0.02, 5e-4)


@dataclass(frozen=True)
class Closed:
    """A closed target, the number of users from which its throughput is 95% of the most, and the time to search it."""

    name: str
    make: Callable[[int], ClosedQueue]
    truth: float
    settings: CapacitySettings


CLOSED = (
    Closed(
        "the USL with its peak at 313 users, half an hour",
        lambda seed: UslUsers(*USL, seed),
        UslUsers(*USL, 0).saturated_from(0.95),
        CapacitySettings(width=WIDTH, step_s=60, budget_s=1800),
    ),
    Closed(
        "the USL with its peak at 313 users, 155 s",
        lambda seed: UslUsers(*USL, seed),
        UslUsers(*USL, 0).saturated_from(0.95),
        CapacitySettings(),
    ),
    Closed(
        "the USL with its peak at 44 users and 35% of it at 320, 155 s",
        lambda seed: UslUsers(*FALLING, seed),
        UslUsers(*FALLING, 0).saturated_from(0.95),
        CapacitySettings(),
    ),
    Closed(
        "one server of 100/s and 0.5 s of thinking, 155 s",
        lambda seed: ClosedQueue(1, 0.01, 0.5, seed),
        54.0,
        CapacitySettings(),
    ),
)


def closed_lines(target: Closed, repeat: int, first_seed: int) -> Lines:
    """Closed searches: the bracket holds the truth, however wide chance leaves it; and how wide that is."""
    found = []
    for seed in range(repeat):
        bracket = run_capacity(target.make(first_seed + seed), target.settings).bracket
        found.append(Found(bracket.good and bracket.good / target.truth, bracket.bad and bracket.bad / target.truth, 0))
    told = [one for one in found if one.good and one.bad]
    held = sum(bool(one.good and one.bad and one.good <= 1 <= one.bad) for one in told)
    narrow = sum(one.answers for one in told)
    widths = sorted(1 - one.good / one.bad for one in told if one.good and one.bad)
    middle = percent(widths[len(widths) // 2]) if widths else "–"
    name = f"closed, throughput by {target.name}, truth {target.truth:.0f}"
    lines: Lines = [
        Line("A1", f"{name}: bracket holds it (median width {middle})", held, len(told), repeat, "≥", 0.95, True)
    ]
    if target.settings.width == WIDTH:
        lines.append(Line("A1", f"{name}: bracket of ≤ 3%", narrow, repeat, repeat, "≥", 0.90))
    return lines


def jobs(scale: float, first_seed: int) -> Iterator[Job]:
    """150 searches of each target at scale 1."""
    repeat = max(5, round(150 * scale))
    for target in TARGETS:
        run: Callable[[], Lines] = partial(lines, target, repeat, first_seed)
        yield Job(f"A1 A2 {target.name}", run)
        if target.bisected:
            yield Job(
                f"A1 peer MLRsearch {target.name}", partial(beside_mlrsearch, target, max(5, repeat // 3), first_seed)
            )
    for closed in CLOSED:
        yield Job(f"A1 closed {closed.name}", partial(closed_lines, closed, max(5, repeat // 2), first_seed))
