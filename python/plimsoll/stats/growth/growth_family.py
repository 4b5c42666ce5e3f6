"""How a cost depends on the volume of data: the family is chosen, not assumed.

    constant  a              logarithmic  a + b ln n        linear  a + b n
    n log n   a + b n ln n   power        a n^b             with a, b ≥ 0

Costs scatter in proportion to themselves, so each family is fitted to the least sum of squared *relative* residuals
(weights 1 / fit², three rounds; constant and power in the logarithm) and compared by AICc (Hurvich and Tsai 1989), each
with the variance around its own curve, into which two points of 5% scatter are mixed. Two guards:

* Curves that say the same count as one family, and their Akaike weights together: all flat ones are constant; over a
  few decades a power below 0.25 is the logarithm's curve, a power within 0.05 of 1 the straight line, and a power
  within 0.05 of the mean exponent of n log n is n log n. A family is *decided* when its weight reaches 0.65.
* A prediction at a larger volume is refused where the families with weight, and the scatter of their
  parameters, disagree: its 90% interval is wider than ± 30%.

What breaks it: a cliff inside the range (cliff.py looks for it first), fewer than four volumes, less than a
decade.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from plimsoll.stats.growth.cliff import LEAST_RISE

Array = NDArray[np.float64]
DECIDED_WEIGHT = 0.65
LEAST_WEIGHT = 0.10
FEWEST_POINTS = 4
ROUNDS = 4
DRAWS = 400
WIDEST = 0.30
LEAST_CHANGE = 0.05
PRIOR_POINTS = 2.0
PRIOR_CV = 0.05
MOST_DESIGN = 60
SLOW_POWER = 0.25
NEAR_POWER = 0.05

BASES: dict[str, Callable[[Array], Array]] = {
    "logarithmic": lambda n: np.log(np.maximum(n, 1.0)),
    "linear": lambda n: n,
    "n log n": lambda n: n * np.log(np.maximum(n, 2.0)),
}
FAMILIES = ("constant", *BASES, "power")


@dataclass(frozen=True)
class Fit:
    """One family fitted: `a`, `b` as in the module, `cv`: relative scatter, `weight`: Akaike's among all families."""

    family: str
    a: float
    b: float
    cv: float
    aicc: float
    weight: float = 0.0

    def at(self, volume: ArrayLike) -> Array:
        """Cost at each volume, same shape."""
        return _curve(self.family, self.a, self.b, np.asarray(volume, dtype=float))


@dataclass(frozen=True)
class Growth:
    """`family` is None where the data do not decide, then between the `likely` ones; `fits` best first; `low`, `high`:
    volumes seen."""

    family: str | None
    likely: tuple[str, ...]
    fits: tuple[Fit, ...]
    low: float
    high: float
    points: int
    volumes: tuple[float, ...]

    @property
    def best(self) -> Fit:
        """The fit with the greatest weight."""
        return self.fits[0]

    @property
    def change(self) -> float:
        """Cost at the greatest volume ÷ at the least − 1, by the best fit."""
        ends = self.best.at([self.low, self.high])
        return float(ends[1] / ends[0] - 1)

    @property
    def rises(self) -> bool | None:
        """Whether the cost grows, whatever the law. None where the data do not tell it from a constant, or it rises by
        less than LEAST_RISE: in one load the volume rises with time, and so does the cost on a host that slows."""
        if self.family == "constant":
            return False
        constant_too = self.family is None and "constant" in self.likely
        return None if constant_too or self.change < LEAST_RISE else True


def growth_of(volume: ArrayLike, cost: ArrayLike, dependence: float = 0.0) -> Growth | None:
    """Fit all families to costs (> 0) at volumes (> 0), both of shape (n,).

    `dependence`: φ of neighbouring points' residuals, which makes n points worth n (1 − φ) / (1 + φ). None with fewer
    than four distinct volumes.
    """
    at, seen = np.asarray(volume, dtype=float), np.asarray(cost, dtype=float)
    usable = np.isfinite(at) & np.isfinite(seen) & (at > 0) & (seen > 0)
    at, seen = at[usable], seen[usable]
    if np.unique(at).size < FEWEST_POINTS:
        return None
    worth = max(4.5, at.size * (1 - dependence) / (1 + dependence))
    found = [_fit(name, at, seen, worth) for name in FAMILIES]
    least = min(fit.aicc for fit in found)
    raw = [math.exp(-0.5 * min(700.0, fit.aicc - least)) for fit in found]
    weighed = [
        Fit(fit.family, fit.a, fit.b, fit.cv, fit.aicc, weight / sum(raw))
        for fit, weight in zip(found, raw, strict=True)
    ]
    ordered = tuple(sorted(weighed, key=lambda fit: -fit.weight))
    low, high = float(at.min()), float(at.max())
    design = tuple(np.quantile(at, np.linspace(0, 1, min(MOST_DESIGN, at.size))).tolist())
    families = _weights(ordered, low, high)
    top = next(iter(families))
    decided = top if families[top] >= DECIDED_WEIGHT else None
    likely = tuple(name for name, weight in families.items() if weight >= LEAST_WEIGHT)
    return Growth(decided, likely, ordered, low, high, int(worth), design)


