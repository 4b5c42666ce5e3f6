"""Live progress of an experiment: one line that changes on a terminal, a line every few seconds elsewhere."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from plimsoll.experiments.result import Progress

EVERY_S = 5
PHASES = {"range": "finding the range", "bracket": "bracketing", "expected": "expected load", "drain": "draining"}


class ProgressLine:
    """Prints to stderr; `done` ends the line."""

    def __init__(self, *, quiet: bool = False) -> None:
        self._quiet = quiet
        self._live = sys.stderr.isatty()
        self._seen = 0

    def __call__(self, progress: Progress) -> None:
        self._seen += 1
        if self._quiet or (not self._live and self._seen % EVERY_S != 1 and not progress.message):
            return
        from plimsoll.report.wording import number

        known = []
        if progress.bracket.good is not None:
            known.append(f"good {number(progress.bracket.good)}")
        if progress.bracket.bad is not None:
            known.append(f"bad {number(progress.bracket.bad)}")
        text = (
            f"{progress.second:5.0f} s  {PHASES[progress.phase]:<17}  {number(progress.level):>8} {progress.unit}"
            f"  {progress.done_per_s:7.1f} of {progress.planned_per_s:.1f}/s done  {progress.unfinished:.0f} unfinished"
            f"  {', '.join(known)}"
        )
        print(
            f"\r\x1b[2K{text[:118]}" if self._live else text,
            end="" if self._live else "\n",
            file=sys.stderr,
            flush=True,
        )

    def done(self) -> None:
        if self._live and not self._quiet:
            print(file=sys.stderr)
