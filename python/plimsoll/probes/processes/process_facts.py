"""What one process has used since its birth and how large it is, read from /proc as cheaply as that goes.

A server has many processes of which few work at a time. /proc/PID/schedstat tells in nanoseconds how long the first
thread ran: where it says what it said a second before, a process of one thread did nothing, and so changed nothing that
is read here; its files are read again after SURELY_AFTER_S all the same, as the kernel may take memory from it. Of a
process with several threads the threads are read where its CPU time went on; thousands of them every few seconds, so
that these are THREADS_PER_S on average. proc(5); kernel.org: Documentation/scheduler/sched-stats.rst. Elsewhere than on
Linux psutil answers.
"""

from __future__ import annotations

import math
import os
import time
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace

import psutil

from plimsoll.probes.probe import Clock

PROC = "/proc"
SURELY_AFTER_S = 10.0
THREADS_PER_S = 500  # each takes about 10 µs
Key = tuple[int, float]  # process id and time of creation: ids are used again
_SWITCHES = b"ctxt_switches:"
# Fields of /proc/PID/stat after the name, from 0 (proc(5) counts from 1 and has two before).
_STATE, _UTIME, _STIME, _CUTIME, _CSTIME, _THREADS, _STARTED = 0, 11, 12, 13, 14, 17, 19
_LEAST_S, _SHARE = 0.05, 0.01


@dataclass(frozen=True)
class Facts:
    """Counters of one process since its birth, and its size now. None: not permitted to read."""

    cpu_s: float
    reaped_cpu_s: float  # of children that ended and were waited for, their whole lives
    rss_bytes: int
    threads: int
    open_files: int | None
    context_switches: int
    read_bytes: int | None
    written_bytes: int | None
    thread_cpu_s: tuple[tuple[int, float], ...] = ()  # (thread, CPU seconds)
    threads_read_s: float = field(default=0.0, compare=False)  # by the clock of who reads


@dataclass
class _Known:
    """The last reading of a process: `ran` is its schedstat's text; `has_threads`: it has, or had, more than one;
    `counts_files`: whether the folder of its open files tells their number by its size (Linux 6.2)."""

    key: Key
    facts: Facts
    ran: bytes
    read_s: float
    has_threads: bool
    counts_files: bool


class ProcessFacts:
    """Facts of processes by their ids, each second."""

    def __init__(self, clock: Clock = time.monotonic) -> None:
        self._clock = clock
        self._known: dict[int, _Known] = {}
        self._tick_s = 1 / os.sysconf("SC_CLK_TCK") if hasattr(os, "sysconf") else 0.01
        self._page = os.sysconf("SC_PAGE_SIZE") if hasattr(os, "sysconf") else 4096

    def of(self, ids: Iterable[int]) -> dict[Key, Facts]:
        """Those that are there and no zombies."""
        now = self._clock()
        found: dict[int, _Known] = {}
        for pid in ids:
            known = self._read(pid, self._known.get(pid), now)
            if known is not None:
                found[pid] = known
        self._known = found
        return {one.key: one.facts for one in found.values()}

    def _read(self, pid: int, before: _Known | None, now: float) -> _Known | None:
        try:
            ran = _file(pid, "schedstat")
        except FileNotFoundError:
            if os.path.exists(f"{PROC}/{pid}/stat"):  # a kernel without it
                ran = b""
            else:
                return self._by_psutil(pid, now) if not os.path.exists(f"{PROC}/self/stat") else None
        except OSError:
            return None
        same = before is not None and ran != b"" and ran == before.ran
        if before is not None and same and not before.has_threads and now - before.read_s < SURELY_AFTER_S:
            return before
        try:
            return self._all(pid, before, ran, now)
        except (OSError, ValueError, IndexError):
            return None

    def _all(self, pid: int, before: _Known | None, ran: bytes, now: float) -> _Known | None:
        stat = _file(pid, "stat").rpartition(b")")[2].split()
        if stat[_STATE] in (b"Z", b"X"):
            return None
        key = (pid, int(stat[_STARTED]) * self._tick_s)
        if before is not None and before.key != key:
            before = None
        cpu_s = (int(stat[_UTIME]) + int(stat[_STIME])) * self._tick_s
        threads = int(stat[_THREADS])
        has_threads = threads > 1 or (before is not None and before.has_threads) or _had_threads(cpu_s, ran)
        open_files, counts_files = _open_files(pid, before)
        read, written = _disk_bytes(pid, before)
        of_threads, threads_read_s = self._threads(pid, cpu_s, has_threads, before, now)
        facts = Facts(
            cpu_s=cpu_s,
            reaped_cpu_s=(int(stat[_CUTIME]) + int(stat[_CSTIME])) * self._tick_s,
            rss_bytes=int(_file(pid, "statm").split()[1]) * self._page,
            threads=threads,
            open_files=open_files,
            context_switches=before.facts.context_switches if before and ran and ran == before.ran else _switches(pid),
            read_bytes=read,
            written_bytes=written,
            thread_cpu_s=of_threads,
            threads_read_s=threads_read_s,
        )
        return _Known(key, facts, ran, now, has_threads, counts_files)

    def _threads(
        self, pid: int, cpu_s: float, has_threads: bool, before: _Known | None, now: float
    ) -> tuple[tuple[tuple[int, float], ...], float]:
        """CPU seconds of each thread, and when they were read."""
        if not has_threads:
            return ((pid, cpu_s),), now
        if before is not None and before.facts.thread_cpu_s:
            known, read_s = before.facts.thread_cpu_s, before.facts.threads_read_s
            if before.facts.cpu_s == cpu_s and len(known) <= THREADS_PER_S:
                return known, now
            if now - read_s < math.floor(len(known) / THREADS_PER_S):
                return known, read_s
        found = []
        try:
            for name in os.listdir(f"{PROC}/{pid}/task"):
                try:
                    stat = _file(pid, f"task/{name}/stat").rpartition(b")")[2].split()
                except OSError:  # it ended in between
                    continue
                found.append((int(name), (int(stat[_UTIME]) + int(stat[_STIME])) * self._tick_s))
        except OSError:
            return (), now
        return tuple(found), now

    def _by_psutil(self, pid: int, now: float) -> _Known | None:
        try:
            process = psutil.Process(pid)
            facts = replace(facts_by_psutil(process), threads_read_s=now)
            return _Known((pid, process.create_time()), facts, b"", now, True, False)
        except (psutil.Error, OSError):
            return None


