"""A process that draws charts, beside the reading of the run: what it draws with takes most of a second to start, and
would keep the interpreter's lock meanwhile.

    with Drawing() as drawing:      # it starts
        …                           # the run is read
        drawing.svg(specification)  # drawn there; here if that process is gone
"""

from __future__ import annotations

import json
import subprocess
import sys
from contextlib import suppress
from types import TracebackType
from typing import IO, Any

from plimsoll import own_programs
from plimsoll.report.charts import static_svg


class Drawing:
    """Draws in a process of its own, which ends with the block, or with this process."""

    def __init__(self) -> None:
        self._process: subprocess.Popen[str] | None = None

    def __enter__(self) -> Drawing:
        with suppress(OSError):
            self._process = subprocess.Popen(
                own_programs.command("plimsoll.report.drawing"),
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                encoding="utf-8",
                start_new_session=True,  # Ctrl-C is this process's to handle
            )
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        if self._process is not None:
            self._process.kill()
            for pipe in (self._process.stdin, self._process.stdout):
                if pipe is not None:
                    with suppress(OSError):  # what it was not told yet
                        pipe.close()
            self._process.wait()

    def svg(self, specification: dict[str, Any]) -> str:
        """The chart as `charts.static_svg` makes it, and raises."""
        drawn = self._drawn_there(json.dumps(specification))
        return static_svg(specification) if drawn is None else drawn

    def _drawn_there(self, line: str) -> str | None:
        if self._process is None or self._process.stdin is None or self._process.stdout is None:
            return None
        with suppress(OSError, ValueError):
            self._process.stdin.write(line + "\n")
            self._process.stdin.flush()
            drawn: str | None = json.loads(self._process.stdout.readline())
            return drawn
        return None


def serve(lines: IO[str], out: IO[str]) -> None:
    """Draw a chart for each line, and answer with a line; null for one that cannot be drawn."""
    with suppress(Exception):
        static_svg({"data": {"values": []}, "mark": "point"})  # the first takes long
    for line in lines:
        drawn = None
        with suppress(Exception):  # it is drawn again where an error can be told
            drawn = static_svg(json.loads(line))
        print(json.dumps(drawn), file=out, flush=True)


if __name__ == "__main__":
    serve(sys.stdin, sys.stdout)
