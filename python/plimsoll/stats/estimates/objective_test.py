"""Objectives on response times and failures of a load at one level: met, violated or undecided, with an error of 1%.

A percentile: the exact test of quantile_test.py, of as many independent values as effective_count.py finds. "Violated"
needs one test. "Met" needs less where the limit is far away. Values above it come either alone, or by a queue; a queue
passes all lower values on its way up. Of M/M/1 the logarithm of the share above x falls in proportion to x; of requests
with very different work more slowly, and it is allowed to fall with x^0.7. So it is met if

    the share above the limit is at most `allowed` by the independent values alone, or
    it is so by all values, and the share above a quarter of the limit is at most allowed^0.38, or the share above a
    sixteenth of it at most allowed^0.14, by the independent values.

How many values are worth one independent one is looked at where it concerns the limit: of a target that always takes
20 ms the values above its median come in clusters as well, since a host's speed wanders by a per cent, which says
nothing of a limit of 500 ms. So only reference values count that are a sixteenth of the way to the limit. Likewise on
the other side: where a lock makes every second request take 600 to 610 ms, those slow ones come in clusters of 10 ms,
which says nothing of a limit of 200 ms. What lies above it counts only if it is a sixteenth as wide as it is far.

The first has 0.8 of the error, the two others 0.1 each. What comes seldom and in clusters and leaves no trace in lower
values, a pause of two seconds once a minute, is not seen by ten seconds; no test of them sees it.

A share of failures is tested alike, its clusters by themselves. A mean by Student's t over the seconds' sums, a maximum
by what was seen.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from plimsoll.stats.estimates.effective_count import burstiness, design_effect, queue_factor, upper_limit
from plimsoll.stats.estimates.quantile_test import (
    ERROR,
    Verdict,
    is_above,
    is_above_at_any_time,
    is_below,
    is_below_at_any_time,
    share_bounds,
)

Array = NDArray[np.float64]

REFERENCES = (0.5, 0.75, 0.9)
FAST = 0.1  # quantile of requests that nothing holds up
NEAR = 1 / 16  # of the way from those to the limit: nearer to them a value says nothing of the limit
BAND = (0.9, 0.1)  # from the fastest tenth of the values above the limit to the slowest
DIRECT, LOWER = 0.8, 0.1  # shares of the error
PARTS = (4, 16)
TAIL = 0.7  # of ln(share above): tails as heavy as those of Weibull's with this shape are allowed
FEWEST_FOR_MEAN = 8
FEWEST_FOR_MAX = 20
MOST_TIMES = 1e4


class Block(Protocol):
    """The part of runs.Histogram that is needed."""

    count: int
    sum: float

    def count_over(self, limit: float) -> int:
        """How many values lie above `limit`."""

    def percentile(self, quantile: float) -> float:
        """The value at `quantile` in [0, 1]."""


@dataclass(frozen=True)
class Judged:
    """A verdict. `over` of `samples` are above the limit; `effective`: as many independent ones say as much;
    `share_low`, `share_high`: of the share above the limit, each wrong with probability 1%; `times_longer`: how many
    times as many samples would decide it, 1 if these do, None where nobody can tell."""

    verdict: Verdict
    samples: int
    over: int
    effective: float
    share_low: float = 0.0
    share_high: float = 1.0
    times_longer: float | None = None


@dataclass(frozen=True)
class ShareTest:
    """Whether at most `allowed` of the values are above a limit: `over` of `count` are. `effect`: so many times fewer
    independent ones they are, by so many `blocks` of time; `own_effect`: by those above the limit alone; `lower`: how
    many are above a part of the limit, with the share that is allowed there; `most_effect`: of these, at most."""

    count: float
    over: float
    allowed: float
    effect: float = 1.0
    own_effect: float = 1.0
    most_effect: float = math.inf
    lower: tuple[tuple[float, float], ...] = ()
    blocks: int = 0

    def verdict(self, error: float = ERROR, any_time: bool = False, times: float = 1.0) -> Verdict:
        """`any_time`: it may be asked as often as one likes, and the first answer ends the test; `times`: of so many
        times as many values with the same shares."""
        count, over = times * self.count, times * self.over
        if count <= 0:
            return "undecided"
        effect, own_effect = self._in_time(self.effect, times), self._in_time(self.own_effect, times)
        if not 0 < self.allowed < 1:
            return "violated" if self.allowed <= 0 and over > 0 else "met"
        below, above = (is_below_at_any_time, is_above_at_any_time) if any_time else (is_below, is_above)
        if above(over / effect, count / effect, self.allowed, error):
            return "violated"
        direct = DIRECT * error if self.lower else error
        if below(over / effect, count / effect, self.allowed, direct):
            return "met"
        if not self.lower or not below(over / own_effect, count / own_effect, self.allowed, direct):
            return "undecided"
        effect = min(effect, self.most_effect)
        calm = any(below(times * higher / effect, count / effect, share, LOWER * error) for higher, share in self.lower)
        return "met" if calm else "undecided"

    def _in_time(self, effect: float, times: float) -> float:
        """What the effect is expected to be for so many times as many blocks, which know it better."""
        if times == 1 or self.blocks < 2:
            return effect
        return max(1.0, effect * upper_limit(times * self.blocks - 1) / upper_limit(self.blocks - 1))

    def times_longer(self, error: float = ERROR) -> float | None:
        """How many times as many values decide it if all shares stay; None where 10,000 times would not."""
        if self.count <= 0:
            return None
        high = 1.0
        while self.verdict(error, times=high) == "undecided":
            high *= 2
            if high > MOST_TIMES:
                return None
        low = high / 2
        while high > 1 and high - low > 0.02 * high:
            middle = (low + high) / 2
            decided = self.verdict(error, times=middle) != "undecided"
            low, high = (low, middle) if decided else (middle, high)
        return high

    def judged(self, error: float = ERROR, any_time: bool = False) -> Judged:
        """The verdict with its numbers."""
        verdict = self.verdict(error, any_time)
        low, high = share_bounds(self.over / self.effect, self.count / self.effect, error)
        longer = 1.0 if verdict != "undecided" else self.times_longer(error)
        return Judged(verdict, round(self.count), round(self.over), self.count / self.effect, low, high, longer)


def quantile_share_test(
    blocks: Sequence[Block],
    merged: Block,
    limit: float,
    quantile: float,
    in_system: float | None,
    share: float = 1.0,
    per_s: float | None = None,
) -> ShareTest:
    """Whether `quantile` in (0, 1) is at most `limit` (ms), by seconds (or other blocks of time) in order, all of them
    `merged`. `in_system`: mean number of requests in the target, `per_s` of which begin in a second; `share` of them
    are these."""
    filled = [block for block in blocks if block.count]
    counts = np.array([block.count for block in filled], dtype=float)
    allowed, over = 1 - quantile, merged.count_over(limit)
    if not filled:
        return ShareTest(0.0, 0.0, allowed)
    beyond = np.array([block.count_over(limit) for block in filled], dtype=float)
    fast = merged.percentile(FAST)
    values = [value for value in map(merged.percentile, REFERENCES) if value - fast >= NEAR * (limit - fast)]
    if over and _is_one_far_band(merged, over / merged.count, limit):
        values = [value for value in values if value <= limit]
    above = [np.array([block.count_over(value) for block in filled], dtype=float) for value in values]
    return ShareTest(
        float(merged.count),
        float(over),
        allowed,
        design_effect(counts, [*above, beyond], in_system, share),
        design_effect(counts, [beyond], 0.0) if over else 1.0,
        _of_one_queue(limit, allowed, per_s, share),
        tuple((float(merged.count_over(limit / part)), allowed ** (part**-TAIL)) for part in PARTS),
        len(filled),
    )


def _is_one_far_band(merged: Block, share: float, limit: float) -> bool:
    """Whether the values above the limit, the `share` of all, lie together much closer than to the limit."""
    low, high = (merged.percentile(1 - part * share) for part in BAND)
    return high - low < NEAR * (low - limit)


def _of_one_queue(limit_ms: float, allowed: float, per_s: float | None, share: float) -> float:
    """The factor of a single queue of which `allowed` is the share above the limit: there the mean time of exponential
    ones is limit ÷ ln(1 ÷ allowed), and so many are in the system by Little's law; no bound where nobody knows."""
    if not per_s or not 0 < allowed < 1:
        return math.inf
    return queue_factor(per_s * limit_ms / 1000 / math.log(1 / allowed), share)


