"""What arrived, ended and was inside in each second of a run, and how long that took: both sides of Little's law.

Pure; grows with the seconds, never with the requests. A second needs its series `iteration_duration` (and, of an open
load, `iteration_response_time`); of other tools' runs these are not known, and then nothing is said of them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from plimsoll.runs.snapshot import Snapshot

DURATION, RESPONSE = "iteration_duration", "iteration_response_time"
METRICS = (DURATION, RESPONSE)
# What a second's lag p99 adds to its mean lag beyond the median (findings/validity/generator.py); a timer's tick.
_RARE_SHARE, _TICK_MS = 0.1, 1.0
_LEAST_GAP_S = 0.02  # an idle loop's timers are no later


@dataclass
class Ended:
    """Iterations that ended in a second: how many, their time together and the longest, in s."""

    count: int = 0
    total_s: float = 0.0
    longest_s: float = 0.0

    def add(self, count: int, total_ms: float, longest_ms: float | None) -> None:
        """Add one series."""
        self.count += count
        self.total_s += total_ms / 1000
        self.longest_s = max(self.longest_s, (longest_ms or 0.0) / 1000)


@dataclass(frozen=True)
class FlowSecond:
    """One second. Arrivals `planned`, `started`, `done`, `dropped` and `interrupted` in it are of whatever level;
    `backlog` and `in_flight` were inside at its end, `earlier` of them by the epoch of their arrival, if that is not
    the second's `epoch`. `inside`: the time of iterations from their start; `waited`: from their planned arrival, of
    the second's own epoch; both of any epoch in `inside_all` and `waited_all`; `rhythms`: scenarios with planned
    arrivals; `cut`: arrivals of earlier epochs that were interrupted; `late_s`: how late all its
    arrivals were sent, together; `gap_s`: the longest time in it for which the generator did not live, which leaves
    arrivals of that time uncounted and users idle."""

    second: int
    epoch: int
    planned: int
    started: int
    done: int
    dropped: int
    interrupted: int
    backlog: int
    in_flight: int
    earlier: Mapping[int, int]
    inside: Ended
    waited: Ended
    inside_all: Ended
    waited_all: Ended
    rhythms: int
    late_s: float
    gap_s: float = 0.0
    cut: Mapping[int, int] = field(default_factory=dict)

    @property
    def unfinished(self) -> int:
        """Arrivals of any epoch that had come and not ended."""
        return self.backlog + self.in_flight

    @property
    def own(self) -> int:
        """Those of the second's own epoch."""
        return self.unfinished - sum(self.earlier.values())

    def unfinished_of(self, epoch: int) -> int:
        """Those of that epoch."""
        return self.own if epoch == self.epoch else self.earlier.get(epoch, 0)


def flow_second(snapshot: Snapshot) -> FlowSecond:
    """The second of that snapshot."""
    inside, waited, inside_all, waited_all = Ended(), Ended(), Ended(), Ended()
    scenarios = set()
    for series in snapshot.series:
        if series.metric not in METRICS:
            continue
        own, every = (inside, inside_all) if series.metric == DURATION else (waited, waited_all)
        for ended in (every, own) if series.epoch is None else (every,):
            ended.add(series.count, series.sum, series.max)
        if series.metric == RESPONSE and series.count:
            scenarios.add(series.tags.get("scenario"))
    told = snapshot.generator
    usual, rare = (float(told.get(name) or 0.0) for name in ("lag_p50_ms", "lag_p99_ms"))
    gap_s = max(float(told.get(name) or 0.0) for name in ("lag_max_ms", "gap_ms")) / 1000
    lag_ms = usual + _RARE_SHARE * max(0.0, rare - usual) + _TICK_MS
    return FlowSecond(
        second=snapshot.second,
        epoch=snapshot.epoch,
        planned=snapshot.planned,
        started=snapshot.started,
        done=snapshot.done,
        dropped=snapshot.dropped,
        interrupted=snapshot.interrupted,
        backlog=snapshot.backlog,
        in_flight=snapshot.in_flight,
        earlier={one.epoch: one.unfinished for one in snapshot.earlier},
        inside=inside,
        waited=waited,
        inside_all=inside_all,
        waited_all=waited_all,
        rhythms=len(scenarios),
        late_s=snapshot.started * lag_ms / 1000,
        gap_s=min(1.0, gap_s) if gap_s > _LEAST_GAP_S else 0.0,
        cut={one.epoch: one.interrupted for one in snapshot.earlier},
    )
