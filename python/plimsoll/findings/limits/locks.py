"""Locks and slow disks as the limit: threads that sleep for them, more of them the more is to be done.

Idle threads of a pool sleep on the same functions of the kernel, but become fewer under load. A process that uses a
whole core has its threads wait for that core (as Python's for its interpreter), which the CPU's own limit says.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping

from plimsoll.findings.limits.limit import OF_UNFINISHED, Limit, Scope
from plimsoll.findings.limits.starved_thread import is_at_its_ceiling
from plimsoll.findings.resources import Means, processes
from plimsoll.words import count_words, number

LEAST_THREADS = 2.5
MOST_THREADS = 0.5
RISE = 2.0
BUSY_CORES = 0.9


def lock_limits(here: Means, low: Means, unfinished: float, words: str, before: str) -> list[Limit]:
    """Processes in which most of what was under way waited for a lock while less than a core was used."""
    found = []
    for label, waiting, seen, then in _waiting(here, low, "threads_on_locks", unfinished):
        used = processes(here).get(label, {}).get("cpu_cores_used")
        if (used is not None and used >= BUSY_CORES) or is_at_its_ceiling(label, here):
            continue
        cores = f", and {number(used)} CPU cores were used" if used is not None else ""
        text = (
            f"{count_words(waiting)} of {count_words(seen)} threads of {label} waited for a lock, or in a queue inside "
            f"it, {words}, {count_words(then)} {before}{cores}."
        )
        remedy = (
            f"take a stack dump of {label} under this load (py-spy dump, jstack, gdb), see which lock most threads "
            "wait for and what its holder does meanwhile, and hold it for less or split it"
        )
        found.append(Limit("lock", f"locks of {label}", 1.0, None, text, remedy, Scope.LOCK, label))
    return found


def disk_waits(here: Means, low: Means, unfinished: float, words: str, before: str) -> list[Limit]:
    """Processes in which most of what was under way waited until something was read or written."""
    found = []
    for label, waiting, seen, then in _waiting(here, low, "threads_on_disk", unfinished):
        text = (
            f"{count_words(waiting)} of {count_words(seen)} threads of {label} waited for a disk {words}, "
            f"{count_words(then)} {before}."
        )
        remedy = (
            f"see what {label} reads and writes (a flush at each commit, logs, files that no cache holds), and have it "
            "do so less often, or give it a faster disk"
        )
        found.append(Limit("disk", f"disk that {label} waits for", 1.0, None, text, remedy))
    return found


def _waiting(here: Means, low: Means, name: str, unfinished: float) -> Iterator[tuple[str, float, float, float]]:
    """(label, threads that wait, threads seen, threads that waited at low load) of each process in which most of the
    threads wait, or of the iterations under way where threads of idle connections are many."""
    for source, values in here.items():
        waiting, seen = values.get(name, 0.0), values.get("threads_seen", 0.0)
        most = min(MOST_THREADS * seen, OF_UNFINISHED * unfinished if unfinished else math.inf)
        if not source.startswith("waits:") or waiting < max(LEAST_THREADS, most):
            continue
        then = _low(low.get(source, {}), name)
        if waiting >= RISE * then:
            yield source.partition(":")[2], waiting, seen, then


def _low(values: Mapping[str, float], name: str) -> float:
    return values.get(name, 0.0)
