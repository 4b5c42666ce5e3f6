"""The rows of k6's summary: checks, and metrics by what they are of, with columns that line up."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from typing import Any, NamedTuple

from plimsoll.report.k6.values import MARKS, bytes_text, lacking, number, share_text, shown

LEAST_DOTS = 3
NETWORK = "NETWORK"
# The first that fits; arrival_lag and the response times, which count from the planned moment, are ours.
SECTIONS = {
    "HTTP": re.compile(r"http_reqs|http_req_\w+"),
    "EXECUTION": re.compile(
        "dropped_iterations|group_duration|iteration_duration|iteration_response_time|iterations|vus|vus_max|arrival_lag"
    ),
    NETWORK: re.compile("data_received|data_sent"),
    "WEBSOCKET": re.compile("ws_(connecting|msgs_received|msgs_sent|ping|session_duration|sessions)"),
}
ORDER = ("CUSTOM", *SECTIONS)
GROUP_DURATION = "group_duration"
# Left out unless a threshold is on them: of a full summary these, of a compact one the parts of a request's time too.
_NEVER_SHOWN = re.compile(GROUP_DURATION)
_PARTS = re.compile(rf"http_req_(blocked|connecting|tls_handshaking|sending|waiting|receiving)|{GROUP_DURATION}")


class Row(NamedTuple):
    """A line: a name, dots, cells."""

    name: str
    cells: Sequence[str]
    is_trend: bool = False


def metric_lines(
    metrics: Mapping[str, Any], time_unit: str, *, is_full: bool = False, without: str = ""
) -> Iterator[str]:
    """The sections with their metrics, each followed by an empty line; `without`: a section that is left out."""
    sections = _sections(metrics, time_unit, is_full)
    sections.pop(without, None)
    lines = iter(_aligned([row for rows in sections.values() for row in rows]))
    for title, rows in sections.items():
        if rows:
            yield from (f"    {title}", *islice(lines, len(rows)), "")


def check_lines(root: Mapping[str, Any], seconds: float) -> Iterator[str]:
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
            Row("checks_total", [number(total), *([f"{number(total / seconds)}/s"] if seconds else [])]),
            Row("checks_succeeded", [share_text(passed / total if total else 0.0), f"{passed} out of {total}"]),
            Row("checks_failed", [share_text(failed / total if total else 0.0), f"{failed} out of {total}"]),
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


def _sections(metrics: Mapping[str, Any], time_unit: str, is_full: bool) -> dict[str, list[Row]]:
    """Title to rows: each metric, followed by its parts with tags."""
    by_base: dict[str, list[str]] = {}
    for name in sorted(metrics):
        by_base.setdefault(name.partition("{")[0], []).append(name)
    left_out = _NEVER_SHOWN if is_full else _PARTS
    found: dict[str, list[Row]] = {title: [] for title in ORDER}
    for base, names in by_base.items():
        has_threshold = any(metrics[name].get("thresholds") for name in names)
        if base == "checks" or (left_out.fullmatch(base) and not has_threshold):
            continue
        title = next((title for title, known in SECTIONS.items() if known.fullmatch(base)), "CUSTOM")
        for name in names:
            is_part = name != base and base in metrics
            label = f"  {{ {name.partition('{')[2][:-1]} }}" if is_part else name
            found[title].append(Row(label, _values(metrics[name], time_unit), metrics[name]["type"] == "trend"))
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


def _aligned(rows: Sequence[Row]) -> Iterator[str]:
    """Names with dots, and columns as wide as their widest cell; those of trends are apart."""
    width = max((len(row.name) for row in rows), default=0) + LEAST_DOTS
    widths: dict[tuple[bool, int], int] = {}
    for row in rows:
        for place, cell in enumerate(row.cells):
            widths[row.is_trend, place] = max(widths.get((row.is_trend, place), 0), len(cell))
    for row in rows:
        text = " ".join(f"{cell:<{widths[row.is_trend, place]}}" for place, cell in enumerate(row.cells))
        yield f"    {row.name}{'.' * (width - len(row.name))}: {text}".rstrip()
