"""What an objective saw at one level, second by second, and its verdict: for findings of a run, and for the experiment
that holds the expected level until its objectives are decided.

A request without an answer (status 0: refused, reset, timed out) is no fast response: its time counts only where it is
above the limit already. Grows with the seconds, never with the requests.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from plimsoll.runs.histogram import Histogram, bucket_of
from plimsoll.runs.readings.failures import METRIC as FAILED
from plimsoll.runs.readings.failures import is_unanswered
from plimsoll.runs.snapshot import Series, Snapshot
from plimsoll.stats.estimates.objective_test import (
    FEWEST_FOR_MAX,
    FEWEST_FOR_MEAN,
    Judged,
    failure_share_test,
    judge_max,
    judge_mean,
    quantile_share_test,
)
from plimsoll.stats.estimates.quantile_test import ERROR, fewest_samples, is_above
from plimsoll.study.objectives import Limit, parse_objective

TIMES = ("http_req_response_time", "http_req_duration")


@dataclass(frozen=True)
class Wanted:
    """An objective on an operation (tag scenario), a request (tag name), or, with neither, on all requests; with
    `tags`, on the series that carry them, and `request` is what they are called."""

    limit: Limit
    text: str
    operation: str | None = None
    request: str | None = None
    tags: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def of(cls, given: Any) -> Wanted:
        """From a study's Objective or a plain mapping with the same keys."""
        value = given.get if isinstance(given, Mapping) else lambda key, default=None: getattr(given, key, default)
        text = str(value("objective"))
        tags = value("tags") if isinstance(given, Mapping) else None
        return cls(parse_objective(text), text, value("operation"), value("request"), dict(tags or {}))

    def matches(self, series: Series) -> bool:
        """Whether that series counts for this objective."""
        tags = series.tags
        if self.tags:
            return all(tags.get(name) == wanted for name, wanted in self.tags.items())
        fits = self.operation is None or tags.get("scenario") == self.operation
        return fits and (self.request is None or tags.get("name") == self.request)

    @property
    def is_of_all(self) -> bool:
        """Whether it is about every request."""
        return not (self.tags or self.operation or self.request)

    @property
    def subject(self) -> str:
        """What it is about, in words."""
        return self.request or self.operation or "all requests"


def needed_samples(limit: Limit) -> int:
    """Fewest independent samples that let the objective be found met."""
    allowed = allowed_share(limit)
    if allowed is not None and 0 < allowed < 1:
        return fewest_samples(allowed)
    return FEWEST_FOR_MEAN if limit.statistic == "mean" else FEWEST_FOR_MAX


def allowed_share(limit: Limit) -> float | None:
    """The share of requests that may be above the limit, or fail; None of means and maxima."""
    if limit.quantile is not None:
        return 1 - limit.quantile
    return limit.limit if limit.statistic == "error_rate" else None


def statistic(limit: Limit, times: Histogram) -> float | None:
    """The value in ms that the objective compares; None without samples."""
    if not times.count:
        return None
    if limit.quantile is not None:
        return times.percentile(limit.quantile)
    return times.max if limit.statistic == "max" else times.mean


def only_above(series: Series, limit: float) -> Histogram:
    """The values of a trend in buckets above the limit's own."""
    whole = series.histogram()
    index, count = whole.bucket_index, whole.bucket_count
    kept = index > bucket_of(limit)
    pairs = zip(index[kept].tolist(), count[kept].tolist(), strict=True)
    return Histogram.from_buckets(pairs, whole.sum if kept.all() else None, whole.max)


