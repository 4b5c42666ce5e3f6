"""Whether a load is followed in the live view or in lines, and what is told meanwhile. It is quick to import."""

from __future__ import annotations

import contextlib
import os
import sys
import textwrap
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from plimsoll.cli.live.screen import Screen
    from plimsoll.live.state import State

STDERR = 2
NARROWEST, LOWEST = 60, 16  # columns and lines of a terminal for the view
LEAST_FOLDED = 20  # columns of a sentence
NO_STEERING = ("", "dumb", "unknown")  # TERM


class Fold(Protocol):
    """Makes the state of a load from what is told each second."""

    def __call__(self, progress: Any, /) -> State:
        """The state by now."""

    def ended(self) -> State | None:
        """The state once no more load comes; None before the first second."""


class Followed:
    """Progress in the live view; in the line where that fails, and while the terminal is too small for a view to begin.
    `clear`: takes the line away. Of several loads each has a view and a fold of its own."""

    def __init__(
        self, line: Callable[[Any], None], fold: Callable[[], Fold], clear: Callable[[], None] | None = None
    ) -> None:
        self._line, self._make_fold, self._clear = line, fold, clear or clear_line
        self._fold: Fold | None = None
        self._screen: Screen | None = None
        self._has_failed = False
        try:
            self._make_screen = _screens()
        except Exception as error:  # a broken installation of Rich
            self._has_failed = True
            print(failure_words(error), file=sys.stderr)

    def __call__(self, progress: Any) -> None:
        """A second; nothing that goes wrong in showing it ends the load."""
        if self._has_failed or (self._screen is not None and self._screen.failure is not None):
            self._has_failed = True
            self._line(progress)
            return
        try:
            self._fold = self._fold or self._make_fold()
            state = self._fold(progress)
            if self._screen is None and not has_room():
                self._line(progress)
                return
            if self._screen is None:
                self._clear()
                self._screen = self._make_screen()
            self._screen.show(state)
        except Exception as error:
            self._has_failed = True
            if self._screen is not None:
                self._screen.fail(error)
            else:
                print(failure_words(error), file=sys.stderr)
            self._line(progress)

    def close(self, *words: str) -> None:
        """Clear the view; what was judged stays, with `words` below it. Nothing where there is none."""
        screen, fold, self._screen, self._fold = self._screen, self._fold, None, None
        if screen is None or screen.failure is not None:
            return
        with contextlib.suppress(Exception):
            state = fold.ended() if fold is not None else None
            if state is not None:
                screen.show(state)
        screen.close(*words)

    def folded(self, text: str) -> str:
        """In lines that fit the terminal, so that it breaks no word."""
        screen = self._screen
        try:
            columns = os.get_terminal_size(STDERR if screen is None or screen.is_ending else screen.terminal).columns
        except OSError:
            columns = NARROWEST
        return "\n".join(
            textwrap.fill(line, max(LEAST_FOLDED, columns) - 1, subsequent_indent="  ", break_on_hyphens=False)
            for line in text.splitlines()
        )


def failure_words(error: Exception) -> str:
    """What is said, once, where the view fails."""
    return f"plimsoll: the live view ended ({type(error).__name__}: {error}). Progress goes on in lines."


def _screens() -> Callable[[], Screen]:
    """What makes a screen; all that it needs is imported here, before there is any load."""
    from plimsoll.cli.live.screen import Screen
    from plimsoll.cli.live.view import history, view

    return lambda: Screen(view, history)


def is_steerable() -> bool:
    """Whether standard error is a terminal on which a line can be replaced."""
    return sys.stderr is not None and sys.stderr.isatty() and os.environ.get("TERM", "") not in NO_STEERING


def shows_views() -> bool:
    """Whether the live view can be drawn behind standard error once it is large enough: a terminal that shows its
    characters and is not another program's."""
    if not is_steerable() or (sys.stderr.encoding or "").lower().replace("-", "") != "utf8":
        return False
    try:
        descriptor = sys.stderr.fileno()
        is_foreground = os.tcgetpgrp(descriptor) == os.getpgrp()
    except (OSError, ValueError):
        return False
    return descriptor == STDERR and is_foreground


def has_room() -> bool:
    """Whether a view can begin now: the terminal shows it, and is large enough."""
    if not shows_views():
        return False
    try:
        size = os.get_terminal_size(STDERR)
    except OSError:
        return False
    return size.columns >= NARROWEST and size.lines >= LOWEST


def replace_line(text: str) -> None:
    """Put that in the place of the line of a terminal, as much of it as fits: a line that is broken is not replaced.
    What a script or a library writes then begins a line, so that it is not broken either."""
    try:
        columns = os.get_terminal_size(STDERR).columns
    except OSError:
        columns = 0
    shown = text[: columns - 1] if columns > 1 else text
    print(f"\r\x1b[2K{shown}\r", end="", file=sys.stderr, flush=True)


def clear_line() -> None:
    """Take the line of a terminal away."""
    print("\r\x1b[2K", end="", file=sys.stderr, flush=True)
