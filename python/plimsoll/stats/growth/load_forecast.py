"""How long will loading N items take? From the time each item took so far, at the volume of data there was then.

    total = elapsed + ∫ from n to N of c(v) dv        c(v): seconds per item at volume v (growth_family.py)

The interval is that of curves drawn from all families by their weight and from their parameters' scatter, times the
scatter of the pace itself over the items left. It says what follows *if the curve goes on*: a cliff ahead is in no
data. Before a twentieth of the items there is no forecast. Our own construction.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from plimsoll.stats.growth.cliff import cliff
from plimsoll.stats.growth.drift import dependence
from plimsoll.stats.growth.growth_family import Growth, growth_of, total_draws

FEWEST_POINTS = 8
LEAST_SHARE = 0.05
DRIFT_CV = 0.03
ITEMS_IN_SECOND = 40  # fewer do not tell a pace


@dataclass(frozen=True)
class Forecast:
    """Seconds in all with their interval; `left_s` of it still to come; `growth` is what it rests on."""

    total_s: float
    low_s: float
    high_s: float
    left_s: float
    confidence: float
    growth: Growth


def steady_windows(windows: Iterable[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """The windows that tell the target's own pace: none that tries another concurrency, or that failed or ended
    early."""
    return [
        one
        for one in windows
        if one["per_s"] > 0 and not one["failed"] and not one.get("draining") and not one.get("trial")
        if one["seconds"] >= 2 or one["items"] >= ITEMS_IN_SECOND
    ]


def time_per_item(windows: Iterable[Mapping[str, Any]], volume_before: float) -> tuple[np.ndarray, np.ndarray]:
    """(volume in the middle of each steady window, seconds per item in it, which is 1 ÷ throughput), both of shape
    (n,)."""
    steady = steady_windows(windows)
    volume = np.array([volume_before + one["loaded"] - one["items"] / 2 for one in steady], dtype=float)
    return volume, np.array([1 / one["per_s"] for one in steady], dtype=float)


def forecast(
    volume: ArrayLike, per_item_s: ArrayLike, elapsed_s: float, loaded: float, wanted: float, seed: int = 1
) -> Forecast | None:
    """Forecast from costs per item at volumes, both of shape (n,), ascending; volume counts what was there before too.

    `loaded` of `wanted` items are there after `elapsed_s`. None before LEAST_SHARE of them, or with fewer than eight
    points. After a cliff only what came after it counts, once there are eight points of that.
    """
    at, cost = np.asarray(volume, dtype=float), np.asarray(per_item_s, dtype=float)
    usable = (at > 0) & (cost > 0)
    at, cost = at[usable], cost[usable]
    if at.size < FEWEST_POINTS or loaded < LEAST_SHARE * wanted or wanted <= 0:
        return None
    step = cliff(at, cost)
    if step is not None and at.size - step.settled >= FEWEST_POINTS:
        at, cost = at[step.settled :], cost[step.settled :]
    first = growth_of(at, cost)
    if first is None:
        return None
    phi = min(0.9, dependence(np.log(cost / first.best.at(at))))
    growth = growth_of(at, cost, phi) or first
    left = max(0.0, wanted - loaded)
    if left == 0:
        return Forecast(elapsed_s, elapsed_s, elapsed_s, 0.0, 0.90, growth)
    now = float(at[-1])
    draws = total_draws(growth, now, now + left, seed)
    # The pace of a whole machine wanders by some per cent over minutes, which no scatter of neighbours shows.
    random = np.random.default_rng([seed, 1])
    spread = math.hypot(DRIFT_CV, growth.best.cv * math.sqrt((1 + phi) / (1 - phi) / max(1.0, left / loaded * at.size)))
    draws = draws * np.exp(spread * random.standard_normal(draws.size))
    low, middle, high = np.quantile(draws, [0.05, 0.5, 0.95])
    return Forecast(elapsed_s + middle, elapsed_s + low, elapsed_s + high, float(middle), 0.90, growth)
