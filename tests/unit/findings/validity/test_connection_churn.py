"""A connection for each request is told, with what it takes, and one that is kept is not."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import pytest

from plimsoll.findings.validity.connection_churn import churn_between, churn_of, with_churn
from plimsoll.runs.format.minute_blocks import Block, blocks_of
from plimsoll.runs.histogram import Histogram
from plimsoll.runs.snapshot import Series, Snapshot

STEP = {"level": 100, "measured_from_s": 2.0, "end_s": 12.0, "verdict": "good"}


class Run:
    """Seconds of which each has so many requests; of them the first `opened` make a connection of 0.2 ms."""

    def __init__(self, requests: int, opened: int, vus: int = 10, tls_ms: float = 0.0) -> None:
        self.requests, self.opened, self.vus, self.tls_ms = requests, opened, vus, tls_ms

    def blocks(self, metrics: Iterable[str]) -> Iterator[Block]:
        return blocks_of(self.snapshots(metrics=metrics))

    def snapshots(self, *, metrics: Iterable[str] | None = None) -> Iterator[Snapshot]:
        for second in range(14):
            series = [
                Series.of_trend(name, {}, self._times(each))
                for name, each in (("http_req_connecting", 0.2), ("http_req_tls_handshaking", self.tls_ms))
            ]
            yield Snapshot(second, vus_max=self.vus, series=tuple(series))

    def _times(self, each_ms: float) -> Histogram:
        return Histogram.from_values([each_ms if at < self.opened else 0.0 for at in range(self.requests)])

    def resources(self) -> Iterator[dict[str, Any]]:
        yield from ()


def test_a_connection_for_each_request_is_counted() -> None:
    found = churn_of(Run(60, 60, tls_ms=1.0), [(2.0, 12.0)])
    assert found is not None and (found.opened, found.requests, found.seconds) == (600, 600, 10.0)
    assert found.connecting_ms == pytest.approx(1.2)
    assert found.words.startswith("Each request opens a new connection: 60 connections/s for 60 requests/s, 1.2 ms")
    assert "keep-alive would save 60 connections/s" in found.remedy


@pytest.mark.parametrize(
    "run",
    [
        Run(60, 1),  # kept
        Run(60, 60, vus=400),  # each VU made its first request
        Run(3, 3),  # too few to tell
        Run(60, 20),
    ],
)
def test_connections_that_are_kept_or_are_each_vu_s_first_are_not_told(run: Run) -> None:
    assert churn_of(run, [(2.0, 12.0)]) is None


def test_it_is_a_note_and_the_first_step_where_cpu_is_the_limit() -> None:
    main = {"experiment": "capacity", "steps": [STEP], "notes": ["a"], "next": ["b"], "limited_by": {"kind": "cpu"}}
    found = with_churn(main, Run(60, 60), [])
    assert found["notes"][1].startswith("Each request opens") and found["next"][0].startswith("Keep connections open")
    waits = with_churn({**main, "limited_by": {"kind": "pool"}}, Run(60, 60), [])
    assert waits["next"][0] == "b" and waits["next"][1].startswith("Keep connections open")
    assert with_churn(main, Run(60, 1), []) == main


def test_processes_of_the_target_that_make_a_connection_for_each_call_are_told() -> None:
    to = {"connections_to_127.0.0.1:5432": 3.0, "new_to_127.0.0.1:5432": 2.9, "connections_in": 4.0}
    means = {"sockets:shop": to, "sockets:postgres": {"listens_on_5432": 1.0}}
    [note] = churn_between(means)
    assert note.startswith("shop opens new connections to postgres at 127.0.0.1:5432 all the time")
    assert list(churn_between({**means, "sockets:shop": {**to, "new_to_127.0.0.1:5432": 0.1}})) == []
