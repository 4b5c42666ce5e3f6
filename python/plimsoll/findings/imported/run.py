"""A run imported from another tool: its levels as a step table, and what it says as a whole.

Which seconds are a level is levels.py's. Percentiles are of merged histograms, so the rows of the table are
exact.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Protocol

from plimsoll.findings.evidence import SERIES, TABLE, Evidence, as_data
from plimsoll.findings.imported.terms import SOURCE_QUESTION
from plimsoll.runs.histogram import Histogram
from plimsoll.runs.importers.locust.history import WINDOW_S, Window
from plimsoll.runs.readings.failures import requests_words
from plimsoll.runs.readings.step_table import Bounds, Row, StepTable
from plimsoll.runs.snapshot import Snapshot
from plimsoll.stats.estimates.quantile import samples_needed
from plimsoll.stats.throughput.plateau import plateau
from plimsoll.stats.throughput.saturation import variance_per_event
from plimsoll.words import number, share_words

SCHEMA = 1
STATISTICS = {"p50": 0.5, "p90": 0.9, "p95": 0.95, "p99": 0.99}
Z_95 = 1.96
MOST_NAMES = 12  # of requests, in the answer on a terminal
_METRICS = ("http_req_duration", "http_req_failed")


@dataclass
class Stretch:
    """Seconds [start_s, end_s) at one level; `done` per second, `times` in ms by request name, None is all."""

    level: float
    start_s: int
    end_s: int
    done: list[int] = field(default_factory=list)
    started: list[int] = field(default_factory=list)
    unfinished_start: float = 0.0
    times: dict[str | None, Histogram] = field(default_factory=dict)
    failed: dict[str | None, int] = field(default_factory=dict)
    requests: dict[str | None, int] = field(default_factory=dict)

    @property
    def seconds(self) -> int:
        """Its length."""
        return self.end_s - self.start_s


class ReadsSeconds(Protocol):
    """The part of runs.RunReader that is read here."""

    def snapshots(self, *, metrics: Iterable[str] | None = None) -> Iterable[Snapshot]:
        """Every second, in order, with the series of these metrics."""

    def resources(self) -> Iterable[Mapping[str, Any]]:
        """Every row of resources, in order."""


def whole_of(run: ReadsSeconds) -> Stretch:
    """The whole run as one stretch."""
    whole = Stretch(0.0, 0, 0)
    for snapshot in run.snapshots(metrics=_METRICS):
        whole.end_s = snapshot.second + 1
        _add(whole, snapshot)
    return whole


def fill(run: ReadsSeconds, stretches: Sequence[Stretch]) -> None:
    """What was done in these stretches, which are in order."""
    place, unfinished = 0, 0
    for snapshot in run.snapshots(metrics=_METRICS):
        while place < len(stretches) and snapshot.second >= stretches[place].end_s:
            place += 1
        if place == len(stretches):
            return
        if snapshot.second >= stretches[place].start_s:
            if snapshot.second == stretches[place].start_s:
                stretches[place].unfinished_start = float(unfinished)
            _add(stretches[place], snapshot)
        unfinished = snapshot.in_flight


def _add(stretch: Stretch, snapshot: Snapshot) -> None:
    stretch.done.append(snapshot.done)
    stretch.started.append(snapshot.started)
    for series in snapshot.series:
        name = series.tags.get("name")
        for subject in dict.fromkeys((None, name)):
            if series.metric == "http_req_duration":
                stretch.times.setdefault(subject, Histogram()).add_series(series)
            elif series.metric == "http_req_failed":
                stretch.failed[subject] = stretch.failed.get(subject, 0) + int(series.passes or 0)
                stretch.requests[subject] = stretch.requests.get(subject, 0) + int(series.total or 0)


def table_of_whole(whole: Stretch, level_unit: str) -> StepTable:
    """Rows of no level for the whole run, where no level was held."""
    names = sorted(whole.requests, key=lambda name: (name is not None, str(name)))
    return StepTable(tuple(replace(_row(0.0, name, [whole], {}), level=None) for name in names), level_unit)


def table_of(stretches: Sequence[Stretch], run: ReadsSeconds, level_unit: str) -> StepTable:
    """A row for all requests and one for each name of each level; stretches at one level are merged exactly."""
    levels: dict[float, list[Stretch]] = {}
    for one in stretches:
        levels.setdefault(one.level, []).append(one)
    used = _utilisation(run, levels)
    rows = []
    for level, parts in sorted(levels.items()):
        names = dict.fromkeys(name for one in parts for name in one.requests)
        for name in sorted(names, key=lambda name: (name is not None, str(name))):
            rows.append(_row(level, name, parts, used.get(level, {}) if name is None else {}))
    return StepTable(tuple(rows), level_unit)


def _row(level: float, name: str | None, parts: Sequence[Stretch], used: Mapping[str, float]) -> Row:
    seconds = sum(one.seconds for one in parts)
    times = Histogram.merge(one.times[name] for one in parts if name in one.times)
    count = sum(one.requests.get(name, 0) for one in parts)
    return Row(
        level=level,
        operation=name,
        throughput_per_s=count / seconds,
        times_ms=times_of(times),
        samples=count,
        failed=sum(one.failed.get(name, 0) for one in parts),
        duration_s=float(seconds),
        utilisation=dict(used),
    )


def times_of(times: Histogram) -> dict[str, tuple[float, float]]:
    """The statistics of a histogram, as a row holds them; empty without samples."""
    if not times.count:
        return {}
    values = dict(zip(STATISTICS, times.percentiles(list(STATISTICS.values())).tolist(), strict=True))
    values |= {"mean": times.mean, "min": times.min, "max": times.max}
    return {name: (value, value) for name, value in values.items()}


def with_windows(
    table: StepTable, stretches: Sequence[Stretch], windows: Sequence[Window], t0_unix: float
) -> StepTable:
    """The table with bounds of the percentiles from windows that lie within a level: its quantile is between the
    least and the greatest of them, as they cover it. Rows without such a window stay without times."""
    if not windows:
        return table
    found: dict[tuple[float, str | None], dict[str, Bounds]] = {}
    for window in windows:
        for one in stretches:
            if one.start_s + WINDOW_S <= window.end_s - t0_unix < one.end_s:
                times = found.setdefault((one.level, window.name), {})
                for name, value in window.times_ms.items():
                    low, high = times.get(name, (value, value))
                    times[name] = min(low, value), max(high, value)
    rows = [replace(row, times_ms=found.get((row.level or 0.0, _window_name(row.operation)), {})) for row in table.rows]
    return replace(table, rows=tuple(rows))


def _window_name(operation: str | None) -> str | None:
    """ "GET home" is the window's "home"."""
    return None if operation in (None, "all") else str(operation).partition(" ")[2] or operation


