"""The report and the findings of a run say the same from its minutes as from its lines read one by one."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import numpy as np
import pytest

from plimsoll.runs import Histogram, RunFacts, RunReader, RunWriter, Series, Snapshot
from plimsoll.runs.format import minute_blocks, minutes
from plimsoll.runs.format.lines import read_lines

sys.path.insert(0, str(Path(__file__).parents[1] / "runs"))
from slow_reader import SlowReader, report_of

STUDY = {
    "objectives": [
        {"operation": "operation 1", "objective": "p95<=60ms"},
        {"operation": "operation 2", "objective": "error_rate<1%"},
        {"request": "GET /3", "objective": "mean<=40ms"},
        {"objective": "max<=1s"},
    ]
}
BASELINE_S = 30


def second_of(draw: np.random.Generator, second: int) -> Snapshot:
    """A second of three operations; at first of one user alone, later a slow spell, now and then a failure."""
    series = []
    alone = second < BASELINE_S
    slow = 3.0 if 200 <= second < 220 else 1.0
    for place in range(1, 4):
        count = int(draw.poisson(2 if alone else 60 / place))
        times = slow * draw.lognormal(3, 0.5, count) * place
        tags = {"scenario": f"operation {place}", "name": f"GET /{place}", "status": "200"}
        for metric in ("http_req_response_time", "http_req_duration", "http_req_waiting"):
            series.append(Series.of_trend(metric, tags, Histogram.from_values(times)))
        series.append(Series.of_trend("http_req_blocked", tags, Histogram.from_values([0.004] * count)))
        series.append(Series("http_reqs", "counter", tags, value=float(count)))
        series.append(Series("http_req_failed", "rate", tags, passes=int(draw.binomial(count, 0.01)), total=count))
        for metric in ("iteration_response_time", "iteration_duration"):
            own = {"scenario": f"operation {place}"}
            series.append(Series.of_trend(metric, own, Histogram.from_values(1.02 * times)))
    done = sum(one.count for one in series if one.metric == "iteration_duration")
    generator = {"cpu_s": 0.2, "lag_p99_ms": float(draw.exponential(0.2)), "threads": 2, "busiest_thread_share": 0.2}
    level = 1.0 if alone else 50.0
    return Snapshot(second, 1e9 + second, level, 50, 50, done, done, done, series=tuple(series), generator=generator)


def write_run(folder: Path, experiment: str, seconds: int) -> Path:
    """A run that was killed, with its lines and minutes."""
    draw = np.random.default_rng(3)
    facts = RunFacts(experiment, study=STUDY if experiment == "hold" else None, level_unit="users", t0_unix=1e9)
    writer = RunWriter.create(folder, facts, tables=False)
    with writer:
        if experiment == "hold":
            writer.append_event("experiment_started", second=0, experiment="hold", unit="users", open=True)
            steps = (("baseline", 0, 5, BASELINE_S, 1.0), ("expected", BASELINE_S, BASELINE_S + 5, seconds, 50.0))
            for kind, start_s, from_s, end_s, level in steps:
                about = {"level": level, "step_kind": kind, "start_s": start_s, "measured_from_s": from_s + 0.4}
                writer.append_event("step_ended", second=end_s, end_s=float(end_s), verdict="undecided", **about)
        for second in range(seconds):
            writer.append_snapshot(second_of(draw, second))
            for source in ("host", "process:server", "generator"):
                values = {"cpu_share": float(draw.uniform(0.2, 0.4)), "rss_bytes": 1e8 + 1e4 * second}
                writer.append_resource({"t_unix": 1e9 + second, "second": second, "source": source, "values": values})
    manifest = writer.path / "manifest.json"
    manifest.write_text(json.dumps(json.loads(manifest.read_text()) | {"status": "running", "ended_unix": None}))
    return writer.path


@pytest.mark.parametrize("experiment", ["hold", "run"])
def test_a_report_is_the_same_from_minutes_as_from_lines(
    tmp_path: Path, experiment: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(minutes, "SECONDS", 25)
    monkeypatch.setattr(minute_blocks, "SECONDS", 25)
    path = write_run(tmp_path, experiment, 790)
    slow, slow_page = report_of(path, SlowReader, monkeypatch)
    cut, pieces = minute_blocks._cut, []
    monkeypatch.setattr(minute_blocks, "_cut", lambda *where: pieces.append(where[2:]) or cut(*where))
    fast, page = report_of(path, RunReader, monkeypatch)
    assert all(len(piece) == 1 and piece[0] > 0 for piece in pieces), "lines are read behind the last minute alone"
    assert dict(fast)["findings"] and len(list(read_lines(path / "minutes.jsonl.zst"))) == 32
    assert fast == slow and page == slow_page
    file = path / "minutes.jsonl.zst"
    file.write_bytes(file.read_bytes()[: file.stat().st_size // 2])
    torn, torn_page = report_of(path, RunReader, monkeypatch)
    assert torn == slow and torn_page == slow_page
    file.unlink()
    older, older_page = report_of(path, RunReader, monkeypatch)
    assert older == slow and older_page == slow_page
