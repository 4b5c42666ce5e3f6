"""Where more load stops bringing more throughput, from one throughput a level.

While nothing saturates, users who wait for answers bring throughput in proportion to their number; at saturation they
bring none (asymptotic bounds: Lazowska et al. 1984, ch. 5, X(N) ≤ min(N / (D + Z), 1 / D_max)). Between two levels

    gain = ((X₂ − X₁) / (N₂ − N₁)) ÷ (X₀ / N₀)        N₀: the lowest level

is 1 on the first bound and 0 on the second. The asymptotes meet where half of it is lost, so throughput is called flat
from the first gain below FLAT = ½ on. One run a level tells no scatter, so a table in which throughput rises again in
proportion afterwards cannot be told from noise, and neither can one that begins flat. Where the scatter of each point
is known, the nearest concave curve (stats/throughput/concave.py) stands for the points, if it explains them.

That is where it begins to flatten. What is *carried* is a question of levels, not of the steps between them. Users ask
for N × X₀ / N₀. A level is carried if it does IN_PROPORTION of that, or if that is less than the target was seen to do
at most (users wait for each other below saturation too). It is *saturated* if it is not carried and more users bring no
more: it reaches PLATEAU_SHARE of the most, or lies past it. Work that comes by itself (an open load) is carried if
IN_PROPORTION of it is done, and not where less than BEHIND is, or at saturation. Other levels lie between, undecided.

The most of a table whose throughput never falls again is at its highest level, so the plateau itself may be higher. If
throughput still rises there, by more than STILL_RISES of the share by which the load does, no level that was measured
is saturated. docs/decisions/0023 has the other rules that were tried.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from plimsoll.stats.throughput.concave import concave, in_proportion
from plimsoll.words import share_words

FLAT = 0.5
PROPORTIONAL = 0.8
PLATEAU_SHARE = 0.95
BEHIND = 0.85  # of arrivals: 0.87 and more denies levels that are carried, 0.80 leaves more of them undecided
IN_PROPORTION = (
    0.93  # of what the lowest level promises: 0.95 denies levels that are carried, 0.90 grants saturated ones
)
STILL_RISES = 0.25  # d log X / d log N: 19% more for twice the load; Schweitzer's closed queue has it at 1.2 N*
FULL_ALREADY = 0.8  # of the most at the lowest level: it may lie beyond the knee


@dataclass(frozen=True)
class Carried:
    """Of users who wait for answers: `users_to`, the highest level that is carried; `saturated_from`, the lowest that
    is saturated, None if none was measured; `is_plateau_seen`: whether a level above that one brought no more. Of work
    that comes by itself: `arrivals_to`, the highest level that is carried; `behind_from`, the lowest that is not."""

    users_to: float
    saturated_from: float | None
    is_plateau_seen: bool
    arrivals_to: float
    behind_from: float | None


@dataclass(frozen=True)
class Flattening:
    """`last_rising`: the highest level up to which throughput rose; `first_flat`: the next one, None if it rose to the
    end; `gains` between neighbouring levels; `most_per_s` at `most_at`; `bends`: rose, but in less than proportion.

    `carried`: which levels are carried and which are not; `rise_at_end`: of the last level over the one before it, as a
    share of that, below 0 for a fall; `before_end`: that level."""

    last_rising: float
    first_flat: float | None
    gains: tuple[float, ...]
    most_per_s: float
    most_at: float
    bends: bool
    carried: Carried
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
    again = [] if flat is None else [place for place in range(flat + 1, len(gains)) if gains[place] >= PROPORTIONAL]
    if flat is not None and again:
        (low, dip), after = pairs[flat], pairs[again[0]][1]
        how = f"{'fell' if dip[1] < low[1] else 'hardly rose'} from {low[0]:g} to {dip[0]:g}"
        reason = f"Throughput {how} and rose in proportion again up to {after[0]:g}: noise, or a cure."
        return Untold(reason, "Repeat these levels several times each, in random order.")
    if flat == 0 and points[0][1] >= FULL_ALREADY * most and not (one_is_alone and points[0][0] == 1):
        return _begins_flat(*points[:2])
    plateau = most if relative_sd is None else _pooled(points, dict(zip(levels, relative_sd, strict=True)))
    carried = carried_levels(points, plateau, flat is not None)
    return Flattening(
        points[-1][0] if flat is None else pairs[flat][0][0],
        None if flat is None else pairs[flat][1][0],
        gains,
        most,
        most_at,
        bends,
        carried,
        rise,
        before,
    )


def carried_levels(points: Sequence[tuple[float, float]], plateau: float, is_flat: bool) -> Carried:
    """Which levels are carried: `points` of (level, throughput), in order; `is_flat`: whether it flattens somewhere."""
    base = points[0][1] / points[0][0]
    share = [rate / (base * level) for level, rate in points]
    arrivals = max(place for place, done in enumerate(share) if done >= IN_PROPORTION)
    asks_less = [place for place, (level, _) in enumerate(points) if base * level <= PLATEAU_SHARE * plateau]
    users = max([arrivals, *asks_less])
    full = _saturated(points, users, plateau) if is_flat else None
    late = [place for place in range(arrivals + 1, len(points)) if share[place] < BEHIND or place == full]
    return Carried(
        points[users][0],
        None if full is None else points[full][0],
        full is not None and (full < len(points) - 1 or points[full][1] < max(rate for _, rate in points)),
        points[arrivals][0],
        points[late[0]][0] if late else None,
    )


def _saturated(points: Sequence[tuple[float, float]], carried: int, plateau: float) -> int | None:
    """The lowest place above the `carried` one from which on more load brings no more; None if none was measured."""
    base = points[0][1] / points[0][0]
    most_at, most = max(points, key=lambda point: point[1])
    for place, (level, rate) in enumerate(points[carried + 1 :], carried + 1):
        if place == len(points) - 1:
            is_rising = _still_rises(*points[-2:])
        else:
            is_rising = level < most_at and (
                rate < PLATEAU_SHARE * plateau or most - rate >= FLAT * base * (most_at - level)
            )
        if not is_rising:
            return place
    return None


def _begins_flat(lowest: tuple[float, float], second: tuple[float, float]) -> Untold:
    low, high = lowest[0], second[0]
    fall = 1 - second[1] / lowest[1]
    how = f"fell by {share_words(fall)}" if fall >= 0.01 else "hardly rose"
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
    """The straight line through 0 at these levels if it explains them, for then nothing bends; else the nearest concave
    curve, or the points themselves if that does not explain them either."""
    levels, per_s = [level for level, _ in points], [rate for _, rate in points]
    if (line := in_proportion(levels, per_s, [relative_sd[level] * rate for level, rate in points])) is not None:
        return list(zip(levels, line, strict=True))
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
