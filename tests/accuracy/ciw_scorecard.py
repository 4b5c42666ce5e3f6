"""Queues simulated by ciw, whose authors know nothing of us: our answers on them, and our own simulators beside it.

Everything else in this folder rests on queues that we wrote ourselves (simulators.py, longrun_scorecard.py); a mistake
in those would be one in every truth. ciw makes the arrivals, the service and the waiting here, in virtual time behind
the protocol of the engine; the truths are closed forms: c μ of the narrowest station, Erlang's C, and for two stations
with one server each the sum of two independent exponential sojourns (Burke 1956, Reich 1957).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import ciw
import numpy as np
from numpy.typing import NDArray
from scipy.optimize import brentq
from scipy.stats import t as student
from scipy.stats import ttest_ind
from score_line import Job, Line, Lines
from simulators import OpenQueue

from plimsoll.experiments.capacity.experiment import run_capacity
from plimsoll.experiments.capacity.result import CapacitySettings
from plimsoll.runs.histogram import Histogram
from plimsoll.runs.snapshot import Snapshot
from plimsoll.stats.estimates.block_quantile import BLOCKS, quantile_interval

Array = NDArray[np.float64]
# Stations one after the other: (servers, service time in s).
Stations = tuple[tuple[int, float], ...]
FOUR: Stations = ((4, 0.04),)
TWO: Stations = ((2, 1 / 60), (1, 0.01))
SEARCHED = (("M/M/4 of 100/s", FOUR, 100.0), ("M/M/2 of 120/s before M/M/1 of 100/s", TWO, 100.0))
RUNS, RUN_S, LEFT_OUT_S = 10, 60, 15
LOAD = 0.75
REQUESTS = 40_000


class _Shared(ciw.dists.Distribution):  # type: ignore[misc]
    """ciw copies the distributions it is given; these must stay those of the source, whose level they follow."""

    def __deepcopy__(self, memo: object) -> _Shared:
        return self


class _Ticking(_Shared):
    """Poisson arrivals whose rate may change at whole seconds: the next arrival, or the second's end if that is sooner,
    at which nobody comes. An exponential gap that is cut there begins anew, as it has no memory."""

    def __init__(self, source: CiwQueue) -> None:
        self.source = source
        self.comes = 0

    def sample(self, t: float | None = None, ind: object = None) -> float:
        now = t or 0.0
        left = math.floor(now + 1e-9) + 1 - now
        rate = self.source.level * self.source.rate_per_level_s
        gap = float(np.random.exponential(1 / rate)) if rate else math.inf  # ciw.seed seeds it
        self.comes = int(gap < left)
        return min(gap, left)


class _Comers(_Shared):
    """How many come with that event of _Ticking: one or nobody."""

    def __init__(self, ticking: _Ticking) -> None:
        self.ticking = ticking

    def sample(self, t: float | None = None, ind: object = None) -> int:
        return self.ticking.comes


class CiwQueue(OpenQueue):
    """Stations one after the other, simulated by ciw, as a LoadSource. One at a time: ciw draws from the process's own
    random numbers."""

    def __init__(self, stations: Stations, seed: int) -> None:
        super().__init__(stations[0][0], stations[0][1], seed)
        self.stations, self.seed = stations, seed
        self.simulation: Any = None
        self.left = self.entered = 0

    def _begin(self) -> Any:
        ticking, later = _Ticking(self), len(self.stations) - 1
        network = ciw.create_network(
            arrival_distributions=[ticking, *[None] * later],
            batching_distributions=[_Comers(ticking), *[ciw.dists.Deterministic(1)] * later],
            service_distributions=[ciw.dists.Exponential(1 / mean_s) for _, mean_s in self.stations],
            number_of_servers=[servers for servers, _ in self.stations],
            routing=np.eye(later + 1, k=1).tolist(),
        )
        ciw.seed(self.seed)
        return ciw.Simulation(network)

    def _advance(self) -> None:
        if self.simulation is None:
            self.simulation = self._begin()
        entered, left = self.entered, self.left
        self.simulation.simulate_until_max_time(self.second + 1)
        gone = self.simulation.nodes[-1].all_individuals
        self.entered, self.left = self.simulation.nodes[0].number_of_individuals, len(gone)
        served = [one.data_records for one in gone[left:]]
        self.running = [(math.inf, 0.0, False)] * (self.entered - self.left)
        self._emit(self.entered - entered, [(rows[-1].exit_date, rows[0].arrival_date, False) for rows in served])
        self.second += 1


def search_lines(name: str, stations: Stations, truth: float, repeat: int, first_seed: int) -> Lines:
    """Capacity searches of 155 s."""
    settings = CapacitySettings(arrivals_per_level_s=1.0)
    found = [run_capacity(CiwQueue(stations, first_seed + seed), settings).bracket for seed in range(repeat)]
    told = [(one.good, one.bad) for one in found if one.good and one.bad]
    held = sum(good <= truth <= bad for good, bad in told)
    what = f"ciw's {name}, 155 s: bracket holds the capacity"
    return [Line("A1", what, held, len(told), repeat, "≥", 0.95, True)]


def histogram_of(second: Snapshot) -> Histogram:
    """Response times in ms of one second."""
    return Histogram.merge(one.histogram() for one in second.series if one.metric == "http_req_response_time")


def mean_times(make: Callable[[int], OpenQueue], rate: float, seed: int) -> Array:
    """Mean response time in ms of each of RUNS runs from empty, their first seconds left out, shape (RUNS,)."""
    found = []
    for run in range(RUNS):
        source = make(RUNS * seed + run)
        source.set_level(rate)
        found.append(Histogram.merge(map(histogram_of, list(source.snapshots(RUN_S))[LEFT_OUT_S:])).mean)
    return np.asarray(found)


def mean_response_ms(servers: int, mean_s: float, load: float) -> float:
    """Of M/M/c: service, and with Erlang's C a wait."""
    blocked = 1.0
    for count in range(1, servers + 1):
        blocked = servers * load * blocked / (count + servers * load * blocked)
    waits = blocked / (1 - load * (1 - blocked))
    return 1000 * mean_s * (1 + waits / (servers * (1 - load)))


