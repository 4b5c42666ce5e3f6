"""What an experiment of trials will do: from a request and choices to a plan, and the engine for each of its trials."""

from __future__ import annotations

import dataclasses
import hashlib
import itertools
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, get_args

from plimsoll.engine import EngineConfig, inspect
from plimsoll.errors import InputError
from plimsoll.experiments.trials.plan import Order, TrialLevel, TrialPlan, TrialVariant
from plimsoll.listed_names import listed
from plimsoll.nearest_word import nearest
from plimsoll.plans.arms import (
    Arm,
    Base,
    Say,
    arm_of,
    base_of,
    is_study,
    mention,
    mention_one_sided,
    named_arm,
    text_of,
    with_scripts,
)
from plimsoll.plans.load import NO_THRESHOLDS, Choices, Plan, engine_cpus, plan_of
from plimsoll.plans.load_bounds import check_load
from plimsoll.plans.load_time import repetitions_within
from plimsoll.plans.pairs_that_decide import few_pairs_words, pairs_that_decide
from plimsoll.plans.read_variables import names_read, reading_of
from plimsoll.plans.requests import CompareRequest, DecomposeRequest, SweepRequest, TrialChoices
from plimsoll.probes.processes.local_targets import local_listeners
from plimsoll.probes.processes.variant_processes import Watched, watched_of_variants
from plimsoll.runs.interrupted import SAME
from plimsoll.study import Probes, Target
from plimsoll.study.bounds import MOST_TRIALS, MOST_USERS
from plimsoll.study.experiments import (
    MARGIN,
    PRIMARY,
    WARM_UP_S,
    CompareOptions,
    DecomposeOptions,
    Statistic,
    SweepOptions,
    TrialOptions,
    first_of,
)
from plimsoll.words import amount_words, count_words, number

TRIAL_S = 10.0
PAIRS, ROUNDS, REPEATS = 10, 10, 3
STATISTICS: tuple[str, ...] = get_args(Statistic)
GRACEFUL_STOP = "5s"
REPEATED = {"compare": (2, "pairs"), "decompose": (2, "rounds"), "sweep": (1, "repeats")}  # least, and their noun
LEVEL_PARAMETERS = ("users", "rate")
MOST_COMBINATIONS = 1_000  # of which each is planned
MOST_NAMED = 8  # variables that the script does read


@dataclass(frozen=True)
class TrialSetup:
    """The plan, and what carries it out: the engine's configuration of each variant at level 0, the variant of the
    target that each needs, and target, folder, probes and study as in `Plan`. Which processes are read while each runs
    is told by `watched`, once the target is there."""

    plan: TrialPlan
    configs: Mapping[str, EngineConfig]
    switch_to: Mapping[str, str | None]
    target: Target
    directory: Path
    probes: Probes
    study_data: dict[str, Any] | None

    def watched(self) -> dict[str, Watched]:
        """The target's processes in the trials of each variant."""
        addresses = {name: config.env for name, config in self.configs.items()}
        others = [self.target.url, *(one.url for one in self.target.variants.values())]
        return watched_of_variants(self.target.processes, addresses, others)


