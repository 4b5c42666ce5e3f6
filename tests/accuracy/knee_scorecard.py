"""The knee of a closed workload beside kneed's, and whether it moves with the range that was measured.

Truth: N* = (D + Z) ÷ D of one station with demand D and think time Z; throughput by exact mean-value analysis (Reiser
and Lavenberg 1980); completions of 60 s at 12 levels, in equal ratios as a ramp's are or in equal steps as a published
table's often are, scatter as Poisson's. kneed
means another point by its knee (the greatest distance from the diagonal of the range), so look at whether it stays.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from itertools import product

import numpy as np
from score_line import Job, Line, Lines

from plimsoll.stats.throughput.knee import Knee, closed_knee

DEMAND_S, THINK_S, SECONDS = 0.01, 0.99, 60.0
TRUTH = (DEMAND_S + THINK_S) / DEMAND_S
RANGES = (1.2, 2.0, 4.0, 8.0)
WITHIN = 0.10


def throughput_per_s(users: int) -> np.ndarray:
    """X(1) … X(users) of exact mean-value analysis, shape (users,)."""
    queue, found = 0.0, np.empty(users)
    for count in range(1, users + 1):
        response_s = DEMAND_S * (1 + queue)
        found[count - 1] = count / (response_s + THINK_S)
        queue = found[count - 1] * response_s
    return found


SPACINGS = {"equal ratios": np.geomspace, "equal steps": np.linspace}


def measured(spacing: str, reach: float, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """(levels, completions) of one measurement up to `reach` × N*."""
    levels = np.unique(SPACINGS[spacing](4, reach * TRUTH, 12).round().astype(int))
    mean = throughput_per_s(int(levels.max()))[levels - 1] * SECONDS
    return levels, np.random.default_rng([seed, round(10 * reach)]).poisson(mean)


def ours(spacing: str, reach: float, seed: int) -> float | None:
    levels, done = measured(spacing, reach, seed)
    found = closed_knee(levels, done, [SECONDS] * levels.size)
    return found.level if isinstance(found, Knee) else None


def peer(spacing: str, reach: float, seed: int) -> float | None:
    """kneed's, with its defaults."""
    from kneed import KneeLocator

    levels, done = measured(spacing, reach, seed)
    found = KneeLocator(levels, done / SECONDS, curve="concave", direction="increasing").knee
    return None if found is None else float(found)


def lines(repeat: int, first_seed: int) -> Lines:
    """Ours and, where kneed is installed, its."""
    made: Lines = []
    for name, locate in (("", ours), ("peer: kneed, ", peer)):
        for spacing, reach in product(SPACINGS, RANGES):
            try:
                found = [locate(spacing, reach, first_seed + seed) for seed in range(repeat)]
            except ModuleNotFoundError:
                print("kneed is not installed, its rows are left out: pip install kneed")
                return made
            told = [one for one in found if one is not None]
            near = sum(abs(one / TRUTH - 1) <= WITHIN for one in told)
            what = f"{name}knee within 10% of N* = {TRUTH:g}, 12 levels in {spacing} up to {reach:g} N*"
            made.append(Line("A5", what, near, len(told), repeat, "≥", None if name else 0.90, not name))
    return made


def jobs(scale: float, first_seed: int) -> Iterator[Job]:
    """300 measurements of each range at scale 1."""
    yield Job("A5 knee kneed", partial(lines, max(20, round(300 * scale)), first_seed))
