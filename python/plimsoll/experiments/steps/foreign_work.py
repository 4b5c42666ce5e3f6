"""What other processes than the target's and the generator took from the target in each second of a run.

    others = host's busy cores − the target's − the generator's

Some of it is the usual work of the host, and some is done for the target: by the kernel, by a database or a proxy that
is not probed. The latter goes with the load, so the usual is a line: the lower quartile of all seconds + a share of the
completions, which is the lower quartile of those with many. Other work that is there for less than three quarters of
the time does not move it. What exceeds the line is *foreign*; where CPU time was short, the target would have had it:

    lost share = foreign / (the target's cores + foreign)

It would have taken no more than it does with work waiting and nobody beside it: a target that waits for something else
than CPU loses hardly anything to others, however busy they are. Nor has it lost more than the kernel saw it wait: no
thread of it can have lost a greater share of its time than that in which it ran or waited for a core
(runs/readings/ready_threads.py).

Work that is there nearly all the time becomes the usual, and the capacity is that beside it
(findings/validity/foreign_work.py says so). Helpers may work harder only when the target is overloaded. Their excess
comes and goes with the queue: there is a length of it beyond which it is there and below which it is not. Foreign work
comes before the queue that it makes, and goes before that has drained. Seen twice like that, it belongs to the load.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from plimsoll.runs.readings.ready_threads import most_ready_share
from plimsoll.runs.snapshot import Snapshot

SHORT_OF_CPU = 0.85
THREAD_FULL = 0.95
USUAL_QUANTILE = 0.25
LEAST_CORES, LEAST_HOST_SHARE, USUAL_DOUBT = 0.2, 0.10, 0.3  # of an excess: the kernel's own work is less
FEWEST_SECONDS = 4
MARGIN, MOST_AGAINST = 1.5, 0.05  # of the length of a queue; of the seconds with an excess
MOST_LOST = 0.9
TICKS = 0.03  # cores: CPU times are read in ticks of 10 ms, and less than three of them in a second are none
Array = NDArray[np.float64]
Bools = NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class Cores:
    """CPU cores of this host in one second: of the `host`, used by the target (`own`), by `others`; whether CPU time
    was `short` for the target; `ready`: the greatest share of the time in which a thread of the target ran or waited
    for a core, NaN where that is not known of all that worked."""

    host: float
    own: float
    others: float
    short: bool
    ready: float = math.nan


@dataclass(frozen=True, slots=True)
class Second:
    """One second of load: completions, unfinished work when it began, and its cores, None where not known."""

    done: int
    unfinished: int
    cores: Cores | None


@dataclass(frozen=True)
class ForeignWork:
    """Per second of the run, shape (n,): `cores` of foreign work, and the `lost` share of what the target would have
    had; 0 where that is not known."""

    cores: Array
    lost: Array

    def lost_in(self, seconds: Sequence[int]) -> Array:
        """The lost share in each of these seconds of the run."""
        return _at(self.lost, seconds)

    def cores_in(self, seconds: Sequence[int]) -> Array:
        """Cores of foreign work in each of these seconds of the run."""
        return _at(self.cores, seconds)


def _at(values: Array, seconds: Sequence[int]) -> Array:
    return np.array([values[second] if 0 <= second < values.size else 0.0 for second in seconds])


NO_FOREIGN_WORK = ForeignWork(np.zeros(0), np.zeros(0))


def cores_of(rows: Iterable[Mapping[str, Any]], generator_cores: float) -> Cores | None:
    """How the cores of this host were used in a second, from the rows of its probes; None unless the host and the
    target's processes here were read. Those of other hosts have no `restarts`."""
    values: dict[str, dict[str, float]] = {}
    for row in rows:
        values.setdefault(str(row["source"]), {}).update(row.get("values", {}))
    host = values.get("host", {})
    processes = {
        source.partition(":")[2]: seen
        for source, seen in values.items()
        if source.startswith("process:") and "restarts" in seen
    }
    known = all("cpu_cores_used" in seen for seen in processes.values())
    if "cpu_cores_used" not in host or not processes or not known:
        return None
    own = math.fsum(seen["cpu_cores_used"] for seen in processes.values())
    others = host["cpu_cores_used"] - own - generator_cores
    busy = host["cpu_share"] + host.get("cpu_steal_share", 0.0)
    usable = values.get("target_cores", {})
    if "cpu_share" in usable:
        free = math.fsum(seen["cpu_cores_used"] for label, seen in processes.items() if f"free_{label}" in usable)
        others = min(others, usable["usable_cores"] * usable["cpu_share"] - (own - free))
        busy = max(busy, usable["cpu_share"])
    full_thread = any(seen.get("busiest_thread_cores_used", 0.0) >= THREAD_FULL for seen in processes.values())
    short = busy >= SHORT_OF_CPU and not full_thread
    waits = {label: values.get(f"waits:{label}", {}) for label in processes}
    return Cores(host["cores"], own, max(0.0, others), short, most_ready_share(processes, waits))


