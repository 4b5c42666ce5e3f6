"""The published figures of the YouTrack report (studies/youtrack/published-*.csv).

Each conclusion of the author is reproduced, contradicted with the reason, or "figure not published"."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from plimsoll.findings.table_levels import levels_finding
from plimsoll.report.k6_summary import summary_text
from plimsoll.runs.importers import level_table
from plimsoll.runs.importers.lines import SourceFile
from plimsoll.runs.step_table import Row
from plimsoll.stats.littles_law import think_time_s

STUDY = Path(__file__).parents[3] / "studies" / "youtrack"
REQUESTS = (
    "GET /issues", "GET /search/assist", "GET /sortedIssues", "POST /commands", "POST /commands/assist",
    "POST /issues", "POST /issuesGetter", "POST /users/me/drafts",
)  # fmt: skip
PER_USER_HOUR = {"create": 1, "update": 9, "view": 30, "search": 10}


@pytest.fixture
def held() -> dict[str, Any]:
    """The finding of the hour with 100 users, with the author's objectives."""
    wanted = [{"request": name, "objective": f"p90<={500 if name.startswith('GET') else 1000}ms"} for name in REQUESTS]
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
    assert 17 / 30 * 300 == 170
    assert held["capacity"] is None and "the only level with a throughput is 100" in held["answer"]


def test_reproduced_the_upload_took_almost_three_times_as_long_as_the_first_rate_said(upload: list[Row]) -> None:
    took_s = sum(part.duration_s or 0 for part in upload)
    created = sum(part.others["issues created"] for part in upload)
    assert created == 100_003  # 35 more were interrupted
    assert pytest.approx(3333, abs=1) == 100_000 / 30
    assert took_s / 60 == pytest.approx(160.7, abs=0.1)
    assert took_s / (100_000 / 30) == pytest.approx(2.89, abs=0.01)


def test_contradicted_in_part_the_fall_from_30_to_5_per_s_is_also_that_of_the_users(upload: list[Row]) -> None:
    """The author took away 20 of 35 users half-way. Users think for 1 s, so by Little's law a create took 0.17 s at
    30/s of 35 users and 2 s at 5/s of 15: the target aged by more than six times, and 5/s is no longer its capacity."""
    assert think_time_s(35, 30, 0) - 1 == pytest.approx(0.167, abs=0.001)
    assert think_time_s(15, 5, 0) - 1 == pytest.approx(2.0)
    means_s = [think_time_s(part.level or 0, per_s(part), 0) - 1 for part in upload]
    assert means_s == pytest.approx([0.90, 1.23], abs=0.01)


def test_contradicted_linear_ageing_between_the_printed_rates_would_have_taken_longer(upload: list[Row]) -> None:
    """1/30 s an issue at 27,200 and 1/5 s at 127,200, with a straight line between, give 4,390 s for the first part
    and 7,280 s for the second; it took 3,000 and 6,644. The law itself is a chart."""
    first, last = 1 / 30, 1 / 5
    created = [part.others["issues created"] for part in upload]
    middle = first + (last - first) * created[0] / sum(created)
    straight = [(first + middle) / 2 * created[0], (middle + last) / 2 * created[1]]
    assert straight == pytest.approx([4391, 7276], abs=5)
    assert [s / (part.duration_s or 1) for s, part in zip(straight, upload, strict=True)] == pytest.approx(
        [1.46, 1.10], abs=0.01
    )


def test_reproduced_the_load_model_and_contradicted_that_it_was_run_as_planned() -> None:
    """Rates were rounded to whole numbers a minute: 20 % more creates, 2 % more searches."""
    planned = {name: 100 * rate for name, rate in PER_USER_HOUR.items()}
    as_run = {"create": 2 * 60, "update": 15 * 60, "view": 50 * 60, "search": 17 * 60}
    assert planned == {"create": 100, "update": 900, "view": 3000, "search": 1000}
    assert {name: as_run[name] / planned[name] for name in planned} == pytest.approx(
        {"create": 1.2, "update": 1.0, "view": 1.0, "search": 1.02}
    )
    assert 4788 / sum(as_run.values()) * 60 == pytest.approx(57)  # minutes of the hour at that rate


def test_reproduced_the_minor_calls_do_not_matter() -> None:
    """Over 800/s alone, four calls a view, 3,000 views an hour: half a percent of what the target can do."""
    assert pytest.approx(0.0042, abs=1e-4) == 4 * 3000 / 3600 / 800
    assert pytest.approx(960) == 800 / (3000 / 3600)  # calls a view to fill it: "hundreds"


def test_contradicted_a_threshold_on_checks_that_were_never_made_is_marked_as_passed() -> None:
    """Line 290: 0 of 0 checks, with a tick. In our summary a threshold that saw no sample is undecided."""
    threshold = {"rate>0.99": {"verdict": "undecided", "ok": True}}
    checks = {"type": "rate", "contains": "default", "values": {"rate": 0, "passes": 0, "fails": 0}}
    text = summary_text({"metrics": {"checks{name:main_calls_status_200}": {**checks, "thresholds": threshold}}})
    assert "✓ " not in text.splitlines()[1] and "? undecided, because no sample was seen" in text
