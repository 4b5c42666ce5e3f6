"""How often something comes that is sent or scraped by others, and whether it has stopped."""

from __future__ import annotations

from collections import deque

INTERVALS = 3  # without anything: silent
# OpenTelemetry's SDKs send, and Prometheus scrapes, each minute where nobody says otherwise.
USUAL_S = 60.0
_TOGETHER_S = 0.5  # parts of one export
_GAPS = 8


class Rhythm:
    """Of one source. Its interval is as stated, else the longest of its last gaps, else a minute."""

    def __init__(self, every_s: float | None = None) -> None:
        self._every_s = every_s
        self._gaps: deque[float] = deque(maxlen=_GAPS)
        self._beat: float | None = None  # when the first part of the last one came
        self.last: float | None = None
        self.is_silent = False

    @property
    def interval_s(self) -> float:
        """How far apart they are."""
        return self._every_s or max(self._gaps, default=USUAL_S)

    @property
    def came_once(self) -> bool:
        """Whether there was only one so far."""
        return self.last is not None and not self._gaps and not self.is_silent

    def came(self, at: float) -> bool:
        """Something came at `at`. Whether it is the first after a silence."""
        is_back, self.is_silent = self.is_silent, False
        if is_back or self._beat is None:  # a silence is no interval
            self._beat = at
        elif at - self._beat > _TOGETHER_S:
            self._gaps.append(at - self._beat)
            self._beat = at
        self.last = at if self.last is None else max(self.last, at)
        return is_back

    def fell_silent(self, now: float, slack_s: float = 0.0) -> bool:
        """Whether nothing came for three intervals and `slack_s`; true once for each silence."""
        if self.last is None or self.is_silent or now - self.last <= INTERVALS * self.interval_s + slack_s:
            return False
        self.is_silent = True
        return True
