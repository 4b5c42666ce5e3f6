"""Where VUs do not share JavaScript runtimes, the run is the same, and run and doctor say so."""

from __future__ import annotations

import json
import os
from collections.abc import Callable

import pytest
from command_line import Cli

SCRIPT = """
import http from 'k6/http';
import { check, sleep } from 'k6';
export const options = { scenarios: { all: { executor: 'per-vu-iterations', vus: 40, iterations: 2 } } };
globalThis.mine = __VU;
export default async function () {
  sleep(0.001 * (__VU % 7));
  const later = await Promise.resolve(__VU);
  const answer = http.get(__ENV.BASE_URL);
  check(answer, { 'its own': () => globalThis.mine === __VU && later === __VU && answer.status === 200 });
}
"""
OWN = {**os.environ, "PLIMSOLL_OWN_RUNTIMES": "1"}


@pytest.mark.parametrize("own", [True, False])
def test_a_run_tells_that_vus_do_not_share_runtimes(cli: Cli, known_server: Callable[..., str], own: bool) -> None:
    cli.write(script_js=SCRIPT)
    done = cli("run", "script.js", "-e", f"BASE_URL={known_server()}", env=OWN if own else None)
    assert done.returncode == 0, done.stderr
    assert ("PLIMSOLL_OWN_RUNTIMES" in done.stderr) is own
    (finding,) = json.loads((cli.runs()[0] / "findings.json").read_text())
    assert any("runtime per VU" in note for note in finding["notes"]) is own
    summary = (cli.runs()[0] / "events.jsonl").read_text()
    checks = [json.loads(line) for line in summary.splitlines() if '"checks"' in line][-1]["summary"]["checks"]
    assert (checks["values"]["passes"], checks["values"]["fails"]) == (80, 0)


def test_an_experiment_tells_it_too(cli: Cli, known_server: Callable[..., str]) -> None:
    closed = "'constant-vus', vus: 2, duration: '1s'"
    cli.write(script_js=SCRIPT.replace("'per-vu-iterations', vus: 40, iterations: 2", closed))
    options = ["--users", 2, "--duration", 5, "--warm-up", 0, "--baseline", 0]
    cli("hold", "script.js", "-e", f"BASE_URL={known_server()}", *options, env=OWN)
    events = (cli.runs()[0] / "events.jsonl").read_text().splitlines()
    assert any("runtime per VU" in line for line in events)


@pytest.mark.parametrize("own", [True, False])
def test_doctor_tells_whether_vus_share_runtimes(cli: Cli, own: bool) -> None:
    told = json.loads(cli("doctor", "--json", env=OWN if own else None).stdout)
    (check,) = [check for check in told["checks"] if check["name"] == "runtimes"]
    assert check["state"] == ("note" if own else "ok") and bool(check["remedy"]) is own
