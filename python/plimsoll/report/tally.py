"""What happened to one operation or request over some seconds, exactly mergeable (DESIGN, law 6).

Memory depends on the spread of the values, never on their number.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from plimsoll.runs import Histogram, Series
from plimsoll.runs.readings.failures import is_unanswered


@dataclass
class Tally:
    """Times in ms, and how many of the `judged` requests `failed`, and how many of these were `unanswered`."""

    times: Histogram = field(default_factory=Histogram)
    failed: int = 0
    judged: int = 0
    unanswered: int = 0

    @property
    def count(self) -> int:
        """How many times were seen."""
        return self.times.count

    @property
    def answered_times(self) -> Histogram:
        """The times; none where requests were made and none was answered: a refusal has a time and no response."""
        return Histogram() if 0 < self.judged <= self.unanswered else self.times

    @property
    def error_share(self) -> float | None:
        """Failed requests ÷ requests; None where nothing was judged."""
        return self.failed / self.judged if self.judged else None

    def add_failures(self, series: Series) -> None:
        """Add one series of http_req_failed: `passes` requests failed of `total`."""
        self.failed += int(series.passes or 0)
        self.judged += int(series.total or 0)
        self.unanswered += int(series.total or 0) if is_unanswered(series) else 0

    def merge(self, other: Tally) -> None:
        """Add another tally; the result is exactly that of having seen both."""
        self.times.add(other.times)
        self.failed += other.failed
        self.judged += other.judged
        self.unanswered += other.unanswered

    def percentiles_ms(self, quantiles: Iterable[float]) -> list[float | None]:
        """Time in ms at each quantile in [0, 1]; None without samples or answers."""
        wanted, times = list(quantiles), self.answered_times
        return times.percentiles(wanted).tolist() if times.count else [None] * len(wanted)

    def percentile_ms(self, quantile: float) -> float | None:
        """Time in ms at `quantile` in [0, 1]; None without samples or answers."""
        return self.percentiles_ms([quantile])[0]
