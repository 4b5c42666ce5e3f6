"""What a capacity search can reach in the load time that it is given, and what more of it would give. Pure arithmetic.

A search spends its time on a ramp that finds the range, on steps on both sides of the capacity, and on a confirmation.
Two levels ± h around the capacity can be told from it when the step at each has so many completions that
`smallest_distance` (judge.py) of them is h; the bracket is then 2 h ÷ (1 + h) wide. So its width goes as one over the
root of arrivals per second × load time. Completions are taken as of a Poisson process; a burstier
target needs more, which the search sees and this cannot know before.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from plimsoll.experiments.capacity.result import CapacitySettings
from plimsoll.experiments.steps.judge import smallest_distance
from plimsoll.words import amount_words, number, share_words

RAMP_PROBES = 4  # at least, from the first level to the first that is too much
STEPS_AT_LEAST = 2
# Of the load time, that of the step at each end: by the median widths of simulated targets of 10, 20 and 60/s in 300 s,
# 31, 21 and 10% (tests/accuracy/test_capacity_search.py). Below 10/s it is less, as a step needs 100 arrivals.
DECIDING_SHARE = 1 / 12
NOISE = 1.0  # variance per completion, as of a Poisson process
MOST_TIMES_LONGER = 8
WIDEST = 0.9


@dataclass(frozen=True)
class MoreTime:
    """Load time of `seconds`, with which the bracket would be about `width` wide."""

    seconds: float
    width: float


def least_s(settings: CapacitySettings) -> float:
    """Load time that the shortest search takes: ramp, a step on each side and a confirmation."""
    probes = RAMP_PROBES * (settings.probe_s + settings.warm_up_s)
    return math.ceil(probes + (STEPS_AT_LEAST + 1) * (settings.step_s + settings.warm_up_s))


def longest_step_s(load_s: float) -> float:
    """The longest `step_s` with which a search of that time still has an answer, in whole seconds; 0 if none has."""
    whole = math.floor(load_s)
    return next((float(step) for step in range(whole, 0, -1) if least_s(CapacitySettings(step_s=step)) <= load_s), 0.0)


def width_reached(per_s: float, load_s: float, noise: float = NOISE) -> float:
    """Width of the bracket that steps of a load of that time can prove at a capacity of `per_s`; at most WIDEST."""
    half = smallest_distance(per_s * load_s * DECIDING_SHARE, noise)
    return min(WIDEST, 2 * half / (1 + half))


def rate_needed(width: float, load_s: float, noise: float = NOISE) -> float:
    """Arrivals per second at the capacity from which on a bracket of that width is reached: the inverse."""
    half = width / (2 - width)
    return (smallest_distance(1.0, noise) / half) ** 2 / (load_s * DECIDING_SHARE)


def with_more_time(width: float, goal: float, load_s: float) -> MoreTime:
    """The time that the goal would take, and the width then, by what the load time has reached; not more than
    MOST_TIMES_LONGER as much. Half of the width takes four times as long."""
    times = min(MOST_TIMES_LONGER, max(2.0, (width / goal) ** 2))
    seconds = _round_time(load_s * times)
    return MoreTime(seconds, max(goal, width * math.sqrt(load_s / seconds)))


def _round_time(seconds: float) -> float:
    """The next time that one would type: whole minutes, from ten minutes on five of them."""
    unit = 60.0 if seconds <= 600 else 300.0
    return math.ceil(seconds / unit) * unit


def typed(seconds: float) -> str:
    """A time as `--for` takes it: "90s", "5m", "1h30m"."""
    whole = math.ceil(seconds)
    if whole % 60 or whole < 60:
        return f"{whole}s"
    hours, minutes = divmod(whole // 60, 60)
    return f"{hours}h{f'{minutes}m' if minutes else ''}" if hours else f"{minutes}m"


def said(seconds: float) -> str:
    """The same time in a sentence: "90 s", "2 min 35 s", "1 h 30 min". Unlike `time_words` it rounds up and leaves no
    second out, as beside a flag it must not say the time that is too short."""
    text = typed(seconds)
    if text.endswith("s") and seconds >= 120:
        minutes, rest = divmod(math.ceil(seconds), 60)
        return f"{minutes} min {rest} s"
    return text.replace("h", " h ").replace("m", " min").replace("s", " s").strip()


def promise(settings: CapacitySettings, is_open: bool) -> str:
    """What the load time can reach, before any load: the rate is not known yet. Of users who wait for their answers
    the width depends on how throughput bends as well, so that it cannot be said before."""
    load_s, goal = settings.load_budget_s, settings.width
    if not is_open:
        return (
            f"The search takes at most {said(load_s)} of load, and stops when the goal of {share_words(goal)} is met."
        )
    rate = rate_needed(goal, load_s)
    tenth = width_reached(rate / 10, load_s)
    return (
        f"With {said(load_s)} of load a bracket {share_words(goal)} wide can be reached if the target carries "
        f"about {amount_words(rate, 'arrival')}/s or more; at {number(rate / 10)}/s it would be about "
        f"{share_words(tenth)} "
        "wide. The search stops when the goal is met."
    )


def spent_words(width: float, load_s: float) -> str:
    """That the load time was spent, at the end of a search."""
    done = "narrow it further" if math.isfinite(width) else "bound it on both sides"
    return f"{said(load_s)} of load did not {done}"


def more_time_words(width: float, goal: float, load_s: float) -> str:
    """What more time would give, if time is what the search lacked."""
    if not math.isfinite(width):
        more_s = _round_time(2 * load_s)
        return f"give it {said(more_s)} (--for {typed(more_s)})"
    more = with_more_time(width, goal, load_s)
    told = f"with {said(more.seconds)} it would be about {share_words(more.width)} wide"
    return f"{told} (--for {typed(more.seconds)})"
