"""Was the target the same throughout a step? A step in which it was not bounds nothing and is held again.

A level may be carried by a target that slows down all the while (its data grow, a cache fills, the heap ages): the step
is called good and the target would not carry it for another minute. And one that is still warming up is called bad at a
level that it carries soon after. So before a verdict counts,

    good   the mean response time of the seconds must not drift: stats/growth/drift.py at 99% on its logarithm, as a
           queue makes it grow by shares, and by a tenth or more
    bad    the completions of the seconds that kept the target busy must not rise beyond chance, by the same test
    closed throughput must not drift either way, by the same test and 3% or more

What a growing backlog looks like is no drift: where a target falls behind, response times rise with the queue, and it
may finish less and less as it thrashes; either is what *bad* means. Seconds are those of a host of mean speed, and
those in which the hypervisor took CPU time are left out while half are without. Near the capacity the queue's memory
hides a drift (docs/measurement.md has the rates); there the queue itself says whether the target keeps up.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike, NDArray

from plimsoll.experiments.steps.measure import Measurement
from plimsoll.stats.growth.drift import Drift, drift
from plimsoll.words import percent_words, share_words, time_words

CONFIDENCE = 0.99
LEAST_SHARE = 0.10
LEAST_THROUGHPUT_SHARE = 0.03
STOLEN_IN_A_SECOND = 0.02


def response_drifts(seen: Measurement, host_factors: ArrayLike) -> str | None:
    """Why a step that keeps up says nothing: its response time drifts; None where it does not, or cannot be told to.

    `host_factors`: what the host let the target do in each second, 1 at mean speed, shape (n,)."""
    means = np.asarray(seen.mean_ms or [math.nan] * len(seen.seconds), dtype=float)
    means = np.where(means > 0, means, math.nan) * np.asarray(host_factors)
    found = drift(seen.seconds, np.log(_calm(seen, means)), CONFIDENCE)
    if found is None or not found.significant:
        return None
    share, low, high = (math.expm1(slope * found.span_s) for slope in (found.slope, found.low, found.high))
    if abs(share) < LEAST_SHARE:
        return None
    way = "gets slower" if share > 0 else "gets faster"
    change = _change(share, low, high, found.span_s)
    return f"The target {way} all the while: the mean response time {change}, so this step bounds nothing."


def warms_up(seen: Measurement, done: ArrayLike, busy: NDArray[np.bool_], host_factors: ArrayLike) -> str | None:
    """Why a step that falls behind says nothing: the target still does more and more; None where it does not.

    `done`: what it did in each second, and `busy`: whether work waited throughout it, both of shape (n,);
    `host_factors` as above."""
    finished = np.where(busy, np.asarray(done) / np.asarray(host_factors), math.nan)
    found = drift(seen.seconds, finished, CONFIDENCE)
    if found is None or found.low <= 0 or found.share < LEAST_SHARE:
        return None
    return f"The target gets faster all the while: what it finishes {_change_of(found)}, so this step bounds nothing."


def throughput_drifts(seen: Measurement) -> str | None:
    """Why a closed step says nothing of its level; None where its throughput does not drift, or cannot be told to."""
    found = drift(seen.seconds, _calm(seen, np.asarray(seen.done, dtype=float)), CONFIDENCE)
    if found is None or not found.significant or abs(found.share) < LEAST_THROUGHPUT_SHARE:
        return None
    return f"Throughput {_change_of(found)}: the target changes all the while, so this step bounds nothing."


def _calm(seen: Measurement, values: NDArray[np.float64]) -> NDArray[np.float64]:
    """The values of the seconds without stolen time, where at least half are."""
    stolen = np.asarray(seen.stolen or [0.0] * values.size) > STOLEN_IN_A_SECOND
    return np.where(stolen, math.nan, values) if 2 * stolen.sum() <= stolen.size else values


def _change_of(found: Drift) -> str:
    return _change(found.share, *found.share_interval, found.span_s)


def _change(share: float, low: float, high: float, span_s: float) -> str:
    way = "rises" if share > 0 else "falls"
    return (
        f"{way} by {share_words(abs(share))} in {time_words(span_s)} (99%: {percent_words(low)} to "
        f"{percent_words(high)})"
    )
