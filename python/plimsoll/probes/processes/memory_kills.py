"""Processes of the target that the kernel killed for memory, counted in a control group that may end with them.

A kill counts in the group of the process that was killed, whatever the limit was, its own, that of a group around it,
or all memory of the host; in cgroup 2 `memory.events` counts it in each group around that one as well, in cgroup 1 a
group counts its own alone (cgroup-v2.rst; memcg_memory_event in the kernel). So:

- The own group's count tells of the target, and it alone: while that group stands and its count did not rise, what a
  group around it counts was a neighbour's. That is told in words where the neighbour shares the target's limit.
- A group is removed and made anew with the container or service that it is of, and counts from 0 again. What was
  counted stays counted; and where the own group ended between two looks, a kill that the group around it counted in
  that time is taken for the target's, with the doubt said: in a second in which the target's group ends, another's kill
  is unlikely, and nothing else is left that would tell of it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from plimsoll.probes.processes.control_group import Group
from plimsoll.words import count_words, size_words


@dataclass(frozen=True)
class _Reading:
    """What a group counted, and which folder it was then."""

    group: Group
    inode: int
    kills: float

    def rise_to(self, now: _Reading | None) -> float | None:
        """Kills since this reading; None if the group ended since then."""
        is_same = now is not None and now.inode == self.inode and now.kills >= self.kills
        return now.kills - self.kills if now is not None and is_same else None


class MemoryKills:
    """`total`: processes killed since the first look; None where no group counts them. `label` is the target's."""

    def __init__(self, label: str) -> None:
        self.total: float | None = None
        self._label = label
        self._known: list[Group] = []
        self._before: list[_Reading] = []  # of those that count: the own group and those around it, innermost first
        self._notes: list[str] = []

    def take_notes(self) -> list[str]:
        """What was killed, and groups that ended with their process, since the last call."""
        notes, self._notes = self._notes, []
        return notes

    def look(self, groups: Sequence[Group], limited: tuple[float, Group] | None) -> None:
        """Count anew: first in the groups known so far, as the process may be another's by now, then begin with
        `groups`. `limited`: the least limit and the group that has it."""
        self._count(limited, is_gone=False)
        if self._known != list(groups):
            self._known, self._before = list(groups), _readings(groups)
        if self._before and self.total is None:
            self.total = 0.0

    def look_at_the_end(self, limited: tuple[float, Group] | None) -> bool:
        """The process is gone: count in the groups known so far; whether something was killed since the last look."""
        before = self.total
        self._count(limited, is_gone=True)
        return self.total != before

    def _count(self, limited: tuple[float, Group] | None, *, is_gone: bool) -> None:
        if not self._before:
            return
        now = {one.group.folder: one for one in _readings([one.group for one in self._before])}
        own, around = self._before[0], self._before[1:]
        own_now = now.get(own.group.folder)
        new, around_new = own.rise_to(own_now), _around(around, now)
        if new is None:
            self._count_of_ended(own, own_now, around_new, limited, is_gone=is_gone)
        elif new:
            self._note_kills(new, limited)
        if new is not None and limited is not None:
            self._note_neighbours(new, around, now, limited)
        self._before = [now[one.group.folder] for one in self._before if one.group.folder in now]
        if own_now is None:  # told once; what is around it is not the target's
            self._known, self._before = [], []

    def _count_of_ended(
        self,
        own: _Reading,
        own_now: _Reading | None,
        around: tuple[Group, float] | None,
        limited: tuple[float, Group] | None,
        *,
        is_gone: bool,
    ) -> None:
        """The own group was removed since the last look, and perhaps made anew: then all that it counts is new."""
        counted = own_now.kills if own_now is not None else 0.0
        if counted:
            self._note_kills(counted, limited)
        more = around[1] - counted if around is not None else 0.0
        if around is not None and more > 0:
            self.total = (self.total or 0.0) + more
            self._notes.append(
                f"the kernel killed {_processes(more)} for memory in {_name(around[0])} in the moment in which the "
                f"control group of {self._label} in it ended: most likely of {self._label}. "
                "The system's log has the name (journalctl -k, dmesg)."
            )
        elif is_gone and own_now is None:
            known = (
                f"no kill for memory was counted in {_name(around[0])} around it."
                if around is not None
                else "whether it was killed for memory is not known. See the system's log (journalctl -k, dmesg)."
            )
            self._notes.append(f"the control group of {self._label} vanished together with its process; {known}")

    def _note_kills(self, count: float, limited: tuple[float, Group] | None) -> None:
        self.total = (self.total or 0.0) + count
        of = f", at a limit of {size_words(limited[0])}" if limited is not None else ""
        self._notes.append(f"the kernel killed {_processes(count)} of {self._label} for memory{of}.")

    def _note_neighbours(
        self, own: float, around: Sequence[_Reading], now: dict[Path, _Reading], limited: tuple[float, Group]
    ) -> None:
        limit, group = limited
        for one in around:
            others = (one.rise_to(now.get(group.folder)) or 0.0) - own if one.group.folder == group.folder else 0.0
            if others > 0:
                self._notes.append(
                    f"the kernel killed {_processes(others)} beside {self._label} for memory, in {_name(group)}, whose "
                    f"limit of {size_words(limit)} it shares."
                )


def _readings(groups: Sequence[Group]) -> list[_Reading]:
    """Of the groups that count kills: the innermost, which is the process's own, and those around it in cgroup 2."""
    found: list[_Reading] = []
    for group in groups:
        kills = group.keyed("memory.events").get("oom_kill")
        if kills is None and not found:
            kills = group.keyed("memory.oom_control").get("oom_kill")
        inode = group.inode
        if kills is not None and inode is not None:
            found.append(_Reading(group, inode, kills))
    return found


def _around(around: Sequence[_Reading], now: dict[Path, _Reading]) -> tuple[Group, float] | None:
    """The innermost group around that stands still, and what it counted since."""
    for one in around:
        rise = one.rise_to(now.get(one.group.folder))
        if rise is not None:
            return one.group, rise
    return None


def _name(group: Group) -> str:
    return f"the control group /{group.below}" if group.below.parts else "the top control group"


def _processes(count: float) -> str:
    return "a process" if count == 1 else f"{count_words(count)} processes"
