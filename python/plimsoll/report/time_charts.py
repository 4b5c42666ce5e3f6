"""Charts over time: the load, what came of it, the resources and the generator's own health."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from plimsoll.report.level_charts import LOG_FROM_RATIO, decades
from plimsoll.report.over_time.axis import TimeAxis, numbers_axis, short
from plimsoll.report.over_time.events import events_chart, happenings_of
from plimsoll.report.over_time.heat_map import heat_map_chart, heat_map_of
from plimsoll.report.over_time.steps import legend_words, load_chart
from plimsoll.report.over_time.timeline import Bin, Timeline
from plimsoll.report.run_evidence import RunEvidence
from plimsoll.report.vega_lite import layer, lines_by_series, quantitative

HEIGHT_PX = 130
LOW_PX = 80  # of what is only looked at where it stands out
MIB = 2**20
MOST_GIVEN = 12
PERCENTILES = {"p50 (median)": 0.50, "p95": 0.95, "p99": 0.99}
MOST_TICKS = 6  # of a logarithmic axis; where there would be more, powers of ten
NAMED = ("resources-cpu", "resources-memory")  # whose one line may be anybody's
SELDOM = ("time-errors", "time-backlog", "resources-memory", "generator-lag")
IN_BLOCK = ("resources-cpu", "resources-memory")  # of the resources, those that stand with load and times

Point = tuple[float, str, float | None]
Given = tuple[str, str, str, str, Sequence[Point]]


@dataclass(frozen=True)
class Chart:
    """A chart with the heading and the sentence that says how to read it; `specification` is Vega-Lite. Where the page
    is narrower than `least_px`, the chart scrolls. `unit`: of its values, where no axis has it."""

    key: str
    title: str
    reading: str
    specification: dict[str, Any]
    least_px: int = 0
    unit: str = ""


def over_time(run: RunEvidence, unit: str, has_levels: bool = True) -> list[Chart]:
    """The whole run on one time axis: load with steps, events, throughput, response times and how they spread, errors,
    backlog, CPU and memory, and the generator. Charts without values are left out."""
    axis = axis_of(run)
    resources = [chart for chart in _built(_resources(run), axis) if chart.key in IN_BLOCK]
    charts = [
        _load(run, unit, axis) if has_levels else None,
        _events(run, axis),
        *_built(_flow(run), axis),
        *resources,
        *_built(_generator_lag(run), axis),
    ]
    heat_map = _heat_map(run, axis)
    place = next((at for at, chart in enumerate(charts) if chart and chart.key == "time-response"), len(charts) - 1)
    return [chart for chart in (*charts[: place + 1], heat_map, *charts[place + 1 :]) if chart is not None]


def resource_charts(run: RunEvidence) -> list[Chart]:
    """What resources show beside CPU and memory, on the same axis; other values only go into the run directory."""
    return [chart for chart in _built(_resources(run), axis_of(run)) if chart.key not in IN_BLOCK]


def axis_of(run: RunEvidence) -> TimeAxis:
    """The axis of a run's charts over time, which ends where load and probes did."""
    last_s = run.resources.last_s if run.resources.values else 0
    return TimeAxis(max(run.lasted_s, float(last_s)), tuple(step.start_s for step in run.steps if step.duration_s))


def _load(run: RunEvidence, unit: str, axis: TimeAxis) -> Chart | None:
    rows = _rows(_each(run.timeline, level), axis)
    if not rows:
        return None
    judged = [step for step in run.steps if step.duration_s]
    reading = "What was asked for."
    if any(step.verdict != "unknown" for step in judged):
        reading += f" A field is a step, and its colour and sign how it was judged: {legend_words(judged)}."
    elif judged:
        reading += " A field is a step."
    chart = load_chart(rows, judged, axis, f"Load level. {reading}", unit)
    return Chart("time-level", "Load level" + (" and steps" if judged else ""), reading, chart, unit=unit)


