"""A generator that a signal stops for some seconds says so, and does not send its user to the target."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

SCRIPT = """
import http from 'k6/http';
import { sleep } from 'k6';
export const options = { scenarios: { a: { executor: 'constant-arrival-rate', rate: %d, timeUnit: '1s',
  duration: '%ds', preAllocatedVUs: 20, maxVUs: 20 } } };
export default function () { http.get(__ENV.BASE_URL); sleep(%s); }
"""


class Quick(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        self.send_response(200)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, *_: object) -> None:
        pass


def run(folder: Path, rate: int, seconds: int, sleep: str, stop: bool) -> tuple[str, dict]:
    """What the run says on stderr, and its finding; with `stop`, stopped for 3 s from its third second on."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), Quick)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    (folder / "load.js").write_text(SCRIPT % (rate, seconds, sleep))
    command = [sys.executable, "-m", "plimsoll", "run", "load.js", "-e"]
    command.append(f"BASE_URL=http://127.0.0.1:{server.server_address[1]}/")
    process = subprocess.Popen(
        command, cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, encoding="utf-8"
    )
    try:
        if stop:
            deadline = time.monotonic() + 20
            while not list(folder.glob("runs/*/series.jsonl.zst")) and time.monotonic() < deadline:
                time.sleep(0.05)
            time.sleep(2.5)
            process.send_signal(signal.SIGSTOP)
            time.sleep(3)
            process.send_signal(signal.SIGCONT)
        _, errors = process.communicate(timeout=60)
    finally:
        process.kill()
        server.shutdown()
        server.server_close()
    [written] = folder.glob("runs/*/findings.json")
    [finding] = json.loads(written.read_text(encoding="utf-8"))
    return errors, finding


@pytest.mark.timeout(90)
def test_a_stopped_generator_says_that_it_stood_still(tmp_path: Path) -> None:
    errors, finding = run(tmp_path, 50, 8, "0", stop=True)
    assert not finding["valid"] and finding["answer"].startswith("Yes")
    [still] = [one for one in finding["diagnoses"] if one["name"] == "stood_still"]
    assert "The generator stood still for" in still["words"] and "stood still" in errors
    assert "See whether the target became slow" not in errors


@pytest.mark.timeout(90)
def test_vus_that_the_script_s_own_waiting_takes_are_named(tmp_path: Path) -> None:
    errors, finding = run(tmp_path, 300, 4, "0.1", stop=False)
    assert [one["name"] for one in finding["diagnoses"]][:1] == ["script_cap"] and not finding["valid"]
    assert (
        "maxVUs of 20 (scenario a, line 5) allows about" in errors
        and "See whether the target became slow" not in errors
    )


ITERATIONS = """
import { sleep } from 'k6';
export const options = { scenarios: { work: { executor: 'shared-iterations', vus: 2, iterations: 40, maxDuration: '%s',
  gracefulStop: '1s' } } };
export default function () { sleep(0.05); }
"""


@pytest.mark.timeout(60)
@pytest.mark.parametrize(("time", "is_told"), [("600ms", True), ("30s", False)])
def test_iterations_that_max_duration_cut_off_are_counted(tmp_path: Path, time: str, is_told: bool) -> None:
    (tmp_path / "load.js").write_text(ITERATIONS % time)
    command = [sys.executable, "-m", "plimsoll", "run", "-q", "load.js"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False, timeout=50)
    told = "of its 40 iterations: maxDuration of 600ms ended it" in " ".join(done.stderr.split())
    assert told is is_told, done.stderr
