"""What a target does that collapses: how much it finishes then, and at which level it recovers by itself.

A metastable target (Bronson and others, "Metastable failures in distributed systems", HotOS 2021) stays overloaded
after the load that caused it is gone: it recovers only below some level. To find that level the target is overloaded
until it has collapsed, and then, without a pause, held at the level that it carries from rest; if its backlog does not
shrink there, at lower ones, down to where it does. Each further round overloads it anew and halves the range.

    overload        carried             9 tenths of what it finishes collapsed
    ───────┐  ┌─────────────────┐
           └──┘   backlog stays └──────────────────┐  backlog shrinks: it recovers here
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace

from plimsoll.experiments.capacity.result import Collapse
from plimsoll.experiments.capacity.search import rounded
from plimsoll.experiments.capacity.why_next import OVERLOAD, RECOVERY
from plimsoll.experiments.steps.failing import backlog_s
from plimsoll.experiments.steps.holding import StepHolder
from plimsoll.experiments.steps.judgement import Judgement
from plimsoll.experiments.steps.measure import Measurement

OVERLOAD_FACTOR = 1.05
LONGEST_OVERLOAD_S = 15.0
SHOWN_BACKLOG_S, LARGEST_BACKLOG_S = 2.0, 8.0
WATCHED_S, UNMOVED_S, LONGEST_WATCH_S = 5, 15, 20.0
MOVED_Z = 2.0
BELOW_COLLAPSED = 0.9
STEP_DOWN = 0.7
NARROW_ENOUGH = 1.15
GONE_SHARE = 0.1


def time_needed_s(step_s: float) -> float:
    """The least load time in which an overload and two levels can be held."""
    return LONGEST_OVERLOAD_S + 2 * WATCHED_S + step_s


def find_recovery(holder: StepHolder, collapse: Collapse, left_s: Callable[[], float], whole: bool) -> Collapse:
    """Overload the target and search the level at which it recovers, from the one that it carries downwards, as long as
    `left_s()` seconds allow; `whole`: levels are whole numbers."""
    found, level = replace(collapse, recovery_tried=True), collapse.carried_level
    while left_s() >= LONGEST_OVERLOAD_S + WATCHED_S:
        if not _overload(holder, collapse):
            break
        found = _descend(holder, replace(found, seen_again=True), level, left_s, whole)
        holder.drain(LONGEST_WATCH_S)
        if found.recovers_at is None or found.stays_at is None:
            break
        if found.stays_at <= NARROW_ENOUGH * found.recovers_at:
            break
        level = rounded(math.sqrt(found.recovers_at * found.stays_at), whole)
    return found


def _overload(holder: StepHolder, collapse: Collapse) -> bool:
    """Hold a level beyond the one at which it fell over until it finishes as little again; whether it did."""

    def has_collapsed(seen: Measurement) -> Judgement | None:
        lately = seen.done[-3:]
        little = sum(lately) / len(lately) <= (collapse.per_s + collapse.carried_per_s) / 2
        if len(lately) == 3 and little and backlog_s(seen) >= SHOWN_BACKLOG_S:
            return Judgement("bad", ("It collapsed again.",))
        too_much = backlog_s(seen) >= LARGEST_BACKLOG_S
        return Judgement("undecided", ("It did not collapse again.",)) if too_much else None

    level = OVERLOAD_FACTOR * collapse.level
    record = holder.hold(level, "overload", LONGEST_OVERLOAD_S, has_collapsed, _open, why=OVERLOAD)
    return record.judgement.verdict == "bad"


def _descend(holder: StepHolder, found: Collapse, level: float, left_s: Callable[[], float], whole: bool) -> Collapse:
    """From `level` downwards without a pause until the backlog shrinks; `found` with the bounds that this shows."""
    while left_s() >= WATCHED_S and level > 0:
        record = holder.hold(level, "recovery", LONGEST_WATCH_S, _shrinks, _open, why=RECOVERY)
        if record.judgement.verdict == "good":
            gone = record.measurement.unfinished_end <= GONE_SHARE * record.measurement.unfinished_start
            return replace(found, recovers_at=level, recovery_s=float(len(record.measurement.done)) if gone else None)
        if record.judgement.verdict == "undecided":
            return found
        found = replace(found, stays_at=level if found.stays_at is None else min(level, found.stays_at))
        if found.recovers_at is not None and found.recovers_at >= STEP_DOWN * level:
            return found
        collapsed_level = found.per_s / found.carried_per_s * found.carried_level
        level = rounded(min(STEP_DOWN * level, max(BELOW_COLLAPSED * collapsed_level, STEP_DOWN**3 * level)), whole)
    return found


def _open(seen: Measurement) -> Judgement:
    return Judgement("undecided")


def _shrinks(seen: Measurement) -> Judgement | None:
    """Good once the backlog is nearly gone, or shrinks plainly for as long as is watched; bad if it does not."""
    if not seen.unfinished_start or seen.unfinished_end <= GONE_SHARE * seen.unfinished_start:
        return Judgement("good", ("The backlog is gone.",))
    if len(seen.done) < WATCHED_S:
        return None
    moved, seconds = seen.unfinished_start - seen.unfinished_end, len(seen.done)
    chance = MOVED_Z * math.sqrt(sum(seen.planned) + sum(seen.done))
    if moved <= -chance or (moved <= chance and seconds >= UNMOVED_S):
        return Judgement("bad", ("The backlog does not shrink.",))
    too_slow = seconds >= UNMOVED_S and seconds + seen.unfinished_end * seconds / moved > LONGEST_WATCH_S
    return Judgement("good", ("The backlog shrinks.",)) if too_slow or seconds >= LONGEST_WATCH_S - 1 else None
