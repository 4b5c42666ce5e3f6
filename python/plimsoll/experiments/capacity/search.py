"""Where to look next: a pure search for the bracket (highest level proven good, lowest proven bad).

The bounds of what was held are those of `stats/throughput/bracket.py`: each level is what most of its steps say.
Between them an overloaded step tells the capacity itself (stats/throughput/plateau.py); the search therefore aims a
step just above and one just below that estimate, instead of halving: the first a half width h off, the second as far
off as the width allows. A step that proves nothing becomes no bound; its level may be held again.

That holds while the target finishes as much under overload as at its capacity. Many do not: their throughput falls past
its top (retrograde scalability; Gunther 2007, ch. 4). `collapsed` finds the steps that finished clearly less than
others carried; from then on overloaded steps tell nothing, and the search halves between the levels that steps showed
by themselves.

        good                 estimate                bad
    ─────┼──────────────────────┼─────────────────────┼─────►  level
       c(1−h)                   c                  c(1+h)         (bad − good) / bad ≤ width
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

from plimsoll.experiments.steps.judgement import Verdict
from plimsoll.experiments.steps.record import Bracket
from plimsoll.stats.throughput.bracket import relevant_bounds
from plimsoll.stats.throughput.plateau import Plateau, pool

AIM_SHARE = 0.97
LOOSE_BAD = 1.5
SAFE_HALVES = 2.0
DEEP_OVERLOAD_DOUBT = 0.10
VAGUE = 0.25
FALLEN_SHARE, FALLEN_Z = 0.08, 2.5
DENIED_SHARE = 0.04
MOST_OF_LEVEL = 0.7
MOST_RETESTS, MANY_BAD = 3, 3
BESIDE_SHARE, CLOSE_LEVEL = 0.45, 0.03
SAME_LEVEL, MOVE = 0.1, 0.25


@dataclass(frozen=True)
class Trial:
    """One judged step. `plateau`: capacity seen while the target was always busy.

    `proven`: False for the ramp's short probes, which hint at where to look and bound nothing (a pause of the target
    looks like saturation for a second or two). `own`: the step itself shows its verdict. `long`: it confirms.
    """

    level: float
    verdict: Verdict
    plateau: Plateau | None = None
    proven: bool = True
    own: bool = False
    long: bool = False


@dataclass(frozen=True)
class Goal:
    """When to stop and where to stay. `width` = (bad − good) / bad; `whole`: levels are whole numbers (VUs)."""

    width: float
    least_level: float | None = None
    most_level: float | None = None
    whole: bool = False

    @property
    def half_width(self) -> float:
        """h such that c(1 − h) and c(1 + h) are a little less than `width` apart."""
        return 0.92 * self.width / (2 - self.width)


Basis = Literal["estimate", "hurry", "no estimate", "no plateau", "contradicted"]


@dataclass(frozen=True)
class Proposal:
    """The next level, and which bound it is meant to become. `basis`: what it rests on; `estimate`: of the capacity,
    where it rests on that."""

    level: float
    aim: Literal["good", "bad"]
    basis: Basis = field(default="no estimate", compare=False)
    estimate: float | None = field(default=None, compare=False)


def bracket_of(trials: Sequence[Trial]) -> Bracket:
    """Relevant bounds of the trials so far; a good level above the lowest bad one does not count. A target that
    collapses tips over now and then near its cliff, so that a long step outvotes a short one: where it collapsed in
    one, and in that the highest level that one carried is what is carried."""
    judged = [trial for trial in trials if trial.proven and trial.verdict != "undecided"]
    if not any(trial.long for trial in judged) or not falls_past_top(trials):
        return Bracket(*relevant_bounds((trial.level, trial.verdict == "good") for trial in judged))
    votes = [trial for trial in judged for _ in range(2 if trial.long and trial.own else 1)]
    bounds = Bracket(*relevant_bounds((trial.level, trial.verdict == "good") for trial in votes))
    held = [trial.level for trial in judged if trial.long and trial.verdict == "good"]
    carried = max((level for level in held if bounds.good is not None and level <= bounds.good), default=bounds.good)
    return Bracket(carried, bounds.bad)


def collapsed(trials: Sequence[Trial]) -> list[bool]:
    """Which trials kept the target busy and finished clearly less than it has carried, or than it finished under less
    overload: by 8% and 2.5 standard deviations, which a drifting host seldom does. Shape (n,)."""
    return [trial.plateau is not None and any(_less(trial, other) for other in trials) for trial in trials]


def collapses(trials: Sequence[Trial]) -> list[Trial]:
    """The collapsed trials that no other contradicts: one that was overloaded as much and did not fall; of a short
    probe of the ramp also one that held the level without falling behind plainly. A target that was still cold in its
    first overload has not collapsed."""
    fell = collapsed(trials)
    stood = [other for other, less in zip(trials, fell, strict=True) if not less]

    def denies(other: Trial, trial: Trial) -> bool:
        overloaded = other.verdict == "bad" and other.plateau is not None
        held = not trial.proven and other.proven and other.verdict != "bad"
        return (overloaded or held) and other.level >= (1 - CLOSE_LEVEL) * trial.level

    return [
        trial
        for trial, less in zip(trials, fell, strict=True)
        if less and not any(denies(other, trial) for other in stood)
    ]


def falls_past_top(trials: Sequence[Trial]) -> bool:
    """Whether the target's throughput falls when it is overloaded."""
    return bool(collapses(trials))


