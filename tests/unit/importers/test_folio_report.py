"""The FOLIO report's published figures: its conclusions come out, are contradicted with the reason, or are "figure not
published". Figures are those printed as text; each row names its line in the source."""

from __future__ import annotations

import pytest
from published_figures import STUDIES, rows, source_lines

from plimsoll.findings.capacity.demand import demand_findings
from plimsoll.findings.imported.table_levels import levels_finding
from plimsoll.runs.importers import level_table
from plimsoll.runs.importers.catalogue import format_of
from plimsoll.runs.importers.lines import SourceFile
from plimsoll.runs.readings.step_table import StepTable

FOLIO = STUDIES / "folio"
STATEMENTS = "published-statements.csv"
DATABASE_CORES = 4  # a db.r5.xlarge (line 472)
RUN_S = 30 * 60
OWN_TEST = "explain analyze of a first page"


def table(name: str) -> StepTable:
    return level_table.read(SourceFile(FOLIO / name))


def statements() -> dict[str, tuple[float, float]]:
    """Total time in s and published percent by statement."""
    found = {}
    for row in table(STATEMENTS).rows:
        assert row.operation is not None and row.samples is not None
        found[row.operation] = (row.times_ms["mean"][0] / 1000 * row.samples, row.others["percent of total time"])
    return found


@pytest.mark.parametrize("name", ["runs", "memory", "statements"])
def test_published_tables_are_recognised_and_every_row_names_its_line(name: str) -> None:
    assert format_of(SourceFile(FOLIO / f"published-{name}.csv"), None).name == "table"
    lines = [source_lines(row)[0] for row in rows("folio", name)]
    assert lines == sorted(set(lines))


def test_no_capacity_follows_from_runs_whose_times_are_charts() -> None:
    """“Non-responsive beyond 5 users”: figure not published, and no run had more than 5 users (lines 456, 480)."""
    runs = table("published-runs.csv")
    found = levels_finding(runs, [{"objective": "p90<=1000ms"}])
    assert found["capacity"] is None and "Cannot tell" in found["answer"]
    assert max(row.level or 0 for row in runs.rows) == 5


def test_no_run_had_results_beyond_100_thousand() -> None:
    """“Non-responsive beyond 100K records even with 1 user” (line 478) is said of runs that are not in the table."""
    assert max(row.others["largest result"] for row in table("published-runs.csv").rows) == 100_000


def test_runs_that_are_compared_differ_in_their_ramp_up_too() -> None:
    """So the change from 1 to 5 users, and from unprofiled to profiled, is not that of one thing alone."""
    runs = rows("folio", "runs")
    ramp = {(row["users"], row["largest result"], row["profiled"]): row["ramp-up in seconds"] for row in runs}
    assert len(ramp) == 8
    assert ramp["1", "50000", "0"] != ramp["1", "50000", "1"]
    assert ramp["5", "100000", "0"] != ramp["5", "100000", "1"]
    assert ramp["5", "50000", "0"] == ramp["5", "50000", "1"]  # the only controlled pair


def test_memory_was_at_its_limit_at_both_sizes_with_5_users() -> None:
    memory = table("published-memory.csv")
    assert {row.utilisation["storage memory"] for row in memory.rows} == {0.99}
    [finding] = demand_findings(memory, {"storage memory": 0.99})
    assert finding["demand"] is None  # no throughput: how far it would go is not told
    assert "Cannot tell" in finding["answer"]


def test_the_statements_of_storage_take_84_percent_without_the_testers_own() -> None:
    own = statements()[OWN_TEST][1]
    total = sum(percent for _, percent in statements().values())
    assert (total, total - own) == (87, 84)


def test_the_slowest_statement_and_the_one_that_takes_most_are_two() -> None:
    """The table is ordered by share of time; by average time the search by two fields is twice as slow."""
    averages_ms = {row.operation: row.times_ms["mean"][0] for row in table(STATEMENTS).rows}
    assert max(averages_ms, key=lambda name: averages_ms[name]) == "search by two fields sorted by title"
    shares = statements()
    assert max(shares, key=lambda name: shares[name][0]) == "search sorted by title"
    ordered = sorted(shares, key=lambda name: -shares[name][0])
    assert ordered == sorted(shares, key=lambda name: -shares[name][1])


def test_published_shares_are_not_those_of_one_total() -> None:
    """Average × calls ÷ share gives the total, within the rounding of the share: these intervals have no point in
    common, so averages, calls and shares are not of one reading."""
    bounds = {
        name: (100 * total_s / (percent + 0.5), 100 * total_s / (percent - 0.5))
        for name, (total_s, percent) in statements().items()
    }
    assert bounds["search sorted by title"] == pytest.approx((498.3, 514.1), abs=0.1)
    assert bounds["search by two fields sorted by title"] == pytest.approx((473.4, 494.4), abs=0.1)
    assert max(low for low, _ in bounds.values()) > min(high for _, high in bounds.values())


def test_database_cpu_was_not_high() -> None:
    """Even if all the time of all statements were CPU, 506 s in one run of 30 minutes are 7% of four cores."""
    seconds, percent = statements()["search sorted by title"]
    total_s = 100 * seconds / percent
    assert total_s == pytest.approx(506, abs=1)
    assert total_s / RUN_S / DATABASE_CORES == pytest.approx(0.070, abs=0.001)
