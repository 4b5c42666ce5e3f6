"""How many independent values a load's response times are worth: requests that wait in one queue share their fate.

In a queue of one server with random arrivals the values above a high limit come in clusters: the count of them scatters
(1 + ρ) ÷ (1 − ρ)² times as much as of independent ones (190 times at ρ = 0.9), which is (1 + L)(1 + 2L) for the mean
number L in the system. That factor, Kish's (1965) design effect, is estimated here from seconds: the counts of values
above the median, the quartile and the ninth decile, and above the limit where some are, scatter `v` times as much as
binomial ones would (a ratio estimator over blocks, Cochran 1977 ch. 6), and where neighbouring seconds go together,
(1 + φ) ÷ (1 − φ) times more, φ the lag-one correlation corrected for its bias. Few seconds tell a variance badly, and a
stretch that is calm by chance looks more independent than the target is; so the upper limit of each is taken, and the
largest of them (tests/accuracy/objective_scorecard.py has the errors that are left).

Where nothing is plainly correlated the factor of a single queue bounds what an unlucky choice of seconds may look like:
a response of 15 ms once a second shares no queue with the next.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

UPPER = 0.1  # one-sided: how often the true variance is above its upper limit
PLAIN = 0.05  # significance from which values are said to be correlated
MOST_CORRELATION = 0.95
FEWEST_FOR_LAG = 8


def queue_factor(in_system: float, share: float = 1.0) -> float:
    """(1 + L)(1 + 2L) for a mean number `in_system`; of a random `share` of its requests, 1 + share × (that − 1)."""
    return 1 + share * ((1 + in_system) * (1 + 2 * in_system) - 1)


def design_effect(counts: Array, above: Sequence[Array], in_system: float | None = None, share: float = 1.0) -> float:
    """The factor, at least 1, by which the values are fewer than they look.

    `counts`: values in each second with any, shape (n,); `above`: for some values of reference how many lie above, each
    of shape (n,); `in_system`: mean number of requests in the target, of which these are `share`.
    """
    blocks = counts.size
    if blocks < 2:
        return max(1.0, float(counts.sum()) if in_system is None else queue_factor(in_system, share))
    largest, plain = upper_limit(blocks - 1.0), False
    for marked in above:
        found = _scatter(counts, marked)
        if found is None:
            continue
        times, lag = found
        chance_of_lag = 1.645 / math.sqrt(blocks) - 1 / blocks
        free, factor = blocks - 1.0, 1.0
        plain = plain or times > _quantile(blocks - 1.0, 1 - PLAIN)
        if blocks >= FEWEST_FOR_LAG and times > 1 and lag > chance_of_lag:
            corrected = min(MOST_CORRELATION, (lag + 1 / blocks) / (1 - 4 / blocks))
            factor = (1 + corrected) / (1 - corrected)
            free, plain = max(1.0, free / factor), True
        largest = max(largest, max(1.0, times) * factor * upper_limit(free))
    if not plain and in_system is not None:
        largest = min(largest, queue_factor(in_system, share))
    return max(1.0, largest)


def burstiness(requests: Array, failed: Array) -> float:
    """By what factor, at least 1, the requests of these seconds are fewer than they look where it is told how many
    fail; both of shape (n,)."""
    some = requests > 0
    return design_effect(requests[some], [failed[some]], 0.0) if failed.sum() else 1.0


def _scatter(counts: Array, marked: Array) -> tuple[float, float] | None:
    """Variance of the marked values over that of independent ones, and the correlation of neighbouring seconds; None
    where all are marked or none."""
    total = float(counts.sum())
    share = float(marked.sum()) / total
    if not 0 < share < 1:
        return None
    rest = marked - share * counts
    square = float(rest @ rest)
    if square <= 0:
        return None
    binomial = total * share * (1 - share)
    return square * counts.size / (counts.size - 1) / binomial, float(rest[1:] @ rest[:-1]) / square


def upper_limit(free: float) -> float:
    """Upper limit of a variance over its estimate with `free` degrees of freedom: 63 for one, 2.2 for nine."""
    from scipy.special import chdtri

    return free / float(chdtri(free, 1 - UPPER))


def _quantile(free: float, probability: float) -> float:
    """Of chi-square over its degrees of freedom."""
    from scipy.special import chdtri

    return float(chdtri(free, 1 - probability)) / free
