"""Response times and failures by operation and by request, of a stretch of a run: what comparisons are made of.

Grows with the number of series and seconds, never with requests. An operation is a scenario of the script (its tag
`scenario`), a request what the script calls it (its tag `name`).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from plimsoll.runs.histogram import Histogram
from plimsoll.runs.metric_names import RESPONSE_METRICS
from plimsoll.runs.readings.failures import Failures, is_unanswered
from plimsoll.runs.readings.script_outcomes import CHECKS, ScriptOutcomes
from plimsoll.runs.snapshot import Series, Snapshot

WORK_METRIC = "iteration_duration"
QUANTILES = {"p50_ms": 0.50, "p90_ms": 0.90, "p95_ms": 0.95, "p99_ms": 0.99}
METRICS = (*RESPONSE_METRICS, WORK_METRIC, "http_req_failed", CHECKS)  # all that is read of a second
MOST_REQUESTS = 100
UNANSWERED = "no answer when the load ended"
Key = tuple[str | None, str | None]
ALL: Key = (None, None)


@dataclass
class Endpoint:
    """Times in ms, and `failed` of `judged` requests, `unanswered` of them without an answer."""

    times: Histogram = field(default_factory=Histogram)
    failed: int = 0
    judged: int = 0
    unanswered: int = 0

    def to_json(self) -> dict[str, Any]:
        """Numbers as a line of trials.jsonl holds them; times are null without samples, or where none was answered."""
        there = self.times.count > 0 and not 0 < self.judged <= self.unanswered
        values = self.times.percentiles(list(QUANTILES.values())) if there else [None] * len(QUANTILES)
        return {
            "count": self.times.count,
            "mean_ms": self.times.mean if there else None,
            **{name: None if value is None else float(value) for name, value in zip(QUANTILES, values, strict=True)},
            "max_ms": self.times.max if there else None,
            "failed": self.failed,
            "requests": self.judged,
        }


class Endpoints:
    """All endpoints of a stretch of time. Keys are (operation, request); (None, None) is everything together."""

    def __init__(self) -> None:
        self.of: dict[Key, Endpoint] = {ALL: Endpoint()}
        self.work: Histogram = Histogram()
        self.failures = Failures()
        self.script = ScriptOutcomes()
        self.seconds = 0
        self.planned = 0
        self.done = 0
        self.dropped = 0
        self.late = 0
        self.unfinished_end = 0
        self.metric: str | None = None

    def add(self, snapshot: Snapshot, epoch: int = 0) -> None:
        """Add one second; its answers only where they are of arrivals of that `epoch` or a later one."""
        self.seconds += 1
        self.planned += int(snapshot.planned)
        self.done += int(snapshot.done)
        self.script.threw += int(snapshot.threw)
        self.script.add(snapshot.series)
        self.dropped += int(snapshot.dropped)
        self.late += int(snapshot.late)
        self.unfinished_end = int(snapshot.backlog) + int(snapshot.in_flight)
        if self.metric is None:
            present = {series.metric for series in snapshot.series if series.count}
            self.metric = next((name for name in RESPONSE_METRICS if name in present), None)
        self.add_answers(snapshot, epoch)

    def add_answers(self, snapshot: Snapshot, epoch: int = 0) -> None:
        """Add the times and failures of a second, as `add`; its counts of arrivals and completions stay out. An
        iteration that the script broke off is a failed request."""
        earlier = [one for one in snapshot.earlier if one.epoch < epoch]
        self._fail(int(snapshot.broke) - sum(one.broke for one in earlier))
        for series in snapshot.series:
            if (series.epoch or snapshot.epoch) < epoch:
                continue
            if series.metric == self.metric:
                for endpoint in self._places(series):
                    endpoint.times.add_series(series)
            if series.metric == WORK_METRIC:
                self.work.add_series(series)
            elif series.metric == "http_req_failed":
                self.failures.add(series)
                for endpoint in self._places(series):
                    endpoint.failed += int(series.passes or 0)
                    endpoint.judged += int(series.total or 0)
                    endpoint.unanswered += int(series.total or 0) if is_unanswered(series) else 0

    def _fail(self, broke: int) -> None:
        self.failures.add_broken(broke)
        self.of[ALL].failed += broke
        self.of[ALL].judged += broke

    def add_unanswered(self, waiting_for: Mapping[str, int]) -> None:
        """Add requests, by name, that were cut off when the load ended: failures without a time."""
        for name, count in waiting_for.items():
            self.failures.causes[UNANSWERED] += count
            for endpoint in (self.of[ALL], self.of.get((None, name))):
                if endpoint is not None:
                    endpoint.failed += count
                    endpoint.judged += count
                    endpoint.unanswered += count

    def _places(self, series: Series) -> Iterable[Endpoint]:
        yield self.of[ALL]
        operation, request = series.tags.get("scenario"), series.tags.get("name")
        for key in ((operation, None), (None, request)):
            if key != ALL and (key in self.of or len(self.of) < MOST_REQUESTS):
                yield self.of.setdefault(key, Endpoint())

    def to_json(self) -> dict[str, Any]:
        """What a line of trials.jsonl says of a trial's measured seconds; times in ms."""
        every = self.of[ALL]
        worked = self.work.count > 0
        return {
            "seconds": self.seconds,
            "planned": self.planned,
            "done": self.done,
            "done_per_s": self.done / self.seconds if self.seconds else None,
            "dropped": self.dropped,
            "late": self.late,
            "unfinished_end": self.unfinished_end,
            "answered": max(0, every.judged - every.failed) if every.judged else self.done,
            "failed": every.failed,
            "requests": every.judged,
            "causes": dict(self.failures.causes),
            "next_step": self.failures.next_step(),
            **self.script.to_json(),
            "times": self.metric,
            "work": {
                "count": self.work.count,
                "mean_ms": self.work.mean if worked else None,
                "p50_ms": self.work.percentile(0.5) if worked else None,
            },
            "endpoints": [
                {"operation": operation, "request": request, **endpoint.to_json()}
                for (operation, request), endpoint in self.of.items()
            ],
        }


def endpoints_of(snapshots: Iterable[Snapshot], skip_s: float = 0.0) -> Endpoints:
    """The endpoints of those seconds, the first `skip_s` of them (by their number) left out."""
    found = Endpoints()
    for snapshot in snapshots:
        if snapshot.second >= skip_s:
            found.add(snapshot)
    return found


def named(endpoint: Mapping[str, Any]) -> str:
    """What a sentence calls an endpoint of a trial: "create_issue", "GET /issues", "all requests"."""
    return str(endpoint.get("operation") or endpoint.get("request") or "all requests")