def _events(run: RunEvidence, axis: TimeAxis) -> Chart | None:
    found = happenings_of(run.events, run.notes, axis.end_s)
    if not found:
        return None
    reading = "Point at a mark to read it. All events stand in a table at the end."
    return Chart("time-events", "Events", reading, events_chart(found, axis, f"Events. {reading}"))


def _heat_map(run: RunEvidence, axis: TimeAxis) -> Chart | None:
    found = heat_map_of(run.timeline.bins, run.timeline.width_s)
    if found is None:
        return None
    counted = _counted(run)
    reading = f"Each cell counts the {counted} that ended then and took so long. Two bands are two kinds of answers."
    if run.steps:
        reading += " What ended after its step stands in the last second of it."
    chart = heat_map_chart(found, axis, f"Spread of response times. {reading}", counted)
    return Chart("time-spread", "Spread of response times", reading, chart, unit="ms (logarithmic)")


def _counted(run: RunEvidence) -> str:
    """What the response times are those of."""
    return "requests" if run.request_metric else "iterations"


def _flow(run: RunEvidence) -> Iterable[Given]:
    """Throughput, response time, errors where there are any, and backlog."""
    line, counted = run.timeline, _counted(run)
    imported = run.manifest.get("experiment") == "analyze"
    yield (
        "time-throughput",
        "Throughput",
        "What ended, failures included. The source does not say what was planned."
        if imported
        else "Planned and done run together while the target keeps up; a gap is work that waits.",
        "ended per second" if imported else "iterations per second",
        [*([] if imported else _each(line, planned)), *_each(line, done)],
    )
    yield (
        "time-response",
        "Response time",
        f"Half of the {counted} took at most p50, 95 of 100 at most p95, 99 of 100 at most p99. "
        f"Where a point has fewer than 100 {counted}, its p99 is the slowest of them.",
        "ms",
        _percentiles(line),
    )
    if any(item.times.failed for item in line.bins):
        yield "time-errors", "Errors", "Failed requests.", "per second", _each(line, errors)
    yield (
        "time-backlog",
        "Under way" if imported else "Backlog",
        "What had begun and not ended at the end of each second."
        if imported
        else "Iterations that were due and not yet started, and those running at the end of each second.",
        "iterations",
        [*([] if imported else _each(line, backlog)), *_each(line, in_flight)],
    )


def _resources(run: RunEvidence) -> Iterable[Given]:
    """CPU, memory, disk and network of host and processes, and what databases and other tools say."""
    yield (
        "resources-cpu",
        "CPU",
        "1 is one core that is busy all the time; the target's processes, the host and the generator.",
        "cores in use",
        [*_values(run, lambda name: name == "cpu_cores_used"), *_generator_cpu(run)],
    )
    yield (
        "resources-memory",
        "Memory",
        "Memory in use by the host, resident memory of each process.",
        "MiB",
        _values(run, lambda name: name in ("rss_bytes", "memory_used_bytes"), 1 / MIB),
    )
    yield (
        "resources-throughput",
        "Disk and network",
        "Bytes moved.",
        "MiB per second",
        _values(run, lambda name: name.endswith("_bytes_per_s"), 1 / MIB, named=True),
    )
    yield (
        "resources-counts",
        "Threads and open files",
        "A line that only rises points to a leak.",
        "",
        _values(run, lambda name: name in ("threads", "open_files", "processes"), named=True),
    )
    yield from _database_charts(run)
    yield from _given_charts(run)


