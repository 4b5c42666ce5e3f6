"""Draws the live view on the terminal behind standard error, in a thread of its own.

While it is on, file descriptor 2 is a pipe that this thread reads: what the engine writes for a script's `console.log`,
what Python prints and what a library complains of becomes lines above the view. Nobody waits for the terminal but this
thread. The run's thread only hands over a state, and waits CLOSE_S at most when the view ends.
"""

from __future__ import annotations

import contextlib
import fcntl
import io
import os
import re
import select
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from typing import TextIO, cast

from rich.console import Console, ConsoleDimensions, ConsoleOptions, Group
from rich.control import Control
from rich.live import Live
from rich.segment import ControlType, Segment
from rich.text import Text

from plimsoll.cli.live.followed import failure_words
from plimsoll.interruptions import interruptions_held
from plimsoll.live.state import State

STDERR = 2
TICK_S = 0.25  # at most four frames a second
STALE_EVERY_S = 1.0
PAUSED_S = 2.0
CLOSE_S = 2.0
_READ, _MANY, _LONGEST_LINE = 1 << 20, 1 << 22, 1 << 20
_SET_PIPE_SIZE = 1031  # F_SETPIPE_SZ
# A script may colour its lines; what moves the cursor, or anything else, would break the screen.
_STEERS = re.compile(r"\x1b\[[0-9;]*m|[\x00-\x08\x0b-\x1f\x7f-\x9f]")
_PLAIN = "\x1b[0m"
_BEGIN, _END = "\x1b[?2026h\x1b[?25l", "\x1b[?25h\x1b[?2026l"

View = Callable[[State, int, int, float], Group]
History = Callable[[State, int], Sequence[Text]]


class _Raw:
    """Text for the terminal as it is."""

    def __init__(self, text: str) -> None:
        self._text = text

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> Iterator[Segment]:
        yield Segment(self._text)


class _Frames(io.TextIOBase):
    """The terminal as Rich writes to it: what is flushed is a whole frame, and is shown as one where the terminal knows
    how (synchronized output, mode 2026), else as it comes. The cursor is there between frames: whoever stops or kills
    this process has one."""

    encoding = "utf-8"  # type: ignore[assignment]

    def __init__(self, terminal: int) -> None:
        self._terminal, self._parts = terminal, list[str]()

    def write(self, text: str, /) -> int:
        """Keep it until the frame is whole."""
        self._parts.append(text)
        return len(text)

    def flush(self) -> None:
        """Show it."""
        text = "".join(self._parts)
        self._parts.clear()
        data = memoryview(f"{_BEGIN}{text}{_END}".encode(errors="replace") if text else b"")
        while data:
            data = data[os.write(self._terminal, data) :]


class Screen:
    """The view of the states that `show` is given, until `close`. `failure`: why it ended before, None while it
    works."""

    def __init__(self, view: View, history: History) -> None:
        self.view, self.history = view, history
        self.failure: Exception | None = None
        self.state: State | None = None
        self.shown_s = time.monotonic()
        self.last_words: tuple[str, ...] = ()
        self.is_ending = False
        self._is_left = threading.Event()
        with interruptions_held():
            self._begin()

    def _begin(self) -> None:
        """Put the pipe in the place of the terminal, and read it."""
        sys.stderr.flush()
        self.terminal = os.dup(STDERR)
        self._lines, end = os.pipe()
        with contextlib.suppress(OSError):
            fcntl.fcntl(end, _SET_PIPE_SIZE, _READ)
        os.dup2(end, STDERR)
        os.close(end)
        try:
            threading.Thread(target=self._run, name="plimsoll-view", daemon=True).start()
        except BaseException:  # nobody would read that pipe
            os.dup2(self.terminal, STDERR)
            raise

    def show(self, state: State) -> None:
        """From now on this one; returns at once."""
        self.state, self.shown_s = state, time.monotonic()

    def fail(self, error: Exception) -> None:
        """End it, as no state could be made."""
        self.failure = error
        self.close(failure_words(error))

    def close(self, *words: str) -> None:
        """Clear the view; what was judged stays, with `words` below. Standard error is the terminal again."""
        if self.is_ending:
            return
        with interruptions_held():
            self.last_words, self.is_ending = words, True
            with contextlib.suppress(OSError, ValueError):
                sys.stderr.flush()
            os.dup2(self.terminal, STDERR)
            self._is_left.wait(CLOSE_S)

    # the thread

    def _run(self) -> None:
        try:
            Drawing(self, self.terminal, self._lines).follow()
        except Exception as error:
            self.failure = self.failure or error
            with contextlib.suppress(OSError):
                os.dup2(self.terminal, STDERR)
                os.write(self.terminal, f"\r\x1b[2K\x1b[?25h{failure_words(error)}\n".encode())
        self._is_left.set()
        self._relay()

    def _relay(self) -> None:
        """What a program that was started meanwhile still writes to the pipe."""
        with contextlib.suppress(OSError):
            while data := os.read(self._lines, _READ):
                os.write(self.terminal, data)
        with contextlib.suppress(OSError):
            os.close(self._lines)


