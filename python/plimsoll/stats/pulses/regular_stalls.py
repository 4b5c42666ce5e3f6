"""Do a few stark stalls come back? For series too short for the fold of periodic.py, which lets no second count much.

A second is stark if it lies `STARK` robust standard deviations above the median; neighbours are one stall. Stalls that
chance spreads over n seconds have gaps of all lengths. The test is conditional on their number m: the share of draws of
m uniform moments whose gaps differ by no more than those seen. With four stalls in a minute that is about 0.4% for
gaps that differ by two seconds. At least FEWEST stalls, over most of the time; every stark stall counts, so that one
stall out of turn hides a job. Our own construction.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

STARK = 8.0
FEWEST = 4
MOST_CHANCE = 0.005
MOST_STALLS = 60
COVERED = 0.6
DRAWS, SEED = 20_000, 20


@dataclass(frozen=True)
class RegularStalls:
    """First places of the stalls, shape (m,), the longest stall in places, and the chance of gaps as even as these."""

    starts: NDArray[np.int_]
    width: int
    chance: float


def regular_stalls(series: NDArray[np.float64], known: NDArray[np.bool_], shortest: float) -> RegularStalls | None:
    """Stalls of `series`, shape (n,), that come at even gaps of at least `shortest` places; None where chance would do
    as well, or there are too few."""
    if known.sum() < 2 * FEWEST:
        return None
    middle = float(np.median(series[known]))
    spread = 1.4826 * float(np.median(np.abs(series[known] - middle)))
    if spread <= 0:
        return None
    stark = known & (series > middle + STARK * spread)
    edges = np.diff(np.concatenate(([0], stark.astype(int), [0])))
    starts, ends = np.flatnonzero(edges == 1), np.flatnonzero(edges == -1)
    if not FEWEST <= starts.size <= MOST_STALLS or starts[-1] - starts[0] < COVERED * series.size:
        return None
    gaps = np.diff(starts)
    if gaps.mean() < shortest:
        return None
    chance = chance_of(starts.size, series.size, int(gaps.max() - gaps.min()))
    if chance > MOST_CHANCE:
        return None
    return RegularStalls(starts, int((ends - starts).max()), chance)


def chance_of(stalls: int, places: int, difference: int) -> float:
    """Share of draws of so many moments among so many places that cover as much and whose gaps differ so little."""
    draws = np.sort(np.random.default_rng(SEED).integers(0, places, (DRAWS, stalls)), axis=1)
    gaps = np.diff(draws, axis=1)
    even = (gaps.max(axis=1) - gaps.min(axis=1) <= difference) & (draws[:, -1] - draws[:, 0] >= COVERED * places)
    return float((even.sum() + 1) / (DRAWS + 1))
