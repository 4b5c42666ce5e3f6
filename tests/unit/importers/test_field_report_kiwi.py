"""The published figures of the Kiwi TCMS report (lab/studies/kiwi/published-*.csv).

Each conclusion of the author is reproduced, contradicted with the reason, or "figure not published"."""

from __future__ import annotations

import re
from typing import Any

import pytest
from published_figures import STUDIES, figures, rows

from plimsoll.findings.imported.table_levels import levels_finding
from plimsoll.findings.trials.decompose import decompose_finding
from plimsoll.runs.importers import level_table
from plimsoll.runs.importers.lines import SourceFile
from plimsoll.stats.comparison.shares import layer_shares, shares_per_repetition
from plimsoll.stats.throughput.littles_law import think_time_s

STUDY = STUDIES / "kiwi"
MODEL = figures("kiwi")
[FIRST_SERIES] = rows("kiwi", "write")
R = int(MODEL["R"])
RESULTS_PER_H, CALLS_PER_H = (float(FIRST_SERIES[f"{what} (per hour)"]) for what in ("executions", "calls"))
CALLS_PER_S = CALLS_PER_H / 3600


def calls(size: int) -> int:
    each, squared = MODEL["calls for each R"], MODEL["calls for each R squared"]
    return int(MODEL["calls of an invocation"] + each * size + squared * size * size)


@pytest.fixture
def variants() -> dict[str, dict[str, str]]:
    return {row["variant"]: row for row in rows("kiwi", "variants")}


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
    assert calls(R) == MODEL["calls with this R"] == 20_310 and MODEL["results with this R"] == R * R
    assert pytest.approx(19.86, abs=0.01) == CALLS_PER_S
    assert int(CALLS_PER_S) == float(FIRST_SERIES["requests/s"])  # cut, not rounded
    assert R * R / calls(R) == pytest.approx(RESULTS_PER_H / CALLS_PER_H, rel=0.01)
    mean_s = float(FIRST_SERIES["average (ms)"]) / 1000
    assert think_time_s(1, CALLS_PER_S, mean_s) == pytest.approx(0.000350, abs=1e-5)  # the one client never waits
    assert not any("contradict" in note for note in found["notes"])
    assert found["capacity"] is None and "the only level with a throughput is 1" in found["answer"]


def test_figure_not_published_how_many_results_it_can_take(variants: dict[str, dict[str, str]]) -> None:
    """The rate of one client is no capacity; R = 30, the only other size, has no time in text."""
    assert MODEL["other R of the first series"] == 30 and {row["users"] for row in rows("kiwi", "write")} == {"1"}
    whole_s = durations_s(variants)[0]
    assert calls(R) / whole_s == pytest.approx(18.1, abs=0.05)  # the later series
    assert 1000 * whole_s / calls(R) == pytest.approx(55.1, abs=0.1)
    assert calls(R) / CALLS_PER_S == pytest.approx(1023, abs=1)  # the first series took less: 9% apart
    assert whole_s / (calls(R) / CALLS_PER_S) == pytest.approx(1.095, abs=0.001)


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
    """Two runs of the whole alone differ by 97 s (9%), a quarter to a half of what is subtracted from it."""
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
    first_series_s = calls(R) / CALLS_PER_S
    whole_s, orm_s, static_s = durations_s(variants)
    assert (whole_s - first_series_s) / orm_s == pytest.approx(0.416, abs=0.005)
    with_the_first = shares_per_repetition([[first_series_s, orm_s, static_s]], nested=False)[0]
    assert with_the_first == pytest.approx([0.446, 0.229, 0.326], abs=0.001)  # "50%" is 45% with the first series


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
        found = levels_finding(
            table, [{"objective": objective, "request": operation} for objective in ("p95<=2s", "max<=1s")]
        )
        percentile, maximum = (one["verdicts"][0] for one in found["objectives"])
        assert percentile["bounds"] == [least, most] and percentile["verdict"] == "undecided"
        assert maximum["value"] == most and maximum["verdict"] == "undecided"  # five samples


def test_reproduced_both_searches_answer_about_500_bytes_a_record() -> None:
    """So the two differ in what the server does, not in what it sends: 5 and 5.10 MB, 1,500 and 1,023 ms at most."""
    sizes = [
        1e6 * MODEL[f"data of {operation}"] / MODEL["records of a search"]
        for operation in ("TestCase.filter", "TestRun.filter")
    ]
    assert sizes == pytest.approx([500, 510])
    assert {float(row["samples"]) for row in rows("kiwi", "read")} == {MODEL["searches"]}


def test_figure_not_published_the_hardware_advice_is_beside_no_run_that_varied_it() -> None:
    """Lines 9, 10: the recommended size is that of the server of both tests (lines 25, 95), the minimum of neither."""
    sizes = [(MODEL[f"{advice} CPUs"], MODEL[f"{advice} memory"]) for advice in ("minimum", "recommended")]
    assert sizes == [(1, 1), (2, 4)]
    tables = [rows("kiwi", name) for name in ("read", "variants", "write")]
    assert not any(re.search("cpu|memory|core", heading.lower()) for table in tables for heading in table[0])
