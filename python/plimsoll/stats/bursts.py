"""Do errors come in bursts? Stretches of seconds with more failures than a steady share explains.

Each window of 10 s is compared with the share of the calm half of the run, the windows whose share of failures is at
most the median's (binomial tail). It belongs to a burst if it has at least three failures and so many have a
probability below 1 % ÷ the number of windows (Bonferroni), and neighbouring windows are one burst. The calm half is our
own construction.

What breaks it: the calm half is chosen for having few failures, so its share is below the true one, and failures that
are evenly spread show a burst more often than in one run of a hundred (docs/measurement.md, "Every formula").
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

WINDOW_S = 10
LEVEL = 0.01


@dataclass(frozen=True)
class Burst:
    """Seconds [start_s, end_s) with `failed` of `requests`."""

    start_s: int
    end_s: int
    failed: int
    requests: int


def bursts(seconds: ArrayLike, failed: ArrayLike, requests: ArrayLike) -> list[Burst]:
    """Bursts in counts per second, each of shape (n,), seconds ascending; empty where failures are evenly spread.

    The share outside of the windows with most failures (above the median window) is what is taken as steady.
    """
    from scipy.special import betainc

    at = np.asarray(seconds, dtype=int)
    bad, of = np.asarray(failed, dtype=float), np.asarray(requests, dtype=float)
    if at.size == 0 or bad.sum() == 0:
        return []
    window = (at - at[0]) // WINDOW_S
    bad_in, of_in = np.bincount(window, weights=bad), np.bincount(window, weights=of)
    shares = np.where(of_in > 0, bad_in / np.maximum(of_in, 1), 0.0)
    calm = shares <= np.median(shares[of_in > 0])
    # at least half a failure in the whole run, so that a single one is never a burst
    steady = max(bad_in[calm].sum(), 0.5) / max(of_in[calm].sum(), 1.0)
    # P(X ≥ bad) of a binomial, by the incomplete beta function (Abramowitz and Stegun 26.5.24)
    tail = betainc(np.maximum(bad_in, 1), of_in - np.minimum(bad_in, of_in) + 1, min(1.0, steady))
    chance = np.where(bad_in > 0, tail, 1.0)
    hot = (chance < LEVEL / window.max().clip(min=1)) & (bad_in >= 3)
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
