"""Every option of an experiment is there on the command line, in a study and from Python, or its absence has a reason.

The reasons below are those of docs/study.md, "What a study has elsewhere".
"""

from __future__ import annotations

import importlib
import inspect
from collections.abc import Callable
from dataclasses import fields
from pathlib import Path
from typing import Any, get_args, get_type_hints

import pytest

import plimsoll
from plimsoll.plans.load import Choices
from plimsoll.plans.requests import CompareRequest, DecomposeRequest, SweepRequest, TrialChoices
from plimsoll.study.experiments import Experiment, Options

EXPERIMENTS = tuple(Experiment.model_fields)
LOADS, TRIALS = ("capacity", "hold", "grow", "drain"), ("compare", "decompose", "sweep")
PAGE = Path(__file__).parents[3] / "docs" / "study.md"

# Parameters of a command or verb whose key in the study has another name, mostly for its unit.
KEYS = {
    "step": "step_s",
    "duration": "duration_s",
    "warm_up": "warm_up_s",
    "baseline": "baseline_s",
    "drain_limit": "drain_s",
    "skip": "skip_s",
    "memory_limit": "memory_limit_mb",
    "index_budget": "index_budget_mb",
    "memory_budget": "memory_budget_mb",
    "function": "exec",
    "budget": "budgets",
    "load_time": "for_",
    "for_s": "for_",
}
KEYS_OF = {
    "compare": {"repetitions": "pairs"},
    "decompose": {"repetitions": "rounds", "variant": "variants"},
    "sweep": {"repetitions": "repeats"},
}

# What no entry has, and why.
OF_THE_COMMAND = {
    "source": "the study itself",
    "runs": "where the answer goes: --runs of plimsoll study",
    "as_json": "how it is printed: --json of plimsoll study",
    "details": "how it is printed: --details of plimsoll study",
    "quiet": "how it is printed: --quiet of plimsoll study",
    "ui": "where it is shown: --ui of plimsoll study",
    "resume": "--resume of plimsoll study goes on with what is left",
    "threads": "the generator's machine: --threads of plimsoll study",
    "isolate": "the generator's machine: --isolate of plimsoll study",
    "awake": "the generator's machine: --no-awake of plimsoll study",
    "env": "workload.env, and -e of plimsoll study; compare and sweep vary variables themselves",
    "seed": "the study's seed, else --seed of plimsoll study",
    "arrival_process": "workload.arrivals: it is a fact of the workload",
    "probe": "the study's probes",
}
OF_SCRIPTS = {
    "capacity": {"users_at_1x": "the levels of a study are users"},
    "compare": {
        "other": "a script is a form: b: other.js",
        "switch_a": "target.variants",
        "switch_b": "target.variants",
        "reset": "target.reset",
    },
    "decompose": {"sources": "a script is a form: variants: {whole: a.js, orm: b.js}"},
}
OF_PYTHON = {
    "probes": "the study's probes",
    "cpus": "which processors: --isolate chooses them",
    "kept_apart": "words for the report of a caller who did it himself",
    "background": "how the calling thread behaves",
    "choices": "the object that has the others",
    "listeners": "who is told",
    "options": "the keys of the entry by name",
    "request": "the object that has the others",
}
OF_STUDIES = {"of": "which operations of the study's workload take part: Study.only"}


def parameters_of(command: Callable[..., Any]) -> dict[str, inspect.Parameter]:
    return dict(inspect.signature(command).parameters)


def command_of(experiment: str) -> Callable[..., Any]:
    return getattr(importlib.import_module(f"plimsoll.cli.{experiment}"), experiment)


def model_of(experiment: str) -> type[Options]:
    return next(one for one in get_args(Experiment.model_fields[experiment].annotation) if one is not type(None))


def key_of(experiment: str, name: str) -> str:
    return KEYS_OF.get(experiment, {}).get(name) or KEYS.get(name, name)


