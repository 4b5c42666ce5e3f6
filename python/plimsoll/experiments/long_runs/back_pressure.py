"""How many creates at a time: as many as raise the throughput, and fewer as soon as one fails.

    start      double the concurrency as long as a doubling brings 30% more throughput
    climb      now and then try a quarter more, and a quarter less: keep more if it brings at least half of what it
        adds, keep
               less if that costs no more than a quarter of what it takes (incremental steps: Heiss and Wagner 1991)
    fail       a failed create, or answers slower than the limit, halve it (multiplicative decrease: Chiu and Jain 1989)
               and set a ceiling at the most that is known to work, which is raised by one after CALM_WINDOWS windows
               without a failure, and after twice as many with each further failure

Throughput and not latency is followed, because the latency of creates rises with the data by itself, and a limit
taken from the first minutes would throttle an ageing target more and more. Pure: windows in, a concurrency out
(docs/decisions/0010).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from plimsoll.words import time_words

DOUBLING_GAIN = 1.3
KEEP_MORE, KEEP_LESS = 0.5, 0.25
TRY_EVERY = 6
CALM_WINDOWS = 20
MOST_CALM = 640
SLOW_MS = 10_000.0
SMOOTHING = 0.4

State = Literal["start", "steady", "more", "less"]


@dataclass(frozen=True)
class Window:
    """Some seconds at one concurrency: creates done per second, failed creates, mean time of one in ms."""

    concurrency: int
    per_s: float
    failed: int
    mean_ms: float | None = None


class BackPressure:
    """Decides the concurrency of the next window; `reason` says in a few words why it changed last."""

    def __init__(self, least: int = 1, most: int | None = None, slow_ms: float = SLOW_MS) -> None:
        self.least, self.most, self.slow_ms = max(1, least), most, slow_ms
        self.concurrency = self.least
        self.ceiling: int | None = None
        self.reason = "start"
        self._state: State = "start"
        self._before: Window | None = None
        self._reference = 0.0
        self._since = self._calm = self._proven = 0
        self._patience = CALM_WINDOWS
        self._try_more = True

    @property
    def is_trying(self) -> bool:
        """Whether the next window is a trial of another concurrency, whose pace says nothing of the target's."""
        return self._state != "steady"

    def next(self, window: Window) -> int:
        """Concurrency for the next window."""
        if window.failed:
            return self._retreat(window, f"{window.failed} failed at {window.concurrency} at a time")
        if window.mean_ms is not None and window.mean_ms > self.slow_ms:
            return self._retreat(window, f"answers took {time_words(window.mean_ms / 1000)}")
        self._calm += 1
        self._proven = max(self._proven, window.concurrency)
        if self.ceiling is not None and self._calm >= self._patience:
            self.ceiling, self._calm = self.ceiling + 1, 0
        return {"start": self._start, "steady": self._steady, "more": self._more, "less": self._less}[self._state](
            window
        )

    def _retreat(self, window: Window, why: str) -> int:
        if self.ceiling is not None:
            self._patience = min(MOST_CALM, 2 * self._patience)
        self._proven = min(self._proven, window.concurrency - 1)
        self.ceiling = max(self.least, self._proven if self._proven > 0 else window.concurrency - 1)
        self._calm = 0
        return self._settle(max(self.least, window.concurrency // 2), 0.0, why)

    def _start(self, window: Window) -> int:
        before, self._before = self._before, window
        if before is not None and window.per_s < DOUBLING_GAIN * before.per_s:
            return self._settle(before.concurrency, before.per_s, "twice as many brought no more")
        wanted = self._bounded(2 * window.concurrency)
        if wanted == window.concurrency:
            return self._settle(wanted, window.per_s, "the bound")
        self.concurrency, self.reason = wanted, "doubled"
        return wanted

    def _steady(self, window: Window) -> int:
        self._reference = (
            window.per_s if not self._reference else self._reference + SMOOTHING * (window.per_s - self._reference)
        )
        self._since += 1
        if self._since < TRY_EVERY:
            return self.concurrency
        step = max(1, window.concurrency // 4)
        more, less = self._bounded(window.concurrency + step), self._bounded(window.concurrency - step)
        up = self._try_more if more != window.concurrency and less != window.concurrency else more != window.concurrency
        wanted = more if up else less
        self._since, self._try_more = 0, not up
        if wanted == window.concurrency:
            return wanted
        self._before = Window(window.concurrency, self._reference, 0)
        self._state, self.concurrency = ("more" if up else "less"), wanted
        return wanted

    def _more(self, window: Window) -> int:
        before = self._known_before()
        added = window.concurrency / before.concurrency - 1
        if window.per_s >= before.per_s * (1 + KEEP_MORE * added):
            self._try_more = True
            return self._settle(window.concurrency, window.per_s, "more brought more", TRY_EVERY - 2)
        return self._settle(before.concurrency, before.per_s, self.reason)

    def _less(self, window: Window) -> int:
        before = self._known_before()
        taken = 1 - window.concurrency / before.concurrency
        if window.per_s >= before.per_s * (1 - KEEP_LESS * taken):
            return self._settle(window.concurrency, window.per_s, "fewer do as much")
        return self._settle(before.concurrency, before.per_s, self.reason)

    def _settle(self, concurrency: int, reference: float, why: str, since: int = 0) -> int:
        self._state, self._since, self._reference, self.reason = "steady", since, reference, why
        self.concurrency = self._bounded(concurrency)
        return self.concurrency

    def _known_before(self) -> Window:
        assert self._before is not None, "a trial follows a steady window"
        return self._before

    def _bounded(self, wanted: int) -> int:
        bounds = [bound for bound in (self.most, self.ceiling) if bound is not None]
        return max(self.least, min([wanted, *bounds]))
