"""Where more load stops bringing more throughput, from one throughput a level.

While nothing saturates, users who wait for answers bring throughput in proportion to their number; at saturation they
bring none (asymptotic bounds: Lazowska et al. 1984, ch. 5, X(N) ≤ min(N / (D + Z), 1 / D_max)). Between two levels

    gain = ((X₂ − X₁) / (N₂ − N₁)) ÷ (X₀ / N₀)        N₀: the lowest level

is 1 on the first bound and 0 on the second. The asymptotes meet where half of it is lost, so throughput is called flat
from the first gain below FLAT = ½ on. One run a level tells no scatter, so a table in which throughput rises again in
proportion afterwards cannot be told from noise, and neither can one that begins flat. Where the scatter of each point
is known, the nearest concave curve (stats/concave.py) stands for the points, if it explains them.

That is where it begins to flatten. A closed load is *saturated*, as in our own runs (experiments/closed.py), from the
lowest level on whose throughput reaches PLATEAU_SHARE of the most; the level below it is the highest that is not. The
most of a table whose throughput never falls again is at its highest level, so the plateau itself may be higher. If
throughput still rises there, by more than STILL_RISES of the share by which the load does, no level is saturated that
was measured.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from plimsoll.stats.concave import concave

FLAT = 0.5
PROPORTIONAL = 0.8
PLATEAU_SHARE = 0.95
STILL_RISES = 0.25  # d log X / d log N: 19 % more for twice the load; Schweitzer's closed queue has it at 1.2 N*
FULL_ALREADY = 0.8  # of the most at the lowest level: it may lie beyond the knee


@dataclass(frozen=True)
class Flattening:
    """`last_rising`: the highest level up to which throughput rose; `first_flat`: the next one, None if it rose to the
    end; `gains` between neighbouring levels; `most_per_s` at `most_at`; `bends`: rose, but in less than proportion.

    `saturated_from`: the lowest level that reaches PLATEAU_SHARE of the most, None if throughput rose to the end;
    `unsaturated_to`: the one below it, None if there is none, the highest where all rose; `is_plateau_seen`: whether a
    level above `saturated_from` brought no more than that; `rise_at_end`: of the last level over the one before it, as
    a share of that, below 0 for a fall; `before_end`: that level."""

    last_rising: float
    first_flat: float | None
    gains: tuple[float, ...]
    most_per_s: float
    most_at: float
    bends: bool
    saturated_from: float | None
    unsaturated_to: float | None
    is_plateau_seen: bool
    rise_at_end: float = 0.0
    before_end: float = 0.0


@dataclass(frozen=True)
class Untold:
    """Why the numbers do not tell, as a sentence, and what would settle it."""

    reason: str
    settle: str


def flattening(
    levels: Sequence[float],
    per_s: Sequence[float],
    one_is_alone: bool = False,
    relative_sd: Sequence[float] | None = None,
) -> Flattening | Untold:
    """Judge throughput `per_s` at `levels` (> 0), of the same length, in any order; a level twice counts with its mean.

    `one_is_alone`: level 1 is one user, who queues behind nobody, so that throughput cannot have been flat before;
    `relative_sd`: of each throughput (> 0), where its scatter is known; then each level stands once.
    """
    points = _means(levels, per_s)
    if len(points) < 2:
        known = f"the only level with a throughput is {points[0][0]:g}" if points else "no level of load is known"
        return Untold(f"How throughput changes with load is not known: {known}.", MORE_LEVELS)
    if points[0][1] <= 0:
        return Untold(
            f"Nothing was finished at the lowest level, {points[0][0]:g}.", "Measure a level that it carries."
        )
    if relative_sd is not None:
        points = _smoothed(points, dict(zip(levels, relative_sd, strict=True)))
    base = points[0][1] / points[0][0]
    pairs = list(pairwise(points))
    gains = tuple((b[1] - a[1]) / (b[0] - a[0]) / base for a, b in pairs)
    flat = next((place for place, gain in enumerate(gains) if gain < FLAT), None)
    most_at, most = max(points, key=lambda point: point[1])
    bends = any(FLAT <= gain < PROPORTIONAL for gain in gains)
    rise, before = points[-1][1] / points[-2][1] - 1 if points[-2][1] > 0 else 0.0, points[-2][0]
    if flat is None:
        top = points[-1][0]
        return Flattening(top, None, gains, most, most_at, bends, None, top, False, rise, before)
    again = [place for place, gain in enumerate(gains[flat + 1 :], flat + 1) if gain >= PROPORTIONAL]
    if again:
        (low, dip), after = pairs[flat], pairs[again[0]][1]
        how = f"{'fell' if dip[1] < low[1] else 'hardly rose'} from {low[0]:g} to {dip[0]:g}"
        reason = f"Throughput {how} and rose in proportion again up to {after[0]:g}: noise, or a cure."
        return Untold(reason, "Repeat these levels several times each, in random order.")
    if flat == 0 and points[0][1] >= FULL_ALREADY * most and not (one_is_alone and points[0][0] == 1):
        return _begins_flat(*points[:2])
    plateau = most if relative_sd is None else _pooled(points, dict(zip(levels, relative_sd, strict=True)))
    full = next(place for place, (_, rate) in enumerate(points) if rate >= PLATEAU_SHARE * plateau)
    is_seen, saturated_from = full < len(points) - 1, points[full][0]
    below = points[full - 1][0] if full else None
    is_rising = not is_seen and _still_rises(*points[-2:])
    (rising, _), (flat_at, _) = pairs[flat]
    return Flattening(
        rising,
        flat_at,
        gains,
        most,
        most_at,
        bends,
        None if is_rising else saturated_from,
        below,
        is_seen,
        rise,
        before,
    )


def _begins_flat(lowest: tuple[float, float], second: tuple[float, float]) -> Untold:
    low, high = lowest[0], second[0]
    fall = 1 - second[1] / lowest[1]
    how = f"fell by {fall:.0%}" if fall >= 0.01 else "hardly rose"
    reason = (
        f"Already from {low:g} to {high:g}, the lowest levels, throughput {how}, so {low:g} itself may be "
        "beyond the point where it flattens."
    )
    return Untold(reason, f"Measure levels below {low:g}.")


def _still_rises(before: tuple[float, float], last: tuple[float, float]) -> bool:
    """Whether throughput rises from one level to the next by more than STILL_RISES of what the level does, in logs."""
    if before[1] <= 0:
        return True
    return math.log(last[1] / before[1]) > STILL_RISES * math.log(last[0] / before[0])


def _pooled(points: list[tuple[float, float]], relative_sd: Mapping[float, float]) -> float:
    """The plateau: the mean of the levels that reach the most within their scatter, which the most alone exceeds."""
    most = max(rate for _, rate in points)
    top = [rate for level, rate in points if rate >= most * (1 - 2 * relative_sd[level])]
    return sum(top) / len(top)


def _smoothed(points: list[tuple[float, float]], relative_sd: Mapping[float, float]) -> list[tuple[float, float]]:
    """The nearest concave curve at these levels, or the points themselves if it does not explain them."""
    levels, per_s = [level for level, _ in points], [rate for _, rate in points]
    top = max(per_s)
    curve = concave(levels, per_s, [relative_sd[level] * max(rate, 0.01 * top) for level, rate in points])
    return list(zip(levels, curve.fitted.tolist(), strict=True)) if curve.explains else points


MORE_LEVELS = "Measure at least three levels, some of them beyond the point where throughput flattens."


def _means(levels: Sequence[float], per_s: Sequence[float]) -> list[tuple[float, float]]:
    found: dict[float, list[float]] = {}
    for level, rate in zip(levels, per_s, strict=True):
        if level <= 0:
            raise ValueError(f"a level is above 0, got {level}")
        found.setdefault(level, []).append(rate)
    return [(level, sum(rates) / len(rates)) for level, rates in sorted(found.items())]
