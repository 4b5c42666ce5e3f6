"""Throughput at a budget of a resource, with an interval that allows for a demand that changes with load.

Utilisation law with a demand that depends on the load (Kumar, Tantawi and Zhang 2009 fit polynomials of degree 2 to 3):

    U = U₀ + D X + E X²

From levels well below the budget nothing tells E, and leaving it out is optimistic: a demand that is 15% higher at
saturation makes the line from levels up to half of it promise 5.5% too much. So E has a prior (mixed estimation;
Theil and Goldberger 1961): at the budget, demand differs from that of light load by RISE ± RISE_SD of it, as
frequency, caches and waiting mostly let it rise. Levels near the budget, or little scatter, outweigh the prior. The
interval holds every X whose U does not differ from the budget beyond chance and prior (inverse regression; Draper and
Smith 1998, §3.2), with Student's t.

What breaks it: a demand that bends by more than the prior admits, another limit that comes first, a mix of operations
that changes with load. The interval says nothing of these.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from plimsoll.stats.throughput.demand import fit_line

RISE, RISE_SD = 0.05, 0.10
FEWEST_LEVELS = 3
LEAST_SD_SHARE = 0.002
CONFIDENCE = 0.95
WITHIN = 1.25
_FARTHEST = 50.0
_STEPS = 4000
Array = NDArray[np.float64]


@dataclass(frozen=True)
class CurveReach:
    """`per_s` at `budget` with its 95% `interval`, whose upper end is None where none is in sight; `rise`: of the
    demand from light load to the budget; `beyond`: per_s ÷ highest throughput measured; `from_share`: the highest
    utilisation measured ÷ budget."""

    budget: float
    per_s: float
    interval: tuple[float, float | None]
    rise: float
    beyond: float
    from_share: float


def reach_along_curve(
    used: ArrayLike, per_s: ArrayLike, budget: float, weights: ArrayLike | None = None
) -> CurveReach | None:
    """Throughput at which a resource is used to `budget`, in the unit of `used`, from levels of shape (n,); `weights`:
    seconds measured. None below FEWEST_LEVELS different throughputs, or where use does not rise with them."""
    at, rate = np.asarray(used, dtype=float), np.asarray(per_s, dtype=float)
    if budget <= 0:
        raise ValueError(f"a budget is above 0, got {budget}")
    if np.unique(rate).size < FEWEST_LEVELS:
        return None
    weight = np.ones_like(at) if weights is None else np.asarray(weights, dtype=float)
    weight = weight / weight.mean()
    line = fit_line(at, rate)
    if line is None or line.per_request_s <= 0 or line.idle >= budget:
        return None
    scale = (budget - line.idle) / line.per_request_s
    least = LEAST_SD_SHARE * budget
    variance, freedom, found, inverse = (0.01 * budget) ** 2, 1.0, np.zeros(3), np.zeros((3, 3))
    for _ in range(4):
        found, inverse, misfit, freedom = _mixed(at, rate / scale, weight, variance, max(budget - line.idle, least))
        variance = max(least**2, misfit / freedom)
    middle, low, high = _crossings(found, inverse, budget, _t(freedom))
    if middle is None:
        return None
    end = None if high is None else high * scale
    demand = found[1]
    rise = float(found[2] * middle / demand) if demand > 0 else 0.0
    return CurveReach(
        budget=budget,
        per_s=middle * scale,
        interval=((middle if low is None else low) * scale, end),
        rise=rise,
        beyond=middle * scale / float(rate.max()),
        from_share=float(at.max()) / budget,
    )


@dataclass(frozen=True)
class Use:
    """`used` of a resource at throughput `per_s`, with its 95% `interval`; `beyond`: per_s ÷ highest throughput
    measured."""

    per_s: float
    used: float
    interval: tuple[float, float]
    beyond: float


def use_along_curve(used: ArrayLike, per_s: ArrayLike, at_per_s: float, weights: ArrayLike | None = None) -> Use | None:
    """What a throughput would use, the inverse question, by the same curve and prior: at `at_per_s`, or at the highest
    throughput measured if that is more, demand differs from that of light load by RISE ± RISE_SD of it.

    None below FEWEST_LEVELS different throughputs, or where use does not rise with them.
    """
    at, rate = np.asarray(used, dtype=float), np.asarray(per_s, dtype=float)
    if at_per_s <= 0:
        raise ValueError(f"a throughput is above 0, got {at_per_s}")
    if np.unique(rate).size < FEWEST_LEVELS:
        return None
    weight = np.ones_like(at) if weights is None else np.asarray(weights, dtype=float)
    weight = weight / weight.mean()
    line = fit_line(at, rate)
    if line is None or line.per_request_s <= 0:
        return None
    scale = max(at_per_s, float(rate.max()))
    rise = line.per_request_s * scale
    least = LEAST_SD_SHARE * rise
    variance, freedom, found, inverse = (0.01 * rise) ** 2, 1.0, np.zeros(3), np.zeros((3, 3))
    for _ in range(4):
        found, inverse, misfit, freedom = _mixed(at, rate / scale, weight, variance, rise)
        variance = max(least**2, misfit / freedom)
    place = at_per_s / scale
    row = np.array([1.0, place, place**2])
    value, half = float(row @ found), _t(freedom) * float(np.sqrt(row @ inverse @ row))
    return Use(at_per_s, max(0.0, value), (max(0.0, value - half), value + half), at_per_s / float(rate.max()))


def use_in_proportion(used: ArrayLike, per_s: ArrayLike, at_per_s: float) -> Use | None:
    """The same from readings of shape (n,) of one load, which do not tell a curve: in proportion, with the interval of
    their scatter, and beyond the load measured with the prior as well. None below FEWEST_LEVELS readings."""
    at, rate = np.asarray(used, dtype=float), np.asarray(per_s, dtype=float)
    if at.size < FEWEST_LEVELS or at.sum() <= 0:
        return None
    demand = float(at.sum() / rate.sum())
    half = _t(at.size - 1) * float(np.std(at / rate, ddof=1)) / np.sqrt(at.size) / demand
    beyond = at_per_s / float(rate.max())
    far = beyond > WITHIN or beyond < 1 / WITHIN
    middle = 1 + RISE if beyond > WITHIN else 1.0
    half = float(np.hypot(half, _t(1000) * RISE_SD if far else 0.0))
    value = demand * at_per_s * middle
    return Use(at_per_s, value, (max(0.0, value * (1 - half)), value * (1 + half)), beyond)


def _mixed(used: Array, x: Array, weight: Array, variance: float, demand: float) -> tuple[Array, Array, float, float]:
    """Coefficients, their covariance, the weighted squares left and their degrees of freedom, levels less the trace of
    the hat matrix. The prior is one more row: E ÷ D = RISE ± RISE_SD, for a use of `demand` at throughput 1."""
    design = np.column_stack([np.ones_like(x), x, x**2]) * np.sqrt(weight / variance)[:, None]
    prior = np.array([[0.0, -RISE / (RISE_SD * demand), 1 / (RISE_SD * demand)]])
    rows = np.vstack([design, prior])
    values = np.append(used * np.sqrt(weight / variance), 0.0)
    inverse = np.linalg.inv(rows.T @ rows)
    found = inverse @ rows.T @ values
    rest = used - found[0] - found[1] * x - found[2] * x**2
    freedom = max(1.0, x.size - float(np.trace(design @ inverse @ design.T)))
    return found, inverse, float(weight @ rest**2), freedom


def _crossings(
    found: Array, inverse: Array, budget: float, t: float
) -> tuple[float | None, float | None, float | None]:
    """First x at which the curve, its upper and its lower band reach the budget."""
    x = np.concatenate([np.linspace(0.0, 3.0, _STEPS), np.geomspace(3.0, _FARTHEST, _STEPS // 8)[1:]])
    design = np.column_stack([np.ones_like(x), x, x**2])
    curve = design @ found
    sd = np.sqrt(np.einsum("ij,jk,ik->i", design, inverse, design))
    return _first(x, curve - budget), _first(x, curve + t * sd - budget), _first(x, curve - t * sd - budget)


def _first(x: Array, gap: Array) -> float | None:
    beyond = np.flatnonzero(gap >= 0)
    if beyond.size == 0:
        return None
    place = int(beyond[0])
    if place == 0:
        return float(x[0])
    share = -gap[place - 1] / (gap[place] - gap[place - 1])
    return float(x[place - 1] + share * (x[place] - x[place - 1]))


def _t(freedom: float) -> float:
    from scipy.stats import t as student

    return float(student.ppf(0.5 + CONFIDENCE / 2, freedom))
