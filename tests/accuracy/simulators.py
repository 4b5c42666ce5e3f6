"""Targets of known capacity behind the LoadSource protocol, in virtual time: hours of load in seconds, seeded.

Open: Poisson arrivals at `rate_per_level_s × level` into a queue of c servers (Kiefer–Wolfowitz recursion, a heap of
the times at which servers become free). Closed: c servers, N users with exponential think time. Truth: c × μ.
A host may drift: `drifting_speeds` gives the speed of each second, mean 1, which stretches the service times.
"""

from __future__ import annotations

import heapq
import math
from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import numpy as np
from scipy.optimize import brentq

from plimsoll.runs.histogram import Histogram
from plimsoll.runs.snapshot import Series, Snapshot

T0_UNIX = 1_790_000_000.0
PROBE_ERROR = 0.03
PROBE_POWER = 0.7


def service_times(kind: str, mean_s: float) -> Callable[[np.random.Generator, int], np.ndarray]:
    """Draws of service times: "exponential" (scv 1), "constant" (0) or "bursty" (hyper-exponential, scv 4)."""
    if kind == "constant":
        return lambda random, count: np.full(count, mean_s)
    if kind == "bursty":
        share = 0.5 * (1 + math.sqrt(3 / 5))

        def draw(random: np.random.Generator, count: int) -> np.ndarray:
            fast = random.random(count) < share
            return random.exponential(1.0, count) * np.where(fast, mean_s / (2 * share), mean_s / (2 * (1 - share)))

        return draw
    return lambda random, count: random.exponential(mean_s, count)


WARM_UP_S = 25


