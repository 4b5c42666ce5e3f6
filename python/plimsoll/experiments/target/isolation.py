"""Keeping generator and target apart on one host: the target's threads leave the generator's processors for the time
of the measurement, by affinity.

Affinity belongs to threads (sched_setaffinity(2)): every thread of every process of the target is moved, those
that it makes later inherit it, and at the end all are given back what they had.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager

import psutil

from plimsoll.probes.probe import ProbeUnavailable
from plimsoll.probes.processes.finding_processes import find_roots
from plimsoll.study.models import ProcessSelector

MOST_ROUNDS = 10
Say = Callable[[str], None]


@contextmanager
def target_off(cpus: Sequence[int], processes: Sequence[ProcessSelector], say: Say) -> Iterator[str | None]:
    """Keep the target's processes off `cpus`, the generator's, while inside; yields how they were kept apart, in words.

    Yields None where they were not, or not all of them; `say` then gets why, with the command that does it by hand.
    Nothing is raised: a target that cannot be moved is measured where it is.
    """
    others = sorted(os.sched_getaffinity(0) - set(cpus))
    if not others or not cpus:
        say("--isolate: there is one processor only, so generator and target share it. Run one of them elsewhere.")
        yield None
        return
    roots = _roots(processes, say)
    if not roots:
        say(
            "--isolate: no process of the target is known on this host. Name it in the study (target.processes), "
            f"or type: taskset -a -cp {_listed(others)} PID"
        )
        yield None
        return
    moved = [_Moved(root) for root in roots]
    try:
        refused = [problem for one in moved for problem in one.move(set(cpus), set(others))]
        for pid, reason in refused:
            say(
                f"--isolate: process {pid} of the target may not be moved ({reason}). "
                f"Type: sudo taskset -a -cp {_listed(others)} {pid}"
            )
        yield None if refused else _apart_words(others, cpus)
    finally:
        for one in moved:
            one.restore()


def apart_words(of_target: Mapping[str, set[int]], of_generator: set[int]) -> str | None:
    """How affinities that are there already keep them apart, in words; None where some process of the target may use a
    core of the generator's, or nothing is known of them."""
    cores = set().union(*of_target.values())
    return _apart_words(cores, of_generator) if cores and of_generator and not cores & of_generator else None


def mixed_with(of_target: Mapping[str, set[int]], of_generator: set[int]) -> list[str]:
    """Which processes of the target may use the generator's cores."""
    return [label for label, cores in of_target.items() if cores & of_generator]


def _apart_words(of_target: Iterable[int], of_generator: Iterable[int]) -> str:
    return f"affinity: target on CPU {_listed(of_target)}, generator on CPU {_listed(of_generator)}"


class _Moved:
    """A process of the target with its descendants, and where each of their threads ran before."""

    def __init__(self, root: psutil.Process) -> None:
        self.root = root
        self.before: dict[int, set[int]] = {}

    def move(self, cpus: set[int], others: set[int]) -> list[tuple[int, str]]:
        """Take every thread off `cpus`; (process id, reason) of those where that is refused.

        A thread that may use some other processor keeps to those it had, so that a target's own pinning stays.
        Rounds go on until no thread is new: one that was made meanwhile may have its maker's old processors.
        """
        refused: dict[int, str] = {}
        for _ in range(MOST_ROUNDS):
            fresh = [(pid, thread) for pid, thread in self._threads() if thread not in self.before]
            if not fresh:
                break
            for pid, thread in fresh:
                try:
                    had = os.sched_getaffinity(thread)
                    self.before[thread] = had
                    if had & cpus:
                        os.sched_setaffinity(thread, had - cpus or others)
                except ProcessLookupError:
                    continue
                except OSError as error:
                    refused[pid] = error.strerror or str(error)
        return sorted(refused.items())

    def restore(self) -> None:
        """Give every thread back what it had; those made meanwhile get what the process they descend from had."""
        first = self.before.get(self.root.pid)
        for pid, thread in self._threads():
            had = self.before.get(thread) or self.before.get(pid) or first
            try:
                if had and os.sched_getaffinity(thread) != had:
                    os.sched_setaffinity(thread, had)
            except OSError:  # it ended, or was never ours to move
                continue

    def _threads(self) -> list[tuple[int, int]]:
        """(process id, thread id) of all that run now; empty once the process has ended."""
        try:
            if not self.root.is_running():
                return []
            processes = [self.root, *self.root.children(recursive=True)]
        except psutil.Error:
            return []
        found = []
        for process in processes:
            try:
                found += [(process.pid, int(name)) for name in os.listdir(f"/proc/{process.pid}/task")]
            except OSError:
                continue
        return found


def _roots(processes: Iterable[ProcessSelector], say: Say) -> list[psutil.Process]:
    roots = []
    for selector in processes:
        try:
            roots += find_roots(selector)
        except ProbeUnavailable as error:
            say(f"--isolate: {error}")
    return roots


def _listed(cpus: Iterable[int]) -> str:
    return ",".join(map(str, sorted(cpus)))