def compare_setup(request: CompareRequest, choices: TrialChoices, say: Say) -> TrialSetup:
    """Pairs of two forms. Raises InputError for what is wrong in request, choices, study or script."""
    base = base_of(request.source, "compare", request)
    wanted = first_of(CompareOptions, base.experiments)
    forms = [request.a or tuple(wanted.a if wanted else ()), request.b or tuple(wanted.b if wanted else ())]
    arms = [arm_of(name, forms[place], base) for place, name in enumerate("ab")]
    if request.other is not None:
        arms = with_scripts(arms, [base.script, Path(request.other)])
    if request.switch_a is not None or request.switch_b is not None:
        arms = [dataclasses.replace(arm, switch_to=arm.switch_to or arm.name) for arm in arms]
        labels = zip(arms, (request.switch_a, request.switch_b), strict=True)
        arms = [dataclasses.replace(arm, label=arm.label or command or "as it is") for arm, command in labels]
    if not any(forms) and request.other is None and request.switch_a is None and request.switch_b is None:
        raise InputError(
            "nothing says how A and B differ",
            "Give a second script, or --a and --b (NAME=value, a URL, or a variant of the study's target).",
        )
    arms = [dataclasses.replace(arm, label=arm.label or "as it is") for arm in arms]
    mention(arms, base, say)
    mention_one_sided(arms, choices.env, base, say)
    margin, primary = decides(request, wanted)
    settled = _settled(choices, wanted, wanted.pairs if wanted else PAIRS)
    analysis = {"margin": margin, "primary": list(primary), "paired": True}
    if _form_that_counts(arms[0], base) == _form_that_counts(arms[1], base):
        analysis["same"] = True
        say(SAME)
    costly = any(arm.switch_to and base.target.variant(arm.switch_to).switch for arm in arms)
    setup = _setup("compare", arms, base, settled, analysis, "grouped" if costly else "interleaved")
    plan, levels = setup.plan, len(setup.plan.levels)
    pair_s = 2 * levels * (plan.trial_s + plan.warm_up_s)
    if few := few_pairs_words(plan.repetitions, margin, primary, levels, pair_s):
        say(few)
    return setup


def _form_that_counts(arm: Arm, base: Base) -> tuple[Any, ...]:
    """What makes an arm another: all but variables that its script certainly never reads."""
    script = arm.script or base.script
    text = text_of(script)
    env = {name: value for name, value in arm.env.items() if text is None or reading_of(name, text) != "never"}
    return script.absolute(), env, arm.exec, arm.switch_to


def with_runs_of_study(request: CompareRequest, choices: TrialChoices) -> CompareRequest:
    """The request for the finished runs that the study's entry names, if it does and nothing else is asked for."""
    asked_for_more = request.other or request.a or request.b or request.runs_a or request.runs_b or choices.resume
    if request.source is None or asked_for_more or not is_study(request.source):
        return request
    base = base_of(request.source, "compare", request)
    wanted = first_of(CompareOptions, base.experiments)
    if base.study is None or wanted is None or not wanted.is_of_runs:
        return request
    margin, primary = decides(request, wanted)
    folder = base.study.directory
    return CompareRequest(
        margin=margin,
        primary=tuple(primary),
        runs_a=tuple(folder / run for run in wanted.runs_a),
        runs_b=tuple(folder / run for run in wanted.runs_b),
        skip_s=request.skip_s if request.skip_s is not None else wanted.skip_s,
    )


def decompose_setup(request: DecomposeRequest, choices: TrialChoices, say: Say) -> TrialSetup:
    """Rounds of the same work in several forms, the whole first. Raises InputError as `compare_setup`."""
    if not request.sources:
        raise InputError("no script and no study is given", "Give one script with --variant, or one script each.")
    base = base_of(request.sources[0], "decompose")
    wanted = first_of(DecomposeOptions, base.experiments)
    if len(request.sources) > 1:
        if request.variants or wanted is not None:
            raise InputError("several scripts and --variant are given together", "Give one script, or leave --variant.")
        scripts = [Path(str(source)) for source in request.sources]
        arms = with_scripts([Arm(str(place), "") for place in range(len(scripts))], scripts)
        arms = [dataclasses.replace(arm, name=arm.label) for arm in arms]
    elif request.variants or wanted is None:
        arms = [named_arm(text, base) for text in request.variants]
    else:
        forms = wanted.variants.items()
        arms = [dataclasses.replace(arm_of(name, [form], base, exec_allowed=True), label=name) for name, form in forms]
    names = [arm.name for arm in arms]
    if len(names) < 2 or len(set(names)) < len(names):
        raise InputError(
            "decompose needs two variants or more, each with a name of its own",
            "Give the whole first: --variant whole --variant orm --variant static, or one script each.",
        )
    statistic = request.statistic or (wanted.statistic if wanted else "mean")
    if statistic not in ("mean", "p50"):
        raise InputError(f"--statistic {statistic}: unknown", "Use mean or p50.")
    mention(arms, base, say)
    settled = _settled(choices, wanted, wanted.rounds if wanted else ROUNDS)
    if not settled.users and not settled.rate:
        settled = dataclasses.replace(settled, users=(1,))
    parts = request.parts if request.parts is not None else bool(wanted and wanted.parts)
    analysis = {"parts": parts, "statistic": statistic}
    costly = any(arm.switch_to and base.target.variant(arm.switch_to).switch for arm in arms)
    return _setup("decompose", arms, base, settled, analysis, "grouped" if costly else "interleaved", closed=True)


