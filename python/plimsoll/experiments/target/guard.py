"""Ends what `start` left running when Plimsoll itself was killed and could not do it.

A guard is a small process in a session of its own. It holds the reading end of a pipe whose only writing end Plimsoll
holds: as long as Plimsoll lives it sleeps; when Plimsoll says so it goes away; when the pipe ends without a word,
because Plimsoll is gone (SIGKILL, out of memory, a closed terminal), it runs the target's stop command and ends the
started command with everything that came of it.

It is there before the command, which says its own process id into the same pipe before it does anything: so there is no
moment at which the command runs and nobody watches over it.
"""

from __future__ import annotations

import contextlib
import json
import os
import secrets
import shlex
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from plimsoll import own_programs

MARK = "PLIMSOLL_STARTED"  # an environment variable of all that comes of the command, wherever it goes
_DISMISSED = b"dismissed\n"
# The guard's pipe is its standard input; the subshell alone dies of a guard that is gone.
_TELL_AND_BEGIN = "(echo $$ >&0) 2>/dev/null; exec /bin/sh -c {text} </dev/null"


class Guard:
    """Watches over one command, which `begin` starts. `stop` is run in `directory` with `environment`."""

    def __init__(self, limit_s: float, stop: str | None, directory: Path, environment: Mapping[str, str]) -> None:
        self.mark = secrets.token_hex(16)
        orders = {
            "mark": self.mark,
            "limit_s": limit_s,
            "stop": stop,
            "directory": str(directory.absolute()),
            "environment": dict(environment),
        }
        self._process = subprocess.Popen(
            own_programs.command("plimsoll.experiments.target.guard"),
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
        self._say(json.dumps(orders).encode() + b"\n")  # not on the command line, where everybody could read it

    def begin(self, text: str, **how: Any) -> subprocess.Popen[bytes]:
        """Start that shell command as the leader of its session; `how` are further arguments of Popen."""
        told = _TELL_AND_BEGIN.format(text=shlex.quote(text))
        how["env"] = {**how.get("env", os.environ), MARK: self.mark}
        return subprocess.Popen(told, shell=True, stdin=self._process.stdin, start_new_session=True, **how)

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
    """The guard's own program: orders in the first line of standard input, the command's process id in the second, then
    a word or the end of it. Without the second line nothing was begun."""
    orders, told, word = (sys.stdin.buffer.readline() for _ in range(3))
    if told.strip().isdigit() and word != _DISMISSED:
        _end(int(told), **json.loads(orders))


def _end(pid: int, mark: str, limit_s: float, stop: str | None, directory: str, environment: dict[str, Any]) -> None:
    from plimsoll.experiments.target.process_tree import (
        end_tree,  # psutil, which a guard that is never needed need not load
    )

    if stop is not None:
        with contextlib.suppress(OSError):
            how: dict[str, Any] = {"cwd": directory, "env": environment, "stdin": subprocess.DEVNULL}
            stopping = subprocess.Popen(stop, shell=True, start_new_session=True, **how)
            try:
                stopping.wait(limit_s)
            except subprocess.TimeoutExpired:
                end_tree(stopping.pid, 1.0)
    end_tree(pid, limit_s, mark)


if __name__ == "__main__":
    main()
