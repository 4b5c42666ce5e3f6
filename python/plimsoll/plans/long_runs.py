"""What hold, grow and drain will do: options from the study and the caller, checked, and the load sources they
need."""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

from plimsoll.engine import EngineConfig, inspect
from plimsoll.errors import InputError
from plimsoll.experiments.capacity.ramp import START_RATE_PER_S
from plimsoll.experiments.capacity.time_plan import said, typed
from plimsoll.plans.load import Choices, Plan, plan_of, scenario_of_function
from plimsoll.plans.load_bounds import check_load
from plimsoll.runs.readings.declared_caps import seconds_of
from plimsoll.study import ClosedWorkload, OpenWorkload, Study
from plimsoll.study.experiments import DrainOptions, GrowOptions, HoldOptions

LEAST_ALONE_S = 3.0
LEAST_ALONE_PER_S, MOST_ALONE_PER_S = 2.0, 10.0  # iterations, of a load that is a rate
KEPT_START = 0.25
TWO_TIMES = "one is the time of all the load, the other of what counts"
MOST_BEFORE = 0.25  # of the time that is given, for each of what comes before the load that counts


def held_level(plan: Plan, source: Study | Path, users: float | None) -> float:
    """The level to hold: as asked, else the study's expected users, else the script's declared load."""
    level = 1.0
    if users is not None:
        level = users / (plan.users_per_level or 1.0)
    elif isinstance(source, Study):
        if source.expected_users is None:
            raise InputError("nothing says how many users to hold", "Give --users, or expected_users in the study.")
        level = source.expected_users
    check_load(plan.config.options["scenarios"], level, "the load to hold")
    return level


class LoadTimes(NamedTuple):
    """Seconds of one user alone, of the warm-up after it, and of the load that counts."""

    baseline_s: float
    warm_up_s: float
    duration_s: float


def load_times(
    options: HoldOptions | DrainOptions, given: Mapping[str, Any], least_s: float, plan: Plan | None = None
) -> LoadTimes:
    """`for` is the time of all of them, where it is given: baseline and warm-up that nobody set take a quarter of it
    each at most. Else it is `duration_s` that counts, and they come before. A flag goes before the study's other key;
    `plan`: says how long the baseline takes at least. Raises InputError for both at once, and for a time that says
    nothing."""
    for_s = options.for_s
    baseline_s = options.baseline_s if isinstance(options, HoldOptions) else 0.0

    def at_most(share_s: float) -> tuple[float, float]:
        before = {"baseline_s": baseline_s, "warm_up_s": options.warm_up_s}
        kept = {key: s if key in options.model_fields_set else min(s, share_s) for key, s in before.items()}
        alone = alone_s(plan, kept["baseline_s"]) if plan and baseline_s else kept["baseline_s"]
        return alone, kept["warm_up_s"]

    if for_s is None or (given.get("duration_s") is not None and given.get("for_") is None):
        return LoadTimes(*at_most(math.inf), options.duration_s)
    if "duration_s" in options.model_fields_set and given.get("for_") is None:
        raise InputError("for and duration_s are given together", f"Leave one out: {TWO_TIMES}.", key="for")
    if given.get("for_") is not None and given.get("duration_s") is not None:
        raise InputError("--for and --duration are given together", f"Leave one out: {TWO_TIMES}.")

    def left_of(all_s: float) -> float:
        return all_s - sum(at_most(MOST_BEFORE * all_s))

    if left_of(for_s) < least_s:
        enough_s = math.ceil(least_s + sum(at_most(math.inf)))
        needed_s = bisect_left(range(enough_s), least_s, key=left_of)
        after = f" after {said(for_s - left_of(for_s))} that do not count" if left_of(for_s) < for_s else ""
        raise InputError(
            f"--for {typed(for_s)} is too short for any answer: it takes {said(least_s)} of load{after}",
            f"Give it --for {typed(needed_s)} or more; a minute and more tell objectives, ten minutes drift and leaks.",
        )
    return LoadTimes(*at_most(MOST_BEFORE * for_s), left_of(for_s))


