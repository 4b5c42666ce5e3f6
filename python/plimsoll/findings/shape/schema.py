"""The JSON Schema of findings, for tools that read findings.json and what `--json` prints."""

from __future__ import annotations

import json
from typing import Any

from pydantic import TypeAdapter

from plimsoll.findings.shape.finding import Finding
from plimsoll.study.schema import DIALECT


def findings_schema() -> dict[str, Any]:
    """Of the list of findings of a run (draft 2020-12). Numbers carry their `unit`."""
    entry = TypeAdapter(Finding).json_schema(mode="serialization", ref_template="#/$defs/{model}")
    definitions = entry.pop("$defs")
    for one in [entry, *definitions.values()]:
        for named in [one, *one.get("properties", {}).values()]:
            named.pop("title", None)  # the name of the field again
        if one.get("type") == "object":
            one["additionalProperties"] = False
    entry["properties"]["evidence"]["minItems"] = 1
    return {
        "$schema": DIALECT,
        "title": "Plimsoll findings",
        "type": "array",
        "items": {"$ref": "#/$defs/Finding"},
        "$defs": {"Finding": entry, **definitions},
    }


def findings_schema_json() -> str:
    """The schema as text, stable from run to run."""
    return json.dumps(findings_schema(), indent=2, ensure_ascii=False) + "\n"