def python_names(experiment: str) -> set[str]:
    """What a caller from Python may give."""
    names = set(parameters_of(getattr(plimsoll, experiment)))
    if experiment in TRIALS:
        request = {"compare": CompareRequest, "decompose": DecomposeRequest, "sweep": SweepRequest}[experiment]
        return names | {one.name for one in (*fields(request), *fields(TrialChoices))}
    assert "options" in names, "the keys of its entry by name"
    of_scripts = {"users_at_1x"} if experiment != "capacity" else set()
    return names | {one.name for one in fields(Choices)} - of_scripts | set(model_of(experiment).model_fields)


@pytest.mark.parametrize("experiment", EXPERIMENTS)
def test_the_command_and_the_entry_of_a_study_have_the_same_options(experiment: str) -> None:
    elsewhere = OF_THE_COMMAND | OF_SCRIPTS.get(experiment, {})
    flags = {key_of(experiment, name) for name in parameters_of(command_of(experiment)) if name not in elsewhere}
    assert flags == set(model_of(experiment).model_fields)


@pytest.mark.parametrize("experiment", EXPERIMENTS)
def test_a_caller_from_python_can_give_every_key_of_the_entry_and_no_other(experiment: str) -> None:
    elsewhere = OF_THE_COMMAND | OF_SCRIPTS.get(experiment, {}) | OF_PYTHON
    given = {key_of(experiment, name) for name in python_names(experiment) if name not in elsewhere}
    assert given - set(OF_STUDIES) == set(model_of(experiment).model_fields) - set(OF_STUDIES)


def test_every_exception_is_in_use() -> None:
    flags = {name for experiment in EXPERIMENTS for name in parameters_of(command_of(experiment))}
    names = {name for experiment in EXPERIMENTS for name in python_names(experiment)}
    assert set(OF_THE_COMMAND) <= flags and set(OF_PYTHON) <= names
    assert all(set(own) <= set(parameters_of(command_of(experiment))) for experiment, own in OF_SCRIPTS.items())
    assert set(KEYS) <= flags | names
    assert all(set(OF_STUDIES) <= set(model_of(experiment).model_fields) for experiment in EXPERIMENTS)


@pytest.mark.parametrize("experiment", EXPERIMENTS)
def test_a_flag_that_is_not_given_leaves_the_word_to_the_study(experiment: str) -> None:
    keys = set(model_of(experiment).model_fields)
    spoken = {
        name: parameter.default
        for name, parameter in parameters_of(command_of(experiment)).items()
        if name not in OF_THE_COMMAND and key_of(experiment, name) in keys and parameter.default is not None
    }
    assert spoken == {}


@pytest.mark.parametrize("experiment", EXPERIMENTS)
def test_a_flag_and_its_key_have_the_same_bounds(experiment: str) -> None:
    model, command = model_of(experiment), command_of(experiment)
    for name, hint in get_type_hints(command, include_extras=True).items():
        key = key_of(experiment, name)
        option = next((one for one in getattr(hint, "__metadata__", ()) if hasattr(one, "min")), None)
        if name in OF_THE_COMMAND or option is None or key not in model.model_fields:
            continue
        bounds = {part: getattr(one, part) for one in model.model_fields[key].metadata for part in ("ge", "le")
                  if getattr(one, part, None) is not None}  # fmt: skip
        for limit, part in ((option.min, "ge"), (option.max, "le")):
            if limit is not None:
                assert bounds.get(part) == limit, (name, part)


def test_the_page_names_every_flag_that_has_no_key_and_what_stands_for_it() -> None:
    text = PAGE.read_text(encoding="utf-8")
    section = text[text.index("## What a study has elsewhere") :]
    flags = {"--users-at-1x", "--switch-a", "--switch-b", "--reset", "--runs", "--json", "--details", "--quiet",
             "--resume", "--threads", "--isolate", "--no-awake", "-e", "--seed", "--arrival-process",
             "--probe"}  # fmt: skip
    assert [flag for flag in sorted(flags) if f"`{flag}`" not in section] == []
