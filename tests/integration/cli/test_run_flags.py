"""`plimsoll run` with k6's flags, against a server that tells what reached it."""

from __future__ import annotations

import json
import subprocess
import sys
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

SCRIPT = """import http from 'k6/http';
import { check } from 'k6';
export const options = { vus: 1, iterations: 2, thresholds: { http_reqs: ['count<1'] } };
export function setup() { http.get(`${__ENV.URL}/setup`); return 'made'; }
export default function (data) {
  const agent = http.get(`${__ENV.URL}/agent`, { tags: { name: 'agent' } });
  const far = http.get(`${__ENV.URL}/redirect`);
  http.batch([1, 2, 3].map(() => `${__ENV.URL}/many`));
  check(null, {
    agent: () => agent.body === 'probe/1', redirected: () => far.status === 200, made: () => data === 'made',
    kept: () => agent.body !== null });
  http.get('http://127.0.0.1:9/');
  check(null, { survived: () => true });
}
export function teardown() { http.get(`${__ENV.URL}/teardown`); }
"""


class Heard(ThreadingHTTPServer):
    """Notes the paths asked for and counts the connections."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Answer)
        self.paths: list[str] = []
        self.connections = 0
        self.lock = threading.Lock()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}"


class _Answer(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: Heard

    def setup(self) -> None:
        super().setup()
        with self.server.lock:
            self.server.connections += 1

    def do_GET(self) -> None:
        with self.server.lock:
            self.server.paths.append(self.path)
        body = self.headers["User-Agent"].encode()
        self.send_response(302 if self.path == "/redirect" else 200)
        if self.path == "/redirect":
            self.send_header("Location", "/end")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: Any) -> None:
        pass


@pytest.fixture
def heard() -> Iterator[Heard]:
    with Heard() as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield server
        server.shutdown()


def run(folder: Path, heard: Heard, *flags: str) -> tuple[subprocess.CompletedProcess[str], dict[str, Any]]:
    """`plimsoll run -q script.js` with the flags, and the summary it exported."""
    (folder / "script.js").write_text(SCRIPT)
    command = [sys.executable, "-m", "plimsoll", "run", "-q", "-e", f"URL={heard.url}", "--summary-export", "s.json"]
    done = subprocess.run([*command, *flags, "script.js"], cwd=folder, capture_output=True, text=True, check=False)
    assert (folder / "s.json").exists(), done.stderr
    return done, json.loads((folder / "s.json").read_text())


def checks(summary: dict[str, Any]) -> dict[str, bool]:
    return {check["name"]: check["fails"] == 0 for check in summary["root_group"]["checks"]}


def test_without_flags_the_script_runs_as_it_says(tmp_path: Path, heard: Heard) -> None:
    done, summary = run(tmp_path, heard)
    assert done.returncode == 99 and "iterations" in done.stdout
    assert checks(summary) == {"agent": False, "redirected": True, "made": True, "kept": True, "survived": True}
    assert heard.paths.count("/setup") == heard.paths.count("/teardown") == 1
    assert heard.paths.count("/agent") == 2


def test_flags_of_requests_reach_the_engine(tmp_path: Path, heard: Heard) -> None:
    flags = ("--user-agent", "probe/1", "--max-redirects", "0", "--no-thresholds", "--no-setup", "--no-teardown")
    done, summary = run(tmp_path, heard, *flags, "-i", "1")
    assert done.returncode == 0, done.stderr
    assert checks(summary) == {"agent": True, "redirected": False, "made": False, "kept": True, "survived": True}
    assert not {"/setup", "/teardown", "/end"} & set(heard.paths)
    assert heard.paths.count("/agent") == 1


def test_bodies_are_discarded_and_failed_requests_throw_where_asked(tmp_path: Path, heard: Heard) -> None:
    done, summary = run(tmp_path, heard, "--discard-response-bodies", "--throw", "--no-summary")
    assert checks(summary) == {"agent": False, "redirected": True, "made": True, "kept": False}
    assert "iterations" not in done.stdout


@pytest.mark.parametrize(
    ("flags", "connections"), [((), 3), (("--no-vu-connection-reuse",), 6), (("--no-connection-reuse",), 12)]
)
def test_connections_are_reused_as_asked(
    tmp_path: Path, heard: Heard, flags: tuple[str, ...], connections: int
) -> None:
    run(tmp_path, heard, "--no-setup", "--no-teardown", *flags)
    assert len(heard.paths) == 12, "two iterations of six requests that reach the server"
    assert heard.connections == connections, "three for the batch, which the others share"


def test_a_least_iteration_duration_holds_vus_back(tmp_path: Path, heard: Heard) -> None:
    _, held = run(tmp_path, heard, "-d", "1s", "--no-setup", "--no-teardown", "--min-iteration-duration", "5s")
    assert held["metrics"]["iterations"]["values"]["count"] == 1
    _, free = run(tmp_path, heard, "-d", "1s", "--no-setup", "--no-teardown")
    assert free["metrics"]["iterations"]["values"]["count"] > 2


def test_the_summary_shows_the_statistics_and_the_unit_asked_for(tmp_path: Path, heard: Heard) -> None:
    done, summary = run(tmp_path, heard, "--summary-trend-stats", "min,p(99.9),count", "--summary-time-unit", "us")
    [line] = [line for line in done.stdout.splitlines() if line.strip(" ✓✗?").startswith("http_req_duration...")]
    assert "min=" in line and "p(99.9)=" in line and line.count("µs") == 2 and "avg=" not in line
    values = summary["metrics"]["http_req_duration"]["values"]
    assert values["p(95)"] <= values["p(99.9)"] <= values["max"] * 1.001
    assert summary["metrics"]["http_req_duration{expected_response:true}"]["values"]["p(99.9)"] > 0


@pytest.mark.parametrize(
    ("flags", "words"),
    [
        (("--summary-trend-stats", "avg,p90"), "p90 is no statistic"),
        (("--summary-trend-stats", "p(101)"), "is no statistic"),
        (("--summary-time-unit", "h"), "Use s, ms, us"),
        (("--stage", "10"), "not duration:target"),
    ],
)
def test_flags_that_make_no_sense_are_said_before_the_run(tmp_path: Path, flags: tuple[str, ...], words: str) -> None:
    (tmp_path / "script.js").write_text("export default function () {}")
    command = [sys.executable, "-m", "plimsoll", "run", *flags, "script.js"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 2 and words in done.stderr and not (tmp_path / "runs").exists()
