"""What looking up the target's name took: of requests, second by second. It grows with nothing.

The engine looks a name up where it opens a connection, and keeps the answer for `dns.ttl` (5 minutes). The lookup is a
part of `http_req_blocked`, as in k6, beside connecting and the TLS handshake, which are told apart. Over HTTP/2 a
request also waits there for the connection of others, so that these requests are left out.
"""

from __future__ import annotations

import ipaddress
import struct
from collections.abc import Iterable
from dataclasses import dataclass
from urllib.parse import urlsplit

from plimsoll.runs.metric_names import BLOCKED, CONNECTING, DURATION, HANDSHAKING
from plimsoll.runs.snapshot import Series, Snapshot

TAGS = ("proto", "url", "name")  # of a request, which tell whether it counts
METRICS = (BLOCKED, CONNECTING, HANDSHAKING, DURATION)
UNKNOWN_NAME = ("1100", "1101")  # error_code: the name server did not answer, or knows no such name
SLOW_MS = 2.0  # a lookup that is shorter comes from this machine's own files or cache
FEWEST = 3
LEAST_SHARE = 0.01  # of the requests, so that a percentile that is looked at holds it, and of their mean time


@dataclass
class NameLookups:
    """Counts of requests: all, and those that waited for a lookup of over SLOW_MS; what they waited, and what all
    requests took, in ms."""

    requests: int = 0
    slow: int = 0
    waited_ms: float = 0.0
    took_ms: float = 0.0

    def add(self, snapshot: Snapshot) -> None:
        """Add one second of load."""
        self.add_series(snapshot.series)

    def add_series(self, found: Iterable[Series]) -> None:
        """Add the series of one second, or of several added up apart by TAGS."""
        for series in found:
            if series.metric not in METRICS or series.tags.get("proto") == "HTTP/2.0" or _is_address(series):
                continue
            sign = 1 if series.metric == BLOCKED else -1
            if series.metric == DURATION:
                self.requests += series.count
                self.took_ms += series.sum
                continue
            count, sum_ms = _over(series)
            self.slow += sign * count
            self.waited_ms += sign * sum_ms

    @property
    def found(self) -> bool:
        """Whether lookups took a time that shows. A thread that was kept from its core for a moment is none."""
        often = self.slow >= max(FEWEST, LEAST_SHARE * self.requests)
        return often and self.each_ms > SLOW_MS and self.waited_ms >= LEAST_SHARE * (self.waited_ms + self.took_ms)

    @property
    def each_ms(self) -> float:
        """Mean of a slow lookup."""
        return self.waited_ms / self.slow if self.slow else 0.0

    @property
    def share(self) -> float:
        """Share of the requests that waited for one."""
        return self.slow / self.requests if self.requests else 0.0

    @property
    def mean_ms(self) -> float:
        """What lookups add to the mean response time."""
        return self.waited_ms / self.requests if self.requests else 0.0


def _is_address(series: Series) -> bool:
    """Whether the requests were sent to an address, which needs no name."""
    host = urlsplit(str(series.tags.get("url") or series.tags.get("name") or "")).hostname
    try:
        return bool(host and ipaddress.ip_address(host))
    except ValueError:
        return False


def _over(series: Series) -> tuple[int, float]:
    """How many of its times are over SLOW_MS, and about their sum, from the middles of buckets."""
    if series.max is not None and series.max < SLOW_MS:
        return 0, 0.0
    pairs: Iterable[tuple[int, int]] = ((int(bucket), int(count)) for bucket, count in series.buckets)
    over = [((_edge(bucket) + _edge(bucket + 1)) / 2, count) for bucket, count in pairs if _edge(bucket) >= SLOW_MS]
    return sum(count for _, count in over), sum(middle * count for middle, count in over)


def _edge(bucket: int) -> float:
    return float(struct.unpack("<d", struct.pack("<q", bucket << 42))[0]) if bucket > 0 else 0.0


def unknown_names(rows: Iterable[Series]) -> int:
    """Requests that failed because their name could not be looked up."""
    failed = (one for one in rows if one.metric == "http_req_failed" and one.passes)
    return sum(int(one.passes or 0) for one in failed if str(one.tags.get("error_code")) in UNKNOWN_NAME)
