"""`--for` and the study's `for`: the load time that the user gives, for each experiment, or why it is too short."""

from __future__ import annotations

import math

from plimsoll.errors import InputError
from plimsoll.experiments.capacity.result import CapacitySettings
from plimsoll.experiments.capacity.time_plan import least_s, longest_step_s, said, typed
from plimsoll.words import time_words

SHORTEST_STEP_S = 3.0  # that is worth proposing: shorter ones prove nothing near the capacity


def check_search_time(settings: CapacitySettings) -> None:
    """InputError where a capacity search of that time could have no answer."""
    needed_s = least_s(settings)
    if settings.load_budget_s >= needed_s:
        return
    shorter = longest_step_s(settings.load_budget_s)
    other = f", or steps of {time_words(shorter)} (--step {typed(shorter)})" if shorter >= SHORTEST_STEP_S else ""
    raise InputError(
        f"--for {typed(settings.load_budget_s)} is too short for any answer: a ramp, two steps of "
        f"{settings.step_s:g} s and a confirmation take {said(needed_s)}",
        f"Give it --for {typed(needed_s)} or more{other}.",
    )


def repetitions_within(for_s: float, round_s: float, least: int, noun: str, advised: int | None = None) -> int:
    """Repetitions (`noun`, plural) of a round of `round_s` that the time takes; InputError below `least`, which asks
    for as many as decide, `advised`."""
    count = math.floor(for_s / round_s + 1e-9)
    if count < least:
        wanted = max(least, advised or least)
        needed_s = wanted * round_s
        decide = f"the {wanted} {noun} that decide" if advised else f"{wanted} {noun}"
        raise InputError(
            f"--for {typed(for_s)} is too short for any answer: {decide} take {said(needed_s)} of load",
            f"Give it --for {typed(needed_s)} or more, shorter trials (--trial), or fewer levels.",
        )
    return count
