"""Is there a cliff: a place from which on a cost is higher at once, as when data no longer fit in memory?

A step is sought in the logarithm of the cost, beside a smooth curve in the logarithm of the volume (a parabola), at
every place with at least five points on either side. Its t value, divided by √((1 + φ) / (1 − φ)) for residuals that
remember, must exceed 4.5: of 200 places one exceeds 3.9 by chance in one of a hundred runs (Bonferroni, one-sided).
Only steps upwards by 15% and more are called cliffs.

One step alone does not show beside another: a greater one downwards, as where a cleaning job begins, is the one that
fits best, and either leaves the other's rise in the residuals. So where one step is no cliff, the pair of places that
fits best is taken, either of any direction, five points apart; the clearer of its steps upwards is judged. As there are
some 20,000 pairs of 200 places, either of which may be the one that rises, its border is 6 (5.0 by Bonferroni, and a
margin for φ of few points). φ is corrected for all that was fitted, the places included. What breaks it: a cost that
climbs over a third of the range is no step, and three or more steps hide each other. Our own construction.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

LEAST_T = 4.5
LEAST_T_OF_PAIR = 6.0
LEAST_RISE = 0.15
FEWEST_POINTS = 16
MARGIN = 5
MOST_PLACES = 200
MOST_DEPENDENCE = 0.9
_ALIKE = 1e-9


@dataclass(frozen=True)
class Cliff:
    """From volume `at` on (between `low` and `high`, the neighbouring points) the cost is `rise` (a share) higher;
    `t`: its strength in standard deviations; `place`: its first point; `steps`: the first points of all steps found,
    ascending, of which it is one."""

    at: float
    low: float
    high: float
    rise: float
    t: float
    place: int
    steps: tuple[int, ...]

    @property
    def settled(self) -> int:
        """The first point after which no further step came."""
        return self.steps[-1]


def cliff(volume: ArrayLike, cost: ArrayLike) -> Cliff | None:
    """The clearest step upwards of costs (> 0) at volumes (> 0, ascending), both of shape (n,); None without one."""
    at, seen = np.log(np.asarray(volume, dtype=float)), np.log(np.asarray(cost, dtype=float))
    if at.size < FEWEST_POINTS or np.ptp(at) <= 0:
        return None
    centred = (at - at.mean()) / np.ptp(at)
    smooth = np.column_stack([np.ones_like(at), centred, centred**2])
    places = np.unique(np.linspace(MARGIN, at.size - MARGIN, min(MOST_PLACES, at.size)).astype(int))
    for search, least_t in ((_best_one, LEAST_T), (_best_pair, LEAST_T_OF_PAIR)):
        found = search(smooth, seen, places)
        place, step, t = _clearest_rise(smooth, seen, found)
        if t >= least_t and math.exp(step) - 1 >= LEAST_RISE:
            low, high = math.exp(at[place - 1]), math.exp(at[place])
            return Cliff(math.sqrt(low * high), low, high, math.exp(step) - 1, t, place, tuple(sorted(found)))
    return None


def _beside(
    smooth: NDArray[np.float64], seen: NDArray[np.float64], places: NDArray[np.int_]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Steps at the places and what was seen, both without what the smooth curve explains: products of the steps with
    each other, shape (m, m), and with what was seen, shape (m,)."""
    steps = (np.arange(seen.size)[:, None] >= places[None, :]).astype(float)
    basis = np.linalg.qr(smooth)[0]
    steps -= basis @ (basis.T @ steps)
    return steps.T @ steps, steps.T @ seen


def _best_one(smooth: NDArray[np.float64], seen: NDArray[np.float64], places: NDArray[np.int_]) -> tuple[int, ...]:
    """The place whose step leaves the least squares."""
    products, along = _beside(smooth, seen, places)
    own = np.diag(products)
    explained = np.where(own > _ALIKE, along**2 / np.maximum(own, _ALIKE), 0.0)
    return (int(places[int(explained.argmax())]),)


def _best_pair(smooth: NDArray[np.float64], seen: NDArray[np.float64], places: NDArray[np.int_]) -> tuple[int, ...]:
    """The two places, MARGIN points apart, whose steps together leave the least squares; none in a short series."""
    products, along = _beside(smooth, seen, places)
    own = np.diag(products)
    rest = own[:, None] * own[None, :] - products**2
    first = along[:, None] * own[None, :] - along[None, :] * products
    apart = (places[None, :] - places[:, None] >= MARGIN) & (rest > _ALIKE)
    if not apart.any():
        return ()
    explained = (along[:, None] * first + along[None, :] * first.T) / np.where(apart, rest, 1.0)
    one, other = np.unravel_index(int(np.where(apart, explained, -np.inf).argmax()), explained.shape)
    return int(places[one]), int(places[other])


def _clearest_rise(
    smooth: NDArray[np.float64], seen: NDArray[np.float64], places: tuple[int, ...]
) -> tuple[int, float, float]:
    """(place, step, t) of the step with the greatest t among those at the places, fitted together; t is 0 or less where
    none rises."""
    steps = [np.arange(seen.size) >= place for place in places]
    design = np.column_stack([smooth, *steps])
    found, _, rank, _ = np.linalg.lstsq(design, seen, rcond=None)
    if not places or rank < design.shape[1]:
        return 0, 0.0, 0.0
    rest = seen - design @ found
    variance = max(float(rest @ rest) / (seen.size - design.shape[1]), 1e-12)
    phi = _dependence(rest, design.shape[1] + len(places))
    sds = np.sqrt(variance * np.diag(np.linalg.inv(design.T @ design)) * (1 + phi) / (1 - phi))
    each = (found / sds)[smooth.shape[1] :]
    clearest = int(each.argmax())
    return places[clearest], float(found[smooth.shape[1] + clearest]), float(each[clearest])


def _dependence(rest: NDArray[np.float64], parameters: int) -> float:
    """Autocorrelation of lag 1 of residuals of shape (n,), within [0, MOST_DEPENDENCE]. The more was fitted, the
    smaller it seems; (p + (p + 2) φ) / n is added for p parameters (Shaman and Stine 1988), of which each place is
    one."""
    whole = float(rest @ rest)
    phi = float(rest[1:] @ rest[:-1]) / whole if whole > 0 else 0.0
    return min(MOST_DEPENDENCE, max(0.0, phi + (parameters + (parameters + 2) * phi) / rest.size))
