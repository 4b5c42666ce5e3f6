"""What `grow` says of a long load: cliffs found and invented, and how long all of it takes.

A load is a series of windows of equal time; the cost of an item follows a law of the volume, times a scatter of 5%
a window (AR(1)) and, for the forecast, a pace of the machine that wanders by 3% over two minutes. The truth of a
forecast is the sum of what the windows of the whole load took, and not the law's.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from functools import partial

import numpy as np
from longrun_scorecard import LAWS, Array, red_noise
from score_line import Job, Line, Lines, percent

from plimsoll.stats.growth.cliff import cliff
from plimsoll.stats.growth.load_forecast import forecast

Law = Callable[[Array], Array]
ITEMS = 100_000
SCATTER, PACE = 0.05, 0.03
# As a cache that fills: twice the cost in the end, half of the rise by a tenth of the items.
FILLS = "5 (1 + n/(n + 10000))"
FORECAST_LAWS = ("constant", "2 + ln n", "5 + n/2000", "5 + n/200", "n^0.5")
WINDOWS = 600
PACE_MEMORY = math.exp(-1 / 40)  # of windows of 3 s


def windows(law: Law, count: int, noise: Array) -> tuple[Array, Array, Array]:
    """(volume, cost of an item, items so far) of `count` windows of equal time in which ITEMS are loaded by a law, the
    costs times e^noise; each of shape (count,)."""
    grid = np.linspace(0, ITEMS, 20_001)
    middles = (grid[1:] + grid[:-1]) / 2
    elapsed = np.concatenate(([0.0], np.cumsum(law(middles) * np.diff(grid))))
    edges = np.interp(np.linspace(0, elapsed[-1], count + 1), elapsed, grid)
    loaded = np.diff(edges)
    return (edges[1:] + edges[:-1]) / 2, elapsed[-1] / count / loaded * np.exp(noise), edges[1:]


def with_cliff(law: Law, at: float, rise: float) -> Law:
    """The law, and from a volume on so much more."""
    return lambda n: law(n) * np.where(n >= at, 1 + rise, 1.0)


def found_lines(rise: float, count: int, memory: float, goal: bool, repeat: int, first_seed: int) -> Lines:
    """Is a cliff found where it is, give or take 2.5% of the windows? It comes between a quarter and three quarters of
    the time that the load would take without it; the laws take turns."""
    laws, hits = list(LAWS.values()), 0
    for seed in range(repeat):
        random = np.random.default_rng([first_seed + seed, count, 8])
        law = laws[seed % len(laws)][1]
        smooth, _, _ = windows(law, count, np.zeros(count))
        at = float(np.interp(random.uniform(0.25, 0.75) * count, np.arange(count), smooth))
        volume, cost, loaded = windows(with_cliff(law, at, rise), count, SCATTER * red_noise(memory, count, random))
        found = cliff(volume, cost)
        place = int(np.searchsorted(loaded, at))  # of the window it lies in; from the next one on all is dearer
        hits += found is not None and -0.025 * count <= found.place - place <= 1 + 0.025 * count
    name = f"cliff of {rise:+.0%}, {count} windows, AR(1) {memory:g}: found at its place"
    return [Line("D1", name, hits, repeat, repeat, "≥", 0.95 if goal else None)]


def false_lines(name: str, law: Law, memory: float, goal: bool, repeat: int, first_seed: int) -> Lines:
    """Is a cliff found where there is none? Windows of 40 to 400."""
    hits = 0
    for seed in range(repeat):
        random = np.random.default_rng([first_seed + seed, 9])
        count = int(random.integers(40, 401))
        volume, cost, _ = windows(law, count, SCATTER * red_noise(memory, count, random))
        hits += cliff(volume, cost) is not None
    what = f"no cliff, {name}, AR(1) {memory:g}: found"
    return [Line("D1", what, hits, repeat, repeat, "≤", 0.01 if goal else None)]


def forecast_lines(name: str, law: Law, share: float, goal: bool, repeat: int, first_seed: int) -> Lines:
    """Does the 90% interval of the whole time, made when a share of the items was there, hold it?"""
    told, held, widths = 0, 0, []
    for seed in range(repeat):
        random = np.random.default_rng([first_seed + seed, 10])
        noise = SCATTER * red_noise(0.5, WINDOWS, random) + PACE * red_noise(PACE_MEMORY, WINDOWS, random)
        volume, cost, loaded = windows(law, WINDOWS, noise)
        took = cost * np.diff(loaded, prepend=0.0)
        now = int(np.searchsorted(loaded, share * ITEMS)) + 1
        ahead = forecast(volume[:now], cost[:now], float(took[:now].sum()), float(loaded[now - 1]), ITEMS, seed)
        if ahead is None:
            continue
        told += 1
        held += bool(ahead.low_s <= took.sum() <= ahead.high_s)
        widths.append((ahead.high_s - ahead.low_s) / 2 / took.sum())
    wide = percent(float(np.median(widths))) if widths else "–"
    what = f"{name}, at {share:.0%} of the items: 90% interval holds the whole time (median ± {wide})"
    return [Line("D1", what, held, told, repeat, "≥", 0.90 if goal else None, goal)]


def jobs(scale: float, first_seed: int) -> Iterator[Job]:
    """300 loads of each kind at scale 1, of forecasts half as many."""
    repeat = max(20, round(300 * scale))
    fewer = max(20, repeat // 2)
    for rise, count, memory, goal in (
        (0.5, 40, 0.0, True),
        (0.5, 40, 0.5, True),
        (0.5, 200, 0.5, True),
        (0.25, 200, 0.0, True),
        (0.25, 200, 0.5, True),
        (0.25, 40, 0.5, False),
    ):
        run = partial(found_lines, rise, count, memory, goal, repeat, first_seed)
        yield Job(f"D1 cliff of {rise:+.0%}, {count} windows, AR(1) {memory:g}", run)
    for memory in (0.0, 0.5):
        for name, (_, law) in LAWS.items():
            yield Job(f"D1 no cliff, {name}", partial(false_lines, name, law, memory, True, repeat, first_seed))
        fills = partial(false_lines, FILLS, lambda n: 5 * (1 + n / (n + 10_000)), memory, False, repeat, first_seed)
        yield Job(f"D1 no cliff, {FILLS}", fills)
    for name in FORECAST_LAWS:
        for share in (0.10, 0.25, 0.50):
            run = partial(forecast_lines, name, LAWS[name][1], share, True, fewer, first_seed)
            yield Job(f"D1 forecast {name} at {share:.0%}", run)
    ahead = with_cliff(LAWS["constant"][1], 0.6 * ITEMS, 0.5)
    name = "constant, and a cliff of +50% at 60%"
    yield Job(f"D1 forecast {name}", partial(forecast_lines, name, ahead, 0.25, False, fewer, first_seed))