def _database_charts(run: RunEvidence) -> Iterable[Given]:
    """What the databases told each second."""
    if not any(source.startswith(("postgresql:", "mysql:")) for source in run.resources.values):
        return
    states = ("connections_active", "connections_idle", "connections_idle_in_transaction", "lock_waits")
    yield (
        "database-connections",
        "Database connections",
        "Sessions by what they do; lock waits are active ones that wait for another's lock.",
        "sessions",
        _values(run, lambda name: name in states, named=True),
    )
    yield (
        "database-transactions",
        "Database transactions",
        "Committed and rolled back.",
        "per second",
        _values(run, lambda name: name in ("commits_per_s", "rollbacks_per_s"), named=True),
    )
    yield (
        "database-rows",
        "Rows read by sequential scans",
        "Rows of tables that were read from the beginning to the end; many of them point to a missing index.",
        "rows per second",
        _values(run, lambda name: name == "sequential_rows_per_s"),
    )
    yield (
        "database-cache",
        "Database cache",
        "Share of the blocks that were found in the database's own memory.",
        "%",
        _values(run, lambda name: name == "cache_hit_share", 100),
    )


def _given_charts(run: RunEvidence) -> Iterable[Given]:
    """Series that were given beside another tool's results: utilisation, and everything else by its own name."""
    if run.manifest.get("experiment") != "analyze":
        return
    shares = _values(run, lambda name: name.endswith("_share"), 100, named=True)
    yield "resources-share", "Utilisation", "As given; each value is drawn until the next one.", "%", shares
    known = ("cpu_cores_used", "rss_bytes", "memory_used_bytes", "threads", "open_files", "processes")
    others = lambda name: name not in known and not name.endswith(("_share", "_bytes_per_s"))  # noqa: E731
    names = list(dict.fromkeys(name for source in run.resources.values.values() for name in source if others(name)))
    for place, name in enumerate(names[:MOST_GIVEN]):
        points = _values(run, lambda one, name=name: one == name)  # type: ignore[misc]
        yield (
            f"resources-given-{place}",
            name.replace("_", " "),
            "As given; each value is drawn until the next one.",
            name.replace("_", " "),
            points,
        )


def _generator_lag(run: RunEvidence) -> Iterable[Given]:
    """How late the generator's own loop woke."""
    if any(item.lag_p99_ms for item in run.timeline.bins):
        yield (
            "generator-lag",
            "Generator's loop lag",
            "How late the generator itself was, at the 99th percentile; far below the response times is healthy.",
            "ms",
            _each(run.timeline, lag_p99),
        )


def _generator_cpu(run: RunEvidence) -> list[Point]:
    """What the generator says of its own CPU, where no probe does."""
    is_watched = "cpu_cores_used" in run.resources.values.get("generator", {})
    points = [] if is_watched else _each(run.timeline, generator_cpu)
    return points if any(value for *_, value in points) else []


def level(item: Bin) -> tuple[str, float]:
    return "level", item.level


def planned(item: Bin) -> tuple[str, float]:
    return "planned", item.planned / item.seconds


def done(item: Bin) -> tuple[str, float]:
    return "done", item.done / item.seconds


def backlog(item: Bin) -> tuple[str, float]:
    return "backlog", item.backlog


def in_flight(item: Bin) -> tuple[str, float]:
    return "running", item.in_flight


def errors(item: Bin) -> tuple[str, float]:
    return "errors", item.times.failed / item.seconds


def lag_p99(item: Bin) -> tuple[str, float]:
    return "lag p99", item.lag_p99_ms


def generator_cpu(item: Bin) -> tuple[str, float]:
    return "generator", item.generator_cpu_s / item.seconds


def _each(timeline: Timeline, read: Callable[[Bin], tuple[str, float | None]]) -> list[Point]:
    return [(item.start_s, *read(item)) for item in timeline.bins]


def _percentiles(timeline: Timeline) -> list[Point]:
    points: list[Point] = []
    for item in timeline.bins:
        values = item.times.percentiles_ms(PERCENTILES.values())
        points += [(item.start_s, name, value) for name, value in zip(PERCENTILES, values, strict=True)]
    return points


