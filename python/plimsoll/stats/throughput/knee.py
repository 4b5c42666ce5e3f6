"""The knee: where more load begins to cost more response time than it brings throughput.

A geometric knee (Kneedle) moves with the plotted range, so both knees here come from operational quantities:

Open    the load of greatest *power*, throughput ÷ mean response time (Kleinrock 1979): the tangent from the origin to
        the response-time curve. With the capacity known, that curve is fitted as
        R(ρ) = S (1 + ρ^(√(2(m+1)) − 1) / (m (1 − ρ))) (Sakasegawa 1977, m parallel servers; a real m also stands for
        service more or less even than exponential). Half the capacity for one exponential server, more for many.
Closed  N* = X_max ÷ (X(N) / N at light load), where throughput's asymptotes meet (Lazowska et al. 1984, ch. 5). Levels
        nearer to the knee tell of it as well, by how far throughput bends away from the asymptote there.

The interval of the open knee is the profile likelihood's: all m whose fit is not worse than chance explains.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from plimsoll.words import number, share_words

FEWEST_LEVELS = 3
LIGHT_SHARE = 0.25
CLOSED_DOUBT = 0.02
ROUNDS = 20
Z_95 = 1.96
HIGHEST_SHARE = 0.97
QUEUEING_FROM_SHARE = 0.5
CHI_SQUARE_95 = 3.84
MODEL_DOUBT = 0.03
WIDEST = 2.0
_SERVERS = np.geomspace(0.05, 512, 500)
_SHARES = np.linspace(0.005, 0.995, 1981)


@dataclass(frozen=True)
class Knee:
    """The knee in units of level with its 95% interval."""

    level: float
    interval: tuple[float, float]


@dataclass(frozen=True)
class NoKnee:
    """Why the data do not tell where the knee is, as a sentence."""

    reason: str


def open_knee(
    levels: ArrayLike, mean_ms: ArrayLike, samples: ArrayLike, capacity: float, capacity_relative_sd: float
) -> Knee | NoKnee:
    """Knee of an open workload from mean response times at levels, all of shape (n,); the capacity in the same unit.

    Levels beyond 97% of the capacity do not count: there the mean depends on how long one looks.
    """
    at, mean, count = (np.asarray(values, dtype=float) for values in (levels, mean_ms, samples))
    share = at / capacity
    usable = (share < HIGHEST_SHARE) & (mean > 0) & (count > 0)
    share, mean, count = share[usable], mean[usable], count[usable]
    if np.unique(share).size < FEWEST_LEVELS:
        return NoKnee(f"Response times are known at fewer than {FEWEST_LEVELS} levels below the capacity.")
    if share.max() < QUEUEING_FROM_SHARE:
        return NoKnee("No level between half of the capacity and the capacity itself was measured.")
    variance = 4 / (count * (1 - share) ** 2) + (capacity_relative_sd * share / (1 - share)) ** 2 + MODEL_DOUBT**2
    misfit = _misfit(share, np.log(mean), 1 / variance)
    best = int(np.argmin(misfit))
    scale = max(1.0, float(misfit[best]) / (share.size - 2))
    likely = misfit <= misfit[best] + CHI_SQUARE_95 * scale
    knees = _knee_shares(_SERVERS[likely])
    low, high = float(knees.min()), float(knees.max())
    if high > WIDEST * low:
        words = f"anywhere between {share_words(low)} and {share_words(high)} of the capacity"
        return NoKnee(f"The response times measured fit a knee {words}; longer steps at more levels would tell.")
    spread = 2 * capacity_relative_sd
    middle = float(_knee_shares(_SERVERS[best : best + 1])[0])
    return Knee(middle * capacity, (low * (1 - spread) * capacity, min(1.0, high * (1 + spread)) * capacity))


def closed_knee(
    levels: ArrayLike,
    done: ArrayLike,
    seconds: ArrayLike,
    *,
    light_share: float = LIGHT_SHARE,
    fewest: int = FEWEST_LEVELS,
) -> Knee | NoKnee:
    """Knee of a closed workload from the iterations `done` in `seconds` at levels (users), all of shape (n,), of which
    some reached the plateau and one lies below `light_share` of the knee; at least `fewest` levels.

    The plateau is pooled from the levels that reach the most within chance. Each level below the knee gives
    N* = plateau × level ÷ throughput × bend, where the bend is how far throughput stays below its asymptote: that of
    one exponential server and thinking users by Schweitzer's (1979) approximation of mean value analysis. More
    servers, or more even service, bend less; half of the bend is taken as its standard deviation. Counts are taken to
    scatter as Poisson's, which is more than those of users who wait do.
    """
    at, count, span = (np.asarray(values, dtype=float) for values in (levels, done, seconds))
    usable = (at > 0) & (count > 0) & (span > 0)
    at, count, span = at[usable], count[usable], span[usable]
    if np.unique(at).size < fewest:
        return NoKnee(f"Throughput is known at fewer than {fewest} levels.")
    per_s = count / span
    plateau, at_plateau = closed_plateau(count, span)
    knee, log_variance = float(plateau * (at / per_s)[at.argmin()]), 0.0
    for _ in range(ROUNDS):
        below = at <= knee
        if at.min() > light_share * knee:
            return NoKnee("The lowest level measured is too near the knee to tell what one user alone would do.")
        bend = _bend(at[below], knee)
        weight = 1 / (1 / count[below] + ((1 - bend) / 2) ** 2)
        knee = math.exp(float(weight @ np.log(plateau * at[below] / per_s[below] * bend)) / float(weight.sum()))
        log_variance = 1 / float(weight.sum()) + 1 / at_plateau + CLOSED_DOUBT**2
    factor = math.exp(Z_95 * math.sqrt(log_variance))
    if factor**2 > WIDEST:
        return NoKnee(
            f"Too few iterations at light load: the knee lies between {number(knee / factor)} and "
            f"{number(knee * factor)}."
        )
    return Knee(knee, (knee / factor, knee * factor))


def closed_plateau(done: ArrayLike, seconds: ArrayLike) -> tuple[float, float]:
    """Iterations per second of the levels that reach the most within chance, pooled, and how many those are, from
    iterations `done` (> 0) in `seconds` (> 0), both of shape (n,)."""
    count, span = np.asarray(done, dtype=float), np.asarray(seconds, dtype=float)
    per_s = count / span
    top = int(per_s.argmax())
    full = per_s >= per_s[top] - 2 * np.sqrt((per_s[top] / span[top]) + per_s / span)
    return float(count[full].sum() / span[full].sum()), float(count[full].sum())


def _bend(users: NDArray[np.float64], knee: float) -> NDArray[np.float64]:
    """Throughput of `users` ÷ (users ÷ knee × plateau): in service times, response r with r² + (Z − N) r − Z = 0 for
    N users who think for Z = knee − 1."""
    think = max(0.0, knee - 1)
    excess = users - think
    response = (excess + np.sqrt(excess**2 + 4 * think)) / 2
    return np.asarray(np.minimum(1.0, knee / np.maximum(response + think, 1e-12)))


def _misfit(
    share: NDArray[np.float64], log_mean: NDArray[np.float64], weight: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Weighted squares of log R around the curve, for every m of _SERVERS with its best S."""
    residual = log_mean[None, :] - np.log(_stretch(share[None, :], _SERVERS[:, None]))
    log_service = (residual * weight).sum(axis=1) / weight.sum()
    return np.asarray((weight * (residual - log_service[:, None]) ** 2).sum(axis=1))


def _stretch(share: NDArray[np.float64], servers: NDArray[np.float64]) -> NDArray[np.float64]:
    """R / S at that share of the capacity."""
    return np.asarray(1 + share ** (np.sqrt(2 * (servers + 1)) - 1) / (servers * (1 - share)))


def _knee_shares(servers: NDArray[np.float64]) -> NDArray[np.float64]:
    """The share of the capacity at which ρ / R(ρ) is greatest, for each m."""
    power = _SHARES[None, :] / _stretch(_SHARES[None, :], servers[:, None])
    return np.asarray(_SHARES[np.argmax(power, axis=1)])
