"""How late may the generator be before what experiments say is no longer of the target? (docs/measurement.md)

    PYTHONPATH=python:tests/accuracy python tests/accuracy/lateness_scorecard.py

The same load twice, once with a generator that is late and once without. Each way of being late is scaled up to the
most that the rule of findings/validity/generator.py lets pass, found by bisection; so the rows say what a run
that is called valid may hide. Lateness of a closed load comes on top of each create; a late arrival of an open one is
sent later.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial

import numpy as np
from longrun_scorecard import Array
from score_line import Job, Line, Lines, print_rows

from plimsoll.findings.validity.generator import figures_of, generator_health
from plimsoll.runs.histogram import Histogram
from plimsoll.runs.readings.generator_seconds import GeneratorSeconds
from plimsoll.runs.snapshot import Snapshot
from plimsoll.stats.consumption.keeping_up import keeping_up
from plimsoll.stats.growth.cliff import LEAST_RISE, cliff
from plimsoll.stats.growth.growth_family import growth_of

# Lateness in ms of `count` events of a second that lies at a share of the load; scale 1.
Late = Callable[[np.random.Generator, int, float], Array]
SECONDS, WINDOW_S, AT_A_TIME = 600, 3, 4
RESPONSE_MS, SPREAD = 20.0, 0.3
TICKS = 100  # timers of 10 ms in a second, by which the engine knows how late it is
MOST = 200 * RESPONSE_MS
EXPONENT_NEAR = 0.1
MINUTE_S, A_SECOND = 60, 200
PERCENTILES, PERCENTILE_NEAR = (0.5, 0.9, 0.95, 0.99), 0.11


def _always(random: np.random.Generator, count: int, at: float) -> Array:
    return random.exponential(1.0, count)


def _turns(share: float) -> Late:
    return lambda random, count, at: (random.random(count) < share).astype(float)


def _seconds(random: np.random.Generator, count: int, at: float) -> Array:
    return random.exponential(1.0, count) * (random.random() < 0.4)


def _from(share: float) -> Late:
    return lambda random, count, at: random.exponential(1.0, count) * (at >= share)


# Whether the rule is to bound it: lateness of a tenth of the load, or of near half of the turns, it cannot.
LATE: dict[str, tuple[Late, bool]] = {
    "exponential": (_always, True),
    "log-normal": (lambda random, count, at: np.exp(0.7 * random.standard_normal(count)), True),
    "in 1 of 50 turns": (_turns(0.02), True),
    "in 40% of the seconds": (_seconds, True),
    "from 60% of the load on": (_from(0.6), True),
    "from 80% of the load on": (_from(0.8), True),
    "from 90% of the load on": (_from(0.9), False),
    "in 45% of the turns": (_turns(0.45), False),
}
LAWS: dict[str, Callable[[float], float]] = {
    "constant": lambda volume: RESPONSE_MS,
    "n^0.5": lambda volume: RESPONSE_MS * math.sqrt(volume / 60_000),
}


@dataclass(frozen=True)
class Loaded:
    """Windows of one load: volume and seconds an item, shape (windows,); and what the generator told of its seconds."""

    volume: Array
    cost: Array
    facts: GeneratorSeconds

    @property
    def valid(self) -> bool:
        """Whether the rule lets it pass."""
        step = {"level": AT_A_TIME, **figures_of(self.facts)}
        return bool(generator_health([step], [{}], [self.facts], rests_on="mean_time")["healthy"])


def load(law: Callable[[float], float], late: Late, scale_ms: float, seed: int) -> Loaded:
    """Ten minutes of creates, four at a time, from 2,000 items on."""
    random, lateness = np.random.default_rng([seed, 11]), np.random.default_rng([seed, 12])
    volume, facts, seen, rates, response_times = 2000.0, GeneratorSeconds(), [], [], []
    for second in range(SECONDS):
        mean_ms = law(volume)
        count = max(1, round(1000 * AT_A_TIME / mean_ms))
        lags = scale_ms * late(lateness, count + TICKS, second / SECONDS)
        times = mean_ms * np.exp(SPREAD * random.standard_normal(count) - SPREAD**2 / 2) + lags[:count]
        facts.add(_snapshot(second, lags[count:]), with_times=False)
        response_times.append(times)
        rates.append(1000 * AT_A_TIME / float(times.mean()))
        seen.append(volume + rates[-1] / 2)
        volume += rates[-1]
    facts.add_times(Histogram.from_values(np.concatenate(response_times)))
    windows = SECONDS // WINDOW_S
    cost = 1 / np.reshape(rates, (windows, WINDOW_S)).mean(axis=1)
    return Loaded(np.reshape(seen, (windows, WINDOW_S)).mean(axis=1), cost, facts)


def _snapshot(second: int, ticks: Array) -> Snapshot:
    p50_ms, p99_ms = np.quantile(ticks, [0.5, 0.99]).tolist()
    told = {"cpu_s": 0.3, "threads": 1, "lag_p50_ms": p50_ms, "lag_p99_ms": p99_ms, "lag_max_ms": float(ticks.max())}
    return Snapshot(second, 1.79e9 + second, AT_A_TIME, AT_A_TIME, AT_A_TIME, generator=told)


def most_that_passes(law: Callable[[float], float], late: Late, seed: int) -> float:
    """The greatest scale in ms at which such a load is called valid, within 2%; MOST where all are."""
    return _bisected(lambda scale_ms: load(law, late, scale_ms, seed).valid)


def _bisected(passes: Callable[[float], bool]) -> float:
    low, high = 0.1, MOST
    if passes(high):
        return high
    while high / low > 1.02:
        middle = math.sqrt(low * high)
        low, high = (middle, high) if passes(middle) else (low, middle)
    return low


def exponent(one: Loaded) -> float:
    """Slope in the logarithms."""
    return float(np.polyfit(np.log(one.volume), np.log(one.cost), 1)[0])


def grow_lines(name: str, late: Late, goal: bool, repeat: int, first_seed: int) -> Lines:
    """Where nothing grows: no cliff, and time of an item and growth at most as wrong as a cliff must rise; where it
    grows: the exponent."""
    made: Lines = []
    for law_name, law in LAWS.items():
        scale_ms = most_that_passes(law, late, first_seed - 1)
        longer, shift, right = [], [], 0
        for seed in range(first_seed, first_seed + repeat):
            seen, free = load(law, late, scale_ms, seed), load(law, late, 0.0, seed)
            true_s = np.array([law(volume) for volume in seen.volume]) / (1000 * AT_A_TIME)
            longer.append(float(np.mean(seen.cost / true_s)) - 1)
            shift.append(exponent(seen) - exponent(free))
            if law_name == "constant":
                growth = growth_of(seen.volume, seen.cost)
                steady = growth is not None and growth.change <= LEAST_RISE
                right += longer[-1] <= LEAST_RISE and steady and cliff(seen.volume, seen.cost) is None
            else:
                right += abs(shift[-1]) <= EXPONENT_NEAR
        what = f"exponent within {EXPONENT_NEAR:g}"
        if law_name == "constant":
            what = f"no cliff, item and growth at most {LEAST_RISE:.0%} too much"
        figures = f"time of an item {np.mean(longer):+.1%}, exponent {np.mean(shift):+.3f}"
        words = f"grow, {law_name}, generator late {name}, as much as passes: {what} ({figures})"
        made.append(Line("", words, right, repeat, repeat, "≥", 0.95 if goal else None))
    return made


def times_lines(name: str, late: Late, spread: float, goal: bool, repeat: int, first_seed: int) -> Lines:
    """Percentiles of a minute of responses at one level, log-normal of that spread, as far off as passes."""
    scale_ms = _bisected(lambda scale_ms: _minute(late, spread, scale_ms, first_seed - 1)[2])
    right, off = 0, []
    for seed in range(first_seed, first_seed + repeat):
        seen, true, _ = _minute(late, spread, scale_ms, seed)
        off.append(np.quantile(seen, PERCENTILES) / np.quantile(true, PERCENTILES) - 1)
        right += bool(np.max(off[-1]) <= PERCENTILE_NEAR)
    figures = ", ".join(f"p{100 * q:g} {one:+.1%}" for q, one in zip(PERCENTILES, np.mean(off, axis=0), strict=True))
    words = (
        f"times, σ = {spread:g}, generator late {name}, as much as passes: each at most {PERCENTILE_NEAR:.0%} too much"
    )
    return [Line("", f"{words} ({figures})", right, repeat, repeat, "≥", 0.95 if goal else None)]


def _minute(late: Late, spread: float, scale_ms: float, seed: int) -> tuple[Array, Array, bool]:
    """Response times with lateness and without, shape (60 × 200,), and whether the rule lets that pass."""
    random, lateness = np.random.default_rng([seed, 14]), np.random.default_rng([seed, 15])
    facts, lags = GeneratorSeconds(), []
    for second in range(MINUTE_S):
        drawn = scale_ms * late(lateness, A_SECOND + TICKS, second / MINUTE_S)
        facts.add(_snapshot(second, drawn[A_SECOND:]), with_times=False)
        lags.append(drawn[:A_SECOND])
    true = RESPONSE_MS * np.exp(spread * random.standard_normal(MINUTE_S * A_SECOND))
    seen = true + np.concatenate(lags)
    facts.add_times(Histogram.from_values(seen))
    health = generator_health([{"level": AT_A_TIME, **figures_of(facts)}], [{}], [facts], rests_on="response_time")
    return seen, true, bool(health["healthy"])


def served(arrivals: Array, works: Array) -> Array:
    """When each is done, one after the other (Lindley 1952)."""
    total = np.cumsum(works)
    return np.asarray(total + np.maximum.accumulate(arrivals - (total - works)))


def verdict(arrivals: Array, works: Array, seconds: int) -> str:
    """Of the seconds after the first minute."""
    done, edges = served(arrivals, works), np.arange(60, 61 + seconds)
    waiting = float(np.searchsorted(arrivals, 60) - np.searchsorted(done, 60))
    return keeping_up(np.histogram(arrivals, edges)[0], np.histogram(done, edges)[0], waiting).verdict


def in_stalls(arrivals: Array, late_s: float) -> Array:
    """What comes in the first `late_s` of every second, or of every 2 × `late_s`, is sent at the end of that."""
    every = max(1.0, 2 * late_s)
    within = arrivals % every
    return np.where(within < late_s, arrivals - within + late_s, arrivals)


def in_second_half(arrivals: Array, late_s: float) -> Array:
    """All of the second half is sent so much later."""
    return np.where(arrivals > 360, arrivals + late_s, arrivals)


def scattered(arrivals: Array, late_s: float) -> Array:
    """Each by an exponential time, of which `late_s` is p99."""
    random = np.random.default_rng(arrivals.size)
    return np.sort(arrivals + random.exponential(late_s / math.log(100), arrivals.size))


HOW_LATE = {"in stalls": in_stalls, "in the second half": in_second_half, "exponentially": scattered}


def drain_lines(late_s: float, how: str, goal: bool, repeat: int, first_seed: int, seconds: int = 600) -> Lines:
    """Is the verdict the same as without? Consumers with 1% too much to do, nearly enough time, and a slow one."""
    same = 0
    cases = ((200.0, 1.01), (200.0, 0.95), (20.0, 0.95), (50.0, 1.02))
    for seed in range(first_seed, first_seed + repeat):
        rate, used = cases[seed % len(cases)]
        random = np.random.default_rng([seed, 13])
        count = int(rate * (seconds + 60) * 1.2) + 100
        arrivals = np.cumsum(random.exponential(1 / rate, count))
        works = random.exponential(used / rate, count)
        late = HOW_LATE[how](arrivals, late_s)
        same += verdict(arrivals, works, seconds) == verdict(late, works, seconds)
    words = f"drain, ρ of 0.95 to 1.02, generator late {how}, {1000 * late_s:,.0f} ms: verdict is the same"
    return [Line("", words, same, repeat, repeat, "≥", 0.99 if goal else None)]


def jobs(scale: float, first_seed: int) -> Iterator[Job]:
    """50 pairs of loads of grow and of times, and 400 of drain, at scale 1."""
    for name, (late, goal) in LATE.items():
        run: Callable[[], Lines] = partial(grow_lines, name, late, goal, max(10, round(50 * scale)), first_seed)
        yield Job(f"lateness grow {name}", run)
        for spread in (0.3, 1.0):
            run = partial(times_lines, name, late, spread, goal, max(10, round(50 * scale)), first_seed)
            yield Job(f"lateness times {name}", run)
    for how in HOW_LATE:
        for late_s in (0.1, 1.0):
            run = partial(drain_lines, late_s, how, late_s <= 0.1, max(40, round(400 * scale)), first_seed)
            yield Job(f"lateness drain {how}", run)


if __name__ == "__main__":
    print_rows(jobs, __doc__)