def falls_below(trials: Sequence[Trial], carried: float) -> Trial | None:
    """The collapse at the lowest level that finished clearly less than the level `carried` asks for, if any; one that
    only finished less than another overloaded step did is no loss to who stays below what is carried."""
    fell = [trial for trial in collapses(trials) if trial.plateau is not None]
    below = [
        t for t in fell if t.plateau and _is_clear(carried - t.plateau.level, FALLEN_SHARE * carried, t.plateau.sd)
    ]
    return min(below, key=lambda trial: trial.level, default=None)


def has_no_plateau(trials: Sequence[Trial]) -> bool:
    """Whether what overloaded steps finished is no constant of the target: it falls past its top; or it rises with the
    level, as where one operation of several is stuck while the others go on; or a step shows by itself what the
    others' capacity denies."""
    overloaded = [trial for trial in trials if trial.plateau is not None and trial.verdict == "bad"]
    if falls_past_top(trials) or any(_more(trial, other) for trial in overloaded for other in overloaded):
        return True
    return any(_denied(trial, trials) for trial in trials if trial.proven and trial.own)


def _denied(trial: Trial, trials: Sequence[Trial]) -> bool:
    """Whether the capacity that the other steps show lies on the other side of the level of this one. A step that
    finished much less than came was disturbed, or is a collapse."""
    if trial.verdict == "bad" and trial.plateau is not None and trial.plateau.level < MOST_OF_LEVEL * trial.level:
        return False
    capacity = pool(other.plateau for other in trials if other is not trial and other.plateau is not None)
    if capacity is None:
        return False
    beyond = trial.level - capacity.level if trial.verdict == "good" else capacity.level - trial.level
    return trial.verdict != "undecided" and _is_clear(beyond, DENIED_SHARE * capacity.level, capacity.sd)


def _more(trial: Trial, other: Trial) -> bool:
    """Whether `trial` finished clearly more than `other` at a lower overload, which finished most of what came: one
    that did not was disturbed."""
    most, least = trial.plateau, other.plateau
    if most is None or least is None or trial.level <= other.level or least.level < MOST_OF_LEVEL * other.level:
        return False
    return _is_clear(most.level - least.level, FALLEN_SHARE * most.level, most.sd, least.sd)


def _less(trial: Trial, other: Trial) -> bool:
    """Whether `trial` finished clearly less than `other` at a lower overload."""
    if trial.plateau is None or trial is other or trial.level <= other.level:
        return False
    if other.verdict == "good" and other.proven:
        most, sd = other.level, 0.0
    elif other.plateau is not None and other.verdict == "bad":
        most, sd = other.plateau.level, other.plateau.sd
    else:
        return False
    return _is_clear(most - trial.plateau.level, FALLEN_SHARE * most, trial.plateau.sd, sd)


def _is_clear(distance: float, least: float, *sds: float) -> bool:
    """Whether two capacities are apart by at least `least` and by 2.5 standard deviations of their difference."""
    return distance >= max(least, FALLEN_Z * math.hypot(*sds))


def pooled_plateau(trials: Sequence[Trial]) -> Plateau | None:
    """What all steps that kept the target busy say about its capacity; None if there was none.

    A target far beyond its capacity may carry more or less than at it: the doubt grows with the overload. A collapsed
    step says nothing, nor does what it finished in the ramp, if it has carried more since.
    """
    carried = bracket_of(trials).good or 0.0
    seen = []
    for trial, fell in zip(trials, collapsed(trials), strict=True):
        if trial.plateau is None or fell or (not trial.proven and carried - trial.plateau.level >= trial.plateau.sd):
            continue
        doubt = DEEP_OVERLOAD_DOUBT * max(0.0, trial.level / trial.plateau.level - 1)
        seen.append(replace(trial.plateau, relative_sd=math.hypot(trial.plateau.relative_sd, doubt)))
    return pool(seen)


