"""Loads of ten shapes on a closed queue whose knee is known, and the files that three tools write about them.

Truth: N* = (D + Z) ÷ D of one server with exponential demand D and exponential think time Z (Lazowska et al. 1984, ch.
5); simulated in virtual time, so throughput follows exact mean value analysis at every level that is held. A user who
leaves ends the request under way, as threads of JMeter and VUs of k6 do.

The files are written as the tools document them: jmeter.apache.org/usermanual/listeners.html ("CSV Log format"),
grafana.com/docs/k6 ("Results output, JSON"), docs.locust.io ("Retrieve test statistics in CSV format").
"""

from __future__ import annotations

import heapq
import json
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

T0_S = 1_764_000_000
LABELS = (("Home", 0.5), ("Search", 1.5), ("Checkout", 1.0))  # with demand as a multiple of the mean
# Plans: (seconds from the start, users as a multiple of N*), straight lines between.
Plan = Sequence[tuple[float, float]]


def stairs(levels: Sequence[float], each_s: float, between_s: float = 0.0) -> Plan:
    """Levels that are held, with ramps between them."""
    found: list[tuple[float, float]] = []
    at = 0.0
    for level in levels:
        found += [(at, level), (at + each_s, level)]
        at += each_s + between_s
    return found


# What the rules of analyze were tuned on, and what nobody looked at meanwhile.
TUNED: dict[str, Plan] = {
    "ramp, a user at a time, fine": [(0, 0), (600, 2)],
    "ramp, a user at a time, coarse": [(0, 0), (1200, 2)],
    "ramp, hold, ramp down": [(0, 0), (400, 2), (700, 2), (760, 0)],
    "one user first, then a ramp": [(0, 0.01), (6, 0.01), (600, 2)],
    "steps": stairs([0.2 * step for step in range(1, 11)], 60),
}
KEPT_OUT: dict[str, Plan] = {
    "two ramps": [(0, 0), (300, 2), (330, 0.02), (630, 2)],
    "spikes": stairs([0.3, 2, 0.3, 2, 0.3, 2, 0.3], 60, 5),
    "steps with ramps between": stairs([0.25 * step for step in range(1, 9)], 45, 15),
    "stairs up and down": stairs(
        [*(0.3 * step for step in range(1, 7)), *(0.3 * step for step in range(5, 0, -1))], 40
    ),
    "groups of users each 12 s": stairs([0.05 * step for step in range(1, 41)], 12),
}
SHAPES = TUNED | KEPT_OUT
FLAT_LEVELS = (1, 2, 5, 10, 20, 30, 40, 50, 60)


@dataclass(frozen=True)
class Truth:
    """A queue: mean demand and think time in s; `thinks_first`: whether a user who joins thinks before the first
    request; `slows`: by which share of it each request that waits makes the demand greater."""

    demand_s: float
    think_s: float
    thinks_first: bool
    slows: float = 0.0

    def served_s(self, label: int, waiting: int) -> float:
        """Mean time of a request of that label while so many are inside."""
        return self.demand_s * LABELS[label][1] * (1 + self.slows * waiting)

    @property
    def knee(self) -> float:
        """N*."""
        return (self.demand_s + self.think_s) / self.demand_s


@dataclass(frozen=True)
class Played:
    """Requests in order of their ends, shape (n,): start and time in s from T0_S, the place of the label; users that
    there were at the end of each, and `users` at the end of each second."""

    start_s: NDArray[np.float64]
    took_s: NDArray[np.float64]
    label: NDArray[np.int64]
    at_end: NDArray[np.int64]
    users: NDArray[np.int64]


def drawn(seed: int) -> Truth:
    """A queue of 15 to 50/s with a knee of 40 to 120 users."""
    draw = np.random.default_rng([26, seed])
    demand_s = 1 / draw.uniform(15, 50)
    return Truth(demand_s, demand_s * (draw.uniform(40, 120) - 1), bool(draw.integers(2)))


