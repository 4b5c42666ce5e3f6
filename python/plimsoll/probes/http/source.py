"""What probes share that ask one host over HTTP: how often, what was told already, how far its clock is off."""

from __future__ import annotations

import math
import time
from abc import ABC, abstractmethod
from collections.abc import Sequence

from plimsoll.probes.http.clock_offset import ClockOffset
from plimsoll.probes.http.page import HttpPage
from plimsoll.probes.probe import Clock, Observation, ProbeUnavailable
from plimsoll.probes.told_notes import ToldNotes

_EARLY_S = 0.1  # the sampler's second is not exact
_NO_BOUND_S = 1e6


class HttpSource(ToldNotes, ABC):
    """An observer that asks `page`; made for Beside.

    It asks every `every_s` seconds; None: each time that it is observed. `host` is whose clock its answers tell.
    """

    def __init__(
        self, source: str, page: HttpPage, host: str, every_s: float | None = None, clock: Clock = time.monotonic
    ) -> None:
        super().__init__()
        self.source = source
        self.clock_offset = ClockOffset(host)
        self._page = page
        self._every_s, self._clock, self._due = every_s, clock, -math.inf
        self._failed: ProbeUnavailable | None = None

    @abstractmethod
    def _ask(self) -> list[Observation]:
        """Ask once. Raises ProbeUnavailable."""

    def observe(self) -> Sequence[Observation]:
        """Ask, if it is time to; else nothing, or the last failure again."""
        if self._every_s is not None:
            if self._clock() < self._due:
                if self._failed is not None:
                    raise self._failed
                return ()
            self._due = self._clock() + self._every_s - _EARLY_S
        try:
            found = self._ask()
        except ProbeUnavailable as error:
            self._failed = error
            raise
        self._failed = None
        return found

    def interrupt(self) -> None:
        """Give up the answer that is awaited."""
        self._page.interrupt()

    def close(self) -> None:
        """Close the connection."""
        self._page.close()

    def _clock_observation(self, at_unix: float | None = None) -> list[Observation]:
        """The offset of the host's clock, noted as well, when it is first seen or changed; else nothing."""
        note = self.clock_offset.take_note()
        if note is None:
            return []
        self._notes.append(note)
        error_s = self.clock_offset.error_s
        values = {"offset_s": self.clock_offset.applied} | (
            {"offset_error_s": error_s} if error_s < _NO_BOUND_S else {}
        )
        return [Observation(f"clock:{self.clock_offset.host}", values, at_unix)]
