"""How fast the target's cores are now: a fixed piece of work, timed on them a few times a second.

On a shared machine neighbours slow a core by a tenth and more (the sibling hyperthread, caches, memory), for seconds or
minutes, and no counter of the kernel shows it: the core stays as busy and does less. The work here is arithmetic, and
reading and writing JSON documents from a set that does not fit near caches. Timed in CPU time of its own thread, so
that waiting for the core does not count; it takes about 1% of a core.
"""

from __future__ import annotations

import json
import math
import os
import statistics
import threading
import time
from collections.abc import Callable, Sequence
from functools import cache

import psutil

from plimsoll.probes.probe import ProbeUnavailable
from plimsoll.probes.processes.finding_processes import find_roots
from plimsoll.probes.processes.usable_cores import UsableCores
from plimsoll.study.models import ProcessSelector

INTERVAL_S = 0.02
ENDS_UNASKED_S = 60.0
MOST_CORES = 8
FEWEST_PIECES = 3
ADDITIONS = 800
DOCUMENTS, DOCUMENTS_AT_ONCE, STRIDE = 8_000, 4, 3_001


class CoreSpeedProbe:
    """Values: work_per_cpu_s, pieces of work per CPU second on the cores that the target's processes may run on (at
    most eight of them), over the time since the last call; work_error_share, its standard error as a share. Absent in
    the first.

    `cpu_s`: what it took so far. Its threads, one a core, start with the first call and end a minute after the last.
    """

    source = "core_speed"

    def __init__(self, selectors: Sequence[ProcessSelector], find: Callable[..., list[psutil.Process]] = find_roots):
        self._usable = UsableCores(selectors, find)
        self._lock = threading.Lock()
        self._spent_s: list[float] = []
        self._asked = 0.0
        self._threads: dict[int, threading.Thread] = {}
        self.cpu_s = 0.0

    def take_notes(self) -> list[str]:
        """None: cores do not come and go."""
        return []

    def rest(self) -> None:
        """Leave the cores alone until it is asked again."""
        self._threads = {}
        with self._lock:
            self._spent_s = []

    def sample(self) -> dict[str, float]:
        """The speed since the last call; ProbeUnavailable where threads cannot be bound to the target's cores."""
        self._asked = time.monotonic()
        self._follow(self._cores())
        with self._lock:
            spent_s, self._spent_s = self._spent_s, []
        if len(spent_s) < FEWEST_PIECES:
            return {}
        mean_s = statistics.mean(spent_s)
        error_share = statistics.stdev(spent_s) / mean_s / math.sqrt(len(spent_s))
        return {"work_per_cpu_s": 1 / mean_s, "work_error_share": error_share}

    def _cores(self) -> set[int]:
        """Cores of the target, evenly chosen where there are many."""
        if not hasattr(os, "sched_setaffinity"):
            raise ProbeUnavailable("the speed of the target's cores is not measured: this system binds no threads.")
        try:
            cores = sorted(self._usable.now())
        except OSError as error:
            raise ProbeUnavailable(f"the speed of the target's cores is not measured: {error}.") from None
        return {cores[place * len(cores) // MOST_CORES] for place in range(MOST_CORES)} if cores else set()

    def _follow(self, cores: set[int]) -> None:
        """One living thread for each core, none for others."""
        self._threads = {core: thread for core, thread in self._threads.items() if core in cores and thread.is_alive()}
        for core in cores - self._threads.keys():
            thread = threading.Thread(target=self._measure, args=(core,), name=f"plimsoll-core-{core}", daemon=True)
            self._threads[core] = thread
            thread.start()

    def _measure(self, core: int) -> None:
        try:
            os.sched_setaffinity(0, {core})
        except OSError:  # taken offline or away from this process: the other cores tell
            return
        work = Work()
        while self._threads.get(core) is threading.current_thread() and time.monotonic() < self._asked + ENDS_UNASKED_S:
            time.sleep(INTERVAL_S)
            before = time.thread_time()
            work.do()
            spent_s = time.thread_time() - before
            with self._lock:
                self._spent_s.append(spent_s)
                self.cpu_s += spent_s


@cache
def _documents() -> Sequence[str]:
    return [
        json.dumps(
            {"id": f"{number * 7919 % DOCUMENTS}", "values": [number / 7.0] * 8, "by": {"login": f"user-{number}"}}
        )
        for number in range(DOCUMENTS)
    ]


class Work:
    """The piece of work; each is as long as any other, with a document of its own."""

    def __init__(self) -> None:
        self._documents = _documents()
        self._place = 0

    def do(self) -> int:
        """Do it once; the result is of no use, and keeps it from being left out."""
        total = 0
        for number in range(ADDITIONS):
            total += number * number
        for _ in range(DOCUMENTS_AT_ONCE):
            self._place = (self._place + STRIDE) % DOCUMENTS
            total += len(json.dumps(json.loads(self._documents[self._place])))
        return total