def facts_by_psutil(process: psutil.Process) -> Facts:
    """The same facts as psutil tells them; psutil.Error where it cannot."""
    with process.oneshot():
        if process.status() == psutil.STATUS_ZOMBIE:
            raise psutil.ZombieProcess(process.pid)
        times, switches = process.cpu_times(), process.num_ctx_switches()
        read: int | None = None
        written: int | None = None
        with suppress(psutil.Error, OSError, AttributeError):
            counters = process.io_counters()
            read, written = counters.read_bytes, counters.write_bytes
        open_files: int | None = None
        with suppress(psutil.Error, OSError, AttributeError):
            open_files = process.num_fds()
        threads: tuple[tuple[int, float], ...] = ()
        with suppress(psutil.Error, OSError):
            threads = tuple((one.id, one.user_time + one.system_time) for one in process.threads())
        return Facts(
            cpu_s=times.user + times.system,
            reaped_cpu_s=getattr(times, "children_user", 0.0) + getattr(times, "children_system", 0.0),
            rss_bytes=process.memory_info().rss,
            threads=process.num_threads(),
            open_files=open_files,
            context_switches=switches.voluntary + switches.involuntary,
            read_bytes=read,
            written_bytes=written,
            thread_cpu_s=threads,
        )


def most_open_files(facts: Mapping[Key, Facts]) -> dict[str, float]:
    """open_files_limit and open_files_share of the process that has most files open, sockets included: each has a limit
    of its own. Empty where it is not told (/proc/PID/limits), or there is none."""
    (pid, _), one = max(facts.items(), key=lambda item: item[1].open_files or 0)
    try:
        lines = _file(pid, "limits").splitlines()
    except OSError:
        return {}
    limit = next((line.split()[3] for line in lines if line.startswith(b"Max open files")), b"")
    if one.open_files is None or not limit.isdigit() or not int(limit):
        return {}
    return {"open_files_limit": float(limit), "open_files_share": one.open_files / int(limit)}


def _file(pid: int, name: str) -> bytes:
    """A file of /proc/PID, at most 8 KiB; os.open and no more, as it is read many times a second."""
    descriptor = os.open(f"{PROC}/{pid}/{name}", os.O_RDONLY | os.O_CLOEXEC)
    try:
        return os.read(descriptor, 8192)
    except ProcessLookupError:
        raise FileNotFoundError(name) from None
    finally:
        os.close(descriptor)


def _had_threads(cpu_s: float, ran: bytes) -> bool:
    """Whether the process used more CPU time than its first thread: others worked and ended."""
    first_s = int(ran.split()[0]) / 1e9 if ran else 0.0
    return not ran or cpu_s - first_s > _LEAST_S + _SHARE * cpu_s


def _switches(pid: int) -> int:
    """Voluntary and involuntary context switches of its first thread."""
    lines = _file(pid, "status").splitlines()
    return sum(int(line.rpartition(b":")[2]) for line in lines if _SWITCHES in line)


def _open_files(pid: int, before: _Known | None) -> tuple[int | None, bool]:
    """(open files, whether the folder's size tells them). What was not permitted once is not tried again."""
    folder = f"{PROC}/{pid}/fd"
    if before is not None and before.facts.open_files is None:
        return None, False
    try:
        if before is not None and before.counts_files:
            return os.stat(folder).st_size, True
        count = len(os.listdir(folder))
        return count, count > 0 and os.stat(folder).st_size == count
    except OSError:
        return None, False


def _disk_bytes(pid: int, before: _Known | None) -> tuple[int | None, int | None]:
    if before is not None and before.facts.read_bytes is None:
        return None, None
    try:
        lines = dict(line.split(b": ") for line in _file(pid, "io").splitlines())
        return int(lines[b"read_bytes"]), int(lines[b"write_bytes"])
    except (OSError, KeyError, ValueError):
        return None, None
