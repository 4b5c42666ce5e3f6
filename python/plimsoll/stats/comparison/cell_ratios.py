"""Two tables of single runs side by side: which way the cells point, without a claim that chance does not.

Cells of one run share its luck (the machine, the minute), so their number is no number of samples: no test is made of
them. Only the direction is told: "up" if three in four cells rose and the median ratio is 1.05 or more, "down"
likewise, else none. A cell that goes the other way by as much as a half is an anomaly to look at.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median
from typing import Literal

MOST_AGREE = 0.75
LEAST_RATIO = 1.05
ANOMALY = 1.5
Direction = Literal["up", "down", "none"]


@dataclass(frozen=True)
class Ratios:
    """`cells` compared, `risen` of them with b above a, their `median` b / a, the `direction`, and the places of the
    `anomalies`, the largest first."""

    cells: int
    risen: int
    median: float
    direction: Direction
    anomalies: tuple[int, ...]


def ratios(a: Sequence[float], b: Sequence[float]) -> Ratios | None:
    """Compare cells of the same length, all above 0; None without any."""
    if len(a) != len(b):
        raise ValueError("two tables have the same cells")
    if not a:
        return None
    found = [after / before for before, after in zip(a, b, strict=True)]
    risen, fallen = sum(ratio > 1 for ratio in found), sum(ratio < 1 for ratio in found)
    middle = median(found)
    direction: Direction = "none"
    if risen >= MOST_AGREE * len(found) and middle >= LEAST_RATIO:
        direction = "up"
    elif fallen >= MOST_AGREE * len(found) and middle <= 1 / LEAST_RATIO:
        direction = "down"
    apart = [math.log(ratio / middle) for ratio in found]
    far = [place for place, distance in enumerate(apart) if abs(distance) >= math.log(ANOMALY)]
    with_it = {"up": 1, "down": -1, "none": 0}[direction]
    against = [place for place in far if apart[place] * with_it <= 0]
    return Ratios(len(found), risen, middle, direction, tuple(sorted(against, key=lambda place: -abs(apart[place]))))
