"""What is under way in a target without waiting there, where iterations last for seconds, as those that pause do.

Of such a load, how many iterations are unfinished follows the arrivals of the last seconds: it wanders by more than a
short queue, and all of a burst ends at once. So the queue is told from it: arrivals count when their iterations would
end if they waited for nothing, by how long they took at low load.

    due(t) = Σ planned(t − k) · P(an iteration ends k seconds after that of its arrival)
    queue  = planned so far − due so far is under way; what is unfinished beyond it waits
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from plimsoll.runs.histogram import Histogram, bucket_middle

QUANTILES = 200
LASTING_S = 1.0
MOST, FILLED = 0.5, 0.95
MARGIN = 1.2


@dataclass(frozen=True)
class UnderWay:
    """`shares[k]`: share of the arrivals of a second whose iterations end k seconds later, if nothing waits; they sum
    to 1."""

    shares: tuple[float, ...]

    def due(self, planned: ArrayLike) -> np.ndarray:
        """Iterations of these arrivals per second that would end in each second, both of shape (n,)."""
        arrivals = np.asarray(planned, dtype=float)
        return np.convolve(arrivals, self.shares)[: arrivals.size]


def under_way(durations: Histogram) -> UnderWay | None:
    """By the durations (ms) of iterations at low load; None where most of what is under way lasts for less than a
    second.

    Arrivals are spread evenly over their second: one that takes d ends ⌊d⌋ or ⌊d⌋ + 1 seconds later.
    """
    if lasting_s(durations, MOST) < LASTING_S:
        return None
    took_s = durations.percentiles((np.arange(QUANTILES) + 0.5) / QUANTILES) / 1000
    whole = np.floor(took_s).astype(int)
    later = took_s - whole
    least = int(whole.max()) + 2
    counts = np.bincount(whole, 1 - later, least) + np.bincount(whole + 1, later, least)
    return UnderWay(tuple(counts / QUANTILES))


def lasting_s(durations: Histogram, share: float) -> float:
    """Seconds that `share` of what is under way at a moment lasts at most, by the durations (ms) of iterations: one
    that lasts ten times as long is ten times as often met. 0 without any."""
    if not durations.count:
        return 0.0
    middle = bucket_middle(durations.bucket_index)
    lasted = np.cumsum(middle * durations.bucket_count)
    return float(middle[np.searchsorted(lasted, share * lasted[-1])]) / 1000 if lasted[-1] > 0 else 0.0


def filled_s(durations: Histogram) -> float:
    """Seconds after a change of level until what was under way before has left, all but a twentieth of it."""
    return MARGIN * lasting_s(durations, FILLED)
