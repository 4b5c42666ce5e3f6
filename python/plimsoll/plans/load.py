"""What a capacity experiment will do: from a study or a script, and the caller's choices, to settings and an engine."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal

from plimsoll.engine import EngineConfig, available_cpus, inspect
from plimsoll.errors import InputError
from plimsoll.experiments.capacity.ramp import START_RATE_PER_S
from plimsoll.experiments.capacity.result import CapacitySettings
from plimsoll.plans.load_bounds import check_choices, check_load
from plimsoll.plans.thresholds import check_scenarios, objectives_of
from plimsoll.probes.processes.local_targets import local_listeners
from plimsoll.runs.readings.declared_caps import declared_caps, text_of
from plimsoll.runs.readings.objective_samples import Wanted
from plimsoll.script_mistakes import option_warnings
from plimsoll.study import (
    OpenWorkload,
    Probes,
    Study,
    Target,
    load_study,
    scenarios_for,
    total_arrivals_per_s,
)
from plimsoll.study.experiments import CapacityOptions, LoadOptions
from plimsoll.study.probes.databases import with_flags
from plimsoll.study.workload import most_closed_rate_per_s, rate_of_scenarios

LevelUnit = Literal["users", "multiple", "vus"]
_KEPT = ("exec", "env", "tags", "gracefulStop", "thinkTime")


@dataclass(frozen=True)
class Choices:
    """How and where a run is made, which a caller may choose beside the study and the options of the experiment.

    `users_at_1x`: a script's users at its declared load. `variant` names the study's variant of the target to switch
    to. `env` goes to the script's __ENV;
    `cpus` pins the engine; `isolate` gives the engine the last processors (one a thread) and the target's processes the
    others; `background` lets the calling thread step back behind the engine's threads (see EngineSource); `awake` keeps
    the generator's processors from halting where it has them to itself on a virtual machine (target/awake.py);
    `arrival_process` is "poisson", "even" or None for the study's. `probes` are further databases to watch, each
    "postgresql=DSN" or "mysql=DSN".
    """

    runs: Path = Path("runs")
    env: Mapping[str, str] = field(default_factory=dict)
    variant: str | None = None
    users_at_1x: float | None = None
    arrival_process: str | None = None
    seed: int = 1
    threads: int = 1
    cpus: tuple[int, ...] = ()
    isolate: bool = False
    kept_apart: str | None = None
    background: bool = False
    awake: bool = True
    probes: tuple[str, ...] = ()


@dataclass(frozen=True)
class Plan:
    """What a capacity experiment will do.

    `config` is the engine at level 0; a level is a number of `unit`, `users_per_level` users each where that is known;
    `is_open` says whether users arrive whatever the target does. `directory` is where the study's commands run, and
    `study_data` the study as the manifest keeps it; both are of a study only, as is `expected_users`. `objectives` are
    the study's, or the script's thresholds (thresholds.py) with their `notes`; `objectives_level` is where they decide,
    if not at the expected users: the load that a script declares. `remedy` is a command that runs before the load, when
    the target is up and reset.
    """

    config: EngineConfig
    unit: LevelUnit
    is_open: bool
    target: Target
    directory: Path
    probes: Probes
    settings: CapacitySettings
    expected_users: float | None
    objectives: tuple[Any, ...]
    users_per_level: float | None
    study_data: dict[str, Any] | None
    budgets: Mapping[str, float] = field(default_factory=dict)
    cores: int | None = None
    negligible_below: float | None = None
    objectives_level: float | None = None
    notes: tuple[str, ...] = ()
    remedy: str | None = None


_DEFAULTS = CapacityOptions()
# An experiment judges its run itself: a script's threshold with abortOnFail must not end it.
NO_THRESHOLDS: dict[str, Any] = {"thresholds": {}}
# Options of the script that bound its load, which the run directory shall tell.
_CAPS = ("rps", "minIterationDuration", "batch", "batchPerHost")


def plan_of(
    source: str | Path | Study,
    choices: Choices,
    function: str | None = None,
    options: CapacityOptions = _DEFAULTS,
) -> Plan:
    """The plan for a study file, a Study or a script, of which `function` alone is called where it is given; `options`
    are those of a search. Raises InputError for what is wrong in any of them."""
    check_choices(choices)
    if _is_study(source):
        plan = _plan_of_study(source, choices, options)
    else:
        plan = _plan_of_script(Path(str(source)), choices, function, options)
    if not choices.probes:
        return plan
    return replace(plan, probes=with_flags(plan.probes, choices.probes))


def source_of(source: str | Path | Study, experiment: str) -> Study | Path:
    """The study, loaded once, with who takes part in that experiment; or the path of a script."""
    if isinstance(source, Study):
        return source.for_experiment(experiment)
    path = Path(source)
    return load_study(path).for_experiment(experiment) if path.suffix in (".yaml", ".yml") else path


def as_entry_says(choices: Choices, entry: LoadOptions | None) -> Choices:
    """The choices, with the variant of the target that the study's entry names where they name none."""
    return choices if entry is None or choices.variant is not None else replace(choices, variant=entry.variant)


