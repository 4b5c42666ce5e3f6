"""Who calls whom, from what probes of sockets saw in the step of the limit, and nothing where they saw no call."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import synthetic_run

from plimsoll.report import page
from plimsoll.report.html import render
from plimsoll.report.run_evidence import RunEvidence, read_run
from plimsoll.report.steps import Step, step_of_limit
from plimsoll.report.topology import Edge, Node, topology_of

LIMITED = {"limited_by": {"kind": "cpu", "where": "target process db, its busiest thread", "resource": "db"}}
BAD_S = range(64, 74)  # of the step at 8,000 users


def sockets(second: int) -> dict[str, dict[str, Any]]:
    """App has ten calls to the database, of which all wait while the load is too much, and one to a cache elsewhere."""
    waits = 10.0 if second in BAD_S else 1.0
    database = {"connections_to_127.0.0.1:5432": 10.0, "awaiting_127.0.0.1:5432": waits}
    database["answered_by_127.0.0.1:5432"] = 10.0 - waits
    app = {"connections_in": 12.0, "requests_inside": 10.0, "requests_answered": 2.0, "listens_on_8080": 1.0}
    return {
        "sockets:app": {**app, **database, "connections_to_10.0.0.9:6379": 1.0, "connections_out": 11.0},
        "sockets:db": {"connections_in": 10.0, "listens_on_5432": 1.0},
        "process:app": {"cpu_cores_used": 0.25},
        "process:db": {"cpu_cores_used": 0.98},
    }


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> RunEvidence:
    path = synthetic_run.write_run(tmp_path_factory.mktemp("runs") / "run")
    with (path / "resources.jsonl").open("a") as file:
        for second in range(100):
            for source, values in sockets(second).items():
                file.write(json.dumps({"t_unix": 0, "second": second, "source": source, "values": values}) + "\n")
    return read_run(path)


def test_the_generator_calls_the_service_and_this_the_database_which_is_the_limit(run: RunEvidence) -> None:
    found = topology_of(run, LIMITED, "users")
    assert found is not None and run.looked_at is not None
    assert (run.looked_at.level, run.looked_at.verdict) == (8000, "bad")
    assert found.when == f"At 8,000 users, mean of the step from {BAD_S.start} to {BAD_S.stop} s."
    [to_app] = found.root.calls
    requests = sum(tally.count for tally in run.looked_at.requests.values()) / run.looked_at.measured_s
    assert found.root.facts == (f"{requests:.0f} requests/s",)
    assert (to_app.words, to_app.to.name, to_app.to.facts) == ("12 connections", "app", ("0.25 cores",))
    to_db, to_cache = to_app.to.calls
    assert (to_db.words, to_db.is_waited_for) == ("10 connections, 100% wait for an answer", True)
    assert to_db.to == Node("db", ("127.0.0.1:5432", "0.98 cores"), is_limit=True)
    assert to_cache == Edge("1 connection", False, Node("10.0.0.9:6379"))
    assert found.limit == "What stops it: target process db, its busiest thread."


@pytest.mark.parametrize(("waiting", "words", "is_waited_for"), [(9.0, "90%", True), (1.0, "10%", False)])
def test_a_call_that_most_of_the_work_waits_for_is_marked(
    run: RunEvidence, waiting: float, words: str, is_waited_for: bool
) -> None:
    app = run.means["sockets:app"]
    app = {**app, "awaiting_127.0.0.1:5432": waiting, "answered_by_127.0.0.1:5432": 10 - waiting}
    found = topology_of(replace(run, means={**run.means, "sockets:app": app}), {}, "users")
    assert found is not None and found.limit == ""
    [to_db, _] = found.root.calls[0].to.calls
    assert (to_db.words, to_db.is_waited_for) == (f"10 connections, {words} wait for an answer", is_waited_for)


def test_services_that_call_each_other_are_drawn_once(run: RunEvidence) -> None:
    back = {**run.means["sockets:db"], "connections_to_127.0.0.1:8080": 2.0}
    means = {
        **run.means,
        "sockets:db": back,
        "sockets:edge": {"connections_in": 3.0, "connections_to_127.0.0.1:8080": 3.0},
    }
    found = topology_of(replace(run, means=means), {}, "users")
    assert found is not None
    [edge] = found.root.calls
    assert edge.to.name == "edge" and edge.to.calls[0].to.name == "app"
    assert [call.to.name for call in edge.to.calls[0].to.calls] == ["db", "10.0.0.9:6379"]
    assert edge.to.calls[0].to.calls[0].to.calls == ()


def test_without_a_call_there_is_no_figure(run: RunEvidence, tmp_path: Path) -> None:
    plain = read_run(synthetic_run.write_run(tmp_path / "run"))
    assert page.build(plain).topology is None and topology_of(replace(run, looked_at=None), LIMITED, "users") is None
    assert "Who calls whom" not in render(plain, lambda _: "", lambda: "")


def test_the_page_marks_the_limit_in_words(run: RunEvidence) -> None:
    text = render(replace(run, findings=[{**run.findings[0], **LIMITED}]), lambda _: "", lambda: "")
    figure = text[text.index('<figure class="calls"') :]
    figure = figure[: figure.index("</figure>")]
    assert figure.count("✗ the limit") == 1 and figure.index("<strong>app") < figure.index("<strong>db")
    assert figure.index("<strong>db") < figure.index("✗ the limit") < figure.index("<strong>10.0.0.9:6379")


def test_the_step_that_says_most_of_the_limit_is_one_that_was_too_much() -> None:
    steps = [Step(9, 0, 5, verdict="bad"), Step(8, 5, 20, verdict="bad"), Step(10, 20, 80, verdict="undecided")]
    assert step_of_limit(steps) is steps[1] and step_of_limit(steps[2:]) is steps[2] and step_of_limit([]) is None
