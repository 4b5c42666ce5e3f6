"""The universal scalability law, and how far it is known: its peak with a profile-likelihood region.

    X(N) = λ N / (1 + σ (N − 1) + κ N (N − 1))        Gunther 2007, ch. 4; λ is fitted too (Schwartz 2015)

N users who wait for their answers, X their throughput. Written as N / X = A + B N + C N² it is linear in its
parameters, needs no unit of N, and its peak is N* = √(A / C) with X* = 1 / (B + 2 √(A C)). In terms of the peak

    N / X = N / X* + C (N − N*)²,    C ≥ 0,    1 / X* ≥ C (2 N* − one user)

where the two conditions are κ ≥ 0 and σ ≥ 0. Relative scatter of X is taken as normal. The region of X* holds all
values with which the best of all N* and C fits no worse than t²(n − 3) of the scatter explains (profile likelihood;
Bates and Watts 1988, ch. 6); likewise that of N*. Without an end in sight κ = 0 is among them, and only the lower end
of N* is known; the throughput may still have a ceiling, 1 / B.

What breaks it: levels that end well before the peak (measured to half of it, the fitted peak of 2% scatter is 14 to
19% off at p90), a sharp corner (a queue with think time has one: `misfit`), a generator that limits, which looks like
contention. Least scatter: FLOOR, or what is known of the points.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from plimsoll.words import share_words

FEWEST_LEVELS = 6
FLOOR = 0.01
MISFIT = 0.05
WIDEST = 1.5
CONFIDENCE = 0.95
_BEYOND = 200.0
_LOCATIONS, _CEILINGS = 300, 700
Array = NDArray[np.float64]


@dataclass(frozen=True)
class Scalability:
    """`peak_per_s` at `peak_level` with 95% regions, whose upper ends are None where none is in sight. `reached`: a
    level at or beyond the peak's region was measured, so that the peak is seen and not extrapolated. `single_per_s`,
    `contention` σ and `coherency` κ are Gunther's for levels that are users; `scatter`: relative, around the curve."""

    peak_per_s: float | None
    peak_interval: tuple[float, float | None]
    peak_level: float | None
    level_interval: tuple[float, float | None]
    single_per_s: float
    contention: float
    coherency: float
    scatter: float
    reached: bool

    @property
    def told(self) -> bool:
        """Whether the region of the peak's throughput is narrow enough to be an answer: a factor of WIDEST."""
        low, high = self.peak_interval
        return high is not None and high <= WIDEST * low


@dataclass(frozen=True)
class NoLaw:
    """Why the law is not fitted, and what would settle it, as sentences."""

    reason: str
    settle: str


def fit_scalability(
    levels: ArrayLike, per_s: ArrayLike, known_sd: ArrayLike | None = None, one: float = 1.0
) -> Scalability | NoLaw:
    """Fit throughputs `per_s` at `levels`, both of shape (n,), all above 0. `known_sd`: relative standard deviations of
    the throughputs by counting; `one`: the level that is one user, 0 if that is not known."""
    at, rate = np.asarray(levels, dtype=float), np.asarray(per_s, dtype=float)
    if at.shape != rate.shape or np.any(at <= 0) or np.any(rate <= 0):
        raise ValueError("levels and throughputs are above 0 and as many")
    count = np.unique(at).size
    if count < FEWEST_LEVELS:
        return NoLaw(
            f"Throughput is known at {count} levels; a law of three parameters needs {FEWEST_LEVELS}.",
            f"Measure at least {FEWEST_LEVELS} levels, from one user to beyond the most throughput.",
        )
    sd = np.hypot(FLOOR, 0.0 if known_sd is None else np.asarray(known_sd, dtype=float))
    a, b, c = _best(at, rate, sd, one)
    residual = np.log(rate * (a + b * at + c * at**2) / at)
    freedom = at.size - 3
    scatter = float(np.sqrt(np.mean(residual**2) * at.size / freedom))
    if scatter > MISFIT:
        return NoLaw(
            f"The fitted curve misses the measured throughputs by {share_words(scatter)}, so it tells nothing beyond "
            "them.",
            "Repeat levels to see whether that is scatter; a throughput with a sharp corner fits no such curve.",
        )
    scale = max(1.0, float(np.sum((residual / sd) ** 2)) / freedom)
    peak, where = _regions(at, rate, sd, one, scale * _t(freedom) ** 2)
    ceiling, location = _peak(a, b, c, one)
    single = 1 / (a + b * one + c * one**2)
    return Scalability(
        peak_per_s=1 / ceiling if ceiling > 0 else None,
        peak_interval=peak,
        peak_level=location,
        level_interval=where,
        single_per_s=single,
        contention=single * (b + c * one),
        coherency=single * c,
        scatter=scatter,
        reached=where[1] is not None and location is not None and location <= float(at.max()),
    )