def _utilisation(run: ReadsSeconds, levels: Mapping[float, Sequence[Stretch]]) -> dict[float, dict[str, float]]:
    """Mean of every `…_share` of every source, over the points that lie in the seconds of a level."""
    sums: dict[tuple[float, str], list[float]] = {}
    for line in run.resources():
        second = line.get("second")
        if not isinstance(second, int | float):
            continue
        for level, parts in levels.items():
            if any(one.start_s <= second < one.end_s for one in parts):
                for name, value in (line.get("values") or {}).items():
                    if name.endswith("_share") and isinstance(value, int | float):
                        label = resource_label(str(line.get("source")), name)
                        sums.setdefault((level, label), []).append(float(value))
    found: dict[float, dict[str, float]] = {}
    for (level, label), values in sums.items():
        found.setdefault(level, {})[label] = sum(values) / len(values)
    return found


def resource_label(source: str, name: str) -> str:
    """ "gc" for its cpu_share, "gc disk" for its disk_share."""
    what = name.removesuffix("_share")
    return source if what == "cpu" else f"{source} {what}"


def as_steps(stretches: Sequence[Stretch], verdicts: Mapping[float, str]) -> list[dict[str, Any]]:
    """The stretches as steps of a finding."""
    steps = []
    for one in stretches:
        times = one.times.get(None, Histogram())
        count, failed = one.requests.get(None, 0), one.failed.get(None, 0)
        steps.append(
            {
                "level": one.level,
                "start_s": one.start_s,
                "end_s": one.end_s,
                "measured_from_s": one.start_s,
                "verdict": verdicts.get(one.level, "unknown"),
                "reasons": [],
                "planned_per_s": sum(one.started) / one.seconds,
                "done_per_s": sum(one.done) / one.seconds,
                "requests_per_s": count / one.seconds,
                **{f"{name}_ms": bounds[0] for name, bounds in times_of(times).items()},
                "samples": count,
                "errors": failed,
                "error_share": failed / count if count else 0.0,
            }
        )
    return steps