def _is_study(source: str | Path | Study) -> bool:
    return isinstance(source, Study) or Path(source).suffix in (".yaml", ".yml")


def _plan_of_study(source: str | Path | Study, choices: Choices, wanted: CapacityOptions) -> Plan:
    study = source if isinstance(source, Study) else load_study(source)
    if choices.users_at_1x is not None:
        raise InputError("--users-at-1x is for scripts; the levels of a study are users", "Leave --users-at-1x out.")
    target = study.target.as_variant(choices.variant) if choices.variant is not None else study.target
    is_open = isinstance(study.workload, OpenWorkload)
    arrivals = study.workload.arrivals if isinstance(study.workload, OpenWorkload) else "even"
    env = {**({"BASE_URL": target.url} if target.url else {}), **study.workload.env, **choices.env}
    seed = study.seed if study.seed is not None else choices.seed
    options = {**scenarios_for(study.workload), **NO_THRESHOLDS}
    config = EngineConfig(
        script=study.script_path,
        env=env,
        options=options,
        threads=choices.threads,
        level=0.0,
        arrival_process=choices.arrival_process or arrivals,
        seed=seed,
        cpus=engine_cpus(choices),
    )
    try:
        options = {**options, **_caps_of(inspect(config)["options"])}
    except InputError:
        if study.target.start is None and choices.variant is None:
            raise  # else commands may make files that the script opens
    config = replace(config, options=options)
    rate = total_arrivals_per_s(study.workload, 1.0) if isinstance(study.workload, OpenWorkload) else None
    least, most = _range(wanted, 1.0, rate)
    if study.expected_users is not None:
        check_load(config.options["scenarios"], study.expected_users, "expected_users of the study")
    settings = CapacitySettings(
        width=wanted.width,
        step_s=wanted.step_s,
        budget_s=wanted.for_s,
        expected_level=study.expected_users,
        objectives=tuple(map(Wanted.of, study.objectives)),
        arrivals_per_level_s=rate,
        min_level=least,
        max_level=most,
        start_level=_level_that_shows(study, most) if least is None else None,
        recovery=wanted.recovery,
        caps=declared_caps(options, text_of(study.script_path)),
    )
    return Plan(
        config,
        unit="users",
        is_open=is_open,
        target=target,
        directory=study.directory,
        probes=study.probes,
        settings=settings,
        expected_users=study.expected_users,
        objectives=tuple(study.objectives),
        users_per_level=1.0,
        study_data=study.model_copy(update={"target": target}).model_dump(mode="json", exclude_none=True),
        budgets=wanted.budgets,
        cores=wanted.cores,
        negligible_below=wanted.negligible_below,
    )


def scenario_of_function(name: str) -> dict[str, Any]:
    """One scenario, which calls that function of the script without end; its VUs are the level."""
    return {name: {"executor": "constant-vus", "exec": name, "vus": 1, "duration": "24h"}}


def _plan_of_script(script: Path, choices: Choices, function: str | None, wanted: CapacityOptions) -> Plan:
    if choices.variant is not None:
        raise InputError("--variant is for studies; a script does not say how to switch", "Write a study.")
    alone = {"scenarios": scenario_of_function(function)} if function is not None else {}
    about = inspect(EngineConfig(script, choices.env, alone, seed=choices.seed, threads=choices.threads))
    kinds = {scenario["open"] for scenario in about["scenarios"]}
    if len(kinds) > 1:
        raise InputError(
            f"{script}: it mixes scenarios with arrival rates and scenarios with VUs",
            "Keep one kind, or write a study.",
        )
    unit: LevelUnit = "multiple" if about["declares_load"] else "vus"
    is_open = unit == "multiple" and True in kinds
    if choices.users_at_1x is not None and not choices.users_at_1x > 0:
        raise InputError(
            f"--users-at-1x {choices.users_at_1x:g} is not above 0", "Give the users of the declared load."
        )
    if unit == "vus" and choices.users_at_1x is not None:
        raise InputError(
            f"--users-at-1x: {script} declares no load to be 1x, so its level is VUs",
            "Add options (vus, or scenarios with rates) to the script, or leave --users-at-1x out.",
        )
    held = held_scenarios(about["options"] if unit == "multiple" else {})
    rate = rate_of_scenarios({"scenarios": held}) if is_open else None
    options = {"scenarios": held, **_caps_of(about["options"]), **NO_THRESHOLDS}
    config = EngineConfig(
        script=script, env=choices.env, options=options,
        threads=choices.threads, level=0.0,
        arrival_process=choices.arrival_process or "poisson", seed=choices.seed, cpus=engine_cpus(choices),
    )  # fmt: skip
    least, most = _range(wanted, choices.users_at_1x or 1.0, rate)
    thresholds = about["options"].get("thresholds") or {}
    if function is None:  # else its own scenarios are not run
        check_scenarios(thresholds, [scenario["name"] for scenario in about["scenarios"]])
    objectives, notes = objectives_of(thresholds, is_open)
    notes = (*option_warnings(about["warnings"]), *notes)
    declared = 1.0 if objectives and unit == "multiple" else None
    settings = CapacitySettings(
        width=wanted.width,
        step_s=wanted.step_s,
        budget_s=wanted.for_s,
        expected_level=declared,
        objectives=tuple(map(Wanted.of, objectives)),
        arrivals_per_level_s=rate,
        min_level=least,
        max_level=most,
        start_level=None if is_open or least is not None else _level_of_one_vu(held),
        vus_per_level=None if is_open else float(sum(scenario["vus"] for scenario in held.values())),
        recovery=wanted.recovery,
        caps=declared_caps(options, text_of(script)),
    )
    target = Target(processes=local_listeners(choices.env.values()))
    return Plan(
        config,
        unit=unit,
        is_open=is_open,
        target=target,
        directory=Path(),
        probes=Probes(),
        settings=settings,
        expected_users=None,
        objectives=objectives,
        users_per_level=choices.users_at_1x,
        study_data=None,
        budgets=wanted.budgets,
        cores=wanted.cores,
        negligible_below=wanted.negligible_below,
        objectives_level=declared,
        notes=notes,
    )