def played(plan: Plan, truth: Truth, seed: int) -> Played:
    """The load on the queue."""
    draw = np.random.default_rng([27, seed])
    end_s = plan[-1][0]
    arriving = _joins(plan, truth.knee)
    events: list[tuple[float, int, str]] = []
    made = 0

    def push(at_s: float, kind: str) -> None:
        nonlocal made
        made += 1
        heapq.heappush(events, (at_s, made, kind))

    for at_s, change in arriving:
        push(at_s, "join" if change > 0 else "leave")
    users, to_leave, busy_from = 0, 0, None
    waiting: deque[tuple[float, int]] = deque()
    rows: list[tuple[float, float, int, int]] = []
    levels = np.zeros(int(end_s) + 1, dtype=np.int64)
    second = 0

    def ask(at_s: float) -> None:
        nonlocal busy_from
        waiting.append((at_s, int(draw.integers(len(LABELS)))))
        if len(waiting) == 1:
            push(at_s + draw.exponential(truth.served_s(waiting[0][1], 1)), "done")

    while events and events[0][0] <= end_s:
        at_s, _, kind = heapq.heappop(events)
        while second < int(at_s):
            levels[second] = users
            second += 1
        if kind == "join":
            users += 1
            push(at_s + draw.exponential(truth.think_s), "ask") if truth.thinks_first else ask(at_s)
        elif kind == "leave":
            to_leave += 1
        elif kind == "ask":
            if to_leave:
                to_leave, users = to_leave - 1, users - 1
            else:
                ask(at_s)
        else:
            start_s, label = waiting.popleft()
            rows.append((start_s, at_s - start_s, label, users))
            if waiting:
                push(at_s + draw.exponential(truth.served_s(waiting[0][1], len(waiting))), "done")
            if to_leave:
                to_leave, users = to_leave - 1, users - 1
            else:
                push(at_s + draw.exponential(truth.think_s), "ask")
    levels[second:] = users
    start, took, label, at_end = (np.array(column) for column in zip(*rows, strict=True))
    return Played(start, took, label.astype(int), at_end.astype(int), levels)


def one_after_another(first: Played, second: Played, pause_s: int) -> Played:
    """Two tests in one file, the second so long after the first."""
    shift = first.users.size + pause_s
    users = np.concatenate((first.users, np.zeros(pause_s, dtype=np.int64), second.users))
    return Played(
        np.concatenate((first.start_s, second.start_s + shift)),
        *(np.concatenate((getattr(first, name), getattr(second, name))) for name in ("took_s", "label", "at_end")),
        users,
    )


def no_knee(shape: str, seed: int) -> Played:
    """A load of NO_KNEE on a queue of `drawn`, or of users who do not think."""
    truth = drawn(seed)
    busy = Truth(truth.demand_s, 0.0, truth.thinks_first)  # its N* is one user
    steps = SHAPES["steps"]
    match shape:
        case "flat from one user on":
            return played(stairs(FLAT_LEVELS, 40), busy, seed)
        case "flat from five users on":
            return played(stairs(FLAT_LEVELS[2:], 40), busy, seed)
        case "a flat ramp":
            return played([(0, 0), (400, 60)], busy, seed)
        case "steps that fall":
            return played(steps, replace(truth, slows=0.02), seed)
        case "a ramp that falls":
            return played([(0, 0), (600, 2)], replace(truth, slows=0.02), seed)
        case "one level only":
            return played([(0, 0.5), (240, 0.5)], truth, seed)
        case "steps that end in proportion":
            return played(stairs([0.05 * step for step in range(1, 9)], 60), truth, seed)
        case "the same test twice":
            return one_after_another(played(steps, truth, seed), played(steps, truth, seed + 1), 900)
        case "two tests of which the second is slower":
            slower = replace(truth, demand_s=2 * truth.demand_s, think_s=truth.think_s - truth.demand_s)
            plan = [(at, level * truth.knee / slower.knee) for at, level in steps]
            return one_after_another(played(steps, truth, seed), played(plan, slower, seed + 1), 900)
    raise ValueError(shape)