def predict(
    growth: Growth, volume: float, seed: int = 1, confidence: float = 0.90
) -> tuple[float, float, float] | None:
    """(cost, low, high) at a volume, an average over the families by weight; None where they do not tell (see
    above)."""
    draws = _draws(growth, np.array([volume]), seed)[:, 0]
    tail = (1 - confidence) / 2
    low, middle, high = np.quantile(draws, [tail, 0.5, 1 - tail])
    if max(high / middle, middle / max(low, 1e-300)) - 1 > WIDEST:
        return None
    return float(middle), float(low), float(high)


def total_draws(growth: Growth, start: float, end: float, seed: int = 1, draws: int = DRAWS) -> Array:
    """∫ cost dn from `start` to `end`, drawn from families by weight and parameters by their scatter, shape
    (draws,)."""
    grid = np.linspace(start, end, 65)
    curves = _draws(growth, grid, seed, draws)
    return np.asarray(np.trapezoid(curves, grid, axis=1))


def _draws(growth: Growth, volume: Array, seed: int, draws: int = DRAWS) -> Array:
    """Costs at each volume for random families and parameters, shape (draws, volumes).

    Parameters come from refitting the best curve at the volumes' range with the scatter seen (parametric bootstrap).
    """
    random = np.random.default_rng(seed)
    weights = np.array([fit.weight for fit in growth.fits])
    chosen = random.choice(weights.size, draws, p=weights / weights.sum())
    grid = np.array(growth.volumes)
    count = grid.size
    freedom = max(2, growth.points - 2)
    out = np.empty((draws, volume.size))
    for place, which in enumerate(chosen):
        fit = growth.fits[which]
        noise = fit.cv * math.sqrt(count / max(growth.points, 1) * freedom / random.chisquare(freedom))
        seen = fit.at(grid) * np.exp(noise * random.standard_normal(count))
        a, b = _parameters(fit.family, grid, seen)
        out[place] = _curve(fit.family, a, b, volume)
    return out


def _curve(family: str, a: float, b: float, volume: Array) -> Array:
    if family == "constant":
        return np.full(volume.shape, a)
    if family == "power":
        return np.asarray(a * np.maximum(volume, 1e-9) ** b)
    return np.asarray(a + b * BASES[family](volume))


def _fit(family: str, at: Array, seen: Array, worth: float) -> Fit:
    a, b = _parameters(family, at, seen)
    rest = np.log(seen / np.maximum(_curve(family, a, b, at), 1e-300))
    parameters = 1 if family == "constant" else 2
    # A few points scatter less than they should by chance: what a measured mean usually has is mixed in.
    variance = (float(rest @ rest) + PRIOR_POINTS * PRIOR_CV**2) / (at.size + PRIOR_POINTS)
    known = parameters + 1
    small = 2 * known * (known + 1) / max(worth + PRIOR_POINTS - known - 1, 1.0)
    aicc = worth * math.log(variance) + 2 * known + small
    freedom = max(at.size - parameters, 1)
    return Fit(family, a, b, math.sqrt(float(rest @ rest) / freedom), aicc)


def _parameters(family: str, at: Array, seen: Array) -> tuple[float, float]:
    """Least relative squares."""
    if family == "constant":
        return float(np.exp(np.log(seen).mean())), 0.0
    if family == "power":
        line = np.polyfit(np.log(at), np.log(seen), 1)
        if line[0] < 0:
            return float(np.exp(np.log(seen).mean())), 0.0
        return float(np.exp(line[1])), float(line[0])
    base = BASES[family](at)
    fitted = seen
    a, b = 0.0, 0.0
    for _ in range(ROUNDS):
        weight = 1 / np.maximum(fitted, 1e-300) ** 2
        a, b = _line_above_zero(base, seen, weight)
        fitted = np.maximum(a + b * base, 1e-3 * seen)
    return a, b


def _line_above_zero(base: Array, seen: Array, weight: Array) -> tuple[float, float]:
    """Weighted line a + b base with a, b ≥ 0: the free one, else the better of the two at the edge."""
    total = weight.sum()
    mean_x, mean_y = (weight @ base) / total, (weight @ seen) / total
    spread = weight @ (base - mean_x) ** 2
    b = float(weight @ ((base - mean_x) * (seen - mean_y)) / spread) if spread > 0 else 0.0
    a = float(mean_y - b * mean_x)
    if a >= 0 and b >= 0:
        return a, b
    alone = float((weight @ (base * seen)) / (weight @ base**2))
    edges = [(float(mean_y), 0.0), (0.0, max(0.0, alone))]
    return min(edges, key=lambda edge: float(weight @ (seen - edge[0] - edge[1] * base) ** 2))


def _weights(fits: tuple[Fit, ...], low: float, high: float) -> dict[str, float]:
    """The weight of each family, with that of the curves that say the same, greatest first."""
    found: dict[str, float] = {}
    for fit in fits:
        name = _name(fit, low, high)
        found[name] = found.get(name, 0.0) + fit.weight
    return dict(sorted(found.items(), key=lambda one: -one[1]))


def _name(fit: Fit, low: float, high: float) -> str:
    """The family that a curve belongs to over the volumes seen."""
    ends = fit.at([low, high])
    if ends[1] / ends[0] - 1 <= LEAST_CHANGE:
        return "constant"
    if fit.family != "power":
        return fit.family
    if fit.b < SLOW_POWER:
        return "logarithmic"
    base = BASES["n log n"](np.array([low, high]))
    powers = {"linear": 1.0, "n log n": float(np.log(base[1] / base[0]) / np.log(high / low))}
    nearest = min(powers, key=lambda name: abs(powers[name] - fit.b))
    return nearest if abs(powers[nearest] - fit.b) <= NEAR_POWER else "power"