def _caps_of(options: Mapping[str, Any]) -> dict[str, Any]:
    return {key: options[key] for key in _CAPS if options.get(key) is not None}


def _range(
    options: CapacityOptions, users_per_level: float, rate_per_level_s: float | None
) -> tuple[float | None, float | None]:
    """Least and greatest level of the search. `min_users` and `max_users` are users where it is known how many a level
    is (a study, or a script with `users_at_1x`), else multiples of the script's declared load or its VUs.

    Raises InputError where a rate bounds a load without one, or the bounds leave nothing to search.
    """
    bounds = [options.max_users / users_per_level] if options.max_users is not None else []
    if options.max_rate is not None:
        if not rate_per_level_s:
            what = "--max-rate: this load has no arrival rate, its users wait for their answers"
            raise InputError(what, "Use --max-users.")
        bounds.append(options.max_rate / rate_per_level_s)
    most = min(bounds, default=None)
    least = options.min_users / users_per_level if options.min_users is not None else None
    if least is not None and most is not None and least > most:
        raise InputError(
            f"the search may begin at {least:g} at least and go up to {most:g} at most, which leaves nothing",
            "Lower --min-users (or min_users of the study), or raise --max-users or --max-rate.",
        )
    return least, most


def _level_that_shows(study: Study, most: float | None) -> float | None:
    """Users of a closed workload with think times who begin about 10 iterations a second, so that a short probe sees
    some; None where the ramp's own beginning does."""
    if isinstance(study.workload, OpenWorkload):
        return None
    users = math.ceil(START_RATE_PER_S / most_closed_rate_per_s(study.workload, 1.0))
    if users <= max(1.0, (study.expected_users or 0.0) / 4):
        return None
    return float(users if most is None else min(users, max(1, most // 4)))


def _level_of_one_vu(scenarios: Mapping[str, Any]) -> float:
    """The level at which the largest scenario has one VU; below it there would be no load at all."""
    return 1 / max(1, *(scenario["vus"] for scenario in scenarios.values()))


def held_scenarios(options: Mapping[str, Any]) -> dict[str, Any]:
    """The script's scenarios held at their peak for as long as the experiment lasts, for the level to multiply; of
    a script without any load, one VU."""
    if "scenarios" not in options:
        vus = max([options.get("vus", 1), *(stage["target"] for stage in options.get("stages", []))])
        return {"default": {"executor": "constant-vus", "vus": vus, "duration": "24h"}}
    held: dict[str, Any] = {}
    for name, scenario in options["scenarios"].items():
        common = {key: scenario[key] for key in _KEPT if key in scenario}
        stages = scenario.get("stages", [])
        if scenario["executor"].endswith("arrival-rate"):
            rate = max([scenario.get("rate", scenario.get("startRate", 0)), *(stage["target"] for stage in stages)])
            vus = {key: scenario[key] for key in ("timeUnit", "preAllocatedVUs", "maxVUs") if key in scenario}
            held[name] = {**common, **vus, "executor": "constant-arrival-rate", "rate": rate, "duration": "24h"}
        else:
            vus = max([scenario.get("vus", scenario.get("startVUs", 1)), *(stage["target"] for stage in stages)])
            held[name] = {**common, "executor": "constant-vus", "vus": vus, "duration": "24h"}
    return held


def engine_cpus(choices: Choices) -> tuple[int, ...]:
    """The processors to pin the engine to: as chosen, else with `isolate` the last ones."""
    if choices.cpus:
        return choices.cpus
    cpus = available_cpus()
    return tuple(cpus[-min(choices.threads, len(cpus) - 1) :]) if choices.isolate and len(cpus) > 1 else ()
