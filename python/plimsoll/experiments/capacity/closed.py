"""Closed workloads: users wait for their answers, so nothing queues without bound; throughput just stops rising.

By the asymptotic bounds (Lazowska et al. 1984, ch. 5) X(N) ≤ min(N / (R + Z), 1 / D): throughput rises with the users
up to a plateau, and beyond it only response time grows. Here a level is *bad* (saturated) when its throughput
reaches 95% of the most the target does, *good* when it stays below, each by more than chance: the difference is
MARGIN_SDS standard deviations, of the level's throughput and of the plateau's together.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from scipy.optimize import isotonic_regression

from plimsoll.experiments.steps.failing import give_up_reason, more_failures
from plimsoll.experiments.steps.judgement import Judgement
from plimsoll.experiments.steps.measure import Measurement
from plimsoll.stats.throughput.flattening import PLATEAU_SHARE
from plimsoll.stats.throughput.saturation import variance_per_event
from plimsoll.words import amount_words, number

FLAT_GAIN = 0.25
STEEP_GAIN = 0.6
MARGIN_SDS = 2.25
LEAST_ELASTICITY = 0.03
NEAREST = 5


@dataclass(frozen=True)
class Throughput:
    """Iterations per second at a level, with its standard deviation."""

    level: float
    per_s: float
    sd: float

    @property
    def cycle_s(self) -> float:
        """Seconds that a user takes for an iteration, thinking included (Little's law)."""
        return self.level / max(self.per_s, 1e-9)


@dataclass(frozen=True)
class PlateauSeen:
    """The most that the target does, iterations per second, with its standard deviation; 0 while none is known."""

    per_s: float = 0.0
    sd: float = 0.0

    @property
    def border_per_s(self) -> float:
        """The throughput from which a level counts as saturated."""
        return PLATEAU_SHARE * self.per_s

    def margin_per_s(self, here: Throughput) -> float:
        """How far the throughput must be from the border to be told from it."""
        return MARGIN_SDS * math.hypot(here.sd, PLATEAU_SHARE * self.sd)


def throughput(seen: Measurement, part: float = 1.0) -> Throughput:
    """Throughput of the measured seconds of a step, or of its last `part`."""
    done = seen.done[-math.ceil(part * len(seen.done)) :] if seen.done else []
    seconds, noise = max(1, len(done)), variance_per_event(done) if done else 1.0
    return Throughput(seen.level, sum(done) / seconds, math.sqrt(max(1.0, sum(done)) * noise) / seconds)


def pooled(points: Iterable[Throughput]) -> list[Throughput]:
    """One point a level, in the order of the levels: the mean with inverse-variance weights."""
    found: dict[float, list[Throughput]] = {}
    for point in points:
        found.setdefault(point.level, []).append(point)
    made = []
    for level, here in sorted(found.items()):
        weights = [1 / one.sd**2 for one in here]
        total = math.fsum(weights)
        mean = math.fsum(one.per_s * weight for one, weight in zip(here, weights, strict=True)) / total
        made.append(Throughput(level, mean, 1 / math.sqrt(total)))
    return made


def rising(points: Sequence[Throughput]) -> list[Throughput]:
    """The points, in the order of the levels, with throughputs that do not fall as users are added: neighbours that do
    by chance have their common mean (isotonic regression by pooling adjacent violators: Barlow et al. 1972)."""
    fitted = isotonic_regression([one.per_s for one in points], weights=[1 / one.sd**2 for one in points])
    ends = [int(end) for end in fitted.blocks]
    made = []
    for first, end in pairwise(ends):
        sd = 1 / math.sqrt(math.fsum(1 / one.sd**2 for one in points[first:end]))
        made += [Throughput(one.level, float(fitted.x[first]), sd) for one in points[first:end]]
    return made


def marginal_gain(below: Throughput, above: Throughput) -> float:
    """Elasticity of throughput: 1 while it rises in proportion to the level, 0 when it is flat, negative beyond."""
    if below.per_s <= 0 or above.per_s <= 0 or above.level <= below.level:
        return 1.0
    return math.log(above.per_s / below.per_s) / math.log(above.level / below.level)


def is_flat(points: Sequence[Throughput]) -> bool:
    """Whether the last step up brought almost no throughput, and chance cannot hide that it brought much: the plateau
    is in sight. Where one step cannot tell, the whole stretch from an earlier level may."""
    if len(points) < 2:
        return False
    above = points[-1]
    for below in points[-2::-1]:
        gain = marginal_gain(below, above)
        doubt = math.hypot(below.sd / max(below.per_s, 1e-9), above.sd / max(above.per_s, 1e-9))
        if gain < FLAT_GAIN and gain + MARGIN_SDS * doubt / math.log(above.level / below.level) < STEEP_GAIN:
            return True
    return False


def crossing_of(points: Sequence[Throughput], border_per_s: float) -> tuple[float, float] | None:
    """(level, elasticity) where throughput passes the border, from points in the order of their levels.

    A parabola of its log in the log of the level through the NEAREST ones, or a line between two; None if no level is
    below the border."""
    border = math.log(border_per_s)
    logs = [math.log(max(one.per_s, 1e-9)) - border for one in points]
    last = max((place for place, log in enumerate(logs) if log >= 0), default=len(points) - 1)
    below = [place for place in range(last) if logs[place] < 0]
    if not below:
        return None
    place = below[-1]
    a, b = points[place], points[place + 1]
    elasticity = min(1.0, max(LEAST_ELASTICITY, marginal_gain(a, b)))
    centre = min(b.level, a.level * math.exp(-logs[place] / elasticity))
    near = sorted(range(len(points)), key=lambda one: abs(math.log(points[one].level / centre)))[:NEAREST]
    if len(near) < NEAREST:
        return centre, elasticity
    x = np.log([points[one].level / centre for one in near])
    weights = [1 / (points[one].sd / max(points[one].per_s, 1e-9) + 1e-3) for one in near]
    curve = np.polynomial.Polynomial.fit(x, [logs[one] for one in near], 2, w=weights)
    slope = curve.deriv()
    roots = [float(root.real) for root in curve.roots() if abs(root.imag) < 1e-9]
    upward = [root for root in roots if x.min() <= root <= x.max() and slope(root) > 0]
    if not upward:
        return centre, elasticity
    root = min(upward, key=abs)
    return centre * math.exp(root), min(1.0, max(LEAST_ELASTICITY, float(slope(root))))


def judge_closed(seen: Measurement, plateau: PlateauSeen, base_errors: tuple[int, int]) -> Judgement:
    """Judge a closed step against the plateau."""
    stop = give_up_reason(seen)
    if stop is not None:
        return Judgement("bad", (stop,), True)
    failing = more_failures(seen, base_errors)
    if failing is not None:
        return Judgement("bad" if failing.told else "undecided", (failing.words,))
    if plateau.per_s <= 0:
        return Judgement("undecided", ("No plateau is known yet.",))
    here = throughput(seen)
    words = f"{amount_words(here.per_s, 'iteration')}/s, the plateau is {number(plateau.per_s)}/s"
    margin = plateau.margin_per_s(here)
    if here.per_s - margin >= plateau.border_per_s:
        return Judgement("bad", (f"{words}: more users bring no more throughput.",))
    if here.per_s + margin < plateau.border_per_s:
        return Judgement("good", (f"{words}: throughput still rises with the users.",))
    return Judgement("undecided", (f"{words}: too close to tell.",))
