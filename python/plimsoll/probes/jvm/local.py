"""A Java virtual machine of this host: its heap by what jcmd asks, collections and threads by the counters of jstat."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path

import psutil

from plimsoll.probes.jvm import counters
from plimsoll.probes.jvm.attach import PROC, Machine, heap_of, is_jvm, most_heap_of
from plimsoll.probes.probe import Clock, Observation, ProbeUnavailable, Rates
from plimsoll.probes.processes.family import Family
from plimsoll.probes.processes.finding_processes import find_roots
from plimsoll.probes.told_notes import ToldNotes
from plimsoll.study.models import ProcessSelector


class JvmProbe(ToldNotes):
    """Values of "process:<label>", beside those of the process probe: heap_used_bytes, heap_committed_bytes,
    heap_limit_bytes, heap_share (of the limit), gc_share (of the time), gc_per_s, jvm_threads. Made for Beside.

    ProbeUnavailable if the process is gone, holds no machine, or tells nothing; what it does not tell is noted once.
    """

    def __init__(
        self,
        selector: ProcessSelector,
        label: str,
        clock: Clock = time.monotonic,
        find: Callable[[ProcessSelector], list[psutil.Process]] = find_roots,
    ) -> None:
        super().__init__()
        self.source = f"process:{label}"
        self._selector, self._find, self._clock = selector, find, clock
        self._rates = Rates(clock)
        self._machine: Machine | None = None
        self._limit: float | None = None
        self._counters: Path | None = None

    def observe(self) -> Sequence[Observation]:
        """Its values now."""
        if self._machine is None or not is_jvm(self._machine.pid):
            self._look()
        values = self._heap() | self._counted()
        if not values:
            self._machine = None
            raise ProbeUnavailable(f"{self._selector.label}: its Java virtual machine tells nothing; see the notes.")
        return [Observation(self.source, values)]

    def _look(self) -> None:
        self._machine = None
        members = Family().members(self._find(self._selector))
        found = next((one.pid for one in members if is_jvm(one.pid)), None)
        if found is None:
            raise ProbeUnavailable(
                f"{self._selector.label}: none of its processes has a Java virtual machine that may be read. Correct "
                "the process, or run as the target's user."
            )
        self._machine = Machine(found)
        self._limit, self._rates = None, Rates(self._clock)
        root = PROC / str(found) / "root"
        self._counters = counters.find(found, self._machine.inside, root)
        if self._counters is None:
            self._tell("no collections and threads: it keeps no counters (-XX:-UsePerfData), or they may not be read.")

    def _heap(self) -> dict[str, float]:
        assert self._machine is not None
        try:
            if self._limit is None:
                self._limit = most_heap_of(self._machine.ask("VM.flags")) or 0.0
            found = heap_of(self._machine.ask("GC.heap_info"))
        except ProbeUnavailable as error:
            self._tell(f"no heap: {error}")
            return {}
        if found is None:
            self._tell("no heap: GC.heap_info of this collector is not understood.")
            return {}
        values = {"heap_used_bytes": found[0], "heap_committed_bytes": found[1]}
        if self._limit:
            values |= {"heap_limit_bytes": self._limit, "heap_share": found[0] / self._limit}
        return values

    def _counted(self) -> dict[str, float]:
        if self._counters is None:
            return {}
        numbers: dict[str, float] = {}
        with suppress(ProbeUnavailable):
            numbers = counters.read(self._counters)
        values = {"jvm_threads": numbers["java.threads.live"]} if "java.threads.live" in numbers else {}
        collections = counters.collections_of(numbers)
        if collections is not None:
            rates, _ = self._rates.update({"gc_share": collections[0], "gc_per_s": collections[1]})
            values |= rates
        return values

    def _tell(self, words: str) -> None:
        self._tell_once(words, f"{self._selector.label}: {words}")
