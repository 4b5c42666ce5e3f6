"""The published figures of the YouTrack report (lab/studies/youtrack/published-*.csv).

Each conclusion of the author is reproduced, contradicted with the reason, or "figure not published"."""

from __future__ import annotations

import re
from typing import Any

import pytest
from published_figures import STUDIES, figures, rows

from plimsoll.findings.imported.table_levels import levels_finding
from plimsoll.report.k6.summary import summary_text
from plimsoll.runs.importers import level_table
from plimsoll.runs.importers.lines import SourceFile
from plimsoll.runs.readings.step_table import Row
from plimsoll.stats.throughput.littles_law import think_time_s

STUDY = STUDIES / "youtrack"
MODEL = figures("youtrack")
REQUESTS = (
    "GET /issues", "GET /search/assist", "GET /sortedIssues", "POST /commands", "POST /commands/assist",
    "POST /issues", "POST /issuesGetter", "POST /users/me/drafts",
)  # fmt: skip
OPERATIONS = ("create", "update", "view", "search")


@pytest.fixture
def held() -> dict[str, Any]:
    """The finding of the hour with 100 users, with the author's objectives."""
    limits_ms = {method: MODEL[f"objective of {method}"] for method in ("GET", "POST")}
    wanted = [{"request": name, "objective": f"p90<={limits_ms[name.split()[0]]:g}ms"} for name in REQUESTS]
    return levels_finding(level_table.read(SourceFile(STUDY / "published-hold.csv")), wanted, expected=100)


@pytest.fixture
def upload() -> list[Row]:
    """The two parts of the upload."""
    return level_table.read(SourceFile(STUDY / "published-upload.csv")).rows


def per_s(part: Row) -> float:
    assert part.duration_s is not None
    return part.others["issues created"] / part.duration_s


def test_reproduced_three_objectives_fail_at_100_users(held: dict[str, Any]) -> None:
    failed = [one["request"] for one in held["objectives"] if one["verdict"] == "failed"]
    assert failed == ["POST /commands", "POST /issues", "POST /issuesGetter"]
    assert all(one["verdict"] in ("met", "failed") for one in held["objectives"])
    assert any("no interval" in note for note in held["notes"])  # one run


def test_reproduced_two_of_them_fail_for_one_user_too_so_load_is_not_the_cause(held: dict[str, Any]) -> None:
    from_one = [one["request"] for one in held["objectives"] if one["failed_from"] == 1]
    assert from_one == ["POST /issues", "POST /issuesGetter"]
    assert "at 1 user" in held["answer"]


def test_figure_not_published_the_capacity_of_170_users(held: dict[str, Any]) -> None:
    """17 minutes of a ramp to 300 users in 30 minutes; its three curves are charts."""
    assert MODEL["saturation after"] / MODEL["ramp"] * MODEL["users at the end of the ramp"] == MODEL["capacity"] == 170
    assert held["capacity"] is None and "the only level with a throughput is 100" in held["answer"]


def test_reproduced_the_upload_took_almost_three_times_as_long_as_the_first_rate_said(upload: list[Row]) -> None:
    took_s = sum(part.duration_s or 0 for part in upload)
    created = sum(part.others["issues created"] for part in upload)
    assert created == 100_003  # 35 more were interrupted
    expected_s = MODEL["issues to create"] / MODEL["rate at 27 thousand issues"]
    assert expected_s == pytest.approx(MODEL["time expected from the first rate"], abs=1)
    assert took_s / 60 == pytest.approx(160.7, abs=0.1)
    assert took_s / expected_s == pytest.approx(2.89, abs=0.01)


def test_contradicted_in_part_the_fall_from_30_to_5_per_s_is_also_that_of_the_users(upload: list[Row]) -> None:
    """The author took away 20 of 35 users half-way. Users think for 1 s, so by Little's law a create took 0.17 s at
    30/s of 35 users and 2 s at 5/s of 15: the target aged by more than six times, and 5/s is no longer its capacity."""
    thinking_s = MODEL["thinking of a user who uploads"]
    first, last = (part.level or 0 for part in upload)
    assert think_time_s(first, MODEL["rate at 27 thousand issues"], 0) - thinking_s == pytest.approx(0.167, abs=0.001)
    assert think_time_s(last, MODEL["rate at 127 thousand issues"], 0) - thinking_s == pytest.approx(2.0)
    means_s = [think_time_s(part.level or 0, per_s(part), 0) - thinking_s for part in upload]
    assert means_s == pytest.approx([0.90, 1.23], abs=0.01)


