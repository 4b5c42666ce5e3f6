"""What one step measured: counts per second, response times merged exactly, failures, the generator's own health.

Pure: snapshots in, numbers out. Memory grows with the seconds of the step, never with its requests.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, field
from statistics import median
from typing import Any

from plimsoll.experiments.steps.work_done import Answers
from plimsoll.runs.histogram import Histogram
from plimsoll.runs.metric_names import RESPONSE_METRICS
from plimsoll.runs.readings.failures import BROKE, Failures, is_unanswered, judged_noun
from plimsoll.runs.readings.script_caps import LoadSeconds
from plimsoll.runs.snapshot import Earlier, Series, Snapshot

INTERRUPTED = "interrupted"


@dataclass
class Measurement:
    """The measured seconds of one step at `level`, after its warm-up.

    `unfinished_start`: arrivals planned and not finished when measuring began; per second: `planned`, `done`,
    `dropped`, `late`, `stolen`, the share of a core that the hypervisor took, and `speed`, that of the target's cores
    (NaN where nobody measured), `mean_ms` and `iteration_mean_ms`, the mean response time and duration of an iteration
    (NaN without any), and `failed_each` of `requests_each`; `answers`: the requests that ended well, by operation;
    `best_done_per_s`: of earlier steps; `times`: response times in ms; `iterations`: iteration durations in ms;
    `failed` of `requests`, `unanswered` of which got no answer.

    Times, iterations, requests and failures are those of the step's own arrivals (`epoch`: the number of its level),
    also of those that ended after it, which are added by `amend`. `done` and `finished_requests` are what ended in its
    seconds, whenever it arrived: that is what a queue is judged by; `done_own` of `done` arrived in this step.
    `interrupted`: own arrivals that were cut off, which count as failed requests, as do those that an exception of the
    script ended. `load`: what caps of the script are
    judged by. `warm_planned`: arrivals of each second of the warm-up; `warm_iterations`: durations in ms of own
    iterations that ended in it.
    """

    level: float
    epoch: int = 0
    unfinished_start: float = 0.0
    best_done_per_s: float = 0.0
    seconds: list[int] = field(default_factory=list)
    planned: list[int] = field(default_factory=list)
    done: list[int] = field(default_factory=list)
    done_own: list[int] = field(default_factory=list)
    dropped: list[int] = field(default_factory=list)
    stolen: list[float] = field(default_factory=list)
    speed: list[float] = field(default_factory=list)
    late: list[int] = field(default_factory=list)
    mean_ms: list[float] = field(default_factory=list)
    iteration_mean_ms: list[float] = field(default_factory=list)
    times: Histogram = field(default_factory=Histogram)
    iterations: Histogram = field(default_factory=Histogram)
    requests: int = 0
    failed: int = 0
    unanswered: int = 0
    finished_requests: int = 0
    interrupted: int = 0
    requests_each: list[int] = field(default_factory=list)
    failed_each: list[int] = field(default_factory=list)
    answers: Answers = field(default_factory=Answers)
    failures: Failures = field(default_factory=Failures)
    backlog: int = 0
    in_flight: int = 0
    oldest_wait_s: float = 0.0
    generator_cpu_s: list[float] = field(default_factory=list)
    lag_p99_ms: list[float] = field(default_factory=list)
    threads: int = 1
    response_metric: str | None = None
    load: LoadSeconds = field(default_factory=LoadSeconds)
    warm_planned: list[int] = field(default_factory=list)
    warm_iterations: Histogram = field(default_factory=Histogram)

    def add(self, snapshot: Snapshot, stolen: float = 0.0, speed: float = math.nan) -> None:
        """Add one second."""
        self.stolen.append(stolen)
        self.speed.append(speed)
        self.seconds.append(snapshot.second)
        self.load.add(snapshot)
        for name in ("planned", "done", "dropped", "late"):
            getattr(self, name).append(int(getattr(snapshot, name)))
        self.epoch = int(snapshot.epoch)
        requests, failed = self.requests, self.failed
        self.done_own.append(int(snapshot.done) - sum(one.done for one in snapshot.earlier))
        own_interrupted = int(snapshot.interrupted) - sum(one.interrupted for one in snapshot.earlier)
        own_broke = int(snapshot.broke) - sum(one.broke for one in snapshot.earlier)
        self.amend_arrivals(Earlier(self.epoch, broke=max(0, own_broke), interrupted=max(0, own_interrupted)))
        self.backlog, self.in_flight = int(snapshot.backlog), int(snapshot.in_flight)
        self.oldest_wait_s = float(snapshot.oldest_wait_s)
        self._add_series(snapshot)
        self.requests_each.append(self.requests - requests)
        self.failed_each.append(self.failed - failed)
        self._add_generator(snapshot.generator)

    def warm_up(self, snapshot: Snapshot) -> None:
        """A second before the measured ones."""
        self.unfinished_start = float(snapshot.backlog + snapshot.in_flight)
        self.warm_planned.append(int(snapshot.planned))
        self._add_own_answers(snapshot)
        for series in snapshot.series:
            if series.epoch is None and series.metric == "iteration_duration":
                self.warm_iterations.add_series(series)

    def _add_own_answers(self, snapshot: Snapshot) -> None:
        own = [series for series in snapshot.series if series.epoch is None]
        if self.response_metric is None:
            present = {series.metric for series in own if series.count}
            self.response_metric = next((name for name in RESPONSE_METRICS if name in present), None)
        self.answers.add_own(own, self.response_metric)

    def _add_series(self, snapshot: Snapshot) -> None:
        self._add_own_answers(snapshot)
        total_ms, count, iterations_ms, iterations = 0.0, 0, 0.0, 0
        self.answers.add(snapshot.series)
        for series in snapshot.series:
            if series.metric == "http_req_failed":
                self.finished_requests += int(series.total or 0)
            if series.epoch is not None:
                continue
            if series.metric == self.response_metric:
                self.times.add_series(series)
                total_ms, count = total_ms + series.sum, count + series.count
            if series.metric == "iteration_duration":
                self.iterations.add_series(series)
                iterations_ms, iterations = iterations_ms + series.sum, iterations + series.count
            elif series.metric == "http_req_failed":
                self._add_outcomes(series)
        self.mean_ms.append(total_ms / count if count else math.nan)
        self.iteration_mean_ms.append(iterations_ms / iterations if iterations else math.nan)

    def _add_outcomes(self, series: Series) -> None:
        self.failures.add(series)
        self.failed += int(series.passes or 0)
        self.requests += int(series.total or 0)
        self.unanswered += int(series.total or 0) if is_unanswered(series) else 0

    def amend(self, rows: Iterable[Series]) -> None:
        """Add what ended after the step and arrived in it."""
        rows = list(rows)
        self.answers.add_own(rows, self.response_metric)
        for series in rows:
            if self.response_metric is None and series.metric in RESPONSE_METRICS[:2] and series.count:
                self.response_metric = series.metric
            if series.metric == self.response_metric:
                self.times.add_series(series)
            if series.metric == "iteration_duration":
                self.iterations.add_series(series)
            elif series.metric == "http_req_failed":
                self._add_outcomes(series)

    def amend_arrivals(self, ended: Earlier) -> None:
        """Add own arrivals that were cut off, by us or by an exception of the script: requests without an answer."""
        self.interrupted += ended.interrupted
        self.failed += ended.interrupted + ended.broke
        self.requests += ended.interrupted + ended.broke
        self.unanswered += ended.interrupted + ended.broke
        self.failures.add_broken(ended.broke)
        if ended.interrupted:
            self.failures.causes[INTERRUPTED] += ended.interrupted

    def _add_generator(self, generator: Any) -> None:
        if not generator:
            return
        self.generator_cpu_s.append(float(generator.get("cpu_s") or 0.0))
        self.lag_p99_ms.append(float(generator.get("lag_p99_ms") or 0.0))
        self.threads = int(generator.get("threads") or self.threads)

    @property
    def unfinished_end(self) -> float:
        """Arrivals planned and not finished, those never sent included, at the end of the last second."""
        return self.unfinished_start + sum(self.planned) - sum(self.done)

    @property
    def stolen_share(self) -> float:
        """Share of a core's time that the hypervisor took, of the core it took most from; 0 where nobody measured."""
        return sum(self.stolen) / len(self.stolen) if self.stolen else 0.0

    @property
    def done_per_s(self) -> float:
        """Iterations finished per second; 0 without any second."""
        return sum(self.done) / len(self.seconds) if self.seconds else 0.0

    @property
    def planned_per_s(self) -> float:
        """Arrivals planned per second; 0 without any second."""
        return sum(self.planned) / len(self.seconds) if self.seconds else 0.0

    @property
    def requests_per_s(self) -> float:
        """Requests finished per second, whenever they arrived; 0 without any second."""
        return self.finished_requests / len(self.seconds) if self.seconds else 0.0

    @property
    def ended_own(self) -> int:
        """Own arrivals that ended within the step."""
        return sum(self.done_own)

    @property
    def error_share(self) -> float:
        """Failed ÷ all requests; 0 without any."""
        return self.failed / self.requests if self.requests else 0.0

    @property
    def judged_noun(self) -> str:
        """What `error_share` is a share of."""
        return judged_noun(self.failures.causes[BROKE], self.requests)

    def response_ms(self, quantile: float) -> float | None:
        """Response time in ms at `quantile` in [0, 1]; None without samples, or where no request was answered."""
        return self.times.percentile(quantile) if self.has_times else None

    @property
    def has_times(self) -> bool:
        """Whether response times were seen: where requests were made and all refused, their times are none."""
        return self.times.count > 0 and not 0 < self.requests <= self.unanswered

    @property
    def generator_cores(self) -> float:
        """CPU seconds per second that the generator used."""
        return sum(self.generator_cpu_s) / len(self.generator_cpu_s) if self.generator_cpu_s else 0.0

    @property
    def generator_share(self) -> float:
        """CPU the generator used ÷ CPU its threads could use."""
        return self.generator_cores / max(1, self.threads)

    @property
    def typical_lag_p99_ms(self) -> float:
        """Median over the seconds of each second's lag p99, in ms: single hiccups do not count, lasting lag does."""
        return median(self.lag_p99_ms) if self.lag_p99_ms else 0.0
