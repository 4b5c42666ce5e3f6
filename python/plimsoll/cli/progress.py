"""Live progress of an experiment: a view on a terminal (live/), one line that changes on one that is too small for it,
a line every few seconds elsewhere."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from plimsoll.cli.live.followed import Followed, clear_line, is_steerable, replace_line, shows_views
from plimsoll.live.state import PHASES

if TYPE_CHECKING:
    from plimsoll.cli.live.followed import Fold
    from plimsoll.experiments.steps.record import Progress
    from plimsoll.experiments.trials.making import TrialProgress
    from plimsoll.verbs.listeners import Listeners

EVERY_S = 5


class Line:
    """A line on stderr that changes where that is a terminal."""

    def __init__(self, *, quiet: bool = False) -> None:
        self._quiet = quiet
        self._live = is_steerable()
        self._begun = False

    @property
    def is_quiet(self) -> bool:
        """Whether nothing but sentences is shown."""
        return self._quiet

    def say(self, message: str) -> None:
        """A sentence on a line of its own, quiet or not."""
        print(f"{self._line_break()}{message}", file=sys.stderr, flush=True)

    def done(self) -> None:
        """End the line."""
        print(self._line_break(), end="", file=sys.stderr)
        self._begun = False

    def clear(self) -> None:
        """Take the line away, as something else comes in its place."""
        if self._line_break():
            clear_line()
        self._begun = False

    def _put(self, text: str, most: int) -> None:
        self._begun = True
        if self._live:
            replace_line(text[:most])
        else:
            print(text, file=sys.stderr, flush=True)

    def _line_break(self) -> str:
        return "\n" if self._live and self._begun else ""


class ProgressLine(Line):
    """Of experiments that put levels on. Lines of a wait in which nothing changes are folded into one."""

    def __init__(self, *, quiet: bool = False) -> None:
        super().__init__(quiet=quiet)
        self._seen = 0
        self._waiting: tuple[str, float] | None = None  # phase and what is unfinished, as the last line said
        self._since_s = self._until_s = 0.0

    def __call__(self, progress: Progress) -> None:
        self._seen += 1
        if self._quiet or (not self._live and self._seen % EVERY_S != 1):
            return
        waiting = (progress.phase, progress.unfinished) if not progress.planned_per_s else None
        if waiting and waiting == self._waiting and not self._live:
            self._until_s = progress.second
            return
        self._unfold()
        self._waiting, self._since_s = waiting, progress.second
        from plimsoll.report.wording import LEVEL_UNITS, level, number

        unit = LEVEL_UNITS.get(progress.unit, progress.unit)
        bounds = (("good", progress.bracket.good), ("bad", progress.bracket.bad))
        known = [f"{word} {number(bound)}" for word, bound in bounds if bound is not None]
        text = (
            f"{progress.second:5.0f} s  {PHASES[progress.phase]:<17}  {level(progress.level, unit):>14}"
            f"  {progress.done_per_s:7.1f} of {progress.planned_per_s:.1f}/s done  {progress.unfinished:.0f} unfinished"
            f"  {', '.join(known)}{progress.words}"
        )
        self._put(text, 130)

    def done(self) -> None:
        self._unfold()
        super().done()

    def _unfold(self) -> None:
        if self._waiting and self._until_s > self._since_s:
            phase, unfinished = self._waiting
            lasted = f"the same until {self._until_s:.0f} s, for {self._until_s - self._since_s:.0f} s"
            self._put(f"{'':5}    {PHASES[phase]:<17}  {unfinished:.0f} unfinished, {lasted}", 130)
        self._waiting = None


class TrialLine(Line):
    """Of experiments made of trials."""

    def __init__(self, *, quiet: bool = False) -> None:
        super().__init__(quiet=quiet)
        self._trial = 0

    def __call__(self, progress: TrialProgress) -> None:
        if self._quiet or (not self._live and progress.number == self._trial):
            return
        self._trial = progress.number
        what = f"{progress.label}, {progress.level}" if progress.label else progress.level
        text = f"trial {progress.number:>3} of {progress.of}  {what:<40}"
        if self._live:
            text += f"  {progress.second:>3} of {progress.seconds} s  {progress.done_per_s:.1f}/s done"
        self._put(text.rstrip(), 118)


def listeners(line: ProgressLine | TrialLine) -> Listeners[Any]:
    """Progress goes to the live view or that line, notes and messages stand on lines of their own."""
    from plimsoll.verbs.listeners import Listeners

    def note(text: str) -> None:
        line.say(f"plimsoll: {text}")

    if line.is_quiet or not shows_views():
        return Listeners(line, note, line.say, line.done)
    followed = Followed(line, _levels if isinstance(line, ProgressLine) else _trials, line.clear)

    def end() -> None:
        followed.close()
        line.done()

    return Listeners(
        followed,
        lambda text: line.say(followed.folded(f"plimsoll: {text}")),
        lambda text: line.say(followed.folded(text)),
        end,
        lambda: followed.close("The load has ended, its answer comes."),
    )


def _levels() -> Fold:
    from plimsoll.cli.live.levels import LevelsFolded

    return LevelsFolded()


def _trials() -> Fold:
    from plimsoll.cli.live.trials import TrialsFolded

    return TrialsFolded()


@contextmanager
def listening(line: ProgressLine | TrialLine) -> Iterator[Listeners[Any]]:
    """The same; the view or the line ends whatever happens."""
    told = listeners(line)
    try:
        yield told
    finally:
        told.end()
