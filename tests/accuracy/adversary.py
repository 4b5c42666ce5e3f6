"""A target in virtual time, seeded, behind the LoadSource protocol, of which adversaries.py makes its kinds.

An event loop of `servers` that serve first come, first served; a kind overrides what it does on an arrival, how long a
service takes in its present state, and what happens afterwards. Requests that are still unanswered after `TIMEOUT_S`
fail, as k6's do.
"""

from __future__ import annotations

import heapq
import math
from collections import Counter, deque
from dataclasses import dataclass, replace
from typing import Any

from simulators import OpenQueue

from plimsoll.runs.histogram import Histogram
from plimsoll.runs.snapshot import Earlier, Series

TIMEOUT_S = 60.0
QUICK_FAILURE_S = 1e-3
ARRIVE, END, TIMEOUT, RETRY = range(4)


@dataclass(eq=False, slots=True)
class Job:
    """One request, or an iteration of several; `kind` is its operation, `epoch` the level at which it arrived."""

    arrival: float
    kind: int = 0
    epoch: int = 0
    over: bool = False
    asked: float = 0.0


class Adversary(OpenQueue):
    """`servers` with `mean_s` of exponential work, each at `speed(now)` and slowed down by `slowdown(now, job)`. Tells
    which level each request arrived at, as the engine does."""

    def __init__(self, servers: int, mean_s: float, seed: int, *, service: str = "exponential", **trouble: Any) -> None:
        super().__init__(servers, mean_s, seed, service=service, **trouble)
        self.servers = servers
        self.mean_s = mean_s
        self.busy = 0
        self.waiting: deque[Job] = deque()
        self.open_jobs = 0
        self.events: list[tuple[float, int, int, Job]] = []
        self.due: deque[tuple[float, Job]] = deque()  # when requests time out, in the order of their arrival
        self.timed = True  # whether seconds tell response times
        self.count = 0
        self.served = 0
        self.finished: list[tuple[float, float, bool]] = []
        self.epoch = 0
        self.inside: Counter[int] = Counter()
        self.ended_ms: dict[int, list[tuple[float, bool]]] = {}

    def set_level(self, level: float) -> None:
        super().set_level(level)
        self.epoch += 1

    @property
    def running(self) -> range:
        """Requests without an answer; only its length matters."""
        return range(self.open_jobs)

    @running.setter
    def running(self, _: Any) -> None:
        """The base class begins with an empty list."""

    def refuses(self, now: float, job: Job) -> str:
        """ "": taken; "fails": answered with a failure at once; "stuck": never answered."""
        return ""

    def slowdown(self, now: float, job: Job) -> float:
        """Factor of the work of a request whose service begins now."""
        return 1.0

    def speed(self, now: float) -> float:
        """Of each server now."""
        return 1.0

    def pause_s(self, now: float) -> float:
        """Seconds until servers go on."""
        return 0.0

    def arrived(self, now: float, job: Job) -> None:
        """Hook after a request was taken."""

    def ended(self, now: float, job: Job) -> None:
        """Hook after a service ended."""

    def kind_of(self) -> int:
        """Operation of the next arrival."""
        return 0

    def push(self, at: float, what: int, job: Job) -> None:
        """Plan an event."""
        self.count += 1
        heapq.heappush(self.events, (at, self.count, what, job))

    def enqueue(self, now: float, job: Job) -> None:
        """Serve it or let it wait."""
        self.waiting.append(job)
        self._begin(now)

    def _begin(self, now: float) -> None:
        while self.waiting and self.busy < self.servers:
            job = self.waiting.popleft()
            self.busy += 1
            work = float(self.draw(self.random, 1)[0]) * self.slowdown(now, job) / self.speed(now)
            self.push(now + self.pause_s(now) + work, END, job)

    def _finish(self, now: float, job: Job, failed: bool) -> None:
        if not job.over:
            job.over = True
            self.open_jobs -= 1
            self.finished.append((now, job.arrival, failed))
            self.ended_ms.setdefault(job.epoch, []).append((1000 * (now - job.arrival), failed))
            self.inside[job.epoch] -= 1

    def _advance(self) -> None:
        arrivals = self._arrivals()
        coming = [Job(at, self.kind_of(), self.epoch) for at in arrivals.tolist()]
        self.finished = []
        for job in coming:
            self._until(job.arrival)
            self._happen(job.arrival, ARRIVE, job)
        self._until(self.second + 1)
        self._emit(arrivals.size, self.finished)
        self.second += 1

    def _until(self, limit: float) -> None:
        """What happens before `limit`, but for arrivals."""
        events, due = self.events, self.due
        while True:
            while due and due[0][1].over:
                due.popleft()
            if due and due[0][0] < limit and (not events or due[0][0] <= events[0][0]):
                now, job = due.popleft()
                self._happen(now, TIMEOUT, job)
            elif events and events[0][0] < limit:
                now, _, what, job = heapq.heappop(events)
                self._happen(now, what, job)
            else:
                return

    def _happen(self, now: float, what: int, job: Job) -> None:
        if what == ARRIVE:
            self.open_jobs += 1
            self.inside[job.epoch] += 1
            answer = self.refuses(now, job)
            if answer == "fails":
                self.push(now + QUICK_FAILURE_S, TIMEOUT, job)
                return
            self.due.append((now + TIMEOUT_S, job))
            if answer != "stuck":
                self.arrived(now, job)
                self.enqueue(now, job)
        elif what == END:
            self.busy -= 1
            self.served += 1
            self._finish(now, job, False)
            self.ended(now, job)
            self._begin(now)
        elif what == TIMEOUT:
            self._finish(now, job, True)
        elif not job.over:
            self.retry(now, job)

    def _emit(self, planned: int, finished: list[tuple[float, float, bool]]) -> None:
        super()._emit(planned, finished)
        done = Counter({epoch: len(ended) for epoch, ended in self.ended_ms.items()})
        older = sorted(one for one in {*done, *self.inside} if one != self.epoch and (done[one] or self.inside[one]))
        earlier = tuple(Earlier(one, done=done[one], unfinished=self.inside[one]) for one in older)
        self.unread[-1] = replace(self.unread[-1], epoch=self.epoch, earlier=earlier)
        self.ended_ms = {}

    def rows(self, finished: list[tuple[float, float, bool]]) -> tuple[Series, ...]:
        tags = {"scenario": "work", "name": "GET /work", "method": "GET"}
        found = []
        for epoch, ended in self.ended_ms.items():
            of, failed = self.told_epoch(epoch), sum(bad for _, bad in ended)
            if self.timed:
                times = Histogram.from_values([ms for ms, _ in ended])
                trend = replace(Series.of_trend("http_req_response_time", tags, times), epoch=of)
                found += [trend, replace(trend, metric="iteration_duration")]
            found += [
                Series("http_reqs", "counter", tags, value=float(len(ended)), epoch=of),
                Series("http_req_failed", "rate", tags, passes=failed, total=len(ended), epoch=of),
            ]
        return tuple(found)

    def told_epoch(self, epoch: int) -> int | None:
        """What a series says of its epoch."""
        return None if epoch == self.epoch else epoch

    def retry(self, now: float, job: Job) -> None:
        """Hook for RETRY events of requests that are not over."""

    def drain(self, limit_s: float) -> float:
        """Advance at level 0 until nothing is unanswered."""
        self.level, began = 0.0, self.second
        while self.open_jobs:
            if self.second - began >= limit_s:
                return math.inf
            self._advance()
        return float(self.second - began)
