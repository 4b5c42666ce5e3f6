"""One process of the target with all its children, as a sum; found again when it is restarted.

A selector may mean several processes, as workers that share a port. One that ends, while others go on, is an end; it is
a restart when another takes its place, which may be seconds later: so it is looked for again, ever more rarely, as each
look reads what all processes of the host have open.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable

import psutil

from plimsoll.probes.probe import Clock, ProbeUnavailable
from plimsoll.probes.processes.family import Family
from plimsoll.probes.processes.finding_processes import FIRST_PAUSE_S, LONGEST_PAUSE_S, find_roots
from plimsoll.probes.processes.process_facts import Facts, Key, ProcessFacts, most_open_files
from plimsoll.probes.restarts import restart_note
from plimsoll.study.models import ProcessSelector


class ProcessProbe:
    """Values: cpu_cores_used (CPU seconds per second, children that ended in between included),
    busiest_process_cores_used, busiest_thread_cores_used (1.0 is a thread that never rests), rss_bytes (shared pages
    count in each process), threads, open_files, open_files_limit and open_files_share (of the process that has most
    open, of which the limit is), processes, processes_started_per_s (children that were not there the second before),
    restarts (of the process itself, so far), disk_read_bytes_per_s, disk_write_bytes_per_s, context_switches_per_s.
    Values of open files and disks are absent where the user may not read them, that of the busiest thread in seconds in
    which the threads of a process that has thousands were not read.
    """

    def __init__(
        self,
        selector: ProcessSelector,
        clock: Clock = time.monotonic,
        find: Callable[[ProcessSelector], list[psutil.Process]] = find_roots,
        source: str | None = None,
    ) -> None:
        self.source = source or f"process:{selector.label}"
        self._selector = selector
        self._clock = clock
        self._find = find
        self._roots: list[psutil.Process] = []
        self._family = Family()
        self._facts = ProcessFacts(clock)
        self._before: dict[Key, Facts] | None = None
        self._time_before = 0.0
        self._notes: list[str] = []
        self._ids_seen: set[int] = set()
        self._ended: set[int] = set()  # whose place nobody has taken yet
        self._look_at_s, self._pause_s = 0.0, 0.0
        self._restarts = 0

    def take_notes(self) -> list[str]:
        """Restarts, and ends of one of several processes, seen since the last call."""
        notes, self._notes = self._notes, []
        return notes

    def sample(self) -> dict[str, float]:
        """Values now; see the class. ProbeUnavailable if the process is gone or may not be read."""
        now = self._clock()
        facts = self._collect(now)
        values = {
            "rss_bytes": float(sum(one.rss_bytes for one in facts.values())),
            "threads": float(sum(one.threads for one in facts.values())),
            "processes": float(len(facts)),
            "restarts": float(self._restarts),
        }
        open_files = [one.open_files for one in facts.values() if one.open_files is not None]
        if open_files:
            values["open_files"] = float(sum(open_files))
            values |= most_open_files(facts)
        if self._before is not None and now > self._time_before:
            values |= _rates(self._before, facts, now - self._time_before)
        self._before, self._time_before = facts, now
        return values

    def _collect(self, now: float) -> dict[Key, Facts]:
        """Facts of all processes, found anew if the ones known are gone, or one that ended may have been replaced."""
        facts = self._facts_now()
        there = {pid for pid, _ in facts}
        if facts and all(root.pid in there for root in self._roots) and not (self._ended and now >= self._look_at_s):
            return facts
        try:
            self._roots = self._find(self._selector)
        except ProbeUnavailable:
            self._roots, self._before = [], None
            raise
        facts = self._facts_now()
        if not facts:
            self._before = None
            raise ProbeUnavailable(f"{self._selector.label}: its facts cannot be read. Run as the target's user.")
        self._compare_roots(now)
        return facts

    def _compare_roots(self, now: float) -> None:
        """Tell which of the processes that were meant before are gone, and whether others came in their place."""
        ids = {root.pid for root in self._roots}
        gone = self._ids_seen - ids
        # Children that go on without their parent are no new processes.
        came = ids - self._ids_seen - {pid for pid, _ in self._before or ()} if self._ids_seen else set()
        self._ids_seen = ids
        ended, label = self._ended | gone, self._selector.label
        if came:
            self._before = None  # what they did before is no rate of now
        if came and ended:
            self._notes.append(restart_note(label, f": process {_listed(ended)} is now {_listed(came)}"))
            self._restarts += 1
            self._ended = set()
        elif gone:
            go_on = f"{_listed(ids)} {'goes' if len(ids) == 1 else 'go'} on"
            self._notes.append(f"{label}: process {_listed(gone)} ended; {go_on}.")
            self._ended, self._pause_s = ended, FIRST_PAUSE_S
            self._look_at_s = now + self._pause_s
        elif self._ended:
            self._pause_s = min(2 * self._pause_s, LONGEST_PAUSE_S)
            self._look_at_s = now + self._pause_s

    def _facts_now(self) -> dict[Key, Facts]:
        return self._facts.of(member.pid for member in self._family.members(self._roots))


def _rates(before: dict[Key, Facts], now: dict[Key, Facts], elapsed_s: float) -> dict[str, float]:
    stayed = before.keys() & now.keys()
    each = {key: max(0.0, one.cpu_s - (before[key].cpu_s if key in stayed else 0.0)) for key, one in now.items()}
    values = {
        "cpu_cores_used": (sum(each.values()) + _ended_cpu_s(before, now)) / elapsed_s,
        "busiest_process_cores_used": max(each.values()) / elapsed_s,
        "processes_started_per_s": len(now.keys() - before.keys()) / elapsed_s,
        "context_switches_per_s": sum(now[k].context_switches - before[k].context_switches for k in stayed) / elapsed_s,
    }
    busiest = [_busiest_thread(before.get(key), one, elapsed_s) for key, one in now.items() if one.thread_cpu_s]
    known = [cores for cores in busiest if cores is not None]
    if known and len(known) == len(busiest):
        values["busiest_thread_cores_used"] = max(known)
    for field, name in (("read_bytes", "disk_read_bytes_per_s"), ("written_bytes", "disk_write_bytes_per_s")):
        pairs = [(getattr(before[key], field), getattr(now[key], field)) for key in stayed]
        both = [after - earlier for earlier, after in pairs if earlier is not None and after is not None]
        if both:
            values[name] = max(0, sum(both)) / elapsed_s
    return values


def _busiest_thread(before: Facts | None, now: Facts, elapsed_s: float) -> float | None:
    """Cores that the busiest thread of a process used since its threads were read before; None where they were not
    read since. One thread is known at each sample, also of a process at rest, which is not read again."""
    earlier = dict(before.thread_cpu_s) if before is not None else {}
    if before is not None and len(earlier) > 1:
        elapsed_s = now.threads_read_s - before.threads_read_s
    if elapsed_s <= 0:
        return None
    return max(0.0, *(cpu_s - earlier.get(thread, 0.0) for thread, cpu_s in now.thread_cpu_s)) / elapsed_s


def _ended_cpu_s(before: dict[Key, Facts], now: dict[Key, Facts]) -> float:
    """CPU seconds of children that ended in between: what their parents were credited with for them (whole lives),
    less what they had used when last seen. Never negative: a parent that ignores its children is credited nothing."""
    credited = sum(now[key].reaped_cpu_s - before[key].reaped_cpu_s for key in before.keys() & now.keys())
    seen = sum(before[key].cpu_s + before[key].reaped_cpu_s for key in before.keys() - now.keys())
    return max(0.0, credited - seen)


def _listed(ids: Iterable[int]) -> str:
    return ", ".join(map(str, sorted(ids)))
