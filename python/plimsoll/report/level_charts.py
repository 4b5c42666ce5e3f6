"""The three curves over the load level: throughput, response time, utilisation, with bracket and expectation marked.

Each function returns a Vega-Lite specification as a dict, or None where there is nothing to draw. Colours are named
styles of theme.py, so that one specification serves the light page, the dark page and print.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import median
from typing import Any, Literal

from plimsoll.findings.imported.shown import bracket_words
from plimsoll.report.legends import mark_legend, text_px
from plimsoll.report.levels import levels_per_user
from plimsoll.report.steps import Step, first_number
from plimsoll.report.vega_lite import Part, chart_of, layer, layered, lines_by_series, nominal, quantitative
from plimsoll.report.wording import is_number, number, section, verdict
from plimsoll.report.wording import level as level_of

HEIGHT_PX = 260
LOG_FROM_RATIO = 20
CROSS = "M-1,-0.6L-0.6,-1L0,-0.4L0.6,-1L1,-0.6L0.4,0L1,0.6L0.6,1L0,0.4L-0.6,1L-1,0.6L-0.4,0Z"
SHAPES = {
    "good": "circle",
    "bad": CROSS,
    "undecided": "diamond",
    "probe": "triangle-up",
    "behind": "triangle-down",
    "expected": "square",
    "unknown": "square",
    "rises": "circle",
    "flat": "triangle-right",
    "failing": CROSS,
    "mixed": "diamond",
}
LABEL_LINE_PX = 15
LEFT_OF_PLOT_PX = 30  # at least so much the axis takes, above which a label may begin
GOOD = "good answers"
JUDGED_AS = "Step judged as"
MOST_STATED = 3


@dataclass(frozen=True)
class Marks:
    """Levels to mark on the curves; each may be None. `ends`: what good and bad are called, not marked where empty."""

    good: float | None = None
    bad: float | None = None
    expected: float | None = None
    knee: float | None = None
    ends: tuple[str, str] = ("carried up to", "not carried from")


def marks_of(finding: Mapping[str, Any], manifest: Mapping[str, Any], steps: Sequence[Step]) -> Marks:
    """Bracket, knee and expected load from a capacity finding; what it lacks from the study and the steps' verdicts."""
    capacity, headroom, study = section(finding, "capacity"), section(finding, "headroom"), section(manifest, "study")
    users, per_user = (
        first_number(headroom.get("expected_users"), study.get("expected_users")),
        levels_per_user(finding),
    )
    expected = users * per_user if users is not None and per_user else None
    if capacity:
        good, bad = first_number(capacity.get("good")), first_number(capacity.get("bad"))
    else:
        bad = min((step.level for step in steps if step.verdict == "bad"), default=None)
        levels = [step.level for step in steps if step.verdict == "good" and (bad is None or step.level < bad)]
        good = max(levels, default=None)
    ends = bracket_words(finding)
    if not all(ends):
        good = bad = None
    return Marks(good, bad, expected, first_number(capacity.get("knee")), ends)


def throughput_chart(steps: Sequence[Step], marks: Marks, unit: str) -> dict[str, Any] | None:
    """Iterations done per second over the level, beside what was planned; of another tool's results good answers."""
    if steps and all(step.is_imported for step in steps):
        good = [(step, GOOD, step.done_per_s) for step in steps]
        return _curves(good, [GOOD], marks, unit, "Good answers per second", "series", 0)
    done = [(step, "done", step.done_per_s) for step in steps]
    planned = [(step, "planned", step.planned_per_s) for step in steps]
    return _curves([*planned, *done], ["planned", "done"], marks, unit, "Iterations per second", "series", 0)


def response_chart(steps: Sequence[Step], marks: Marks, unit: str) -> dict[str, Any] | None:
    """Response time p50 and p90 in ms over the level, of a table without these what it states; logarithmic where it
    spans more than LOG_FROM_RATIO."""
    points = [(step, "p50 (median)", step.p50_ms) for step in steps]
    points += [(step, "p90", step.p90_ms) for step in steps]
    names = ["p50 (median)", "p90"]
    if not any(is_number(value) for _, _, value in points):
        names = list(dict.fromkeys(name for step in steps for name in step.stated_ms if name != "max"))[:MOST_STATED]
        points = [(step, name, step.stated_ms.get(name)) for name in names for step in steps]
    values = [value for _, _, value in points if is_number(value) and value > 0]
    logarithmic = bool(values) and max(values) > LOG_FROM_RATIO * min(values)
    title = "Response time, ms (logarithmic)" if logarithmic else "Response time, ms"
    return _curves(points, names, marks, unit, title, "percentile", None if logarithmic else 0)


def utilisation_chart(steps: Sequence[Step], marks: Marks, unit: str) -> dict[str, Any] | None:
    """CPU utilisation in % of every source over the level."""
    names = sorted({name for step in steps for name in step.cpu}, key=lambda name: (name == "generator", name))
    points = [(step, name, 100 * step.cpu[name]) for name in names for step in steps if name in step.cpu]
    return _curves(points, names, marks, unit, "CPU utilisation, %", "source", 0, least_top=100)


