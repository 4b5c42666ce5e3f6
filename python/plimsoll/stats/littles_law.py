"""Do the numbers of a closed test agree with each other? Little's law (1961): N = X (R + Z).

N users who each wait for their answer have X R of them waiting, so X R ≤ N whatever the think time Z. More is
impossible: a mean of something else, a throughput of something else, or users who do not wait.
"""

from __future__ import annotations

SLACK = 0.02


def waiting_users(per_s: float, mean_s: float) -> float:
    """Users who wait for an answer at any time, X R."""
    return per_s * mean_s


def think_time_s(users: float, per_s: float, mean_s: float) -> float:
    """Z = N / X − R in s; negative where the numbers contradict each other."""
    return users / per_s - mean_s


def contradicts(users: float, per_s: float, mean_s: float) -> bool:
    """Whether more users wait than there are, by more than what rounding of the numbers explains (2 %)."""
    return waiting_users(per_s, mean_s) > users * (1 + SLACK)
