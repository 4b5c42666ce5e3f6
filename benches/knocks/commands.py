"""Plimsoll as a user runs it, with everything that comes of it marked, so that nothing can stay behind unseen."""

from __future__ import annotations

import contextlib
import os
import secrets
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any

import psutil

MARK = "PLIMSOLL_KNOCK"
PACKAGE = Path(__file__).parents[2] / "python"
ENDS_S = 60.0
GONE_S = 30.0


class Hung(Exception):
    """A command that did not end in its time; it was killed."""


@dataclass(frozen=True)
class Ended:
    """How a command ended: negative codes are signals."""

    code: int
    output: str
    errors: str
    seconds: float
    peak_mib: float

    @property
    def text(self) -> str:
        """All that it said, in one line."""
        return " ".join(f"{self.output} {self.errors}".split())

    def mistakes(self, *codes: int) -> list[str]:
        """What is wrong whatever the command was: a crash, a traceback, another exit code than one of these."""
        found = ["a traceback"] if "Traceback" in self.errors else []
        found += ["a panic of the engine"] if "panicked at" in self.errors else []
        if codes and self.code not in codes:
            found.append(f"exit code {self.code}, not {' or '.join(map(str, codes))}: {self.errors[-200:].strip()!r}")
        return found


class Commands:
    """Commands in one folder. Leaving it kills whatever came of them."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._mark = secrets.token_hex(8)
        self._begun = 0

    def __enter__(self) -> Commands:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        for process in self._left():
            with contextlib.suppress(psutil.Error):
                process.kill()

    def begin(
        self, *arguments: object, before: Sequence[str] = (), environment: Mapping[str, str] | None = None, **more: Any
    ) -> Running:
        """Start `plimsoll` with these arguments, behind the words `before`, as the leader of a session."""
        self._begun += 1
        output, errors = (self.folder / f".{name}-{self._begun}" for name in ("output", "errors"))
        command = [*before, sys.executable, "-m", "plimsoll", *map(str, arguments)]
        with output.open("wb") as out, errors.open("wb") as err:
            process = subprocess.Popen(
                command, cwd=self.folder, stdin=subprocess.DEVNULL, stdout=out, stderr=err,
                start_new_session=True, preexec_fn=_as_in_a_shell,
                env={**os.environ, "PYTHONPATH": str(PACKAGE), **(environment or {}), MARK: self._mark}, **more,
            )  # fmt: skip
        return Running(process, output, errors)

    def run(self, *arguments: object, limit_s: float = ENDS_S, **more: Any) -> Ended:
        """Run to the end. Raises Hung."""
        return self.begin(*arguments, **more).end(limit_s)

    def runs(self) -> list[Path]:
        """Every run directory, those of a study's experiments among them; oldest first."""
        found = [path.parent for path in self.folder.glob("runs/**/manifest.json")]
        return sorted(found, key=lambda path: path.name)

    def left_behind(self, within_s: float = GONE_S) -> list[str]:
        """What still runs of all that was begun, after so long: its command lines."""
        if wait_until(lambda: not self._left(), within_s):
            return []
        return [f"left running: {_words(process)}" for process in self._left()]

    def _left(self) -> list[psutil.Process]:
        found = []
        for process in psutil.process_iter():
            with contextlib.suppress(psutil.Error, OSError):
                if process.environ().get(MARK) == self._mark and process.status() != psutil.STATUS_ZOMBIE:
                    found.append(process)
        return found


@dataclass
class Running:
    """A command that was begun."""

    process: subprocess.Popen[bytes]
    output: Path
    errors: Path

    def __post_init__(self) -> None:
        self._began_s = time.monotonic()

    @property
    def lives(self) -> bool:
        """Whether it has not ended; its end is not taken, so that `end` sees how much memory it took."""
        with contextlib.suppress(psutil.Error):
            return psutil.Process(self.process.pid).status() != psutil.STATUS_ZOMBIE
        return False

    def send(self, number: int) -> None:
        with contextlib.suppress(ProcessLookupError):
            os.kill(self.process.pid, number)

    def end(self, limit_s: float = ENDS_S) -> Ended:
        """Wait for its end. Raises Hung, and kills it, after so long."""
        deadline = time.monotonic() + limit_s
        while True:
            pid, status, usage = os.wait4(self.process.pid, os.WNOHANG)
            if pid:
                break
            if time.monotonic() > deadline:
                self.send(signal.SIGKILL)
                os.wait4(self.process.pid, 0)
                self.process.returncode = -signal.SIGKILL
                raise Hung(f"did not end within {limit_s:.0f} s")
            time.sleep(0.01)
        self.process.returncode = os.waitstatus_to_exitcode(status)
        texts = [path.read_text(encoding="utf-8", errors="replace") for path in (self.output, self.errors)]
        return Ended(self.process.returncode, *texts, time.monotonic() - self._began_s, usage.ru_maxrss / 1024)


def wait_until(condition: Callable[[], Any], within_s: float) -> bool:
    """Whether it held within that time."""
    deadline = time.monotonic() + within_s
    while not condition():
        if time.monotonic() > deadline:
            return False
        time.sleep(0.02)
    return True


def _as_in_a_shell() -> None:
    """SIGHUP ends again, also where the bench itself runs under nohup."""
    signal.signal(signal.SIGHUP, signal.SIG_DFL)


def _words(process: psutil.Process) -> str:
    with contextlib.suppress(psutil.Error):
        return " ".join(process.cmdline())[:120]
    return str(process.pid)
