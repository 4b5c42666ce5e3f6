"""A second of load, and what a page holds."""

from __future__ import annotations

import re

from asgi_client import TestClient

from plimsoll.runs.snapshot import Series, Snapshot

PORT = 6570
HOST = f"127.0.0.1:{PORT}"
WELL = {"cpu_s": 0.1, "threads": 1, "lag_p99_ms": 0.2}


def second(number: int, level: float = 1.0, done: int = 20, failed: int = 0) -> Snapshot:
    """A second of load whose requests took 10 ms."""
    buckets = ((1051197, done),)
    times = Series("http_req_duration", "trend", {}, done, 10.0 * done, 10.0, 10.0, buckets)
    judged = Series("http_req_failed", "rate", {}, passes=failed, total=done)
    return Snapshot(number, 1.8e9 + number, level, 2, 4, done, done, done, series=(times, judged), generator=WELL)


def csrf_of(client: TestClient, name: str) -> str:
    """The secret that a run's page has."""
    found = re.search(r'name="csrf" content="([^"]+)"', client.get(f"/runs/{name}").text)
    assert found is not None
    return found[1]
