"""`plimsoll analyze` on results of a real run, made by our own engine in k6's form, whose truth is its own summary."""

from __future__ import annotations

import json
from collections.abc import Callable

import pytest
from command_line import Cli, assert_one_clear_message

from plimsoll.verbs.analysis import AnalysisChoices, analyze

SCRIPT = """
import http from 'k6/http';
export const options = { scenarios: { shop: { executor: 'ramping-vus', startVUs: 1, gracefulRampDown: '0s', stages: [
  { duration: '6s', target: 1 }, { duration: '0s', target: 4 }, { duration: '6s', target: 4 } ] } } };
export default function () { http.get(`${__ENV.URL}`, { tags: { name: 'home' } }); }
"""
TABLE = "users,throughput (req/s),p95 (ms),db cpu (%)\n10,100,20,10\n20,198,22,20\n30,280,40,28\n40,285,190,29\n"


def test_samples_of_a_real_run_give_its_own_counts_and_levels(cli: Cli, known_server: Callable[..., str]) -> None:
    cli.write(script_js=SCRIPT)
    url = known_server("--service-ms", 5, "--constant")
    done = cli("run", "-q", "-e", f"URL={url}", "--out", "json=out.json", "--summary-export", "own.json", "script.js")
    assert done.returncode == 0, done.stderr
    own = json.loads((cli.folder / "own.json").read_text())["metrics"]
    objective = {"request": "home", "objective": "p90<=9s"}
    choices = AnalysisChoices(cli.folder / "runs", objectives=(objective,), report=False)
    [answer] = analyze([cli.folder / "out.json"], choices)
    levels, overview = answer.findings
    assert overview["totals"]["requests"] == own["http_reqs"]["count"]
    assert overview["totals"]["times_ms"]["p95"] == pytest.approx(own["http_req_duration"]["p(95)"], rel=0.01)
    assert {step["level"] for step in levels["steps"]} == {1, 4}
    assert levels["objectives"][0]["met_up_to"] == 4
    assert levels["capacity"]["good"] == 1 and levels["capacity"]["bad"] == 4  # one server: the first user fills it


def test_a_run_of_our_own_is_analysed_from_its_directory(cli: Cli, known_server: Callable[..., str]) -> None:
    cli.write(script_js=SCRIPT)
    url = known_server("--service-ms", 5, "--constant")
    done = cli("run", "-q", "-e", f"URL={url}", "--summary-export", "own.json", "script.js")
    assert done.returncode == 0, done.stderr
    own = json.loads((cli.folder / "own.json").read_text())["metrics"]
    [run] = cli.runs()
    done = cli("analyze", run, "--objective", "home: p90<=9s", "--objective", "max<=0.001ms", "--json")
    assert done.returncode in (3, 99), done.stderr
    generator, overview, levels = json.loads(done.stdout)
    assert generator["question"] == "Did the generator limit this run?"
    assert overview["totals"]["requests"] == own["http_reqs"]["count"]
    assert {step["level"] for step in levels["steps"]} == {1, 4}
    assert [one["verdict"] for one in levels["objectives"]] == ["met", "failed"]
    assert json.loads((run / "findings.json").read_text()) == [generator, overview, levels]
    assert "level-throughput" in (run / "report.html").read_text()
    refused = cli("analyze", run, "--model", "open", "--cores", "8")
    assert refused.returncode == 2 and "--model is for other tools' results" in refused.stderr


def test_a_table_of_levels_becomes_findings_a_report_and_an_exit_code(cli: Cli) -> None:
    (cli.folder / "levels.csv").write_text(TABLE)
    done = cli(
        "analyze", "levels.csv", "--objective", "p95<=100ms", "--budget", "db=80%", "--expected", "40", "--details"
    )
    assert done.returncode == 99, done.stderr
    words = "Throughput rises with the load up to 30 users (280/s) and flattens towards 40 users (285/s)"
    assert words in " ".join(done.stdout.split())  # 280 are 93.3% of three times 100
    assert "if demand per request stays" in done.stdout
    page = (cli.runs()[-1] / "report.html").read_text()
    assert "level-throughput" in page and "level-response" in page


@pytest.mark.parametrize(("expected", "code", "words"), [("100000", 99, "does not carry"), ("15", 0, "It carries")])
def test_an_expected_load_that_is_not_carried_is_no_success(cli: Cli, expected: str, code: int, words: str) -> None:
    (cli.folder / "levels.csv").write_text(TABLE)
    done = cli("analyze", "levels.csv", "--expected", expected)
    assert done.returncode == code and f"{words} the expected" in " ".join(done.stdout.split())


def test_the_answer_comes_before_what_the_source_cannot_tell(cli: Cli) -> None:
    (cli.folder / "levels.csv").write_text(TABLE)
    out = cli("analyze", "levels.csv", "--details").stdout
    assert out.index("Throughput rises with the load up to") < out.index("Cannot: A summary has no times")


@pytest.mark.parametrize(
    ("arguments", "what"),
    [
        (["missing.csv"], "missing.csv: cannot be read"),
        (["levels.csv", "--budget", "gc=80%"], "no such resource; it has db"),
        (["levels.csv", "--budget", "db=800%"], "is no share of a resource"),
        (["levels.csv", "--objective", "p95<=100"], "has no unit of time"),
        (["levels.csv", "--resources", "cpu.csv"], "has no times to put them beside"),
        (["levels.csv", "--resources", "levels.csv"], "no resource series that is known"),
        (["levels.csv", "--format", "csv"], "--format csv is not known"),
        (["levels.csv", "missing.csv", "other.csv"], "2 mistakes"),
    ],
)
def test_mistakes_end_with_one_message_and_leave_no_run(cli: Cli, arguments: list[str], what: str) -> None:
    (cli.folder / "levels.csv").write_text(TABLE)
    (cli.folder / "cpu.csv").write_text("time,db cpu (%)\n1790000000,10\n")
    done = cli("analyze", *arguments)
    assert done.returncode == 2 and what in done.stderr
    assert_one_clear_message(done.stderr)
    assert not cli.runs()
