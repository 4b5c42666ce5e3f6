"""The file of `--summary-export`, in the form that k6 gives it and that scripts of CI systems read."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from typing import Any


def summary_export(data: Mapping[str, Any]) -> dict[str, Any]:
    """k6's export of `data`, which is what handleSummary gets: values beside their metric, groups and checks by name.

    A threshold is `true` where it failed, as in k6; an undecided one did not.
    """
    return {
        "metrics": {name: _metric(metric) for name, metric in data.get("metrics", {}).items()},
        "setup_data": data.get("setup_data"),
        "root_group": _group(data.get("root_group", {"name": "", "path": ""})),
    }


def _metric(metric: Mapping[str, Any]) -> dict[str, Any]:
    values = dict(metric["values"])
    if metric["type"] == "rate":
        values["value"] = values.pop("rate")
    failed = {source: row["verdict"] == "failed" for source, row in metric.get("thresholds", {}).items()}
    return {**values, "thresholds": failed} if failed else values


def _group(group: Mapping[str, Any]) -> dict[str, Any]:
    return {
        **_named(group),
        "groups": {child["name"]: _group(child) for child in group.get("groups", ())},
        "checks": {
            check["name"]: {**_named(check), "passes": check["passes"], "fails": check["fails"]}
            for check in group.get("checks", ())
        },
    }


def _named(item: Mapping[str, Any]) -> dict[str, str]:
    identity = hashlib.md5(item["path"].encode(), usedforsecurity=False).hexdigest()
    return {"name": item["name"], "path": item["path"], "id": identity}
