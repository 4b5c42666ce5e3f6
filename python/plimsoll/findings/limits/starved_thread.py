"""A busy thread that would use a whole core and does not get it: it runs or waits for a core nearly all the time.

The time that it waits is no use of a core. It shows that the cores are full which the thread may use: those of the
host, of the target's cpuset, or of its quota. Only where none of these is full is the thread itself named, with the
CPU that it used (Linux: Documentation/scheduler/sched-stats.rst).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from plimsoll.findings.limits.limit import RISE, Limit, Scope
from plimsoll.findings.resources import Means, processes
from plimsoll.words import amount_words, share_words

READY = 0.90
LEAST_USED = 0.4
# Mean use from which on cores count as full where a thread waited for one: they were full in that part of the time.
CROWDED = 0.75


@dataclass(frozen=True)
class Starved:
    """The busiest thread of a process: `used` cores, and `ready`, the share of the time in which it ran or waited."""

    label: str
    used: float
    ready: float
    ready_before: float | None

    @property
    def words(self) -> str:
        """What it shows of the cores."""
        waited = self.ready - self.used
        used = f"{self.label}'s busiest thread used {amount_words(self.used, 'core')}"
        return f"{used} and waited for a core in {share_words(waited)} of the time"


def is_at_its_ceiling(label: str, here: Means) -> bool:
    """Whether some thread of the process always ran or waited for a core."""
    return here.get(f"waits:{label}", {}).get("busiest_thread_ready_share", 0.0) >= READY


def starved_threads(here: Means, low: Means) -> list[Starved]:
    """Of each process the busiest thread, if it wanted a whole core and got a part of it, and did not at low load."""
    found = []
    for label, values in processes(here).items():
        used = values.get("busiest_thread_cores_used")
        if used is None or not LEAST_USED <= used < READY or not is_at_its_ceiling(label, here):
            continue
        ready, before = _ready(label, here), low.get(f"waits:{label}", {}).get("busiest_thread_ready_share")
        if before is None or ready >= RISE * before:
            found.append(Starved(label, used, ready, before))
    return found


def _ready(label: str, here: Mapping[str, Mapping[str, float]]) -> float:
    return here[f"waits:{label}"]["busiest_thread_ready_share"]


def waiting_thread(one: Starved, words: str, before: str) -> Limit:
    """The limit where no cores are full that this thread may use, as far as that was read."""
    quiet = f", {share_words(one.ready_before)} {before}" if one.ready_before is not None else ""
    text = (
        f"{one.words[:1].upper()}{one.words[1:]} {words} (it ran or waited in {share_words(one.ready)}{quiet}). The "
        "cores that it may use were not read as full: it may be bound to one of them, or others run before it."
    )
    may = f"which cores {one.label} may use and at which priority (taskset -cp, chrt -p)"
    remedy = f"see {may}, and free these cores of other work"
    where = f"target process {one.label}, whose busiest thread waits for a core"
    return Limit("cpu", where, one.used, None, text, remedy, Scope.WAITING_THREAD, one.label)
