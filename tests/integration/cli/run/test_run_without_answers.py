"""A run whose requests get no answer: its loop is paced, its attempts are no throughput, and what its script is told of
thresholds is what its exit code says."""

from __future__ import annotations

import json
import re

import pytest
from command_line import Cli

from plimsoll.runs.reader import RunReader

REFUSED = "http://127.0.0.1:9/"
SCRIPT = """import http from 'k6/http';
export const options = { vus: 2, duration: '3s', thresholds: THRESHOLDS };
export default function () { http.get('URL'); }
export function handleSummary(data) { return { stdout: JSON.stringify(data.metrics) }; }
"""


@pytest.mark.timeout(60)
@pytest.mark.parametrize("plain", [True, False])
def test_a_closed_loop_on_a_refused_port_is_paced_and_its_attempts_are_told_apart(cli: Cli, plain: bool) -> None:
    cli.write(script_js=SCRIPT.replace("THRESHOLDS", "{}").replace("URL", REFUSED))
    done = cli("run", "-q", "-u", "2", "-d", "3s", *(("--url", REFUSED) if plain else ("script.js",)))
    assert done.returncode == 3, done.stderr
    [run_directory] = cli.runs()
    counts: dict[str, float] = {}
    for snapshot in RunReader(run_directory).snapshots():
        for series in snapshot.series:
            if series.kind == "counter":
                counts[series.metric] = counts.get(series.metric, 0.0) + float(series.value or 0.0)
    assert 10 <= counts["http_reqs"] <= 60, counts  # 104,622 in 2 s without a pause
    assert counts["unanswered_iterations"] == counts["iterations"]
    assert f"{counts['iterations']:.0f} of {counts['iterations']:.0f} iterations failed at once" in done.stderr
    assert "attempts and no throughput" in done.stderr and "no request was answered" in done.stderr


@pytest.mark.timeout(60)
def test_iterations_of_a_fixed_number_are_told_apart_and_not_paced(cli: Cli) -> None:
    """At a pace that 300 attempts of two VUs would take minutes."""
    done = cli("run", "-q", "-u", "2", "-i", "300", "--url", REFUSED)
    assert re.search(r"http_reqs\.+: 300 ", done.stdout), done.stdout
    assert "300 of 300 iterations failed at once" in done.stderr, done.stderr


@pytest.mark.timeout(60)
def test_what_handle_summary_gets_agrees_with_the_exit_code(cli: Cli) -> None:
    rules = "{ http_req_duration: ['p(99)<200'], http_reqs: ['count>1'], http_req_failed: ['rate<0.01'] }"
    cli.write(script_js=SCRIPT.replace("THRESHOLDS", rules).replace("URL", REFUSED))
    done = cli("run", "-q", "script.js")
    metrics = json.loads(done.stdout)
    rows = {key: row for about in metrics.values() for key, row in about.get("thresholds", {}).items()}
    assert done.returncode == 99 and set(rows) == {"p(99)<200", "count>1", "rate<0.01"}
    assert [row["ok"] for row in rows.values()] == [False] * 3
    assert rows["rate<0.01"]["verdict"] == "failed" and rows["count>1"]["verdict"] == "undecided"


@pytest.mark.timeout(60)
def test_the_printed_summary_says_why_a_threshold_is_not_met(cli: Cli) -> None:
    cli.write(script_js=SCRIPT.replace("THRESHOLDS", "{ http_reqs: ['count>1'] }").split("export function handle")[0])
    (cli.folder / "script.js").write_text((cli.folder / "script.js").read_text().replace("URL", REFUSED))
    done = cli("run", "-q", "script.js")
    assert done.returncode == 99 and "✗ 'count>1' no request was answered\n" in done.stdout


@pytest.mark.timeout(60)
def test_of_what_handle_summary_returns_all_that_can_be_written_is(cli: Cli) -> None:
    files = "{ 'no/such/a.json': '{}', 'b.json': '{}', '\\u0000': 'x', stdout: 'a text' }"
    cli.write(script_js=f"export default function () {{}}\nexport function handleSummary() {{ return {files}; }}\n")
    done = cli("run", "-q", "script.js")
    assert done.returncode == 2 and done.stdout == "a text" and (cli.folder / "b.json").read_text() == "{}"
    assert "cannot write 'no/such/a.json': there is no folder no/such" in done.stderr and "Traceback" not in done.stderr
    assert "run directory: " in done.stderr


@pytest.mark.timeout(60)
def test_a_threshold_that_failed_says_more_than_a_file_that_cannot_be_written(cli: Cli) -> None:
    cli.write(
        script_js="export const options = { thresholds: { iterations: ['count>5'] } };\n"
        "export default function () {}\nexport function handleSummary() { return { 'no/such/a.json': '{}' }; }\n"
    )
    done = cli("run", "-q", "script.js")
    assert done.returncode == 99 and "there is no folder no/such" in done.stderr
