"""Targets that a steered load meets beside the queues of simulators.py, in virtual time, and what they carry in truth.

    metastable   one server whose service takes `slow` times as long while more than `behind` wait: once behind, it
                 carries less than it did before
    collapsing   service that takes longer the more is inside, so that throughput falls past its top

The truth of M/M/c: P(response > t) of a queue with c servers of rate μ and arrivals λ (Kleinrock 1975, 3.5).
"""

from __future__ import annotations

import heapq
import math
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.optimize import brentq
from scipy.stats import poisson
from simulators import OpenQueue

from plimsoll.experiments.long_runs.keep import Keeper
from plimsoll.experiments.long_runs.kept_load import KeptLoad, kept_objectives
from plimsoll.runs.snapshot import Snapshot


class _OfWorkInside(OpenQueue, ABC):
    """Service that depends on how much is inside the target when an arrival comes."""

    def __init__(self, servers: int, mean_s: float, seed: int) -> None:
        super().__init__(servers, mean_s, seed)
        self.inside: list[float] = []

    @abstractmethod
    def longer(self, inside: int) -> float:
        """How many times as long the service takes."""

    def _serve(self, arrivals: np.ndarray) -> None:
        services = self.draw(self.random, arrivals.size)
        for arrival, service in zip(arrivals.tolist(), services.tolist(), strict=True):
            while self.inside and self.inside[0] <= arrival:
                heapq.heappop(self.inside)
            end = max(arrival, self.free[0]) + service * self.longer(len(self.inside))
            heapq.heapreplace(self.free, end)
            heapq.heappush(self.inside, end)
            heapq.heappush(self.running, (end, arrival, False))


class Metastable(_OfWorkInside):
    """`slow` times the service while more than `behind` are inside."""

    def __init__(self, mean_s: float, behind: int, slow: float, seed: int) -> None:
        super().__init__(1, mean_s, seed)
        self.behind, self.slow = behind, slow

    def longer(self, inside: int) -> float:
        return self.slow if inside > self.behind else 1.0


class Collapsing(_OfWorkInside):
    """1 + n ÷ `scale` times the service with n inside: throughput falls with each that is more than the servers."""

    def __init__(self, servers: int, mean_s: float, scale: float, seed: int) -> None:
        super().__init__(servers, mean_s, seed)
        self.scale = scale

    def longer(self, inside: int) -> float:
        return 1 + inside / self.scale


def share_above(servers: int, service_per_s: float, per_s: float, seconds: float) -> float:
    """P(response > seconds) in M/M/c with less than full load."""
    if servers == 1:
        return math.exp(-(service_per_s - per_s) * seconds)
    load = per_s / service_per_s
    last = load**servers / math.factorial(servers) * servers / (servers - load)
    waits = last / (sum(load**count / math.factorial(count) for count in range(servers)) + last)
    rate = servers * service_per_s - per_s
    served, both = math.exp(-service_per_s * seconds), math.exp(-rate * seconds)
    if abs(rate - service_per_s) < 1e-9:
        return served * (1 + waits * service_per_s * seconds)
    return (1 - waits) * served + waits * (rate * served - service_per_s * both) / (rate - service_per_s)


def kept_rate(servers: int, service_per_s: float, quantile: float, limit_s: float) -> float:
    """Arrivals per second at which that quantile of the response time of M/M/c is `limit_s`."""
    most = servers * service_per_s

    def excess(per_s: float) -> float:
        return share_above(servers, service_per_s, per_s, limit_s) - (1 - quantile)

    return float(brentq(excess, 1e-6 * most, most * (1 - 1e-9)))


@dataclass(frozen=True)
class Steered:
    """A steered run: the level of each second, its snapshots, the events and the controller as it ended."""

    levels: np.ndarray
    snapshots: list[Snapshot]
    events: list[tuple[str, dict[str, Any]]]
    keeper: Keeper

    def events_of(self, kind: str) -> list[dict[str, Any]]:
        return [details for name, details in self.events if name == kind]


def steer(source: Any, objectives: Sequence[str], start: float, seconds: int = 600) -> Steered:
    """Steer that source to the objectives for so many seconds of its clock."""
    kept, events = kept_objectives(objectives), []
    keeper = Keeper(tuple(one.limit for one in kept), start, whole=source.unit == "vus")
    load = KeptLoad(source, kept, keeper, lambda kind, **details: events.append((kind, details)))
    load.start()
    load.set_level(start)
    snapshots = list(load.snapshots(seconds))
    return Steered(np.array(load.levels), snapshots, events, keeper)


def kept_users(service_per_s: float, think_s: float, quantile: float, limit_s: float) -> float:
    """Users of a closed M/M/1 with exponential think times whose response time has that quantile at `limit_s`, between
    whole numbers by the logarithm of the share above it. What an arrival of N users finds is what N − 1 leave (the
    arrival theorem), and n found take n + 1 services."""

    def share(users: int) -> float:
        weights = [1.0]
        for inside in range(1, users):
            weights.append(weights[-1] * (users - inside) / (think_s * service_per_s))
        above = [float(poisson.cdf(inside, service_per_s * limit_s)) for inside in range(users)]
        return sum(weight * one for weight, one in zip(weights, above, strict=True)) / sum(weights)

    users = 2
    while share(users) <= 1 - quantile:
        users += 1
    low, high = math.log(share(users - 1)), math.log(share(users))
    return users - 1 + (math.log(1 - quantile) - low) / (high - low)
