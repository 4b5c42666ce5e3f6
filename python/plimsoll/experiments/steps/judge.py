"""Is the target saturated at this level? A pure judgement of one step, first of all from what happened in it.

Evidence of the step itself, which nothing else overrules (docs/decisions/0018):

Bad:  unfinished work grows beyond chance *and* completions fall short of the plan (stats/throughput/saturation.py); or
      the share of failed requests rises above that of low load, in the step or in its last third; or the step had to be
      given up.
Good: the queue stayed so short that no target at or beyond its capacity would show it, on a host that was not faster
      than usual. The queue is the unfinished work above what the arrivals keep inside without any waiting (Little's
      law: rate × time of an iteration at low load).

Chance is the scatter of the step itself and of steps that were not collapsed. Where the step cannot tell, all steps
together may, by the capacity C that they show, if the target's throughput does not fall past its top (`Context.plateau`
is None where it does: then overloaded steps say nothing of what it carries):

Bad:  C clearly below this level L, and this step falls behind as well.
Good: C clearly above L, unfinished work stayed calm for long enough, and it did not grow as it was.
Else undecided. "Clearly" is the same on both sides:

    |C − L| ≥ 2 √(sd² + (h L / 4)²)      sd: of C, pooled over all steps; h: half the width that is wanted

where h/4 stands for what the scatter does not know of: a target may finish more or less under overload than at its
capacity, and the speed of the host is not known exactly. It takes sd ≤ 0.43 h to decide at a distance of h. Falling
behind (shortfall z ≥ 1, growth z ≥ 0.5) happens to one step in six at the capacity itself, so it proves nothing alone.
A calm step needs 0.3 of the arrivals that would show an overload of h, 1,800 at 4.8%. C counts steps that kept the
target busy for 40% of their time: of a target that pauses, as for collecting garbage, a step well below the capacity
is busy only while it catches up, and would leave its pauses out.

A step that is not good is `capped` where an option of the script was the limit and not the target
(runs/readings/script_caps.py): it bounds nothing.

Where the hypervisor (steal) or foreign work (foreign_work.py) took CPU time from the target, a second counts as one of
a host that much slower, and a step that falls short is bad only if it would have fallen short with half as much time
again too; else it is disturbed, bounds nothing and is held again; so is one in which the target itself changed all the
while (steadiness.py). A host whose speed drifts is accounted for in `Context.host`.
Response time and utilisation are evidence beside these, and objectives are judged apart: a slow target that keeps up is
not saturated.
"""

from __future__ import annotations

import math

import numpy as np

from plimsoll.experiments.steps.evidence import (
    DISTURBED_SHARE,
    Context,
    answered_plateau,
    arrivals_and_queue,
    growth_of,
    host_speed,
    plateau_shown,
    speed_factors,
    taken_explains,
    taken_share,
    work_done,
)
from plimsoll.experiments.steps.failing import MoreFailures, backlog_s, failing_share, give_up_reason, more_failures
from plimsoll.experiments.steps.judgement import Judgement
from plimsoll.experiments.steps.measure import Measurement
from plimsoll.experiments.steps.steadiness import response_drifts, warms_up
from plimsoll.runs.readings.script_caps import BindingCap, binding_cap
from plimsoll.stats.throughput.plateau import Plateau, pool
from plimsoll.stats.throughput.saturation import (
    CALM_Z,
    Growth,
    arrivals_to_decide,
    at_mean_speed,
    busy_seconds,
    is_calm,
    is_growing,
    is_plainly_overloaded,
    is_settled,
)
from plimsoll.words import amount_words, change_words, count_words, counted_words, number, share_words, time_words

SEPARATION_Z = 2.0
QUICK_SHORTFALL_Z, QUICK_GROWTH_Z, QUICK_GROWTH_SHARE = 3.5, 2.5, 0.08
BEHIND_SHORTFALL_Z = 1.0
BEHIND_GROWTH_Z = 0.5
WHOLE_SHARE = 0.4
MODEL_DOUBT = 0.25
FEWEST_ARRIVALS = 100
PLAIN_WINDOW_S = 9
LEAST_DRIFT, LEAST_STOLEN, LEAST_UNEXPLAINED = 0.02, 0.005, 0.1


