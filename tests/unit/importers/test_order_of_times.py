"""Percentiles that fall are refused by every source of statistics; numbers that only rounding exchanged are not."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from importing import DATA, imported, table_of
from test_formats_by_documentation import OHA, WRK2

from plimsoll.errors import InputError
from plimsoll.runs.importers.order_of_times import Stated, check_order
from plimsoll.runs.importers.source import BadRecord
from plimsoll.runs.importers.units import rounded_by


def refused(path: Path, text: str, read=table_of) -> str:
    path.write_text(text)
    with pytest.raises(InputError) as caught:
        read(path)
    told = str(caught.value)
    assert str(path) in told and "times rise from min" in told and "Correct it" in told
    return told


def accepted(path: Path, text: str) -> dict[str, tuple[float, float]]:
    path.write_text(text)
    [row] = table_of(path)[1].rows
    return dict(row.times_ms)


def test_a_table_whose_percentiles_fall_names_line_columns_and_values(tmp_path: Path) -> None:
    told = refused(tmp_path / "t.csv", "users,p50 (ms),p95 (ms),p99 (ms)\n5,10,20,30\n10,500,100,50\n")
    assert f"{tmp_path / 't.csv'}:3: p50 (ms) is 500, p95 (ms) is 100, p99 (ms) is 50" in told


def test_only_what_falls_is_named_and_other_mistakes_are_told_with_it(tmp_path: Path) -> None:
    text = "users,p50,p90,p95,gc cpu (%)\n10,1 ms,500 ms,400 ms,10\n20,1 ms,2 ms,3 ms,120\n"
    told = refused(tmp_path / "t.csv", text)
    assert ":2: p90 is 500 ms, p95 is 400 ms: " in told and "2 mistakes" in told and "above 100%" in told


@pytest.mark.parametrize(
    ("heading", "cells", "named"),
    [
        ("p95 (s),max (ms)", "1.5,1200", "p95 (s) is 1.5, max (ms) is 1200"),
        ("min (ms),p50 (ms)", "60,40", "min (ms) is 60, p50 (ms) is 40"),
        ("mean (ms),max (ms)", "60,40", "mean (ms) is 60, max (ms) is 40"),
        ("min (ms),mean (ms)", "60,40", "min (ms) is 60, mean (ms) is 40"),
        ("p99.9 (ms),p99 (ms)", "40,60", "p99 (ms) is 60, p99.9 (ms) is 40"),
        ("p50 (ms),p9 (ms)", "40,60", "p9 (ms) is 60, p50 (ms) is 40"),
    ],
)
def test_any_two_statistics_that_cannot_be_are_refused(tmp_path: Path, heading: str, cells: str, named: str) -> None:
    assert named in refused(tmp_path / "t.csv", f"users,{heading}\n1,{cells}\n")


@pytest.mark.parametrize(
    ("heading", "cells"),
    [
        ("p50 (ms),p95 (ms),max (ms)", "7,7,7"),
        ("p95 (s),max (ms)", "1.2,1160"),
        ("mean (ms),max (ms)", "12.34,12.3"),
        ("p99 (ms),max (ms)", "1300,1260"),
        ("min (ms),p50 (ms)", "0.4,0"),
        ("mean (ms),p50 (ms),p95 (ms)", "300,10,20"),
        ("p50 (ms),p95 (ms),p99 (ms)", "500,-,600"),
    ],
)
def test_equal_rounded_and_missing_times_are_read(tmp_path: Path, heading: str, cells: str) -> None:
    assert accepted(tmp_path / "t.csv", f"users,{heading}\n1,{cells}\n")


@pytest.mark.parametrize(
    ("heading", "cells"),
    [
        ("p95 (s),max (ms)", "1.2,1140"),
        ("mean (ms),max (ms)", "12.5,12.3"),
        ("p99 (ms),max (ms)", "1300,1180"),
        ("p50 (ms),p95 (ms)", "120,100"),
        ("p50 (ms),p95 (ms)", "1,0.0"),
    ],
)
def test_more_than_the_printed_digits_allow_is_refused(tmp_path: Path, heading: str, cells: str) -> None:
    refused(tmp_path / "t.csv", f"users,{heading}\n1,{cells}\n")


@pytest.mark.parametrize(
    ("cell", "by"),
    [("0.35 s", 0.005), ("7", 0.5), ("1,300", 50), ("100", 5), ("1000", 50), ("12.0", 0.05), ("0", 0.5),
     ("1.2e3", 50), ("0e99999999999", float("inf")), ("1.5E-2", 0.0005)],
)  # fmt: skip
def test_a_cell_is_rounded_by_half_of_its_last_digit(cell: str, by: float) -> None:
    assert rounded_by(cell) == pytest.approx(by)


def k6(**durations: float) -> str:
    metrics = {"http_reqs": {"count": 10, "rate": 1.0}, "http_req_duration": durations}
    return json.dumps({"metrics": metrics})


def test_a_summary_of_k6_whose_times_fall_is_refused(tmp_path: Path) -> None:
    told = refused(tmp_path / "k.json", k6(**{"min": 60, "med": 40, "max": 10, "p(95)": 5, "avg": 30}))
    for words in ("http_req_duration.min is 60", "http_req_duration.max is 10", "http_req_duration.p(95) is 5"):
        assert words in told
    assert accepted(tmp_path / "k.json", k6(**{"min": 5, "med": 5, "max": 5, "p(95)": 5, "avg": 5.000000000000001}))


def test_a_report_of_vegeta_and_a_summary_of_oha_whose_times_fall_are_refused(tmp_path: Path) -> None:
    vegeta = json.loads((DATA / "vegeta-report.json").read_text())
    vegeta["latencies"]["99th"] = 1_000
    assert "latencies.99th is 1000" in refused(tmp_path / "v.json", json.dumps(vegeta))
    oha = json.loads(OHA)
    oha["summary"]["average"] = 9
    told = refused(tmp_path / "o.json", json.dumps(oha))
    assert "summary.average is 9, summary.slowest is 0.5" in told


def test_wrk_and_wrk2_whose_times_fall_name_the_line_of_the_run(tmp_path: Path) -> None:
    told = refused(tmp_path / "w", "$ wrk2\n" + WRK2.replace(" 90.000%    8.87ms", " 90.000%    1.87ms"))
    assert f"{tmp_path / 'w'}:2: 50.000% is 6.67ms, 90.000% is 1.87ms: " in told
    fine = WRK2.replace(" 99.000%   11.35ms", " 99.000%   12.36ms")  # more than Max, as its histogram estimates
    assert accepted(tmp_path / "w", fine)["p99"] == (12.36, 12.36)


def test_statistics_of_locust_that_fall_name_their_line(tmp_path: Path) -> None:
    stats = (DATA / "locust_stats.csv").read_text().splitlines(keepends=True)
    stats[2] = stats[2].replace(",11,15,18,", ",91,15,18,")
    assert ":3: 50% is 91, 66% is 15" in refused(tmp_path / "s.csv", "".join(stats))


def test_a_window_of_locusts_history_that_falls_names_its_line(tmp_path: Path) -> None:
    lines = (DATA / "locust_history.csv").read_text().splitlines(keepends=True)
    lines[-2] = lines[-2].replace(",16,20,23,", ",96,20,23,")
    told = refused(tmp_path / "h.csv", "".join(lines), imported)
    assert f"h.csv:{len(lines) - 1}: 50% is 96, 66% is 20" in told


def test_statistics_of_other_names_have_no_order() -> None:
    check_order({"p50": Stated("a", "5", 5.0), "stdev": Stated("b", "1", 1.0), "p": Stated("c", "1", 1.0)})
    with pytest.raises(BadRecord, match="a is 5, d is 4"):
        check_order({"p50": Stated("a", "5", 5.0), "p50.5": Stated("d", "4", 4.0)})