def repeats_of(held: Sequence[Stretch]) -> dict[float, list[tuple[float, float]]]:
    """(good answers, seconds) of each time that a level was held, by level."""
    found: dict[float, list[tuple[float, float]]] = {}
    for one in held:
        good = one.requests.get(None, 0) - one.failed.get(None, 0)
        found.setdefault(one.level, []).append((float(good), float(one.seconds)))
    return found


def most_interval(stretches: Sequence[Stretch], level: float) -> tuple[float, float] | None:
    """95% interval of the throughput at a level, from its scatter within this run; None if too little was done."""
    parts = [one for one in stretches if one.level == level]
    done = [count for one in parts for count in one.done]
    noise = max((variance_per_event(one.done) for one in parts), default=1.0)
    seen = plateau(float(sum(done)), float(len(done)), 1.0, noise)
    return (seen.level - Z_95 * seen.sd, seen.level + Z_95 * seen.sd) if seen else None


def overview_finding(
    title: str, whole: Stretch, span_s: float, cannot: Sequence[str], notes: Sequence[str], run_path: str | None
) -> dict[str, Any]:
    """The finding about the source itself: its totals over `span_s` from first to last sample, and what it cannot
    support."""
    times, count, failed = whole.times.get(None), whole.requests.get(None, 0), whole.failed.get(None, 0)
    rate = f", {number(count / span_s)}/s" if span_s >= 1 else ""
    words = f"{title}: {requests_words(count)} in {number(span_s)} s{rate}, {failed:,} failed"
    words += f" ({share_words(failed / count)})." if count else "."
    if times is not None and times.count:
        words += f" Response times in ms: {_times_words(times)}"
    else:
        words += " It has no times of single requests."
    rests_on = as_data([Evidence(count, "requests", SERIES, f"{failed:,} failed, in {number(span_s)} s")])
    return source_finding(words, cannot, notes, run_path) | {
        "facts": _by_name(whole),
        "evidence": rests_on,
        "totals": {
            "requests": count,
            "failed": failed,
            "seconds": span_s,
            "times_ms": {} if times is None else {name: low for name, (low, _) in times_of(times).items()},
        },
    }


def _times_words(times: Histogram) -> str:
    """ "p50 26, p99 ~80, max 80. ~: fewer requests than that percentile needs." """
    values = times_of(times)
    shown = [f"{name} {_marked(name, values, times.count)}" for name in ("p50", "p90", "p95", "p99", "max")]
    words = f"{', '.join(shown)}."
    return f"{words} ~: fewer requests than that percentile needs." if "~" in words else words


def _marked(name: str, values: Mapping[str, Bounds], count: int) -> str:
    """The value, with a mark where it rests on too few requests (stats/estimates/quantile.py)."""
    few = name in STATISTICS and count < samples_needed(STATISTICS[name])
    return f"{'~' if few else ''}{number(values[name][0])}"


def _by_name(whole: Stretch) -> list[list[str]]:
    """A line for each of the MOST_NAMES requests that were made most, where there are several."""
    names = sorted((name for name in whole.requests if name is not None), key=lambda name: -whole.requests[name])
    if len(names) < 2:
        return []
    found = []
    for name in names[:MOST_NAMES]:
        count, failed = whole.requests[name], whole.failed.get(name, 0)
        seen = whole.times.get(name, Histogram())
        values = times_of(seen)
        times = [f"{key} {_marked(key, values, seen.count)} ms" for key in ("p50", "p95", "p99") if key in values]
        found.append([name, ", ".join([f"{count:,}", *times, f"{failed:,} failed ({share_words(failed / count)})"])])
    more = len(names) - MOST_NAMES
    return [*found, *([["Others", f"{more} names, in the report"]] if more > 0 else [])]


def source_finding(
    words: str, cannot: Sequence[str], notes: Sequence[str], run_path: str | None, rows: int = 0
) -> dict[str, Any]:
    """The finding about a source, in words; `rows`: of its step table."""
    return {
        "schema": SCHEMA,
        "question": SOURCE_QUESTION,
        "answer": words,
        "experiment": "analyze",
        "status": "finished",
        "valid": True,
        "evidence": as_data([Evidence(rows, "rows", TABLE, "Of the source")]),
        "cannot": list(cannot),
        "notes": [*notes, *(f"Cannot: {text}" for text in cannot)],
        "next": [],
        "run": run_path,
    }