def test_contradicted_linear_ageing_between_the_printed_rates_would_have_taken_longer(upload: list[Row]) -> None:
    """1/30 s an issue at 27,200 and 1/5 s at 127,200, with a straight line between, give 4,390 s for the first part
    and 7,280 s for the second; it took 3,000 and 6,644. The law itself is a chart."""
    first, last = 1 / MODEL["rate at 27 thousand issues"], 1 / MODEL["rate at 127 thousand issues"]
    created = [part.others["issues created"] for part in upload]
    middle = first + (last - first) * created[0] / sum(created)
    straight = [(first + middle) / 2 * created[0], (middle + last) / 2 * created[1]]
    assert straight == pytest.approx([4391, 7276], abs=5)
    assert [s / (part.duration_s or 1) for s, part in zip(straight, upload, strict=True)] == pytest.approx(
        [1.46, 1.10], abs=0.01
    )


def test_reproduced_the_load_model_and_contradicted_that_it_was_run_as_planned() -> None:
    """Rates were rounded to whole numbers a minute: 20% more creates, 2% more searches. The ramp to 300 users shows
    that they were run so."""
    planned = {name: MODEL[f"{name} of 100 users"] for name in OPERATIONS}
    as_run = {name: 60 * MODEL[f"{name} of 100 users in a minute"] for name in OPERATIONS}
    at_100_users = {
        name: 3600 * MODEL[f"{name} at the end of the ramp"] * 100 / MODEL["users at the end of the ramp"]
        for name in OPERATIONS
    }
    assert planned == {name: 100 * MODEL[f"{name} of a user"] for name in OPERATIONS}
    assert as_run == pytest.approx(at_100_users)
    assert {name: as_run[name] / planned[name] for name in planned} == pytest.approx(
        {"create": 1.2, "update": 1.0, "view": 1.0, "search": 1.02}
    )
    at_that_rate_min = MODEL["iterations of the hour"] / sum(as_run.values()) * 60
    assert at_that_rate_min == pytest.approx(57)


def test_reproduced_the_minor_calls_do_not_matter() -> None:
    """Over 800/s alone, four calls a view, 3,000 views an hour: half a percent of what the target can do."""
    views_per_s = MODEL["view of 100 users"] / 3600
    share = MODEL["minor calls in the test"] * views_per_s / MODEL["throughput of minor calls"]
    assert share == pytest.approx(0.0042, abs=1e-4)
    calls_a_view = MODEL["throughput of minor calls"] / views_per_s  # that fill it: "hundreds"
    assert calls_a_view == pytest.approx(960)


def test_reproduced_the_generator_was_not_the_limit_of_the_two_tests_that_print_something_of_it() -> None:
    """A tenth of a core in one look at a process list, and a tenth of its virtual users in the hour."""
    assert MODEL["CPU of the generator's process"] < 10
    assert MODEL["virtual users at most"] / MODEL["virtual users that there were"] == pytest.approx(0.1)


def test_consistent_with_no_significant_degradation_at_100_users_for_the_two_requests_of_one_user() -> None:
    """POST /issues takes a fifth longer on average than alone, POST /issuesGetter is a little quicker; one run each."""
    means = {(float(row["users"]), row["operation"]): float(row["average (ms)"]) for row in rows("youtrack", "hold")}
    ratios = [means[100, name] / means[1, name] for name in ("POST /issues", "POST /issuesGetter")]
    assert ratios == pytest.approx([1.21, 0.92], abs=0.01)


def test_contradicted_that_a_browsers_times_show_the_slowness_of_the_scripts_requests() -> None:
    """One idle user's browser opens an issue in 2.41 s; the longest GET /issues of an hour with 100 users is 1.67 s, so
    it is not the same request."""
    [opened] = [row for row in rows("youtrack", "hold") if row["operation"] == "GET /issues"]
    assert MODEL["one idle user opens an issue"] > 1.4 * float(opened["max (ms)"])


def test_the_full_size_has_its_job_within_the_periods_that_the_author_read_off_a_chart() -> None:
    """A period by eye (lines 80, 216): no time of a spike is printed, so nothing tells it from the data."""
    found = re.search(r"JOB_EVERY=(\d+) ", (STUDY / "full.yaml").read_text(encoding="utf-8"))
    assert found is not None
    shortest_s, longest_s = (60 * MODEL[f"{which} period of the spikes"] for which in ("shortest", "longest"))
    assert shortest_s < float(found[1]) < longest_s


def test_contradicted_a_threshold_on_checks_that_were_never_made_is_marked_as_passed() -> None:
    """Lines 286-287: 0 of 0 checks, with a tick. In our summary a threshold that saw no sample is undecided."""
    threshold = {"rate>0.99": {"verdict": "undecided", "ok": True}}
    passed, failed = int(MODEL["checks passed"]), int(MODEL["checks failed"])
    checks = {"type": "rate", "contains": "default", "values": {"rate": 0, "passes": passed, "fails": failed}}
    text = summary_text({"metrics": {"checks{name:main_calls_status_200}": {**checks, "thresholds": threshold}}})
    assert "✓ " not in text.splitlines()[1] and "? undecided, because no sample was seen" in text