def sweep_setup(request: SweepRequest, choices: TrialChoices, say: Say) -> TrialSetup:
    """Every combination of parameters, some times over. Raises InputError as `compare_setup`."""
    base = base_of(request.source, "sweep")
    wanted = first_of(SweepOptions, base.experiments)
    given = request.over or (wanted.over if wanted else {})
    over = {name: [_text(value) for value in values] for name, values in given.items()}
    _check_sweep(over, choices)
    names = [name for name in over if name not in LEVEL_PARAMETERS]
    _refuse_unread(names, base)
    combinations = list(itertools.product(*(over[name] for name in names)))
    arms = []
    for combination in combinations:
        env = dict(zip(names, combination, strict=True))
        label = ", ".join(f"{name}={value}" for name, value in env.items())
        arms.append(Arm(label or "all", label, env=env))
    mention(arms[:1], base, say)
    levels = {name: tuple(map(float, over[name])) for name in LEVEL_PARAMETERS if name in over}
    users, rate = levels.get("users", choices.users), levels.get("rate", choices.rate)
    swept = dataclasses.replace(choices, users=users, rate=rate)
    settled = _settled(swept, wanted, wanted.repeats if wanted else REPEATS)
    over |= _levels_swept(settled, over)
    stop = request.stop_at_failure if request.stop_at_failure is not None else bool(wanted and wanted.stop_at_failure)
    level = next((name for name in LEVEL_PARAMETERS if name in over), None)
    analysis = {"over": over, "level_parameter": level, "stop_at_failure": stop}
    return _setup("sweep", arms, base, settled, analysis, "ascending" if stop else "interleaved")


def _refuse_unread(names: Sequence[str], base: Base) -> None:
    """Raises InputErrors for variables that the script certainly never reads: all their values are one."""
    text = text_of(base.script)
    if text is None:
        return
    known = names_read(text)
    otherwise = f"It reads {listed(known, MOST_NAMED)}." if known else "It reads none."
    _raise(
        [
            InputError(
                f"--over {name}: {base.script} never reads __ENV.{name}, so that all its values are the same",
                nearest(name, known, f"Read it in the script, or leave it out. {otherwise}"),
            )
            for name in names
            if reading_of(name, text) == "never"
        ]
    )


def _levels_swept(settled: TrialChoices, over: Mapping[str, Sequence[str]]) -> dict[str, list[str]]:
    """Several levels of the load that are not swept by name are a parameter all the same."""
    levels = {name: getattr(settled, name) for name in LEVEL_PARAMETERS if name not in over}
    return {name: list(map(_text, values)) for name, values in levels.items() if len(values) > 1}


def decides(request: CompareRequest, wanted: CompareOptions | None) -> tuple[float, Sequence[str]]:
    """The margin and the statistics that decide: as asked, else as the study says. Raises InputErrors for what cannot
    be."""
    margin = request.margin if request.margin is not None else wanted.margin if wanted else MARGIN
    primary = request.primary if request.primary is not None else wanted.primary if wanted else PRIMARY
    check_compare(margin, primary)
    return margin, primary