def capacity_estimate(trials: Sequence[Trial], half_width: float) -> Plateau | None:
    """The pooled plateau, kept inside the bracket; None if no step kept the target busy, or only one that a pause of
    the target marred."""
    bounds, estimate = bracket_of(trials), pooled_plateau(trials)
    if estimate is None or estimate.relative_sd > VAGUE:
        return None
    if bounds.good is not None and estimate.level <= bounds.good:
        return Plateau(bounds.good * (1 + half_width), half_width)
    if bounds.bad is not None and estimate.level >= bounds.bad:
        return Plateau(bounds.bad * (1 - half_width), half_width)
    return estimate


def propose(trials: Sequence[Trial], goal: Goal, half_width: float, hurry: bool = False) -> Proposal | None:
    """The next level to hold, or None when the goal is reached or nothing useful is left to try.

    `half_width`: the share around the estimate at which steps can decide, at least `goal.half_width`; more when
    arrivals are few. `hurry`: little time is left, so that a good bound, if there is none yet, is aimed where a
    single step of the least length will decide.
    """
    bounds, again = bracket_of(trials), _inverted(trials)
    if again is not None:
        return Proposal(again, "good", "contradicted")
    if bounds.width <= goal.width or _at_most(bounds.good, goal):
        return None
    estimate = capacity_estimate(trials, half_width)
    basis: Basis = "estimate"
    if has_no_plateau(trials):
        wanted, basis = _halved(trials, goal), "no plateau"
    elif estimate is None:
        wanted, basis = _without_estimate(trials, goal), "no estimate"
    elif hurry and bounds.good is None:
        wanted, basis = Proposal(_safely_below(estimate.level, trials, half_width), "good"), "hurry"
    else:
        wanted = _around(estimate.level, trials, goal, half_width)
    if wanted is None:
        return None
    rests_on = estimate.level if estimate is not None and basis in ("estimate", "hurry") else None
    return _within(replace(wanted, basis=basis, estimate=rests_on), trials, goal, half_width)


def _at_most(good: float | None, goal: Goal) -> bool:
    return goal.most_level is not None and good is not None and good >= goal.most_level * (1 - 1e-9)


def _inverted(trials: Sequence[Trial]) -> float | None:
    """The level that is not carried, if a higher one was carried and it was not held often enough to outvote that."""
    bad = bracket_of(trials).bad
    proven = [trial for trial in trials if trial.proven and trial.verdict != "undecided"]
    if bad is None or not any(trial.verdict == "good" and trial.level > bad for trial in proven):
        return None
    return bad if sum(trial.level == bad for trial in proven) < MOST_RETESTS else None


def _halved(trials: Sequence[Trial], goal: Goal) -> Proposal | None:
    """Between the bounds of a target whose overloaded steps tell nothing; close beside levels that stayed undecided, as
    they lie near the capacity, and these again last."""
    bounds = bracket_of(trials)
    if bounds.good is None and bounds.bad is not None:
        bad = {trial.level for trial in trials if trial.proven and trial.verdict == "bad"}
        below = [t for t in trials if t.proven and t.verdict == "undecided" and t.level < bounds.bad]
        if len(bad) >= MANY_BAD and not below:  # one that told nothing would tell as little again
            return Proposal(bounds.bad / 2, "good")
    if bounds.good is None or bounds.bad is None:
        return _without_estimate(trials, goal)
    held = [t.level for t in trials if t.proven and t.verdict == "undecided" and bounds.good < t.level < bounds.bad]
    if not held:
        return Proposal(math.sqrt(bounds.good * bounds.bad), "good")
    near = 1 + BESIDE_SHARE * goal.width
    if min(held) > bounds.good * near**2:
        return Proposal(min(held) / near, "good")
    if max(held) < bounds.bad / near**2:
        return Proposal(max(held) * near, "bad")
    return Proposal(min(held, key=held.count), "good")


def _without_estimate(trials: Sequence[Trial], goal: Goal) -> Proposal | None:
    """Double, halve or bisect; probes stand in for the bounds that are still missing."""
    bounds = bracket_of(trials)
    hints = [trial.level for trial in trials if not trial.proven and trial.verdict == "bad"]
    bad = bounds.bad or min((level for level in hints if level > (bounds.good or 0.0)), default=None)
    calm = [trial.level for trial in trials if not trial.proven and trial.verdict == "good"]
    tried = sorted(trial.level for trial in trials if trial.proven and trial.verdict == "undecided")
    least = min([*tried, *([bad] if bad is not None else [])], default=math.inf)
    good = bounds.good or max((level for level in calm if level < least), default=None)
    if bounds.bad is None and bounds.good is not None and tried and tried[-1] > bounds.good:
        return Proposal(tried[-1] * (1 + BESIDE_SHARE * goal.width), "bad")
    if bad is None:
        if tried and bounds.good is None:
            return Proposal(tried[0] * (1 - goal.width), "good")
        return Proposal(bounds.good * 2 if bounds.good else good, "bad") if good else None
    if good is None:
        return Proposal(bad / 2, "good")
    if bounds.good is None and tried and tried[0] > good:
        # Nothing is carried for certain, and time is short: the highest probe below what told nothing was calm.
        return Proposal(good, "good")
    if bounds.good is None and bounds.bad is not None and bad / good <= 1 + goal.width:
        return Proposal(good, "good")
    if bounds.bad is None and bounds.good is not None and bad / good <= 1 + goal.width:
        return Proposal(bad, "bad")
    return Proposal(math.sqrt(good * bad), "good")