class HostSeconds:
    """Collects the seconds of a run and tells what others took in them."""

    def __init__(self) -> None:
        self._seconds: list[Second] = []
        self._unfinished = 0
        self._was_asked = self._is_known = False
        self._last: tuple[int, float | None] | None = None
        self._found = NO_FOREIGN_WORK

    def add(self, snapshot: Snapshot, rows: Iterable[Mapping[str, Any]] | None) -> None:
        """The next second, with the rows of its probes; None where they were not asked, and what they say next is of
        more than its second."""
        asked_before, self._was_asked = self._was_asked, rows is not None
        cores = None
        if rows is not None and asked_before:
            cores = cores_of(rows, float((snapshot.generator or {}).get("cpu_s") or 0.0))
        unknown = Second(0, 0, None)
        self._seconds += [unknown] * (int(snapshot.second) - len(self._seconds))
        self._seconds.append(Second(int(snapshot.done), self._unfinished, cores))
        self._unfinished = int(snapshot.backlog) + int(snapshot.in_flight)
        self._is_known = self._is_known or cores is not None

    def foreign_work(self, idle_s: float | None) -> ForeignWork:
        """What others took in all seconds so far. `idle_s`: seconds of an iteration at low load, in which it does not
        wait."""
        if not self._is_known:
            return NO_FOREIGN_WORK
        if self._last != (len(self._seconds), idle_s):
            self._last = len(self._seconds), idle_s
            self._found = foreign_work(self._seconds, idle_s or 0.0)
        return self._found


def foreign_work(seconds: Sequence[Second], idle_s: float) -> ForeignWork:
    """See the module."""
    cores = [one.cores or Cores(math.nan, math.nan, math.nan, False) for one in seconds]
    others, own, host = (np.array([getattr(one, name) for one in cores]) for name in ("others", "own", "host"))
    done = np.array([float(one.done) for one in seconds])
    queue = np.array([one.unfinished for one in seconds]) - idle_s * done
    excess = _excess(others, done, host)
    if _goes_with_load(excess, queue, np.isfinite(others)):
        excess = np.zeros(len(seconds))
    short = np.array([one.short for one in cores])
    alone = np.isfinite(others) & (excess <= 0) & (queue >= np.maximum(1.0, done))
    most = float(own[alone].max()) if alone.sum() >= FEWEST_SECONDS else math.inf
    would_take = np.minimum(own + excess, np.maximum(own, most))
    with np.errstate(invalid="ignore", divide="ignore"):
        lost = np.where(short & (would_take > own + TICKS), 1 - own / would_take, 0.0)
    ready = _of_the_time_before(np.array([one.ready for one in cores]))
    return ForeignWork(excess, np.fmin(np.minimum(lost, MOST_LOST), ready))


def _of_the_time_before(values: Array) -> Array:
    """Each value stands for the seconds without one before it too, shape (n,): a dear probe says it of all since it
    looked last."""
    known = np.where(np.isnan(values), values.size, np.arange(values.size))
    following = np.minimum.accumulate(known[::-1])[::-1]
    return np.append(values, math.nan)[following]


def _excess(others: Array, done: Array, host: Array) -> Array:
    """Cores of others' work beyond the usual, 0 where that is little or not known, shape (n,)."""
    known = np.isfinite(others)
    if known.sum() < FEWEST_SECONDS:
        return np.zeros(others.size)
    base = float(np.quantile(others[known], USUAL_QUANTILE))
    many = known & (done > np.median(done[known]))
    share = float(np.quantile((others[many] - base) / done[many], USUAL_QUANTILE)) if many.any() else 0.0
    usual = base + max(0.0, share) * done
    least = np.maximum(np.maximum(LEAST_CORES, LEAST_HOST_SHARE * host), USUAL_DOUBT * usual)
    beyond = np.where(known, others - usual, 0.0)
    return np.where(known & (beyond >= least), beyond, 0.0)


def _goes_with_load(excess: Array, queue: Array, known: Bools) -> bool:
    """Whether a queue of some length tells the seconds with an excess from those without, in two overloads or more; all
    of shape (n,). A second says so of queues that were longer, or shorter, all the while, by MARGIN."""
    has = excess > 0
    without = known & ~has
    if not has.any():
        return False
    ends = np.append(queue[1:], queue[-1:])
    shortest, longest = np.minimum(queue, ends), np.maximum(queue, ends)
    lengths = np.unique(np.maximum(1.0, queue[has]))[:, np.newaxis]
    above, below = shortest >= MARGIN * lengths, longest < lengths / MARGIN  # shape (lengths, n)
    against = (below & has).sum(axis=1) + (above & without).sum(axis=1)
    best = int(np.argmin(against))
    if against[best] > MOST_AGAINST * has.sum():
        return False
    overloads = (above[best] & has)[(above[best] & has) | (below[best] & without)]
    return int((overloads & ~np.append(False, overloads[:-1])).sum()) >= 2
