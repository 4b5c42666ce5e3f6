"""Do errors come in bursts? Stretches of seconds with more failures than a steady share explains.

Each window of 10 s is compared with the share of all windows that belong to no burst (binomial tail). It belongs to a
burst if it has at least three failures and so many have a probability below 1% ÷ the number of windows (Bonferroni);
then it no longer counts for the share, and the rest is looked at again until no window is added (forward exclusion, as
of outliers; our own construction). Neighbouring windows are one burst.

What breaks it: failures that come in twos and threes because of one cause are not independent, and show bursts where
they are spread evenly; bursts that fill most of the run are what is steady.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

WINDOW_S = 10
LEVEL = 0.01
LEAST_FAILED = 3


@dataclass(frozen=True)
class Burst:
    """Seconds [start_s, end_s) with `failed` of `requests`."""

    start_s: int
    end_s: int
    failed: int
    requests: int


def bursts(seconds: ArrayLike, failed: ArrayLike, requests: ArrayLike) -> list[Burst]:
    """Bursts in counts per second, each of shape (n,), seconds ascending; empty where failures are evenly spread."""
    at = np.asarray(seconds, dtype=int)
    bad, of = np.asarray(failed, dtype=float), np.asarray(requests, dtype=float)
    if at.size == 0 or bad.sum() == 0:
        return []
    window = (at - at[0]) // WINDOW_S
    bad_in, of_in = (np.bincount(window, weights=counts).astype(float) for counts in (bad, of))
    hot = np.zeros(bad_in.size, dtype=bool)
    while (more := _beyond(bad_in, of_in, hot) & ~hot).any():
        hot |= more
    found: list[Burst] = []
    for place in np.flatnonzero(hot):
        inside = window == place
        with_failures = at[inside & (bad > 0)]
        start, end = int(with_failures.min()), int(with_failures.max()) + 1
        if found and hot[place - 1] and found[-1].end_s >= start - WINDOW_S:
            last = found.pop()
            burst = Burst(last.start_s, end, last.failed + int(bad_in[place]), last.requests + int(of_in[place]))
        else:
            burst = Burst(start, end, int(bad_in[place]), int(of_in[place]))
        found.append(burst)
    return found


def _beyond(failed: NDArray[np.float64], requests: NDArray[np.float64], hot: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Which windows have more failures than the share of those that are not `hot` explains."""
    from scipy.special import betainc

    # at least half a failure in the whole run, so that a single one is never a burst
    steady = max(failed[~hot].sum(), 0.5) / max(requests[~hot].sum(), 1.0)
    # P(X ≥ failed) of a binomial, by the incomplete beta function (Abramowitz and Stegun 26.5.24)
    tail = betainc(np.maximum(failed, 1), requests - np.minimum(failed, requests) + 1, min(1.0, steady))
    return np.asarray((failed >= LEAST_FAILED) & (tail < LEVEL / np.count_nonzero(requests)))
