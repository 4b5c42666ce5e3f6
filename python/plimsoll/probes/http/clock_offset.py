"""How far another host's clock is from this one's, from times that it tells in its answers.

An answer was made between the sending of the question and its arrival, so each time in it bounds the offset (remote
clock less local clock) from both sides; bounds of many answers are cut with each other (Marzullo, 1984, with all
sources of one clock). The Date header has whole seconds, cut off (RFC 9110, 6.6.1), and servers keep it for up to a
second: it bounds to about two seconds at first. node_time_seconds bounds to the round trip. A time at which something
was observed earlier (a sample's own, a data point's) only says that the clock is not behind it.
"""

from __future__ import annotations

import email.utils
import math
from collections import deque
from dataclasses import dataclass, field

from plimsoll.words import number, time_words

TELL_FROM_S = 1.0
DATE_KEPT_S = 1.0
_DRIFT_PER_S = 5e-4  # the most that RFC 5905 (11.3) lets a clock drift
_STEPPED_S = 0.5
LATE_AT_MOST_S = 30.0
LEAD_KEPT_S = 180.0  # three exports of OpenTelemetry's SDKs, which send each minute
FARTHEST_S = 86_400.0


def is_plausible(remote: float, received: float) -> bool:
    """Whether a time told by another clock is one of this day; farther off it is no clock's, but a mistake."""
    return abs(remote - received) <= FARTHEST_S


@dataclass
class ClockOffset:
    """Of the clock of `host`. `low` ≤ remote − local ≤ `high`, in s."""

    host: str
    low: float = -math.inf
    high: float = math.inf
    _at: float = -math.inf
    _told: float | None = None
    _leads: deque[tuple[float, float]] = field(default_factory=deque)  # when and how much; each less than that before

    def between(self, remote: float, sent: float, received: float, resolution_s: float = 0.0) -> None:
        """An answer with the time `remote`, which is at most `resolution_s` less than the clock was; all in s since
        1970, `sent` and `received` by the local clock."""
        if received < sent:  # this machine's own clock was set back meanwhile
            return
        low, high = remote - received, remote + resolution_s - sent
        if self._at > -math.inf:
            drift = _DRIFT_PER_S * max(0.0, received - self._at)
            cut_low, cut_high = max(self.low - drift, low), min(self.high + drift, high)
        else:
            cut_low, cut_high = low, high
        self._at = received
        if cut_low > cut_high + 1e-6:  # no offset fits both: a clock was set
            cut_low, cut_high = low, high
        self.low, self.high = cut_low, cut_high

    def date_header(self, text: str | None, sent: float, received: float) -> None:
        """The Date header of an answer; passed over where it is none."""
        try:
            remote = email.utils.parsedate_to_datetime(text or "").timestamp()
        except (TypeError, ValueError):
            return
        self.between(remote, sent, received, resolution_s=1.0 + DATE_KEPT_S)

    def not_before(self, remote: float, received: float) -> None:
        """Something observed at `remote` by that clock has arrived at `received`: without better bounds, the greatest
        lead of the last minutes is the clock's, and a lag of more than half a minute too. A time that is not plausible
        says nothing."""
        if not is_plausible(remote, received):
            return
        lead = remote - received
        while self._leads and self._leads[-1][1] <= lead:
            self._leads.pop()
        self._leads.append((received, lead))
        while abs(received - self._leads[0][0]) > LEAD_KEPT_S:
            self._leads.popleft()

    @property
    def seconds(self) -> float:
        """The estimate: add it to a local time to have the remote one. 0 while nothing is known."""
        if math.isfinite(self.low) and math.isfinite(self.high):
            return (self.low + self.high) / 2
        lead = self._leads[0][1] if self._leads else 0.0
        return lead if lead > 0 or lead < -LATE_AT_MOST_S else 0.0

    @property
    def error_s(self) -> float:
        """By how much the estimate may be off at most; infinite without bounds from both sides."""
        return (self.high - self.low) / 2

    @property
    def applied(self) -> float:
        """What times are corrected by: the estimate, or 0 where the clocks may well agree."""
        return (
            self.seconds if abs(self.seconds) > max(0.1, self.error_s if math.isfinite(self.error_s) else 1.0) else 0.0
        )

    def local(self, remote: float) -> float:
        """A time of that clock by this machine's."""
        return remote - self.applied

    def take_note(self) -> str | None:
        """A sentence when the clocks are first seen to differ by a second or more, and when that changed; else None."""
        offset = self.applied
        if self._told is None and abs(offset) < TELL_FROM_S:
            return None
        if self._told is not None and abs(offset - self._told) <= max(_STEPPED_S, 2 * min(self.error_s, 2.0)):
            return None
        before, self._told = self._told, offset
        if abs(offset) < TELL_FROM_S:
            return f"the clock of {self.host} agrees with this machine's now."
        way = "ahead of" if offset > 0 else "behind"
        about = (
            f"(± {time_words(self.error_s)})" if math.isfinite(self.error_s) else "(at least, or its data come late)"
        )
        now = " now" if before is not None else ""
        return (
            f"the clock of {self.host} is{now} {number(abs(offset), 4)} s {way} this machine's {about}; times of its "
            "values are corrected by that. Let both hosts keep their time with NTP."
        )