NO_KNEE = (
    "flat from one user on", "flat from five users on", "a flat ramp", "steps that fall", "a ramp that falls",
    "one level only", "steps that end in proportion", "the same test twice", "two tests of which the second is slower",
)  # fmt: skip


def _joins(plan: Plan, knee: float) -> list[tuple[float, int]]:
    """(time, +1 or -1) of each user who joins or leaves, so that users follow the plan rounded."""
    found: list[tuple[float, int]] = []
    users = 0
    for (from_s, _), (to_s, high) in pairwise([(plan[0][0], 0.0), *plan]):
        wanted = round(high * knee)
        count = abs(wanted - users)
        sign = 1 if wanted > users else -1
        for place in range(count):
            found.append((from_s + (to_s - from_s) * (place + 0.5) / count, sign))
        users = wanted
    return found


def write_jtl(run: Played, path: Path) -> None:
    """JMeter's results as CSV."""
    lines = ["timeStamp,elapsed,label,responseCode,responseMessage,threadName,success,bytes,grpThreads,allThreads"]
    for start, took, label, users in zip(run.start_s, run.took_s, run.label, run.at_end, strict=True):
        at = round(1000 * (T0_S + start))
        lines.append(f"{at},{1000 * took:.0f},{LABELS[label][0]},200,OK,Users 1-{users},true,512,{users},{users}")
    path.write_text("\n".join(lines) + "\n")


def write_k6(run: Played, path: Path) -> None:
    """k6's samples as JSON lines."""

    def moment(at_s: float) -> str:
        whole, fraction = divmod(round(1e6 * at_s), 10**6)
        return f"{np.datetime64(T0_S + whole, 's')}.{fraction:06d}Z"

    def point(metric: str, at_s: float, value: float, tags: dict[str, str]) -> str:
        data = {"time": moment(at_s), "value": value, "tags": tags}
        return json.dumps({"metric": metric, "type": "Point", "data": data}, separators=(",", ":"))

    rows = [
        (start + took, point("http_req_duration", start + took, 1000 * took, {
            "name": f"http://shop/{LABELS[label][0]}", "method": "GET", "status": "200", "scenario": "default",
            "expected_response": "true"}))
        for start, took, label in zip(run.start_s, run.took_s, run.label, strict=True)
    ]  # fmt: skip
    rows += [(second + 0.99, point("vus", second + 0.99, int(users), {})) for second, users in enumerate(run.users)]
    metric = {"type": "Metric", "data": {"name": "vus", "type": "gauge", "contains": "default"}, "metric": "vus"}
    path.write_text("\n".join([json.dumps(metric, separators=(",", ":")), *(text for _, text in sorted(rows))]) + "\n")


def write_locust(run: Played, path: Path) -> None:
    """Locust's history of all requests together, with percentiles of the last 10 s."""
    shares = (50, 66, 75, 80, 90, 95, 98, 99, 99.9, 99.99, 100)
    heading = ["Timestamp", "User Count", "Type", "Name", "Requests/s", "Failures/s", *(f"{one:g}%" for one in shares)]
    heading += ["Total Request Count", "Total Failure Count", "Total Median Response Time",
                "Total Average Response Time", "Total Min Response Time", "Total Max Response Time",
                "Total Average Content Size"]  # fmt: skip
    ends, times = run.start_s + run.took_s, 1000 * run.took_s
    lines = [",".join(heading)]
    for second, users in enumerate(run.users):
        low, high = np.searchsorted(ends, [second - 9, second + 1])
        window = times[low:high]
        told = np.percentile(window, shares, method="higher").round().astype(int) if window.size else ["N/A"] * 11
        cells = [T0_S + second, users, "", "Aggregated", f"{window.size / 10:.6f}", "0.000000", *told, high, 0]
        lines.append(",".join(map(str, [*cells, 0, 0.0, 0, 0, 512.0])))
    path.write_text("\n".join(lines) + "\n")


WRITERS: dict[str, Callable[[Played, Path], None]] = {"JTL": write_jtl, "k6": write_k6, "Locust": write_locust}
