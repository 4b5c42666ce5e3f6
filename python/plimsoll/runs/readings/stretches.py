"""Stretches of a run at one level."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple


class LevelStretch(NamedTuple):
    """Seconds `start_s` to `end_s` (excluded) at `level`."""

    level: float
    start_s: int
    end_s: int


def level_stretches(levels: Iterable[tuple[int, float]]) -> list[LevelStretch]:
    """Consecutive seconds of the same level above 0, of (second, level) in order of time; a missing second divides."""
    found: list[LevelStretch] = []
    for second, level in levels:
        if found and found[-1].level == level and found[-1].end_s == second:
            found[-1] = found[-1]._replace(end_s=second + 1)
        else:
            found.append(LevelStretch(level, second, second + 1))
    return [one for one in found if one.level > 0]
