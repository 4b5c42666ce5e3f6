"""All that the report shows of a run, read from its run directory in memory that does not grow with its length."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from plimsoll.findings.resources import Means, means_of_steps
from plimsoll.findings.validity.self_diagnosis import damage_words, unread_words
from plimsoll.report.over_time.timeline import Bin, Resources, Timeline
from plimsoll.report.steps import Step, step_of_limit, steps_from_events, steps_from_findings, steps_from_levels
from plimsoll.report.tally import Tally
from plimsoll.report.wording import is_number
from plimsoll.runs import RunReader, Series, Snapshot
from plimsoll.runs.format.minute_blocks import Merged
from plimsoll.runs.kept.labels import notes_of, when_words
from plimsoll.runs.readings.generator_seconds import generator_seconds_of

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
    looked_at: Step | None = None  # the step that says most of the limit, and the means of all probes in it
    means: Means = field(default_factory=dict)
    noted: list[tuple[str, str]] = field(default_factory=list)  # when people noted what
    notes: list[tuple[float, str]] = field(default_factory=list)  # at which second, of those made while it went on

    @property
    def lasted_s(self) -> float:
        """How long it took, which its rates are over: of a plain run to the end of its last iteration, of another
        tool's result from its first sample to its last; else in whole seconds."""
        spans = [
            span
            for finding in self.findings
            for key, name in (("outcome", "lasted_s"), ("totals", "seconds"))
            if is_number(span := (finding.get(key) or {}).get(name)) and span > 0
        ]
        return float(min([*spans[:1], self.duration_s]))

    @property
    def times_metric(self) -> str | None:
        """The metric behind "response time" over all operations: of requests where there are any."""
        return self.request_metric or self.operation_metric


def read_run(run_dir: Path) -> RunEvidence:
    """Read the run directory, finished or not; RunDirectoryError if it is none."""
    reader = RunReader(run_dir)
    run = RunEvidence(Path(run_dir).resolve().name, reader.state, reader.manifest, _findings(reader), reader.events())
    notes = list(notes_of(reader.path))
    run.noted = [(when_words(one), str(one["text"])) for one in notes]
    run.notes = [(float(one["second"]), str(one["text"])) for one in notes if is_number(one.get("second"))]
    run.plan, run.trials = reader.plan(), reader.trials()
    run.steps = steps_from_findings(run.findings)
    if not run.steps and not run.plan:
        seconds = [(snapshot.second, snapshot.level) for snapshot in reader.snapshots(metrics=())]
        end_s = seconds[-1][0] + 1 if seconds else 0
        run.steps = steps_from_events(run.events, end_s) or steps_from_levels(seconds)
    run.operation_metric, run.request_metric = reader.first_metric(OPERATION_TIMES), reader.first_metric(REQUEST_TIMES)
    for snapshot in reader.snapshots(metrics=()):
        _add_second(run, snapshot)
    run.timeline.end_at(run.lasted_s)
    for step in run.steps:
        step.end_s = max(step.measured_from_s, min(step.end_s, run.lasted_s)) if step.duration_s else step.end_s
    _tell_damage(run, reader)
    shown = {run.operation_metric or "", run.request_metric or "", "http_req_failed"}
    bounds = sorted({bound for step in run.steps for bound in (step.measured_from_s, step.end_s)})
    begins = [moment.start_s for moment in run.timeline.bins]
    in_bins = (run.times_metric or "", "http_req_failed")
    windows = [(step.measured_from_s, step.end_s) for step in run.steps]
    for block in reader.blocks(shown, arrived_in=windows):
        for merged in block.merged(bounds, ("scenario", "name", "url", "status")):
            _add_to_steps(run, merged)
        for merged in block.merged(begins, ("status",), in_bins):
            _add_to_bin(run, merged)
    _add_resources(run, reader.resources())
    for step in run.steps:
        step.fill()
        _fill_cpu(step, run.resources)
    return run


def _add_resources(run: RunEvidence, lines: Iterable[Mapping[str, Any]]) -> None:
    """Add what probes saw to the run, and its means to the step that is looked at; lines are read once."""

    def added() -> Iterator[Mapping[str, Any]]:
        for line in lines:
            if isinstance(line.get("values"), Mapping) and isinstance(line.get("second"), int | float):
                run.resources.add(int(line["second"]), str(line.get("source", "unknown")), line["values"])
                yield line

    run.looked_at = step_of_limit(run.steps)
    step = run.looked_at
    windows = [{"start_s": step.start_s, "measured_from_s": step.measured_from_s, "end_s": step.end_s}] if step else []
    [run.means] = means_of_steps(added(), windows) or [{}]


def _add_second(run: RunEvidence, snapshot: Snapshot) -> None:
    run.duration_s = max(run.duration_s, snapshot.second + 1)
    moment = _bin(snapshot)
    for step in _steps_at(run, snapshot.second):
        step.planned += moment.planned
        step.done += moment.done
        step.backlog_end, step.in_flight_end = moment.backlog, moment.in_flight
    run.timeline.add(moment)


def _add_to_steps(run: RunEvidence, merged: Merged) -> None:
    """Add what was seen in seconds of the same steps to them and to the whole run."""
    steps = _steps_at(run, merged.from_s)
    for series in merged.series:
        _add_series(run, steps, series)


def _add_to_bin(run: RunEvidence, merged: Merged) -> None:
    """Add what was seen in seconds of one bin, whatever its tags."""
    moment = run.timeline.at(merged.from_s)
    for series in merged.series:
        if series.metric == run.times_metric:
            moment.times.times.add_series(series)
        elif series.metric == "http_req_failed":
            moment.times.add_failures(series)
    moment.times.times.settle()


def _steps_at(run: RunEvidence, second: int) -> list[Step]:
    return [step for step in run.steps if step.measured_from_s <= second < step.end_s]


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


def _add_series(run: RunEvidence, steps: list[Step], series: Series) -> None:
    """Add one series to the whole run and the steps in force."""
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
        for step in steps:
            step.times.times.add_series(series)
    if series.metric == "http_req_failed":
        for step in steps:
            step.times.add_failures(series)
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
    return _findings(RunReader(run_dir))


def _tell_damage(run: RunEvidence, reader: RunReader) -> None:
    """That seconds or other lines of the run cannot be read, where its findings, which may be of before, do not."""
    if not run.findings or run.state == "running" or not reader.findings():  # those made now tell it
        return
    notes = list(run.findings[0].get("notes") or [])
    facts, files = generator_seconds_of(reader), reader.damaged_files()
    answer, page = (
        [*unread_words(facts, where), *damage_words(files, where)] for where in ("this answer", "charts and tables")
    )
    untold = [words for known, words in zip(answer, page, strict=True) if known not in notes]
    if untold:
        run.findings[0]["notes"] = [*untold, *notes]


def _findings(reader: RunReader) -> list[dict[str, Any]]:
    written = [dict(finding) for finding in reader.findings() if isinstance(finding, Mapping)]
    if written and reader.manifest.get("experiment") == "run" and "outcome" not in written[0]:  # of an earlier version
        from plimsoll.findings.outcome import outcome_of_run

        written[0]["outcome"] = outcome_of_run(reader)
    if written or reader.manifest.get("experiment") == "analyze":
        return written
    from plimsoll.findings.beside.further import findings_beside
    from plimsoll.findings.of_run import findings_of_run

    found = findings_of_run(reader)
    return found + findings_beside(reader, found)
