"""Moments that Ctrl-C may not cut in two, such as between the start of a process and the note that it was started."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

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