def _peak(a: float, b: float, c: float, one: float) -> tuple[float, float | None]:
    """1 / X* and N* of N / X = a + b N + c N²; None without a peak. Where more than one user only brings less (a < 0,
    or a peak below one user), it is that of one."""
    if one and (a < 0 or a < c * one**2):
        return (a + b * one + c * one**2) / one, one
    return b + 2 * math.sqrt(max(0.0, a) * c), math.sqrt(a / c) if c > 0 else None


def _best(at: Array, rate: Array, sd: Array, one: float) -> tuple[float, float, float]:
    """A, B, C of least relative squares with λ, σ, κ ≥ 0; three rounds of reweighting by the fitted curve."""
    from scipy.optimize import nnls

    value, weight = at / rate, rate / at / sd
    columns = np.column_stack([np.ones_like(at), at - one, at * (at - one)])
    found = np.zeros(3)
    for _ in range(3):
        sizes = np.linalg.norm(columns * weight[:, None], axis=0)
        found = nnls(columns * weight[:, None] / sizes, value * weight)[0] / sizes
        weight = 1 / np.maximum(columns @ found, 1e-300) / sd
    whole, contention, coherency = (float(part) for part in found)
    return whole - contention * one, contention - coherency * one, coherency


def _regions(
    at: Array, rate: Array, sd: Array, one: float, allowed: float
) -> tuple[tuple[float, float | None], tuple[float, float | None]]:
    """Regions of X* and N*: where the profile is at most `allowed` above its least. `endless` is that of κ = 0, whose
    peak lies at no N; throughput in proportion to N, N / X = A, has no ceiling either."""
    value, weight = at / rate, (rate / at / sd) ** 2
    locations = np.geomspace(max(one, 1e-9 * at.max()) if one else at.min() / 4, _BEYOND * at.max(), _LOCATIONS)
    spans = np.concatenate([np.geomspace(0.7, 3.0, _CEILINGS), np.geomspace(3.0, _BEYOND, _CEILINGS // 4)[1:]])
    slopes = 1 / (rate.max() * spans)
    bend = (at[None, :] - locations[:, None]) ** 2
    sum_bb = (bend**2) @ weight
    sum_bn, sum_by = bend @ (weight * at), bend @ (weight * value)
    sum_nn, sum_ny, sum_yy = weight @ at**2, weight @ (at * value), weight @ value**2
    most = slopes[None, :] / np.maximum(2 * locations - one, 1e-12)[:, None]
    best = np.clip((sum_by[:, None] - slopes[None, :] * sum_bn[:, None]) / sum_bb[:, None], 0.0, most)
    straight = sum_yy - 2 * slopes * sum_ny + slopes**2 * sum_nn
    squares = straight[None, :] + best**2 * sum_bb[:, None]
    squares += 2 * best * (slopes[None, :] * sum_bn[:, None] - sum_by[:, None])
    flat = np.maximum((weight @ value - slopes * (weight @ at)) / weight.sum(), 0.0)
    endless = straight + flat**2 * weight.sum() - 2 * flat * (weight @ value - slopes * (weight @ at))
    by_ceiling, by_location = np.minimum(squares.min(axis=0), endless), squares.min(axis=1)
    border = min(float(squares.min()), float(endless.min())) + allowed
    constant = sum_yy - (weight @ value) ** 2 / weight.sum()
    peak = _inside(rate.max() * spans, by_ceiling, border, constant <= border)
    return peak, _inside(locations, by_location, border, bool(endless.min() <= border))


def _inside(values: Array, squares: Array, border: float, is_endless: bool) -> tuple[float, float | None]:
    """First and last crossing of the border, linear in between; None where the end is inside."""
    inside = np.flatnonzero(squares <= border)
    if inside.size == 0:
        return float(values[-1]), None
    first, last = int(inside[0]), int(inside[-1])
    low = float(values[0]) if first == 0 else _crossing(values, squares, first - 1, border)
    return low, None if is_endless or last == values.size - 1 else _crossing(values, squares, last, border)


def _crossing(values: Array, squares: Array, place: int, border: float) -> float:
    before, after = float(squares[place]), float(squares[place + 1])
    share = (border - before) / (after - before)
    return float(values[place] + share * (values[place + 1] - values[place]))


def _t(freedom: int) -> float:
    from scipy.stats import t as student

    return float(student.ppf(0.5 + CONFIDENCE / 2, freedom))
