"""How long an experiment of a study is planned to take, in words: what is known before any load."""

from __future__ import annotations

import math
from collections.abc import Iterable

from plimsoll.experiments.capacity.result import CapacitySettings
from plimsoll.study.experiments import (
    CapacityOptions,
    CompareOptions,
    DecomposeOptions,
    DrainOptions,
    Experiment,
    GrowOptions,
    HoldOptions,
    SweepOptions,
    TrialOptions,
)
from plimsoll.study.models import Study
from plimsoll.words import time_words


def planned_s(study: Study, item: Experiment) -> float | None:
    """Seconds of load, an upper bound for `capacity`, `drain` and `grow`; None where the target decides (`grow`)."""
    options = item.options
    match options:
        case CapacityOptions():
            settings = CapacitySettings(step_s=options.step_s, budget_s=options.for_s)
            return settings.load_budget_s * (2 if options.verify else 1)
        case HoldOptions():
            return options.for_s or options.baseline_s + options.warm_up_s + options.duration_s
        case DrainOptions():
            return (options.for_s or options.warm_up_s + options.duration_s) + options.drain_s
        case GrowOptions():
            return options.for_s
        case CompareOptions(is_of_runs=True):
            return 0.0
        case TrialOptions() if options.for_s is not None:
            return options.for_s
        case CompareOptions():
            trials = 2 * options.pairs
        case DecomposeOptions():
            trials = options.rounds * len(options.variants)
        case SweepOptions():
            trials = options.repeats * math.prod(len(values) for values in options.over.values())
        case _:
            raise TypeError(f"no experiment: {options}")
    levels = max(1, len(options.users), len(options.rate))
    return trials * levels * (options.trial_s + options.warm_up_s)


def planned_time(study: Study, item: Experiment) -> str:
    """The same in words, with "at most" where it is a bound; draining between steps and resets come on top."""
    seconds = planned_s(study, item)
    if seconds is None:
        return "as long as the target takes"
    if seconds == 0:
        return "no load"
    bound = isinstance(item.options, CapacityOptions | DrainOptions | GrowOptions)
    return f"{'at most ' if bound else ''}{time_words(seconds)} of load"


def planned_total(planned: Iterable[tuple[Study, Experiment]]) -> str:
    """All of them together in words: "at most 9 min of load, and as long as grow takes". The sum is "at most" as soon
    as one of them is a bound; experiments without any bound are named and not counted."""
    sum_s, is_bound, unbounded = 0.0, False, dict[str, int]()
    for study, item in planned:
        seconds = planned_s(study, item)
        if seconds is None:
            unbounded[item.name] = unbounded.get(item.name, 0) + 1
        else:
            sum_s += seconds
            is_bound |= isinstance(item.options, CapacityOptions | DrainOptions | GrowOptions)
    words = [f"{'at most ' if is_bound else ''}{time_words(sum_s)} of load"] if sum_s else []
    for name, times in unbounded.items():
        words.append(f"as long as {name} takes" if times == 1 else f"as long as {times} runs of {name} take")
    return ", and ".join(words) or "no load"
