"""Of a real load, findings and report say the same from minutes.jsonl.zst as from the lines one by one."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from plimsoll.engine import EngineConfig, EngineRun
from plimsoll.runs import RunFacts, RunReader, RunWriter
from plimsoll.runs.format import minute_blocks, minutes
from plimsoll.runs.format.lines import read_lines

sys.path.insert(0, str(Path(__file__).parents[2] / "unit" / "runs"))
from slow_reader import SlowReader, report_of

SCRIPT = """import http from 'k6/http';
const steady = { executor: 'constant-arrival-rate', duration: '7s', preAllocatedVUs: 20 };
const scenario = (exec, rate) => ({ ...steady, exec, rate });
export const options = { scenarios: { read: scenario('read', 100), write: scenario('write', 40) } };
export function read() {
  http.get(`${__ENV.URL}/one`, { tags: { name: 'GET /one' } });
  http.get('http://127.0.0.1:9/', { tags: { name: 'GET nothing' } });
}
export function write() { http.post(`${__ENV.URL}/two`, 'x', { tags: { name: 'POST /two' } }); }
"""


def test_a_real_run_is_reported_alike(
    tmp_path: Path, known_server: Callable[..., str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(minutes, "SECONDS", 3)
    monkeypatch.setattr(minute_blocks, "SECONDS", 3)
    (tmp_path / "script.js").write_text(SCRIPT)
    run = EngineRun(EngineConfig(script=tmp_path / "script.js", env={"URL": known_server("--service-ms", 2)})).begin()
    writer = RunWriter.create(tmp_path, RunFacts("run"), tables=False)
    with writer:
        for snapshot in run.snapshots():
            writer.append_snapshot(snapshot)
    run.result()
    blocks = list(read_lines(writer.path / "minutes.jsonl.zst"))
    assert len(blocks) >= 2 and blocks[-1]["to_byte"] == (writer.path / "series.jsonl.zst").stat().st_size
    slow, slow_page = report_of(writer.path, SlowReader, monkeypatch)
    fast, page = report_of(writer.path, RunReader, monkeypatch)
    assert {"GET /one", "GET nothing", "POST /two"} == {name for name, _ in dict(fast)["requests"]}
    assert dict(fast)["findings"] and fast == slow and page == slow_page
