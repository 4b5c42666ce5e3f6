"""The published figures of the Kiwi TCMS report (studies/kiwi/published-*.csv).

Each conclusion of the author is reproduced, contradicted with the reason, or "figure not published"."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import Any

import pytest

from plimsoll.findings.decompose import decompose_finding
from plimsoll.findings.table_levels import levels_finding
from plimsoll.runs.importers import level_table
from plimsoll.runs.importers.lines import SourceFile
from plimsoll.stats.littles_law import think_time_s
from plimsoll.stats.shares import layer_shares, shares_per_repetition

STUDY = Path(__file__).parents[3] / "studies" / "kiwi"
R = 100


def calls(size: int) -> int:
    return 10 + 3 * size + 2 * size * size


@pytest.fixture
def variants() -> dict[str, dict[str, str]]:
    lines = (STUDY / "published-variants.csv").read_text().splitlines()
    rows = csv.DictReader(line for line in lines if not line.startswith("#"))
    return {row["variant"]: row for row in rows}


def durations_s(variants: dict[str, dict[str, str]]) -> list[float]:
    return [float(variants[name]["duration (s)"]) for name in ("whole", "orm", "static")]


def trial_of_one_run(number: int, variant: str, seconds: float) -> dict[str, Any]:
    """A printed duration as the trial of one iteration that took so long."""
    return {
        "trial": number, "repetition": 1, "variant": variant, "level": 1.0, "load": "1 user", "start_s": 0,
        "measured_from_s": 0, "end_s": seconds, "seconds": seconds, "planned": 1, "done": 1, "done_per_s": 1 / seconds,
        "unfinished_end": 0, "answered": 1, "failed": 0, "requests": calls(R), "causes": {},
        "work": {"count": 1, "mean_ms": 1000 * seconds}, "endpoints": [], "resources": {},
    }  # fmt: skip


def test_reproduced_the_number_of_calls_and_the_rates_of_the_first_series_fit_each_other() -> None:
    table = level_table.read(SourceFile(STUDY / "published-write.csv"))
    found = levels_finding(table, [])
    assert calls(R) == 20_310
    assert pytest.approx(19.86, abs=0.01) == 71_500 / 3600  # printed as 19 requests/s: cut, not rounded
    assert R * R / calls(R) == pytest.approx(35_000 / 71_500, rel=0.01)
    assert think_time_s(1, 71_500 / 3600, 0.050) == pytest.approx(0.000350, abs=1e-5)  # the one client never waits
    assert found["capacity"] is None and "the only level with a throughput is 1" in found["answer"]


def test_figure_not_published_how_many_results_it_can_take(variants: dict[str, dict[str, str]]) -> None:
    """The rate of one client is no capacity; R = 30, the only other size, has no time in text."""
    whole_s = durations_s(variants)[0]
    assert calls(R) / whole_s == pytest.approx(18.1, abs=0.05)  # the later series
    assert 1000 * whole_s / calls(R) == pytest.approx(55.1, abs=0.1)
    assert calls(R) / (71_500 / 3600) == pytest.approx(1023, abs=1)  # the first series took less: 9 % apart
    assert whole_s / (calls(R) / (71_500 / 3600)) == pytest.approx(1.095, abs=0.001)


def test_reproduced_as_parts_the_shares_are_the_authors_but_only_as_parts(variants: dict[str, dict[str, str]]) -> None:
    rest, orm, static = shares_per_repetition([durations_s(variants)], nested=False)[0]
    authors = [float(variants[name]["share (%)"]) / 100 for name in ("whole", "orm", "static")]
    assert [rest, orm, static] == pytest.approx([0.494, 0.209, 0.297], abs=0.001)
    assert [rest, orm, static] == pytest.approx(authors, abs=0.01)
    whole_s, orm_s, static_s = durations_s(variants)
    nested = shares_per_repetition([[whole_s, static_s, orm_s]], nested=True)[0]
    assert nested == pytest.approx([0.703, 0.088, 0.209], abs=0.001)


def test_contradicted_three_single_runs_have_no_spread_so_no_share_is_shown(
    variants: dict[str, dict[str, str]],
) -> None:
    """Two runs of the whole alone differ by 97 s (9 %), a quarter to a half of what is subtracted from it."""
    shares = shares_per_repetition([durations_s(variants)], nested=False)
    assert layer_shares(shares) is None
    plan = {
        "variants": [{"name": name, "label": name} for name in ("whole", "orm", "static")],
        "analysis": {"parts": True, "statistic": "mean"},
        "levels": [{"level": 1.0, "words": "1 user"}],
        "repetitions": 1,
    }
    one_round = [
        trial_of_one_run(number, name, float(variants[name]["duration (s)"])) for number, name in enumerate(variants, 1)
    ]
    found = decompose_finding(plan, one_round)
    assert not found["valid"] and found["answer"].startswith("Cannot tell at 1 user: fewer than two rounds")
    [level] = found["levels"]
    assert level["rounds"] == 1 and level["layers"] == []
    assert level["ms"] == {"whole": 1_120_000.0, "orm": 234_000.0, "static": 333_000.0}
    second = [one | {"trial": one["trial"] + 3, "repetition": 2} for one in one_round]
    assert decompose_finding(plan, [*one_round, *second])["levels"][0]["rounds"] == 2  # a spread is missing
    first_series_s = calls(R) / (71_500 / 3600)
    whole_s, orm_s, static_s = durations_s(variants)
    assert (whole_s - first_series_s) / orm_s == pytest.approx(0.416, abs=0.005)
    with_the_first = shares_per_repetition([[first_series_s, orm_s, static_s]], nested=False)[0]
    assert with_the_first == pytest.approx([0.446, 0.229, 0.326], abs=0.001)  # "50 %" is 45 % with the first series


def test_contradicted_disk_latency_is_not_what_binds_it(variants: dict[str, dict[str, str]]) -> None:
    """Line 3 calls it bound by disk latency; line 55 finds that a disk ten times faster changed little.

    By the author's own shares no disk could save more than the database's part."""
    whole_s, orm_s, _ = durations_s(variants)
    assert whole_s / (whole_s - orm_s) == pytest.approx(
        1.264, abs=0.001
    )  # the most that a database of no time at all gives


def test_read_times_of_five_searches_decide_nothing_but_their_extremes() -> None:
    table = level_table.read(SourceFile(STUDY / "published-read.csv"))
    for operation, least, most in (("TestCase.filter", 648, 1500), ("TestRun.filter", 547, 1023)):
        found = levels_finding(table, [{"objective": "p95<=2s", "request": operation}])
        [verdict] = found["objectives"][0]["verdicts"]
        assert verdict["bounds"] == [least, most] and verdict["verdict"] == "undecided"