def judge(seen: Measurement, context: Context) -> Judgement:
    """Judge an open step by the measured seconds so far; undecided without any, where the target was not steady, and
    where the script could not send what was planned."""
    failing = more_failures(seen, context.base_errors)
    found = _judge(seen, context, failing)
    if found.verdict == "good" and failing is not None:
        return Judgement("undecided", (failing.words,), growth=found.growth)
    cap = None if found.verdict == "good" else cap_of(seen, context, found.growth, failing)
    if cap is not None:
        return Judgement("undecided", (cap.words,), growth=found.growth, cap=cap)
    if context.quick or found.given_up or found.verdict == "undecided" or found.growth is None:
        return found
    factors = speed_factors(seen, context)
    if found.verdict == "good":
        why = response_drifts(seen, factors)
    elif found.plateau is None:
        return found
    else:
        arrivals, queued = arrivals_and_queue(seen, context)
        busy = busy_seconds(arrivals, seen.done, queued)
        ways = [warms_up(seen, done, busy, factors) for done in (np.asarray(seen.done), work_done(seen, context))]
        why = ways[1] if all(ways) else None
    if why is None:
        return found
    return Judgement("undecided", (*found.reasons, why), growth=found.growth, unsteady=True)


def _judge(seen: Measurement, context: Context, failing: MoreFailures | None) -> Judgement:
    rate_per_s = context.rate_per_level_s * seen.level
    if not seen.seconds or rate_per_s <= 0:
        return Judgement("undecided", ("Nothing was measured yet.",))
    moved = growth_of(seen, rate_per_s, context)
    top = plateau_shown(seen, moved, context)
    stop = give_up_reason(seen)
    if stop is not None:
        return Judgement("bad", (stop,), True, moved, answered_plateau(seen, moved) if seen.failed else top, own=True)
    if failing is not None and failing.told and moved.seconds >= context.least_error_seconds:
        return Judgement("bad", (failing.words,), False, moved, answered_plateau(seen, moved), own=True)
    full = arrivals_to_decide(context.half_width, moved.service_noise)
    own = _grows(moved, full, context) or _plain(seen, rate_per_s, context)
    below = None if own or context.quick else _capacity_below(seen, moved, top, context)
    if own or below is not None:
        words = [_growth_words(moved, seen), *([_plateau_words(below, "below")] if below is not None else [])]
        if taken_explains(seen, moved, context):
            return Judgement("undecided", (*words, _taken_words(seen, context)), False, moved, None, True)
        return Judgement("bad", (*words, *_other_words(seen)), False, moved, top, own=own)
    if context.quick and falls_behind(moved) and moved.growth_share >= QUICK_GROWTH_SHARE:
        return Judgement("undecided", (_growth_words(moved, seen),), False, moved)
    if context.quick:
        return Judgement("good", (), False, moved)
    return _good_or_undecided(seen, moved, top, context)


def _grows(moved: Growth, full: float, context: Context) -> bool:
    if context.quick:
        clear = moved.shortfall_z >= QUICK_SHORTFALL_Z and moved.growth_z >= QUICK_GROWTH_Z
        return clear and moved.growth_share >= QUICK_GROWTH_SHARE
    if moved.seconds < context.least_bad_seconds:
        return False
    return is_growing(moved, full, context.half_width / 20, context.was_bad)


def _plain(seen: Measurement, rate_per_s: float, context: Context) -> bool:
    window_s = max(PLAIN_WINDOW_S, math.ceil(context.least_seconds))
    factors = speed_factors(seen, context)
    arrivals, queued = arrivals_and_queue(seen, context)
    done = at_mean_speed(arrivals, seen.done, queued, factors)
    return not context.quick and is_plainly_overloaded(arrivals, done, queued, rate_per_s, window_s)


