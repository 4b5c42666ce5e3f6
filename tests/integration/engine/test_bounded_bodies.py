"""Bodies without end, and those that unpack to more than anybody can hold, fail their request or are thrown away as
they come; memory stays bounded."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from hostile_answers import ask

from plimsoll.engine import EngineConfig, EngineRun

Server = Callable[..., str]

ENDLESS = ["/endless", "/endless/length", "/chunks/endless", "/chunks/many"]
BOMBS = [f"/coded/bomb/{coding}?mib=128" for coding in ("gzip", "deflate", "br", "zstd", "gzip,gzip", "br,gzip")]
BROKEN = ["/short", "/close/head", "/chunks/plus", "/chunks/end", "/chunks/cut", "/trailer/bad", "/trailer/endless",
          "/lengths/differ", "/head/endless", "/head/65", "/coded/cut/gzip", "/coded/cut/br", "/coded/members/gzip",
          "/headers/3000", "/close", "/reset"]  # fmt: skip
MOST_MIB = 200


def peak_mib(folder: Path, script: str, url: str, *flags: str, limit_s: float = 100) -> tuple[float, str]:
    """The highest resident set of a run of the script, and what it printed."""
    (folder / "script.js").write_text(script)
    command = [sys.executable, "-m", "plimsoll", "run", *flags, "-e", f"URL={url}", "script.js"]
    run = subprocess.Popen(command, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    began, peak_kib = time.monotonic(), 0
    while run.poll() is None and time.monotonic() - began < limit_s:
        try:
            text = Path(f"/proc/{run.pid}/status").read_text()
        except OSError:  # it ended meanwhile
            text = ""
        peak_kib = max([peak_kib, *(int(found) for found in re.findall(r"^VmHWM:\s+(\d+) kB", text, re.MULTILINE))])
        time.sleep(0.05)
    run.kill()
    printed = run.communicate()[0]
    assert run.returncode in (0, 3, 99), printed[-2000:]
    return peak_kib / 1024, printed


@pytest.mark.timeout(600)
def test_many_hostile_answers_of_all_kinds_keep_memory_bounded(tmp_path: Path, known_server: Server) -> None:
    iterations = int(os.environ.get("HOSTILE_ANSWERS", "500"))
    script = f"""import http from 'k6/http';
import exec from 'k6/execution';
const big = {[*ENDLESS, *BOMBS]}, small = {BROKEN};
export const options = {{ scenarios: {{ s: {{ executor: 'shared-iterations', vus: 2, iterations: {iterations},
  maxDuration: '10m' }} }}, thresholds: {{ http_reqs: ['count=={iterations}'] }} }};
export default function () {{
  const n = exec.scenario.iterationInTest;
  const path = n % 50 === 0 ? big[(n / 50) % big.length] : small[n % small.length];
  http.get(__ENV.URL + path, {{ timeout: '30s' }});
}}"""
    peak, printed = peak_mib(tmp_path, script, known_server("--site"), limit_s=550)
    assert f"✓ 'count=={iterations}' count={iterations}\n" in printed, printed[-2000:]
    print(f"{iterations} hostile answers: at most {peak:.0f} MiB")
    assert 0 < peak < MOST_MIB, peak


@pytest.mark.parametrize("path", [*ENDLESS, BOMBS[2]])
def test_a_body_that_is_thrown_away_takes_no_memory(tmp_path: Path, known_server: Server, path: str) -> None:
    script = f"""import http from 'k6/http';
export const options = {{ iterations: 1, discardResponseBodies: true }};
export default () => {{ http.get(`${{__ENV.URL}}{path}`, {{ timeout: '2s' }}); }};"""
    peak, _ = peak_mib(tmp_path, script, known_server("--site"))
    assert 0 < peak < 100, peak


def test_a_body_over_the_limit_fails_its_request_with_the_remedy(tmp_path: Path, known_server: Server) -> None:
    paths = [*ENDLESS, "/coded/bomb/br?mib=2", "/coded/bomb/gzip,gzip?mib=2", "/coded/bomb/zstd?mib=2"]
    found = ask(
        tmp_path,
        known_server("--site"),
        f"""for (const path of {paths}) found[path] = told(http.get(U + path));
        found.good = http.get(`${{U}}/coded/bomb/gzip?mib=1`).body.length;
        found.none = http.get(`${{U}}/coded/bomb/gzip?mib=2`, {{ responseType: 'none' }}).status;
        found.sent = http.post(`${{U}}/back`, 'x'.repeat(2**21), {{ responseType: 'none' }}).status;
        found.back = told(http.post(`${{U}}/back`, 'x'.repeat(2**21)))[1];""",
        max_body_bytes=2**20,
    )
    for path in paths:
        status, code, error, body = found[path]
        assert (status, code, body) == (0, 1000, None), (path, status, code)
        assert "over the limit of 1 MiB" in error and "--max-body" in error and "responseType 'none'" in error
    assert (found["good"], found["none"], found["sent"], found["back"]) == (2**20, 200, 200, 1000)


def test_bodies_count_against_the_memory_of_their_vu(
    tmp_path: Path, known_server: Server, capfd: pytest.CaptureFixture[str]
) -> None:
    script = tmp_path / "script.js"
    script.write_text(
        """import http from 'k6/http';
import { Counter } from 'k6/metrics';
export const options = { iterations: 4, vus: 1 };
const got = new Counter('got'), failed = new Counter('failed');
const url = `${__ENV.URL}/coded/bomb/gzip?mib=5`;
export default function () {
  const kept = [];
  if (__ITER === 0) for (let n = 0; n < 20; n++) { kept.push(http.get(url)); got.add(1); }
  if (__ITER === 1) for (let n = 0; n < 20; n++) { http.get(url); got.add(1); }
  if (__ITER === 2) {
    const answers = http.batch(Array(12).fill(url));
    failed.add(answers.filter((r) => r.error.includes('raise --vu-memory')).length);
  }
  if (__ITER === 3) got.add(1);
}"""
    )
    config = EngineConfig(script=script, env={"URL": known_server("--site")}, vu_memory_bytes=32 * 2**20)
    run = EngineRun(config).begin()
    list(run.snapshots())
    metrics = run.result()["summary"]["metrics"]
    errors = capfd.readouterr().err
    assert len(re.findall(r"the script used over 32 MiB of memory", errors)) >= 1, errors
    # At most six of 5 MiB are kept; of those that are not kept all twenty come.
    assert 20 + 3 + 1 <= metrics["got"]["values"]["count"] <= 20 + 6 + 1
    assert metrics["failed"]["values"]["count"] >= 3


def test_the_limit_is_a_flag_and_a_variable(
    tmp_path: Path, known_server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    script = """import http from 'k6/http';
export const options = { iterations: 1, thresholds: { 'http_reqs{error_code:1000}': ['count==1'] } };
export default () => { console.log(http.get(`${__ENV.URL}/coded/bomb/gzip?mib=3`).error); };"""
    url = known_server("--site")
    assert "over the limit of 2 MiB" in peak_mib(tmp_path, script, url, "--max-body", "2MiB")[1]
    monkeypatch.setenv("PLIMSOLL_MAX_BODY", "1MiB")
    assert "over the limit of 1 MiB" in peak_mib(tmp_path, script, url)[1]
    assert "over the limit of 2 MiB" in peak_mib(tmp_path, script, url, "--max-body", "2MiB")[1]
