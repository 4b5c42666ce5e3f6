"""All that the report shows of a run, read from its run directory in memory that does not grow with its length."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from plimsoll.report.steps import Step, steps_from_events, steps_from_findings, steps_from_levels
from plimsoll.report.tally import Tally
from plimsoll.report.timeline import Bin, Resources, Timeline
from plimsoll.runs import RunReader, Series, Snapshot
from plimsoll.runs.generator_seconds import RESPONSE_METRICS

# The first of these that an operation or request has is the time that is reported for it.
OPERATION_TIMES = ("iteration_response_time", "iteration_duration")
REQUEST_TIMES = ("http_req_response_time", "http_req_duration")


@dataclass
class RunEvidence:
    """A run as the report sees it; times in s since its start, response times in ms."""

    name: str
    state: str
    manifest: dict[str, Any]
    findings: list[dict[str, Any]]
    events: list[dict[str, Any]] = field(default_factory=list)
    steps: list[Step] = field(default_factory=list)
    operations: dict[str, Tally] = field(default_factory=dict)
    requests: dict[str, Tally] = field(default_factory=dict)
    timeline: Timeline = field(default_factory=Timeline)
    resources: Resources = field(default_factory=Resources)
    duration_s: int = 0
    operation_metric: str | None = None
    request_metric: str | None = None
    plan: dict[str, Any] = field(default_factory=dict)
    trials: list[dict[str, Any]] = field(default_factory=list)

    @property
    def times_metric(self) -> str | None:
        """The metric behind "response time" over all operations: of requests where there are any."""
        return self.request_metric or self.operation_metric


def read_run(run_dir: Path) -> RunEvidence:
    """Read the run directory, finished or not; RunDirectoryError if it is none."""
    reader = RunReader(run_dir)
    run = RunEvidence(
        Path(run_dir).resolve().name, reader.state, reader.manifest, read_findings(run_dir), reader.events()
    )
    run.plan, run.trials = reader.plan(), reader.trials()
    run.steps = steps_from_findings(run.findings)
    if not run.steps and not run.plan:
        seconds = [(snapshot.second, snapshot.level) for snapshot in reader.snapshots(metrics=())]
        end_s = seconds[-1][0] + 1 if seconds else 0
        run.steps = steps_from_events(run.events, end_s) or steps_from_levels(seconds)
    run.operation_metric, run.request_metric = reader.first_metric(OPERATION_TIMES), reader.first_metric(REQUEST_TIMES)
    shown = {run.operation_metric or "", run.request_metric or "", "http_req_failed"}
    for snapshot in reader.snapshots(metrics=shown):
        _add_second(run, snapshot)
    for line in reader.resources():
        if isinstance(line.get("values"), Mapping) and isinstance(line.get("second"), int | float):
            run.resources.add(int(line["second"]), str(line.get("source", "unknown")), line["values"])
    for step in run.steps:
        step.fill()
        _fill_cpu(step, run.resources)
    return run


def _add_second(run: RunEvidence, snapshot: Snapshot) -> None:
    second = snapshot.second
    run.duration_s = max(run.duration_s, second + 1)
    steps = [step for step in run.steps if step.measured_from_s <= second < step.end_s]
    moment = _bin(snapshot)
    for step in steps:
        step.planned += moment.planned
        step.done += moment.done
        step.backlog_end, step.in_flight_end = moment.backlog, moment.in_flight
    for series in snapshot.series:
        _add_series(run, steps, moment, series)
    run.timeline.add(moment)


def _bin(snapshot: Snapshot) -> Bin:
    return Bin(
        start_s=snapshot.second,
        seconds=1,
        planned=snapshot.planned,
        done=snapshot.done,
        late=snapshot.late,
        dropped=snapshot.dropped,
        level=snapshot.level,
        backlog=snapshot.backlog,
        in_flight=snapshot.in_flight,
        generator_cpu_s=float(snapshot.generator.get("cpu_s") or 0),
        lag_p99_ms=float(snapshot.generator.get("lag_p99_ms") or 0),
    )


def _add_series(run: RunEvidence, steps: list[Step], moment: Bin, series: Series) -> None:
    """Add one series to the whole run, the steps in force and the moment."""
    operation = str(series.tags.get("scenario") or "default")
    request = str(series.tags.get("name") or series.tags.get("url") or "")
    places: list[RunEvidence | Step] = [run, *steps]
    if series.metric == run.operation_metric:
        for place in places:
            place.operations.setdefault(operation, Tally()).times.add_series(series)
    if series.metric == run.request_metric and request:
        for place in places:
            place.requests.setdefault(request, Tally()).times.add_series(series)
    if series.metric == run.times_metric:
        for tally in [moment.times, *(step.times for step in steps)]:
            tally.times.add_series(series)
    if series.metric == "http_req_failed":
        moment.times.add_failures(series)
        for place in places:
            place.operations.setdefault(operation, Tally()).add_failures(series)
            place.requests.setdefault(request, Tally()).add_failures(series)


def _fill_cpu(step: Step, resources: Resources) -> None:
    """CPU of every source over the step, where the finding does not say: 1 is all cores of the host, or one core of a
    process."""
    if step.cpu:
        return
    for source, names in resources.values.items():
        name = "cpu_share" if "cpu_share" in names else "cpu_cores_used"
        share = resources.mean(source, name, step.measured_from_s, step.end_s)
        if share is not None:
            step.cpu[source] = share


def read_findings(run_dir: Path) -> list[dict[str, Any]]:
    """The findings of a run; of one that was killed before it had any, what its finished steps or its seconds prove.

    Empty where nothing can be said; RunDirectoryError if `run_dir` is no run directory.
    """
    reader = RunReader(run_dir)
    written = [dict(finding) for finding in reader.findings() if isinstance(finding, Mapping)]
    return written or _partial_findings(reader)


def _partial_findings(reader: RunReader) -> list[dict[str, Any]]:
    if reader.manifest.get("experiment") == "run":
        from plimsoll.findings.run import run_finding_of

        status = "interrupted" if reader.state in ("interrupted", "killed", "running") else reader.state
        found = run_finding_of(
            reader.snapshots(metrics=[reader.first_metric(RESPONSE_METRICS) or ""]),
            reader.resources(),
            status=status,
            run_path=str(reader.path),
        )
        return [found] if found else []
    if reader.plan():
        from plimsoll.findings.of_trials import finding_of_trials

        return [finding_of_trials(reader, status="interrupted" if reader.state != "failed" else "failed")]
    if reader.manifest.get("experiment") in ("hold", "grow", "drain"):
        return _partial_long_run(reader)
    proven = any("measured_from_s" in event for event in reader.events("step_ended"))
    if reader.manifest.get("experiment") != "capacity" or not proven:
        return []
    from plimsoll.findings.capacity import capacity_findings, result_of_run
    from plimsoll.findings.further import further_findings

    study = reader.manifest.get("study") or {}
    findings = capacity_findings(
        result_of_run(reader),
        reader,
        expected_users=study.get("expected_users"),
        objectives=study.get("objectives") or (),
        run_path=str(reader.path),
    )
    return findings + further_findings(findings[0], reader)


def _partial_long_run(reader: RunReader) -> list[dict[str, Any]]:
    """What a killed hold, grow or drain proves; their findings read the run directory anyway."""
    if next(iter(reader.snapshots(metrics=())), None) is None:
        return []
    path, experiment = str(reader.path), reader.manifest["experiment"]
    if experiment == "grow":
        from plimsoll.findings.grow import grow_findings

        return grow_findings(reader, run_path=path)
    if experiment == "drain":
        from plimsoll.findings.drain import drain_findings

        return drain_findings(reader, run_path=path)
    from plimsoll.findings.hold import hold_findings

    study = reader.manifest.get("study") or {}
    return hold_findings(reader, objectives=study.get("objectives") or (), run_path=path)
