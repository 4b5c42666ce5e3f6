"""Which signals end a verb, and how often one counts."""

from __future__ import annotations

import signal
import time
from types import FrameType

ONE_TERMINATION_S = 1.0
_terminated_s = float("-inf")


def serve_signals() -> None:
    """SIGINT, SIGTERM, which CI systems send at the end of their patience, and SIGHUP, which a terminal sends that is
    closed, are Ctrl-C: KeyboardInterrupt.

    SIGINT is served also where the shell had it ignored, as it does for jobs in the background; SIGHUP is not, as
    `nohup` asks for that.
    """
    signal.signal(signal.SIGINT, signal.default_int_handler)
    signal.signal(signal.SIGTERM, _terminate)
    if signal.getsignal(signal.SIGHUP) is not signal.SIG_IGN:
        signal.signal(signal.SIGHUP, _terminate)


def _terminate(number: int, frame: FrameType | None) -> None:
    """Two within a second are one: `timeout` sends SIGTERM to its command and again to the whole process group, and
    SIGHUP comes from shell and kernel."""
    global _terminated_s
    now_s = time.monotonic()
    if now_s - _terminated_s >= ONE_TERMINATION_S:
        _terminated_s = now_s
        signal.default_int_handler(number, frame)
