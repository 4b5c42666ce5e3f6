"""How often are the long runs' conclusions right? Seeded simulations of known truth, as a table with Wilson 95%
intervals.

    PYTHONPATH=python:tests/accuracy python tests/accuracy/longrun_scorecard.py --repeat 200 [--only D3]

Goals as in issue 4: A6 drift, B1 intervals of p99, D1 family of growth and extrapolation, D2 keeping up, D3 periodic
jobs. A line is one cell: right of answered trials, answered of all. "met" means that the interval does not exclude
the target.
"""

from __future__ import annotations

import argparse
import heapq
import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import brentq
from scipy.signal import lfilter
from score_line import Line

from plimsoll.runs.histogram import Histogram
from plimsoll.stats.consumption.keeping_up import keeping_up
from plimsoll.stats.estimates.block_quantile import BLOCKS, quantile_interval
from plimsoll.stats.growth.drift import drift
from plimsoll.stats.growth.growth_family import DECIDED_WEIGHT, growth_of, predict
from plimsoll.stats.pulses.periodic import _best_period, periodic_pulse

Array = NDArray[np.float64]
# One trial: None where it gives no answer, else whether the answer is right.
Trial = Callable[[int], bool | None]
LEAST, MOST = "≥", "≤"


@dataclass(frozen=True)
class Cell:
    """One line of the table: `trial(seed)`, the share of right answers wanted (None: only published), whether that is a
    least or a most, and whether at least 90% of the trials must give an answer."""

    goal: str
    name: str
    trial: Trial
    target: float | None = None
    sign: str = LEAST
    well_posed: bool = True


def red_noise(memory: float, count: int, random: np.random.Generator) -> Array:
    """AR(1) of standard deviation 1 and lag-one correlation `memory`, shape (count,)."""
    innovations = random.standard_normal(count + 200)
    return np.asarray(lfilter([math.sqrt(1 - memory**2)], [1, -memory], innovations)[200:])


def response_times(load: float, count: int, random: np.random.Generator, warm_up: int = 20_000) -> Array:
    """Response times of M/M/1 in service times (Lindley 1952, by cumulative sums), shape (count,)."""
    arrivals = np.cumsum(random.exponential(1 / load, count + warm_up))
    service = random.exponential(1.0, count + warm_up)
    total = np.cumsum(service)
    done = total + np.maximum.accumulate(arrivals - (total - service))
    return np.asarray((done - arrivals)[warm_up:])


def consumer_counts(rate_per_s: float, load: float, seconds: int, random: np.random.Generator) -> tuple[Array, Array]:
    """Items put in and taken out per second of M/M/1 with utilisation `load`, two of shape (seconds,), after 60 s."""
    count = int(rate_per_s * (seconds + 60) * 1.2) + 100
    arrivals = np.cumsum(random.exponential(1 / rate_per_s, count))
    service = random.exponential(load / rate_per_s, count)
    total = np.cumsum(service)
    done = total + np.maximum.accumulate(arrivals - (total - service))
    edges = np.arange(60, 60 + seconds + 1)
    before = float(np.searchsorted(arrivals, 60) - np.searchsorted(done, 60))
    put, taken = np.histogram(arrivals, edges)[0].astype(float), np.histogram(done, edges)[0].astype(float)
    return np.concatenate([[before], put]), taken


def served(servers: int, load: float, count: int, random: np.random.Generator, warm_up: int = 20_000) -> Array:
    """Response times of M/M/c in service times (Kiefer and Wolfowitz 1955), shape (count,)."""
    if servers == 1:
        return response_times(load, count, random, warm_up)
    arrivals = np.cumsum(random.exponential(1 / (load * servers), count + warm_up)).tolist()
    service = random.exponential(1.0, count + warm_up).tolist()
    free, times = [0.0] * servers, []
    for arrival, took in zip(arrivals, service, strict=True):
        end = max(arrival, free[0]) + took
        heapq.heapreplace(free, end)
        times.append(end - arrival)
    return np.asarray(times[warm_up:])


