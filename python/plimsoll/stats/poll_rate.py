"""The rate of a consumer while it works, from its own history of polls: items, and durations rounded to whole seconds.

    rate = Σ items / Σ duration        over n polls, which weighs each poll by its length (a ratio of sums)

A duration that is rounded to the nearest `rounding_s` lies within ± rounding_s / 2 of what is written. The errors of n
durations are taken as uniform and independent, so that their sum has the standard deviation rounding_s √(n / 12)
(Widrow and Kollár, Quantization Noise, 2008, ch. 3); 95 % of it lies within 1.96 of these, and all of it within n
rounding_s / 2. The interval is that of the rounding alone: how the rate varies from poll to poll is not in it.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

Z_95 = 1.96


@dataclass(frozen=True)
class PollRate:
    """Items per second with the bounds of the rounding (`high` infinite where all durations may be zero)."""

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
    return PollRate(
        per_s=total / seconds if seconds > 0 else math.inf,
        low=total / (seconds + error) if seconds + error > 0 else math.inf,
        high=total / least if least > 0 else math.inf,
        items=total,
        seconds=seconds,
        polls=len(busy),
    )
