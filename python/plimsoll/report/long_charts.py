"""Charts of hold, grow and drain: the timeline with its pulses, the time per item over the volume, the backlog."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from plimsoll.report.run_evidence import RunEvidence
from plimsoll.report.time_charts import Chart
from plimsoll.report.vega_lite import Part, chart_of, layer, layered, lines_by_series, quantitative
from plimsoll.report.wording import number, section
from plimsoll.study.objectives import parse_objective
from plimsoll.words import amount_words

EXPERIMENTS = ("hold", "grow", "drain")
HEIGHT_PX = 240
MINUTES_FROM_S = 900
CURVE_POINTS = 80
MOST_POINTS = 400
MIB = 2**20


def charts_of(run: RunEvidence) -> list[Chart]:
    """The charts of the experiment; empty for others."""
    experiment = run.manifest.get("experiment")
    if experiment == "hold":
        return [chart for chart in (*_kept(run), _pulses(run)) if chart is not None]
    if experiment == "grow":
        return [chart for chart in (_per_item(run), _forecasts(run), _concurrency(run)) if chart is not None]
    if experiment == "drain":
        return [chart for chart in (_backlog(run), _index(run)) if chart is not None]
    return []


def _kept(run: RunEvidence) -> list[Chart | None]:
    """Of a steered load: its level over time, and the objective's statistic beside its limit."""
    keep = _found(run.findings, "keep")
    windows = keep.get("windows") or ()
    if not keep:
        return []
    unit = str(run.manifest.get("level_unit") or "users")
    marks = [float(one["at_s"]) for one in keep["overloads"]]
    reading = "The load that was put on, steered so that the objective just holds."
    if marks:
        reading += " Dotted lines mark overloads, at which it was cut."
    levels = [(item.start_s, "load", item.level) for item in run.timeline.bins if item.level]
    charts = [_over_time("keep-level", "Load over the run", reading, f"Load, {unit}", levels, run, marks)]
    if not windows:
        return charts
    objective = keep["objectives"][keep["ruling"]]
    limit = parse_objective(str(objective["objective"]))
    scale, axis = (1.0, f"{limit.statistic}, ms") if limit.unit == "ms" else (100.0, "Failed requests, %")
    points: list[tuple[float, str, float]] = []
    for window in windows:
        if window["value"] is not None:
            middle_s = window["from_s"] + window["seconds"] / 2
            points.append((middle_s, "measured", scale * window["value"]))
    points += [(points[0][0], "limit", scale * limit.limit), (points[-1][0], "limit", scale * limit.limit)]
    reading = f"The objective {objective['objective']} in windows of as many requests as judge it, and its limit."
    return [*charts, _over_time("keep-objective", "Objective over the run", reading, axis, points, run, marks)]


def _pulses(run: RunEvidence) -> Chart | None:
    """Mean response time over time; a rule marks where each pulse of a periodic job began."""
    points: list[tuple[float, str, float]] = [
        (item.start_s, "mean", times.mean) for item in run.timeline.bins if (times := item.times.answered_times).count
    ]
    periodic = _found(run.findings, "periodic")
    marks = [float(second) for second in periodic.get("times_s") or ()]
    reading = "The mean response time of all requests."
    if marks:
        reading += f" Dotted lines mark the pulses that come back every {number(periodic.get('period_s'))} s."
    drift = _found(run.findings, "drift")
    if drift and drift.get("start_ms") is not None and run.steps:
        step = max(run.steps, key=lambda one: one.duration_s)
        points += [(step.measured_from_s, "trend", drift["start_ms"]), (step.end_s, "trend", drift["end_ms"])]
    return _over_time(
        "hold-response", "Response time over the run", reading, "Mean response time, ms", points, run, marks
    )


