"""The end-of-test summary on a terminal, laid out as k6's users know it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

WIDTH = 34
MARKS = {"passed": "✓", "failed": "✗", "undecided": "?"}
MOST_DIGITS = 1e21  # from which on JavaScript, and so k6, writes an exponent
UNITS_MS = {"s": 1000.0, "ms": 1.0, "us": 0.001}


def summary_text(data: Mapping[str, Any]) -> str:
    """k6's summary of `data` as handleSummary gets it: metrics, root_group, and options that name the statistics of a
    trend and the unit of times ("" for the one that reads best).

    A threshold that saw no sample, or that would be met in a run of which no request was answered, is marked `?`:
    undecided, neither passed nor failed.
    """
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
        lines.append(f"   {worst} {label}{dots}: {_values(metric, time_unit, 'undecided' in verdicts)}")
    return "\n".join([*lines, *_undecided_lines(metrics)])


def _undecided_lines(metrics: Mapping[str, Any]) -> Iterator[str]:
    rows = [(name, row) for name in metrics for row in metrics[name].get("thresholds", {}).values()]
    undecided = [(name, row.get("observed") is not None) for name, row in rows if row["verdict"] == "undecided"]
    for has_value, why in ((False, "no sample was seen"), (True, "no request was answered")):
        names = [name for name, one in undecided if one is has_value]
        if names:
            yield from ("", f"     ? undecided, because {why}: {', '.join(names)}")


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


def _values(metric: Mapping[str, Any], time_unit: str, without_sample: bool) -> str:
    values, is_time = metric["values"], metric["contains"] == "time"
    match metric["type"]:
        case "counter":
            return f"{_number(values['count'])}  {_number(values['rate'])}/s"
        case "gauge":
            return f"{_number(values['value'])}  min={_number(values['min'])}  max={_number(values['max'])}"
        case "rate":
            return f"{100 * values['rate']:.2f}%  {values['passes']} out of {values['passes'] + values['fails']}"
        case _ if without_sample:
            return "no samples"
        case _:
            return " ".join(f"{name}={_shown(value, name, is_time, time_unit)}" for name, value in values.items())


def _shown(value: float, statistic: str, is_time: bool, time_unit: str) -> str:
    return duration_text(value, time_unit) if is_time and statistic != "count" else _number(value)


def duration_text(value_ms: float, unit: str = "") -> str:
    """Milliseconds in a unit of UNITS_MS or, without one, in the unit that reads best: µs, ms, s or m."""
    if unit:
        return f"{value_ms / UNITS_MS[unit]:.6g}{'µs' if unit == 'us' else unit}"
    if value_ms == 0:
        return "0s"
    if abs(value_ms) < 1:
        return f"{value_ms * 1000:.4g}µs"
    if abs(value_ms) < 1000:
        return f"{value_ms:.5g}ms"
    if abs(value_ms) < 60_000:
        return f"{value_ms / 1000:.4g}s"
    if abs(value_ms) >= MOST_DIGITS:
        return f"{value_ms / 60_000:.6g}m"
    minutes, rest_ms = divmod(value_ms, 60_000)
    return f"{minutes:.0f}m{rest_ms / 1000:.0f}s"


def _number(value: float) -> str:
    return f"{value:.0f}" if float(value).is_integer() and abs(value) < MOST_DIGITS else f"{value:.6g}"