def _capacity_below(seen: Measurement, moved: Growth, top: Plateau | None, context: Context) -> Plateau | None:
    """The capacity that all steps show together, if it lies clearly below this level and this step falls behind."""
    if context.plateau is None or top is None or not _is_whole(moved, context) or not falls_behind(moved):
        return None
    capacity = pool([context.plateau, top])
    if capacity is None or seen.level - capacity.level < least_distance(capacity, seen.level, context.half_width):
        return None
    return capacity


def falls_behind(moved: Growth) -> bool:
    """Whether a step shows signs of overload, which alone prove nothing."""
    return moved.shortfall_z >= BEHIND_SHORTFALL_Z and moved.growth_z >= BEHIND_GROWTH_Z


def _is_whole(moved: Growth, context: Context) -> bool:
    """Whether work waited through most of a step of full length; else its pauses would be left out."""
    return moved.seconds >= context.least_seconds and moved.busy_share >= WHOLE_SHARE


def least_distance(capacity: Plateau, level: float, half_width: float) -> float:
    """By how much `level` must differ from the capacity to be clearly above or below it; see the module."""
    return SEPARATION_Z * math.hypot(capacity.sd, MODEL_DOUBT * half_width * level)


def smallest_distance(done: float, noise: float) -> float:
    """Share of the capacity at which a level can be told from it after `done` completions of a busy target: the h that
    solves h = 2 √(noise / done + (h / 4)²)."""
    return SEPARATION_Z * math.sqrt(noise / max(done, 1.0) / (1 - (SEPARATION_Z * MODEL_DOUBT) ** 2))


def _queue_grew(moved: Growth) -> bool:
    """Whether unfinished work grew as it was, whatever a host of mean speed would have finished."""
    scale = math.sqrt(max(moved.expected, 1.0) * (moved.arrival_noise + moved.service_noise))
    return moved.unfinished_end - moved.unfinished_start >= CALM_Z * scale


def _good_or_undecided(seen: Measurement, moved: Growth, top: Plateau | None, context: Context) -> Judgement:
    held, capacity = moved.seconds >= context.least_seconds, context.plateau
    if held and moved.expected >= FEWEST_ARRIVALS and is_settled(moved) and not _is_fast_host(seen, context):
        return Judgement("good", (calm_words(moved, seen),), False, moved, own=True)
    enough = held and moved.expected >= context.least_share * arrivals_to_decide(context.half_width)
    disturbed = taken_share(seen, context) >= DISTURBED_SHARE
    if capacity is not None and enough and is_calm(moved) and not _queue_grew(moved):
        margin = capacity.level - seen.level - least_distance(capacity, seen.level, context.half_width)
        if margin >= 0:
            return Judgement("good", (calm_words(moved, seen), _plateau_words(capacity, "above")), False, moved)
    words = (_open_words(moved, seen, context), *([_taken_words(seen, context)] if disturbed else []))
    shown = top if _is_whole(moved, context) else None
    return Judgement("undecided", words, False, moved, shown, disturbed)


def _is_fast_host(seen: Measurement, context: Context) -> bool:
    """Whether the host was so much faster than in the mean that the step says nothing of the target at mean speed,
    where overloaded steps do not say that it would have carried as much then: by the capacity that they show, or of a
    target that collapses by the lowest level that was too much."""
    most = context.bad_level if context.plateau is None else context.plateau.level
    speed = float(speed_factors(seen, context).mean())
    return most is not None and speed > 1 + context.half_width / 2 and seen.level * speed > most


def cap_of(
    seen: Measurement, context: Context, moved: Growth | None, failing: MoreFailures | None
) -> BindingCap | None:
    """The script's cap that was the limit of the step; None without one, too early to tell, and where requests fail,
    which no cap makes them do."""
    if moved is None or moved.seconds < context.least_error_seconds or not context.caps:
        return None
    if failing_share(seen) is not None or failing is not None:
        return None
    return binding_cap(context.caps, seen.load, context.low)


