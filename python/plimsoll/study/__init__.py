"""The study file: models, validation with lines, workload arithmetic, JSON Schema, redaction."""

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
    TimeLimits,
    Variant,
)
from plimsoll.study.objectives import Limit, parse_objective
from plimsoll.study.schema import study_schema, study_schema_json
from plimsoll.study.secrets import Redactor, redact
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