def _curves(
    points: Sequence[tuple[Step, str, float | None]],
    names: Sequence[str],
    marks: Marks,
    unit: str,
    title: str,
    legend: str,
    bottom: float | None,
    least_top: float = 0,
) -> dict[str, Any] | None:
    """Points of every step and a line through their medians; `bottom` None means a logarithmic axis."""
    rows = [_row(step, name, value) for step, name, value in points if is_number(value)]
    rows = [row for row in rows if bottom is not None or row["value"] > 0]
    if not rows:
        return None
    domain = decades(rows) if bottom is None else [bottom, 1.08 * max(least_top, *(row["value"] for row in rows))]
    ticks = {"values": domain[2]} if bottom is None else {}
    scale = {"type": "log" if bottom is None else "linear", "domain": domain[:2], "nice": False}
    right = _right_edge(rows, marks)
    axes = {
        "x": quantitative("level", title=f"Load level, {unit}", scale={"domain": [0, right], "nice": False}),
        "y": quantitative("value", title=title, scale=scale, axis=ticks),
    }
    series = lines_by_series(names)
    verdicts = [name for name in SHAPES if any(row["key"] == name for row in rows)]
    words = [verdict(name) for name in verdicts]
    judged = {**mark_legend(words, most_columns=5, title=JUDGED_AS), "titleOrient": "left"}
    shapes = {"domain": words, "range": [SHAPES[name] for name in verdicts]}
    shape = nominal("verdict", title=JUDGED_AS, scale=shapes, legend=judged)
    shown = {**axes, "color": series["color"], "shape": shape, "tooltip": _tooltip(unit, title, legend)}
    lines = layer("line", {**axes, **series}, _medians(rows), strokeWidth=2)
    dots = layer("point", shown, rows, size=65, filled=True, opacity=0.9)
    return chart_of(layered([*_mark_layers(marks, unit, right), lines, dots]), HEIGHT_PX)


def decades(rows: Sequence[Mapping[str, Any]]) -> list[Any]:
    """A logarithmic axis for the rows' values (above 0): lower and upper end, and ticks at 1, 2, 5 of a decade."""
    values = [row["value"] for row in rows]
    first, last = math.floor(math.log10(min(values))), math.ceil(math.log10(max(values)))
    ticks = [step * 10.0**power for power in range(first, last + 1) for step in (1, 2, 5)]
    low = max(tick for tick in ticks if tick <= min(values))
    high = min((tick for tick in ticks if tick >= max(values)), default=ticks[-1])
    return [low, high, [tick for tick in ticks if low <= tick <= high]]


def _row(step: Step, name: str, value: float | None) -> dict[str, Any]:
    key = step.verdict if step.verdict in SHAPES else "unknown"
    words = {"level": step.level, "series": name, "value": value, "key": key, "verdict": verdict(key)}
    return {**words, "when": f"{number(step.start_s, 6)} to {number(step.end_s, 6)} s"}


def _medians(rows: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """The line that guides the eye: median over the steps at the same level, for display only."""
    groups: dict[tuple[str, float], list[float]] = defaultdict(list)
    for row in rows:
        groups[row["series"], row["level"]].append(row["value"])
    return [{"series": s, "level": level, "value": median(v)} for (s, level), v in sorted(groups.items())]


def _right_edge(rows: Sequence[Mapping[str, Any]], marks: Marks) -> float:
    """A little beyond the highest level; an expectation far beyond what was tried does not squeeze the curves."""
    top = max(max(row["level"] for row in rows), marks.bad or 0)
    if marks.expected is not None and marks.expected <= 2 * top:
        top = max(top, marks.expected)
    return 1.05 * top or 1.0


def _tooltip(unit: str, title: str, legend: str) -> list[Part]:
    return [
        quantitative("level", title=f"load level, {unit}", format=",.4~g"),
        nominal("series", title=legend),
        quantitative("value", title=title, format=",.3~f"),
        nominal("verdict", title="step"),
        nominal("when", title="seconds"),
    ]


def _mark_layers(marks: Marks, unit: str, right: float) -> list[Part]:
    """The band between good and bad, and a line for every mark, labelled above the plot on a line of its own."""
    layers = []
    if marks.good is not None and marks.bad is not None:
        ends = [{"good": marks.good, "bad": marks.bad}]
        layers.append(layer("rect", {"x": quantitative("good"), "x2": {"field": "bad"}}, ends, style="band"))
    named = [
        ("bad", marks.bad, marks.ends[1]),
        ("good", marks.good, marks.ends[0]),
        ("expected", marks.expected if (marks.expected or 0) <= right else None, "expected"),
        ("faint", marks.knee, "knee about"),
    ]
    shown = [(style, level, words) for style, level, words in named if level is not None]
    for place, (style, level, words) in enumerate(shown):
        label = f"{words} {level_of(level, unit)}"
        rows = [{"level": level, "label": label}]
        align: Literal["left", "right"] = "right" if level > right / 2 else "left"
        limit = {"expr": f"width + {LEFT_OF_PLOT_PX}"}
        where = {
            "x": {"value": {"expr": _label_end(level, align, text_px(label))}},
            "y": {"value": -8 - LABEL_LINE_PX * place},
        }
        text = {**where, "text": nominal("label")}
        layers += [
            layer("rule", {"x": quantitative("level")}, rows, style=f"{style}-line", clip=True),
            layer("text", text, rows, style=style, align=align, fontSize=12, clip=False, limit=limit),
        ]
    return layers


def _label_end(level: float, align: Literal["left", "right"], label_px: float) -> str:
    """Where a label begins or ends: at its line, unless it would leave the chart there."""
    if align == "left":
        return f"max(-{LEFT_OF_PLOT_PX}, min(scale('x', {level!r}), width - {label_px:.0f}))"
    return f"min(width, max(scale('x', {level!r}), {label_px - LEFT_OF_PLOT_PX:.0f}))"