def _growth_words(moved: Growth, seen: Measurement) -> str:
    gain = seen.unfinished_end - seen.unfinished_start
    return (
        f"{_finished_words(moved)}; unfinished work grew by {count_words(gain)} in {time_words(moved.seconds)}, which "
        f"is {time_words(backlog_s(seen))} of work (z = {number(moved.growth_z)}, "
        f"shortfall z = {number(moved.shortfall_z)})."
    )


def _finished_words(moved: Growth) -> str:
    """With a digit more than other rates have: that the two differ is what the sentence says."""
    done, expected = (number(count / moved.seconds, 4) for count in (moved.done, moved.expected))
    return f"Finished {done} of {expected} arrivals per second"


def _taken_words(seen: Measurement, context: Context) -> str:
    cores = context.foreign.cores_in(seen.seconds)
    stolen = f"the hypervisor took {share_words(seen.stolen_share)} of a core's time from this host"
    who = [stolen] if seen.stolen_share >= LEAST_STOLEN or not cores.any() else []
    if cores.any():
        seconds = int((cores > 0).sum())
        who.append(
            f"other processes used {amount_words(cores.sum() / seconds, 'core')} more than usual for {seconds} s"
        )
    return f"But {' and '.join(who)}, which alone may explain it."


def _other_words(seen: Measurement) -> tuple[str, ...]:
    dropped = sum(seen.dropped)
    return (f"{dropped} arrivals could not be sent.",) if dropped else ()


def calm_words(moved: Growth, seen: Measurement) -> str:
    """What a step that kept up showed."""
    return (
        f"Kept up with {counted_words(moved.expected, 'arrival')} in {time_words(moved.seconds)}: unfinished work went "
        f"from {count_words(seen.unfinished_start)} to {count_words(seen.unfinished_end)}."
    )


def _open_words(moved: Growth, seen: Measurement, context: Context) -> str:
    gain, speed = seen.unfinished_end - seen.unfinished_start, host_speed(seen, context)
    grew = f"{_finished_words(moved)}, and unfinished work grew by {count_words(gain)}."
    if taken_share(seen, context) >= DISTURBED_SHARE and _queue_grew(moved):
        return grew
    if moved.growth_share >= LEAST_UNEXPLAINED + 2 * max(0.0, 1 - speed):
        swing = float(np.std(seen.done) / np.mean(seen.done)) if moved.done else math.inf
        return (
            f"{grew} But what it finishes {_swing_words(swing)}: {time_words(moved.seconds)} are too short to tell by."
        )
    if speed <= 1 - LEAST_DRIFT and _queue_grew(moved):
        return (
            f"{grew} But the target's cores were {share_words(1 - speed)} slower than in the mean of the search, and "
            f"what that leaves is too little to tell by in {time_words(moved.seconds)}."
        )
    if speed >= 1 + LEAST_DRIFT and not _queue_grew(moved):
        return (
            f"Kept up with {counted_words(moved.expected, 'arrival')}. But the target's cores were "
            f"{share_words(speed - 1)} faster than in the mean of the search: whether it keeps up on a usual host is "
            "open."
        )
    return (
        f"Not enough data: unfinished work changed by {change_words(gain)} in {count_words(moved.expected)} arrivals. "
        "The queue was too long for a target below its capacity and too short for an overload."
    )


def _swing_words(swing: float) -> str:
    """How much completions vary; `swing`: their standard deviation in a second ÷ their mean."""
    return f"varies by ± {share_words(swing)} from second to second" if swing < 1 else "comes in bursts"


def _plateau_words(top: Plateau, side: str) -> str:
    doubt = 2 * top.relative_sd
    level, sure = number(top.level), f"(± {share_words(doubt)})"
    return f"Overloaded steps finished as much as level {level} {sure} asks for, which is {side}."
