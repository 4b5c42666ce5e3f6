"""Sessions in a log: requests of one address and user agent with no gap over 30 minutes.

A log does not say when a user went. After each request a user stays for the mean gap between two requests of a session,
after the last one too; so a session of one request has a length. With N requests in S sessions,

    hours of all sessions = Σ (last − first) × N / (N − S)        requests per user and hour = N / hours

Users × rate is the load of the log, whatever they stay. The rate by itself is a little high and the number of users a
little low where sessions are short: a user who waited for longer may have gone, so that gaps in a log are shorter than
the rests of users (by 1 / (1 + requests of a session) where both are random).
"""

from __future__ import annotations

from dataclasses import dataclass
from random import Random

GAP_S = 1800.0
ALONE_S = 60.0  # how long a user stays with each request, where nobody made two
_BIN_S = 300
_BINS_PER_HOUR = 3600 // _BIN_S
_SWEEP_S = 60.0  # of the log's time, between two looks for sessions that ended


@dataclass(slots=True)
class Session:
    """One that goes on. `mark` tells it from others, drawn evenly from 0 to 1."""

    first_s: float
    last_s: float
    mark: float
    requests: int = 1
    has_success: bool = False

    def gap_s(self, time_s: float) -> float:
        """How long after its last request that is, or before its first one, as lines may be out of order."""
        return max(time_s - self.last_s, self.first_s - time_s)


@dataclass(slots=True)
class _Bin:
    """Five minutes: seconds of sessions from first to last request in them, requests after which a user went."""

    active_s: float = 0.0
    ends: int = 0


@dataclass(frozen=True)
class Activity:
    """What the sessions amount to. `busiest_mean` is the mean number that were active in the busiest hour, which begins
    at `busiest_s` and lasts `busiest_for_s` (less where the log is shorter); `most` that of the busiest five minutes.
    `failed_sessions` had nothing but failed requests, as those of scanners; they count nowhere else."""

    sessions: int
    failed_sessions: int
    requests: int
    hours: float
    stay_s: float
    is_stay_assumed: bool
    busiest_s: float
    busiest_for_s: float
    busiest_mean: float
    most: float


class Sessions:
    """Sessions as the requests come, about in the order of time; only those that go on are kept."""

    def __init__(self, random: Random) -> None:
        self._random = random
        self._open: dict[tuple[str, str], Session] = {}
        self._bins: dict[int, _Bin] = {}
        self._ended = self._failed = self._requests = 0
        self._between_s = 0.0
        self._first_s, self._last_s, self._swept_s = float("inf"), float("-inf"), float("-inf")

    def request(self, time_s: float, address: str, agent: str, *, is_success: bool = True) -> Session:
        """The session that a request is of."""
        self._first_s, self._last_s = min(self._first_s, time_s), max(self._last_s, time_s)
        if abs(time_s - self._swept_s) > _SWEEP_S:
            self._sweep(time_s)
        key = (address, agent)
        session = self._open.get(key)
        if session is not None and session.gap_s(time_s) > GAP_S:
            self._end(session)
            session = None
        if session is None:
            session = self._open[key] = Session(time_s, time_s, self._random.random())
        else:
            session.requests += 1
            session.first_s, session.last_s = min(session.first_s, time_s), max(session.last_s, time_s)
        session.has_success = session.has_success or is_success
        return session

    def activity(self) -> Activity | None:
        """Ends all; None where there was no request."""
        for session in self._open.values():
            self._end(session)
        self._open.clear()
        if self._ended == 0:
            return None
        gaps = self._requests - self._ended
        is_assumed = gaps == 0 or self._between_s == 0
        stay_s = ALONE_S if is_assumed else self._between_s / gaps
        starts_s, lasting_s, mean, most = self._busiest(stay_s)
        return Activity(
            sessions=self._ended,
            failed_sessions=self._failed,
            requests=self._requests,
            hours=(self._between_s + self._ended * stay_s) / 3600,
            stay_s=stay_s,
            is_stay_assumed=is_assumed,
            busiest_s=starts_s,
            busiest_for_s=lasting_s,
            busiest_mean=mean,
            most=most,
        )

    def _sweep(self, now_s: float) -> None:
        self._swept_s = now_s
        for key in [key for key, session in self._open.items() if session.gap_s(now_s) > GAP_S]:
            self._end(self._open.pop(key))

    def _end(self, session: Session) -> None:
        if not session.has_success:
            self._failed += 1
            return
        self._ended += 1
        self._requests += session.requests
        self._between_s += session.last_s - session.first_s
        first, last = int(session.first_s // _BIN_S), int(session.last_s // _BIN_S)
        for at in range(first, last + 1):
            within = min(session.last_s, (at + 1) * _BIN_S) - max(session.first_s, at * _BIN_S)
            self._bin(at).active_s += within
        self._bin(last).ends += 1

    def _bin(self, at: int) -> _Bin:
        found = self._bins.get(at)
        if found is None:
            found = self._bins[at] = _Bin()
        return found

    def _busiest(self, stay_s: float) -> tuple[float, float, float, float]:
        """(start, length, mean number of active sessions in the busiest hour, that of the busiest five minutes)."""
        seconds = {at: one.active_s + one.ends * stay_s for at, one in self._bins.items()}
        span_s = max(self._last_s - self._first_s, stay_s)
        if span_s <= 3600:
            mean = sum(seconds.values()) / span_s
            most = max(self._whole(seconds, span_s), default=mean)
            return self._first_s, span_s, mean, max(most, mean)
        sums = {at: sum(seconds.get(at + one, 0.0) for one in range(_BINS_PER_HOUR)) for at in seconds}
        busiest = max(sums, key=lambda at: (sums[at], -at))
        most = max(self._whole(seconds, span_s), default=0.0)
        mean = sums[busiest] / 3600
        return float(busiest * _BIN_S), 3600.0, mean, max(most, mean)

    def _whole(self, seconds: dict[int, float], span_s: float) -> list[float]:
        """Active sessions in each five minutes that the log covers whole."""
        return [
            active_s / _BIN_S
            for at, active_s in seconds.items()
            if at * _BIN_S >= self._first_s - 1 and (at + 1) * _BIN_S <= self._last_s + 1
        ]
