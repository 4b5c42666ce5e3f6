from __future__ import annotations

import json
from pathlib import Path

import pytest
import synthetic_run

from plimsoll.errors import RunDirectoryError
from plimsoll.report.level_charts import marks_of
from plimsoll.report.over_time.timeline import MOST_BINS, Bin, Resources, Timeline
from plimsoll.report.run_evidence import read_findings, read_run
from plimsoll.report.steps import steps_from_events, steps_from_findings, steps_from_levels
from plimsoll.report.tally import Tally
from plimsoll.runs import Histogram


def test_the_steps_of_a_finding_are_read_and_broken_entries_left_out() -> None:
    finding = {"steps": [{"level": 10, "start_s": 0, "end_s": 5, "verdict": "good"}, {"level": "many"}, None]}
    (step,) = steps_from_findings([{}, finding])
    assert (step.level, step.duration_s, step.verdict) == (10, 5, "good")


def test_an_ended_step_in_the_events_says_as_much_as_one_of_a_finding() -> None:
    events = [
        {"second": 0, "kind": "step_started", "level": 10},
        {"second": 5, "kind": "step_ended", "level": 10, "start_s": 0, "end_s": 5, "verdict": "bad", "p90_ms": 7.0},
    ]
    (step,) = steps_from_events(events, 9)
    assert (step.verdict, step.p90_ms, step.end_s) == ("bad", 7.0, 5)


def test_a_step_that_was_killed_lasts_until_the_last_second() -> None:
    (step,) = steps_from_events([{"second": 3, "kind": "step_started", "level": 10}], 9)
    assert (step.start_s, step.end_s, step.verdict) == (3, 9, "unknown")


def test_stretches_at_one_level_are_steps_and_pauses_are_not() -> None:
    levels = [(second, level) for second, level in enumerate([5, 5, 5, 0, 0, 0, 7, 7, 7, 7, 8])]
    assert [(step.level, step.start_s, step.end_s) for step in steps_from_levels(levels)] == [(5, 0, 3), (7, 6, 10)]


