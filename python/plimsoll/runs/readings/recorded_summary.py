"""The summary of a plain run from its seconds alone, where the run did not live to write one: counts, failures, checks
and p95 in the form of the summary. Thresholds are judged at the end, so there are none."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from plimsoll.runs.histogram import Histogram
from plimsoll.runs.metric_names import DURATION
from plimsoll.runs.reader import RunReader
from plimsoll.runs.readings.failures import METRIC as FAILED
from plimsoll.runs.readings.failures import Failures
from plimsoll.runs.readings.script_outcomes import CHECKS, SESSIONS, ScriptOutcomes
from plimsoll.runs.snapshot import Series

REQUESTS, ITERATIONS = "http_reqs", "iterations"
_METRICS = (REQUESTS, ITERATIONS, CHECKS, FAILED, DURATION, SESSIONS)
_TAGS = ("group", "check", "status", "error", "error_code")


@dataclass
class Recorded:
    """What the seconds of a run hold: `seconds` of them; counts, rates as (passes, total), response times, what
    became of the script's iterations and checks, and why requests failed."""

    seconds: int = 0
    counts: dict[str, float] = field(default_factory=dict)
    rates: dict[str, tuple[int, int]] = field(default_factory=dict)
    times: Histogram = field(default_factory=Histogram)
    script: ScriptOutcomes = field(default_factory=ScriptOutcomes)
    failures: Failures = field(default_factory=Failures)

    def add(self, series: Iterable[Series]) -> None:
        """Add series, whatever seconds they are of."""
        for one in series:
            if one.kind == "counter":
                self.counts[one.metric] = self.counts.get(one.metric, 0.0) + (one.value or 0.0)
            elif one.kind == "trend":
                self.times.add_series(one)
            else:
                passes, total = self.rates.get(one.metric, (0, 0))
                self.rates[one.metric] = passes + int(one.passes or 0), total + int(one.total or 0)
            self.failures.add(one)

    @property
    def summary(self) -> dict[str, Any]:
        """The metrics as the summary has them; of what was not seen there is none."""
        found: dict[str, Any] = {
            name: {"type": "counter", "values": {"count": count, "rate": count / max(1, self.seconds)}}
            for name, count in self.counts.items()
        }
        for name, (passes, total) in self.rates.items():
            if total:
                values = {"rate": passes / total, "passes": passes, "fails": total - passes}
                found[name] = {"type": "rate", "values": values}
        if self.times.count:
            values = {"p(95)": self.times.percentile(0.95), "max": self.times.max}
            found[DURATION] = {"type": "trend", "contains": "time", "values": values}
        return found


def recorded(run: RunReader) -> Recorded:
    """What the run's seconds hold, in memory that does not grow with them. RunDirectoryError if they cannot be read."""
    found = Recorded()
    for block in run.blocks(_METRICS):
        for load in block.load:
            found.seconds = max(found.seconds, load.second + 1)
            found.script.threw += load.threw
        for merged in block.merged((), _TAGS):
            found.add(merged.series)
            found.script.add(merged.series)
    return found
