"""The rate of a consumer while it works, from its own history of polls: items, and durations rounded to whole seconds.

    rate R = Σ items / Σ duration        over n polls, which weighs each poll by its length (a ratio of sums)

Two things make it uncertain, and the interval is the wider of theirs at each end.

How polls vary: the jackknife's standard error of log R, √((n - 1) / n Σ (log R₍ᵢ₎ - mean)²) with R₍ᵢ₎ the rate without
poll i (Efron and Stein, The jackknife estimate of variance, Ann. Statist. 9, 1981; the plain formula for ratios is
too small for a few polls of unequal length), with Student's t of n - 1 degrees. It takes polls as independent.

Rounding: a duration that is rounded to the nearest `rounding_s` lies within ± rounding_s / 2 of what is written. The
errors of n durations are taken as uniform and independent, so that their sum has the standard deviation
rounding_s √(n / 12) (Widrow and Kollár, Quantization Noise, 2008, ch. 3); 95% of it lies within 1.96 of these, and all
of it within n rounding_s / 2.

What changes from one run to the next is in neither.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

Z_95 = 1.96


@dataclass(frozen=True)
class PollRate:
    """Items per second with its 95% interval (`high` infinite where all durations may be zero); of one poll that of
    the rounding alone."""

    per_s: float
    low: float
    high: float
    items: float
    seconds: float
    polls: int


def poll_rate(items: Sequence[float], durations_s: Sequence[float], rounding_s: float = 1.0) -> PollRate | None:
    """The rate of polls that did something; None without any. `items` and `durations_s`: shape (n,), none negative.
    Raises ValueError for other shapes or values."""
    if len(items) != len(durations_s):
        raise ValueError(f"{len(items)} polls and {len(durations_s)} durations")
    if rounding_s < 0 or any(not 0 <= value < math.inf for value in (*items, *durations_s)):
        raise ValueError("items, durations and rounding are finite and not below 0")
    busy = [(count, seconds) for count, seconds in zip(items, durations_s, strict=True) if count > 0]
    if not busy:
        return None
    total, seconds = math.fsum(count for count, _ in busy), math.fsum(one for _, one in busy)
    error = rounding_s * min(len(busy) / 2, Z_95 * math.sqrt(len(busy) / 12))
    least = max(seconds - error, 0.0)
    low = total / (seconds + error) if seconds + error > 0 else math.inf
    high = total / least if least > 0 else math.inf
    if len(busy) > 1 and seconds > 0:
        rate, factor = total / seconds, _variation(busy, total, seconds)
        low, high = min(low, rate / factor), max(high, rate * factor)
    return PollRate(
        per_s=total / seconds if seconds > 0 else math.inf,
        low=low,
        high=high,
        items=total,
        seconds=seconds,
        polls=len(busy),
    )


def _variation(busy: Sequence[tuple[float, float]], items: float, seconds: float) -> float:
    """The factor by which the rate of these polls, which sum up to `items` and `seconds`, may be off as they differ."""
    from scipy.special import stdtrit  # scipy.stats takes most of a second to import

    n = len(busy)
    without = [(items - count, seconds - one) for count, one in busy]
    if any(rest <= 0 for _, rest in without):
        return math.inf
    logs = [math.log(others / rest) for others, rest in without]
    mean = math.fsum(logs) / n
    error = math.sqrt((n - 1) / n * math.fsum((one - mean) ** 2 for one in logs))
    return math.exp(min(700.0, float(stdtrit(n - 1, 0.975)) * error))
