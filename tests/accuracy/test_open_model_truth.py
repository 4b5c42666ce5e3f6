"""A target frozen for one second under 2,000 arrivals/s: by arithmetic p99 is 800 ms and p99.9 is 980 ms, and the
target itself tells when it answered, which is later by what the requests it held back take it."""

from __future__ import annotations

import json
import urllib.request
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from plimsoll.engine import EngineConfig, EngineRun, available_cpus
from plimsoll.runs.histogram import Histogram
from plimsoll.runs.snapshot import Snapshot

pytestmark = pytest.mark.timing


def times(snapshots: list[Snapshot], metric: str, name: str | None = None) -> Histogram:
    chosen = Histogram()
    for snapshot in snapshots:
        for series in snapshot.series:
            if series.metric == metric and (name is None or series.tags.get("name") == name):
                chosen.add_series(series)
    return chosen


def response_times_as_the_target_tells(url: str, rate_per_s: float) -> np.ndarray:
    """Milliseconds from each planned arrival to the target's answer, first come first served; the quickest is 0."""
    with urllib.request.urlopen(f"{url}/answers") as told:
        answered_ms = np.sort(np.array(json.load(told)))
    waited_ms = answered_ms - np.arange(answered_ms.size) * 1000 / rate_per_s
    return waited_ms - waited_ms.min()


@pytest.mark.parametrize("pre_allocated", [1, 2500])
def test_a_frozen_target_shows_in_the_tail_whatever_is_preallocated(
    tmp_path: Path, known_server: Callable[..., str], pre_allocated: int
) -> None:
    script = tmp_path / "script.js"
    script.write_text("import http from 'k6/http'; export default function () { http.get(__ENV.URL); }")
    url = known_server("--servers", 0, "--freeze-at-s", 10, "--freeze-for-s", 1, cpu=available_cpus()[0])
    load = {"executor": "constant-arrival-rate", "rate": 2000, "duration": "20s", "preAllocatedVUs": pre_allocated}
    cpus = available_cpus()[-1:]
    run = EngineRun(
        EngineConfig(script=script, env={"URL": url}, options={"scenarios": {"s": load}}, cpus=tuple(cpus))
    ).begin()
    found = times(list(run.snapshots()), "http_req_response_time")
    run.result()
    assert found.count == pytest.approx(40_000, abs=4)
    told_ms = response_times_as_the_target_tells(url, rate_per_s=2000)
    for share, least_ms in ((0.99, 800), (0.999, 980)):
        told = float(np.quantile(told_ms, share))
        assert found.percentile(share) == pytest.approx(told, rel=0.02)
        assert found.percentile(share) == pytest.approx(least_ms, rel=0.06)


def test_no_operation_contains_another_ones_time_or_the_sleeps(
    tmp_path: Path, known_server: Callable[..., str]
) -> None:
    script = tmp_path / "script.js"
    script.write_text(
        """import http from 'k6/http'; import { sleep } from 'k6';
        export default function () {
          for (const name of ['one', 'two', 'three']) { http.get(__ENV.URL, { tags: { name } }); sleep(1); }
        }"""
    )
    url = known_server("--servers", 0, "--freeze-at-s", 5, "--freeze-for-s", 1)
    load = {"executor": "constant-arrival-rate", "rate": 100, "duration": "10s"}
    run = EngineRun(EngineConfig(script=script, env={"URL": url}, options={"scenarios": {"s": load}})).begin()
    snapshots = list(run.snapshots())
    run.result()
    for name in ("one", "two", "three"):
        found = times(snapshots, "http_req_response_time", name)
        assert found.count == pytest.approx(1000, abs=2)
        assert found.percentile(0.5) < 100 and found.max < 1100, name
