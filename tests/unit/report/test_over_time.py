"""The charts that share one time axis: what they draw is what the run's seconds hold, and nothing is drawn twice."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import synthetic_run

from plimsoll.report import page, tables, time_charts
from plimsoll.report.html import render
from plimsoll.report.over_time.axis import TimeAxis
from plimsoll.report.over_time.events import FAILURES, REMARKS, TARGET, events_chart, happenings_of
from plimsoll.report.over_time.heat_map import MOST_CELLS, MOST_ROWS, HeatMap, heat_map_chart, heat_map_of
from plimsoll.report.over_time.steps import legend_words
from plimsoll.report.over_time.timeline import Bin, Timeline
from plimsoll.report.run_evidence import RunEvidence, read_run
from plimsoll.report.steps import Step
from plimsoll.report.tally import Tally
from plimsoll.report.time_charts import Chart
from plimsoll.runs import Histogram, RunReader


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> RunEvidence:
    return read_run(synthetic_run.write_run(tmp_path_factory.mktemp("runs") / "run"))


def bins_of(seconds: list[list[float]], width_s: int = 1) -> list[Bin]:
    """A bin for each list of times in ms."""
    return [Bin(at * width_s, width_s, times=Tally(Histogram.from_values(times))) for at, times in enumerate(seconds)]


def rows_of(chart: Chart) -> list[dict[str, Any]]:
    layers = [one["data"]["values"] for one in chart.specification["layer"] if "data" in one]
    return [row for rows in layers if isinstance(rows, list) for row in rows if "series" in row]


def counted(found: HeatMap, seconds: list[list[float]], width_s: float) -> dict[tuple[int, int], int]:
    """The same cells, of the times themselves."""
    cells: dict[tuple[int, int], int] = {}
    for second, times in enumerate(seconds):
        column = int(np.searchsorted(found.starts_s, second * width_s, side="right")) - 1
        for time in times:
            row = max(0, int(np.searchsorted(found.edges_ms, time, side="right")) - 1)
            cells[column, row] = cells.get((column, row), 0) + 1
    return cells


@pytest.mark.parametrize(("seconds", "spread"), [(7, 0.3), (90, 2.0), (360, 5.0)])
def test_each_request_is_in_the_one_cell_that_its_time_belongs_to(seconds: int, spread: float) -> None:
    draw = np.random.default_rng(seconds)
    times = [draw.lognormal(3, spread, draw.integers(0, 60)).tolist() for _ in range(seconds)]
    found = heat_map_of(bins_of(times), 1)
    assert found is not None and len(found.starts_s) <= 360
    assert {(column, row): count for column, row, count in found.cells} == counted(found, times, 1)
    assert len(found.edges_ms) - 1 <= MOST_ROWS and len(found.cells) <= MOST_CELLS


def test_a_map_of_many_cells_is_folded_to_wider_columns_and_loses_no_request() -> None:
    draw = np.random.default_rng(1)
    times = [draw.lognormal(4, 3, 400).tolist() for _ in range(300)]
    found = heat_map_of(bins_of(times, width_s=10), 10)
    assert found is not None and found.seconds == 20 and len(found.cells) <= MOST_CELLS
    assert sum(count for *_, count in found.cells) == 300 * 400
    assert {(column, row): count for column, row, count in found.cells} == counted(found, times, 10)


def test_what_took_no_time_is_in_the_lowest_row_and_refusals_are_in_none() -> None:
    found = heat_map_of(bins_of([[0.0, 0.0, 1.0, 4.0]]), 1)
    assert found is not None and found.cells[:2] == ((0, 0, 2), (0, 1, 1))
    refused = bins_of([[1.0, 1.0], [2.0]])
    refused[0].times.judged = refused[0].times.unanswered = 2
    found = heat_map_of(refused, 1)
    assert found is not None and [cell[0] for cell in found.cells] == [1]
    assert heat_map_of(bins_of([[0.0], []]), 1) is None


def test_the_map_of_a_run_has_as_many_requests_as_its_tables(run: RunEvidence) -> None:
    found = heat_map_of(run.timeline.bins, run.timeline.width_s)
    assert found is not None
    assert sum(count for *_, count in found.cells) == sum(tally.count for tally in run.requests.values())
    chart = heat_map_chart(found, TimeAxis(run.lasted_s), "")
    [cells] = [one for one in chart["layer"] if "transform" in one]
    lines = cells["data"]["values"].splitlines()
    assert [tuple(map(int, line.split(","))) for line in lines[1:]] == list(found.cells)


def test_each_point_of_the_percentiles_is_that_of_the_seconds_own_requests(run: RunEvidence, tmp_path: Path) -> None:
    reader = RunReader(synthetic_run.write_run(tmp_path / "run"))
    [chart] = [one for one in time_charts.over_time(run, "users") if one.key == "time-response"]
    lines: dict[str, dict[float, float]] = {}
    for row in rows_of(chart):
        lines.setdefault(row["series"], {})[row["t"]] = row["value"]
    for snapshot in reader.snapshots():
        times = Histogram()
        for series in snapshot.series:
            if series.metric == "http_req_response_time":
                times.add_series(series)
        for name, quantile in (("p50 (median)", 0.5), ("p95", 0.95), ("p99", 0.99)):
            drawn = lines[name][max(t for t in lines[name] if t <= snapshot.second)]
            if times.count:
                assert drawn == pytest.approx(times.percentile(quantile), rel=1e-5)
            else:
                assert drawn is None


def test_a_line_has_points_where_it_changes_and_its_ends_alone(run: RunEvidence) -> None:
    [chart] = [one for one in time_charts.over_time(run, "users") if one.key == "resources-memory"]
    host = [row for row in rows_of(chart) if row["series"] == "host"]
    assert [row["t"] for row in host] == [0, run.lasted_s]  # it used 2 GB all the time
    assert len([row for row in rows_of(chart) if row["series"] == "process:tracker"]) > 80


def test_a_value_before_a_gap_is_drawn_until_the_gap() -> None:
    """Seen: the last second before a pause was never drawn, though it was the slowest."""
    seconds = [Bin(at, 1, times=Tally(Histogram.from_values([50.0] * count))) for at, count in ((0, 5), (1, 0), (2, 5))]
    timeline = Timeline(1, seconds)
    axis = TimeAxis(3)
    rows = [row for row in time_charts._rows(time_charts._percentiles(timeline), axis) if row["series"] == "p99"]
    middle = pytest.approx(50, rel=1e-3)
    assert [(row["t"], row["value"]) for row in rows] == [(0, middle), (1, middle), (1, None), (2, middle), (3, middle)]


def test_all_charts_over_time_have_one_axis_and_plots_above_one_another(run: RunEvidence) -> None:
    charts = [*time_charts.over_time(run, "users"), *time_charts.resource_charts(run)]
    assert [chart.key for chart in charts] == [
        "time-level", "time-throughput", "time-response", "time-spread", "time-errors", "time-backlog",
        "resources-cpu", "resources-memory", "generator-lag", "resources-throughput", "resources-counts",
    ]  # fmt: skip
    ends = {json.dumps(chart.specification["params"][0]) for chart in charts}
    assert ends == {json.dumps({"name": "zoom", "value": [0, 100.0]})}
    for chart in charts:
        encodings = [one["encoding"] for one in chart.specification["layer"]]
        axes = [one["y"]["axis"] for one in encodings if "axis" in one.get("y", {})]
        assert axes and all((axis["minExtent"], axis["maxExtent"]) == (64, 64) for axis in axes), chart.key
        scales = [one["x"]["scale"]["domain"] for one in encodings if "scale" in one.get("x", {})]
        assert scales and all(scale == [{"expr": "zoom[0]"}, {"expr": "zoom[1]"}] for scale in scales)


def test_the_level_shows_how_each_step_was_judged_by_colour_and_sign(run: RunEvidence) -> None:
    [chart] = [one for one in time_charts.over_time(run, "users") if one.key == "time-level"]
    fields = [row for one in chart.specification["layer"] for row in one["data"]["values"] if "sign" in row]
    shown = sorted({(row["t"], row["end"], row["level"], row["sign"]) for row in fields})
    signs = {"probe": "·", "good": "✓", "bad": "✗", "undecided": "?"}
    assert shown == [(step.start_s, step.end_s, f"{step.level:,.0f} users", signs[step.verdict]) for step in run.steps]
    assert legend_words(run.steps) == "· range finding; ✓ carried; ? undecided; ✗ not carried"
    assert legend_words([Step(1, 0, 0, verdict="bad")]) == ""


EVENTS: list[dict[str, Any]] = [
    {"second": 0.01, "kind": "note", "message": "The script calls port 80."},
    {"second": 3.0, "kind": "note", "message": "app was restarted: process 1 is now 2"},
    {"second": 4.0, "kind": "reset", "message": "reset: ./clean"},
    {"second": 5.0, "kind": "error", "message": "the target is gone"},
    {"second": 6.0, "kind": "interrupted"},
    {"second": 7.0, "kind": "step_started", "level": 4},
    {"second": 8.0, "kind": "note", "summary": {}},
    {"second": 99.0, "kind": "note", "message": "after the end"},
    {"second": None, "kind": "error", "message": "without a time"},
]


def test_events_are_marked_by_what_they_are_and_steps_are_not_among_them() -> None:
    found = happenings_of(EVENTS, [(2.0, "the cache was emptied")], 10)
    assert [(one.second, one.row) for one in found] == [
        (0.01, REMARKS), (2.0, REMARKS), (3.0, TARGET), (4.0, TARGET), (5.0, FAILURES), (6.0, FAILURES),
    ]  # fmt: skip
    assert (found[1].words, found[5].words) == ("the cache was emptied", "interrupted")
    chart = events_chart(found[2:4], TimeAxis(10), "")
    assert [one["encoding"]["y"]["scale"]["domain"] for one in chart["layer"] if "y" in one["encoding"]] == [[TARGET]]


def test_a_run_without_events_has_no_chart_of_them(run: RunEvidence) -> None:
    assert "time-events" not in {one.key for one in time_charts.over_time(run, "users")}
    noted = replace(run, notes=[(4.0, "now")])
    assert "time-events" in {one.key for one in time_charts.over_time(noted, "users")}


def test_the_numbers_behind_a_table_are_those_of_the_tally(run: RunEvidence) -> None:
    [row] = [row for row in tables.tally_rows(run.requests, 10) if row["name"] == "POST /api/commands"]
    tally, numbers = run.requests["POST /api/commands"], row["numbers"]
    assert (numbers["count"], numbers["rate"], numbers["errors"]) == pytest.approx(
        (tally.count, tally.count / 10, tally.failed)
    )
    for name, quantile in (("p50", 0.5), ("p90", 0.9), ("p95", 0.95), ("p99", 0.99)):
        assert numbers[name] == pytest.approx(tally.times.percentile(quantile))
    assert (numbers["average"], numbers["max"]) == pytest.approx((tally.times.mean, tally.times.max))
    assert row["p99"][0] == f"{numbers['p99']:,.0f}"


def test_no_drawing_is_clipped_by_the_shape_of_another(run: RunEvidence) -> None:
    """Vega counted clips over a process, and anew in the browser: clip1 of the page was any of several."""
    text = render(replace(run, findings=[]), library=lambda: "")
    names = re.findall(r' id="([^"]+)"', text)
    assert len(names) == len(set(names)) and not [name for name in names if re.match(r"(clip|gradient)_?\d", name)]
    for used in re.findall(r'"url\(#([^)]+)\)"', text):
        assert used in names


def test_what_a_page_says_of_resources_is_true(run: RunEvidence) -> None:
    bare = page.build(replace(run, resources=type(run.resources)()))
    assert not bare.has_resources and page.build(run).has_resources
    [cpu] = [chart for chart in bare.over_time if chart.key == "resources-cpu"]
    assert {row["series"] for row in rows_of(cpu)} == {"generator"}  # it says that itself
