"""The end-of-test summary on a terminal, in the order of k6 since version 1: thresholds, checks, metrics by what they
are of."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from typing import Any, Literal, NamedTuple

from plimsoll.report.k6.legacy import legacy_text
from plimsoll.report.k6.values import MARKS, bytes_text, lacking, number, share_text, shown, undecided_lines
from plimsoll.runs.readings.thresholds import STOPPED

Mode = Literal["compact", "legacy"]
LEAST_DOTS = 3
# The first that fits; arrival_lag and the response times, which count from the planned moment, are ours.
SECTIONS = {
    "HTTP": re.compile(r"http_reqs|http_req_\w+"),
    "EXECUTION": re.compile(
        "dropped_iterations|group_duration|iteration_duration|iteration_response_time|iterations|vus|vus_max|arrival_lag"
    ),
    "NETWORK": re.compile("data_received|data_sent"),
    "WEBSOCKET": re.compile("ws_(connecting|msgs_received|msgs_sent|ping|session_duration|sessions)"),
}
ORDER = ("CUSTOM", *SECTIONS)
# Parts of a request's time, and of groups: compact summaries leave them out unless a threshold is on them.
_PARTS = re.compile(r"http_req_(blocked|connecting|tls_handshaking|sending|waiting|receiving)|group_duration")
_STATISTIC = re.compile(r"\s*([a-z]+(?:\([\d.]+\))?)")


class _Row(NamedTuple):
    name: str
    cells: Sequence[str]
    is_trend: bool = False


def summary_text(data: Mapping[str, Any], mode: Mode = "compact") -> str:
    """k6's summary of `data` as handleSummary gets it: metrics, root_group, and options that name the statistics of a
    trend and the unit of times ("" for the one that reads best).

    Thresholds carry the verdicts that the exit code counts (runs/readings/thresholds.py): one that saw no sample is
    marked `?`, undecided, or `✗` where that fails the run.
    """
    if mode == "legacy":
        return legacy_text(data)
    time_unit = data.get("options", {}).get("summaryTimeUnit", "")
    metrics = data.get("metrics", {})
    lines = [*_thresholds(metrics, time_unit), "", "  █ TOTAL RESULTS", ""]
    lines += _checks(data.get("root_group", {}), data.get("state", {}).get("testRunDurationMs", 0.0) / 1000)
    sections = _sections(metrics, time_unit)
    told = iter(_aligned([row for rows in sections.values() for row in rows]))
    for title, rows in sections.items():
        if rows:
            lines += [f"    {title}", *islice(told, len(rows)), ""]
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


def _checks(root: Mapping[str, Any], seconds: float) -> Iterator[str]:
    """How many in all, then each by name, those of all groups together, in the order in which the script made them."""
    named: dict[str, list[int]] = {}
    for check in sorted(_checks_of(root), key=lambda check: check.get("order", 0)):
        counts = named.setdefault(check["name"], [0, 0])
        counts[0] += check["passes"]
        counts[1] += check["fails"]
    if not named:
        return
    passed, failed = (sum(counts[place] for counts in named.values()) for place in (0, 1))
    total = passed + failed
    yield from _aligned(
        [
            _Row("checks_total", [number(total), *([f"{number(total / seconds)}/s"] if seconds else [])]),
            _Row("checks_succeeded", [share_text(passed / total if total else 0.0), f"{passed} out of {total}"]),
            _Row("checks_failed", [share_text(failed / total if total else 0.0), f"{failed} out of {total}"]),
        ]
    )
    yield ""
    for name, (passes, fails) in named.items():
        yield f"    {MARKS['failed' if fails else 'passed']} {name}"
        if fails:
            yield f"      ↳  {100 * passes // (passes + fails)}% — ✓ {passes} / ✗ {fails}"
    yield ""


def _checks_of(group: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    yield from group.get("checks", [])
    for child in group.get("groups", []):
        yield from _checks_of(child)


def _sections(metrics: Mapping[str, Any], time_unit: str) -> dict[str, list[_Row]]:
    """Title to rows: each metric, followed by its parts with tags."""
    by_base: dict[str, list[str]] = {}
    for name in sorted(metrics):
        by_base.setdefault(name.partition("{")[0], []).append(name)
    found: dict[str, list[_Row]] = {title: [] for title in ORDER}
    for base, names in by_base.items():
        has_threshold = any(metrics[name].get("thresholds") for name in names)
        if base == "checks" or (_PARTS.fullmatch(base) and not has_threshold):
            continue
        title = next((title for title, known in SECTIONS.items() if known.fullmatch(base)), "CUSTOM")
        for name in names:
            is_part = name != base and base in metrics
            label = f"  {{ {name.partition('{')[2][:-1]} }}" if is_part else name
            found[title].append(_Row(label, _values(metrics[name], time_unit), metrics[name]["type"] == "trend"))
    return found


def _values(metric: Mapping[str, Any], time_unit: str) -> list[str]:
    values = metric["values"]
    text = bytes_text if metric.get("contains") == "data" else number
    match metric["type"]:
        case "counter":
            return [text(values["count"]), f"{text(values['rate'])}/s"]
        case "gauge":
            return [text(values["value"]), f"min={text(values['min'])}", f"max={text(values['max'])}"]
        case "rate":
            return [share_text(values["rate"]), f"{values['passes']} out of {values['passes'] + values['fails']}"]
        case _ if lacking(metric):
            return [lacking(metric)]
        case _:
            is_time = metric["contains"] == "time"
            return [f"{name}={shown(value, name, is_time, time_unit)}" for name, value in values.items()]


def _aligned(rows: Sequence[_Row]) -> Iterator[str]:
    """Names with dots, and columns as wide as their widest cell; those of trends are apart."""
    width = max((len(row.name) for row in rows), default=0) + LEAST_DOTS
    widths: dict[tuple[bool, int], int] = {}
    for row in rows:
        for place, cell in enumerate(row.cells):
            widths[row.is_trend, place] = max(widths.get((row.is_trend, place), 0), len(cell))
    for row in rows:
        text = " ".join(f"{cell:<{widths[row.is_trend, place]}}" for place, cell in enumerate(row.cells))
        yield f"    {row.name}{'.' * (width - len(row.name))}: {text}".rstrip()
