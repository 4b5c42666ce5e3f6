"""The end-of-test summary on a terminal, in the order of k6 since version 1: thresholds, checks, metrics by what they
are of."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any, Literal

from plimsoll.report.k6.legacy import legacy_text
from plimsoll.report.k6.parts import part_lines
from plimsoll.report.k6.rows import check_lines, metric_lines
from plimsoll.report.k6.values import MARKS, share_text, shown, undecided_lines
from plimsoll.runs.readings.thresholds import STOPPED

Mode = Literal["compact", "full", "legacy"]
_STATISTIC = re.compile(r"\s*([a-z]+(?:\([\d.]+\))?)")


def summary_text(data: Mapping[str, Any], mode: Mode = "compact") -> str:
    """k6's summary of `data` as handleSummary gets it: metrics, root_group, and options that name the statistics of a
    trend and the unit of times ("" for the one that reads best). A full one has all parts of a request's time, and
    after the totals what each scenario and group did, from `parts` (runs/readings/summary_parts.py).

    Thresholds carry the verdicts that the exit code counts (runs/readings/thresholds.py): one that saw no sample is
    marked `?`, undecided, or `✗` where that fails the run.
    """
    if mode == "legacy":
        return legacy_text(data)
    time_unit = data.get("options", {}).get("summaryTimeUnit", "")
    metrics = data.get("metrics", {})
    lines = [*_thresholds(metrics, time_unit), "", "  █ TOTAL RESULTS", ""]
    seconds = data.get("state", {}).get("testRunDurationMs", 0.0) / 1000
    lines += check_lines(data.get("root_group", {}), seconds)
    lines += metric_lines(metrics, time_unit, is_full=mode == "full")
    if mode == "full":
        lines += part_lines(data.get("parts", {}), seconds, time_unit)
    return "\n".join([*lines, *undecided_lines(metrics)]).rstrip("\n")


def _thresholds(metrics: Mapping[str, Any], time_unit: str) -> Iterator[str]:
    """Each metric with its thresholds; those of its parts with tags are below it, where it has thresholds itself."""
    names = sorted(name for name in metrics if metrics[name].get("thresholds"))
    if names:
        yield from ("", "  █ THRESHOLDS")
    for name in sorted(names, key=_base_and_tags):
        base, tags = _base_and_tags(name)
        is_part = bool(tags) and base in names
        indent = " " * (6 if is_part else 4)
        yield from ("", f"{indent}{tags if is_part else name}")
        for source, row in metrics[name]["thresholds"].items():
            value = _observed(metrics[name], source, row, time_unit)
            yield f"{indent}{MARKS.get(row['verdict'], ' ')} '{source}' {value}".rstrip()


def _base_and_tags(name: str) -> tuple[str, str]:
    """ "checks" and "{kind:x}"; an empty text without tags."""
    base, brace, rest = name.partition("{")
    return base, brace + rest


def _observed(metric: Mapping[str, Any], source: str, row: Mapping[str, Any], time_unit: str) -> str:
    """ "p(95)=148.21ms", or why there is nothing that was compared."""
    value, statistic = row.get("observed"), _STATISTIC.match(source)
    if row.get("why") == STOPPED and value is not None and statistic is not None:
        return f"{_observed(metric, source, {'observed': value}, time_unit)} at the end; {STOPPED} before"
    if row.get("why") or value is None or statistic is None:
        return str(row.get("why", ""))
    if metric["type"] == "rate":
        return f"{statistic[1]}={share_text(value)}"
    is_time = metric["type"] == "trend" and metric.get("contains") == "time"
    return f"{statistic[1]}={shown(value, statistic[1], is_time, time_unit)}"
