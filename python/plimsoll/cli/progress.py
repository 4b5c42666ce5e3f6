"""Live progress of an experiment: one line that changes on a terminal, a line every few seconds elsewhere."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from plimsoll.experiments.result import Progress
    from plimsoll.experiments.trials import TrialProgress

EVERY_S = 5
PHASES = {
    "range": "finding the range",
    "bracket": "bracketing",
    "expected": "expected load",
    "drain": "draining",
    "baseline": "one user alone",
    "load": "loading",
}


class ProgressLine:
    """Prints to stderr; `done` ends the line."""

    def __init__(self, *, quiet: bool = False) -> None:
        self._quiet = quiet
        self._live = sys.stderr.isatty()
        self._seen = 0

    def __call__(self, progress: Progress) -> None:
        self._seen += 1
        if self._quiet or (not self._live and self._seen % EVERY_S != 1):
            return
        from plimsoll.report.wording import LEVEL_UNITS, level, number

        unit = LEVEL_UNITS.get(progress.unit, progress.unit)
        bounds = (("good", progress.bracket.good), ("bad", progress.bracket.bad))
        known = [f"{word} {number(bound)}" for word, bound in bounds if bound is not None]
        text = (
            f"{progress.second:5.0f} s  {PHASES[progress.phase]:<17}  {level(progress.level, unit):>14}"
            f"  {progress.done_per_s:7.1f} of {progress.planned_per_s:.1f}/s done  {progress.unfinished:.0f} unfinished"
            f"  {', '.join(known)}{progress.words}"
        )
        print(
            f"\r\x1b[2K{text[:130]}" if self._live else text,
            end="" if self._live else "\n",
            file=sys.stderr,
            flush=True,
        )

    def say(self, message: str) -> None:
        """A sentence on a line of its own, quiet or not."""
        print(f"{self._line_break()}{message}", file=sys.stderr, flush=True)

    def done(self) -> None:
        print(self._line_break(), end="", file=sys.stderr)

    def _line_break(self) -> str:
        return "\n" if self._live and not self._quiet and self._seen else ""


class TrialLine:
    """The same for experiments made of trials."""

    def __init__(self, *, quiet: bool = False) -> None:
        self._quiet = quiet
        self._live = sys.stderr.isatty()
        self._trial = 0

    def __call__(self, progress: TrialProgress) -> None:
        if self._quiet or (not self._live and progress.number == self._trial):
            return
        self._trial = progress.number
        what = f"{progress.label}, {progress.level}" if progress.label else progress.level
        text = f"trial {progress.number:>3} of {progress.of}  {what:<40}"
        if self._live:
            text += f"  {progress.second:>3} of {progress.seconds} s  {progress.done_per_s:.1f}/s done"
            print(f"\r\x1b[2K{text[:118]}", end="", file=sys.stderr, flush=True)
        else:
            print(text.rstrip(), file=sys.stderr, flush=True)

    def say(self, message: str) -> None:
        """A sentence on a line of its own, quiet or not."""
        line_break = "\n" if self._live and not self._quiet and self._trial else ""
        print(f"{line_break}{message}", file=sys.stderr, flush=True)

    def done(self) -> None:
        """End the line."""
        print("\n" if self._live and not self._quiet and self._trial else "", end="", file=sys.stderr)
