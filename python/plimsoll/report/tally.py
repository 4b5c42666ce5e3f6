"""What happened to one operation or request over some seconds, exactly mergeable (DESIGN, law 6).

Memory depends on the spread of the values, never on their number.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from plimsoll.runs import Histogram, Series


@dataclass
class Tally:
    """Times in ms, and how many of the `judged` requests `failed`."""

    times: Histogram = field(default_factory=Histogram)
    failed: int = 0
    judged: int = 0

    @property
    def count(self) -> int:
        """How many times were seen."""
        return self.times.count

    @property
    def error_share(self) -> float | None:
        """Failed requests ÷ requests; None where nothing was judged."""
        return self.failed / self.judged if self.judged else None

    def add_failures(self, series: Series) -> None:
        """Add one series of http_req_failed: `passes` requests failed of `total`."""
        self.failed += int(series.passes or 0)
        self.judged += int(series.total or 0)

    def merge(self, other: Tally) -> None:
        """Add another tally; the result is exactly that of having seen both."""
        self.times.add(other.times)
        self.failed += other.failed
        self.judged += other.judged

    def percentiles_ms(self, quantiles: Iterable[float]) -> list[float | None]:
        """Time in ms at each quantile in [0, 1]; None without samples."""
        wanted = list(quantiles)
        return self.times.percentiles(wanted).tolist() if self.count else [None] * len(wanted)

    def percentile_ms(self, quantile: float) -> float | None:
        """Time in ms at `quantile` in [0, 1]; None without samples."""
        return self.percentiles_ms([quantile])[0]
