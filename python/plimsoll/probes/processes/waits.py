"""What the threads of one of the target's processes wait for, by the function of the kernel in which they sleep.

A lock costs no CPU: of the threads that want it all but one sleep on a futex (futex(7)). Idle threads of a pool sleep
on one as well, but there are fewer of them the more is to be done. The kernel tells a thread's place in
/proc/PID/task/TID/wchan (proc(5)), to the target's user.
"""

from __future__ import annotations

import os
import time
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path

import psutil

from plimsoll.probes.probe import Clock, ProbeUnavailable
from plimsoll.probes.processes.finding_processes import find_roots
from plimsoll.probes.processes.resting import MOST_SHARE, RestingProbe
from plimsoll.study.models import ProcessSelector

MOST_THREADS = 500
# Words in the names of the kernel's functions; the first that fits counts.
_PLACES = (
    ("locks", ("futex", "semtimedop", "do_semop", "locks_lock", "flock")),
    ("disk", ("io_schedule", "folio_wait", "wait_on_page", "blkdev_", "submit_bio", "throtl", "rq_qos", "dio_",
              "iomap_dio", "jbd2", "fsync", "sync_file")),
    ("timers", ("nanosleep",)),
)  # fmt: skip


class WaitsProbe(RestingProbe):
    """Values: threads_seen, and of these threads_on_locks (futexes, semaphores and file locks), threads_on_disk and
    threads_on_timers (that sleep for a set time); busiest_thread_ready_share, the greatest share of the time since the
    last sample in which one thread ran or waited for a core; known_threads_cores_used, the CPU time that the threads of
    the last sample have used since. None where the kernel does not tell. At most MOST_THREADS are looked at, children's
    too.
    """

    kind = "waits"

    def __init__(
        self,
        selector: ProcessSelector,
        clock: Clock = time.monotonic,
        find: Callable[[ProcessSelector], list[psutil.Process]] = find_roots,
        root: Path = Path("/"),
        cpu_clock: Clock = time.thread_time,
        share: float = MOST_SHARE,
    ) -> None:
        super().__init__(selector, clock, find, root, cpu_clock, share)
        self._before: tuple[float, dict[str, tuple[int, int]]] | None = None

    def _look(self, pids: list[int]) -> dict[str, float]:
        now = self._clock()
        threads = list(_threads(self._root, pids))
        places = [one.place for one in threads]
        ready = self._since_last(now, {one.folder: one.times_ns for one in threads if one.times_ns is not None})
        if not places:
            raise ProbeUnavailable(f"{self._selector.label}: it has no threads that may be read. Run as its user.")
        if not any(places):
            return ready
        counts = Counter(kind_of(place) for place in places)
        found = {f"threads_on_{kind}": float(counts[kind]) for kind, _ in _PLACES}
        return {"threads_seen": float(len(places)), **found, **ready}

    def _since_last(self, now: float, times_ns: dict[str, tuple[int, int]]) -> dict[str, float]:
        """What the threads that were there did since the last sample."""
        before, self._before = self._before, (now, times_ns)
        if before is None or now <= before[0]:
            return {}
        both = [(after, before[1][name]) for name, after in times_ns.items() if name in before[1]]
        if not both:
            return {}
        elapsed_ns = 1e9 * (now - before[0])
        return {
            "busiest_thread_ready_share": min(1.0, max(sum(after) - sum(then) for after, then in both) / elapsed_ns),
            "known_threads_cores_used": sum(after[0] - then[0] for after, then in both) / elapsed_ns,
        }


@dataclass(frozen=True)
class _Thread:
    """Where a thread sleeps, empty if it runs, and for how long it has run and waited for a core so far (schedstat:
    first two numbers; kernel.org: Documentation/scheduler/sched-stats.rst)."""

    folder: str
    place: str
    times_ns: tuple[int, int] | None


def kind_of(place: str) -> str:
    """What a thread that sleeps in that function of the kernel waits for; "other" for the rest."""
    return next((kind for kind, words in _PLACES if any(word in place for word in words)), "other")


def _threads(root: Path, pids: Iterable[int]) -> Iterable[_Thread]:
    count = 0
    for pid in pids:
        folder = f"{root}/proc/{pid}/task"
        try:
            threads = os.listdir(folder)
        except OSError:
            continue
        for thread in threads:
            place = _read(f"{folder}/{thread}/wchan")
            if place is None:
                continue
            times = (_read(f"{folder}/{thread}/schedstat") or "").split()
            times_ns = (int(times[0]), int(times[1])) if len(times) >= 2 else None
            yield _Thread(f"{folder}/{thread}", "" if place == "0" else place, times_ns)
            count += 1
            if count >= MOST_THREADS:
                return


def _read(path: str) -> str | None:
    """A small file of the kernel; None where it is gone or may not be read. (pathlib would take half of the time.)"""
    try:
        with open(path, "rb", buffering=0) as file:
            return file.read(64).decode("ascii", errors="replace")
    except OSError:
        return None