class Drawing:
    """What is on the terminal, and how it is replaced."""

    def __init__(self, screen: Screen, terminal: int, lines: int) -> None:
        self._screen, self._terminal, self._lines = screen, terminal, lines
        self._poll = select.poll()
        self._poll.register(lines, select.POLLIN)
        self._begun = b""  # of a line whose end is still to be read
        self._widths: list[int] = []  # of the lines that are drawn
        self._drawn: State | None = None
        self._drawn_s = self._looked_s = time.monotonic()
        self._is_left_alone = False
        self._begin()

    def follow(self) -> None:
        """Draw until the screen is closed."""
        self._live.start()
        try:
            while not self._screen.is_ending:
                self._turn()
        finally:
            if not self._is_left_alone:
                with contextlib.suppress(Exception):
                    self._live.update(Text(), refresh=True)
                self._live.stop()
        self._end()

    def _begin(self) -> None:
        """A view that knows nothing of what is on the terminal."""
        file = cast(TextIO, _Frames(self._terminal))
        size = _size_of(self._terminal) or ConsoleDimensions(80, 24)
        self._console = Console(
            file=file, force_terminal=True, highlight=False, markup=False, width=size.width, height=size.height
        )
        self._live = Live(
            console=self._console, auto_refresh=False, transient=True, redirect_stdout=False, redirect_stderr=False
        )
        self._widths, self._drawn = [], None

    def _turn(self) -> None:
        """A tick: what was written meanwhile, and the view if it is another one by now."""
        lines = self._written()
        now_s, screen = time.monotonic(), self._screen
        if self._is_elsewhere(now_s):
            os.write(self._terminal, lines.encode())
            return
        self._fit()
        if lines:
            self._say(lines)
        state, shown_s = screen.state, screen.shown_s
        is_stale = now_s - max(self._drawn_s, shown_s) >= STALE_EVERY_S
        if state is not None and (state is not self._drawn or is_stale):
            size = self._console.size
            frame = screen.view(state, size.width, size.height, now_s - shown_s)
            self._live.update(frame, refresh=True)
            self._widths = [len(line) for line in frame.renderables if isinstance(line, Text)]
            self._drawn, self._drawn_s = state, now_s

    def _say(self, text: str) -> None:
        """Whole lines above the view, however long they are."""
        self._console.print(_Raw(text), end="", crop=False)

    def _is_elsewhere(self, now_s: float) -> bool:
        """Whether the terminal is another program's now, as after Ctrl-Z and `bg`. Once it is back, nothing that was
        drawn can be found there."""
        paused, self._looked_s = now_s - self._looked_s > PAUSED_S, now_s
        elsewhere = not is_foreground(self._terminal)
        if not elsewhere and (self._is_left_alone or paused):
            self._begin()
            self._live.start()
        self._is_left_alone = elsewhere
        return elsewhere

    def _written(self) -> str:
        """Whole lines that were written within a tick, or until there are many."""
        end_s, size, lines = time.monotonic() + TICK_S, 0, []
        while size < _MANY and self._poll.poll(max(0.0, 1000 * (end_s - time.monotonic()))):
            data = os.read(self._lines, _READ)
            if not data:
                break
            size += len(data)
            *whole, self._begun = (self._begun + data).split(b"\n")
            lines += whole
            if len(self._begun) > _LONGEST_LINE:
                lines, self._begun = [*lines, self._begun], b""
        return "".join(f"{_harmless(line.decode(errors='replace'))}\n" for line in lines)

    def _fit(self) -> None:
        """Take the terminal's size. One that became narrower has broken the lines that are there into more, which are
        cleared."""
        size = _size_of(self._terminal)
        if size is None or size == self._console.size:
            return
        self._console.size = size
        broken = sum(max(0, (length - 1) // max(1, size.width)) for length in self._widths)
        self._live.update(Text(), refresh=True)
        clear = ((ControlType.CURSOR_UP, 1), (ControlType.ERASE_IN_LINE, 2))
        self._console.control(Control(*clear * min(broken, size.height)))
        self._widths, self._drawn = [], None

    def _end(self) -> None:
        """What was still written, what was judged, and the last words."""
        rest = self._written()
        begun, self._begun = _harmless(self._begun.decode(errors="replace")), b""
        self._say(rest + (f"{begun}\n" if begun else ""))
        if self._screen.state is not None:
            for line in self._screen.history(self._screen.state, self._console.size.width):
                self._console.print(line)
        self._say("".join(f"{words}\n" for words in self._screen.last_words))


def is_foreground(terminal: int) -> bool:
    """Whether this process may draw there: one in the background would draw over what another does."""
    try:
        return os.tcgetpgrp(terminal) == os.getpgrp()
    except OSError:  # not the terminal of this session
        return True


def _size_of(terminal: int) -> ConsoleDimensions | None:
    try:
        size = os.get_terminal_size(terminal)
    except OSError:
        return None
    return ConsoleDimensions(size.columns, size.lines) if size.columns and size.lines else None


def _harmless(line: str) -> str:
    """A line without what moves the cursor; colours end with it."""
    found = _STEERS.sub(lambda one: one[0] if len(one[0]) > 1 else "\N{REPLACEMENT CHARACTER}", line.rstrip("\r"))
    return f"{found}{_PLAIN}" if "\x1b" in found else found
