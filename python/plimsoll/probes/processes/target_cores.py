"""The cores that the target's processes may use, where that are fewer than the host has (taskset, a cpuset).

All of the host is then never busy, however full these are; and where several processes share them, none of them alone
fills a core.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Sequence

import psutil

from plimsoll.probes.probe import Clock, ProbeUnavailable, Rates
from plimsoll.probes.processes.finding_processes import find_roots
from plimsoll.probes.processes.usable_cores import UsableCores
from plimsoll.study.models import ProcessSelector

_IDLE = ("idle", "iowait")
ALL_THREADS_EVERY_S = 30.0
MOST_TOLD = 64


class TargetCoresProbe:
    """Values: usable_cores; cpu_share, how busy they were, with whatever; free_<label> is 1 for a process that may use
    all cores of the host, which count then no further; where processes are bound to different cores
    core_<number>_of_<label> is 1 for each that one may use. The first two are absent where these cores are all of the
    host; nothing where each process may use all. ProbeUnavailable while none of them is there.

    `seen`: the cores that each process, by label, might use so far, those of its threads and children included.
    """

    source = "target_cores"

    def __init__(
        self,
        selectors: Sequence[ProcessSelector],
        clock: Clock = time.monotonic,
        find: Callable[[ProcessSelector], list[psutil.Process]] = find_roots,
    ) -> None:
        self._usable, self._clock = UsableCores(selectors, find), clock
        self._rates = Rates(clock)
        self._cores: set[int] = set()
        self._threads_read_s = 0.0
        self.seen: dict[str, set[int]] = {}

    def take_notes(self) -> list[str]:
        """None: the process probes tell of restarts."""
        return []

    def sample(self) -> dict[str, float]:
        """Values now; the share is absent in the first call, and when the cores have changed."""
        if not hasattr(os, "sched_getaffinity"):
            return {}
        try:
            by_process = self._usable.by_process()
        except OSError as error:
            raise ProbeUnavailable(f"the target's cores are not known: {error}.") from None
        self._keep(by_process)
        times = psutil.cpu_times(percpu=True)
        bound = {label: those for label, those in by_process.items() if len(those) < len(times)}
        cores = set().union(*bound.values())
        if not cores or max(cores) >= len(times):
            return {}
        values = {f"free_{label}": 1.0 for label in by_process.keys() - bound.keys()}
        if len({frozenset(those) for those in bound.values()}) > 1:
            told = [(core, label) for label, those in bound.items() for core in those][:MOST_TOLD]
            values |= {f"core_{core}_of_{label}": 1.0 for core, label in told}
        if len(cores) >= len(times):
            return values
        if cores != self._cores:
            self._cores, self._rates = cores, Rates(self._clock)
        busy = sum(
            getattr(times[core], name)
            for core in cores
            for name in times[core]._fields
            if name not in _IDLE and not name.startswith("guest")
        )
        rates, _ = self._rates.update({"busy": busy})
        share = {"cpu_share": min(1.0, rates["busy"] / len(cores))} if "busy" in rates else {}
        return {"usable_cores": float(len(cores)), **share, **values}

    def _keep(self, by_process: dict[str, set[int]]) -> None:
        now = self._clock()
        is_new = bool(by_process.keys() - self.seen.keys())
        found = [by_process]
        if is_new or now - self._threads_read_s >= ALL_THREADS_EVERY_S:
            self._threads_read_s = now
            found.append(self._usable.of_all_threads())
        for label, cores in (pair for one in found for pair in one.items()):
            self.seen[label] = self.seen.get(label, set()) | cores
