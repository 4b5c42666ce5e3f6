"""Tables of levels whose saturation is known: curves drawn at random, some of their levels, and noise of 1 to 5%.

Truth: N*, where the asymptotes meet (Lazowska et al. 1984, ch. 5): the most that the target ever does ÷ what one user
brings at light load. Curves: the asymptotic bounds themselves, exact machine repair (M/M/c//N with think time), and the
universal scalability law up to its peak.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from plimsoll.stats.throughput.flattening import PLATEAU_SHARE, Flattening, flattening

CURVES = ("bounds", "queue", "usl")
SLACK = 1.05  # a level so little beyond N* is no wrong answer: noise of 5% hides it
Bracket = tuple[float | None, float | None]
Rule = Callable[[Sequence[float], Sequence[float]], Bracket | None]


@dataclass(frozen=True)
class TrueCurve:
    """Throughput `of` a number of users, all of it in ops/s; `light_per_s` of one user at light load, `most_per_s`."""

    of: Callable[[Sequence[float]], NDArray[np.float64]]
    light_per_s: float
    most_per_s: float

    @property
    def knee(self) -> float:
        """N*."""
        return self.most_per_s / self.light_per_s

    def share(self, level: float) -> float:
        """Of what as many users would bring alone."""
        return float(self.of([level])[0]) / (self.light_per_s * level)


@dataclass(frozen=True)
class Score:
    """Of `tables` that were answered: how often the bracket held N*, its median width (bad ÷ good), and how often a
    level that does what its users ask for was called too much."""

    tables: int
    held: float
    width: float
    wrongly_bad: float


def drawn(kind: str, draw: np.random.Generator) -> TrueCurve:
    """A curve of that kind."""
    knee = math.exp(draw.uniform(math.log(10), math.log(400)))
    if kind == "bounds":
        return TrueCurve(lambda at: np.minimum(np.asarray(at) / knee, 1.0) * 100, 100 / knee, 100.0)
    if kind == "queue":
        servers = int(draw.choice([1, 2, 4]))
        return TrueCurve(lambda at: machine_repair(at, servers, knee / servers - 1), servers / knee, float(servers))
    contention, crosstalk = draw.uniform(0, 0.05), math.exp(draw.uniform(math.log(1e-6), math.log(1e-3)))

    def law(at: Sequence[float]) -> NDArray[np.float64]:
        users = np.asarray(at, dtype=float)
        return np.asarray(users / (1 + contention * (users - 1) + crosstalk * users * (users - 1)))

    return TrueCurve(law, 1.0, float(law([math.sqrt((1 - contention) / crosstalk)])[0]))


def machine_repair(users: Sequence[float], servers: int, think: float) -> NDArray[np.float64]:
    """Exact throughput of M/M/c//N with exponential think time, in units of one service time."""
    found = []
    for count in map(int, users):
        inside = np.arange(1, count + 1)
        steps = np.log((count - inside + 1) / (think * np.minimum(inside, servers)))
        logs = np.concatenate(([0.0], np.cumsum(steps)))
        weight = np.exp(logs - logs.max())
        found.append(float(np.minimum(np.arange(count + 1), servers) @ weight / weight.sum()))
    return np.asarray(found)


def levels_of(curve: TrueCurve, draw: np.random.Generator) -> list[float]:
    """Levels as people choose them: doubled, in even steps, or a few anywhere; up to 0.6 to 4 times N*."""
    top, how = draw.uniform(0.6, 4) * curve.knee, draw.integers(3)
    low = draw.uniform(0.03, 0.5) * min(curve.knee, top)
    if how == 0:
        chosen = [low * 2**power for power in range(20) if low * 2**power <= 1.3 * top]
    elif how == 1:
        chosen = list(np.linspace(low, top, draw.integers(5, 13)))
    else:
        chosen = list(np.exp(draw.uniform(math.log(low), math.log(top), draw.integers(3, 7))))
    return [float(level) for level in sorted({max(1, round(level)) for level in chosen})]


def told(levels: Sequence[float], per_s: Sequence[float]) -> Bracket | None:
    """The rule of `analyze` for users who wait; None where it cannot tell."""
    found = flattening(levels, per_s, one_is_alone=True)
    return (found.carried.users_to, found.carried.saturated_from) if isinstance(found, Flattening) else None


def told_of_arrivals(levels: Sequence[float], per_s: Sequence[float]) -> Bracket | None:
    """The rule of `analyze` for an open load."""
    found = flattening(levels, per_s, one_is_alone=True)
    return (found.carried.arrivals_to, found.carried.behind_from) if isinstance(found, Flattening) else None


def below_the_plateau(levels: Sequence[float], per_s: Sequence[float]) -> Bracket | None:
    """The rule until November 2026: not carried from the lowest level that reaches 95% of the most, carried up to the
    one before; nothing is saturated where throughput still rises at the end."""
    found = flattening(levels, per_s, one_is_alone=True)
    if not isinstance(found, Flattening):
        return None
    if found.first_flat is None:
        return found.last_rising, None
    full = next(place for place, rate in enumerate(per_s) if rate >= PLATEAU_SHARE * max(per_s))
    rises = math.log(per_s[-1] / per_s[-2]) > 0.25 * math.log(levels[-1] / levels[-2])
    bad = None if full == len(levels) - 1 and rises else levels[full]
    return levels[full - 1] if full else None, bad


def score(kind: str, rule: Rule, tables: int, seed: int) -> Score:
    """What a rule makes of that many tables, the same for every rule."""
    draw = np.random.default_rng(seed)
    held, wrong, widths = [], [], []
    while tables:
        curve = drawn(kind, draw)
        levels = levels_of(curve, draw)
        noise = np.exp(draw.uniform(0.01, 0.05) * draw.standard_normal(len(levels)))
        if len(levels) < 3:
            continue
        tables -= 1
        found = rule(levels, (curve.of(levels) * noise).tolist())
        if found is None:
            continue
        good, bad = found
        held.append((good or 0.0) <= SLACK * curve.knee and curve.knee <= (bad or math.inf))
        wrong.append(bad is not None and curve.share(bad) >= PLATEAU_SHARE)
        if good and bad:
            widths.append(bad / good)
    return Score(len(held), float(np.mean(held)), float(np.median(widths)), float(np.mean(wrong)))


if __name__ == "__main__":
    for curve_kind in CURVES:
        rules = {"new": told, "old": below_the_plateau}
        for name, chosen in (rules | {"open": told_of_arrivals} if curve_kind == "bounds" else rules).items():
            print(curve_kind, name, score(curve_kind, chosen, 2_000, 90_001))