def kept_start(plan: Plan, source: Study | Path, users: float | None) -> float:
    """The level at which a steered load begins: as asked, else a part of the study's expected users or of the script's
    load; of a study without, one that brings some arrivals a second."""
    if users is None and isinstance(source, Study) and source.expected_users is None:
        per_level_s = plan.settings.arrivals_per_level_s
        return START_RATE_PER_S / per_level_s if per_level_s else 1.0
    level = held_level(plan, source, users)
    level = level if users is not None else KEPT_START * level
    return max(1.0, round(level)) if plan.unit == "vus" else level


def load_plan(source: Study | Path, choices: Choices) -> Plan:
    """The plan of a load whose level is held; as capacity's, at level 0."""
    return plan_of(source, choices)


def alone_config(plan: Plan, baseline_s: float, level: float) -> EngineConfig:
    """One user at work: each scenario in turn with one VU that does not pause, so that nothing runs beside it. Where
    the load is a rate, this user begins no more iterations than that, and no more than are needed to know their times:
    without pauses one user asks a quick target thousands of times a second."""
    scenarios = plan.config.options["scenarios"]
    each_s = max(LEAST_ALONE_S, baseline_s / len(scenarios))
    alone: dict[str, Any] = {}
    for place, (name, scenario) in enumerate(scenarios.items()):
        kept = {key: scenario[key] for key in ("exec", "env", "tags") if key in scenario}
        last = place == len(scenarios) - 1
        alone[name] = {
            **kept,
            "executor": "constant-vus",
            "vus": 1,
            "startTime": f"{round(place * each_s * 1000)}ms",
            "duration": "24h" if last else f"{round(each_s * 1000)}ms",
        }
    options = {**plan.config.options, "scenarios": alone}
    per_s = plan.settings.arrivals_per_level_s
    if per_s is not None:
        apart_s = 1 / min(MOST_ALONE_PER_S, max(LEAST_ALONE_PER_S, per_s * level))
        own_s = seconds_of(options.get("minIterationDuration")) or 0.0
        options["minIterationDuration"] = f"{round(1000 * max(apart_s, own_s))}ms"
    return replace(plan.config, options=options)


def alone_s(plan: Plan, baseline_s: float) -> float:
    """How long that takes: at least three seconds for each scenario."""
    return max(baseline_s, LEAST_ALONE_S * len(plan.config.options["scenarios"]))


def grow_plan(source: Study | Path, options: GrowOptions, choices: Choices) -> Plan:
    """The plan of a closed load of one exported function, whose level is calls at a time."""
    if options.max_users is not None and options.max_users < options.min_users:
        raise InputError(
            f"max_users {options.max_users} is below min_users {options.min_users}", "Raise it, or lower min_users."
        )
    if isinstance(source, Study):
        plan, function = plan_of(source, choices), _function_of_study(source, options.exec)
    else:
        plan, function = plan_of(source, choices, options.exec), options.exec or "default"
    exports = inspect(plan.config)["exports"] if plan.target.start is None else None
    if exports is not None and function not in exports:
        known = ", ".join(exports) or "nothing"
        raise InputError(
            f"{plan.config.script} exports no function {function!r}",
            f"It exports {known}; name the one that creates an item with --exec.",
        )
    loading = replace(
        plan.config, options={**plan.config.options, "scenarios": scenario_of_function(function)}, level=0.0
    )
    return replace(plan, config=loading, unit="vus", is_open=False, users_per_level=None)


def _function_of_study(study: Study, wanted: str | None) -> str:
    """The function as named, or that of the operation of that name; without either, the first operation's."""
    parts: Any = study.workload.operations if isinstance(study.workload, OpenWorkload) else study.workload.groups
    assert isinstance(study.workload, OpenWorkload | ClosedWorkload)
    functions = {part.name: part.exec or part.name for part in parts}
    return functions.get(wanted, wanted) if wanted is not None else next(iter(functions.values()))


def check_drain(options: DrainOptions) -> None:
    """InputError where nothing says how to follow the consumer."""
    if options.backlog is None and options.consumed is None:
        raise InputError(
            "nothing says how far the consumer is",
            "Give --backlog (items waiting) or --consumed (a counter of items done).",
        )