def _settled(choices: TrialChoices, wanted: TrialOptions | None, repetitions: int) -> TrialChoices:
    """The choices with the study's in the place of those that were not made; a level replaces all of its levels. A time
    that was given goes before the study's repetitions."""
    if choices.for_s is not None and choices.repetitions is not None:
        what = "--for and a number of pairs, rounds or repeats are given together"
        raise InputError(what, "Leave one out: the time says how many there are.")
    for_s = choices.for_s if choices.for_s is not None or choices.repetitions is not None else None
    if for_s is None and wanted is not None and choices.repetitions is None:
        for_s = wanted.for_s
    choices = dataclasses.replace(choices, for_s=for_s)
    repetitions = choices.repetitions or repetitions
    if wanted is None:
        return dataclasses.replace(choices, repetitions=repetitions)
    own_levels = choices.users or choices.rate
    return dataclasses.replace(
        choices,
        users=choices.users if own_levels else tuple(wanted.users),
        rate=choices.rate if own_levels else tuple(wanted.rate),
        repetitions=repetitions,
        trial_s=choices.trial_s if choices.trial_s is not None else wanted.trial_s,
        warm_up_s=choices.warm_up_s if choices.warm_up_s is not None else wanted.warm_up_s,
    )


def _setup(
    experiment: str,
    arms: Sequence[Arm],
    base: Base,
    choices: TrialChoices,
    analysis: Mapping[str, Any],
    order: Order,
    closed: bool = False,
) -> TrialSetup:
    """Plan and configurations of these arms."""
    _check_choices(choices)
    plans = [_plan(arm, base, choices, closed) for arm in arms]
    first = plans[0]
    for arm, plan in zip(arms, plans, strict=True):
        if (plan.unit, plan.is_open) != (first.unit, first.is_open):
            raise InputError(
                f"{arm.label} declares another kind of load than {arms[0].label}: {_kind(plan)}, not {_kind(first)}",
                "Give both the same scenarios, so that the same load is compared.",
            )
    variants = tuple(
        TrialVariant(arm.name, arm.label, _facts(arm, plan, base)) for arm, plan in zip(arms, plans, strict=True)
    )
    config, levels = first.config, _levels(first, choices)
    trial_s = choices.trial_s if choices.trial_s is not None else TRIAL_S
    warm_up_s = choices.warm_up_s if choices.warm_up_s is not None else WARM_UP_S
    repetitions = choices.repetitions or 1
    if choices.for_s is not None:
        round_s = len(variants) * len(levels) * (trial_s + warm_up_s)
        primary, margin = analysis.get("primary"), analysis.get("margin")
        advised = pairs_that_decide(margin, len(primary) * len(levels)) if primary and margin else None
        repetitions = repetitions_within(choices.for_s, round_s, *REPEATED[experiment], advised)
    if len(variants) * len(levels) * repetitions > MOST_TRIALS:
        what = f"{len(variants):,} variants at {len(levels):,} levels, {repetitions:,} times each, are too many trials"
        raise InputError(what, f"At most {MOST_TRIALS:,} can be made; give fewer.")
    for level in levels:
        check_load(config.options["scenarios"], level.level, level.words)
    trial_plan = TrialPlan(
        experiment,
        variants,
        levels,
        repetitions,
        trial_s,
        warm_up_s,
        config.seed,
        first.unit,
        first.is_open,
        order,
        {"arrival_process": config.arrival_process, "threads": config.threads, "isolate": choices.isolate},
        analysis,
    )
    configs = {arm.name: _ending_soon(one.config) for arm, one in zip(arms, plans, strict=True)}
    study_data = base.study.model_dump(mode="json", exclude_none=True) if base.study is not None else None
    directory = base.study.directory if base.study is not None else Path()
    switch_to = {arm.name: arm.switch_to for arm in arms}
    return TrialSetup(trial_plan, configs, switch_to, base.target, directory, first.probes, study_data)


