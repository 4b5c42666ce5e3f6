"""What the script's own metrics said at each load, from runs whose counts are drawn from a known truth."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from capacity_runs import DEMAND_S, FACTS, closed_throughput, step
from findings_as_json import checked

from plimsoll.findings.beside.further import findings_beside
from plimsoll.findings.beside.script_metrics import QUESTION
from plimsoll.findings.capacity.finding import capacity_findings
from plimsoll.report.text import answer_lines, table_lines
from plimsoll.runs import Histogram, RunFacts, RunReader, RunWriter, Series, Snapshot
from plimsoll.runs.format.lines import read_lines, unpacked
from plimsoll.runs.snapshot import ScriptMetric
from plimsoll.study.secrets.redactor import Redactor

OWN = (
    ScriptMetric("links_created", "counter"),
    ScriptMetric("kept_share", "rate"),
    ScriptMetric("calls_each", "trend"),
    ScriptMetric("rendering", "trend", True),
    ScriptMetric("queue_length", "gauge"),
    ScriptMetric("never_used", "counter"),
)
LINKS_EACH, KEPT, CALLS, RENDER_MS = 0.93, 0.4, 3.0, 50.0


def second_of(random: np.random.Generator, second: int, done: int, *, first: bool) -> Snapshot:
    """`done` iterations, each of which counts a link in 93 of 100 cases, under two tags."""
    tags = ({"scenario": "one"}, {"scenario": "two", "of": "rm-cm"})
    parts = [int(random.binomial(done, 0.5))]
    parts.append(done - parts[0])
    series: list[Series] = []
    for of, count in zip(tags, parts, strict=True):
        series.append(Series("links_created", "counter", of, value=float(random.binomial(count, LINKS_EACH))))
        series.append(Series("kept_share", "rate", of, passes=int(random.binomial(5 * count, KEPT)), total=5 * count))
        calls, times = random.poisson(CALLS, count), random.exponential(RENDER_MS, count)
        series.append(Series.of_trend("calls_each", of, Histogram.from_values(calls)))
        series.append(Series.of_trend("rendering", of, Histogram.from_values(times)))
    series.append(Series("queue_length", "gauge", {}, value=float(second), min=0.0, max=float(second + 1)))
    own = OWN if first else ()
    return Snapshot(second, 1e9 + second, done=done, series=tuple(series), script_metrics=own)


def capacity_run(
    folder: Path, levels, length_s: int = 20, *, is_open: bool = False, bad: float | None = 90.0
) -> RunReader:
    """Steps of a closed queue of known throughput, one behind the other, with 2 s of warm-up that count otherwise."""
    random = np.random.default_rng(7)
    writer = RunWriter.create(folder, RunFacts("capacity", t0_unix=1e9), tables=False, redactor=Redactor())
    steps, second = [], 0
    with writer:
        for at, users in enumerate(levels):
            per_s = closed_throughput(users)
            for place in range(length_s + 2):
                done = 1000 if place < 2 else int(random.poisson(per_s))
                writer.append_snapshot(second_of(random, second, done, first=second == 0))
                second += 1
            verdict = "bad" if bad and users >= bad else "good"
            window = {"start_s": second - length_s - 2, "measured_from_s": second - length_s, "end_s": second}
            steps.append({**step(at, float(users), per_s, verdict), **window})
        good = max(float(users) for users in levels if bad is None or users < bad)
        facts = {**FACTS, "open": is_open, "good": good, "bad": bad, "steps": steps}
        writer.append_event("capacity_result", result=facts)
    return RunReader(writer.path)


def told_by(run: RunReader) -> dict[str, Any]:
    main = capacity_findings(run.events("capacity_result")[-1]["result"], run, run_path=str(run.path))
    [found] = [one for one in checked(findings_beside(run, main)) if one["question"] == QUESTION]
    return found


@pytest.fixture(scope="module")
def finding(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    return told_by(capacity_run(tmp_path_factory.mktemp("runs"), [2, 8, 32, 64, 90, 128]))


def entry_of(finding: dict[str, Any], name: str) -> dict[str, Any]:
    [found] = [one for one in finding["script_metrics"] if one["metric"] == name]
    return found


def holds(interval, truth: float) -> bool:
    return interval[0] <= truth <= interval[1]


def test_a_counter_is_told_per_second_hour_and_iteration_at_each_level(finding: dict[str, Any]) -> None:
    links = entry_of(finding, "links_created")
    assert (links["kind"], links["unit"]) == ("counter", "no unit")
    assert [row["load"] for row in links["loads"]] == [f"{users} users" for users in (2, 8, 32, 64, 90, 128)]
    for row in links["loads"]:
        truth = LINKS_EACH * closed_throughput(round(row["level"]))
        assert row["seconds"] == 20, "the warm-up does not count"
        assert row["per_hour"] == pytest.approx(3600 * row["per_s"]) == pytest.approx(3600 * row["counted"] / 20)
        assert row["per_s"] == pytest.approx(truth, rel=0.35)
    rows = links["loads"]
    assert sum(holds(row["per_s_interval"], LINKS_EACH * closed_throughput(round(row["level"]))) for row in rows) >= 5
    assert sum(holds(row["per_iteration_interval"], LINKS_EACH) for row in rows) >= 5


def test_the_ceiling_of_a_counter_is_what_the_plateau_brings(finding: dict[str, Any]) -> None:
    ceiling = entry_of(finding, "links_created")["ceiling"]
    truth = 3600 * LINKS_EACH / DEMAND_S
    assert holds(ceiling["per_hour_interval"], truth) and ceiling["per_hour"] == pytest.approx(truth, rel=0.05)
    assert ceiling["from_level"] == 64 and ceiling["means"] == "however many users there are"
    assert "links_created: " in finding["answer"] and ") at 2 users; " in finding["answer"]
    assert ") at 128 users; at most 33" in finding["answer"]
    assert "an hour at the plateau (95%: " in finding["answer"]


def test_a_rate_is_a_share_and_a_trend_a_mean_with_p95_in_its_unit(finding: dict[str, Any]) -> None:
    shares = entry_of(finding, "kept_share")["loads"]
    assert sum(holds(row["share_interval"], KEPT) for row in shares) >= 5
    assert all(row["share"] == row["passes"] / row["values"] for row in shares)
    plain, times = entry_of(finding, "calls_each"), entry_of(finding, "rendering")
    assert (plain["unit"], times["unit"]) == ("no unit", "ms")
    assert sum(holds(row["mean_interval"], RENDER_MS) for row in times["loads"]) >= 5
    top = times["loads"][-1]
    assert top["p95"] == pytest.approx(RENDER_MS * np.log(20), rel=0.15) and holds(top["p95_interval"], top["p95"])
    assert finding["units"]["script_metrics[].loads[].mean"] == "named by script_metrics[].unit"
    assert finding["units"]["script_metrics[].loads[].per_hour"] == "1/h"


def test_a_gauge_is_its_last_value_and_what_was_never_recorded_is_named(finding: dict[str, Any]) -> None:
    last = entry_of(finding, "queue_length")["loads"][-1]
    assert (last["last"], last["least"], last["most"]) == (131.0, 0.0, 132.0)
    assert "never_used" not in [one["metric"] for one in finding["script_metrics"]]
    assert any("never_used was not recorded" in note for note in finding["notes"])


def test_terminal_and_tables_show_it(finding: dict[str, Any]) -> None:
    words = answer_lines([finding])
    assert QUESTION in words and "1 more has a table in the report." in words.replace("\n    ", " ")
    tables = table_lines([finding])
    assert "rendering, trend, in ms" in tables and "An hour" in tables and "At most 33" in tables


def test_arrivals_and_levels_below_the_plateau_have_no_ceiling(tmp_path: Path) -> None:
    opened = told_by(capacity_run(tmp_path, [2, 8, 32], is_open=True, bad=32.0))
    assert entry_of(opened, "links_created")["ceiling"] is None
    rising = told_by(capacity_run(tmp_path, [2, 8, 16], bad=None))
    assert entry_of(rising, "links_created")["ceiling"] is None and "at most" not in rising["answer"]


def test_steps_of_some_seconds_tell_values_and_why_there_is_no_interval(tmp_path: Path) -> None:
    found = told_by(capacity_run(tmp_path, [2, 8], length_s=5, bad=None))
    row = entry_of(found, "links_created")["loads"][0]
    assert row["per_s"] > 0 and row["per_s_interval"] is None and "10 are needed" in row["why_no_interval"]
    assert any("no interval at 2 users; 8 users: only 5 batches" in note for note in found["notes"])


def test_a_script_without_metrics_of_its_own_has_no_such_finding(tmp_path: Path) -> None:
    run = capacity_run(tmp_path, [2, 8], bad=None)
    file = run.path / "series.jsonl.zst"
    lines = unpacked(file).splitlines(keepends=True)
    file.write_bytes(b"".join(line for line in lines if b"script_metrics" not in line))
    main = capacity_findings(run.events("capacity_result")[-1]["result"], run)
    assert findings_beside(run, main) == []


def test_a_run_of_minutes_says_the_same_from_its_columns(tmp_path: Path) -> None:
    run = capacity_run(tmp_path, [2, 8, 32, 64, 90, 128])
    blocks = list(read_lines(run.path / "minutes.jsonl.zst"))
    kept = {one["metric"] for block in blocks for one in block["metrics"]}
    assert {"calls_each", "rendering"} <= kept and not any(block["left_out"] for block in blocks)
    fast = told_by(run)
    (run.path / "minutes.jsonl.zst").unlink()
    assert told_by(RunReader(run.path)) == fast
