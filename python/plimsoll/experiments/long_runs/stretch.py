"""For how long may creates be begun before the next look, so that little more than asked is loaded, however fast they
are?

What a second brought is known when it has ended, and later where probes are slow or this process is kept from its core.
So the load is told beforehand when to pause by itself:

    pause at = known until + (left − under way) ÷ pace        pace in items/s, rather too high than too low

Before any create has ended nothing is known of the pace: the first stretch is as short as one of FASTEST_PER_S asks.
Our own construction.
"""

from __future__ import annotations

import math
from collections import deque
from dataclasses import dataclass, field

FASTEST_PER_S = 20_000.0  # creates of one at a time: 0.05 ms each, less than a request over loopback takes
NEARLY_READ_S, READ_S = 0.9, 1.5  # a first stretch that nearly lasts until its second is read lasts beyond it
REACTION_S = 0.05  # the engine looks for another level so often (crates/engine/src/executors/closed.rs, TICK)
LEAST_STRETCH_S = 0.06  # a shorter one may lie between two looks
MARGIN = 1.25  # of a counted pace, which wanders from second to second
WARY, TRUSTED_S = 1.5, 1.0  # two thirds of what is left at most, until so many seconds of load told the pace
RECENT = 3  # seconds; a target that one of them kept from its core is as fast as before in the next


@dataclass
class Pace:
    """Items per second that one create at a time may bring, rather too many; `known_s` of load tell it so far."""

    known_s: float = 0.0
    _seen: deque[float] = field(default_factory=lambda: deque(maxlen=RECENT))

    def see(self, items: int, creates: int, total_ms: float, on_s: float, level: float) -> None:
        """A second in which `creates` ended, of `total_ms` in all, with `items` of them; load was on for `on_s` of it,
        at most so many at a time."""
        if creates <= 0 or total_ms <= 0 or level <= 0:
            return
        mean_s, each = total_ms / 1000 / creates, max(1.0, items / creates)
        by_time = each / mean_s
        counted = each * creates / level / max(on_s - REACTION_S, REACTION_S)
        # Creates that last do not all end in the second in which they begin.
        self._seen.append(min(by_time, MARGIN * counted) if on_s >= 2 * mean_s else by_time)
        self.known_s += on_s

    def none_ended(self, waited_s: float) -> None:
        """Creates are under way for so long, and none has ended yet."""
        if not self._seen and waited_s > 0:
            self._seen.append(1 / waited_s)

    def per_s(self, level: float) -> float:
        """Items per second of `level` at a time."""
        return max(self._seen, default=FASTEST_PER_S) * level

    def stretch_s(self, items: float, level: float) -> float:
        """For how long `level` at a time may begin creates, so that they begin no more than these."""
        wary = WARY if self._seen and self.known_s < TRUSTED_S else 1.0
        stretch_s = max(0.0, items) / (wary * self.per_s(level))
        return stretch_s if self._seen or stretch_s < NEARLY_READ_S else max(stretch_s, READ_S)

    def level_for(self, items: float, level: int) -> int:
        """So many at a time, or fewer where these would begin more than that in the shortest stretch."""
        return max(1, min(level, int(items / (self.per_s(1) * LEAST_STRETCH_S)), int(items)))


@dataclass
class OnTimes:
    """When the load was on: stretches from a moment to the pause that was foreseen for it."""

    _stretches: list[tuple[float, float]] = field(default_factory=list)

    def go_on(self, now_s: float, to_s: float) -> None:
        """The load is on from now, or on it goes, until `to_s`."""
        is_on = self.is_on(now_s)
        from_s = self._stretches.pop()[0] if is_on else now_s
        self._stretches.append((from_s, to_s))

    def end(self, now_s: float) -> None:
        """It is off from now on."""
        if self.is_on(now_s):
            self._stretches.append((self._stretches.pop()[0], now_s))

    def is_on(self, now_s: float) -> bool:
        """Whether it is on at a moment of the last stretch, or of the time after it."""
        return now_s < self.to_s

    @property
    def from_s(self) -> float:
        """When it was put on last."""
        return self._stretches[-1][0] if self._stretches else 0.0

    @property
    def to_s(self) -> float:
        """Until when it is on, or was; before all times where it never was."""
        return self._stretches[-1][1] if self._stretches else -math.inf

    def of_second(self, second: int) -> float:
        """Share of that second for which it was on; earlier seconds are asked no more."""
        self._stretches = [one for one in self._stretches[:-1] if one[1] > second] + self._stretches[-1:]
        return min(1.0, sum(max(0.0, min(to, second + 1) - max(start, second)) for start, to in self._stretches))
