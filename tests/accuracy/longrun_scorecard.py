"""How often are the long runs' conclusions right? Seeded simulations of known truth, as a table with Wilson 95 %
intervals.

    PYTHONPATH=python:tests/accuracy python tests/accuracy/longrun_scorecard.py --repeat 200 [--only D3]

Goals as in issue 4: A6 drift, B1 intervals of p99, D1 family of growth and extrapolation, D2 keeping up, D3 periodic
jobs. A line is one cell: right of answered trials, answered of all. "met" means that the interval does not exclude
the target.
"""

from __future__ import annotations

import argparse
import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.signal import lfilter

from plimsoll.runs.histogram import Histogram
from plimsoll.stats.block_quantile import BLOCKS, quantile_interval
from plimsoll.stats.drift import drift
from plimsoll.stats.growth_family import growth_of, predict
from plimsoll.stats.keeping_up import keeping_up
from plimsoll.stats.periodic import periodic_pulse
from plimsoll.stats.wilson import wilson_interval

Array = NDArray[np.float64]
# One trial: None where it gives no answer, else whether the answer is right.
Trial = Callable[[int], bool | None]
LEAST, MOST = ">=", "<="


@dataclass(frozen=True)
class Cell:
    """One line of the table: `trial(seed)`, the share of right answers wanted, whether that is a least or a most, and
    whether at least 90 % of the trials must give an answer."""

    goal: str
    name: str
    trial: Trial
    target: float
    sense: str = LEAST
    well_posed: bool = True


@dataclass(frozen=True)
class Score:
    """`hits` of `answered` of `trials`."""

    cell: Cell
    hits: int
    answered: int
    trials: int

    @property
    def met(self) -> bool:
        """Whether neither interval excludes its target."""
        share, rate = wilson_interval(self.hits, self.answered), wilson_interval(self.answered, self.trials)
        good = share.high >= self.cell.target if self.cell.sense == LEAST else share.low <= self.cell.target
        return good and (not self.cell.well_posed or rate.high >= 0.9)

    def line(self) -> str:
        """The line of the table."""
        share = wilson_interval(self.hits, self.answered)
        rate = self.hits / self.answered if self.answered else math.nan
        return (
            f"| {self.cell.goal} | {self.cell.name} | {self.cell.sense} {self.cell.target:.0%} | {rate:.1%} "
            f"({share.low:.1%} to {share.high:.1%}, n = {self.answered}) | {self.answered / self.trials:.0%} "
            f"of {self.trials} | {'met' if self.met else 'MISSED'} |"
        )


HEAD = "| goal | cell | target | rate (Wilson 95 %) | answered | |\n|---|---|---|---|---|---|"


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


def covers_p99(load: float, requests: int) -> Trial:
    """Does the interval of one run hold the true p99 of M/M/1, −ln 0.01 / (1 − ρ)?"""
    truth = -math.log(0.01) / (1 - load)

    def trial(seed: int) -> bool | None:
        times = response_times(load, requests, np.random.default_rng([seed, requests]))
        blocks = [Histogram.from_values(part) for part in np.array_split(times, BLOCKS)]
        found = quantile_interval(blocks, Histogram.merge(blocks), 0.99)
        if found is None or found.low is None or found.high is None:
            return None
        return found.low <= truth <= found.high

    return trial


LAWS: dict[str, tuple[str, Callable[[Array], Array]]] = {
    "constant": ("constant", lambda n: 5 + 0 * n),
    "2 + ln n": ("logarithmic", lambda n: 2 + np.log(n)),
    "5 + n/2000": ("linear", lambda n: 5 + n / 2000),
    "5 + n/200": ("linear", lambda n: 5 + n / 200),
    "1 + n ln n/10000": ("n log n", lambda n: 1 + n * np.log(n) / 10_000),
    "n^0.5": ("power", lambda n: 0.5 * n**0.5),
    "n^1.5": ("power", lambda n: 1e-4 * n**1.5),
    "n^2": ("power", lambda n: 1e-6 * n**2),
}


def noisy(law: Callable[[Array], Array], sizes: Array, seed: int) -> Array:
    """Costs with 5 % scatter."""
    return law(sizes) * np.exp(0.05 * np.random.default_rng(seed).standard_normal(sizes.size))


def right_family(name: str, law: Callable[[Array], Array], sizes: Array) -> Trial:
    """Is the family of growth the true one?"""

    def trial(seed: int) -> bool | None:
        found = growth_of(sizes, noisy(law, sizes, seed))
        return None if found is None or found.family is None else found.family == name

    return trial


def near_at_four_times(law: Callable[[Array], Array], sizes: Array) -> Trial:
    """Is the extrapolation to four times the greatest volume within 15 %, if it is not refused?"""
    at = 4 * float(sizes.max())
    truth = float(law(np.array([at]))[0])

    def trial(seed: int) -> bool | None:
        found = growth_of(sizes, noisy(law, sizes, seed))
        ahead = predict(found, at, seed) if found is not None else None
        return None if ahead is None else abs(ahead[0] / truth - 1) <= 0.15

    return trial


def found_behind(rate_per_s: float, load: float, seconds: int = 600) -> Trial:
    """Is the consumer said to fall behind?"""

    def trial(seed: int) -> bool | None:
        put, taken = consumer_counts(rate_per_s, load, seconds, np.random.default_rng([seed, int(rate_per_s)]))
        return keeping_up(put[1:], taken, put[0]).verdict == "falls behind"

    return trial


