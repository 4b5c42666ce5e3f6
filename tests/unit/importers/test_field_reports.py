"""The published tables of the field reports: the authors' conclusions come out, or are contradicted with the reason, or
are "figure not published". Figures are those printed as text; each row names its line in the source."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from plimsoll.findings.demand import demand_findings
from plimsoll.findings.table_comparison import comparison_finding
from plimsoll.findings.table_levels import levels_finding
from plimsoll.runs.importers import level_table
from plimsoll.runs.importers.lines import SourceFile
from plimsoll.runs.step_table import StepTable
from plimsoll.stats.demand import reach
from plimsoll.stats.littles_law import think_time_s

FIELD = Path(__file__).parent / "field"


def table(name: str) -> StepTable:
    return level_table.read(SourceFile(FIELD / name))


def levels(name: str, *objectives: str, request: str | None = None) -> dict[str, Any]:
    wanted = [{"objective": text, **({"request": request} if request else {})} for text in objectives]
    return levels_finding(table(name), wanted)


def test_clm_gc_extrapolates_to_423_per_s_by_constant_demand_and_582_along_the_line() -> None:
    """The author's 455/s came from a chart that is not published as numbers; it lies between the assumptions."""
    [gc, dng] = demand_findings(table("clm-gc-web-ui.csv"), {"gc": 0.83})
    constant = gc["demand"]["constant_demand_per_s"]
    assert constant == pytest.approx([422.9, 449.6], abs=0.1)
    assert gc["demand"]["line_per_s"] == pytest.approx(582.3, abs=0.1)
    assert gc["demand"]["line_interval"] is None  # two points have none
    assert "107/s at 21% → 423/s at 83%" in gc["answer"] and "582/s along the line" in gc["answer"]
    assert min(constant) < 455 < gc["demand"]["line_per_s"]
    assert any("4.5 times the highest throughput measured" in note for note in gc["notes"])
    assert "dng" in dng["question"] and dng["demand"]["budget"] is None


def test_clm_gc_scales_users_and_rates_by_the_ratio_of_its_own_assumption_not_the_authors() -> None:
    """4,675 users, 10,625 and 599,000 per hour follow from 455/107; constant demand gives 83/21, which is less."""
    [gc, _] = demand_findings(table("clm-gc-web-ui.csv"), {"gc": 0.83})
    scaled = gc["scaled"]
    assert scaled["ratio"] == pytest.approx(83 / 21)
    assert scaled["level"] == pytest.approx(4347.6, abs=0.1)
    rates = {name: 3600 * rate for name, rate in scaled["rates_per_s"].items()}
    assert rates == pytest.approx({"stream and baseline creations": 9881.0, "searches": 557_285.7}, abs=0.1)
    assert scaled["ratio"] < 455 / 107


def test_clm_gc_capacity_of_1100_users_is_a_figure_not_published() -> None:
    found = levels("clm-gc-web-ui.csv")
    assert found["capacity"] is None
    assert "Cannot tell" in found["answer"] and "1100" in found["answer"]


def test_clm_gc_shares_a_budget_of_half_a_cpu_at_316_per_s_and_6_2_million_links_an_hour() -> None:
    [shared] = demand_findings(table("clm-gc-shared.csv"), {"gc and jts": 0.5})
    assert shared["demand"]["constant_demand_per_s"] == pytest.approx([316.0])
    assert shared["demand"]["line_per_s"] is None
    links_per_h = 3205 + 3053 + 4068
    assert links_per_h == 10_326
    ceiling = reach([0.53 / 316], [links_per_h / 3600], 1.0).constant_per_s[0] * 3600
    assert ceiling == pytest.approx(6.157e6, rel=1e-3)


def test_clm_gc_links_bend_but_do_not_flatten_up_to_1000_users() -> None:
    """The author calls 1,000 users overloaded; the published counts alone show less than proportion, not a plateau."""
    found = levels("clm-gc-links.csv")
    assert found["capacity"]["bad"] is None and found["capacity"]["good"] == 1000
    assert "in less than proportion" in found["answer"]
    assert found["capacity"]["most_per_s"] * 3600 == pytest.approx(10_326)
    assert found["capacity"]["gains"][-1] < 0.8


def test_clm_ldx_links_rise_in_proportion_as_far_as_all_scenarios_are_published() -> None:
    found = levels("clm-ldx-links.csv")
    assert found["capacity"]["good"] == 150
    assert "rises in proportion" in found["answer"]


@pytest.mark.parametrize("column", ["first", "second"])
def test_edx_collapses_between_240_and_336_clients_whichever_column_is_the_new_one(column: str) -> None:
    found = levels(f"edx-{column}-column.csv", "p95<=1000ms", request="GET_thread")
    assert (found["capacity"]["good"], found["capacity"]["bad"]) == (240, 336)
    [objective] = found["objectives"]
    assert (objective["met_up_to"], objective["failed_from"]) == (240, 336)
    assert "GET_thread, at 336 users" in found["answer"]


@pytest.mark.parametrize(("a", "b", "direction"), [("first", "second", "up"), ("second", "first", "down")])
def test_edx_one_run_per_cell_is_consistent_with_a_change_and_proves_none(a: str, b: str, direction: str) -> None:
    """Both labellings, as prose and data disagree on which column is the new implementation."""
    tables = [table(f"edx-{name}-column.csv") for name in (a, b)]
    found = comparison_finding(tables[0], tables[1], (a, b))
    seen = {item["level"]: item["direction"] for item in found["comparison"]["levels"]}
    assert seen == {48: "none", 96: direction, 162: direction, 240: direction, 336: "none"}
    assert found["comparison"]["cells"] == 165
    assert "consistent with" in found["answer"] and "no difference here is proven" in found["notes"][0]
    assert "DELETE_comment p99 at 48 users" in found["notes"][1]  # the anomaly that the author highlights
    assert "336: 53 and 48.9/s" in found["notes"][2] or "336: 48.9 and 53/s" in found["notes"][2]


def test_edx_says_which_other_percentile_is_bounded_and_which_is_not_published() -> None:
    found = levels("edx-first-column.csv", "p90<=250ms", "p99.9<=5s", request="GET_thread")
    p90, p999 = found["objectives"]
    assert p90["met_up_to"] == 162  # p95 is 180, 220 and 250 ms there: p90 is no more
    assert {item["verdict"] for item in p90["verdicts"]} == {"met", "undecided", "failed"}
    assert p999["met_up_to"] is None and p999["failed_from"] is None
    assert "p50, p95, p99" in p999["needs"]


def test_kiwi_with_one_client_cannot_tell_a_capacity_and_agrees_with_littles_law() -> None:
    found = levels("kiwi-write.csv")
    assert found["capacity"] is None and "the only level with a throughput is 1" in found["answer"]
    assert not any("contradict" in note for note in found["notes"])
    assert think_time_s(1, 71_500 / 3600, 0.050) == pytest.approx(0.000350, abs=1e-5)


def test_kiwi_read_times_decide_what_lies_outside_their_extremes_and_nothing_with_five_samples() -> None:
    found = levels("kiwi-read.csv", "max<=1200ms", "p95<=2s", request="TestCase.filter")
    verdicts = [entry["verdicts"][0] for entry in found["objectives"]]
    assert verdicts[0]["value"] == 1500 and verdicts[0]["verdict"] == "undecided"  # five samples
    assert verdicts[1]["bounds"] == [648, 1500] and verdicts[1]["verdict"] == "undecided"