def failure_share_test(failed: Array, requests: Array, allowed: float) -> ShareTest:
    """Whether at most `allowed` of the requests fail; both arrays by second, shape (n,)."""
    effect, seconds = burstiness(requests, failed), int((requests > 0).sum())
    return ShareTest(float(requests.sum()), float(failed.sum()), allowed, effect, blocks=seconds)


def judge_mean(counts: Array, sums: Array, limit: float, error: float = ERROR) -> Judged:
    """Whether the mean is at most `limit`: Student's t over the sums of the seconds (a ratio estimator, Cochran 1977),
    wider where neighbouring seconds go together (Law 2015, § 9.5.3); undecided below eight seconds with values."""
    from scipy.special import stdtrit

    some = counts > 0
    counts, sums = counts[some], sums[some]
    blocks, total = counts.size, float(counts.sum())
    if blocks < FEWEST_FOR_MEAN:
        longer = FEWEST_FOR_MEAN / blocks if blocks else None
        return Judged("undecided", round(total), 0, total, times_longer=longer)
    mean = float(sums.sum()) / total
    rest = sums - mean * counts
    square = float(rest @ rest)
    lag = float(rest[1:] @ rest[:-1]) / square if square > 0 else 0.0
    corrected = min(0.9, max(0.0, (lag + 1 / blocks) / (1 - 4 / blocks)))
    factor = (1 + corrected) / (1 - corrected)
    error_of_mean = math.sqrt(square * blocks / (blocks - 1) * factor) / total
    half = float(stdtrit(max(1.0, blocks / factor - 1), 1 - error)) * error_of_mean
    verdict: Verdict = "met" if mean + half <= limit else "violated" if mean - half > limit else "undecided"
    gap = abs(mean - limit)
    longer = 1.0 if verdict != "undecided" else (half / gap) ** 2 if half < gap * math.sqrt(MOST_TIMES) else None
    return Judged(verdict, round(total), 0, total / factor, times_longer=longer)


def judge_max(merged: Block, limit: float) -> Judged:
    """Whether anything took longer, of what was seen: a maximum says nothing of what was not."""
    over = merged.count_over(limit)
    verdict: Verdict = "violated" if over else "met" if merged.count >= FEWEST_FOR_MAX else "undecided"
    longer = 1.0 if verdict != "undecided" else FEWEST_FOR_MAX / merged.count if merged.count else None
    return Judged(verdict, merged.count, over, float(merged.count), times_longer=longer)
