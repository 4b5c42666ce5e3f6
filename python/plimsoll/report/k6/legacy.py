"""The summary of `--summary-mode legacy`: one list, as k6 had it before version 1."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from plimsoll.report.k6.values import MARKS, lacking, number, share_text, shown, undecided_lines

WIDTH = 34


def legacy_text(data: Mapping[str, Any]) -> str:
    """`data`: as of `summary_text`."""
    time_unit = data.get("options", {}).get("summaryTimeUnit", "")
    lines = [*_group_lines(data.get("root_group", {}), 5), ""]
    metrics = data.get("metrics", {})
    for name in sorted(metrics):
        metric = metrics[name]
        verdicts = [row["verdict"] for row in metric.get("thresholds", {}).values()]
        worst = next(
            (mark for key in ("failed", "undecided", "passed") if key in verdicts for mark in [MARKS[key]]), " "
        )
        base, _, tags = name.partition("{")
        label = f"  {{ {tags[:-1]} }}" if tags else base
        dots = "." * max(3, WIDTH - len(label))
        lines.append(f"   {worst} {label}{dots}: {_values(metric, time_unit)}")
    return "\n".join([*lines, *undecided_lines(metrics)])


def _group_lines(group: Mapping[str, Any], indent: int) -> Iterator[str]:
    space = " " * indent
    for check in group.get("checks", []):
        total = check["passes"] + check["fails"]
        if check["fails"] == 0:
            yield f"{space}✓ {check['name']}"
        else:
            share = 100 * check["passes"] // total
            yield f"{space}✗ {check['name']}"
            yield f"{space} ↳  {share}% — ✓ {check['passes']} / ✗ {check['fails']}"
    for child in group.get("groups", []):
        yield f"{space}█ {child['name']}"
        yield from _group_lines(child, indent + 2)


def _values(metric: Mapping[str, Any], time_unit: str) -> str:
    values, is_time = metric["values"], metric["contains"] == "time"
    match metric["type"]:
        case "counter":
            return f"{number(values['count'])}  {number(values['rate'])}/s"
        case "gauge":
            return f"{number(values['value'])}  min={number(values['min'])}  max={number(values['max'])}"
        case "rate":
            return f"{share_text(values['rate'])}  {values['passes']} out of {values['passes'] + values['fails']}"
        case _ if lacking(metric):
            return lacking(metric)
        case _:
            return " ".join(f"{name}={shown(value, name, is_time, time_unit)}" for name, value in values.items())