def true_period(period_s: float, width_s: int, memory: float, seconds: int, height: float = 2.0) -> Trial:
    """Is a pulse of `height` standard deviations found with its period within 2 %?"""

    def trial(seed: int) -> bool | None:
        random = np.random.default_rng([seed, int(period_s)])
        series = red_noise(memory, seconds, random)
        first = random.uniform(0, max(1.0, min(period_s, seconds - 2 * period_s - width_s)))
        for start in np.arange(first, seconds, period_s).astype(int):
            series[start : start + width_s] += height
        found = periodic_pulse(series)
        return found is not None and abs(found.period_s / period_s - 1) <= 0.02

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


def drifts(share: float, memory: float, seconds: int = 600, scatter: float = 0.15) -> Trial:
    """Is a response time that rises by `share` over the run called drifting? Scatter per second, AR(1)."""

    def trial(seed: int) -> bool | None:
        noise = red_noise(memory, seconds, np.random.default_rng([seed, 6]))
        at = np.arange(seconds)
        found = drift(at, 100 * (1 + share * at / seconds) * (1 + scatter * noise))
        return None if found is None else found.significant

    return trial


def cells() -> Iterator[Cell]:
    """All lines of the table."""
    for memory in (0.0, 0.5, 0.8):
        yield Cell("A6", f"+20 % over 600 s, 15 % scatter, AR(1) {memory:g}: flagged", drifts(0.2, memory), 0.95)
        yield Cell("A6", f"no drift, AR(1) {memory:g}: flagged", drifts(0.0, memory), 0.02, MOST)
    for load in (0.5, 0.8, 0.9):
        yield Cell("B1", f"M/M/1 ρ = {load}, 10⁶ requests: interval of p99 holds it", covers_p99(load, 1_000_000), 0.93)
    yield Cell("B1", "M/M/1 ρ = 0.7, 10⁵ requests", covers_p99(0.7, 100_000), 0.93)
    yield Cell("B1", "M/M/1 ρ = 0.9, 3·10⁵ requests", covers_p99(0.9, 300_000), 0.93, well_posed=False)
    yield Cell("B1", "M/M/1 ρ = 0.9, 10⁵ requests", covers_p99(0.9, 100_000), 0.93, well_posed=False)
    five = np.geomspace(1_000, 100_000, 5)
    for label, sizes in (("5 sizes once", five), ("5 sizes, 4 windows each", np.repeat(five, 4))):
        for name, (family, law) in LAWS.items():
            yield Cell("D1", f"{name}, {label}: right family", right_family(family, law, sizes), 0.90)
        for name, (_, law) in LAWS.items():
            yield Cell(
                "D1", f"{name}, {label}: 4 × within 15 %", near_at_four_times(law, sizes), 0.90, well_posed=False
            )
    yield Cell("D2", "200 items/s, 1 % overload, 10 min: found", found_behind(200, 1.01), 0.95)
    yield Cell("D2", "1,000 items/s, 1 % overload, 10 min: found", found_behind(1000, 1.01), 0.95)
    yield Cell("D2", "50 items/s, 2 % overload, 10 min: found", found_behind(50, 1.02), 0.95)
    yield Cell("D2", "200 items/s, ρ = 0.95: called behind", found_behind(200, 0.95), 0.01, MOST)
    yield Cell("D2", "20 items/s, ρ = 0.95: called behind", found_behind(20, 0.95), 0.01, MOST)
    for memory in (0.0, 0.5):
        for period, width, seconds in ((190, 20, 600), (97, 10, 300), (60, 5, 600), (600, 60, 1800)):
            cycles = f"{seconds // period} cycles, {width} s every {period} s"
            yield Cell(
                "D3",
                f"2 σ, {cycles}, AR(1) {memory:g}: period ± 2 %",
                true_period(period, width, memory, seconds),
                0.90,
            )
    yield Cell("D3", "no job, Student's t of 3 degrees, 300 s: found", no_period_in_tails(300), 0.01, MOST)
    for memory in (0.0, 0.5, 0.8):
        yield Cell("D3", f"no job, AR(1) {memory:g}, 600 s: found", no_period(memory, 600), 0.01, MOST)


def score(cell: Cell, repeat: int, first_seed: int = 0) -> Score:
    """Run the trials of a cell, seeds `first_seed` upwards."""
    outcomes = [cell.trial(first_seed + seed) for seed in range(repeat)]
    answered = [one for one in outcomes if one is not None]
    return Score(cell, sum(answered), len(answered), repeat)


def scorecard(repeat: int, only: str = "") -> Iterator[Score]:
    """The scores of all cells whose goal or name contains `only`; B1 with a million requests a fifth as often."""
    for cell in cells():
        if only in cell.goal or only in cell.name:
            yield score(cell, max(20, repeat // 5) if "10⁶" in cell.name else repeat)


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeat", type=int, default=200)
    parser.add_argument("--only", default="", help="cells whose goal or name contains this")
    options = parser.parse_args()
    print(HEAD)
    for found in scorecard(options.repeat, options.only):
        print(found.line(), flush=True)


if __name__ == "__main__":
    main()
