"""Does a consumer keep up with what comes in? From counts per second of items put in and taken out.

Above its capacity a consumer's backlog grows in proportion to time, below it only wanders; at the border it is a
reflected Brownian motion (Kingman's heavy traffic; Whitt 2002, ch. 5) whose scale after n arrivals is √(n (c_a² +
c_s²)), with the variances per arrival and per completion of the series themselves (long-run,
`saturation.variance_per_event`).

    growth z = (backlog at the end − at the start) / scale

falls behind: growth z ≥ 0.8, and the backlog was never near its least in the last third
keeps up:     growth z < 0.8, and the smallest overload that this time can show is at most 5%, or the backlog was near
              its least again in the last third
undecided:    else, and always below 100 items or 10 s

0.8 gives 95% power at an overload of (0.8 + 1.645) √((c_a² + c_s²) / n), the *smallest detectable*: 1.0% of
200 items/s (Poisson, exponential) in 10 minutes. A consumer at ρ = 0.95 is then called behind in less than 1% of
runs, because its backlog is much smaller than that border; at ρ between 1 less the smallest detectable and 1 no test
can tell.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from plimsoll.stats.throughput.saturation import variance_per_event

GROWTH_Z = 0.8
POWER_Z = 1.645
FLOOR_SHARE = 0.15
FINE_ENOUGH = 0.05
FEWEST_ITEMS = 100.0
FEWEST_SECONDS = 10

Verdict = Literal["keeps up", "falls behind", "undecided"]


@dataclass(frozen=True)
class KeepingUp:
    """Rates in items per second; `overload`: growth ÷ arrivals with its 95% interval; `smallest_detectable`: the
    overload that the time observed shows with 95% power; backlogs in items."""

    verdict: Verdict
    arrivals_per_s: float
    taken_per_s: float
    backlog_start: float
    backlog_end: float
    growth_per_s: float
    overload: float
    overload_low: float
    overload_high: float
    growth_z: float
    smallest_detectable: float
    seconds: float
    busy_per_s: float | None


def keeping_up(put_in: ArrayLike, taken_out: ArrayLike, backlog_start: float, step_s: float = 1.0) -> KeepingUp:
    """Judge counts per `step_s` seconds, both of shape (n,), n ≥ 2, after a backlog of `backlog_start` items.

    `busy_per_s`: what it took out per second while work waited throughout, its capacity if it fell behind; None where
    it was hardly ever so.
    """
    arrivals, taken = np.asarray(put_in, dtype=float), np.asarray(taken_out, dtype=float)
    if arrivals.shape != taken.shape or arrivals.ndim != 1 or arrivals.size < 2:
        raise ValueError("put_in and taken_out must be series of the same length of at least two")
    seconds, came = arrivals.size * step_s, float(arrivals.sum())
    backlog = backlog_start + np.concatenate(([0.0], np.cumsum(arrivals - taken)))
    noise = variance_per_event(arrivals) + variance_per_event(taken)
    scale = math.sqrt(max(came, 1.0) * noise)
    gain = float(backlog[-1] - backlog[0])
    z = gain / scale
    smallest = (GROWTH_Z + POWER_Z) * scale / max(came, 1.0)
    last = backlog[-max(2, backlog.size // 3) :]
    emptied = float(last.min()) <= backlog.min() + FLOOR_SHARE * scale
    verdict: Verdict = "undecided"
    if came >= FEWEST_ITEMS and seconds >= FEWEST_SECONDS:
        if z >= GROWTH_Z and not emptied:
            verdict = "falls behind"
        elif z < GROWTH_Z and (smallest <= FINE_ENOUGH or emptied):
            verdict = "keeps up"
    half = 1.96 * scale / max(came, 1.0)
    share = gain / max(came, 1.0)
    busy = backlog[:-1] > 2 * max(taken.mean(), 1.0)
    return KeepingUp(
        verdict=verdict,
        arrivals_per_s=came / seconds,
        taken_per_s=float(taken.sum()) / seconds,
        backlog_start=float(backlog[0]),
        backlog_end=float(backlog[-1]),
        growth_per_s=gain / seconds,
        overload=share,
        overload_low=share - half,
        overload_high=share + half,
        growth_z=z,
        smallest_detectable=smallest,
        seconds=seconds,
        busy_per_s=float(taken[busy].mean()) / step_s if busy.sum() >= 5 else None,
    )


def time_to_drain_s(backlog: float, taken_per_s: float, arrivals_per_s: float = 0.0) -> float:
    """backlog ÷ (μ − λ) in seconds; infinite where the consumer is not faster than what comes in."""
    spare = taken_per_s - arrivals_per_s
    return backlog / spare if spare > 0 else math.inf