def test_a_load_that_changes_all_the_time_has_no_steps() -> None:
    assert steps_from_levels((second, 1 + second // 3) for second in range(900)) == []


def test_warm_up_counts_in_no_rate() -> None:
    (step,) = steps_from_findings([{"steps": [{"level": 1, "start_s": 0, "end_s": 5, "measured_from_s": 1}]}])
    step.planned = 40
    step.fill()
    assert step.planned_per_s == 10


def test_tallies_merge_to_what_seeing_all_values_gives() -> None:
    first, second = Tally(Histogram.from_values([1.0, 2.0]), 1, 2), Tally(Histogram.from_values([300.0]), 0, 1)
    first.merge(second)
    assert first.times == Histogram.from_values([1.0, 2.0, 300.0])
    assert (first.failed, first.judged, first.count) == (1, 3, 3)


def test_a_tally_without_samples_has_no_percentile() -> None:
    assert Tally().percentile_ms(0.9) is None
    assert Tally().error_share is None


def test_a_long_run_keeps_a_bounded_number_of_bins_and_every_count() -> None:
    timeline = Timeline()
    for second in range(10 * MOST_BINS + 7):
        timeline.add(Bin(second, seconds=1, planned=2, level=second))
    assert len(timeline.bins) <= MOST_BINS
    assert sum(item.planned for item in timeline.bins) == 2 * (10 * MOST_BINS + 7)
    assert timeline.bins[-1].level == 10 * MOST_BINS + 6


def test_resources_of_a_long_run_keep_their_mean() -> None:
    resources = Resources()
    for second in range(5 * MOST_BINS):
        resources.add(second, "host", {"cpu_share": second % 2, "note": "text", "up": True})
    points = resources.points("host", "cpu_share")
    assert len(points) <= MOST_BINS + 1
    assert {value for _, value in points} == {0.5}
    assert set(resources.values["host"]) == {"cpu_share"}


def test_a_finished_run_shows_the_steps_of_its_finding(tmp_path: Path) -> None:
    run = read_run(synthetic_run.write_run(tmp_path / "run"))
    assert [step.level for step in run.steps] == [level for level, _, _ in synthetic_run.STEPS]
    assert run.operation_metric == "iteration_response_time"
    assert run.request_metric == "http_req_response_time"
    assert run.state == "finished"


def test_what_a_killed_run_measured_is_all_there(tmp_path: Path) -> None:
    whole = read_run(synthetic_run.write_run(tmp_path / "whole"))
    killed = read_run(synthetic_run.write_run(tmp_path / "killed", status="running", findings=False, torn=True))
    assert killed.state == "killed"
    assert killed.duration_s == whole.duration_s - 2
    assert [step.level for step in killed.steps] == [step.level for step in whole.steps]
    assert all(step.p90_ms is not None for step in killed.steps)
    for name, tally in killed.operations.items():
        assert 0 <= whole.operations[name].count - tally.count <= 100


def test_numbers_that_a_finding_lacks_come_from_the_seconds_of_the_step(tmp_path: Path) -> None:
    run_dir = synthetic_run.write_run(tmp_path / "run", findings=False)
    (run_dir / "events.jsonl").write_text('{"second": 28, "kind": "step_started", "level": 4000}\n', encoding="utf-8")
    (step,) = read_run(run_dir).steps
    assert step.planned_per_s is not None
    assert step.p50_ms is not None
    assert set(step.cpu) == {"host", "process:tracker", "generator"}


def test_a_folder_that_is_no_run_is_refused(tmp_path: Path) -> None:
    with pytest.raises(RunDirectoryError, match="not a run directory"):
        read_run(tmp_path)


def test_what_a_killed_capacity_run_proved_is_its_finding(tmp_path: Path) -> None:
    run_dir = synthetic_run.write_run(tmp_path / "run", status="running", findings=False)
    events = run_dir / "events.jsonl"
    ended = {"kind": "step_ended", "step_kind": "hold", "dropped": 0, "requests_per_s": 81.0, "measured_from_s": 41}
    steps = [
        {**ended, "second": 50, "level": 6000, "start_s": 40, "end_s": 50, "verdict": "good", "done_per_s": 80.9},
        {**ended, "second": 74, "level": 8000, "start_s": 64, "end_s": 74, "verdict": "bad", "done_per_s": 100.0},
    ]
    steps[1]["measured_from_s"] = 65
    events.write_text("".join(json.dumps(step) + "\n" for step in steps), encoding="utf-8")
    finding, *_ = read_findings(run_dir)
    assert (finding["capacity"]["good"], finding["capacity"]["bad"]) == (6000, 8000)
    assert finding["status"] == "interrupted"


def test_a_step_held_for_the_objectives_is_not_called_undecided() -> None:
    entry = {"level": 1, "start_s": 0, "end_s": 5, "step_kind": "expected", "verdict": "undecided"}
    (step,) = steps_from_findings([{"steps": [entry]}])
    assert step.verdict == "expected"


@pytest.mark.parametrize(
    ("kind", "given_up", "verdict"), [("probe", False, "behind"), ("probe", True, "bad"), ("hold", False, "bad")]
)
def test_a_short_step_is_not_drawn_as_a_level_that_is_not_carried(kind: str, given_up: bool, verdict: str) -> None:
    """Seen: a cross "not carried" beside "at 6.4 times the declared load it fell behind in a probe, not held again"."""
    entry = {"level": 6.4, "start_s": 0.0, "end_s": 8.0, "step_kind": kind, "verdict": "bad", "given_up": given_up}
    [step] = steps_from_findings([{"steps": [entry]}])
    assert step.verdict == verdict
    assert marks_of({}, {}, [step]).bad == (None if verdict == "behind" else 6.4)
