"""Into which second of the load a moment falls, where the two clocks do not simply run side by side: trials lie one
behind another, and seconds of a drain may be asked for at once."""

from __future__ import annotations

import math
from bisect import bisect_right

_EARLY_WAKE_S = 0.05
_KEPT = 3_600


class LoadSeconds:
    """Seconds of the load so far, each with the wall clock at its start; the last hour of them is kept."""

    def __init__(self) -> None:
        self._starts: list[float] = []
        self._seconds: list[int] = []

    def add(self, second: int, start_unix: float) -> None:
        """The load came to this second."""
        if self._starts and start_unix <= self._starts[-1]:
            return
        self._starts.append(start_unix)
        self._seconds.append(second)
        if len(self._starts) > 2 * _KEPT:
            del self._starts[:_KEPT], self._seconds[:_KEPT]

    def second_of(self, at_unix: float) -> int | None:
        """The second that values read at `at_unix` describe: rates taken at 13.0 s are those of [12, 13), so 12. None
        before the load, and where nothing is known of that time."""
        began = at_unix - 1.0 + _EARLY_WAKE_S
        place = bisect_right(self._starts, began) - 1
        if place < 0:
            return None
        second = self._seconds[place] + math.floor(began - self._starts[place])
        if place + 1 < len(self._seconds):
            return min(second, self._seconds[place + 1] - 1)
        return min(second, self._seconds[place])