def _plan(arm: Arm, base: Base, choices: TrialChoices, closed: bool) -> Plan:
    """The load of one arm: as study or script declare it, or VUs of a function for `closed` experiments on scripts."""
    wanted = Choices(
        env={**choices.env, **arm.env},
        variant=arm.switch_to if base.study is not None else None,
        arrival_process=choices.arrival_process,
        seed=choices.seed,
        threads=choices.threads,
        isolate=choices.isolate,
    )
    if base.study is not None:
        workload = base.study.workload
        script = str(arm.script.absolute()) if arm.script is not None else workload.script
        study = base.study.model_copy(update={"workload": workload.model_copy(update={"script": script})})
        plan = plan_of(study, wanted)
        if arm.exec is None:
            return plan
        config = dataclasses.replace(plan.config, options=_work_of(arm.exec))
        if study.target.start is None:  # else the command may make files that the script opens
            inspect(config)
        return dataclasses.replace(plan, config=config, unit="vus", is_open=False)
    script_path = arm.script or base.script
    if not closed:
        return plan_of(script_path, wanted)
    config = EngineConfig(
        script=script_path,
        env=wanted.env,
        options=_work_of(arm.exec or "default"),
        threads=choices.threads,
        level=0.0,
        seed=choices.seed,
        cpus=engine_cpus(wanted),
    )
    inspect(config)
    from plimsoll.experiments.capacity.result import CapacitySettings

    settings = CapacitySettings(vus_per_level=1.0)
    target = Target(processes=local_listeners(wanted.env.values()))
    return Plan(config, "vus", False, target, Path(), Probes(), settings, None, (), None, None)


def _ending_soon(config: EngineConfig) -> EngineConfig:
    """What hangs is cut off: it was counted as unfinished, and the next trial shall begin on a calm target."""
    scenarios = {name: {"gracefulStop": GRACEFUL_STOP, **one} for name, one in config.options["scenarios"].items()}
    return dataclasses.replace(config, options={**config.options, "scenarios": scenarios})


def _work_of(function: str) -> dict[str, Any]:
    work = {"executor": "constant-vus", "exec": function, "vus": 1, "duration": "24h"}
    return {"scenarios": {"work": work}, **NO_THRESHOLDS}


def _facts(arm: Arm, plan: Plan, base: Base) -> dict[str, Any]:
    script = plan.config.script
    assert script is not None
    try:
        sha256 = hashlib.sha256(script.read_bytes()).hexdigest()
    except OSError as error:
        raise InputError(f"cannot read it: {error.strerror}", "Give the path of a script.", file=script) from None
    switch = base.target.variant(arm.switch_to) if arm.switch_to is not None else None
    return {
        "script": script.name,
        "sha256": sha256,
        "variables": dict(plan.config.env),
        "exec": arm.exec,
        "switch_to": arm.switch_to,
        "switch": switch.switch if switch is not None else None,
        "url": switch.url if switch is not None else None,
        "scenarios": plan.config.options.get("scenarios"),
    }


def _kind(plan: Plan) -> str:
    return "arrival rates" if plan.is_open else "VUs"


