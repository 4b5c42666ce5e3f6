"""What a verb that computes for long says meanwhile, on stderr: what it does, and how much of that is done."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable

from plimsoll.plain_text import plain
from plimsoll.words import share_words

WIDTH = 78
SILENT_S = 2.0  # nothing is said of what is done sooner
LIVE_EVERY_S, LINE_EVERY_S = 0.5, 10.0


class Waiting:
    """Says "what: 35%": on a terminal in one line that changes, gone at the end, else in a line each ten seconds."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._next_s = clock() + SILENT_S
        self._has_told = False
        self._is_live = sys.stderr is not None and sys.stderr.isatty()

    def tell(self, what: str, share: float) -> None:
        """Say it, if it is time to."""
        now = self._clock()
        if now < self._next_s or sys.stderr is None:
            return
        self._next_s = now + (LIVE_EVERY_S if self._is_live else LINE_EVERY_S)
        text = f"{what}: {share_words(min(1.0, share), 1)}"
        self._write(f"\r{_fitted(plain(text))}\r" if self._is_live else f"{plain(text)}\n")
        self._has_told = True

    def __enter__(self) -> Waiting:
        return self

    def __exit__(self, *_: object) -> None:
        if self._is_live and self._has_told:
            self._write(f"\r{_fitted('')}\r")

    def _write(self, text: str) -> None:
        try:
            print(text, end="", file=sys.stderr, flush=True)
        except (OSError, ValueError):
            self._next_s = float("inf")  # nobody reads it


def _fitted(text: str) -> str:
    """The line of a terminal, filled up: one that the terminal breaks is not replaced by the next."""
    try:
        width = min(WIDTH, os.get_terminal_size(sys.stderr.fileno()).columns - 1)
    except (OSError, ValueError):
        width = WIDTH
    return f"{text[: max(1, width)]:<{max(1, width)}}"
