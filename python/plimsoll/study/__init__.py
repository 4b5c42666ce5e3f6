"""The study file: models, validation with lines, workload arithmetic, JSON Schema, redaction."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from plimsoll.study.loading import load_study, parse_study
    from plimsoll.study.models import (
        ClosedWorkload,
        Group,
        Objective,
        OpenWorkload,
        Operation,
        Probes,
        ProcessSelector,
        Study,
        Target,
        ThinkTime,
        TimeLimits,
        Variant,
    )
    from plimsoll.study.objectives import Limit, parse_objective
    from plimsoll.study.schema import study_schema, study_schema_json
    from plimsoll.study.secrets.redactor import Redactor, redact
    from plimsoll.study.workload import (
        arrivals_per_s,
        scenarios_for,
        shares,
        total_arrivals_per_s,
        users_for_rate,
        users_per_group,
    )

__all__ = [
    "ClosedWorkload",
    "Group",
    "Limit",
    "Objective",
    "OpenWorkload",
    "Operation",
    "Probes",
    "ProcessSelector",
    "Redactor",
    "Study",
    "Target",
    "ThinkTime",
    "TimeLimits",
    "Variant",
    "arrivals_per_s",
    "load_study",
    "parse_objective",
    "parse_study",
    "redact",
    "scenarios_for",
    "shares",
    "study_schema",
    "study_schema_json",
    "total_arrivals_per_s",
    "users_for_rate",
    "users_per_group",
]

_MODULES = {
    "loading": ("load_study", "parse_study"),
    "objectives": ("Limit", "parse_objective"),
    "schema": ("study_schema", "study_schema_json"),
    "secrets.redactor": ("Redactor", "redact"),
    "workload": (
        "arrivals_per_s",
        "scenarios_for",
        "shares",
        "total_arrivals_per_s",
        "users_for_rate",
        "users_per_group",
    ),
}


def __getattr__(name: str) -> Any:
    """Imported at first use: the models (pydantic) cost as much as a small run, which needs the redactor only."""
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    module = next((module for module, names in _MODULES.items() if name in names), "models")
    return getattr(import_module(f"{__name__}.{module}"), name)
