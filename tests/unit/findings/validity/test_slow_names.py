"""A name server that is slow adds to response times, and that is told with its size and its share."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import pytest

from plimsoll.findings.validity.slow_names import lookups_of, with_slow_names
from plimsoll.findings.validity.validity import Validity
from plimsoll.runs.format.minute_blocks import Block, blocks_of
from plimsoll.runs.histogram import Histogram
from plimsoll.runs.snapshot import Series, Snapshot

STEP = {"level": 100, "measured_from_s": 2.0, "end_s": 12.0, "verdict": "good"}


class Run:
    """Seconds of 100 requests of 40 ms, of which the first `opened` make a connection in 1 ms after a lookup."""

    def __init__(self, opened: int, lookup_ms: float, proto: str = "HTTP/1.1", url: str = "http://a.example/") -> None:
        self.opened, self.lookup_ms, self.tags = opened, lookup_ms, {"proto": proto, "url": url}

    def blocks(self, metrics: Iterable[str], above: Mapping[str, float]) -> Iterator[Block]:
        return blocks_of(self.snapshots(metrics=metrics))

    def snapshots(self, *, metrics: Iterable[str] | None = None) -> Iterator[Snapshot]:
        each = {"http_req_blocked": self.lookup_ms + 1, "http_req_connecting": 1, "http_req_tls_handshaking": 0}
        rows = [Series.of_trend(name, self.tags, self._times(ms)) for name, ms in each.items()]
        rows.append(Series.of_trend("http_req_duration", self.tags, Histogram.from_values([40.0] * 100)))
        for second in range(14):
            wanted = [one for one in rows if metrics is None or one.metric in metrics]
            yield Snapshot(second, series=tuple(wanted))

    def _times(self, ms: float) -> Histogram:
        return Histogram.from_values([ms if at < self.opened else 0.0 for at in range(100)])


def told(run: Run) -> dict[str, Any]:
    conclusions = [
        Validity("throughput"),
        Validity("response_time", quantile=0.5),
        Validity("response_time", "within", 1.0, "ms", 0.99),
        Validity("mean_time"),
        Validity("failures"),
    ]
    main = {"steps": [STEP], "notes": [], "next": [], "validity": [one.to_json() for one in conclusions]}
    return with_slow_names(main, lookups_of(run, main))


def test_a_slow_name_server_is_named_with_what_it_adds_to_each_conclusion() -> None:
    found = told(Run(opened=10, lookup_ms=30.0))
    [note] = found["notes"]
    assert note.startswith("Looking up the target's name (DNS) took 3") and "100 of 1,000 requests" in note
    assert "7.2% of their mean response time" in note and "hosts" in found["next"][0]
    throughput, median, rare, mean, failures = found["validity"]
    assert throughput["verdict"] == median["verdict"] == failures["verdict"] == "valid", "a tenth of the requests"
    assert rare["verdict"] == "within" and rare["error"] == pytest.approx(32, abs=2) and note in rare["because"]
    assert mean["verdict"] == "within" and mean["error"] == pytest.approx(3, abs=0.3)


def test_lookups_that_take_most_of_a_response_time_leave_nothing_of_it() -> None:
    *_, rare, _, _ = told(Run(opened=10, lookup_ms=2000.0))["validity"]
    assert rare["verdict"] == "invalid"


@pytest.mark.parametrize(
    "run",
    [
        Run(10, 0.3),
        Run(0, 500.0),
        Run(10, 500.0, proto="HTTP/2.0"),
        Run(10, 500.0, url="http://192.0.2.1:8080/a"),
        Run(10, 500.0, url="http://[2001:db8::1]/a"),
    ],
    ids=["from this machine's cache", "connections are kept", "HTTP/2 waits for the first connection", "IPv4", "IPv6"],
)
def test_lookups_that_cost_nothing_are_not_told(run: Run) -> None:
    found = told(run)
    assert not found["notes"] and [one["verdict"] for one in found["validity"]].count("valid") == 4
