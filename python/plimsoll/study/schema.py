"""The JSON Schema of the study file, for editors and for other tools."""

from __future__ import annotations

import json
from typing import Any

from plimsoll.study.models import Study

DIALECT = "https://json-schema.org/draft/2020-12/schema"


def study_schema() -> dict[str, Any]:
    """The schema as plain data (draft 2020-12)."""
    schema = Study.model_json_schema(mode="validation")
    entry = schema["properties"]["experiments"]["items"]
    names = list(schema["$defs"]["Experiment"]["properties"])
    schema["properties"]["experiments"]["items"] = {"anyOf": [entry, {"enum": names}]}
    schema["$defs"]["Experiment"].update(minProperties=1, maxProperties=1)
    variable = {"type": ["string", "number", "boolean"]}
    for model, field in (("Target", "environment"), ("OpenWorkload", "env"), ("ClosedWorkload", "env")):
        schema["$defs"][model]["properties"][field]["additionalProperties"] = variable
    return {
        "$schema": DIALECT,
        "title": "Plimsoll study",
        **{key: value for key, value in schema.items() if key != "title"},
    }


def study_schema_json() -> str:
    """The schema as text, stable from run to run."""
    return json.dumps(study_schema(), indent=2, ensure_ascii=False) + "\n"
