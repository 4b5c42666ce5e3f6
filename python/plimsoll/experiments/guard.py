"""Ends what `start` left running when Plimsoll itself was killed and could not do it.

A guard is a small process in a session of its own. It holds the reading end of a pipe whose only writing end Plimsoll
holds: as long as Plimsoll lives it sleeps; when Plimsoll says so it goes away; when the pipe ends without a word,
because Plimsoll is gone (SIGKILL, out of memory, a closed terminal), it runs the target's stop command and ends the
started command with everything that came of it.
"""

from __future__ import annotations

import contextlib
import json
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

_DISMISSED = b"dismissed\n"


class Guard:
    """Watches over the command `pid`, the leader of its session. `stop` is run in `directory` with `environment`."""

    def __init__(
        self, pid: int, limit_s: float, stop: str | None, directory: Path, environment: Mapping[str, str]
    ) -> None:
        orders = {
            "pid": pid,
            "limit_s": limit_s,
            "stop": stop,
            "directory": str(directory.absolute()),
            "environment": dict(environment),
        }
        self._process = subprocess.Popen(
            [sys.executable, "-m", "plimsoll.experiments.guard"],
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
        self._say(json.dumps(orders).encode() + b"\n")  # not on the command line, where everybody could read it

    @property
    def pid(self) -> int:
        """The guard's own process id."""
        return self._process.pid

    def dismiss(self) -> None:
        """Send the guard away: what it watches over was ended, or may go on."""
        self._say(_DISMISSED)
        assert self._process.stdin is not None
        with contextlib.suppress(OSError):
            self._process.stdin.close()
        self._process.wait()

    def _say(self, words: bytes) -> None:
        assert self._process.stdin is not None
        with contextlib.suppress(OSError):  # a guard that somebody killed guards nothing; the run goes on
            self._process.stdin.write(words)
            self._process.stdin.flush()


def main() -> None:
    """The guard's own program: orders in the first line of standard input, then a word or the end of it."""
    orders = sys.stdin.buffer.readline()
    if not orders.endswith(b"\n") or sys.stdin.buffer.readline() == _DISMISSED:
        return
    _end(**json.loads(orders))


def _end(pid: int, limit_s: float, stop: str | None, directory: str, environment: dict[str, Any]) -> None:
    from plimsoll.experiments.process_tree import end_tree  # psutil, which a guard that is never needed need not load

    if stop is not None:
        with contextlib.suppress(OSError, subprocess.SubprocessError):
            subprocess.run(
                stop,
                shell=True,
                cwd=directory,
                env=environment,
                stdin=subprocess.DEVNULL,
                timeout=limit_s,
                check=False,
            )
    end_tree(pid, limit_s)


if __name__ == "__main__":
    main()