def _values(run: RunEvidence, wanted: Callable[[str], bool], factor: float = 1, named: bool = False) -> list[Point]:
    """Points of every wanted value of every source; `named` puts the value's name behind the source's."""
    points: list[Point] = []
    for source in sorted(run.resources.values):
        for name in sorted(filter(wanted, run.resources.values[source])):
            label = f"{source} {plain_name(name)}" if named else source
            points += [(second, label, factor * value) for second, value in run.resources.points(source, name)]
    return points


def plain_name(name: str) -> str:
    """ "disk_write_bytes_per_s" -> "disk write"."""
    return name.removesuffix("_bytes_per_s").replace("_", " ")


def _built(charts: Iterable[Given], axis: TimeAxis) -> list[Chart]:
    built = []
    for key, title, reading, unit, points in charts:
        rows = _rows(points, axis)
        if rows:
            logarithmic = key == "time-response" and _is_wide(rows)
            unit = f"{unit} (logarithmic)" if logarithmic else unit
            specification = _lines(rows, axis, f"{title}, {unit}. {reading}", logarithmic, key in NAMED)
            specification["height"] = LOW_PX if key in SELDOM else HEIGHT_PX
            built.append(Chart(key, title, reading, specification, unit=unit))
    return built


def _is_wide(rows: Sequence[dict[str, Any]]) -> bool:
    """Whether values are too far apart for an axis from 0 to show the small ones."""
    values = [row["value"] for row in rows if row["value"]]
    return bool(values) and max(values) > LOG_FROM_RATIO * min(values)


def _lines(
    rows: list[dict[str, Any]], axis: TimeAxis, description: str, logarithmic: bool, named: bool
) -> dict[str, Any]:
    """Lines over time, one for each series in order of appearance; one alone has its name where it is to be `named`."""
    names = list(dict.fromkeys(row["series"] for row in rows))
    has_legend = named or len(names) > 1
    series = lines_by_series(names, legend=has_legend)
    shown = {
        "x": axis.x(),
        "y": quantitative("value", **_scale(rows, logarithmic)),
        **(series if has_legend else {"color": series["color"]}),
    }
    line = layer("line", shown, rows, strokeWidth=1.6, interpolate="step-after", clip=True, aria=False)
    return axis.chart([line], HEIGHT_PX, description)


def _scale(rows: Sequence[dict[str, Any]], logarithmic: bool) -> dict[str, Any]:
    """From 0; logarithmic from a round number, where what took no time has no place."""
    if logarithmic:
        low, high, ticks = decades([row for row in rows if row["value"]])
        ticks = ticks if len(ticks) <= MOST_TICKS else [tick for tick in ticks if _is_power_of_ten(tick)]
        return {
            "scale": {"type": "log", "domain": [low, high], "nice": False, "clamp": True},
            "axis": numbers_axis(values=ticks),
        }
    is_seen = any(row["value"] for row in rows)  # else the axis is at 0 alone, in the middle
    return {"scale": {"zero": True} if is_seen else {"domain": [0, 1]}, "axis": numbers_axis()}


def _is_power_of_ten(tick: float) -> bool:
    return math.isclose(math.log10(tick), round(math.log10(tick)), abs_tol=1e-9)


def _rows(points: Sequence[Point], axis: TimeAxis) -> list[dict[str, Any]]:
    """A row wherever a line changes, and one where it ends: a value holds until the next one, and the last one until
    the run's end. Empty without any value."""
    last: dict[str, float | None] = {}
    rows = []
    for second, name, value in points:
        if name not in last or last[name] != value:
            if value is None and last.get(name) is not None:  # else the value before would hold for no time
                rows.append(_row(second, name, last[name], axis))
            rows.append(_row(second, name, value, axis))
        last[name] = value
    if all(row["value"] is None for row in rows):
        return []
    return [*rows, *(_row(axis.end_s, name, value, axis) for name, value in last.items())]


def _row(second: float, name: str, value: float | None, axis: TimeAxis) -> dict[str, Any]:
    return {"t": axis.of(second), "series": name, "value": None if value is None else short(value)}