@dataclass
class Samples:
    """What one objective saw in `seconds` seconds: response times, failed requests and requests by second;
    `unanswered` requests were no fast responses. `all_count` requests of the whole load took `all_ms` together."""

    limit: Limit
    seconds: int = 0
    times: dict[int, Histogram] = field(default_factory=dict)
    failed: dict[int, int] = field(default_factory=dict)
    requests: dict[int, int] = field(default_factory=dict)
    unanswered: int = 0
    all_count: int = 0
    all_ms: float = 0.0

    def add_times(self, at: int, series: Series) -> None:
        """Add the response times of one second (or block of time)."""
        if not series.count:
            return
        there = self.times.setdefault(at, Histogram())
        if not is_unanswered(series):
            there.add_series(series)
        elif self.limit.unit == "ms":
            slow = only_above(series, self.limit.limit)
            there.add(slow)
            self.unanswered += series.count - slow.count

    def add_failures(self, at: int, series: Series) -> None:
        """Add failed requests and requests of one second."""
        self.failed[at] = self.failed.get(at, 0) + int(series.passes or 0)
        self.requests[at] = self.requests.get(at, 0) + int(series.total or 0)

    def add_cut_off(self, at: int, count: int) -> None:
        """Add iterations that were cut off: requests that got no answer."""
        self.failed[at] = self.failed.get(at, 0) + count
        self.requests[at] = self.requests.get(at, 0) + count

    @property
    def blocks(self) -> list[Histogram]:
        """Response times by second, in order."""
        return [self.times[at] for at in sorted(self.times)]

    @property
    def merged(self) -> Histogram:
        """All response times."""
        return Histogram.merge(self.blocks)

    @property
    def count(self) -> int:
        """Requests that can be judged."""
        if self.limit.statistic == "error_rate":
            return sum(self.requests.values())
        return sum(block.count for block in self.times.values())

    @property
    def value(self) -> float | None:
        """What the objective compares, in its unit; None without samples."""
        if self.limit.statistic == "error_rate":
            return sum(self.failed.values()) / self.count if self.count else None
        return statistic(self.limit, self.merged)

    def judged(self, error: float = ERROR, any_time: bool = False) -> Judged:
        """Met, violated or undecided, each of the first two wrong with probability `error` at most. `any_time`: it may
        be asked again with more seconds; then means and maxima stay undecided."""
        limit = self.limit
        if limit.statistic == "error_rate":
            at = sorted(self.requests)
            requests = np.array([self.requests[one] for one in at], dtype=float)
            failed = np.array([self.failed.get(one, 0) for one in at], dtype=float)
            return failure_share_test(failed, requests, limit.limit).judged(error, any_time)
        merged = self.merged
        if not merged.count:
            return self._without_answers(error)
        if limit.quantile is not None:
            known = bool(self.seconds and self.all_count)
            in_system = self.all_ms / 1000 / self.seconds if known else None
            per_s = self.all_count / self.seconds if known else None
            share = min(1.0, merged.count / self.all_count) if self.all_count else 1.0
            test = quantile_share_test(self.blocks, merged, limit.limit, limit.quantile, in_system, share, per_s)
            return test.judged(error, any_time)
        if any_time:
            return Judged("undecided", merged.count, 0, float(merged.count))
        if limit.statistic == "max":
            return judge_max(merged, limit.limit)
        counts, sums = (np.array([getattr(one, of) for one in self.blocks], float) for of in ("count", "sum"))
        return judge_mean(counts, sums, limit.limit, error)

    def _without_answers(self, error: float) -> Judged:
        """No request was answered: violated, if there were enough of them for the least that an objective asks."""
        allowed = allowed_share(self.limit) or 0.5
        lost = self.unanswered > 0 and is_above(self.unanswered, self.unanswered, allowed, error)
        return Judged("violated" if lost else "undecided", 0, 0, 0.0)


class Watch:
    """Samples of several objectives, from snapshots."""

    def __init__(self, wanted: Sequence[Wanted]) -> None:
        self.wanted = wanted
        self.samples = [Samples(one.limit) for one in wanted]
        self.seconds = 0
        self._metric: str | None = None

    def add(self, snapshot: Snapshot) -> None:
        """Add one second."""
        if self._metric is None:
            present = {series.metric for series in snapshot.series}
            self._metric = next((name for name in TIMES if name in present), None)
        times = [series for series in snapshot.series if series.metric == self._metric]
        all_count = sum(series.count for series in times)
        all_ms = sum(float(series.sum or 0.0) for series in times)
        self.seconds += 1
        self.add_cut_off(snapshot.second, snapshot.interrupted - sum(one.interrupted for one in snapshot.earlier))
        for objective, samples in zip(self.wanted, self.samples, strict=True):
            samples.seconds += 1
            samples.all_count += all_count
            samples.all_ms += all_ms
            for series in snapshot.series:
                if series.metric == self._metric and objective.matches(series):
                    samples.add_times(snapshot.second, series)
                elif series.metric == FAILED and objective.matches(series):
                    samples.add_failures(snapshot.second, series)

    def add_cut_off(self, second: int, count: int) -> None:
        """Add iterations of this level that were cut off in that second. Nobody knows of which request."""
        for objective, samples in zip(self.wanted, self.samples, strict=True):
            if count > 0 and objective.is_of_all:
                samples.add_cut_off(second, count)
