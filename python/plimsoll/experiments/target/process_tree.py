"""The processes that came of one command: its group, its session and its descendants, and how to end them."""

from __future__ import annotations

import contextlib
import os
import signal
import time

import psutil

from plimsoll.experiments.target.guard import MARK
from plimsoll.interruptions import interruptions_held

_POLL_S = 0.02
_KILL_TAKES_S = 5.0


def end_tree(pid: int, limit_s: float, mark: str | None = None) -> int:
    """SIGTERM to everything that came of the command `pid`, SIGKILL after the limit, or at once where an interruption
    ends the wait; how many had to be killed.

    `pid` must lead its own session, and nobody may have waited for it, so that its id is still its own. `mark`: of its
    guard.
    """
    members = tree_of(pid, mark)
    try:
        _signal(members, signal.SIGTERM)
        _wait_for(members, limit_s)
    finally:
        with interruptions_held():
            left = [one for one in members if _lives(one)]
            left += [one for one in tree_of(pid, mark) if one not in left and _lives(one)]
            _signal(left, signal.SIGKILL)
            _wait_for(left, _KILL_TAKES_S)
    return len(left)


def tree_of(pid: int, mark: str | None = None) -> list[psutil.Process]:
    """Its process group and session, its descendants wherever they went, and all that bear its `mark`: also what left
    the session and lost its parents since."""
    found: dict[int, psutil.Process] = {}
    with contextlib.suppress(psutil.Error):
        found = {one.pid: one for one in psutil.Process(pid).children(recursive=True)}
    for process in psutil.process_iter():
        try:
            if os.getsid(process.pid) == pid or os.getpgid(process.pid) == pid or _bears(process, mark):
                found[process.pid] = process
        except (OSError, psutil.Error):
            continue
    return list(found.values())


def _bears(process: psutil.Process, mark: str | None) -> bool:
    return mark is not None and process.environ().get(MARK) == mark


def _signal(members: list[psutil.Process], number: signal.Signals) -> None:
    for process in members:
        with contextlib.suppress(psutil.Error, OSError):
            process.send_signal(number)  # psutil refuses if the id was used again


def _wait_for(members: list[psutil.Process], limit_s: float) -> None:
    deadline = time.monotonic() + limit_s
    while any(_lives(one) for one in members) and time.monotonic() < deadline:
        time.sleep(_POLL_S)


def _lives(process: psutil.Process) -> bool:
    try:
        return process.is_running() and process.status() != psutil.STATUS_ZOMBIE
    except psutil.Error:
        return False
