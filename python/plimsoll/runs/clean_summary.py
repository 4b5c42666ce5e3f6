"""k6's summary data without secrets: names of metrics, thresholds, groups and checks, and what setup() returned."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from plimsoll.study.secrets.redactor import Redactor


def clean_summary(data: Mapping[str, Any], redactor: Redactor) -> dict[str, Any]:
    """A copy of `data`, as handleSummary gets it, with its `parts` if it has them; numbers stay, whatever their metric
    is called."""
    found = dict(data)
    if data.get("metrics"):
        found["metrics"] = clean_metrics(data["metrics"], redactor)
    if data.get("root_group"):
        found["root_group"] = _group(data["root_group"], redactor)
    if data.get("parts"):
        places = {key: [_group(one, redactor) for one in data["parts"][key]] for key in ("groups", "scenarios")}
        found["parts"] = {**data["parts"], **places}
    if "setup_data" in data:
        found["setup_data"] = redactor.script_data(data["setup_data"])
    return found


def clean_metrics(metrics: Mapping[str, Any], redactor: Redactor) -> dict[str, Any]:
    """Metrics by names without secrets, and so their thresholds."""
    return {name: _metric(metric, redactor) for name, metric in redactor.names(metrics).items()}


def _metric(metric: Mapping[str, Any], redactor: Redactor) -> dict[str, Any]:
    if "thresholds" not in metric:
        return dict(metric)
    return {**metric, "thresholds": redactor.names(metric["thresholds"])}


def _group(group: Mapping[str, Any], redactor: Redactor) -> dict[str, Any]:
    found = _named(group, redactor)
    if "metrics" in group:
        found["metrics"] = clean_metrics(group["metrics"], redactor)
    found["groups"] = [_group(child, redactor) for child in group.get("groups", ())]
    found["checks"] = [_named(check, redactor) for check in group.get("checks", ())]
    return found


def _named(item: Mapping[str, Any], redactor: Redactor) -> dict[str, Any]:
    texts = {key: redactor.text(item[key]) for key in ("name", "path") if isinstance(item.get(key), str)}
    return {**item, **texts}
