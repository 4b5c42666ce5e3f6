"""How far off are the models of a capacity run? Simulated steps of known truth, as a table.

    PYTHONPATH=python:tests/accuracy python tests/accuracy/model_scorecard.py --repetitions 500

A3: throughput by the universal scalability law with 2% scatter at 8 levels (contention and coherency drawn anew each
time), measured to a share of its peak. F1: utilisation at 8 levels up to 60% of a resource with a point of scatter,
extrapolated to 90%. An error row counts trials within the target's error, so that 90% of them is the target at p90;
coverage counts answered trials, and the answers have rows of their own.
"""

from __future__ import annotations

import argparse
import math
import warnings
from collections.abc import Callable, Iterator
from functools import partial

import numpy as np
from compare_scorecard import Row, table
from numpy.typing import NDArray
from scipy.optimize import OptimizeWarning, curve_fit
from score_line import Job, Lines

from plimsoll.stats.throughput.demand import reach
from plimsoll.stats.throughput.demand_curve import reach_along_curve
from plimsoll.stats.throughput.scalability import Scalability, fit_scalability

Array = NDArray[np.float64]
NOISE = 0.02
POINT = 0.01
BUDGET = 0.9
WIDEST = 1.5
AT_LEAST_90 = {"sign": "≥", "target": 0.90}
CONTENTIONS, COHERENCIES = (0.01, 0.03, 0.10), (1e-4, 4e-4, 2e-3)


def law(levels: Array | float, single: float, contention: float, coherency: float) -> Array | float:
    """The universal scalability law."""
    return single * levels / (1 + contention * (levels - 1) + coherency * levels * (levels - 1))


def closed_queue(levels: Array, mean_s: float, think_s: float) -> Array:
    """Throughput of users who think and wait for one exponential server: exact mean value analysis."""
    found, queue = [], 0.0
    for count in range(1, int(levels.max()) + 1):
        response = mean_s * (1 + queue)
        per_s = count / (response + think_s)
        queue = per_s * response
        found.append(per_s)
    return np.asarray(found)[levels.astype(int) - 1]


def peaks(share: float, repetitions: int, count: int = 8, first_seed: int = 0) -> list[tuple[Scalability, float]]:
    """Fits of `count` levels up to `share` of the peak's, each with the true peak throughput."""
    fits = (
        (fit_scalability(levels, seen), truth) for levels, seen, truth in laws(share, repetitions, count, first_seed)
    )
    return [(fit, truth) for fit, truth in fits if isinstance(fit, Scalability)]


def laws(share: float, repetitions: int, count: int = 8, first_seed: int = 0) -> Iterator[tuple[Array, Array, float]]:
    """(levels, throughput with scatter, true peak throughput) of `count` levels up to `share` of the peak's."""
    draw = np.random.default_rng([2026 + first_seed, round(100 * share), count])
    for _ in range(repetitions):
        contention, coherency = draw.choice(CONTENTIONS), draw.choice(COHERENCIES)
        where = math.sqrt((1 - contention) / coherency)
        levels = np.unique(np.round(np.geomspace(1, max(count, share * where), count)))
        seen = law(levels, 10.0, contention, coherency) * np.exp(NOISE * draw.standard_normal(levels.size))
        yield levels, seen, float(law(where, 10.0, contention, coherency))


def plain_fit(levels: Array, seen: Array) -> float:
    """The peer: the law by ordinary least squares, and its peak whatever was measured; infinite without one."""
    start = (seen[0] / levels[0], 0.02, 1e-4)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", OptimizeWarning)
            single, contention, coherency = curve_fit(law, levels, seen, start, bounds=(0, [np.inf, 1, 1]))[0]
    except RuntimeError:
        return math.inf
    where = math.sqrt(max(0.0, 1 - contention) / max(coherency, 1e-12))
    return float(law(where, single, contention, coherency))


def peer_rows(share: float, repetitions: int, first_seed: int = 0) -> Iterator[Row]:
    """How near the peer comes."""
    made = laws(share, repetitions, first_seed=first_seed)
    close = sum(abs(plain_fit(levels, seen) / truth - 1) <= 0.03 for levels, seen, truth in made)
    yield Row(f"A3 peer: least-squares fit, USL peak within 3%, measured to {share:g} of its level", close, repetitions)


def peak_rows(share: float, repetitions: int, first_seed: int = 0) -> Iterator[Row]:
    """Error of the peak where it was passed; coverage of what is answered; answers."""
    fits = peaks(share, repetitions, first_seed=first_seed)
    told = [(fit, truth) for fit, truth in fits if fit.told]
    name = f"measured to {share:g} of its level"
    if share > 1:
        close = sum(abs((fit.peak_per_s or math.inf) / truth - 1) <= 0.03 for fit, truth in fits)
        yield Row(f"A3 USL peak within 3%, {name}", close, repetitions, **AT_LEAST_90)
        yield Row(
            f"A3 answered as a measured peak, {name}",
            sum(f.told and f.reached for f, _ in fits),
            repetitions,
            **AT_LEAST_90,
        )
    goal = AT_LEAST_90 if share <= 0.75 or share > 1 else {}
    yield Row(
        f"A3 range holds the peak, {name}",
        sum(holds(fit.peak_interval, truth) for fit, truth in told),
        len(told),
        **goal,
    )
    if share <= 1:
        yield Row(f"A3 answered with a range, {name}", len(told), repetitions)


