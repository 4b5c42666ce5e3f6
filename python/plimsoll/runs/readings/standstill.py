"""When the generator did not live: stopped (SIGSTOP, docker pause, a frozen control group), kept from every processor,
or on a machine that was paused.

Each thread of the engine asks for a timer of 10 ms and records how late it came (`lag_max_ms` of a second). A thread
that computes is late too, but then its processor time went on; a generator that stood still used none. The seconds
meanwhile are reported after the fact, at once and empty. Time in which the machine slept, which no timer of a process
sees, is the time since boot less the monotonic clock (`slept_ms` of the engine; of older runs `suspended_s` of the
probe of the generator's machine).

Source: lateness of a periodic timer as a measure of pauses, as in jHiccup (G. Tene, 2012).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from plimsoll.words import time_words

STOOD_STILL_S = 0.5  # an idle timer is late by 10 ms at most, on a busy virtual machine by 0.1 s (docs/measurement.md)
OF_THE_GAP = 0.5  # of the gap: CPU time, or time with the processor kept away, that explains it

Cause = Literal["stopped", "starved", "quota", "steal", "suspended"]


@dataclass(frozen=True, slots=True)
class LivedSecond:
    """What one second of the engine tells: the longest lateness of its timer in s, its CPU time in s, shares of the
    time for which its processor was kept away, and whether no timer came at all in it."""

    second: int
    lag_s: float
    cpu_s: float
    waiting: float = 0.0
    throttled: float = 0.0
    stolen: float = 0.0
    silent: bool = False
    suspended_s: float = 0.0
    busy: float = 0.0

    @property
    def kept_away(self) -> float:
        """Share of the time in which its busiest thread had work and no processor."""
        return min(1.0, max(self.waiting, self.throttled) + self.stolen)

    @property
    def wanting(self) -> float:
        """Share of the time in which its busiest thread had work."""
        return self.busy + self.kept_away


@dataclass(frozen=True)
class Standstill:
    """The generator stood still for `length_s` from second `second` of the run."""

    second: int
    length_s: float
    cause: Cause

    @property
    def words(self) -> str:
        """ "stood still for 5.0 s from second 5"."""
        return f"stood still for {time_words(self.length_s)} from second {self.second}"


def standstills(seconds: Sequence[LivedSecond], end_s: float | None = None) -> list[Standstill]:
    """Each time that it did not live, in order. `end_s`: what lies after it does not count.

    A second's gap begins within it, so a gap of more seconds than were silent after it is that of one thread of
    several at least: it counts as well, as its share of the load stood still.
    """
    found: list[Standstill] = []
    lived_to = float("-inf")
    for place, one in enumerate(seconds):
        if one.suspended_s >= STOOD_STILL_S:
            found.append(Standstill(one.second, one.suspended_s, "suspended"))
        if one.second < lived_to:
            continue
        length_s = one.lag_s
        if one.silent:  # the gap began before these seconds
            silent = _silent_from(seconds, place)
            length_s = max(length_s, float(silent))
        if length_s < STOOD_STILL_S:
            continue
        during = [each for each in seconds[place:] if each.second < one.second + max(1.0, length_s)]
        if sum(each.cpu_s for each in during) >= OF_THE_GAP * length_s:
            lived_to = one.second + length_s  # it computed; the seconds that the gap reached into tell it again
            continue
        if end_s is not None:
            length_s = min(length_s, end_s - one.second)
        found.append(Standstill(one.second, length_s, _cause(one)))
        lived_to = one.second + length_s
    return found


def _silent_from(seconds: Sequence[LivedSecond], place: int) -> int:
    """How many seconds from `place` on follow each other and are silent."""
    count = 0
    for at in range(place, len(seconds)):
        if not seconds[at].silent or seconds[at].second != seconds[place].second + count:
            break
        count += 1
    return count


def _cause(one: LivedSecond) -> Cause:
    if one.throttled >= OF_THE_GAP:
        return "quota"
    if one.waiting >= OF_THE_GAP:
        return "starved"
    return "steal" if one.stolen >= OF_THE_GAP else "stopped"
