"""The page as plain data: what the template shows, in the order in which a reader asks."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from textwrap import shorten
from typing import Any

from plimsoll.findings.imported import shown
from plimsoll.report import level_charts, long_charts, tables, time_charts, wording
from plimsoll.report.finding_view import FindingView, ObjectiveLine
from plimsoll.report.k6.outcome import views_of
from plimsoll.report.run_evidence import RunEvidence
from plimsoll.report.steps import RANGE_FINDING, Step
from plimsoll.report.time_charts import Chart
from plimsoll.report.topology import Topology, topology_of
from plimsoll.report.trials.section import TrialsSection, trials_section
from plimsoll.report.wording import section
from plimsoll.runs.readings.failure import failure_of

GENERATOR = "generator"  # as a source of resources: all that a plain run watches
STATUS_WORDS = {
    "finished": "finished",
    "interrupted": "interrupted by the user",
    "failed": "ended with an error",
    "running": "is still running",
    "killed": "was killed",
}


@dataclass
class TallyTable:
    """A table of operations or requests; `times` names the metric behind its columns of times."""

    heading: str
    note: str
    times: str
    rows: list[dict[str, Any]]
    judged: bool


@dataclass
class Page:
    """Everything the template needs; all text is raw and is escaped by the template."""

    title: str
    subtitle: str
    status: str
    status_words: str
    failure: str
    unit: str
    findings: list[FindingView]
    measured: list[tuple[str, str]]
    curves: list[Chart]
    curves_note: str
    steps: list[dict[str, Any]]
    tallies: list[TallyTable]
    whole_run: list[TallyTable]
    request_metric: str | None
    objectives: list[tuple[ObjectiveLine, list[dict[str, Any]]]]
    over_time: list[Chart]
    resources: list[Chart]
    generator_words: str
    generator_rows: list[tuple[str, str]]
    workload: list[tuple[str, str]]
    mix: tuple[list[str], list[list[str]]]
    machine: list[tuple[str, str]]
    events: list[tuple[str, str, str]]
    noted: list[tuple[str, str]]
    facts: dict[str, Any] = field(default_factory=dict)
    trials: TrialsSection | None = None
    long_run: list[Chart] = field(default_factory=list)
    lead: list[Chart] = field(default_factory=list)
    time_end: float = 0.0
    time_unit: str = "s"
    has_resources: bool = False
    topology: Topology | None = None
    is_empty: bool = False

    @property
    def trial_charts(self) -> list[Chart]:
        """Those of an experiment made of trials."""
        return self.trials.charts if self.trials else []

    @property
    def proof(self) -> list[Chart]:
        """The one that stands beside the first answer, and not in its section; none without an answer."""
        return (self.lead or self.trial_charts or self.curves or self.long_run)[:1] if self.findings else []

    @property
    def timed(self) -> set[str]:
        """The charts that share one time axis."""
        return {chart.key for chart in (*self.lead, *self.over_time, *self.resources)}

    @property
    def charts(self) -> list[Chart]:
        """Every chart of the page, in order."""
        return [
            *self.lead,
            *self.long_run,
            *self.curves,
            *self.trial_charts,
            *self.over_time,
            *self.resources,
        ]


def build(run: RunEvidence) -> Page:
    """The page of a run, finished or not."""
    unit = wording.level_unit(run.manifest)
    main = main_finding(run)
    views = views_of(run.findings, unit)
    started = wording.moment(run.manifest.get("started_unix"))
    objectives = [line for item in views for line in item.objectives]
    tallies, whole = _tally_tables(run, main, unit, objectives)
    one_level = _has_one_level(run)
    axis = time_charts.axis_of(run)
    over_time = time_charts.over_time(run, unit, has_levels=not one_level)
    lead = [replace(chart, key=f"lead-{chart.key}") for chart in over_time if one_level and chart.key == _leading(run)]
    return Page(
        title=_title(run),
        subtitle=f"{started} · {wording.duration(run.lasted_s)} · {run.name}",
        status=run.state,
        status_words=STATUS_WORDS.get(run.state, run.state),
        failure=failure_of(run.events) if run.state == "failed" else "",
        unit=unit,
        findings=views,
        measured=measured(run, unit),
        curves=_curves(run, main, unit),
        curves_note=_curves_note(run.steps, section(main, "capacity")),
        steps=[] if one_level else tables.step_rows(run.steps),
        tallies=tallies,
        whole_run=whole,
        request_metric=run.request_metric,
        objectives=[(line, tables.objective_rows(line)) for line in objectives],
        over_time=over_time,
        resources=time_charts.resource_charts(run),
        generator_words=_NO_GENERATOR if _is_imported(run) else str(section(main, "generator").get("words") or ""),
        generator_rows=[] if _is_imported(run) else tables.generator_rows(run, main),
        workload=tables.workload_rows(run.manifest),
        mix=tables.mix_rows(run.manifest),
        machine=tables.machine_rows(run.manifest),
        events=_event_rows(run),
        noted=run.noted,
        facts=_method_facts(run),
        trials=trials_section(run),
        long_run=long_charts.charts_of(run),
        lead=lead,
        time_end=axis.end,
        time_unit=axis.unit,
        topology=None if run.plan else topology_of(run, main, unit),
        has_resources=bool(run.resources.values.keys() - {GENERATOR}),
        is_empty=not run.timeline.bins and not run.trials and not run.findings,
    )


def _leading(run: RunEvidence) -> str:
    """The chart that says most: of times, or of failures where there is nothing else, whose times say nothing."""
    requests = run.requests.values()
    return "time-errors" if requests and all(one.failed == one.judged for one in requests) else "time-response"


def _has_one_level(run: RunEvidence) -> bool:
    """Whether it is a plain run whose load nobody scaled: nothing is a function of its level."""
    levels, judged = {moment.level for moment in run.timeline.bins}, {step.level for step in run.steps}
    return run.manifest.get("experiment") == "run" and max(len(levels), len(judged)) <= 1


_NO_GENERATOR = "The source has nothing about its generator, so that cannot be ruled out as the limit."


def _is_imported(run: RunEvidence) -> bool:
    """Whether another tool made the load, so that facts of machine and generator are not those of the test."""
    return run.manifest.get("experiment") == "analyze"


def _title(run: RunEvidence) -> str:
    experiment = str(run.manifest.get("experiment") or "run").capitalize()
    if _is_imported(run):
        return f"{experiment}: {Path(str(section(run.manifest, 'options').get('source') or run.name)).name}"
    script = section(run.manifest, "script").get("path")
    subject = Path(str(script)).name if script else run.name
    target = section(section(run.manifest, "study"), "target").get("url")
    return f"{experiment}: {subject}{f' on {target}' if target else ''}"


def main_finding(run: RunEvidence) -> Mapping[str, Any]:
    """The finding behind the curves: the first with steps or a capacity, else the first, else empty."""
    for finding in run.findings:
        if finding.get("steps") or finding.get("capacity"):
            return finding
    return run.findings[0] if run.findings else {}


def measured(run: RunEvidence, unit: str) -> list[tuple[str, str]]:
    """What a run without an answer still shows."""
    bins = run.timeline.bins
    requests = sum(tally.count for tally in run.requests.values())
    failed = sum(tally.failed for tally in run.operations.values())
    carried = [step.level for step in run.steps if step.verdict == "good"]
    rows = [
        ("Recorded for", wording.duration(run.lasted_s)),
        ("Highest level", wording.level(max((item.level for item in bins), default=None), unit)),
        ("Iterations planned", wording.number(sum(item.planned for item in bins))),
        ("Iterations done", wording.number(sum(item.done for item in bins))),
        ("Requests", wording.number(requests)),
        ("Failed requests", wording.number(failed)),
        ("Steps begun", wording.number(len(run.steps))),
    ]
    if carried:
        rows.append(("Carried so far", wording.level(max(carried), unit)))
    return rows


def _curves(run: RunEvidence, main: Mapping[str, Any], unit: str) -> list[Chart]:
    marks = level_charts.marks_of(main, run.manifest, run.steps)
    if run.manifest.get("experiment") in long_charts.EXPERIMENTS or _has_one_level(run):
        return []
    drawn = (
        (
            "level-throughput",
            "Throughput over the load",
            _throughput_reading(run, main),
            level_charts.throughput_chart(run.steps, marks, unit),
        ),
        (
            "level-response",
            "Response time over the load",
            "Half of the requests took at most p50, nine in ten at most p90. A steep rise is work that queues.",
            level_charts.response_chart(run.steps, marks, unit),
        ),
        (
            "level-utilisation",
            "Utilisation over the load",
            "100% of the host is all its cores; 100% of a process is one core, which is all that one thread can use.",
            level_charts.utilisation_chart(run.steps, marks, unit),
        ),
    )
    return [Chart(key, title, reading, spec) for key, title, reading, spec in drawn if spec is not None]


def _throughput_reading(run: RunEvidence, main: Mapping[str, Any]) -> str:
    if not _draws_good_answers(run):
        return (
            "While the target keeps up, done equals planned. Where done stays level and planned rises on, it is full."
        )
    if shown.is_of_users(main):
        return "The mean of each level. More users bring more throughput until the target, or the generator, is full."
    return "The mean of each level. While the target keeps up, throughput goes with the load."


def _draws_good_answers(run: RunEvidence) -> bool:
    """Whether its steps are those that another tool's samples are asked for."""
    return bool(run.steps) and all(step.is_imported for step in run.steps)