def corner_rows(share: float, repetitions: int, first_seed: int = 0) -> Iterator[Row]:
    """Not the law: one server and think time, whose throughput has a sharp corner."""
    draw, told, held = np.random.default_rng([7 + first_seed, round(100 * share)]), 0, 0
    for _ in range(repetitions):
        corner = draw.choice([20, 50, 100])
        levels = np.unique(np.round(np.geomspace(1, share * corner, 8)))
        seen = closed_queue(levels, 0.01, 0.01 * (corner - 1)) * np.exp(NOISE * draw.standard_normal(levels.size))
        fit = fit_scalability(levels, seen)
        if isinstance(fit, Scalability) and fit.told:
            told += 1
            held += holds(fit.peak_interval, 100.0)
    if told:
        yield Row(f"A3 range holds the ceiling of a closed M/M/1, measured to {share:g} N*", held, told)
    yield Row(f"A3 answered with a range, closed M/M/1, measured to {share:g} N*", told, repetitions)


def demands(
    rise: float, top: float, count: int, repetitions: int, first_seed: int = 0
) -> Iterator[tuple[Array, Array, float]]:
    """(utilisation, throughput, truth): demand is `rise` higher at the budget than at light load."""
    draw = np.random.default_rng([60 + first_seed, round(100 * rise) + 100, round(100 * top), count])
    for _ in range(repetitions):
        idle = draw.uniform(0.0, 0.10)
        light = (BUDGET - idle) / (1 + rise)
        used = np.linspace(max(top / count, idle + 0.02), top, count)
        per_s = (used - idle) / light if rise == 0 else _solve(used - idle, light, rise)
        yield used + POINT * draw.standard_normal(count), 100 * per_s, 100.0


def _solve(used: Array, light: float, rise: float) -> Array:
    """Throughput x with light · x (1 + rise · x) = used."""
    return np.asarray((-light + np.sqrt(light**2 + 4 * light * rise * used)) / (2 * light * rise))


def demand_rows(
    rise: float,
    within: float,
    repetitions: int,
    top: float = 0.6,
    count: int = 8,
    goal: bool = True,
    first_seed: int = 0,
) -> Iterator[Row]:
    """Error, coverage and answers of the curve with its prior; the error of the straight line beside it."""
    close, held, told, straight = 0, 0, 0, 0
    for used, per_s, truth in demands(rise, top, count, repetitions, first_seed):
        found = reach_along_curve(used, per_s, BUDGET)
        line = reach(np.maximum(used, 1e-6).tolist(), per_s.tolist(), BUDGET).line_per_s
        straight += line is not None and abs(line / truth - 1) <= within
        if found is None:
            continue
        close += abs(found.per_s / truth - 1) <= within
        high = found.interval[1]
        if high is not None and high <= WIDEST * found.interval[0]:
            told += 1
            held += holds(found.interval, truth)
    how = f"demand {rise:+.0%} by the budget" if rise else "constant demand"
    name = f"{how}, {count} levels to {top:.0%}"
    wanted = AT_LEAST_90 if goal else {}
    yield Row(f"F1 capacity within {within:.0%}, {name}", close, repetitions, **wanted)
    yield Row(f"F1 interval holds it, {name}", held, max(told, 1), **wanted)
    yield Row(f"F1 answered, {name}", told, repetitions, **wanted)
    yield Row(f"F1 peer: straight line within {within:.0%}, {name}", straight, repetitions)


def holds(interval: tuple[float, float | None], truth: float) -> bool:
    """Whether the truth lies in it."""
    low, high = interval
    return low <= truth and (high is None or truth <= high)


def parts(n: int, first_seed: int = 0) -> Iterator[tuple[str, Callable[[], Iterator[Row]]]]:
    """The whole scorecard, `n` trials a row: names and what makes their rows."""
    seed = {"first_seed": first_seed}
    for share in (0.3, 0.5, 0.75, 1.0, 1.25, 1.5, 2.0):
        yield f"A3 USL to {share:g}", partial(peak_rows, share, n, **seed)
        yield f"A3 peer USL to {share:g}", partial(peer_rows, share, max(20, n // 3), **seed)
    for share in (0.5, 1.0, 2.0):
        yield f"A3 corner to {share:g}", partial(corner_rows, share, max(20, n // 4), **seed)
    yield "F1 constant", partial(demand_rows, 0.0, 0.05, n, **seed)
    yield "F1 +15%", partial(demand_rows, 0.15, 0.08, n, **seed)
    for rise, more in ((0.30, {}), (-0.10, {}), (0.15, {"top": 0.4}), (0.15, {"count": 4})):
        yield f"F1 {rise:+.0%} {more}", partial(demand_rows, rise, 0.08, n, goal=False, **more, **seed)


def jobs(scale: float, first_seed: int) -> Iterator[Job]:
    """600 trials a row at scale 1."""
    for name, make in parts(max(20, round(600 * scale)), first_seed):
        yield Job(name, partial(_lines, make))


def _lines(make: Callable[[], Iterator[Row]]) -> Lines:
    return [row.line for row in make()]


def main() -> None:
    """The scorecard on standard output."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--repetitions", type=int, default=500)
    made = parts(parser.parse_args().repetitions)
    print(table(row for _, make in made for row in make()))


if __name__ == "__main__":
    main()
