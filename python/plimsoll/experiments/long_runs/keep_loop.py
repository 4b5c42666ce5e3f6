"""The loop of one kept objective: what it saw in a second, and where stochastic approximation moves its level (keep.py
has the formula and its sources)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from statistics import fmean, stdev

from plimsoll.runs.histogram import Histogram, bucket_of
from plimsoll.study.objectives import Limit

AIM = 0.95  # of the allowed share is aimed at, so that the objective holds and not only on average
KEEP_BAD = 20  # bad requests that the loop averages over at least: what a percentile needs to be judged
BURSTS = 3  # and over so many busy periods, of which each makes about b requests bad
LEAST_SLOPE = 2.0
MOST_DOWN = 0.2  # of ln level in a second; what is more than that is an overload's
CLEAR_T, FLATTEST = 4.0, 1 / 16


@dataclass(frozen=True)
class Seen:
    """What one objective saw in one second: requests, how many were bad (for a mean: Σ time ÷ limit), their times."""

    requests: int
    bad: float
    times: Histogram | None = None


def allowed_share(limit: Limit) -> float:
    """α: the share of requests that may be bad; 1 for a mean, whose `bad` is a sum."""
    if limit.quantile is not None:
        return 1 - limit.quantile
    return limit.limit if limit.unit == "ratio" else 1.0


def seen_of(limit: Limit, times: Histogram, failed: int, requests: int) -> Seen:
    """What an objective of that limit saw: `times` in ms of its requests, `failed` of `requests`."""
    if limit.unit == "ratio":
        return Seen(requests, failed)
    if limit.quantile is None:
        return Seen(times.count, times.sum / limit.limit, times)
    above = times.bucket_index > int(bucket_of(limit.limit))
    return Seen(times.count, float(times.bucket_count[above].sum()), times)


@dataclass
class Loop:
    """Stochastic approximation of one objective; `log_level` is where it would be if it ruled alone."""

    limit: Limit
    log_level: float
    per_s: float = 0.0
    quiet: float = math.inf
    flatter: float = 1.0
    side: int = 0
    ratios: list[float] = field(default_factory=list)

    @property
    def slope(self) -> float:
        """b: of ln share of bad requests over ln level."""
        arrivals_in_limit = self.per_s * self.limit.limit / 1000 if self.limit.unit == "ms" else 1 / self.share
        return max(LEAST_SLOPE, self.flatter * arrivals_in_limit)

    def learn_slope(self) -> None:
        """A loop that is clearly on one side and was so SLOPE_WINDOWS ago too has taken its slope for too steep."""
        ratios, self.ratios = self.ratios, []
        mean, deviation = fmean(ratios), stdev(ratios)
        if not mean or abs(1 - mean) * math.sqrt(len(ratios)) < CLEAR_T * deviation:
            self.side = 0
            return
        side = 1 if mean > 1 else -1
        if side == self.side:
            self.flatter = max(FLATTEST, self.flatter / 2)
        elif side == -self.side:
            self.flatter = min(1.0, 2 * self.flatter)
        self.side = side

    @property
    def share(self) -> float:
        return allowed_share(self.limit)

    def follow(self, seen: Seen) -> None:
        self.per_s = seen.requests if not self.per_s else self.per_s + (seen.requests - self.per_s) / 10

    def update(self, seen: Seen, gain_s: float) -> None:
        bursts = BURSTS * self.slope / self.share if self.limit.unit == "ms" else 0.0
        averaged = max(KEEP_BAD / self.share, bursts, self.per_s * gain_s)
        change = (seen.bad / self.share - AIM * seen.requests) / (self.slope * averaged)
        self.log_level -= min(change, MOST_DOWN)

    def nearness(self, window: Sequence[Seen]) -> float:
        """The statistic over its limit; 0 without requests."""
        requests = sum(seen.requests for seen in window)
        if not requests:
            return 0.0
        if self.limit.quantile is None:
            return sum(seen.bad for seen in window) / requests / self.share
        times = Histogram.merge(seen.times for seen in window if seen.times is not None)
        return times.percentile(self.limit.quantile) / self.limit.limit

    def room(self, near: float) -> float:
        """By how much ln level may change by what a calm window says. A time of M/M/1 goes as 1 ÷ (μ − λ), so that the
        objective is reached (1 ÷ near − 1) ln(1 ÷ α) ÷ L arrivals per second further; what a rate limit refuses is all
        above it. What even a quiet target takes is no sign of a queue, so it is left out of both."""
        if self.limit.unit == "ratio":
            share = min(0.99, near * self.share)
            return math.log((1 - share) / (1 - self.share)) if near > 1 else math.inf
        spread = math.log(1 / self.share) if self.limit.quantile is not None else 1.0
        return (1 / self.queued(near) - 1) * spread / self.slope

    def queued(self, near: float) -> float:
        """The part of the limit that waiting takes, of what a quiet target leaves of it; 1 at the limit."""
        quiet = self.quiet if self.quiet < 1 else 0.0
        return max(1e-3, (near - quiet) / (1 - quiet))