def agreement_lines(repeat: int, first_seed: int) -> Lines:
    """Does the mean response time of M/M/4 by ciw, and by us, agree with Erlang's C; and do the two agree?"""
    [(servers, mean_s)] = FOUR
    truth, rate = mean_response_ms(servers, mean_s, LOAD), LOAD * servers / mean_s
    held, differ = {"ciw's": 0, "our": 0}, 0
    for seed in range(first_seed, first_seed + repeat):
        theirs = mean_times(lambda one: CiwQueue(FOUR, one), rate, seed)
        ours = mean_times(lambda one: OpenQueue(servers, mean_s, one), rate, seed)
        for name, seen in (("ciw's", theirs), ("our", ours)):
            half = float(student.ppf(0.975, RUNS - 1)) * seen.std(ddof=1) / math.sqrt(RUNS)
            held[name] += bool(abs(seen.mean() - truth) <= half)
        differ += bool(ttest_ind(theirs, ours, equal_var=False).pvalue < 0.01)
    how = f"M/M/4, ρ = {LOAD}, {RUNS} runs of {RUN_S} s"
    made: Lines = [
        Line("", f"{name} {how}: 95% interval of the mean response holds Erlang's", count, repeat, repeat, "≥", 0.93)
        for name, count in held.items()
    ]
    return [*made, Line("", f"ciw's and our {how}: called different at 1%", differ, repeat, repeat, "≤", 0.01)]


def sojourn_quantile(share: float, *spare_per_s: float) -> float:
    """Of the sum of two independent exponential times of these rates."""
    one, other = spare_per_s

    def beyond(t: float) -> float:
        return (other * math.exp(-one * t) - one * math.exp(-other * t)) / (other - one) - (1 - share)

    return float(brentq(beyond, 0, 100 / min(spare_per_s)))


def interval_lines(repeat: int, first_seed: int) -> Lines:
    """Does the interval of p95 hold that of two stations with one server each?"""
    rate, stations = 50.0, ((1, 0.01), (1, 1 / 120))
    truth = sojourn_quantile(0.95, *(1 / mean_s - rate for _, mean_s in stations))
    told = held = 0
    for seed in range(repeat):
        source = CiwQueue(stations, first_seed + seed)
        source.set_level(rate)
        warm_up = 60
        seconds = [histogram_of(one) for one in list(source.snapshots(warm_up + round(REQUESTS / rate)))[warm_up:]]
        blocks = [
            Histogram.merge(seconds[place] for place in part) for part in np.array_split(range(len(seconds)), BLOCKS)
        ]
        found = quantile_interval(blocks, Histogram.merge(blocks), 0.95)
        if found is None or found.low is None or found.high is None:
            continue
        told += 1
        held += bool(found.low <= 1000 * truth <= found.high)
    what = f"ciw's two stations, ρ = 0.5 and 0.42, {REQUESTS:,} requests: interval of p95 holds it"
    return [Line("B1", what, held, told, repeat, "≥", 0.93, True)]


def jobs(scale: float, first_seed: int) -> Iterator[Job]:
    """100 searches of each target, 100 times 10 runs and 50 long runs at scale 1."""
    for name, stations, truth in SEARCHED:
        run = partial(search_lines, name, stations, truth, max(10, round(100 * scale)), first_seed)
        yield Job(f"A1 ciw {name}", run)
    yield Job("ciw beside our simulators", partial(agreement_lines, max(10, round(100 * scale)), first_seed))
    yield Job("B1 ciw two stations", partial(interval_lines, max(10, round(50 * scale)), first_seed))
