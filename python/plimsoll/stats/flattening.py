"""Where more load stops bringing more throughput, from one throughput a level.

While nothing saturates, users who wait for answers bring throughput in proportion to their number; at saturation they
bring none (asymptotic bounds: Lazowska et al. 1984, ch. 5, X(N) ≤ min(N / (D + Z), 1 / D_max)). Between two levels

    gain = ((X₂ − X₁) / (N₂ − N₁)) ÷ (X₀ / N₀)        N₀: the lowest level

is 1 on the first bound and 0 on the second. The asymptotes meet where half of it is lost, so throughput is called flat
from the first gain below FLAT = ½ on. One run a level tells no scatter, so a table in which throughput rises again in
proportion afterwards cannot be told from noise, and neither can one that begins flat.

That is where it begins to flatten. A closed load is *saturated*, as in our own runs (experiments/closed.py), from the
lowest level on whose throughput reaches PLATEAU_SHARE of the most; the level below it is the highest that is not. The
most of a table whose throughput never falls again is at its highest level, so the plateau itself may be higher.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

FLAT = 0.5
PROPORTIONAL = 0.8
PLATEAU_SHARE = 0.95


@dataclass(frozen=True)
class Flattening:
    """`last_rising`: the highest level up to which throughput rose; `first_flat`: the next one, None if it rose to the
    end; `gains` between neighbouring levels; `most_per_s` at `most_at`; `bends`: rose, but in less than proportion.

    `saturated_from`: the lowest level that reaches PLATEAU_SHARE of the most, None if throughput rose to the end;
    `unsaturated_to`: the one below it, None if there is none, the highest where all rose; `is_plateau_seen`: whether a
    level above `saturated_from` brought no more than that."""

    last_rising: float
    first_flat: float | None
    gains: tuple[float, ...]
    most_per_s: float
    most_at: float
    bends: bool
    saturated_from: float | None
    unsaturated_to: float | None
    is_plateau_seen: bool


@dataclass(frozen=True)
class Untold:
    """Why the numbers do not tell, as a sentence, and what would settle it."""

    reason: str
    settle: str


def flattening(levels: Sequence[float], per_s: Sequence[float], one_is_alone: bool = False) -> Flattening | Untold:
    """Judge throughput `per_s` at `levels` (> 0), of the same length, in any order; a level twice counts with its mean.

    `one_is_alone`: level 1 is one user, who queues behind nobody, so that throughput cannot have been flat before.
    """
    points = _means(levels, per_s)
    if len(points) < 2:
        known = f"the only level with a throughput is {points[0][0]:g}" if points else "no level of load is known"
        return Untold(f"How throughput changes with load is not known: {known}.", MORE_LEVELS)
    base = points[0][1] / points[0][0]
    if base <= 0:
        return Untold(
            f"Nothing was finished at the lowest level, {points[0][0]:g}.", "Measure a level that it carries."
        )
    pairs = list(pairwise(points))
    gains = tuple((b[1] - a[1]) / (b[0] - a[0]) / base for a, b in pairs)
    flat = next((place for place, gain in enumerate(gains) if gain < FLAT), None)
    most_at, most = max(points, key=lambda point: point[1])
    bends = any(FLAT <= gain < PROPORTIONAL for gain in gains)
    if flat is None:
        return Flattening(points[-1][0], None, gains, most, most_at, bends, None, points[-1][0], False)
    again = [place for place, gain in enumerate(gains[flat + 1 :], flat + 1) if gain >= PROPORTIONAL]
    if again:
        dip, after = pairs[flat][1][0], pairs[again[0]][1][0]
        reason = f"Throughput did not rise in proportion up to {dip:g} and did again up to {after:g}: noise, or a cure."
        return Untold(reason, "Repeat these levels several times each, in random order.")
    if flat == 0 and not (one_is_alone and points[0][0] == 1):
        low, high = points[0][0], points[1][0]
        reason = (
            f"Already from {low:g} to {high:g}, the lowest levels, throughput hardly rose, so {low:g} itself may be "
            "beyond the point where it flattens."
        )
        return Untold(reason, f"Measure levels below {low:g}.")
    full = next(place for place, (_, rate) in enumerate(points) if rate >= PLATEAU_SHARE * most)
    below = points[full - 1][0] if full else None
    is_seen = full < len(points) - 1
    return Flattening(
        pairs[flat][0][0], pairs[flat][1][0], gains, most, most_at, bends, points[full][0], below, is_seen
    )


MORE_LEVELS = "Measure at least three levels, some of them beyond the point where throughput flattens."


def _means(levels: Sequence[float], per_s: Sequence[float]) -> list[tuple[float, float]]:
    found: dict[float, list[float]] = {}
    for level, rate in zip(levels, per_s, strict=True):
        if level <= 0:
            raise ValueError(f"a level is above 0, got {level}")
        found.setdefault(level, []).append(rate)
    return [(level, sum(rates) / len(rates)) for level, rates in sorted(found.items())]
