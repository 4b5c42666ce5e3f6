"""The steps of a run: from its finding where there is one, else from its events, else from the levels themselves.

A killed run has no finding, and its report still shows what was measured at each level. Numbers that a finding does not
carry are filled in from the seconds of the step.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from plimsoll.findings.imported import shown
from plimsoll.report.tally import Tally
from plimsoll.report.wording import is_number
from plimsoll.runs.readings.stretches import level_stretches

SHORTEST_STRETCH_S = 3
RANGE_FINDING = ("probe", "behind")  # verdicts of steps too short to prove anything
MOST_STRETCHES = 60


@dataclass
class Step:
    """One stretch of time at one level; times in s since the run's start, rates per s.

    `measured_from_s` lies in [start_s, end_s]: what comes before is warm-up and counts in no number. `stated_ms`: the
    times that a published table states of it, by statistic. `is_imported`: of another tool's results, which say nothing
    of what was planned; what is done there are good answers.
    """

    level: float
    start_s: float
    end_s: float
    measured_from_s: float = 0.0
    verdict: str = "unknown"
    reasons: list[str] = field(default_factory=list)
    planned_per_s: float | None = None
    done_per_s: float | None = None
    p50_ms: float | None = None
    p90_ms: float | None = None
    p99_ms: float | None = None
    errors: int | None = None
    backlog_end: int | None = None
    in_flight_end: int | None = None
    volume_start: float | None = None
    cpu: dict[str, float] = field(default_factory=dict)
    stated_ms: dict[str, float] = field(default_factory=dict)
    planned: int = 0
    done: int = 0
    is_imported: bool = False
    times: Tally = field(default_factory=Tally)
    operations: dict[str, Tally] = field(default_factory=dict)
    requests: dict[str, Tally] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.measured_from_s = min(max(self.measured_from_s, self.start_s), self.end_s)

    @property
    def duration_s(self) -> float:
        """Seconds the step took."""
        return max(0.0, self.end_s - self.start_s)

    @property
    def measured_s(self) -> float:
        """Seconds of the step that count: without its warm-up."""
        return max(0.0, self.end_s - self.measured_from_s)

    @property
    def unfinished_end(self) -> int | None:
        """Iterations that waited or ran when the step ended; None where neither is known."""
        known = [count for count in (self.backlog_end, self.in_flight_end) if count is not None]
        return sum(known) if known else None

    def fill(self) -> None:
        """Set what the finding left out from the seconds seen."""
        if self.measured_s:
            planned = None if self.is_imported else self.planned / self.measured_s
            self.planned_per_s = first_number(self.planned_per_s, planned)
            self.done_per_s = first_number(self.done_per_s, self.done / self.measured_s)
        p50_ms, p90_ms, p99_ms = self.times.percentiles_ms((0.50, 0.90, 0.99))
        self.p50_ms = first_number(self.p50_ms, p50_ms)
        self.p90_ms = first_number(self.p90_ms, p90_ms)
        self.p99_ms = first_number(self.p99_ms, p99_ms)
        if self.errors is None and self.requests:
            self.errors = sum(tally.failed for tally in self.requests.values())


def first_number(*values: Any) -> Any:
    """The first value that is a number; None if none is."""
    return next((value for value in values if is_number(value)), None)


def step_of_limit(steps: Sequence[Step]) -> Step | None:
    """The longest of those that were too much, else of those at the highest level; None without one that lasted."""
    timed = [step for step in steps if step.measured_s]
    top = max((step.level for step in timed), default=None)
    wanted = [step for step in timed if step.verdict == "bad"] or [step for step in timed if step.level == top]
    return max(wanted, key=lambda step: step.measured_s, default=None)


def steps_from_findings(findings: Sequence[Mapping[str, Any]]) -> list[Step]:
    """The steps of the first finding that has any; entries without level or times are left out."""
    for finding in findings:
        entries = finding.get("steps") or ()
        if finding.get("experiment") == "analyze":
            entries = [_imported(entry, finding) for entry in entries if isinstance(entry, Mapping)]
        steps = [step for entry in entries if (step := _from_entry(entry)) is not None]
        if steps:
            return steps
    return []


def _imported(entry: Mapping[str, Any], finding: Mapping[str, Any]) -> dict[str, Any]:
    """The entry as its page calls it."""
    told = {"verdict": shown.judged_as(entry, finding), "done_per_s": shown.good_per_s(entry), "planned_per_s": None}
    return {**entry, **told, "is_imported": True}


def _from_entry(entry: Any) -> Step | None:
    if not isinstance(entry, Mapping) or not is_number(entry.get("level")):
        return None
    if entry.get("step_kind") == "baseline":  # one user alone, which is no level of the load
        return None
    timeless = entry.get("start_s", 0) is None and entry.get("end_s", 0) is None  # a row of a published table
    if not timeless and not all(is_number(entry.get(key)) for key in ("start_s", "end_s")):
        return None
    start_s, end_s = (0.0, 0.0) if timeless else (float(entry["start_s"]), float(entry["end_s"]))
    step = Step(float(entry["level"]), start_s, end_s, first_number(entry.get("measured_from_s"), start_s))
    step.verdict = str(entry.get("verdict") or "unknown")
    step.is_imported = bool(entry.get("is_imported"))
    if entry.get("step_kind") == "expected" and step.verdict == "undecided":
        step.verdict = "expected"  # held for the objectives; as a capacity it had nothing to decide
    if entry.get("step_kind") == "probe" and step.verdict == "bad" and not entry.get("given_up"):
        step.verdict = "behind"  # too short to prove that the level is too much
    step.reasons = [str(reason) for reason in entry.get("reasons") or ()]
    for name in (
        "planned_per_s",
        "done_per_s",
        "p50_ms",
        "p90_ms",
        "p99_ms",
        "errors",
        "backlog_end",
        "in_flight_end",
        "volume_start",
    ):
        setattr(step, name, first_number(entry.get(name)))
    stated = entry.get("times_ms")
    if isinstance(stated, Mapping):
        exact = {str(name): bounds for name, bounds in stated.items() if isinstance(bounds, list | tuple)}
        step.stated_ms = {name: float(low) for name, (low, high) in exact.items() if low == high and is_number(low)}
    cpu = entry.get("cpu")
    if isinstance(cpu, Mapping):
        step.cpu = {str(name): float(share) for name, share in cpu.items() if is_number(share)}
    return step


def steps_from_events(events: Iterable[Mapping[str, Any]], end_s: float) -> list[Step]:
    """Pairs of step_started and step_ended, which says as much as a finding's step; without it, until `end_s`."""
    steps: list[Step | None] = []
    opened: dict[str, Any] | None = None
    for event in events:
        second, kind = event.get("second"), event.get("kind")
        if kind == "step_amended":
            _amend(steps, event)
        if not is_number(second) or kind not in ("step_started", "step_ended"):
            continue
        if opened is not None:
            steps.append(_from_entry(opened | {"end_s": second} | (dict(event) if kind == "step_ended" else {})))
        opened = {"level": event.get("level"), "start_s": second} if kind == "step_started" else None
    if opened is not None and end_s > opened["start_s"]:
        steps.append(_from_entry(opened | {"end_s": end_s}))
    return [step for step in steps if step is not None]


def _amend(steps: list[Step | None], event: Mapping[str, Any]) -> None:
    """Put the numbers of a step to which something was added since it ended in place of those it ended with."""
    for at, step in enumerate(steps):
        if step is not None and (step.start_s, step.level) == (event.get("start_s"), event.get("level")):
            steps[at] = _from_entry(dict(event))


def steps_from_levels(levels: Iterable[tuple[int, float]]) -> list[Step]:
    """Stretches of at least SHORTEST_STRETCH_S at one level above 0, of (second, level) in order of time.

    A load that changes all the time has no steps: more than MOST_STRETCHES give an empty list.
    """
    steps = [Step(*stretch) for stretch in level_stretches(levels)]
    kept = [step for step in steps if step.duration_s >= SHORTEST_STRETCH_S]
    return kept if len(kept) <= MOST_STRETCHES else []
