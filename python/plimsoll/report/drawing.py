"""A process that draws charts, beside the reading of the run: what it draws with takes most of a second to start, and
would keep the interpreter's lock meanwhile. It also reserves much address space, and ends its process where it does not
get that (`ulimit -v`, some containers): then the report is made without these drawings, and says so.

    with Drawing() as drawing:      # it starts
        …                           # the run is read
        drawing.svg(specification)  # drawn there
"""

from __future__ import annotations

import html
import json
import signal
import subprocess
import sys
from contextlib import suppress
from types import TracebackType
from typing import IO, Any

from plimsoll import own_programs
from plimsoll.report.charts import browser_library, bundled_library, static_svg

MOST_TRIES = 2
ENDS_WITHIN_S = 5.0  # a process that answers no more is ending
LIBRARY = '"library"'


class Drawing:
    """Draws in a process of its own, which ends with the block, or with this process."""

    def __init__(self) -> None:
        self._process: subprocess.Popen[str] | None = None
        self._tries = 0
        self.failure: str | None = None  # why no chart can be drawn

    def __enter__(self) -> Drawing:
        self._start()
        return self

    def _start(self) -> None:
        self._tries += 1
        try:
            self._process = subprocess.Popen(
                own_programs.command("plimsoll.report.drawing"),
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                encoding="utf-8",
                start_new_session=True,  # Ctrl-C is this process's to handle
            )
        except OSError as error:
            self._process, self.failure = None, f"it cannot be started ({error.strerror})"

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._end()

    def _end(self) -> int | None:
        """Ends the process, if there is one, and how it ended."""
        process, self._process = self._process, None
        if process is None:
            return None
        process.kill()
        for pipe in (process.stdin, process.stdout):
            if pipe is not None:
                with suppress(OSError):  # what it was not told yet
                    pipe.close()
        return process.wait()

    def svg(self, specification: dict[str, Any]) -> str:
        """The chart as `charts.static_svg` makes it, and raises; a note in its place where no process draws it."""
        answer = self._asked(json.dumps(specification))
        if answer is None:
            return f'<p class="undrawn">{html.escape(self.words)}</p>'
        return static_svg(specification) if answer == "null\n" else str(json.loads(answer))

    def library(self) -> str:
        """The script that draws charts in a browser; empty where no process can make it."""
        return browser_library(lambda: json.loads(self._asked(LIBRARY) or "null"))

    @property
    def words(self) -> str:
        """Why charts are not drawn, and what to do."""
        return (
            f"Charts are not drawn for print: the chart engine could not start, {self.failure or 'it is gone'}. "
            "It reserves much address space: raise `ulimit -v`, or run plimsoll report on another machine."
        )

    def _asked(self, line: str) -> str | None:
        """The line that the process answers with; None if it has none. A process that is gone is started once more."""
        while self.failure is None:
            if (answer := self._answer(line)) is not None:
                return answer
            ended = _end_words(self._end())
            if self._tries >= MOST_TRIES:
                self.failure = ended
            else:
                self._start()
        return None

    def _answer(self, line: str) -> str | None:
        if self._process is None or self._process.stdin is None or self._process.stdout is None:
            return None
        with suppress(OSError, ValueError, subprocess.TimeoutExpired):
            self._process.stdin.write(line + "\n")
            self._process.stdin.flush()
            answer = self._process.stdout.readline()
            if answer.endswith("\n"):
                return answer
            self._process.wait(ENDS_WITHIN_S)
        return None


def _end_words(code: int | None) -> str:
    if code is None:
        return "it is gone"
    with suppress(ValueError):
        if code < 0:
            return f"it ended with {signal.Signals(-code).name}"
    return f"it ended with exit code {code}"


def serve(lines: IO[str], out: IO[str]) -> None:
    """Draw a chart for each line, and answer with a line; null for one that cannot be drawn."""
    with suppress(Exception):
        static_svg({"data": {"values": []}, "mark": "point"})  # the first takes long
    for line in lines:
        drawn = None
        with suppress(Exception):  # it is drawn again where an error can be told
            drawn = bundled_library() if line.strip() == LIBRARY else static_svg(json.loads(line))
        print(json.dumps(drawn), file=out, flush=True)


if __name__ == "__main__":
    serve(sys.stdin, sys.stdout)