def drifting_speeds(kind: str, cv: float, seed: int, seconds: int = 1000) -> np.ndarray:
    """Speed of a host in each second, shape (seconds,): "quick" has mean 1 and forgets within about 5 s (AR(1),
    e^(−1/5)), "slow" has mean 1 and keeps a speed for 10 to 20 s; "warms up" is 1 − `cv` for 25 s, then 1."""
    if kind == "warms up":
        return np.where(np.arange(seconds) < WARM_UP_S, 1 - cv, 1.0)
    random = np.random.default_rng([seed, 77])
    if kind == "slow":
        spans = random.integers(10, 21, seconds // 10 + 1)
        deviation = np.repeat(random.standard_normal(spans.size), spans)[:seconds]
    else:
        keep = math.exp(-1 / 5)
        deviation = random.standard_normal(seconds)
        for second in range(1, seconds):
            deviation[second] = keep * deviation[second - 1] + math.sqrt(1 - keep**2) * deviation[second]
    return np.maximum(0.3, 1 + cv * deviation)


class OpenQueue:
    """M/G/c as a LoadSource; capacity is `servers / mean_s` arrivals per second.

    `failing_above_per_s`: arrivals beyond this rate in a second fail at once; `stall_every_s`, `stall_s`: all servers
    pause at the start of each such period; `thrash_wait_s`, `thrash_factor`: what has waited for longer takes so many
    times the work; `dies_at_s`: from then on nothing is ever answered (`dead_mode` "hang") or everything fails at once
    ("errors"); `interrupt_at_s` raises KeyboardInterrupt, as Ctrl-C would; `speeds`: of the host in each
    second (the probe of it, `sample`, errs by 3% and is less sensitive than the target), 1 without; `idle_reads`: what
    that probe reads of a core that idles, less than 1 as such a core wakes up cold.
    """

    unit = "users"
    open = True

    def __init__(
        self,
        servers: int,
        mean_s: float,
        seed: int,
        *,
        rate_per_level_s: float = 1.0,
        service: str = "exponential",
        even: bool = False,
        **trouble: Any,
    ) -> None:
        self.random = np.random.default_rng(seed)
        self.probe_random = np.random.default_rng([seed, 78])
        self.draw = service_times(service, mean_s)
        self.free = [0.0] * servers
        self.capacity_per_s = servers / mean_s
        self.rate_per_level_s = rate_per_level_s
        self.even = even
        self.trouble = trouble
        self.level = 0.0
        self.second = 0
        self.running: list[tuple[float, float, bool]] = []
        self.unread: deque[Snapshot] = deque()
        self.stopped = False
        self.generator = {"cpu_s": 0.1, "lag_p50_ms": 0.05, "lag_p99_ms": 0.2, "lag_max_ms": 0.5, "threads": 1}
        self.generator |= {"rss_bytes": 1e8, "open_files": 60}

    def start(self) -> None:
        """Nothing to start in virtual time."""

    def set_level(self, level: float) -> None:
        """Level from the next second on."""
        self.level = level

    def now(self) -> float:
        """Elapsed virtual seconds; always whole."""
        return float(self.second)

    def snapshots(self, until_s: float) -> Iterator[Snapshot]:
        """Unread seconds first, then new ones up to `until_s`."""
        while self.unread or self.second < until_s:
            if not self.unread:
                self._advance()
            yield self.unread.popleft()

    def drain(self, limit_s: float) -> float:
        """Advance at level 0 until nothing runs."""
        self.level, began = 0.0, self.second
        while self.running:
            if self.second - began >= limit_s:
                return math.inf
            self._advance()
        return float(self.second - began)

    def stop(self, graceful: bool = True) -> None:
        """Remember it, for the tests."""
        self.stopped = True

    def ask(self) -> float:
        """A request that waits behind all others, as one for the data volume does."""
        last = max((end for end, _, _ in self.running), default=0.0)
        while self.second < last:
            self._advance()
        return 1000.0

    def sample(self, second: int, t_unix: float) -> list[dict[str, Any]]:
        """Rows of the probe of the host's speed."""
        speed = self._speed(second) * (1 + PROBE_ERROR * self.probe_random.standard_normal())
        busy = min(1.0, self.level * self.rate_per_level_s / self.capacity_per_s)
        speed *= busy + (1 - busy) * self.trouble.get("idle_reads", 1.0)
        values = {"work_per_cpu_s": speed**PROBE_POWER, "work_error_share": PROBE_POWER * PROBE_ERROR}
        return [{"t_unix": t_unix, "second": second, "source": "core_speed", "values": values}]

    def _speed(self, second: float) -> float:
        speeds = self.trouble.get("speeds")
        return 1.0 if speeds is None else float(speeds[int(second) % speeds.size])

    def _arrivals(self) -> np.ndarray:
        rate = self.level * self.rate_per_level_s
        if self.even:
            first = math.ceil(self.second * rate)
            return np.arange(first, math.ceil((self.second + 1) * rate)) / max(rate, 1e-12)
        return self.second + np.sort(self.random.random(self.random.poisson(rate)))

    def _advance(self) -> None:
        interrupt = self.trouble.get("interrupt_at_s")
        if interrupt is not None and self.second >= interrupt:
            self.trouble["interrupt_at_s"] = None
            raise KeyboardInterrupt
        arrivals = self._arrivals()
        self._serve(arrivals)
        finished = []
        while self.running and self.running[0][0] < self.second + 1:
            finished.append(heapq.heappop(self.running))
        self._emit(arrivals.size, finished)
        self.second += 1

    def _serve(self, arrivals: np.ndarray) -> None:
        dies, most = self.trouble.get("dies_at_s", math.inf), self.trouble.get("failing_above_per_s", math.inf)
        stall_every, stall_s = self.trouble.get("stall_every_s", math.inf), self.trouble.get("stall_s", 0.0)
        services = self.draw(self.random, arrivals.size)
        if not self.trouble:
            free, running = self.free, self.running
            for arrival, service in zip(arrivals.tolist(), services.tolist(), strict=True):
                end = (free[0] if free[0] > arrival else arrival) + service
                heapq.heapreplace(free, end)
                heapq.heappush(running, (end, arrival, False))
            return
        for count, (arrival, service) in enumerate(zip(arrivals.tolist(), services.tolist(), strict=True)):
            if arrival >= dies and self.trouble.get("dead_mode") == "hang":
                heapq.heappush(self.running, (math.inf, arrival, True))
                continue
            if arrival >= dies or count >= most:
                heapq.heappush(self.running, (arrival + 1e-3, arrival, True))
                continue
            begin = max(arrival, self.free[0])
            if stall_s and begin % stall_every < stall_s:
                begin += stall_s - begin % stall_every
            if begin - arrival > self.trouble.get("thrash_wait_s", math.inf):
                service *= self.trouble["thrash_factor"]
            end = begin + service / self._speed(begin)
            heapq.heapreplace(self.free, end)
            heapq.heappush(self.running, (end, arrival, False))

    def rows(self, finished: list[tuple[float, float, bool]]) -> tuple[Series, ...]:
        """The series of a second in which these (end, arrival, failed) ended."""
        times = Histogram.from_values([1000 * (end - arrival) for end, arrival, _ in finished])
        failed = sum(1 for _, _, bad in finished if bad)
        tags = {"scenario": "work", "name": "GET /work", "method": "GET"}
        trend = Series.of_trend("http_req_response_time", tags, times)
        return (
            trend,
            replace(trend, metric="iteration_duration"),
            Series("http_reqs", "counter", tags, value=float(len(finished))),
            Series("http_req_failed", "rate", tags, passes=failed, total=len(finished)),
        )

    def _emit(self, planned: int, finished: list[tuple[float, float, bool]]) -> None:
        in_flight = len(self.running)
        self.unread.append(
            Snapshot(
                second=self.second,
                t_unix=T0_UNIX + self.second,
                level=self.level,
                vus=in_flight,
                vus_max=100_000,
                planned=int(planned),
                started=int(planned),
                done=len(finished),
                in_flight=in_flight,
                series=self.rows(finished),
                generator=dict(self.generator),
            )
        )


class ClosedQueue(OpenQueue):
    """Users who think for an exponential time and then wait for one of c servers; level = users."""

    unit = "vus"
    open = False

    def __init__(self, servers: int, mean_s: float, think_s: float, seed: int, **trouble: Any) -> None:
        super().__init__(servers, mean_s, seed, **trouble)
        self.think_s = think_s
        self.thinking: list[float] = []
        self.pauses_at = math.inf

    def pause_at(self, at_s: float) -> bool:
        """Nobody begins anew from then on, until a level is set."""
        came, self.pauses_at = self.pauses_at <= self.second, at_s
        return came

    def _advance(self) -> None:
        self._follow_level()
        finished, end, arrived = [], self.second + 1, 0
        while True:
            next_arrival = self.thinking[0] if self.thinking else math.inf
            next_done = self.running[0][0] if self.running else math.inf
            if min(next_arrival, next_done) >= end:
                break
            if next_arrival <= next_done:
                self._serve(np.array([heapq.heappop(self.thinking)]))
                arrived += 1
            else:
                finished.append(heapq.heappop(self.running))
                if len(self.running) + len(self.thinking) < self.level and finished[-1][0] < self.pauses_at:
                    pause = self.random.exponential(self.think_s) if self.think_s else 0.0
                    heapq.heappush(self.thinking, finished[-1][0] + pause)
        self._emit(arrived, finished)
        self.second += 1
        if self.pauses_at <= self.second:
            self.level = 0.0

    def _follow_level(self) -> None:
        while len(self.thinking) + len(self.running) < self.level:
            pause = self.random.exponential(self.think_s) if self.think_s else 0.0
            heapq.heappush(self.thinking, self.second + pause)
        while self.thinking and len(self.thinking) + len(self.running) > self.level:
            self.thinking.pop()


class UslUsers(ClosedQueue):
    """Users who do not think, of a target whose throughput follows the universal scalability law of their number: it
    falls again beyond √((1 − σ) ÷ κ). Any of the N in work is done next, so that all response times are exponential
    with mean N ÷ X(N)."""

    def __init__(self, single_per_s: float, contention: float, coherency: float, seed: int) -> None:
        super().__init__(1, 1.0, 0.0, seed)
        self.law = single_per_s, contention, coherency

    def per_s(self, users: float) -> float:
        """X(N)."""
        single, contention, coherency = self.law
        return single * users / (1 + contention * (users - 1) + coherency * users * (users - 1))

    def saturated_from(self, share: float) -> float:
        """The least number of users whose throughput is `share` of the most."""
        _, contention, coherency = self.law
        most = math.sqrt((1 - contention) / coherency)
        border = share * self.per_s(most)
        return float(brentq(lambda users: self.per_s(users) - border, 1e-6, most))

    def _advance(self) -> None:
        users, end = round(self.level), self.second + 1.0
        count = int(self.random.poisson(self.per_s(users))) if users else 0
        times = self.random.exponential(users / self.per_s(users), count) if users else ()
        self.running = [(math.inf, end, False)] * users
        self._emit(count, [(end, end - float(took), False) for took in times])
        self.second += 1
