"""Do the numbers of a test agree with each other? Little's law (1961): N = X R; with a think time Z, N = X (R + Z).

N users who each wait for their answer have X R of them waiting, so X R ≤ N whatever the think time Z. More is
impossible: a mean of something else, a throughput of something else, or users who do not wait.

What a run of our own counted inside the target must be what its completions and their times make, over any seconds and
in any order of service (Stidham 1974). Where it is not, times or completions are wrong, whatever the target does.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate, pairwise
from operator import mul

SLACK = 0.02


def waiting_users(per_s: float, mean_s: float) -> float:
    """Users who wait for an answer at any time, X R."""
    return per_s * mean_s


def think_time_s(users: float, per_s: float, mean_s: float) -> float:
    """Z = N / X − R in s; negative where the numbers contradict each other."""
    return users / per_s - mean_s


def contradicts(users: float, per_s: float, mean_s: float) -> bool:
    """Whether more users wait than there are, by more than what rounding of the numbers explains (2%)."""
    return waiting_users(per_s, mean_s) > users * (1 + SLACK)


# A gap above this share of the greater side is a fault, beyond what the edges and chance explain.
LARGEST_GAP = 0.05
FEWEST_SECONDS = 5
# Standard deviations of the count's own scatter; a short step knows that scatter less well.
DEVIATIONS, OF_FEW = 4.0, 2.0


@dataclass(frozen=True)
class LawGap:
    """The two sides of N = X R over `seconds` s: `inside`, the mean number that was counted inside, and `told`, what
    `per_s` completions a second of `mean_s` each make of it; `allowed`: by how much these may differ for the edges of
    the step, for chance and by LARGEST_GAP together. All in arrivals, or per second."""

    seconds: int
    inside: float
    told: float
    per_s: float
    mean_s: float
    allowed: float

    @property
    def is_fault(self) -> bool:
        """Whether they differ by more than is allowed."""
        return abs(self.inside - self.told) > self.allowed

    @property
    def share(self) -> float:
        """The difference as a share of the greater side."""
        greater = max(self.inside, self.told)
        return abs(self.inside - self.told) / greater if greater else 0.0


def law_gap(
    inside: Sequence[float],
    times_s: Sequence[float],
    ended: Sequence[int],
    longest_s: Sequence[float],
    *,
    late_s: float = 0.0,
    hung: float = 0.0,
    hung_before: float = 0.0,
    rhythms: int = 0,
    blind_s: float = 0.0,
) -> LawGap | None:
    """Little's law over n seconds: ∫ N dt = Σ W of what ended + ages of those inside at the end − at the start.

    `inside`, n + 1 counts: before the first second and at the end of each; `times_s`, `ended`, `longest_s`: of what
    ended in each second, the time together, how many and the longest. `late_s`: time within `times_s` in which arrivals
    were not counted inside yet, as the generator came late to them; `hung`: how many of those inside at the end may
    have got stuck in these seconds, and `hung_before` before them; `rhythms`: arrivals in a fixed rhythm may meet the
    counting in step, one for each; `blind_s`: seconds of these in which nobody counted.
    None below FEWEST_SECONDS, or where nothing ended.

    Ages are at most those of the longest, so a step that is not much longer than an iteration tells little. The count
    is a sample a second, whose scatter is that of its successive differences (von Neumann 1941), as a trend is none.
    """
    seconds, work = len(times_s), sum(times_s)
    if seconds < FEWEST_SECONDS or not sum(ended) or work <= 0:
        return None
    area = sum((before + after) / 2 for before, after in pairwise(inside))
    age_s = min(float(seconds), sum(map(mul, times_s, longest_s)) / work)
    # Some of the times may be of iterations that ended later, so the edges count either way.
    edges = age_s * max(inside[0], inside[-1])
    stays = sum(max(0.0, least - inside[0] + hung_before) for least in accumulate(reversed(inside), min))
    stuck = min(stays, hung * seconds)
    variance = sum((after - before) ** 2 for before, after in pairwise(inside)) / (2 * seconds)
    if area < seconds:  # of fewer than one inside most samples are alike; its scatter is then that of a Poisson count
        variance = max(variance, min(seconds, max(area, work)) / seconds)
    scatter = DEVIATIONS * (1 + OF_FEW / seconds) * math.sqrt(seconds * variance)
    unseen = blind_s * max(area, work) / seconds
    allowed = LARGEST_GAP * max(area, work) + edges + scatter + unseen + rhythms * seconds
    allowed += stuck if area > work else late_s
    count = sum(ended)
    return LawGap(seconds, area / seconds, work / seconds, count / seconds, work / count, allowed / seconds)


def unaccounted(inside: Sequence[float], came: Sequence[int], left: Sequence[int]) -> float:
    """Arrivals that came, did not leave and are not inside (above 0), or that left or are inside and never came."""
    return sum(came) - sum(left) - (inside[-1] - inside[0])
