"""One shell command in a process group of its own, its output kept in a log without secrets."""

from __future__ import annotations

import codecs
import os
import subprocess
import threading
import time
from collections.abc import Mapping
from contextlib import nullcontext, suppress
from pathlib import Path
from typing import IO, Any

from plimsoll.experiments.target.guard import Guard
from plimsoll.experiments.target.process_tree import end_tree
from plimsoll.study.secrets.redactor import Redactor
from plimsoll.written_files import PRIVATE_FOLDER, new_private

_POLL_S = 0.02
_SHOWN_LINES = 8
_LONGEST_LINE = 65_536
_LARGEST_LOG_BYTES = 64 * 2**20


class Command:
    """A running shell command. Nobody else waits for it, so its process id stays its own until `end`."""

    def __init__(
        self,
        text: str,
        log: Path,
        directory: Path,
        environment: Mapping[str, str],
        redactor: Redactor,
        guard: Guard | None = None,
    ) -> None:
        """`guard` ends it also when this process is killed and cannot do it."""
        self._redactor = redactor
        self._guard = guard
        self.lost_lines = 0
        output = self._opened(log)
        try:
            how: dict[str, Any] = {"cwd": directory, "env": dict(environment)}
            how |= {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT}
            if guard is not None:
                self._process = guard.begin(text, **how)
            else:
                self._process = subprocess.Popen(
                    text, shell=True, stdin=subprocess.DEVNULL, start_new_session=True, **how
                )
        except BaseException:
            if output is not None:
                output.close()
            self._dismiss_guard()
            raise
        self._copying = threading.Thread(target=self._copy, args=(output,), name="plimsoll-target-log", daemon=True)
        self._copying.start()

    @property
    def pid(self) -> int:
        """Its process id, and that of its group."""
        return self._process.pid

    def exit_code(self) -> int | None:
        """Exit code (negative: signal) if it ended, else None. It is not reaped: its id must not be used again yet."""
        if self._process.returncode is not None:
            return self._process.returncode
        state = os.waitid(os.P_PID, self.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT)
        if state is None:
            return None
        return state.si_status if state.si_code == os.CLD_EXITED else -state.si_status

    def wait(self, limit_s: float) -> int | None:
        """Wait for its end; None if the limit came first."""
        deadline = time.monotonic() + limit_s
        while (code := self.exit_code()) is None and time.monotonic() < deadline:
            time.sleep(_POLL_S)
        if code is not None:
            self._copying.join(0.5)  # background processes may hold the pipe open for ever
        return code

    def release(self) -> None:
        """Forget an ended command; what it left in the background goes on."""
        self._process.wait()
        self._dismiss_guard()

    def end(self, limit_s: float) -> int:
        """SIGTERM to its group and descendants, SIGKILL after the limit; how many had to be killed."""
        try:
            return end_tree(self.pid, limit_s, self._guard.mark if self._guard is not None else None)
        finally:  # also where an interruption ended the wait
            self._process.wait()
            self._copying.join(0.5)
            self._dismiss_guard()

    def _dismiss_guard(self) -> None:
        if self._guard is not None:
            self._guard.dismiss()
            self._guard = None

    def _opened(self, log: Path) -> IO[bytes] | None:
        """The log; None if it cannot be written, which is no reason not to run the command."""
        with suppress(OSError):
            log.parent.mkdir(mode=PRIVATE_FOLDER, parents=True, exist_ok=True)
            return new_private(log, append=True, buffered=False)
        return None

    def _copy(self, output: IO[bytes] | None) -> None:
        """Copy its output to the log, line by line without secrets; a line that the disk does not take is dropped and
        counted. Always read on, or the command would block."""
        pipe = self._process.stdout
        assert pipe is not None
        begun = ""  # of a line that goes on
        decoder = codecs.getincrementaldecoder("utf-8")("replace")
        with pipe, output or nullcontext():
            while piece := pipe.readline(_LONGEST_LINE):
                line = begun + decoder.decode(piece)
                end = len(line) if line.endswith("\n") else self._redactor.cut(line)
                line, begun = line[:end], line[end:]
                if not self._is_kept(line, output):
                    self.lost_lines += 1
            begun += decoder.decode(b"", final=True)
            if begun and not self._is_kept(begun, output):
                self.lost_lines += 1

    def _is_kept(self, line: str, output: IO[bytes] | None) -> bool:
        with suppress(OSError, ValueError):
            if output is not None and output.tell() < _LARGEST_LOG_BYTES:
                clean = self._redactor.text(line).encode()
                return output.write(clean) == len(clean)
        return False


def last_lines(log: Path, count: int = _SHOWN_LINES) -> list[str]:
    """The last lines of a log; none if there is no log."""
    try:
        with log.open("rb") as file:
            file.seek(max(0, file.seek(0, os.SEEK_END) - 8_192))
            return [line.rstrip() for line in file.read().decode("utf-8", "replace").splitlines() if line.strip()][
                -count:
            ]
    except OSError:
        return []
