"""The cores that the target's processes may use, where that are fewer than the host has (taskset, a cpuset).

All of the host is then never busy, however full these are; and where several processes share them, none of them alone
fills a core.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterable

import psutil

from plimsoll.probes.finding_processes import find_roots
from plimsoll.probes.probe import Clock, ProbeUnavailable, Rates
from plimsoll.probes.usable_cores import UsableCores
from plimsoll.study.models import ProcessSelector

_IDLE = ("idle", "iowait")


class TargetCoresProbe:
    """Values: usable_cores; cpu_share, how busy they were, with whatever. Nothing where the processes may use all cores
    of the host. ProbeUnavailable while none of them is there."""

    source = "target_cores"

    def __init__(
        self,
        selectors: Iterable[ProcessSelector],
        clock: Clock = time.monotonic,
        find: Callable[[ProcessSelector], list[psutil.Process]] = find_roots,
    ) -> None:
        self._usable, self._clock = UsableCores(selectors, find), clock
        self._rates = Rates(clock)
        self._cores: set[int] = set()

    def take_notes(self) -> list[str]:
        """None: the process probes tell of restarts."""
        return []

    def sample(self) -> dict[str, float]:
        """Values now; the share is absent in the first call, and when the cores have changed."""
        if not hasattr(os, "sched_getaffinity"):
            return {}
        try:
            cores = self._usable.now()
        except OSError as error:
            raise ProbeUnavailable(f"the target's cores are not known: {error}.") from None
        times = psutil.cpu_times(percpu=True)
        if not cores or len(cores) >= len(times) or max(cores) >= len(times):
            return {}
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
        return {"usable_cores": float(len(cores)), **share}