def _curves_note(steps: list[Step], capacity: Mapping[str, Any]) -> str:
    words = (
        "Each point is one step: a stretch of time at one level. The line runs through the median of steps at a level."
    )
    if any(step.verdict in RANGE_FINDING for step in steps):
        words += " Points of the range finding are short and judge nothing."
    means = capacity.get("knee_means")
    if means:
        words += f" The knee is {means}." if capacity.get("knee") is not None else f" No knee is marked: {means}"
    return words


def _tally_tables(
    run: RunEvidence, main: Mapping[str, Any], unit: str, objectives: list[ObjectiveLine]
) -> tuple[list[TallyTable], list[TallyTable]]:
    """Tables at the level that matters most, and of the whole run (all levels mixed)."""
    if run.plan:
        return [], []  # variants mixed would be a number of nothing
    at_level: list[TallyTable] = []
    one_level = _has_one_level(run)
    for level, why in [] if one_level else _levels_of_interest(run, main):
        steps = _steps_at(run.steps, level)
        seconds = sum(step.measured_s for step in steps)
        done = sum((step.done_per_s or 0.0) * step.measured_s for step in steps)
        note = f"{why}; {wording.duration(seconds)} in {len(steps)} step{'s' if len(steps) > 1 else ''}."
        heading = f"at {wording.level(level, unit)}"
        for which, metric in (("operations", run.operation_metric), ("requests", run.request_metric)):
            ended_per_s = done / seconds if seconds and done and which == "operations" else None
            rows = tables.tally_rows(tables.merged(steps, which), seconds, objectives, level, ended_per_s)
            at_level.append(_table(f"{which.capitalize()} {heading}", note, metric, rows))
    note = "All levels mixed, overload and pauses between steps included: for completeness, not for comparison."
    if one_level:
        note = f"Rates are over {wording.number(run.lasted_s)} s."
    whole = [
        _table(f"{which.capitalize()}, whole run", note, metric, tables.tally_rows(tallies, run.lasted_s))
        for which, tallies, metric in (
            ("operations", run.operations, run.operation_metric),
            ("requests", run.requests, run.request_metric),
        )
    ]
    return [table for table in at_level if table.rows], [table for table in whole if table.rows]


