"""Moments that Ctrl-C may not cut in two, such as between the start of a process and the note that it was started; the
end of a load, at which the second one cuts off what still runs; and the time from there to the answer, which only the
second one cuts."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType, TracebackType

_INTERRUPTING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


@contextmanager
def interruptions_held() -> Iterator[None]:
    """SIGINT, SIGTERM and SIGHUP wait until the block has ended; then the first that came is served as ever.

    Only the main thread serves signals, so in another one nothing has to be held. A process started within begins
    with the signals' defaults, as it would without.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    came: list[int] = []

    def hold(number: int, frame: FrameType | None) -> None:
        came.append(number)

    handlers = {interrupting: signal.getsignal(interrupting) for interrupting in _INTERRUPTING}
    handlers = {interrupting: handler for interrupting, handler in handlers.items() if callable(handler)}
    for interrupting in handlers:
        signal.signal(interrupting, hold)
    try:
        yield
    finally:
        for interrupting, handler in handlers.items():
            signal.signal(interrupting, handler)
        if came:
            signal.raise_signal(came[0])


@contextmanager
def load_within(stop: Callable[[bool], None], interrupted: Callable[[], None]) -> Iterator[None]:
    """The block puts on a load, and `stop(graceful)` ends it, however the block ends.

    The first interruption ends the block without an error: `interrupted()`, then running iterations may end. A second
    one, at whatever moment since the first, cuts them off and is raised.
    """
    try:
        try:
            yield
        except KeyboardInterrupt:
            interrupted()
        except BaseException:
            stop(True)
            raise
        stop(True)
    except KeyboardInterrupt:
        stop(False)
        raise


class Ending:
    """From the end of a load to its answer: the first interruption is told and waits for the answer, as all was
    measured; the second is served as ever. Of a load that an interruption ended, the first is the second.

        with Ending(tell) as ending:
            result = run_hold(...)
            ending.begin(result.status)
            …  # the target is stopped, the run is judged

    `came`: whether one came.
    """

    def __init__(self, tell: Callable[[], None]) -> None:
        self.came = False
        self._tell = tell
        self._handlers: dict[int, Callable[[int, FrameType | None], object]] = {}

    def __enter__(self) -> Ending:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._give_back()

    def begin(self, status: str) -> None:
        """The load has ended with that status."""
        if status != "interrupted" and threading.current_thread() is threading.main_thread():
            handlers = {one: signal.getsignal(one) for one in _INTERRUPTING}
            self._handlers = {one: handler for one, handler in handlers.items() if callable(handler)}
            for interrupting in self._handlers:
                signal.signal(interrupting, self._note)

    def _note(self, number: int, frame: FrameType | None) -> None:
        try:
            self._handlers[number](number, frame)  # which counts what comes twice as one
        except KeyboardInterrupt:
            self.came = True
            self._give_back()
            self._tell()

    def _give_back(self) -> None:
        handlers, self._handlers = self._handlers, {}
        for interrupting, handler in handlers.items():
            signal.signal(interrupting, handler)
