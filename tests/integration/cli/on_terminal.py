"""A command on a terminal of its own, for tests: what it wrote, and what stands on the screen at any moment."""

from __future__ import annotations

import fcntl
import os
import pty
import re
import select
import signal
import struct
import termios
import time
from collections.abc import Callable, Mapping
from pathlib import Path

_SEQUENCE = re.compile(r"\x1b\[([?0-9;]*)([A-Za-z])|\r|\n|[^\x1b\r\n]")


class OnTerminal:
    """`command` behind a pty of `columns` and `lines`; what it writes is read as it comes."""

    def __init__(
        self, command: list[str], folder: Path, columns: int = 80, lines: int = 24, env: Mapping[str, str] | None = None
    ) -> None:
        self.columns = columns
        self.written = b""
        environment = {**os.environ, "TERM": "xterm-256color", "PYTHONUTF8": "1"} | dict(env or {})
        environment.pop("NO_COLOR", None) if "NO_COLOR" not in (env or {}) else None
        self.process, self._master = pty.fork()
        if self.process == 0:
            os.chdir(folder)
            time.sleep(0.2)  # until the terminal has its size
            os.execvpe(command[0], command, environment)
        self.resize(columns, lines)
        self.exit_code: int | None = None

    def resize(self, columns: int, lines: int) -> None:
        fcntl.ioctl(self._master, termios.TIOCSWINSZ, struct.pack("HHHH", lines, columns, 0, 0))

    def interrupt(self) -> None:
        """Ctrl-C, between two frames: the kernel drops what of one it has not passed on yet."""
        before = -1
        while before != len(self.written):
            before = len(self.written)
            self._read()
        os.write(self._master, b"\x03")

    def read_until(self, seen: Callable[[OnTerminal], bool], within_s: float) -> None:
        """Read until `seen`; fails the test where that does not come."""
        end_s = time.monotonic() + within_s
        while not seen(self):
            assert time.monotonic() < end_s, f"it never came:\n{self.text}"
            if not self._read():
                assert seen(self), f"it ended before:\n{self.text}"

    def wait(self, within_s: float = 90.0) -> int:
        """Read to the end; the exit code."""
        end_s = time.monotonic() + within_s
        while self._read():
            if time.monotonic() > end_s:
                os.kill(self.process, signal.SIGKILL)
                raise AssertionError(f"it did not end:\n{self.text}")
        _, status = os.waitpid(self.process, 0)
        self.exit_code = os.waitstatus_to_exitcode(status)
        return self.exit_code

    def kill(self) -> None:
        if self.exit_code is None:
            os.kill(self.process, signal.SIGKILL)
            os.waitpid(self.process, 0)
        os.close(self._master)

    @property
    def text(self) -> str:
        return self.written.decode(errors="replace")

    @property
    def screen(self) -> list[str]:
        """The lines as they stand there now, those that scrolled away included."""
        rows, line, column = [""], 0, 0
        for found in _SEQUENCE.finditer(self.text):
            count = int(found[1]) if found[1] and found[1].isdigit() else 1
            if found[0] == "\r":
                column = 0
            elif found[0] == "\n":
                line += 1
                rows += [""] * (line + 1 - len(rows))
            elif found[2] == "A":
                line = max(0, line - count)
            elif found[2] == "K":
                rows[line] = ""
            elif found[2] is None:
                if column >= self.columns:
                    line, column = line + 1, 0
                    rows += [""] * (line + 1 - len(rows))
                rows[line] = f"{rows[line][:column]:<{column}}{found[0]}{rows[line][column + 1 :]}"
                column += 1
        return [row.rstrip() for row in rows]

    def _read(self) -> bool:
        """What there is within a moment; False at the end."""
        if not select.select([self._master], [], [], 0.1)[0]:
            return True
        try:
            data = os.read(self._master, 1 << 16)
        except OSError:  # the terminal is gone with its last program
            return False
        self.written += data
        return bool(data)
