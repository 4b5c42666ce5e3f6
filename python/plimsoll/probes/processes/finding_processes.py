"""Which processes a selector of the study means: by listening port, process id, or name."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from pathlib import Path

import psutil

from plimsoll.probes.probe import ProbeUnavailable
from plimsoll.study.models import ProcessSelector

FIRST_PAUSE_S, LONGEST_PAUSE_S = 1.0, 60.0
_LISTEN = "0A"  # TCP_LISTEN in /proc/net/tcp


def find_roots(selector: ProcessSelector) -> list[psutil.Process]:
    """The processes meant, without those that descend from another of them. ProbeUnavailable if there is none."""
    try:
        if selector.pid is not None:
            found = [psutil.Process(selector.pid)]
        elif selector.port is not None:
            found = _existing(_without_launchers(pids_listening_on(selector.port)))
        else:
            found = _named(selector.name or selector.label)
    except psutil.Error:
        found = []
    found = [process for process in found if _is_alive(process)]
    if not found:
        raise ProbeUnavailable(_nothing_found(selector))
    return _topmost(found)


def roots_holding(sockets: set[str]) -> list[psutil.Process]:
    """The processes that have one of the sockets with these inodes open, without those that descend from another of
    them; empty where none is seen."""
    found = _existing(_without_launchers(pids_holding(sockets)))
    return _topmost([process for process in found if _is_alive(process)])


def only_root_of_user(user: int) -> list[psutil.Process]:
    """The process of that user from which all others of that user descend, alone in a list; empty where there is none,
    and for the superuser and this process's user, whose processes are of every kind."""
    if user in (0, os.getuid()):
        return []
    found = []
    for process in psutil.process_iter(["uids"]):
        if process.info["uids"] is not None and process.info["uids"].real == user and _is_alive(process):
            found.append(process)
    roots = _topmost(found)
    return roots if len(roots) == 1 else []


def pids_listening_on(port: int, proc: Path = Path("/proc")) -> set[int]:
    """All processes that hold a TCP socket listening on that port: forked workers share one.

    (psutil names only one process for a shared socket, so /proc is read here; elsewhere psutil answers.)
    """
    tables = [proc / "net/tcp", proc / "net/tcp6"]
    if not any(table.exists() for table in tables):
        listening = (one for one in psutil.net_connections("tcp") if one.status == psutil.CONN_LISTEN)
        return {one.pid for one in listening if one.laddr and one.laddr.port == port and one.pid}
    return pids_holding({inode for table in tables for inode in _listening_inodes(table, port)}, proc)


def pids_holding(sockets: set[str], proc: Path = Path("/proc")) -> set[int]:
    """All processes that have one of the sockets with these inodes open, as far as this user may see."""
    if not sockets:
        return set()
    wanted = {f"socket:[{inode}]" for inode in sockets}
    return {
        int(folder.name) for folder in proc.iterdir() if folder.name.isdigit() and _holds_any(folder / "fd", wanted)
    }


def _listening_inodes(table: Path, port: int) -> list[str]:
    try:
        rows = [line.split() for line in table.read_text(encoding="ascii").splitlines()[1:]]
    except OSError:
        return []
    return [row[9] for row in rows if row[3] == _LISTEN and int(row[1].rpartition(":")[2], 16) == port]


def _holds_any(folder: Path, wanted: set[str]) -> bool:
    try:
        with os.scandir(folder) as entries:
            return any(_link(entry.path) in wanted for entry in entries)
    except OSError:
        return False


def _link(path: str) -> str:
    try:
        return str(Path(path).readlink())
    except OSError:
        return ""


def _named(name: str) -> list[psutil.Process]:
    """Processes of that name, else those with it as a word (or as the file name of a word) of the command line."""
    by_name, by_word = [], []
    for process in psutil.process_iter(["name", "cmdline"]):
        if process.pid == os.getpid():
            continue
        if process.info["name"] == name:
            by_name.append(process)
        elif any(word == name or word.rpartition("/")[2] == name for word in process.info["cmdline"] or ()):
            by_word.append(process)
    return by_name or by_word


def _existing(pids: set[int]) -> list[psutil.Process]:
    processes = []
    for pid in sorted(pids):
        try:
            processes.append(psutil.Process(pid))
        except psutil.Error:
            continue
    return processes


def _is_alive(process: psutil.Process) -> bool:
    try:
        return process.is_running() and process.status() != psutil.STATUS_ZOMBIE
    except psutil.Error:
        return False


def _without_launchers(pids: set[int]) -> set[int]:
    """Without those from which this process descends, unless there are no others: the system's first process keeps the
    sockets of services that it starts when they are called (systemd.socket(5)), and everything descends from it."""
    try:
        return pids - {parent.pid for parent in psutil.Process().parents()} or pids
    except psutil.Error:
        return pids


def _topmost(processes: list[psutil.Process]) -> list[psutil.Process]:
    chosen = {process.pid for process in processes}
    return [process for process in processes if not chosen & {parent.pid for parent in _parents(process)}]


def _parents(process: psutil.Process) -> list[psutil.Process]:
    try:
        return process.parents()
    except psutil.Error:
        return []


def _nothing_found(selector: ProcessSelector) -> str:
    if selector.pid is not None:
        return f"{selector.label}: no process has the id {selector.pid}. Correct pid, or use port or name."
    if selector.port is not None:
        return (
            f"{selector.label}: no visible process listens on port {selector.port}. "
            "Start the target, correct the port, or run as the same user as the target."
        )
    return f"{selector.label}: no process is called {selector.name}. Start the target, or correct the name."


class FoundRarely:
    """`find_roots` for processes that may be gone for good: one that was not found is looked for again ever more
    rarely, as each look reads what all processes of the host have open."""

    def __init__(
        self,
        find: Callable[[ProcessSelector], list[psutil.Process]] = find_roots,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._find, self._clock = find, clock
        self._missing: dict[str, tuple[float, float, str]] = {}  # by label: until when, for how long, what was said

    def __call__(self, selector: ProcessSelector) -> list[psutil.Process]:
        """Its processes. ProbeUnavailable if there is none, or none was found a moment ago."""
        now = self._clock()
        until_s, pause_s, said = self._missing.get(selector.label, (now, FIRST_PAUSE_S / 2, ""))
        if now < until_s:
            raise ProbeUnavailable(said)
        try:
            found = self._find(selector)
        except ProbeUnavailable as error:
            pause_s = min(2 * pause_s, LONGEST_PAUSE_S)
            self._missing[selector.label] = now + pause_s, pause_s, str(error)
            raise
        self._missing.pop(selector.label, None)
        return found
