"""A target that never answers: no response time is shown, nobody else is blamed, and the advice is of the cause."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from plimsoll.cli.app import app
from plimsoll.errors import TargetError
from plimsoll.experiments.steps.measure import Measurement
from plimsoll.experiments.target.control import TargetControl
from plimsoll.live.seconds import answers_of
from plimsoll.report.finding_view import view
from plimsoll.report.html import write_html
from plimsoll.report.k6.summary import summary_text
from plimsoll.report.text import answer_lines
from plimsoll.runs.histogram import Histogram
from plimsoll.runs.readings.endpoints import endpoints_of
from plimsoll.runs.readings.thresholds import settled
from plimsoll.runs.snapshot import Series, Snapshot
from plimsoll.runs.writer import RunFacts, RunWriter
from plimsoll.study.models import Target
from plimsoll.study.secrets.redactor import Redactor

REFUSED = {"scenario": "a", "name": "GET /x", "status": "0", "error_code": "1212"}
ANSWERED = {"scenario": "a", "name": "GET /x", "status": "500"}
WHY = "100% of the requests failed at the lowest level (0.5): 22 × connection refused."


def second(at: int, tags: dict[str, str]) -> Snapshot:
    times = Histogram.from_values([0.11, 0.12])
    return Snapshot(
        at, 1.79e9 + at, 1.0, planned=2, done=2,
        series=(
            Series.of_trend("http_req_response_time", tags, times),
            Series.of_trend("iteration_response_time", {"scenario": "a"}, times),
            Series("http_req_failed", "rate", tags, passes=2, total=2),
        ),
    )  # fmt: skip


@pytest.mark.parametrize(("tags", "has_times"), [(REFUSED, False), (ANSWERED, True)])
def test_a_request_that_was_refused_has_no_response_time(tags: dict[str, str], has_times: bool) -> None:
    """Seen: p50 0.17 ms in tables and charts of a port on which nobody listened."""
    measured = Measurement(1.0)
    measured.add(second(0, tags))
    assert (measured.response_ms(0.5) is not None) == has_times
    assert (answers_of(second(0, tags)).p95_ms is not None) == has_times
    for endpoint in endpoints_of([second(0, tags)]).to_json()["endpoints"]:
        assert (endpoint["p50_ms"] is not None) == (endpoint["mean_ms"] is not None) == has_times


def test_one_answer_among_refusals_is_a_response_time() -> None:
    measured = Measurement(1.0)
    measured.add(second(0, REFUSED))
    measured.add(second(1, ANSWERED))
    assert measured.response_ms(0.5) is not None


def run_of(folder: Path, tags: dict[str, str]) -> Path:
    with RunWriter.create(folder, RunFacts("capacity"), tables=False, redactor=Redactor()) as writer:
        writer.append_event("step_started", second=0.0, level=1.0, step_kind="hold")
        for at in range(6):
            writer.append_snapshot(second(at, tags))
        writer.append_event("step_ended", second=6.0, level=1.0, start_s=0.0, end_s=6.0, measured_from_s=0)
        writer.write_findings([finding()])
    return writer.path


@pytest.mark.parametrize(("tags", "shown"), [(REFUSED, False), (ANSWERED, True)])
def test_a_report_draws_and_tells_no_times_of_refusals(tmp_path: Path, tags: dict[str, str], shown: bool) -> None:
    page = write_html(run_of(tmp_path, tags)).read_text(encoding="utf-8")
    assert ("Response time over the load" in page) == shown
    tables = page.partition('<section id="operations">')[2].partition('<section id="time">')[0]
    assert "GET /x" in tables and ("0.12" in tables) == shown


def trend(**more: Any) -> dict[str, Any]:
    return {"type": "trend", "contains": "time", "values": {"avg": 0.119}, **more}


@pytest.mark.parametrize("mode", ["compact", "legacy"])
def test_a_summary_of_refusals_shows_no_response_time(mode: Any) -> None:
    """Seen: http_req_response_time avg=119.43µs beside "no request was answered"."""
    names = ("http_req_response_time", "http_req_duration", "http_req_duration{name:x}")
    metrics = {name: trend() for name in names} | {"iteration_duration": trend()}
    told = summary_text({"metrics": settled(metrics, nothing_answered=True, strict=False)}, mode)
    lines = [line for line in told.splitlines() if ":" in line and "iteration" not in line]
    assert len(lines) == 3 and all("no request was answered" in line for line in lines)
    assert "avg=119" in next(line for line in told.splitlines() if "iteration_duration" in line)
    answered = summary_text({"metrics": settled(metrics, nothing_answered=False, strict=False)}, mode)
    assert answered.count("avg=119") == 4


def finding(**about: Any) -> dict[str, Any]:
    told = {"question": "How much?", "answer": f"No capacity was measured. {WHY}", "valid": False, "status": "finished"}
    return {**told, "experiment": "compare", "invalid_because": [WHY], **about}


def test_nobody_but_the_target_is_blamed_for_its_silence(tmp_path: Path) -> None:
    """Seen: "load generator ✗ its host was disturbed" and "the target alone did not make this result"."""
    found = finding(generator={"healthy": True, "reasons": [], "words": "On one host."})
    [row] = view(found).decided
    assert (row.key, row.badge, row.words) == ("good", "✓ healthy", "On one host.")
    told = " ".join(answer_lines([found]).split())
    assert "target alone" not in told and "INVALID." in told and WHY in told
    with RunWriter.create(tmp_path, RunFacts("compare"), tables=False, redactor=Redactor()) as writer:
        writer.write_findings([found])
    assert "target alone" not in write_html(writer.path).read_text(encoding="utf-8")


def test_a_generator_that_spoilt_it_is_still_blamed() -> None:
    found = finding(generator={"healthy": False, "reasons": [WHY], "words": ""})
    [row] = view(found).decided
    assert (row.key, row.badge) == ("bad", "✗ its host was disturbed")
    assert "the target alone did not make this result" in answer_lines([found])


def failed(folder: Path) -> Path:
    with (
        pytest.raises(TargetError),
        RunWriter.create(folder, RunFacts("capacity"), tables=False, redactor=Redactor()) as writer,
    ):
        raise TargetError("the target was not ready within 10 s: it does not answer", "Start the target.")
    return writer.path


def test_a_run_whose_target_never_came_up_says_that_wherever_it_is_shown(tmp_path: Path) -> None:
    """Seen: only "failed", with the advice to analyze nothing, and "Run it again to its end"."""
    path = failed(tmp_path)
    shown = " ".join(CliRunner().invoke(app, ["runs", "show", "latest", "--runs", str(tmp_path)]).output.split())
    assert "not ready within 10 s: it does not answer. Start the target." in shown and "analyze" not in shown
    listed = CliRunner().invoke(app, ["runs", "list", "--runs", str(tmp_path)]).output
    assert "the target was not ready within 10 s" in listed
    page = write_html(path).read_text(encoding="utf-8")
    assert "it does not answer. Start the target." in page and "Run it again to its end" not in page
    assert "before anything was measured" in page


def test_a_run_that_ended_before_any_load_is_not_sent_to_analyze(tmp_path: Path) -> None:
    with RunWriter.create(tmp_path, RunFacts("capacity"), tables=False, redactor=Redactor()) as writer:
        writer.finish("interrupted")
    shown = CliRunner().invoke(app, ["runs", "show", "latest", "--runs", str(tmp_path)]).output
    assert "Nothing was measured" in shown and "analyze" not in shown


@pytest.mark.parametrize(
    ("target", "limit_s"),
    [
        ({"url": "http://127.0.0.1:9"}, 10),
        ({"url": "http://127.0.0.1:9", "ready": "/healthz"}, 10),
        ({"url": "http://127.0.0.1:9", "time_limits": {"ready_s": 45}}, 45),
        ({"url": "http://127.0.0.1:9", "start": "true"}, 60),
        ({"url": "http://127.0.0.1:9", "ready": "docker compose wait"}, 60),
    ],
)
def test_a_target_that_nothing_starts_is_waited_for_a_moment(
    tmp_path: Path, target: dict[str, Any], limit_s: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Seen: 60 s for a port that refused from the first moment, of a search of 45 s."""
    waited: list[float | None] = []
    monkeypatch.setattr(TargetControl, "start", lambda self: None)
    monkeypatch.setattr(TargetControl, "wait_ready", lambda self, limit_s=None: waited.append(limit_s))
    with TargetControl(Target.model_validate(target), tmp_path):
        pass
    assert waited == [limit_s]
