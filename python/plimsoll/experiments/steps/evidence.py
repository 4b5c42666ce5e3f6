"""What a step shows, in the light of what is known around it: its queue, the capacity of its busy seconds, and the CPU
time that the hypervisor and foreign work took from the target.

Seconds are those of a host of mean speed: where others took CPU time, a second counts as one of a host that much
slower. judge.py draws the verdict.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from plimsoll.experiments.steps.failing import more_failures
from plimsoll.experiments.steps.foreign_work import NO_FOREIGN_WORK, ForeignWork
from plimsoll.experiments.steps.measure import Measurement
from plimsoll.experiments.steps.under_way import UnderWay
from plimsoll.experiments.steps.work_done import Shares
from plimsoll.runs.readings.declared_caps import DeclaredCap
from plimsoll.runs.readings.script_caps import LoadSeconds
from plimsoll.stats.throughput.host_speed import UNKNOWN, HostSpeed
from plimsoll.stats.throughput.plateau import Plateau, plateau
from plimsoll.stats.throughput.saturation import SHORTFALL_Z, Growth, busy_seconds, growth

LEAST_BAD_S, QUICK_ERRORS_S = 3, 2
DISTURBED_SHARE = 0.03
STOLEN_COST = 1.5
MOST_STOLEN = 0.9
LATER_SHARE = 0.02


@dataclass(frozen=True)
class Context:
    """What a step is judged against; rates per second.

    `rate_per_level_s`: nominal arrivals per second at level 1; `half_width`: overload share that must be seen;
    `plateau`: capacity estimate of the other steps, None where the target's throughput falls past its top;
    `bad_level`: the lowest that was too much in other steps, of a target whose throughput falls past its top;
    `base_errors`: (failed, requests) at low load; `least_seconds` and `least_share` (of the arrivals that decide)
    before a step may be called good; `quick`: a probe of the ramp; `host`: what the speed of the target's cores
    explains; `noise`: variance per completion of the steps so far that were not collapsed; `idle_s`: mean seconds of an
    iteration at low load, None before some ended there, and `lasting`: how they end, where they last for seconds;
    `shares`: where an iteration makes several requests, the share of its work that each is; `foreign`: what other
    processes took in each second of the run; `caps` of the script, and
    `low`: the load of the calm steps; `was_bad`: the step itself showed so before, and is judged again.
    """

    rate_per_level_s: float
    half_width: float
    least_seconds: float
    plateau: Plateau | None = None
    bad_level: float | None = None
    base_errors: tuple[int, int] = (0, 0)
    least_share: float = 0.3
    quick: bool = False
    host: HostSpeed = UNKNOWN
    noise: float = 0.0
    idle_s: float | None = None
    lasting: UnderWay | None = None
    shares: Shares | None = None
    foreign: ForeignWork = NO_FOREIGN_WORK
    caps: tuple[DeclaredCap, ...] = ()
    low: LoadSeconds | None = None
    was_bad: bool = False

    @property
    def least_bad_seconds(self) -> float:
        """Seconds before a step may be called bad, unless it is given up."""
        return min(LEAST_BAD_S, self.least_seconds)

    @property
    def least_error_seconds(self) -> float:
        """Seconds before failures or a cap may decide a step; fewer in a probe of the ramp."""
        return min(QUICK_ERRORS_S, self.least_bad_seconds) if self.quick else self.least_bad_seconds


def growth_of(seen: Measurement, rate_per_s: float, context: Context) -> Growth:
    """How unfinished work moved in the step, at `rate_per_s` nominal arrivals."""
    idle = None if context.idle_s is None else context.idle_s * rate_per_s
    arrivals, unfinished = np.asarray(seen.planned), seen.unfinished_start
    if (beyond := _beyond_pauses(seen, context)) is not None:
        (arrivals, unfinished), idle = beyond, 0.0
    factors = speed_factors(seen, context)
    work = None if context.shares is None else work_done(seen, context)
    return growth(arrivals, seen.done, unfinished, rate_per_s, factors, context.noise, idle, work)


def _beyond_pauses(seen: Measurement, context: Context) -> tuple[np.ndarray, float] | None:
    """Of iterations that last for seconds: how many come to their end in each second if nothing waits, shape (n,), and
    how many were beyond it when measuring began; None of others, and where the warm-up did not see all of them."""
    warm = len(seen.warm_planned)
    if context.lasting is None or sum(context.lasting.shares[warm:]) > LATER_SHARE:
        return None
    due = context.lasting.due([*seen.warm_planned, *seen.planned])
    under_way = sum(seen.warm_planned) - float(due[:warm].sum())
    return due[warm:], seen.unfinished_start - under_way


def plateau_shown(seen: Measurement, moved: Growth, context: Context) -> Plateau | None:
    """The capacity that the busy seconds of the step show; None without any."""
    doubt = 0.0 if context.shares is None else context.shares.doubt(seen.answers.each)
    return plateau(moved.busy_done, moved.busy_s, context.rate_per_level_s, moved.busy_noise, doubt)


def plateau_of(seen: Measurement, context: Context) -> Plateau | None:
    """The capacity that a step shows in the seconds that kept the target busy, on a host of mean speed; of one whose
    requests failed, by those that did not."""
    moved = growth_of(seen, seen.level * context.rate_per_level_s, context)
    if more_failures(seen, context.base_errors) is not None:
        return answered_plateau(seen, moved)
    return plateau_shown(seen, moved, context)


def answered_plateau(seen: Measurement, moved: Growth) -> Plateau | None:
    """The level of which the answers that did not fail are all: what a target that refuses the rest carries."""
    answered = moved.done * (1 - seen.error_share)
    return plateau(answered, moved.expected, 1 / seen.level, moved.service_noise)


def arrivals_and_queue(seen: Measurement, context: Context) -> tuple[np.ndarray, float]:
    """Arrivals of each second, shape (n,), and the work that waited when measuring began: what is unfinished above
    rate × time of an iteration at low load, in which users may only be thinking."""
    if (beyond := _beyond_pauses(seen, context)) is not None:
        return beyond[0], max(0.0, beyond[1])
    idle = (context.idle_s or 0.0) * context.rate_per_level_s * seen.level
    return np.asarray(seen.planned, dtype=float), max(0.0, seen.unfinished_start - idle)


def waiting_of(seen: Measurement, context: Context) -> np.ndarray:
    """Work that waited at the end of each second, in iterations, shape (n,); what came to it in the step where nobody
    knows how many are inside without waiting."""
    arrivals, queued = arrivals_and_queue(seen, context)
    first = 0.0 if context.idle_s is None else queued
    return np.maximum(0.0, first + np.cumsum(arrivals - np.asarray(seen.done, dtype=float)))


def busy_speeds(seen: Measurement, context: Context) -> tuple[np.ndarray, np.ndarray]:
    """Completions, as without what others took, and speed of the host in each second in which work waited throughout,
    two of shape (n,)."""
    arrivals, queued = arrivals_and_queue(seen, context)
    busy = busy_seconds(arrivals, seen.done, queued)
    return (work_done(seen, context) / left_by_others(seen, context))[busy], np.asarray(seen.speed, dtype=float)[busy]


def work_done(seen: Measurement, context: Context) -> np.ndarray:
    """What the target did in each second, in iterations, shape (n,): by its answers, where an iteration makes several
    requests (work_done.py)."""
    return np.asarray(seen.done, dtype=float) if context.shares is None else context.shares.work(seen.answers.each)


def speed_factors(seen: Measurement, context: Context) -> np.ndarray:
    """What the host let the target do in each second, 1 at mean speed and where others took nothing, shape (n,)."""
    return _host_factors(seen, context) * left_by_others(seen, context)


def host_speed(seen: Measurement, context: Context) -> float:
    """What the speed of the host let the target do in the step, 1 in the mean of the search; 1 where nobody knows."""
    return float(_host_factors(seen, context).mean())


def _host_factors(seen: Measurement, context: Context) -> np.ndarray:
    return context.host.factors(seen.speed or [math.nan] * len(seen.done))


def left_by_others(seen: Measurement, context: Context) -> np.ndarray:
    """Share of each second that the hypervisor and foreign work left the target, shape (n,)."""
    unstolen = 1 - np.minimum(np.asarray(seen.stolen or [0.0] * len(seen.done)), MOST_STOLEN)
    return np.asarray(unstolen * (1 - context.foreign.lost_in(seen.seconds)))


def taken_share(seen: Measurement, context: Context) -> float:
    """Share of the step's time that the hypervisor and foreign work took."""
    return float(1 - left_by_others(seen, context).mean()) if seen.seconds else 0.0


def taken_explains(seen: Measurement, moved: Growth, context: Context) -> bool:
    """Whether the target would have kept up with the CPU time that the hypervisor took from the worst core, or foreign
    work from all, and with what a core loses beside it (its caches are cold when it comes back). A burst of it explains
    any short window."""
    taken = taken_share(seen, context)
    if taken < DISTURBED_SHARE:
        return False
    if not context.quick and moved.seconds < context.least_seconds:
        return True
    missing = moved.expected - moved.done / (1 - min(STOLEN_COST * taken, MOST_STOLEN))
    return missing < SHORTFALL_Z * math.sqrt(moved.expected * moved.service_noise)
