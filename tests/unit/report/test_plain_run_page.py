"""The report of a plain run: what it did comes first, and says what the exit code says."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from synthetic_run import trend

from plimsoll.findings.outcome import outcome_of_note
from plimsoll.findings.run import run_finding
from plimsoll.report import page
from plimsoll.report.columns import WIDEST as WIDTH
from plimsoll.report.html import render
from plimsoll.report.k6.outcome import outcome_rows, views_of
from plimsoll.report.run_evidence import RunEvidence, read_findings, read_run
from plimsoll.report.screen import MOST_LINES, screen
from plimsoll.report.text import answer_lines
from plimsoll.report.time_charts import Chart
from plimsoll.runs.readings.generator_seconds import GeneratorSeconds
from plimsoll.runs.writer import RunFacts, RunWriter
from plimsoll.study.secrets.redactor import Redactor

LASTED_S = 4.03


LINES = ("time-throughput", "time-response", "time-backlog", "time-errors")


def rows_of(chart: Chart) -> list[dict[str, Any]]:
    """The rows behind its lines."""
    found = [one["data"]["values"] for one in chart.specification["layer"]]
    return [row for rows in found for row in rows if "series" in row]


def threshold(verdict: str, observed: float | None = None, **own: Any) -> dict[str, Any]:
    return {"verdict": verdict, "ok": verdict == "passed", "observed": observed, **own}


NOTE: dict[str, Any] = {
    "summary": {
        "http_reqs": {"type": "counter", "contains": "default", "values": {"count": 165, "rate": 165 / LASTED_S}},
        "http_req_failed": {
            "type": "rate", "contains": "default", "values": {"rate": 3 / 165, "passes": 3, "fails": 162},
            "thresholds": {"rate<0.1": threshold("passed", 3 / 165)},
        },
        "http_req_duration": {
            "type": "trend", "contains": "time", "values": {"p(95)": 612.0, "max": 900.0},
            "thresholds": {"p(95)<500": threshold("failed", 612.0)},
        },
        "http_req_duration{name:x}": {
            "type": "trend", "contains": "time", "values": {},
            "thresholds": {"avg<1": threshold("undecided", why="no data")},
        },
        "checks": {"type": "rate", "contains": "default", "values": {"rate": 37 / 40, "passes": 37, "fails": 3}},
    },
    "threw": 0,
    "lasted_s": LASTED_S,
    "checks": [
        {"name": "has items", "group": "::cart", "passes": 17, "fails": 3},
        {"name": "status is 200", "group": "", "passes": 20, "fails": 0},
    ],
    "causes": {"status 500": 2, "connection reset": 1},
}  # fmt: skip


def second(number: int, count: int, vus: int = 2) -> dict[str, Any]:
    tags = {"scenario": "default", "name": "/", "status": "200"}
    series = [
        {"metric": "http_reqs", "kind": "counter", "tags": tags, "value": count},
        {"metric": "iterations", "kind": "counter", "tags": tags, "value": count},
        {"metric": "http_req_failed", "kind": "rate", "tags": tags, "passes": 0, "total": count},
        trend("http_req_duration", tags, [10.0] * count),
        trend("iteration_duration", tags, [10.0] * count),
    ]
    counts = {"planned": count, "started": count, "done": count}
    return {"second": number, "level": 1.0, "vus": vus, "vus_max": 2, **counts, "series": series}


def written(root: Path, counts: tuple[int, ...], note: dict[str, Any] | None, finished: bool = True) -> Path:
    """A run of so many iterations in each second; with its finding if it has a note."""
    writer = RunWriter.create(root, RunFacts("run", level_unit="multiple"), tables=False, redactor=Redactor())
    facts = GeneratorSeconds()
    for number, count in enumerate(counts):
        writer.append_snapshot(second(number, count))
        facts.seconds += 1
    if note is not None:
        writer.append_event("note", second=0.0, **note)
        writer.write_findings([{**run_finding(facts), "outcome": outcome_of_note(note)}])
    if finished:
        writer.finish()
    return writer.path


def evidence(root: Path, counts: tuple[int, ...], note: dict[str, Any]) -> RunEvidence:
    return read_run(written(root, counts, note))


def test_the_first_screen_has_a_row_for_each_threshold_checks_requests_and_generator_the_worst_first(
    tmp_path: Path,
) -> None:
    """Seen: the report of a run that ended with 99 began with "Did the generator limit this run? No"."""
    [first, generator] = views_of(read_findings(written(tmp_path, (41, 41, 41, 40, 2), NOTE)))
    assert [(row.subject, row.badge, row.words) for row in first.decided[:-1]] == [
        ("http_req_duration p(95)<500", "✗ failed", "p(95) was 612 ms."),
        ("checks", "✗ 3 of 40 failed", "has items (cart): 3 of 20"),
        ("requests", "✗ 3 of 165 failed", "2 × status 500, 1 × connection reset"),
        ("http_req_duration{name:x} avg<1", "? no data", "It saw no sample, so it neither passed nor failed."),
        ("http_req_failed rate<0.1", "✓ passed", "rate was 1.8%."),
    ]
    assert (first.decided[-1].subject, first.decided[-1].badge) == ("load generator", "✓ healthy")
    assert first.answer.startswith("1 of 3 thresholds failed, 1 had no data. 165 requests, 40.9/s, 1.8% failed, p95 ")
    assert generator.question == "Did the generator limit this run?" and not generator.decided


def test_the_page_shows_them_before_anything_else(tmp_path: Path) -> None:
    text = render(evidence(tmp_path, (41, 41, 41, 40, 2), NOTE), lambda _: "", lambda: "")
    body = text.split("<main>")[1]
    assert body.index("✗ failed") < body.index("✗ 3 of 40 failed") < body.index("✓ healthy")
    assert body.index("✓ healthy") < body.index("Did the generator limit this run?")
    assert "http_req_duration<wbr>{name:x} avg&lt;1" in body


@pytest.mark.parametrize(
    ("key", "value", "row"),
    [
        ("requests", 0, None),
        ("failed", 0, ("requests", "✓ none of 165 failed")),
        ("checks", [], None),
        ("checks", [{"name": "a", "group": "", "passes": 7, "fails": 0}], ("checks", "✓ all 7 passed")),
        ("checks", [{"passes": 4, "fails": 1}], ("checks", "✗ 1 of 5 failed")),  # as runs of before 0.3 have them
        ("ended_by_script", "aborted by the script: no", ("end of the run", "✗ by the script")),
    ],
)
def test_each_row_says_what_was_counted(key: str, value: Any, row: tuple[str, str] | None) -> None:
    rows = [(one.subject, one.badge) for one in outcome_rows({**outcome_of_note(NOTE), key: value})]
    told = [one for one in rows if one[0] in ("checks", "requests", "end of the run")]
    assert (row in told) if row else (len(told) == 1), told


def test_of_many_thresholds_that_passed_few_have_a_row_and_none_that_failed_is_folded() -> None:
    many = [{"metric": f"m{at}", "rule": "count>1", "verdict": "passed", "observed": 2.0} for at in range(9)]
    bad = [{"metric": f"b{at}", "rule": "count>1", "verdict": "failed", "observed": 1.0} for at in range(9)]
    rows = outcome_rows({"thresholds": [*many, *bad]})
    assert [row.badge for row in rows] == ["✗ failed"] * 9 + ["✓ passed"] * 4
    assert rows[-1].subject == "6 other thresholds" and "m8 count>1" in rows[-1].words


@pytest.mark.parametrize(
    ("own", "badge", "words"),
    [
        ({"verdict": "failed", "why": "no request was answered", "observed": 0.0}, "✗ failed",
         "No request was answered."),
        ({"verdict": "failed", "why": "no data"}, "✗ failed", "No data."),
        ({"verdict": "failed", "why": "it ended the run", "observed": 3.0, "unit": "ms"}, "✗ failed",
         "p(95) was 3 ms at the end; it ended the run before."),
        ({"verdict": "failed", "observed": 2e6, "unit": "bytes"}, "✗ failed", "p(95) was 1.91 MiB."),
    ],
)  # fmt: skip
def test_a_threshold_that_failed_says_why(own: dict[str, Any], badge: str, words: str) -> None:
    [row] = outcome_rows({"thresholds": [{"metric": "m", "rule": "p(95)<5", **own}]})
    assert (row.badge, row.words) == (badge, words)


def test_one_rate_is_said_over_one_length(tmp_path: Path) -> None:
    """Seen: 33.2/s over 5 s in the report and 41.3/s over 4 s on the terminal of one run."""
    run = evidence(tmp_path, (41, 41, 41, 40, 2), NOTE)
    content = page.build(run)
    assert [row["rate"] for table in content.whole_run for row in table.rows] == ["40.9", "40.9"]
    assert "40.9/s" in content.findings[0].answer and content.tallies == []
    assert content.whole_run[0].note == "Rates are over 4.03 s."
    assert " · 4 s · " in content.subtitle and ("Rates are over", "4.03 s") in content.findings[0].facts
    assert dict(content.measured)["Recorded for"] == "4 s"
    [done] = [chart for chart in content.charts if chart.key == "time-throughput"]
    rates = [(row["t"], row["value"]) for row in rows_of(done) if row["series"] == "done"]
    assert rates == [(0, 41), (3, pytest.approx(42 / 1.03, rel=1e-5)), (4.03, pytest.approx(42 / 1.03, rel=1e-5))]


def test_the_length_of_a_run_of_before_is_that_of_its_rates(tmp_path: Path) -> None:
    old = {"summary": NOTE["summary"], "threw": 0}
    assert outcome_of_note(old)["lasted_s"] == pytest.approx(LASTED_S)


@pytest.mark.parametrize(("counts", "lasted_s"), [((7,), 0.35), ((7, 7), 1.9), ((7, 1), 1.01)])
def test_every_line_of_a_short_run_is_drawn_to_its_end(
    tmp_path: Path, counts: tuple[int, ...], lasted_s: float
) -> None:
    """Seen: empty boxes of a run of less than a second; and the last second of each run was never drawn."""
    content = page.build(evidence(tmp_path, counts, {**NOTE, "lasted_s": lasted_s}))
    charts = [chart for chart in content.charts if chart.key in LINES]
    assert {"time-throughput", "time-response", "time-backlog"} <= {chart.key for chart in charts}
    for chart in charts:
        rows = rows_of(chart)
        for name in {row["series"] for row in rows}:
            times = [row["t"] for row in rows if row["series"] == name]
            assert len(times) >= 2 and times[0] == 0 and times[-1] == lasted_s == max(times)
        assert chart.specification["params"][0] == {"name": "zoom", "value": [0, lasted_s]}


def test_a_run_of_an_earlier_version_has_the_rows_of_its_note(tmp_path: Path) -> None:
    run = written(tmp_path, (41, 41, 41, 40, 2), {"summary": NOTE["summary"], "threw": 0})
    (run / "findings.json").write_text('[{"question": "Did the generator limit this run?", "answer": "No."}]')
    [first, _] = views_of(read_findings(run))
    badges = [row.badge for row in first.outcome]
    assert badges == ["✗ failed", "✗ 3 of 40 failed", "✗ 3 of 165 failed", "? no data", "✓ passed"]


def test_a_killed_run_shows_what_its_seconds_hold(tmp_path: Path) -> None:
    run = written(tmp_path, (41, 41, 41), None, finished=False)
    [finding] = read_findings(run)
    outcome = finding["outcome"]
    assert (outcome["requests"], outcome["requests_per_s"], outcome["lasted_s"]) == (123, 41, 3)
    assert outcome["words"].startswith("123 requests, 41/s, 0% failed, p95 10 ms. It did not reach its end")
    assert "outcome.requests_per_s" in finding["units"]


def test_the_terminal_has_the_same_rows_within_its_screen(tmp_path: Path) -> None:
    findings = read_findings(written(tmp_path, (41, 41, 41, 40, 2), NOTE))
    lines = screen(findings, None).splitlines()
    assert lines[0] == "What did it do?" and len(lines) <= MOST_LINES and max(map(len, lines)) <= WIDTH
    assert "  ✗ http_req_duration p(95)<500: failed. p(95) was 612 ms." in lines
    assert "  ✗ checks: 3 of 40 failed. has items (cart): 3 of 20" in lines
    assert "✓ http_req_failed rate<0.1: passed. rate was 1.8%." in answer_lines(findings)
    assert re.search(r"^  Did the generator limit this run\? No", "\n".join(lines), re.M)


def test_where_every_request_failed_the_first_chart_is_not_of_their_times(tmp_path: Path) -> None:
    """Seen beside "no request was answered": a chart of response times of 0.2 ms, those of refused connections."""
    writer = RunWriter.create(tmp_path, RunFacts("run", level_unit="multiple"), tables=False, redactor=Redactor())
    for number in range(3):
        refused = second(number, 5)
        refused["series"][2]["passes"] = 5
        writer.append_snapshot(refused)
    writer.append_event("note", second=0.0, **NOTE)
    healthy = {"answer": "No request was answered (15 were made). No.", "valid": False, "generator": {"healthy": True}}
    because = ["No request was answered (15 were made)."]
    writer.write_findings([{**healthy, "invalid_because": because, "outcome": outcome_of_note(NOTE)}])
    content = page.build(read_run(writer.path))
    assert [chart.key for chart in content.proof] == ["lead-time-errors"]
    [row] = [row for row in content.findings[0].decided if row.subject == "load generator"]
    assert (row.badge, row.words) == ("✓ healthy", "")


def test_an_axis_of_what_never_happened_begins_at_its_bottom(tmp_path: Path) -> None:
    content = page.build(evidence(tmp_path, (41, 41, 41, 40, 2), NOTE))
    [backlog] = [chart for chart in content.charts if chart.key == "time-backlog"]
    [scale] = [one["encoding"]["y"]["scale"] for one in backlog.specification["layer"] if "y" in one["encoding"]]
    assert scale == {"domain": [0, 1]}


def test_a_run_whose_load_was_scaled_keeps_its_levels(tmp_path: Path) -> None:
    """By `plimsoll control`, if only for two seconds, which are no step."""
    writer = RunWriter.create(tmp_path, RunFacts("run", level_unit="multiple"), tables=False, redactor=Redactor())
    for number, level in enumerate((1.0, 1.0, 1.0, 1.0, 2.0, 2.0)):
        writer.append_snapshot({**second(number, 5), "level": level})
    writer.append_event("note", second=0.0, **{**NOTE, "lasted_s": 6.0})
    content = page.build(read_run(writer.path))
    assert "time-level" in {chart.key for chart in content.over_time} and content.steps and content.tallies
