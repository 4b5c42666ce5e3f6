"""Files made by short real runs against the testkit's server: our figures are the tool's own.

k6 1.8.1, Locust 2.47.0, vegeta 12.12.0 and wrk 4.1.0 made them; the tool's summary of the very run lies beside each.
"""

from __future__ import annotations

import csv
import json

import pytest
from importing import DATA, imported, table_of

from plimsoll.findings.imported.levels import levels_of
from plimsoll.findings.imported.run import table_of as rows_of
from plimsoll.findings.imported.run import with_windows

HALF_BUCKET = 0.0005


@pytest.mark.parametrize("name", ["k6.json.gz", "k6.csv.gz"])
def test_k6_samples_give_k6s_own_summary(name: str) -> None:
    found = imported(DATA / name)
    own = json.loads((DATA / "k6-summary.json").read_text())["metrics"]
    times = found.times()
    assert found.format.name in ("k6-json", "k6-csv")
    assert times.count == found.total("http_reqs") == own["http_reqs"]["count"]
    assert found.total("iterations") == own["iterations"]["count"]
    assert found.failed() == own["http_req_failed"]["passes"]
    for quantile, key in ((0.5, "med"), (0.9, "p(90)"), (0.95, "p(95)")):
        # k6 interpolates between neighbouring samples, a histogram gives one of them
        assert times.percentile(quantile) == pytest.approx(own["http_req_duration"][key], rel=0.005)
    assert times.max == pytest.approx(own["http_req_duration"]["max"], rel=1e-6)
    assert times.mean == pytest.approx(own["http_req_duration"]["avg"], rel=1e-6)


def test_k6_levels_are_its_vus() -> None:
    found = imported(DATA / "k6.json.gz")
    assert {2.0, 6.0, 12.0} <= {snapshot.level for snapshot in found.snapshots}


def test_k6_summary_is_one_row_with_its_figures() -> None:
    found, table, _ = table_of(DATA / "k6-summary.json")
    own = json.loads((DATA / "k6-summary.json").read_text())["metrics"]
    [row] = table.rows
    assert found.name == "k6-summary"
    assert row.level is None and "from 2 to 12" in table.notes[0]
    assert (row.samples, row.failed) == (own["http_reqs"]["count"], 0)
    assert row.times_ms["p95"][0] == own["http_req_duration"]["p(95)"]
    assert row.throughput_per_s == own["http_reqs"]["rate"]


class _Run:
    def __init__(self, snapshots):
        self._snapshots = snapshots

    def snapshots(self, *, metrics=None):
        return self._snapshots

    def resources(self):
        return ()


def test_locust_history_adds_up_to_its_last_line_and_its_levels_are_its_users() -> None:
    found = imported(DATA / "locust_history.csv")
    with (DATA / "locust_history.csv").open() as file:
        last = [row for row in csv.DictReader(file) if row["Name"] == "Aggregated"][-1]
    assert found.total("http_reqs") == int(last["Total Request Count"])
    assert found.failed() == 0
    assert {2.0, 6.0, 12.0} <= {snapshot.level for snapshot in found.snapshots}
    assert not found.times().count  # percentiles of windows make no histogram


def test_locust_windows_bound_the_percentiles_of_a_level_that_holds_whole_windows() -> None:
    found = imported(DATA / "locust_history.csv")
    run = _Run([replace_level(snapshot) for snapshot in found.snapshots])
    stretches = levels_of(run).held
    table = with_windows(rows_of(stretches, run, "users"), stretches, found.returned, float(found.snapshots[0].t_unix))
    [whole] = [row for row in table.rows if row.operation is None]
    low, high = whole.times_ms["p95"]
    own = 31.0  # of the whole run, by …_stats.csv
    assert low <= own <= high
    [home] = [row for row in table.rows if row.operation == "GET home"]
    assert home.times_ms["p50"][0] <= 12 <= home.times_ms["p50"][1]


def replace_level(snapshot):
    """The three levels of the file, each shorter than a window, as one."""
    from dataclasses import replace

    return replace(snapshot, level=20.0)


def test_locust_stats_are_its_lines() -> None:
    _, table, _ = table_of(DATA / "locust_stats.csv")
    whole = table.of(None)[0]
    assert (whole.samples, whole.failed) == (4653, 0)
    assert whole.times_ms["p95"] == (31.0, 31.0)
    assert table.operations == ("GET home", "GET other", None)


def test_vegeta_csv_gives_vegetas_own_report() -> None:
    found = imported(DATA / "vegeta.csv.gz")
    own = json.loads((DATA / "vegeta-report.json").read_text())
    times = found.times()
    assert found.format.name == "vegeta-csv"
    assert times.count == own["requests"] and found.failed() == 0
    assert times.mean == pytest.approx(own["latencies"]["mean"] / 1e6, rel=1e-6)
    assert times.max == pytest.approx(own["latencies"]["max"] / 1e6, rel=1e-6)
    for quantile, key in ((0.5, "50th"), (0.9, "90th"), (0.95, "95th"), (0.99, "99th")):
        assert times.percentile(quantile) == pytest.approx(own["latencies"][key] / 1e6, rel=0.025)  # a t-digest
    assert found.total("data_received") == own["bytes_in"]["total"]


def test_vegeta_json_lines_are_the_same_results_as_its_csv() -> None:
    lines, rows = imported(DATA / "vegeta.json"), imported(DATA / "vegeta.csv.gz")
    assert lines.format.name == "vegeta-json"
    assert lines.times().count == 200
    assert lines.times().min >= rows.times().min
    assert lines.times(name="GET /").count == 200


def test_vegeta_report_is_one_row() -> None:
    _, table, _ = table_of(DATA / "vegeta-report.json")
    [row] = table.rows
    assert row.samples == 2400 and row.failed == 0
    assert row.times_ms["p99"][0] == pytest.approx(69.407685)
    assert row.throughput_per_s == pytest.approx(199.819, abs=0.01)


def test_wrk_outputs_in_one_file_are_levels() -> None:
    found, table, _ = table_of(DATA / "wrk.txt")
    text = (DATA / "wrk.txt").read_text()
    assert found.name == "wrk" and table.level_unit == "connections"
    assert [row.level for row in table.rows] == [1, 2, 4, 8]
    rates = [float(line.split(":")[1]) for line in text.splitlines() if line.startswith("Requests/sec")]
    assert [row.throughput_per_s for row in table.rows] == rates
    assert all(set(row.times_ms) == {"mean", "max", "p50", "p75", "p90", "p99"} for row in table.rows)
