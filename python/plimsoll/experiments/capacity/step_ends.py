"""When may a step of an open search end? When it is decided, when no more of it would help, or when another level
helps more.

A bad step goes on until the capacity C is known to 0.27 h (h: half the width that is wanted): a step held at C ± h is
then decided with a margin of one standard deviation of C (judge.py). An undecided one whose level lies too near to C
ends when C is known, when it has not kept the target busy for two step lengths (a calm step tells nothing more of C),
or after three. 0.27 and the lengths are those at which the simulated demo (tests/accuracy/capacity_scorecard.py)
reached its width soonest.
"""

from __future__ import annotations

import math

from plimsoll.experiments.capacity.known import Known
from plimsoll.experiments.capacity.ramp import MOST_BACKLOG_S
from plimsoll.experiments.capacity.search import has_no_plateau, is_same, pooled_plateau
from plimsoll.experiments.steps.failing import backlog_s
from plimsoll.experiments.steps.judge import falls_behind, least_distance
from plimsoll.experiments.steps.judgement import Judgement
from plimsoll.experiments.steps.measure import Measurement
from plimsoll.stats.throughput.plateau import Plateau, pool

KNOWN_SHARE = 0.27
UNSTEADY_STEPS = 2
MOST_DISTURBED_BACKLOG_S = 2.0
SHOWN_BACKLOG_S = 2.0
LONGEST_DRAIN_S = 20.0


def ends(known: Known, found: Judgement, seen: Measurement) -> bool:
    """Whether a step of which `found` is said so far may end."""
    if found.given_up or found.verdict == "good" or found.capped or is_behind_others(found, seen):
        return True
    if found.unsteady and len(seen.seconds) >= UNSTEADY_STEPS * known.settings.step_s:
        return True
    return (found.verdict == "bad" and _bad_is_enough(known, found, seen)) or _is_spent(known, found, seen)


def is_behind_others(found: Judgement, seen: Measurement) -> bool:
    """Whether a disturbed step only makes a backlog."""
    return found.disturbed and backlog_s(seen) >= MOST_DISTURBED_BACKLOG_S


def _is_spent(known: Known, found: Judgement, seen: Measurement) -> bool:
    """Whether another level helps more: this one lies too near to the capacity to be told from it, and either the
    capacity is known well, or this step does not keep the target busy after twice its least length, or it has
    lasted for three. A level that told nothing before is held that much longer: as long again tells as little."""
    capacity, half_width = _capacity_with(known, found), known.half_width()
    step_s = known.telling_step_s(seen.level)
    if found.growth is None or found.growth.seconds < known.settings.step_s:
        return False
    times = 1 + _tries(known, seen.level)
    long_held = found.growth.seconds >= 3 * times * step_s
    about_to_be_told = falls_behind(found.growth) and found.growth.growth_share >= half_width
    if capacity is None or has_no_plateau(known.trials):
        return long_held and not about_to_be_told
    doubt = least_distance(capacity, seen.level, half_width)
    idle = found.growth.seconds >= 2 * times * step_s and not falls_behind(found.growth)
    if idle and seen.level > capacity.level - doubt:
        return True
    known_well = _is_known(known, capacity) and not about_to_be_told
    return abs(seen.level - capacity.level) < doubt and (long_held or known_well)


def _bad_is_enough(known: Known, found: Judgement, seen: Measurement) -> bool:
    """A bad step goes on until the capacity is known, unless the backlog would take long to drain."""
    if found.growth is None or not falls_behind(found.growth) or found.growth.growth_share > 0.3:
        return True
    if _drain_s(known, seen) >= LONGEST_DRAIN_S:
        return True
    if found.plateau is None:
        return found.growth.seconds >= 2 * known.settings.step_s
    if has_no_plateau(known.trials):
        return found.own and backlog_s(seen) >= SHOWN_BACKLOG_S
    capacity = _capacity_with(known, found)
    return backlog_s(seen) >= MOST_BACKLOG_S or (capacity is not None and _is_known(known, capacity))


def _tries(known: Known, level: float) -> int:
    """How often that level was held, or one that steps cannot tell from it, and stayed undecided."""
    half_width = known.half_width()
    held = [one for one in known.holder.records if one.kind == "hold" and is_same(level, one.level, half_width)]
    return sum(one.judgement.verdict == "undecided" and not one.judgement.says_nothing for one in held)


def _capacity_with(known: Known, found: Judgement) -> Plateau | None:
    """The capacity that all steps show, with the one under way."""
    return pool(filter(None, [found.plateau, pooled_plateau(known.trials)]))


def _is_known(known: Known, capacity: Plateau) -> bool:
    return capacity.relative_sd <= KNOWN_SHARE * known.half_width()


def _drain_s(known: Known, seen: Measurement) -> float:
    """Seconds that the backlog would take to drain, as slowly as the slowest did so far."""
    drained = [step for step in known.holder.records if step.drain_s and step.measurement.unfinished_end > 0]
    per_s = min((step.measurement.unfinished_end / (step.drain_s or 1.0) for step in drained), default=math.inf)
    return seen.unfinished_end / per_s if per_s > 0 else math.inf
