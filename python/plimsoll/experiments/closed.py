"""Closed workloads: users wait for their answers, so nothing queues without bound; throughput just stops rising.

By the asymptotic bounds (Lazowska et al. 1984, ch. 5) X(N) ≤ min(N / (R + Z), 1 / D): throughput rises with the users
up to a plateau, and beyond it only response time grows. Here a level is *bad* (saturated) when its throughput
reaches 95 % of the plateau seen, *good* when it stays below by more than chance.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from plimsoll.experiments.judge import Judgement, error_reason, give_up_reason
from plimsoll.experiments.measure import Measurement
from plimsoll.stats.saturation import variance_per_event

PLATEAU_SHARE = 0.95
FLAT_GAIN = 0.25


@dataclass(frozen=True)
class Throughput:
    """Iterations per second at a level, with its standard deviation."""

    level: float
    per_s: float
    sd: float


def throughput(seen: Measurement) -> Throughput:
    """Throughput of the measured seconds of a step."""
    seconds = max(1, len(seen.seconds))
    noise = variance_per_event(seen.done) if seen.done else 1.0
    return Throughput(seen.level, sum(seen.done) / seconds, math.sqrt(max(1.0, sum(seen.done)) * noise) / seconds)


def marginal_gain(below: Throughput, above: Throughput) -> float:
    """Elasticity of throughput: 1 while it rises in proportion to the level, 0 when it is flat, negative beyond."""
    if below.per_s <= 0 or above.per_s <= 0 or above.level <= below.level:
        return 1.0
    return math.log(above.per_s / below.per_s) / math.log(above.level / below.level)


def is_flat(points: Sequence[Throughput]) -> bool:
    """Whether the last step up brought almost no throughput: the plateau is in sight."""
    return len(points) >= 2 and marginal_gain(points[-2], points[-1]) < FLAT_GAIN


def judge_closed(seen: Measurement, plateau_per_s: float, base_errors: tuple[int, int]) -> Judgement:
    """Judge a closed step against the plateau (iterations per second; 0 while none is known)."""
    stop = give_up_reason(seen)
    if stop is not None:
        return Judgement("bad", (stop,), True)
    errors = error_reason(seen, base_errors)
    if errors is not None:
        return Judgement("bad", (errors,))
    here = throughput(seen)
    border = PLATEAU_SHARE * plateau_per_s
    words = f"{here.per_s:.4g} iterations/s, the plateau is {plateau_per_s:.4g}/s"
    if plateau_per_s <= 0:
        return Judgement("undecided", ("No plateau is known yet.",))
    if here.per_s >= border:
        return Judgement("bad", (f"{words}: more users bring no more throughput.",))
    if here.per_s + here.sd < border:
        return Judgement("good", (f"{words}: throughput still rises with the users.",))
    return Judgement("undecided", (f"{words}: too close to tell.",))