def _table(heading: str, note: str, metric: str | None, rows: list[dict[str, Any]]) -> TallyTable:
    return TallyTable(heading, note, metric or "no times were recorded", rows, any(row["verdicts"] for row in rows))


def _levels_of_interest(run: RunEvidence, main: Mapping[str, Any]) -> list[tuple[float, str]]:
    """The levels whose tables are shown, and why: the expected one and the highest carried, else the longest held."""
    marks = level_charts.marks_of(main, run.manifest, run.steps)
    carried = "up to which throughput rises" if shown.is_of_users(main) else "that was carried"
    wanted = ((marks.expected, "The expected load"), (marks.good, f"The highest level {carried}"))
    found = {level: why for level, why in wanted if level is not None and _steps_at(run.steps, level)}
    if not found and run.steps:
        found[max(run.steps, key=lambda step: step.duration_s).level] = "The level held longest"
    return list(found.items())


def _steps_at(steps: list[Step], level: float) -> list[Step]:
    """Steps at a level, without those of the range finding if there are others."""
    found = [step for step in steps if step.level == level]
    return [step for step in found if step.verdict not in RANGE_FINDING] or found


def _event_rows(run: RunEvidence) -> list[tuple[str, str, str]]:
    """Events other than levels and steps, which the table of steps shows: second, kind, words."""
    skipped = {
        "level",
        "step_started",
        "step_ended",
        "experiment_started",
        "capacity_result",
        "data_volume",
        "judgement",
        "declared",
    }
    skipped |= {"switch", "ready"} if run.plan else set()
    skipped |= {
        "hold_result",
        "grow_result",
        "drain_result",
        "grow_window",
        "grow_resumed",
        "grow_settings",
        "forecast",
        "drain_settings",
        "database_statement",
        "database_step",
        "database_run",
    }
    rows = []
    for event in run.events:
        kind = str(event.get("kind"))
        if kind not in skipped:
            rest = {key: value for key, value in event.items() if key not in ("t_unix", "second", "kind")}
            rows.append(
                (
                    wording.number(event.get("second"), 6),
                    kind.replace("_", " "),
                    shorten(tables.plain(rest), 300, placeholder=" …"),
                )
            )
    return rows[: tables.MOST_ROWS]


def _method_facts(run: RunEvidence) -> dict[str, Any]:
    """Facts on which the words on method depend."""
    workload = section(section(run.manifest, "study"), "workload")
    options = section(run.manifest, "options")
    return {
        "open": str(workload.get("model") or ("open" if run.operation_metric == OPEN_METRIC else "closed")) == "open",
        "even": options.get("arrival_process") == "even",
        "reset": any(event.get("kind") == "reset" for event in run.events),
        "experiment": str(run.manifest.get("experiment") or "run"),
        "width_s": run.timeline.width_s,
        "good_answers": _draws_good_answers(run),
    }


OPEN_METRIC = "iteration_response_time"
