"""What `plimsoll run` left is listed, read with ordinary tools, moved and deleted; also after kill -9."""

from __future__ import annotations

import json
import shutil
import subprocess
from collections.abc import Callable

import pytest
from command_line import Cli, seconds_written, wait_until

from plimsoll.runs.reader import RunReader

SCRIPT = """import http from 'k6/http';
export const options = { scenarios: { a: {
  executor: 'constant-arrival-rate', rate: 50, timeUnit: '1s', duration: '%ds', preAllocatedVUs: 20,
} } };
export default function () { http.get(__ENV.URL); }
"""


def test_a_run_is_listed_read_exported_and_deleted(cli: Cli, known_server: Callable[..., str]) -> None:
    cli.write(script_js=SCRIPT % 3)
    assert cli("run", "-q", "-e", f"URL={known_server()}", "script.js").returncode == 0
    [run] = cli.runs()
    listed = cli("runs", "list").stdout
    assert run.name in listed and "script.js" in listed and "requests" in listed and "1 run in runs" in listed
    lines = [json.loads(line) for line in cli("runs", "show", "latest", "--series").stdout.splitlines()]
    assert [line["second"] for line in lines] == list(range(len(lines))) and len(lines) >= 3
    count = sum(one["value"] for line in lines for one in line["series"] if one["metric"] == "http_reqs")
    assert count == RunReader(run).counter("http_reqs") > 100
    assert cli("runs", "export", "latest", "-o", "run.zip").returncode == 0
    assert cli("runs", "delete", "latest", "--yes").returncode == 0 and not run.exists()
    assert cli("runs", "import", "run.zip").stdout.strip() == f"runs/{run.name}"
    assert RunReader(run).counter("http_reqs") == count
    assert cli("report", run).returncode == 0
    for named in ("latest", run.name[-4:]):  # every verb that takes a run takes its name
        assert cli("report", named).stdout.strip() == f"runs/{run.name}/report.html"
        assert f"{run.name} is a run of run, which does not tell hardware" in cli("size", named).stderr
        assert cli("analyze", named).returncode == 0
    assert "missing.csv: cannot be read" in cli("analyze", "missing.csv").stderr


def test_a_killed_run_is_read_to_its_last_second_also_with_zstdcat(cli: Cli, known_server: Callable[..., str]) -> None:
    cli.write(script_js=SCRIPT % 60)
    running = cli.begin("run", "-q", "-e", f"URL={known_server()}", "script.js")
    wait_until(lambda: cli.runs() and seconds_written(cli.runs()[0]) >= 4, "four seconds")
    [run] = cli.runs()
    refused = cli("runs", "delete", run, "--yes")
    assert refused.returncode == 2 and "still running" in refused.stderr
    running.kill()
    running.wait()
    seconds = [one.second for one in RunReader(run).snapshots()]
    assert seconds == list(range(len(seconds))) and len(seconds) >= 4
    assert "killed" in cli("runs", "list").stdout
    if shutil.which("zstdcat") is None:
        pytest.skip("zstdcat is not installed")
    found = subprocess.run(["zstdcat", run / "series.jsonl.zst"], capture_output=True, check=False).stdout.splitlines()
    assert [json.loads(line)["second"] for line in found] == seconds


def test_lines_that_are_damaged_from_the_beginning_on_are_an_error(cli: Cli) -> None:
    cli.write(script_js="import { sleep } from 'k6';\nexport default function () { sleep(1.2); }")
    assert cli("run", "-q", "script.js").returncode == 0
    [run] = cli.runs()
    (run / "series.jsonl.zst").write_bytes(bytes(range(256)) * 8)
    done = cli("runs", "show", "latest", "--series")
    assert (done.returncode, done.stdout) == (2, "")
    assert "series.jsonl.zst has no line that can be read" in done.stderr and "Traceback" not in done.stderr
