"""A source that may be slow or hang, asked in a thread of its own: it holds up neither the load's second nor others."""

from __future__ import annotations

import threading
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from queue import SimpleQueue

from plimsoll.probes.probe import Clock, Observation, Observer, ProbeUnavailable

ABANDONED_AFTER_S = 10.0


@dataclass
class _Asking:
    """One question on its way, and what came of it."""

    began: float
    began_unix: float
    done: threading.Event = field(default_factory=threading.Event)
    answer: Sequence[Observation] = ()
    error: Exception | None = None
    notes: list[str] = field(default_factory=list)


class Beside:
    """Asks `probe` when it is observed, and tells what it answered at the next call, with the time of the question.

    While a question is unanswered no other is asked; after `limit_s` the probe is unavailable until it ends. A probe
    with `interrupt()` is told to give up then.
    """

    def __init__(
        self,
        probe: Observer,
        limit_s: float = ABANDONED_AFTER_S,
        clock: Clock = time.monotonic,
        wall_clock: Clock = time.time,
    ) -> None:
        self.source = probe.source
        self.probe = probe
        self.cpu_s = 0.0
        self._limit_s, self._clock, self._wall_clock = limit_s, clock, wall_clock
        self._asking: _Asking | None = None
        self._questions: SimpleQueue[_Asking | None] = SimpleQueue()
        self._thread: threading.Thread | None = None
        self._failed: Exception | None = None
        self._notes: list[str] = []

    def take_notes(self) -> list[str]:
        """Those of the answer that was told last."""
        notes, self._notes = self._notes, []
        return notes

    def observe(self) -> Sequence[Observation]:
        """The last question's answer, if there is one; the next question is asked. Raises what the probe raised."""
        asking = self._asking
        if asking is not None and not asking.done.is_set():
            waited_s = self._clock() - asking.began
            if waited_s <= self._limit_s:
                if self._failed is not None:  # it is still so, as far as is known
                    raise self._failed
                return ()
            self._interrupt()
            self._failed = ProbeUnavailable(
                f"{self.source} has not answered for more than {self._limit_s:g} s. Check that host and the network."
            )
            raise self._failed
        self._ask()
        if asking is None:
            return ()
        self._notes += asking.notes
        self._failed = asking.error
        if asking.error is not None:
            raise asking.error
        return [one if one.at_unix is not None else replace(one, at_unix=asking.began_unix) for one in asking.answer]

    def close(self) -> None:
        """Give up a question on its way, and close the probe."""
        if self._asking is not None and not self._asking.done.is_set():
            self._interrupt()
            self._asking.done.wait(1.0)
        self._questions.put(None)
        close = getattr(self.probe, "close", None)
        if close is not None:
            close()

    def _interrupt(self) -> None:
        interrupt = getattr(self.probe, "interrupt", None)
        if interrupt is not None:
            with suppress(Exception):
                interrupt()

    def _ask(self) -> None:
        if self._thread is None:
            thread = threading.Thread(target=self._work, name=f"plimsoll-{self.source}", daemon=True)
            try:
                thread.start()
            except RuntimeError as error:  # no more threads: ask again in the next second
                raise ProbeUnavailable(f"{self.source} was not asked: {error}.") from None
            self._thread = thread
        self._asking = _Asking(self._clock(), self._wall_clock())
        self._questions.put(self._asking)

    def _work(self) -> None:
        """In the thread, until it is closed."""
        while (asking := self._questions.get()) is not None:
            self._answer(asking)

    def _answer(self, asking: _Asking) -> None:
        began = time.thread_time()
        try:
            asking.answer = self.probe.observe()
        except Exception as error:
            asking.error = error
        finally:
            asking.notes = self.probe.take_notes()
            self.cpu_s += time.thread_time() - began
            asking.done.set()
