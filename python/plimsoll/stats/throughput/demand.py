"""Service demand of a resource, and the throughput at which its budget is used up.

Utilisation law (Denning and Buzen 1978; Lazowska et al. 1984, ch. 3): U = X D, U the share of the resource in use, X
requests per second, D the seconds of the whole resource that a request takes. What U would be at another X needs an
assumption, and these two bracket what is usual:

    constant demand    X* = X B / U, from each load measured               all of U is due to the requests
    straight line      X* = (B − U₀) / D, U = U₀ + D X by least squares    a part U₀ is there without any

B is the budget. The loads measured rarely agree on the first; what they give apart is part of the answer. From three
levels on the line has an interval: all X* whose expected U does not differ from B beyond chance (inverse regression;
Fieller 1954, Draper and Smith 1998, §3.2). It says how well a straight line is known, not that the line goes on:
caches, queues, garbage collection and coupled services bend it, mostly upwards.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

CONFIDENCE = 0.95


@dataclass(frozen=True)
class Line:
    """U = `idle` + `per_request_s` × X; `interval` of the slope and `residual_sd` from three levels on, else None."""

    idle: float
    per_request_s: float
    levels: int
    residual_sd: float | None = None
    interval: tuple[float, float] | None = None


@dataclass(frozen=True)
class Reach:
    """Throughput at a budget: `constant_per_s` from each load measured, in their order; `line_per_s` (None where there
    is no rising line) with `interval` (None below three levels, or unbounded); `beyond`: the farthest of all ÷ highest
    throughput measured."""

    budget: float
    constant_per_s: tuple[float, ...]
    line_per_s: float | None
    interval: tuple[float, float] | None
    beyond: float


def demand_s(utilisation: float, per_s: float) -> float:
    """Seconds of the whole resource per request, U / X. ValueError without throughput."""
    if per_s <= 0 or utilisation < 0:
        raise ValueError("demand needs a throughput above 0 and a utilisation of 0 or more")
    return utilisation / per_s


def fit_line(utilisation: ArrayLike, per_s: ArrayLike) -> Line | None:
    """Least squares of U on X, both of shape (n,). None below two different throughputs."""
    used, rate = np.asarray(utilisation, dtype=float), np.asarray(per_s, dtype=float)
    if used.size < 2 or np.ptp(rate) <= 0:
        return None
    spread = float(((rate - rate.mean()) ** 2).sum())
    slope = float(((rate - rate.mean()) * (used - used.mean())).sum()) / spread
    idle = float(used.mean()) - slope * float(rate.mean())
    freedom = used.size - 2
    if freedom < 1:
        return Line(idle, slope, int(used.size))
    rest = used - idle - slope * rate
    sd = math.sqrt(float(rest @ rest) / freedom)
    half = _t(freedom) * sd / math.sqrt(spread)
    return Line(idle, slope, int(used.size), sd, (slope - half, slope + half))


def reach(utilisation: Sequence[float], per_s: Sequence[float], budget: float) -> Reach:
    """Throughput at which the resource is used to `budget` (share in (0, 1]), from levels of shape (n,), n ≥ 1."""
    if not 0 < budget <= 1:
        raise ValueError(f"a budget is a share above 0 and at most 1, got {budget}")
    constant = tuple(budget / demand_s(used, rate) for used, rate in zip(utilisation, per_s, strict=True))
    line = fit_line(utilisation, per_s)
    along, interval = None, None
    if line is not None and line.per_request_s > 0 and budget > line.idle:
        along = (budget - line.idle) / line.per_request_s
        interval = _fieller(np.asarray(per_s, dtype=float), np.asarray(utilisation, dtype=float), line, budget)
    return Reach(budget, constant, along, interval, max(*constant, along or 0.0) / max(per_s))


def _fieller(rate: np.ndarray, used: np.ndarray, line: Line, budget: float) -> tuple[float, float] | None:
    """All x with (B − Ū − D (x − x̄))² ≤ t² s² (1/n + (x − x̄)² / Sxx); None if that is unbounded."""
    if line.residual_sd is None:
        return None
    count, centre = rate.size, float(rate.mean())
    spread = float(((rate - centre) ** 2).sum())
    most = (_t(count - 2) * line.residual_sd) ** 2
    gap = budget - float(used.mean())
    a = line.per_request_s**2 - most / spread
    b = -2 * line.per_request_s * gap
    c = gap**2 - most / count
    inside = b * b - 4 * a * c
    if a <= 0 or inside < 0:
        return None
    root = math.sqrt(inside)
    return centre + (-b - root) / (2 * a), centre + (-b + root) / (2 * a)


def _t(freedom: int) -> float:
    from scipy.stats import t as student

    return float(student.ppf(0.5 + CONFIDENCE / 2, freedom))
