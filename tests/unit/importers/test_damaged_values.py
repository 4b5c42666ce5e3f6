"""A value of the wrong type or size has a message with its place, and what cannot be read is said, never 0."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from importing import DATA, imported, table_of
from test_formats_by_documentation import JTL_XML

from plimsoll.errors import InputError

OHA: dict[str, Any] = {
    "summary": {"successRate": 1.0, "total": 10.0, "slowest": 0.09, "fastest": 0.001, "average": 0.01,
                "requestsPerSec": 100.0},
    "latencyPercentiles": {"p50": 0.008, "p99": 0.06},
    "statusCodeDistribution": {"200": 1000},
    "errorDistribution": {},
}  # fmt: skip
WRK = (DATA / "wrk.txt").read_text()


def oha(folder: Path, **changes: Any) -> Any:
    path = folder / "oha.json"
    path.write_text(json.dumps({key: value for key, value in (OHA | changes).items() if value != "left out"}))
    return table_of(path, "oha")


def wrk(folder: Path, before: str, after: str) -> Any:
    assert before in WRK
    path = folder / "wrk.txt"
    path.write_text(WRK.replace(before, after, 1))
    return table_of(path)


@pytest.mark.parametrize("value", [True, 5, "x", [1]])
def test_percentiles_of_oha_that_are_none_are_named(tmp_path: Path, value: Any) -> None:
    with pytest.raises(InputError, match=r"oha\.json: latencyPercentiles: .* is no object of percentiles"):
        oha(tmp_path, latencyPercentiles=value)


def test_a_part_of_a_summary_that_is_no_object_is_named_and_not_taken_for_missing(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"oha\.json: summary: 5 is no object"):
        oha(tmp_path, summary=5)


@pytest.mark.parametrize("key", ["statusCodeDistribution", "errorDistribution"])
@pytest.mark.parametrize("value", [3, None, "left out"])
def test_failures_that_oha_does_not_tell_are_unknown_and_not_none(tmp_path: Path, key: str, value: Any) -> None:
    _, table, _ = oha(tmp_path, **{key: value})
    assert (table.rows[0].samples, table.rows[0].failed, table.rows[0].errors) == (None, None, None)
    assert any(f"How many requests failed is not known: {key}" in note for note in table.notes)


def test_answers_of_500_are_failures_of_oha(tmp_path: Path) -> None:
    _, table, _ = oha(tmp_path, statusCodeDistribution={"500": 1000})
    assert (table.rows[0].samples, table.rows[0].failed) == (1000, 1000)


def test_failures_that_k6_does_not_tell_are_said_to_be_unknown(tmp_path: Path) -> None:
    data = json.loads((DATA / "k6-summary.json").read_text())
    data["metrics"]["http_req_failed"] = 3
    (tmp_path / "k6.json").write_text(json.dumps(data))
    _, table, _ = table_of(tmp_path / "k6.json")
    assert table.rows[0].failed is None
    assert any("How many requests failed is not known: http_req_failed" in note for note in table.notes)


def total_of() -> str:
    return next(line for line in WRK.splitlines() if " requests in " in line)


@pytest.mark.parametrize("digits", [40, 400])
def test_a_gigantic_duration_or_count_of_wrk_names_its_line(tmp_path: Path, digits: int) -> None:
    total = total_of()
    seconds = total.split(" requests in ")[1].split(",")[0]
    for before, after in (
        (f"in {seconds}", f"in {'9' * digits}s"),
        ("and 1 connections", f"and {'9' * digits} connections"),
    ):
        if before in WRK:
            with pytest.raises(InputError, match=r"wrk\.txt:\d+: .*larger than anything measured can be"):
                wrk(tmp_path, before, after)


@pytest.mark.parametrize("wrong", ['"x"', "1_000", "٣"])
def test_a_line_of_wrk_that_cannot_be_read_is_noted(tmp_path: Path, wrong: str) -> None:
    rate = next(line for line in WRK.splitlines() if line.startswith("Requests/sec:"))
    try:
        notes = wrk(tmp_path, rate, f"Requests/sec: {wrong}")[2]
    except InputError as error:  # the only run
        notes = [str(error)]
    assert any("cannot be read and is not used" in note or "no run in it has an end" in note for note in notes)


def test_a_percentile_of_wrk_that_cannot_be_read_is_noted(tmp_path: Path) -> None:
    line = next(line for line in WRK.splitlines() if line.strip().startswith("90%"))
    _, table, notes = wrk(tmp_path, line, "     90%    1e400")
    assert "p90" not in table.rows[0].times_ms
    assert any("cannot be read and is not used: '90%    1e400'" in note for note in notes)


@pytest.mark.parametrize("wrong", ["1_000", "٣"])
@pytest.mark.parametrize("name", ["locust_stats.csv", "locust_history.csv"])
def test_numbers_that_only_python_reads_are_refused_in_locusts_files(tmp_path: Path, name: str, wrong: str) -> None:
    lines = (DATA / name).read_text().splitlines()
    header = lines[0].split(",")
    column = "Request Count" if name == "locust_stats.csv" else "Total Request Count"
    cells = lines[1].split(",")
    cells[header.index(column)] = wrong
    (tmp_path / name).write_text("\n".join([lines[0], ",".join(cells), *lines[2:]]) + "\n")
    with pytest.raises(InputError, match=rf":2: {column}: .*is no number"):
        (table_of if name == "locust_stats.csv" else imported)(tmp_path / name)


@pytest.mark.parametrize("wrong", ["1_000", "٣"])
@pytest.mark.parametrize("key", ["t", "na"])
def test_numbers_that_only_python_reads_are_refused_in_a_jtl(tmp_path: Path, key: str, wrong: str) -> None:
    import re

    text = re.sub(rf' {key}="\d+"', f' {key}="{wrong}"', JTL_XML, count=1)
    assert text != JTL_XML
    (tmp_path / "r.xml").write_text(text)
    with pytest.raises(InputError, match=r"no ms|no number"):
        imported(tmp_path / "r.xml")


@pytest.mark.parametrize("metric", ["http_req_duration", "iteration_duration"])
def test_a_tag_of_k6_that_is_a_list_names_its_line(tmp_path: Path, metric: str) -> None:
    data = {"time": "2026-11-01T10:00:00Z", "value": 5.0, "tags": {"scenario": [1], "name": [1]}}
    (tmp_path / "k6.json").write_text(json.dumps({"type": "Point", "metric": metric, "data": data}) + "\n")
    with pytest.raises(InputError, match=r":1: data\.tags: .* are no tags"):
        imported(tmp_path / "k6.json", "k6-json")