def true_p99(servers: int, load: float) -> float:
    """p99 of the response time of M/M/c in service times: service plus, with Erlang's C, an exponential wait."""
    blocked = 1.0
    for count in range(1, servers + 1):
        blocked = servers * load * blocked / (count + servers * load * blocked)
    waits, faster = blocked / (1 - load * (1 - blocked)), servers * (1 - load)
    if faster == 1:
        return float(brentq(lambda t: math.exp(-t) * (1 + waits * t) - 0.01, 0, 100))

    def beyond(t: float) -> float:
        return (1 - waits) * math.exp(-t) + waits * (faster * math.exp(-t) - math.exp(-faster * t)) / (faster - 1)

    return float(brentq(lambda t: beyond(t) - 0.01, 0, 1000))


def covers_p99(load: float, requests: int, servers: int = 1, replications: int = 1) -> Trial:
    """Does the interval hold the true p99 of M/M/c? Of `replications` runs of as many requests, each from empty, the
    first 20,000 left out."""
    truth = true_p99(servers, load)

    def trial(seed: int) -> bool | None:
        random = np.random.default_rng([seed, requests, servers])
        runs = [served(servers, load, requests, random) for _ in range(replications)]
        parts = [part for run in runs for part in np.array_split(run, BLOCKS // replications)]
        blocks = [Histogram.from_values(part) for part in parts]
        found = quantile_interval(blocks, Histogram.merge(blocks), 0.99)
        if found is None or found.low is None or found.high is None:
            return None
        return found.low <= truth <= found.high

    return trial


def covers_p99_as_if_independent(load: float, requests: int) -> Trial:
    """The peer: order statistics of all requests of M/M/1, as if they were independent."""
    truth = true_p99(1, load)

    def trial(seed: int) -> bool | None:
        times = np.sort(response_times(load, requests, np.random.default_rng([seed, requests, 1])))
        half = 1.96 * math.sqrt(requests * 0.99 * 0.01)
        low, high = times[int(0.99 * requests - half)], times[int(0.99 * requests + half)]
        return bool(low <= truth <= high)

    return trial


LAWS: dict[str, tuple[str, Callable[[Array], Array]]] = {
    "constant": ("constant", lambda n: 5 + 0 * n),
    "2 + ln n": ("logarithmic", lambda n: 2 + np.log(n)),
    "5 + n/2000": ("linear", lambda n: 5 + n / 2000),
    "5 + n/200": ("linear", lambda n: 5 + n / 200),
    "n/200": ("linear", lambda n: n / 200),
    "n ln n/10000": ("n log n", lambda n: n * np.log(n) / 10_000),
    "1 + n ln n/10000": ("n log n", lambda n: 1 + n * np.log(n) / 10_000),
    "n^0.5": ("power", lambda n: 0.5 * n**0.5),
    "n^1.5": ("power", lambda n: 1e-4 * n**1.5),
    "n^2": ("power", lambda n: 1e-6 * n**2),
}


def noisy(law: Callable[[Array], Array], sizes: Array, seed: int) -> Array:
    """Costs with 5% scatter."""
    return law(sizes) * np.exp(0.05 * np.random.default_rng(seed).standard_normal(sizes.size))


def right_family(name: str, law: Callable[[Array], Array], sizes: Array) -> Trial:
    """Is the family of growth the true one?"""

    def trial(seed: int) -> bool | None:
        found = growth_of(sizes, noisy(law, sizes, seed))
        return None if found is None or found.family is None else found.family == name

    return trial


def likely_family(name: str, law: Callable[[Array], Array], sizes: Array) -> Trial:
    """Is the true family among those said to be likely?"""

    def trial(seed: int) -> bool | None:
        found = growth_of(sizes, noisy(law, sizes, seed))
        return None if found is None else name in found.likely

    return trial


def best_possible_family(sizes: Array) -> Trial:
    """The most that can be known of 5 + n/2000: Neyman and Pearson's test between this curve and the n log n curve that
    is nearest to it, with the scatter known; an answer where one of them is as likely as our rule demands."""
    true = LAWS["5 + n/2000"][1](sizes)
    base = sizes * np.log(sizes)
    a, b = np.linalg.lstsq(np.column_stack([np.ones_like(base), base]) / true[:, None], np.ones_like(true), rcond=None)[
        0
    ]
    other = a + b * base

    def trial(seed: int) -> bool | None:
        seen = np.log(noisy(LAWS["5 + n/2000"][1], sizes, seed))
        evidence = (np.sum((seen - np.log(other)) ** 2) - np.sum((seen - np.log(true)) ** 2)) / (2 * 0.05**2)
        sure = math.log(DECIDED_WEIGHT / (1 - DECIDED_WEIGHT))
        return None if abs(evidence) < sure else bool(evidence > 0)

    return trial


def near_at_four_times(law: Callable[[Array], Array], sizes: Array) -> Trial:
    """Is the extrapolation to four times the greatest volume within 15%, if it is not refused?"""
    at = 4 * float(sizes.max())
    truth = float(law(np.array([at]))[0])

    def trial(seed: int) -> bool | None:
        found = growth_of(sizes, noisy(law, sizes, seed))
        ahead = predict(found, at, seed) if found is not None else None
        return None if ahead is None else abs(ahead[0] / truth - 1) <= 0.15

    return trial


def told_to_grow(rise: float, windows: int = 20) -> Trial:
    """Is a cost that rises by that share over a load told to grow, and one that does not never? 2% scatter, on a host
    whose pace wanders by 3% with a memory of twenty windows."""

    def trial(seed: int) -> bool | None:
        volume = np.linspace(5_000, 26_000, windows)
        random = np.random.default_rng(seed)
        host = 0.03 * red_noise(0.95, windows, random)
        cost = (1 + rise * (volume - volume[0]) / np.ptp(volume)) * np.exp(
            host + 0.02 * random.standard_normal(windows)
        )
        found = growth_of(volume, cost)
        if found is None or (rise and found.rises is None):
            return None
        return found.rises is True if rise else found.rises is not True

    return trial


def found_behind(rate_per_s: float, load: float, seconds: int = 600) -> Trial:
    """Is the consumer said to fall behind?"""

    def trial(seed: int) -> bool | None:
        put, taken = consumer_counts(rate_per_s, load, seconds, np.random.default_rng([seed, int(rate_per_s)]))
        return keeping_up(put[1:], taken, put[0]).verdict == "falls behind"

    return trial


def true_period(period_s: float, width_s: int, memory: float, seconds: int, height: float = 2.0) -> Trial:
    """Is a pulse of `height` standard deviations found with its period within 2%?"""

    def trial(seed: int) -> bool | None:
        found = periodic_pulse(pulses(period_s, width_s, memory, seconds, height, seed))
        return found is not None and abs(found.period_s / period_s - 1) <= 0.02

    return trial


def pulses(period_s: float, width_s: int, memory: float, seconds: int, height: float, seed: int) -> Array:
    """AR(1) noise with a job in it, at least three times, shape (seconds,)."""
    random = np.random.default_rng([seed, int(period_s)])
    series = red_noise(memory, seconds, random)
    first = random.uniform(0, max(1.0, min(period_s, seconds - 2 * period_s - width_s)))
    for start in np.arange(first, seconds, period_s).astype(int):
        series[start : start + width_s] += height
    return series


# Noise of AR(1) 0.5 and 300 s exceeds it in 1% of runs, for one width and with the true parameters (400 runs).
BEST_BORDER = 4.4


def best_possible_pulse(period_s: float, width_s: int, memory: float, seconds: int, height: float = 2.0) -> Trial:
    """The most that can be found, at 1%: a matched filter by one who knows the noise and the form of the pulse."""
    form = np.concatenate(([1.0], np.full(width_s - 1, 1 - memory), [-memory]))

    def trial(seed: int) -> bool | None:
        series = pulses(period_s, width_s, memory, seconds, height, seed)
        rest = (series[1:] - memory * series[:-1]) / math.sqrt(1 - memory**2)
        white = np.concatenate((series[:1], rest, np.zeros(width_s)))
        found = _best_period(np.correlate(white, form, mode="valid") / math.sqrt(form @ form), width_s)
        return found.z > BEST_BORDER and abs(found.period / period_s - 1) <= 0.05

    return trial


def no_period(memory: float, seconds: int) -> Trial:
    """Is a period found in noise without one?"""

    def trial(seed: int) -> bool | None:
        return periodic_pulse(red_noise(memory, seconds, np.random.default_rng([seed, seconds]))) is not None

    return trial


def no_period_in_tails(seconds: int) -> Trial:
    """Is a period found in noise of long tails?"""

    def trial(seed: int) -> bool | None:
        return periodic_pulse(np.random.default_rng([seed, seconds, 3]).standard_t(3, seconds)) is not None

    return trial


def drifting(share: float, memory: float, seconds: int, seed: int, scatter: float = 0.15) -> Array:
    """Response times of each second that rise by `share` over the run, with AR(1) scatter, shape (seconds,)."""
    noise = red_noise(memory, seconds, np.random.default_rng([seed, 6]))
    return np.asarray(100 * (1 + share * np.arange(seconds) / seconds) * (1 + scatter * noise))


def drifts(share: float, memory: float, seconds: int = 600) -> Trial:
    """Is it called drifting? No answer where it is said that such a drift would not show."""

    def trial(seed: int) -> bool | None:
        found = drift(np.arange(seconds), drifting(share, memory, seconds, seed))
        return None if found is None or found.verdict == "undecided" else found.verdict == "drifts"

    return trial


def drift_alarm(memory: float, seconds: int = 600) -> Trial:
    """Is a series without drift called drifting? "Cannot tell" is no alarm."""

    def trial(seed: int) -> bool | None:
        found = drift(np.arange(seconds), drifting(0.0, memory, seconds, seed))
        return found is not None and found.verdict == "drifts"

    return trial


def called_steady(memory: float, seconds: int = 600) -> Trial:
    """Is a series without drift called steady, and not "cannot tell"?"""

    def trial(seed: int) -> bool | None:
        found = drift(np.arange(seconds), drifting(0.0, memory, seconds, seed))
        return found is not None and found.verdict == "steady"

    return trial


def best_possible_drift(share: float, memory: float, seconds: int = 600, scatter: float = 0.15) -> Trial:
    """The most that can be found: generalised least squares at 1% by one who knows the memory, the scatter and the
    drift's form, and not the mean."""
    keep = math.sqrt(1 - memory**2)
    form = np.log1p(share * np.arange(seconds) / seconds)

    def whitened(values: Array) -> Array:
        return np.concatenate(([values[0]], (values[1:] - memory * values[:-1]) / keep)) / scatter

    level, rise = whitened(np.ones(seconds)), whitened(form)
    rise = rise - level * (level @ rise) / (level @ level)

    def trial(seed: int) -> bool | None:
        seen = whitened(form + scatter * red_noise(memory, seconds, np.random.default_rng([seed, 6])))
        return bool(abs(rise @ seen) / math.sqrt(rise @ rise) > 2.576)

    return trial


def cells() -> Iterator[Cell]:
    """All lines of the table."""
    yield from drift_cells()
    yield from quantile_cells()
    yield from growth_cells()
    yield Cell("D2", "200 items/s, 1% overload, 10 min: found", found_behind(200, 1.01), 0.95)
    yield Cell("D2", "1,000 items/s, 1% overload, 10 min: found", found_behind(1000, 1.01), 0.95)
    yield Cell("D2", "50 items/s, 2% overload, 10 min: found", found_behind(50, 1.02), 0.95)
    yield Cell("D2", "200 items/s, ρ = 0.95: called behind", found_behind(200, 0.95), 0.01, MOST)
    yield Cell("D2", "20 items/s, ρ = 0.95: called behind", found_behind(20, 0.95), 0.01, MOST)
    for memory in (0.0, 0.5):
        for period, width, seconds in ((190, 20, 600), (97, 10, 300), (60, 5, 600), (600, 60, 1800)):
            cycles = f"{seconds // period} cycles, {width} s every {period} s"
            name = f"2 σ, {cycles}, AR(1) {memory:g}: period ± 2%"
            yield Cell("D3", name, true_period(period, width, memory, seconds), 0.90)
    best = best_possible_pulse(97, 10, 0.5, 300)
    yield Cell("D3", "best possible: 2 σ, 3 cycles, 10 s every 97 s, AR(1) 0.5: found", best)
    for seconds in (300, 600):
        yield Cell(
            "D3", f"no job, Student's t of 3 degrees, {seconds} s: found", no_period_in_tails(seconds), 0.01, MOST
        )
    for memory, seconds in ((0.0, 600), (0.5, 300), (0.5, 600), (0.5, 1800), (0.8, 600)):
        yield Cell("D3", f"no job, AR(1) {memory:g}, {seconds:,} s: found", no_period(memory, seconds), 0.01, MOST)


def drift_cells() -> Iterator[Cell]:
    """A6. An AR(1) of 0.8 is well-posed only where the best possible test finds the drift."""
    for memory, seconds in ((0.0, 600), (0.5, 600), (0.8, 600), (0.8, 1800)):
        posed = (memory, seconds) != (0.8, 600)
        how = f"15% scatter, AR(1) {memory:g}"
        found = drifts(0.2, memory, seconds)
        yield Cell("A6", f"+20% over {seconds:,} s, {how}: flagged", found, 0.95, well_posed=posed)
        yield Cell(
            "A6", f"no drift, {seconds:,} s, AR(1) {memory:g}: flagged", drift_alarm(memory, seconds), 0.02, MOST
        )
        yield Cell("A6", f"no drift, {seconds:,} s, AR(1) {memory:g}: called steady", called_steady(memory, seconds))
        best = best_possible_drift(0.2, memory, seconds)
        yield Cell("A6", f"best possible: +20% over {seconds:,} s, {how}: flagged", best)


def quantile_cells() -> Iterator[Cell]:
    """B1."""
    for load in (0.5, 0.8, 0.9):
        name = f"M/M/1 ρ = {load}, 10 runs of 10⁵ requests: interval of p99 holds it"
        yield Cell("B1", name, covers_p99(load, 100_000, replications=10), 0.93)
    for servers in (4, 16):
        name = f"M/M/{servers} ρ = 0.9, 10 runs of 10⁵ requests: interval of p99 holds it"
        yield Cell("B1", name, covers_p99(0.9, 100_000, servers, 10), 0.93)
    for load in (0.5, 0.8, 0.9):
        yield Cell("B1", f"M/M/1 ρ = {load}, 10⁶ requests: interval of p99 holds it", covers_p99(load, 1_000_000), 0.93)
    yield Cell("B1", "M/M/1 ρ = 0.7, 10⁵ requests", covers_p99(0.7, 100_000), 0.93)
    yield Cell("B1", "M/M/1 ρ = 0.9, 3·10⁵ requests", covers_p99(0.9, 300_000), 0.93, well_posed=False)
    yield Cell("B1", "M/M/1 ρ = 0.9, 10⁵ requests", covers_p99(0.9, 100_000), 0.93, well_posed=False)
    for load in (0.5, 0.9):
        name = f"peer: requests as if independent, M/M/1 ρ = {load}, 10⁶ requests: interval of p99 holds it"
        yield Cell("B1", name, covers_p99_as_if_independent(load, 1_000_000))


def growth_cells() -> Iterator[Cell]:
    """D1."""
    five = np.geomspace(1_000, 100_000, 5)
    for label, sizes in (("5 sizes once", five), ("5 sizes, 4 windows each", np.repeat(five, 4))):
        for name, (family, law) in LAWS.items():
            yield Cell("D1", f"{name}, {label}: right family", right_family(family, law, sizes), 0.90)
        for name, (_, law) in LAWS.items():
            near = near_at_four_times(law, sizes)
            yield Cell("D1", f"{name}, {label}: 4 × within 15%", near, 0.90, well_posed=False)
    for rise in (0.0, 0.3):
        name = f"a cost that rises by {rise:.0%} over one load, on a host that wanders by 3%: grows or not"
        yield Cell("D1", name, told_to_grow(rise), 0.95)
    family, law = LAWS["5 + n/2000"]
    yield Cell("D1", "5 + n/2000, 5 sizes once: among the likely families", likely_family(family, law, five))
    yield Cell("D1", "best possible: 5 + n/2000, 5 sizes once: told from n log n", best_possible_family(five))


def score(cell: Cell, repeat: int, first_seed: int = 0) -> Line:
    """Run the trials of a cell, seeds `first_seed` upwards."""
    outcomes = [cell.trial(first_seed + seed) for seed in range(repeat)]
    answered = [one for one in outcomes if one is not None]
    return Line(cell.goal, cell.name, sum(answered), len(answered), repeat, cell.sign, cell.target, cell.well_posed)


def repetitions(cell: Cell, repeat: int) -> int:
    """A million requests a fifth as often."""
    return max(20, repeat // 5) if "10⁶" in cell.name or "10 runs" in cell.name else repeat


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeat", type=int, default=200)
    parser.add_argument("--only", default="", help="cells whose goal or name contains this")
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    for cell in cells():
        if options.only in f"{cell.goal} {cell.name}":
            found = score(cell, repetitions(cell, options.repeat), options.seed)
            print("| " + " | ".join(found.cells) + " |", flush=True)


if __name__ == "__main__":
    main()