def _levels(plan: Plan, choices: TrialChoices) -> tuple[TrialLevel, ...]:
    """The levels that users or rates mean for this load."""
    if choices.users and choices.rate:
        raise InputError("users and rate are given together", "Give one of them.")
    if choices.rate:
        per_level = plan.settings.arrivals_per_level_s
        if not plan.is_open or not per_level:
            raise InputError("rate: this load has no arrival rate, its users wait for their answers", "Give users.")
        return tuple(TrialLevel(rate / per_level, f"{amount_words(rate, 'arrival', 6)}/s") for rate in choices.rate)
    if choices.users:
        if plan.unit == "multiple" and plan.is_open:
            raise InputError("users: this script declares arrival rates and no users", "Give rate, or write a study.")
        per_level = 1.0 if plan.unit != "multiple" else plan.settings.vus_per_level or 1.0
        word = "user" if plan.unit == "users" else "VU"
        return tuple(TrialLevel(n / per_level, f"{number(n, 6)} {word}{'' if n == 1 else 's'}") for n in choices.users)
    if plan.unit == "users":
        if plan.expected_users is None:
            raise InputError("nothing says at how many users", "Give --users, or expected_users in the study.")
        return (TrialLevel(plan.expected_users, f"{amount_words(plan.expected_users, 'user', 6)}"),)
    return (TrialLevel(1.0, "the declared load" if plan.unit == "multiple" else "1 VU"),)


def _check_choices(choices: TrialChoices) -> None:
    problems = []
    for name, value in (("trial", choices.trial_s), ("pairs or repeats", choices.repetitions)):
        if value is not None and not value >= 1:
            problems.append(InputError(f"{name} is {value:g}, and must be at least 1", "Give a larger number."))
    if choices.warm_up_s is not None and choices.warm_up_s < 0:
        problems.append(InputError("warm-up is below 0", "Give 0 or more seconds."))
    for name in LEVEL_PARAMETERS:
        values = getattr(choices, name)
        if any(not 0 < value <= MOST_USERS for value in values):
            problems.append(
                InputError(f"{name}: a level is not above 0 and at most {count_words(MOST_USERS)}", "Leave it out.")
            )
        if len(set(values)) < len(values):
            problems.append(InputError(f"{name}: a level is there twice", "Give each once."))
    _raise(problems)


def check_compare(margin: float, primary: Sequence[str]) -> None:
    """Raises InputErrors for a margin or statistics that cannot be."""
    problems = []
    if not 0 < margin < 1:
        problems.append(InputError(f"margin {margin:g} does not lie between 0 and 1", "Write 0.05 for 5%."))
    for name in primary:
        if name not in STATISTICS:
            step = nearest(name, list(STATISTICS), f"Use {', '.join(STATISTICS)}.")
            problems.append(InputError(f"there is no statistic {name!r}", step))
    if not primary:
        problems.append(InputError("no statistic decides", f"Give one of {', '.join(STATISTICS)}."))
    _raise(problems)


def _check_sweep(over: Mapping[str, Sequence[str]], choices: TrialChoices) -> None:
    problems = []
    if not over:
        problems.append(InputError("nothing is swept", "Give --over NAME=1,10,100."))
    for name, values in over.items():
        if len(values) < 2 or len(set(values)) < len(values):
            problems.append(InputError(f"--over {name}: it needs two different values or more", "Give each once."))
        if name in LEVEL_PARAMETERS:
            try:
                list(map(float, values))
            except ValueError:
                problems.append(InputError(f"--over {name}: a level is no number", "Write --over users=1,5,20."))
            if getattr(choices, name):
                problems.append(InputError(f"{name} is given twice", f"Leave --{name} out, or --over {name}."))
        elif not name.isidentifier():
            problems.append(InputError(f"--over {name}: that is no name of a variable", "Write --over NAME=1,10,100."))
    combinations = math.prod(len(values) for values in over.values())
    if combinations > MOST_COMBINATIONS:
        what = f"{combinations:,} combinations are swept"
        problems.append(
            InputError(what, f"At most {MOST_COMBINATIONS:,} can be; sweep fewer values, one after another.")
        )
    if all(name in over for name in LEVEL_PARAMETERS):
        problems.append(InputError("users and rate are both swept", "Sweep one of them."))
    _raise(problems)


def _raise(problems: Sequence[InputError]) -> None:
    from plimsoll.errors import InputErrors

    if problems:
        raise InputErrors(problems)


def _text(value: Any) -> str:
    return str(int(value)) if isinstance(value, float) and value.is_integer() else str(value)
