"""A target that is down, dies, answers only errors or nothing: what is said, and what is kept."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from command_line import TESTKIT, Cli, assert_one_clear_message, seconds_written, wait_until

from plimsoll.runs.reader import RunReader

OPEN = """import http from 'k6/http';
export const options = { scenarios: { a: {
  executor: 'constant-arrival-rate', rate: 20, timeUnit: '1s', duration: '2s', preAllocatedVUs: 5, gracefulStop: '1s',
} } };
export default function () { http.get(__ENV.URL, { headers: { Authorization: 'Bearer wrong' } }); }
"""
CLOSED = """import http from 'k6/http';
import { sleep } from 'k6';
export const options = { vus: 4, duration: '60s' };
export default function () { http.get(__ENV.URL); sleep(0.005); }
"""
STUDY = """target: {{url: '{url}', time_limits: {{ready_s: 1}}}}
workload: {{script: script.js, operations: [{{name: a, exec: default, per_user_hour: 3600}}]}}
"""
DOWN = "http://127.0.0.1:9/"


@pytest.fixture
def mortal() -> Iterator[Callable[..., tuple[subprocess.Popen[str], str]]]:
    """A testkit server that the test may kill: (process, url). Those that it did not kill end with the test."""
    started: list[subprocess.Popen[str]] = []

    def start(*options: object) -> tuple[subprocess.Popen[str], str]:
        process = subprocess.Popen([str(TESTKIT), *map(str, options)], stdout=subprocess.PIPE, text=True)
        started.append(process)
        assert process.stdout is not None
        return process, process.stdout.readline().strip()

    yield start
    for process in started:
        process.kill()
        process.wait()


def assert_failed_with_cause(cli: Cli, runs: str, code: int, output: str, errors: str, *words: str) -> None:
    """Exit code 3, one answer with the cause and a next step, and a run directory that says the same."""
    assert code == 3, errors
    assert "Traceback" not in errors
    text = " ".join(output.split())
    assert "No capacity was measured." in text and "Next: " in text
    assert [word for word in words if word not in text] == [], text
    assert text.count("of the requests failed") <= 1 and "never saturated" not in text
    (run_directory,) = cli.runs(runs)
    assert RunReader(run_directory).state == "failed"
    assert (run_directory / "report.html").is_file()


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (None, ["40 × connection refused", "nothing listens there"]),
        (["--status", 500], ["40 × status 500", "target's log"]),
        (["--status", 401], ["40 × status 401", "valid token"]),
    ],
)
def test_run_says_why_requests_failed(
    cli: Cli, known_server: Callable[..., str], options: list[object] | None, words: list[str]
) -> None:
    cli.write(script_js=OPEN)
    url = DOWN if options is None else known_server(*options)
    done = cli("run", "-q", "-e", f"URL={url}", "script.js")
    # As k6: without a threshold failed requests fail nothing. Without any answer nothing was measured.
    assert done.returncode == (3 if options is None else 0) and "100.00%" in done.stdout
    assert [word for word in words if word not in done.stderr] == [], done.stderr
    assert done.stderr.count("requests failed") == 1


def test_capacity_of_a_script_names_what_the_target_answers(
    cli: Cli, known_server: Callable[..., str], hanging_url: str
) -> None:
    (cli.folder / "open.js").write_text(OPEN)
    (cli.folder / "closed.js").write_text(CLOSED)
    (cli.folder / "hasty.js").write_text(OPEN.replace("{ headers", "{ timeout: '1s', headers"))
    cases = {
        "down": ("open.js", DOWN, "connection refused", "nothing listens there"),
        "errors": ("open.js", known_server("--status", 500), "status 500", "target's log"),
        "token": ("closed.js", known_server("--status", 401), "status 401", "valid token"),
        "hanging": ("hasty.js", hanging_url, "no answer in time", "raise the script's timeout"),
    }
    searches = {
        name: cli.begin("capacity", "-q", "-e", f"URL={url}", "--runs", name, script)
        for name, (script, url, *_) in cases.items()
    }
    for name, search in searches.items():
        output, errors = search.communicate()
        assert_failed_with_cause(cli, name, search.returncode, output, errors, *cases[name][2:])


def test_capacity_of_a_study_tells_a_wrong_token_from_a_target_that_is_not_ready(
    cli: Cli, known_server: Callable[..., str], hanging_url: str
) -> None:
    cli.write(script_js=OPEN.replace("__ENV.URL", "__ENV.BASE_URL"))
    for url, said in (
        (DOWN, "does not answer"),
        (hanging_url, "timed out"),
    ):
        cli.write(study_yaml=STUDY.format(url=url))
        done = cli("capacity", "-q", "study.yaml")
        assert done.returncode == 3 and not done.stdout
        assert_one_clear_message(done.stderr)
        assert "was not ready within 1 s" in done.stderr and said in done.stderr and "target.time_limits" in done.stderr
        (run_directory,) = cli.runs()
        assert RunReader(run_directory).state == "failed"
        run_directory.rename(cli.folder / f"seen-{run_directory.name}")
    cli.write(study_yaml=STUDY.format(url=known_server("--status", 401)))
    done = cli("capacity", "-q", "study.yaml")
    assert_failed_with_cause(cli, "runs", done.returncode, done.stdout, done.stderr, "status 401", "valid token")


def test_a_run_whose_target_hangs_says_that_iterations_were_cut_off(cli: Cli, hanging_url: str) -> None:
    cli.write(script_js=OPEN)
    done = cli("run", "-q", "-e", f"URL={hanging_url}", "script.js")
    assert "40 of 40 iterations were cut off before their end" in done.stderr and "hangs" in done.stderr


def test_a_target_that_dies_in_the_middle_ends_the_search_with_what_it_carried_before(
    cli: Cli, mortal: Callable[..., tuple[subprocess.Popen[str], str]]
) -> None:
    targets = [mortal("--service-ms", 2), mortal("--service-ms", 2)]
    searches = []
    for name, text, (_, url) in zip(("open", "closed"), (OPEN, CLOSED), targets, strict=True):
        (cli.folder / f"{name}.js").write_text(text)
        searches.append(cli.begin("capacity", "-q", "-e", f"URL={url}", "--runs", name, f"{name}.js"))
    for name, (target, _) in zip(("open", "closed"), targets, strict=True):
        run_directory = wait_until(lambda name=name: cli.runs(name), "a run directory")[0]
        wait_until(lambda path=run_directory: RunReader(path).events("step_ended"), "a step that has ended")
        target.kill()
        target.communicate()
    for name, search in zip(("open", "closed"), searches, strict=True):
        output, errors = search.communicate()
        assert search.returncode == 3, errors
        text = " ".join(output.split())
        assert "no longer answers after level" in text and "connection refused" in text and "It did up to" in text
        probes = "host, generator, network"  # whose rows the answer rests on
        assert "why it stopped answering" in text and "generator" not in text.replace(probes, "")
        (run_directory,) = cli.runs(name)
        assert json.loads((run_directory / "findings.json").read_bytes())[0]["status"] == "failed"


def test_a_target_that_dies_during_run_leaves_both_halves(
    cli: Cli, mortal: Callable[..., tuple[subprocess.Popen[str], str]], tmp_path: Path
) -> None:
    target, url = mortal()
    cli.write(script_js=OPEN.replace("'2s'", "'5s'"))
    running = cli.begin("run", "-q", "-e", f"URL={url}", "script.js")
    run_directory = wait_until(cli.runs, "a run directory")[0]
    wait_until(lambda: seconds_written(run_directory) >= 2, "two seconds of load")
    target.kill()
    target.communicate()
    _, errors = running.communicate()
    assert running.returncode == 0 and "connection refused" in errors
    failed, requests = RunReader(run_directory).rate("http_req_failed")
    assert 0 < failed < requests


def test_a_run_without_an_answer_or_without_its_load_says_so_first(cli: Cli, known_server: Callable[..., str]) -> None:
    """Seen: exit 0 and `✓ p(99)<200` on a refused port; 310 of 500/s told below other warnings."""
    cli.write(
        script_js=CLOSED.replace("duration: '60s'", "duration: '1s', thresholds: { http_req_duration: ['p(99)<200'] }")
    )
    refused = cli("run", "-q", "-e", f"URL={DOWN}", "script.js")
    assert refused.returncode == 99 and "✗ 'p(99)<200' no request was answered" in refused.stdout
    without = cli("run", "-q", "--no-thresholds", "-e", f"URL={DOWN}", "script.js")
    assert without.returncode == 3
    (_, last) = cli.runs()
    [finding] = json.loads((last / "findings.json").read_text())
    assert finding["answer"].startswith("No request was answered (") and not finding["valid"]

    url = known_server("--servers", 0, "--service-ms", 100)
    cli.write(short_js=OPEN.replace("rate: 20", "rate: 200").replace("preAllocatedVUs: 5", "maxVUs: 5"))
    short = cli("run", "-q", "-e", f"URL={url}", "short.js")
    warnings = [line for line in short.stderr.splitlines() if line.startswith("warning: ")]
    assert warnings[0].startswith("warning: the load was not made: asked for 200 iterations/s, reached "), short.stderr