def _per_item(run: RunEvidence) -> Chart | None:
    """Time per item of each window over the volume, with the fitted curve and where it leads."""
    windows, before = _windows(run), _volume_before(run)
    seen = [
        {"volume": before + one["loaded"] - one["items"] / 2, "ms": 1000 / one["per_s"], "series": "measured"}
        for one in windows
        if one.get("per_s") and not one.get("draining") and not one.get("trial")
    ]
    if len(seen) < 2:
        return None
    seen = seen[:: max(1, len(seen) // MOST_POINTS)]
    ageing = _found(run.findings, "ageing")
    curve = _curve(ageing, max(before + float(_load(run).get("items") or 0), max(one["volume"] for one in seen)))
    cliff = _found(run.findings, "cliff").get("volume")
    shown = {
        "x": quantitative("volume", title="Items in the target", scale={"zero": False, "nice": False}),
        "y": quantitative("ms", title="Time per item, ms", scale={"zero": True}),
        "tooltip": [
            quantitative("volume", title="items", format=",.0f"),
            quantitative("ms", title="ms", format=",.3~f"),
        ],
    }
    layers = [layer("point", shown, seen, filled=True, size=22, opacity=0.6, style="good")]
    for part, dash in (("fitted", [1, 0]), ("extrapolated", [4, 4])):
        rows = [row for row in curve if row["part"] == part]
        if len(rows) > 1:
            layers.append(layer("line", shown, rows, strokeWidth=2, strokeDash=dash, style="expected"))
    if cliff:
        layers.append(layer("rule", {"x": quantitative("volume")}, [{"volume": cliff}], style="bad-line"))
    reading = "Each point is one window of some seconds, without those that tried another concurrency."
    family = ageing.get("family") or "undecided"
    if curve:
        reading += f" The line is the law that fits best ({family}), dashed where nothing was measured."
    if cliff:
        reading += f" The rule marks the cliff at {amount_words(cliff, 'item')}."
    return _layered("grow-per-item", "Time per item over the volume of data", reading, layers)


def _curve(ageing: Mapping[str, Any], end: float) -> list[dict[str, Any]]:
    from plimsoll.stats.growth.growth_family import Fit

    fits = ageing.get("fits") or []
    if not fits:
        return []
    known = {key: fits[0][key] for key in ("family", "a", "cv", "weight")}
    best = Fit(**known, b=fits[0]["b"] or 0.0, aicc=0.0)  # a constant has no b
    low, high = float(ageing["from_volume"]), float(ageing["to_volume"])
    rows = []
    for part, start, stop in (("fitted", low, high), ("extrapolated", high, end)):
        if stop > start:
            at = np.linspace(start, stop, CURVE_POINTS)
            rows += [
                {"volume": v, "ms": 1000 * c, "part": part}
                for v, c in zip(at.tolist(), best.at(at).tolist(), strict=True)
            ]
    return rows


def _forecasts(run: RunEvidence) -> Chart | None:
    """The forecast of the total time as the load went on, with its interval."""
    rows = [
        {"elapsed": event["elapsed_s"], "total": event["total_s"], "low": event["low_s"], "high": event["high_s"]}
        for event in run.events
        if event.get("kind") == "forecast"
    ]
    if len(rows) < 2:
        return None
    rows = rows[:: max(1, len(rows) // MOST_POINTS)]
    x = quantitative("elapsed", title="Loading time so far, s")
    low = quantitative("low", title="Forecast of the total time, s")
    layers = [
        layer("area", {"x": x, "y": low, "y2": {"field": "high"}}, rows, style="band"),
        layer("line", {"x": x, "y": quantitative("total")}, rows, style="expected"),
    ]
    load = _load(run)
    reading = "The forecast of the whole loading time while it went on, with its 90% interval."
    if load and load.get("loaded", 0) >= load.get("items", 0):
        layers.append(layer("rule", {"y": quantitative("total")}, [{"total": load["loading_s"]}], style="good-line"))
        reading += " The rule is the time it took."
    return _layered("grow-forecast", "Forecast of the total time", reading, layers)


def _concurrency(run: RunEvidence) -> Chart | None:
    points, at = [], 0.0
    for one in _windows(run):
        points.append((at, "creates at a time", float(one["concurrency"])))
        at += float(one["seconds"])
    reading = "How many creates ran at a time: more as long as they bring more, fewer as soon as one fails."
    return _over_time("grow-concurrency", "Back pressure", reading, "Creates at a time", points, run, [], at)


def _backlog(run: RunEvidence) -> Chart | None:
    from plimsoll.findings.drain.series import SOURCE

    points = [(float(second), "waiting", value) for second, value in run.resources.points(SOURCE, "waiting")]
    if not points:
        put, taken = dict(run.resources.points(SOURCE, "put_in")), dict(run.resources.points(SOURCE, "taken_out"))
        points = [
            (float(second), "waiting", put[second] - taken[second]) for second in sorted(put.keys() & taken.keys())
        ]
    marks = [float(event["second"]) for event in run.events if event.get("kind") in ("step_started", "step_ended")]
    reading = "Items that wait for the consumer. Dotted lines mark where the load began and ended."
    return _over_time("drain-backlog", "Backlog of the consumer", reading, "Items waiting", points, run, marks)


def _index(run: RunEvidence) -> Chart | None:
    from plimsoll.findings.drain.series import SOURCE

    points = [(float(second), "index", value / MIB) for second, value in run.resources.points(SOURCE, "index_bytes")]
    return _over_time("drain-index", "Size of the index", "What the consumer keeps.", "Index, MiB", points, run, [])


def _over_time(
    key: str,
    title: str,
    reading: str,
    axis: str,
    points: Sequence[tuple[float, str, float]],
    run: RunEvidence,
    marks: Iterable[float],
    duration_s: float | None = None,
) -> Chart | None:
    """Lines over time with dotted rules at `marks`; None without points."""
    if len(points) < 2:
        return None
    whole = max(1.0, duration_s or run.duration_s)
    unit, divisor = ("min", 60) if whole > MINUTES_FROM_S else ("s", 1)
    rows = [{"t": at / divisor, "series": name, "value": value} for at, name, value in points]
    names = list(dict.fromkeys(name for _, name, _ in points))
    time = {"domain": [0, whole / divisor], "nice": False}
    shown = {
        "x": quantitative("t", title=f"Time since the start, {unit}", scale=time),
        "y": quantitative("value", title=axis, scale={"zero": True}),
        **lines_by_series(names, legend=len(names) > 1),
        "tooltip": [
            quantitative("t", title=f"time, {unit}", format=",.4~g"),
            quantitative("value", title=axis, format=",.3~f"),
        ],
    }
    layers = [layer("line", shown, rows, strokeWidth=1.6)]
    rules = [{"t": at / divisor} for at in marks]
    if rules:
        layers.append(layer("rule", {"x": quantitative("t")}, rules, style="faint-line"))
    return _layered(key, title, reading, layers)


def _layered(key: str, title: str, reading: str, layers: Sequence[Part]) -> Chart:
    return Chart(key, title, reading, chart_of(layered(layers), HEIGHT_PX))


def _found(findings: Iterable[Mapping[str, Any]], key: str) -> Mapping[str, Any]:
    """The part `key` of the first finding that has one."""
    return next((part for finding in findings if (part := section(finding, key))), {})


def _load(run: RunEvidence) -> Mapping[str, Any]:
    return _found(run.findings, "load")


def _windows(run: RunEvidence) -> list[Mapping[str, Any]]:
    windows: list[Mapping[str, Any]] = []
    for event in run.events:
        if event.get("kind") == "grow_resumed":
            windows = list(event.get("windows") or ())
        elif event.get("kind") == "grow_window":
            windows.append(event)
    return windows


def _volume_before(run: RunEvidence) -> float:
    return float(_load(run).get("volume_start") or 0.0)
