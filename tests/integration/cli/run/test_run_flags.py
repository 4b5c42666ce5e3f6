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
    return {name: check["fails"] == 0 for name, check in summary["root_group"]["checks"].items()}


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
    assert held["metrics"]["iterations"]["count"] == 1
    _, free = run(tmp_path, heard, "-d", "1s", "--no-setup", "--no-teardown")
    assert free["metrics"]["iterations"]["count"] > 2


SHOWN = """export const options = { iterations: 3, summaryTrendStats: ['count', 'p(99.9)'], summaryTimeUnit: 's' };
import { Trend } from 'k6/metrics';
const size = new Trend('size'), time = new Trend('time', true), never = new Trend('never');
export default function () { size.add(7); time.add(1500); }
"""
HANDLED = """export function handleSummary(data) {
  const { options, metrics } = data;
  return { stdout: JSON.stringify({ options, values: metrics.time.values, never: metrics.never }) };
}
"""


def shown(folder: Path, text: str, *flags: str) -> subprocess.CompletedProcess[str]:
    (folder / "script.js").write_text(text)
    command = [sys.executable, "-m", "plimsoll", "run", "-q", *flags, "script.js"]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)


def lines_of(done: subprocess.CompletedProcess[str]) -> dict[str, str]:
    pairs = (line.strip(" ✓✗?").partition("...") for line in done.stdout.splitlines() if ": " in line)
    return {name: " ".join(values.lstrip(".: ").split()) for name, _, values in pairs}


def test_the_console_can_write_to_a_file(tmp_path: Path) -> None:
    text = "export default function () { console.warn('said', __VU); }"
    for _ in range(2):
        done = shown(tmp_path, text, "--console-output", "console.txt")
        assert done.returncode == 0 and "said" not in done.stderr, done.stderr
    assert (tmp_path / "console.txt").read_text() == 2 * "WARN [VU 1] said 1\n"
    refused = shown(tmp_path, text, "--console-output", "no folder/console.txt")
    assert refused.returncode == 104 and "consoleOutput: cannot write no folder/console.txt" in refused.stderr


def test_the_summary_heeds_the_script_s_statistics_and_unit_and_flags_win(tmp_path: Path) -> None:
    lines = lines_of(shown(tmp_path, SHOWN))
    assert (lines["size"], lines["time"]) == ("count=3 p(99.9)=7", "count=3 p(99.9)=1.50s")
    lines = lines_of(shown(tmp_path, SHOWN, "--summary-trend-stats", "max, med", "--summary-time-unit", "us"))
    assert (lines["size"], lines["time"]) == ("max=7 med=7", "max=1500000.00µs med=1500000.00µs")


def test_handle_summary_gets_the_statistics_asked_for(tmp_path: Path) -> None:
    data = json.loads(shown(tmp_path, SHOWN + HANDLED).stdout)
    assert data["options"] == {"summaryTrendStats": ["count", "p(99.9)"], "summaryTimeUnit": "s", "noColor": False}
    assert data["values"] == {"count": 3, "p(99.9)": 1500}
    flags = ("--summary-trend-stats", "avg", "--summary-time-unit", "ms", "--no-color")
    data = json.loads(shown(tmp_path, SHOWN + HANDLED, *flags).stdout)
    assert data["options"] == {"summaryTrendStats": ["avg"], "summaryTimeUnit": "ms", "noColor": True}
    assert data["values"] == {"avg": 1500}


def test_without_a_summary_nothing_is_printed_and_handle_summary_is_not_called(tmp_path: Path) -> None:
    assert shown(tmp_path, SHOWN, "--no-summary").stdout == ""
    done = shown(tmp_path, SHOWN + "export function handleSummary() { throw new Error('called'); }", "--no-summary")
    assert (done.returncode, done.stdout) == (0, "")


def test_a_file_that_handle_summary_cannot_write_is_named(tmp_path: Path) -> None:
    done = shown(tmp_path, SHOWN + "export const handleSummary = () => ({ 'none/x.json': '1' });")
    assert done.returncode != 0 and "handleSummary: cannot write 'none/x.json': there is no folder none" in done.stderr
    assert "Traceback" not in done.stderr


def test_the_exported_summary_has_the_form_of_k6(tmp_path: Path, heard: Heard) -> None:
    _, summary = run(tmp_path, heard, "--summary-trend-stats", "max,p(99)")
    assert set(summary) == {"metrics", "setup_data", "root_group"} and summary["setup_data"] == "made"
    metrics = summary["metrics"]
    assert list(metrics["http_req_duration"]) == ["max", "p(99)"]
    assert metrics["http_reqs"]["thresholds"] == {"count<1": True}, "true is failed"
    failed = metrics["http_req_failed"]
    assert failed["value"] == failed["passes"] / (failed["passes"] + failed["fails"]) > 0
    check = summary["root_group"]["checks"]["made"]
    assert check == {
        "name": "made",
        "path": "::made",
        "id": "dfbe4a6060dc7290ed13b55af2bd0b39",
        "passes": 2,
        "fails": 0,
    }


@pytest.mark.parametrize(
    ("flags", "code", "words"),
    [
        (("--summary-trend-stats", "avg,p90"), 255, "--summary-trend-stats: 'p90' is no statistic"),
        (("--summary-time-unit", "h"), 255, "--summary-time-unit: 'h' is none of s, ms, us"),
        (("--duration", "soon"), 255, "--duration: 'soon' is not a duration"),
        (("--summary-export", "none/s.json"), 2, "--summary-export"),
        (("--stage", "10"), 255, "not duration:target"),
    ],
)
def test_flags_that_make_no_sense_are_said_before_the_run(
    tmp_path: Path, flags: tuple[str, ...], code: int, words: str
) -> None:
    (tmp_path / "script.js").write_text("export default function () {}")
    command = [sys.executable, "-m", "plimsoll", "run", *flags, "script.js"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == code and words in done.stderr and not (tmp_path / "runs").exists()