def _safely_below(centre: float, trials: Sequence[Trial], half_width: float) -> float:
    undecided = [trial.level for trial in trials if trial.proven and trial.verdict == "undecided"]
    return min([centre * (1 - SAFE_HALVES * half_width), *(level * (1 - half_width) for level in undecided)])


def _around(centre: float, trials: Sequence[Trial], goal: Goal, half_width: float) -> Proposal:
    """A bad bound close above the centre first, then a good one as low as the width allows."""
    bounds = bracket_of(trials)
    width = max(goal.width, 2 * half_width / (1 + half_width) * 1.02)
    open_levels = sorted(trial.level for trial in trials if trial.proven and trial.verdict == "undecided")
    above = centre * (1 + half_width)
    if bounds.good is not None:
        above = max(above, bounds.good / (1 - AIM_SHARE * width))
    stride = 0.6 * half_width
    for level in open_levels:
        if level >= centre and above < level * (1 + 0.4 * half_width):
            above, stride = level * (1 + stride), 2 * stride
    below = centre * (1 - half_width)
    if bounds.bad is not None:
        below = min(bounds.bad * (1 - AIM_SHARE * width), centre * (1 - 0.5 * half_width))
    for level in reversed(open_levels):
        if level <= centre and below > level * (1 - 0.4 * half_width):
            below = level * (1 - 0.6 * half_width)
    tighter = bounds.bad is not None and above < bounds.bad * (1 - 0.4 * half_width)
    if bounds.bad is None or (bounds.bad > centre * (1 + LOOSE_BAD * half_width) and tighter):
        return Proposal(above, "bad")
    if bounds.good is None or bounds.good < below * (1 - 0.2 * half_width):
        return Proposal(below, "good")
    return _closer(bounds.good, bounds.bad, centre, width, half_width, open_levels)


def _closer(
    good: float, bad: float, centre: float, width: float, half_width: float, open_levels: Sequence[float]
) -> Proposal:
    """Both bounds are near: a lower bad one, then a higher good one if that told nothing, then the bad one again."""
    lower = min(max(good / (1 - AIM_SHARE * width), centre * (1 + 0.5 * half_width)), bad * (1 - MOVE * half_width))
    higher = max(min(bad * (1 - AIM_SHARE * width), centre * (1 - 0.5 * half_width)), good * (1 + MOVE * half_width))
    if _is_held(lower, open_levels, half_width) and not _is_held(higher, open_levels, half_width):
        return Proposal(higher, "good")
    return Proposal(lower, "bad")


def is_same(one: float, level: float, half_width: float) -> bool:
    """Whether the two are so near that no step tells them apart."""
    return abs(one - level) <= SAME_LEVEL * half_width * level


def _is_held(level: float, levels: Iterable[float], half_width: float) -> bool:
    return any(is_same(one, level, half_width) for one in levels)


def _within(wanted: Proposal, trials: Sequence[Trial], goal: Goal, half_width: float) -> Proposal | None:
    """Round and clamp; None where the level was judged already (asking again would prove nothing new)."""
    level, bounds = wanted.level, bracket_of(trials)
    if goal.most_level is not None:
        level = min(level, goal.most_level)
    if goal.least_level is not None:
        level = max(level, goal.least_level)
    level = rounded(level, goal.whole)
    if (
        level <= 0
        or (bounds.bad is not None and level >= bounds.bad)
        or (bounds.good is not None and level <= bounds.good)
    ):
        return None
    judged = [trial.level for trial in trials if trial.proven and trial.verdict != "undecided"]
    if _is_held(level, judged, 0.0 if goal.whole else half_width):
        return None
    return replace(wanted, level=level)


def rounded(level: float, whole: bool) -> float:
    """Three to four significant digits (whole numbers from 200 up), so that levels read well."""
    if whole:
        return float(max(1, round(level)))
    if level <= 0:
        return level
    digits = 3 - math.floor(math.log10(level))
    return float(round(level, min(digits, 6))) if level < 1000 else float(round(level))
