"""Charts over time: the load, what came of it, the resources and the generator's own health."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from plimsoll.report.run_evidence import RunEvidence
from plimsoll.report.timeline import Bin, Timeline
from plimsoll.report.vega_lite import chart_of, layer, lines_by_series, nominal, quantitative

HEIGHT_PX = 170
MINUTES_FROM_S = 900
MIB = 2**20
MOST_GIVEN = 12
FEW_TICKS = {"tickCount": 6}  # Vega moves the first label to the right: with more, it touches the second

Point = tuple[float, str, float | None]


@dataclass(frozen=True)
class Chart:
    """A chart with the heading and the sentence that says how to read it; `specification` is Vega-Lite. Where the page
    is narrower than `least_px`, the chart scrolls."""

    key: str
    title: str
    reading: str
    specification: dict[str, Any]
    least_px: int = 0


def load_charts(run: RunEvidence, unit: str) -> list[Chart]:
    """Level, throughput, response time, backlog and, where there are any, errors over time."""
    line = run.timeline
    imported = run.manifest.get("experiment") == "analyze"
    charts = [
        ("time-level", "Load level", f"What was asked for, in {unit}.", unit.capitalize(), _each(line, level)),
        (
            "time-throughput",
            "Throughput",
            "What ended, failures included. The source does not say what was planned."
            if imported
            else "Planned and done run together while the target keeps up; a gap is work that waits.",
            "Ended per second" if imported else "Iterations per second",
            [*([] if imported else _each(line, planned)), *_each(line, done)],
        ),
        (
            "time-response",
            "Response time",
            "Half of the requests took at most p50, nine in ten at most p90.",
            "Response time, ms",
            _percentiles(line),
        ),
        (
            "time-backlog",
            "Under way" if imported else "Backlog",
            "What had begun and not ended at the end of each second."
            if imported
            else "Iterations that were due and not yet started, and those running at the end of each second.",
            "Iterations",
            [*([] if imported else _each(line, backlog)), *_each(line, in_flight)],
        ),
    ]
    if any(item.times.failed for item in line.bins):
        charts.append(("time-errors", "Errors", "Failed requests.", "Errors per second", _each(line, errors)))
    return _built(charts, run)


def resource_charts(run: RunEvidence) -> list[Chart]:
    """CPU, memory, disk and network of host and processes; other values only go into the run directory."""
    charts = [
        (
            "resources-cpu",
            "CPU",
            "1 is one core that is busy all the time.",
            "Cores in use",
            _values(run, lambda name: name == "cpu_cores_used"),
        ),
        (
            "resources-memory",
            "Memory",
            "Memory in use by the host, resident memory of each process.",
            "Memory, MiB",
            _values(run, lambda name: name in ("rss_bytes", "memory_used_bytes"), 1 / MIB),
        ),
        (
            "resources-throughput",
            "Disk and network",
            "Bytes moved per second.",
            "MiB per second",
            _values(run, lambda name: name.endswith("_bytes_per_s"), 1 / MIB, named=True),
        ),
        (
            "resources-counts",
            "Threads and open files",
            "A line that only rises points to a leak.",
            "Count",
            _values(run, lambda name: name in ("threads", "open_files", "processes"), named=True),
        ),
        *_database_charts(run),
        *_given_charts(run),
    ]
    return _built(charts, run)


def _database_charts(run: RunEvidence) -> Iterable[tuple[str, str, str, str, Sequence[Point]]]:
    """What the databases told each second."""
    if not any(source.startswith(("postgresql:", "mysql:")) for source in run.resources.values):
        return
    states = ("connections_active", "connections_idle", "connections_idle_in_transaction", "lock_waits")
    yield (
        "database-connections",
        "Database connections",
        "Sessions by what they do; lock waits are active ones that wait for another's lock.",
        "Sessions",
        _values(run, lambda name: name in states, named=True),
    )
    yield (
        "database-transactions",
        "Database transactions",
        "Committed and rolled back.",
        "Transactions per second",
        _values(run, lambda name: name in ("commits_per_s", "rollbacks_per_s"), named=True),
    )
    yield (
        "database-rows",
        "Rows read by sequential scans",
        "Rows of tables that were read from the beginning to the end; many of them point to a missing index.",
        "Rows per second",
        _values(run, lambda name: name == "sequential_rows_per_s"),
    )
    yield (
        "database-cache",
        "Database cache",
        "Share of the blocks that were found in the database's own memory.",
        "%",
        _values(run, lambda name: name == "cache_hit_share", 100),
    )


def _given_charts(run: RunEvidence) -> Iterable[tuple[str, str, str, str, Sequence[Point]]]:
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


def generator_charts(run: RunEvidence) -> list[Chart]:
    """How late the generator's own loop woke, and the CPU it used."""
    line = run.timeline
    charts = [
        (
            "generator-lag",
            "Generator's loop lag",
            "How late the generator itself was, at the 99th percentile; far below the response times is healthy.",
            "Lag p99, ms",
            _each(line, lag_p99),
        ),
        ("generator-cpu", "Generator's CPU", "Cores the generator used.", "Cores in use", _each(line, generator_cpu)),
    ]
    return _built([chart for chart in charts if any(value for _, _, value in chart[4])], run)


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
        p50_ms, p90_ms = item.times.percentiles_ms((0.50, 0.90))
        points += [(item.start_s, "p50 (median)", p50_ms), (item.start_s, "p90", p90_ms)]
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


def _built(charts: Iterable[tuple[str, str, str, str, Sequence[Point]]], run: RunEvidence) -> list[Chart]:
    built = []
    for key, title, reading, axis, points in charts:
        specification = _lines(points, axis, run.lasted_s)
        if specification is not None:
            built.append(Chart(key, title, reading, specification))
    return built


def _lines(points: Sequence[Point], axis: str, lasted_s: float) -> dict[str, Any] | None:
    """Lines over time, one for each series in order of appearance; None without points."""
    minutes = lasted_s > MINUTES_FROM_S
    unit, divisor = ("min", 60) if minutes else ("s", 1)
    names = list(dict.fromkeys(name for _, name, _ in points))
    to_the_end = [*points, *_ends(points, lasted_s)]
    rows = [{"t": second / divisor, "series": name, "value": value} for second, name, value in to_the_end]
    if not any(row["value"] is not None for row in rows):
        return None
    is_seen = any(row["value"] for row in rows)  # else the axis is at 0 alone, in the middle
    series = lines_by_series(names, legend=len(names) > 1)
    time = {"domain": [0, max(lasted_s, *(second for second, *_ in to_the_end)) / divisor], "nice": False}
    shown = {
        "x": quantitative("t", title=f"Time since the start, {unit}", scale=time, axis=FEW_TICKS),
        "y": quantitative("value", title=axis, scale={"zero": True} if is_seen else {"domain": [0, 1]}),
        **(series if len(names) > 1 else {"color": series["color"]}),
        "tooltip": [
            quantitative("t", title=f"time, {unit}", format=",.4~g"),
            nominal("series", title="line"),
            quantitative("value", title=axis, format=",.3~f"),
        ],
    }
    return chart_of(layer("line", shown, rows, strokeWidth=1.6, interpolate="step-after"), HEIGHT_PX)


def _ends(points: Sequence[Point], lasted_s: float) -> Iterable[Point]:
    """Where each line ends: a value holds until the next one, and the last one until the run's end."""
    last = {name: (second, value) for second, name, value in points}
    return [(lasted_s, name, value) for name, (second, value) in last.items() if second < lasted_s]
