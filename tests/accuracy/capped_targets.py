"""Targets of known capacity behind a script of known caps, in virtual time: which of the two is the limit is known."""

from __future__ import annotations

import heapq
import math
from typing import Any

import numpy as np
from simulators import T0_UNIX, ClosedQueue, OpenQueue

from plimsoll.runs.histogram import Histogram
from plimsoll.runs.snapshot import Series, Snapshot

TAGS = {"scenario": "work", "name": "GET /work", "method": "GET"}


class CappedQueue(OpenQueue):
    """M/M/c whose arrivals need one of `vus` VUs, that each then waits for `own_s` more, or until `least_s` of the
    iteration are over, and whose requests start at most `rps` times a second. The script allows vus ÷ (own_s + response
    time), vus ÷ least_s, and rps."""

    unit = "multiple"

    def __init__(
        self, servers: int, mean_s: float, seed: int, *, vus: int = 100_000, own_s: float = 0.0, least_s: float = 0.0,
        rps: float = math.inf, rate_per_level_s: float = 1.0, **trouble: Any,
    ) -> None:  # fmt: skip
        super().__init__(servers, mean_s, seed, rate_per_level_s=rate_per_level_s, **trouble)
        self.vus, self.own_s, self.apart_s, self.paced = vus, own_s, 1 / rps, 0.0  # 1 / ∞ is 0: no pace
        self.least_s = least_s
        self.vu_free = [0.0] * vus if vus < 100_000 else []
        self.late = 0
        # Of each iteration under way: its end, arrival, the times at which a VU, the request and the answer came.
        self.running: list[Any] = []

    def _serve(self, arrivals: np.ndarray) -> None:
        services = self.draw(self.random, arrivals.size)
        self.late = 0
        for arrival, service in zip(arrivals.tolist(), services.tolist(), strict=True):
            begun = max(arrival, self.vu_free[0]) if self.vu_free else arrival
            self.late += begun > arrival
            sent = max(begun, self.paced)
            self.paced = sent + self.apart_s
            answered = max(sent, self.free[0]) + service
            heapq.heapreplace(self.free, answered)
            if self.vu_free:
                heapq.heapreplace(self.vu_free, max(answered + self.own_s, begun + self.least_s))
            heapq.heappush(self.running, (answered + self.own_s, arrival, begun, sent, answered))

    def _emit(self, planned: int, finished: list[Any]) -> None:
        now = self.second + 1
        backlog = sum(begun > now for _, _, begun, *_ in self.running)
        in_flight = len(self.running) - backlog
        self.unread.append(
            Snapshot(self.second, T0_UNIX + self.second, self.level, vus=in_flight, vus_max=self.vus,
                     planned=int(planned), started=int(planned), done=len(finished), late=self.late, backlog=backlog,
                     in_flight=in_flight, series=series_of(finished, self.late), generator=dict(self.generator))
        )  # fmt: skip


def series_of(finished: list[Any], late: int = 0) -> tuple[Series, ...]:
    """What the engine says of iterations (end, arrival, begun, sent, answered) that ended in a second."""

    def times(metric: str, values: list[float]) -> Series:
        return Series.of_trend(metric, TAGS, Histogram.from_values([1000 * value for value in values]))

    return (
        times("http_req_response_time", [answered - arrival for _, arrival, _, _, answered in finished]),
        times("http_req_duration", [answered - sent for *_, sent, answered in finished]),
        times("iteration_duration", [end - begun for end, _, begun, *_ in finished]),
        Series("http_reqs", "counter", TAGS, value=float(len(finished))),
        Series("late_iterations", "counter", TAGS, value=float(late)),
        Series("http_req_failed", "rate", TAGS, passes=0, total=len(finished)),
    )


class PacedUsers(ClosedQueue):
    """Users who think and whose requests start at most `rps` times a second; the level is VUs."""

    def __init__(self, servers: int, mean_s: float, think_s: float, seed: int, *, rps: float = math.inf) -> None:
        super().__init__(servers, mean_s, think_s, seed)
        self.apart_s, self.paced = 1 / rps, 0.0

    def _serve(self, arrivals: np.ndarray) -> None:
        (service,) = self.draw(self.random, 1)
        arrival = float(arrivals[0])
        sent = max(arrival, self.paced)
        self.paced = sent + self.apart_s
        answered = max(sent, self.free[0]) + float(service)
        heapq.heapreplace(self.free, answered)
        heapq.heappush(self.running, (answered, arrival, arrival, sent, answered))

    def _emit(self, planned: int, finished: list[Any]) -> None:
        in_flight = len(self.running)
        self.unread.append(
            Snapshot(self.second, T0_UNIX + self.second, self.level, vus=in_flight, vus_max=100_000, planned=planned,
                     started=planned, done=len(finished), in_flight=in_flight, series=series_of(finished),
                     generator=dict(self.generator))
        )  # fmt: skip
