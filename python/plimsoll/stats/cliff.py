"""Is there a cliff: a place from which on a cost is higher at once, as when data no longer fit in memory?

A step is sought in the logarithm of the cost, beside a smooth curve in the logarithm of the volume (a parabola), at
every place with at least five points on either side. Its t value, divided by √((1 + φ) / (1 − φ)) for residuals that
remember, must exceed 4.5: of 200 places one exceeds 3.9 by chance in one of a hundred runs (Bonferroni, one-sided).
Only steps upwards by 15 % and more are called cliffs. What breaks it: a cost that climbs over a third of the range is
no step, and only the place that fits best is looked at, so that a greater step downwards hides one upwards. Our own
construction.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from plimsoll.stats.drift import dependence

LEAST_T = 4.5
LEAST_RISE = 0.15
FEWEST_POINTS = 16
MARGIN = 5
MOST_PLACES = 200


@dataclass(frozen=True)
class Cliff:
    """From volume `at` on (between `low` and `high`, the neighbouring points) the cost is `rise` (a share) higher;
    `t`: its strength in standard deviations."""

    at: float
    low: float
    high: float
    rise: float
    t: float
    place: int


def cliff(volume: ArrayLike, cost: ArrayLike) -> Cliff | None:
    """The clearest step upwards of costs (> 0) at volumes (> 0, ascending), both of shape (n,); None without one."""
    at, seen = np.log(np.asarray(volume, dtype=float)), np.log(np.asarray(cost, dtype=float))
    if at.size < FEWEST_POINTS or np.ptp(at) <= 0:
        return None
    centred = (at - at.mean()) / np.ptp(at)
    smooth = np.column_stack([np.ones_like(at), centred, centred**2])
    best: tuple[float, int, float] | None = None
    places = np.unique(np.linspace(MARGIN, at.size - MARGIN, min(MOST_PLACES, at.size)).astype(int))
    for place in places:
        design = np.column_stack([smooth, np.arange(at.size) >= place])
        found, _, rank, _ = np.linalg.lstsq(design, seen, rcond=None)
        if rank < design.shape[1]:
            continue
        rest = seen - design @ found
        if best is None or float(rest @ rest) < best[0]:
            best = (float(rest @ rest), int(place), float(found[-1]))
    if best is None:
        return None
    square, place, step = best
    design = np.column_stack([smooth, np.arange(at.size) >= place])
    rest = seen - design @ np.linalg.lstsq(design, seen, rcond=None)[0]
    freedom = at.size - design.shape[1]
    variance = max(square / freedom, 1e-12) * float(np.linalg.inv(design.T @ design)[-1, -1])
    phi = min(0.9, dependence(rest))
    t = step / math.sqrt(variance * (1 + phi) / (1 - phi))
    rise = math.exp(step) - 1
    if t < LEAST_T or rise < LEAST_RISE:
        return None
    volumes = np.exp(at)
    low, high = float(volumes[place - 1]), float(volumes[place])
    return Cliff(math.sqrt(low * high), low, high, rise, t, place)
