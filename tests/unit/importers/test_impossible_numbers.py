"""Numbers that cannot all be true of one test are refused with file, key, value and what to do, all of them at once."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from importing import DATA, imported, table_of
from test_bad_files import message
from test_formats_by_documentation import HEADER, jtl_line

from plimsoll.verbs import analysis

INF, NAN = float("inf"), float("nan")
TIMES = {"avg": 12.5, "min": 5, "med": 10, "max": 90, "p(95)": 30}


def metrics(**changes: dict[str, Any]) -> dict[str, Any]:
    """What k6 says of 100 requests in 10 s, of which 3 failed, with changes of single values."""
    plain: dict[str, dict[str, Any]] = {
        "http_reqs": {"count": 100, "rate": 10.0},
        "http_req_failed": {"passes": 3, "fails": 97, "value": 0.03},
        "http_req_duration": dict(TIMES),
        "iterations": {"count": 50, "rate": 5.0},
        "vus": {"value": 5, "min": 5, "max": 5},
    }
    return {name: values | changes.get(name, {}) for name, values in plain.items()}


def export(**changes: dict[str, Any]) -> dict[str, Any]:
    """As --summary-export has it."""
    return {"metrics": metrics(**changes)}


def handled(**changes: dict[str, Any]) -> dict[str, Any]:
    """As handleSummary gets it."""
    found = {name: {"values": values} for name, values in metrics(**changes).items()}
    return {"metrics": found, "state": {"testRunDurationMs": 10_000}}


def machine_readable(**changes: dict[str, Any]) -> dict[str, Any]:
    """As --new-machine-readable-summary has it."""
    found = metrics(**changes)
    failed = found["http_req_failed"]
    found["http_req_failed"] = {"matches": failed["passes"], "total": failed["passes"] + failed["fails"]}
    found["http_reqs"].pop("rate") if "http_reqs" not in changes else None
    rows = [{"name": name, "values": values} for name, values in found.items()]
    return {"config": {"duration": 10.0}, "results": {"metrics": rows}}


@pytest.mark.parametrize("form", [export, handled, machine_readable])
def test_a_summary_of_k6_whose_numbers_agree_is_read(tmp_path: Path, form: Any) -> None:
    (tmp_path / "k.json").write_text(json.dumps(form()))
    [row] = table_of(tmp_path / "k.json", "k6-summary")[1].rows
    assert (row.samples, row.failed, row.throughput_per_s, row.duration_s) == (100, 3, 10, 10)


@pytest.mark.parametrize("form", [export, handled, machine_readable])
def test_more_failures_than_requests_are_refused_in_each_form_of_k6(tmp_path: Path, form: Any) -> None:
    (tmp_path / "k.json").write_text(json.dumps(form(http_req_failed={"passes": 500, "fails": 0, "value": 1})))
    text = message(tmp_path / "k.json", lambda path: table_of(path, "k6-summary"))
    assert "k.json: http_req_failed." in text and "500 failed of 100 requests (http_reqs.count) is impossible" in text


@pytest.mark.parametrize(
    ("changes", "what"),
    [
        ({"http_req_failed": {"passes": -3}}, "http_req_failed.passes: -3 is no number that can be"),
        ({"http_req_failed": {"passes": 3, "fails": 600, "value": 0.005}}, "603 that failed or not, of 100 requests"),
        ({"http_req_failed": {"value": 7}}, "http_req_failed.value: 7 is no number that can be"),
        ({"http_req_failed": {"value": 0.5}}, "http_req_failed.value: 0.5 contradicts 3 of 100"),
        ({"http_reqs": {"count": -100}}, "http_reqs.count: -100 is no number"),
        ({"http_reqs": {"count": 99.5}}, "http_reqs.count: 99.5 is no count"),
        ({"http_reqs": {"rate": INF}}, "http_reqs.rate: inf is no number"),
        ({"http_reqs": {"rate": NAN}}, "http_reqs.rate: nan is no number"),
        ({"http_reqs": {"rate": 40.0}}, "http_reqs.rate: 40/s contradicts 100 (http_reqs.count) in 10 s (state."),
        ({"iterations": {"rate": 50.0}}, "iterations.rate: 50/s contradicts 50 (iterations.count) in 10 s"),
        ({"vus": {"min": 9, "max": 5}}, "vus.min: 9 VUs at least and 5 at most"),
    ],
)
def test_an_impossible_number_of_k6_is_named_with_its_key_and_value(
    tmp_path: Path, changes: dict[str, dict[str, Any]], what: str
) -> None:
    (tmp_path / "k.json").write_text(json.dumps(handled(**changes)))
    text = message(tmp_path / "k.json")
    assert f"{tmp_path / 'k.json'}: " in text and what in text


def test_rates_of_an_export_that_are_of_two_durations_are_refused(tmp_path: Path) -> None:
    (tmp_path / "k.json").write_text(json.dumps(export(iterations={"rate": 50.0})))
    assert "iterations.rate: 50/s contradicts" in message(tmp_path / "k.json")


def test_all_impossible_numbers_of_k6_are_told_at_once(tmp_path: Path) -> None:
    wrong = handled(http_reqs={"rate": INF}, http_req_failed={"passes": 500}, http_req_duration={"avg": -1})
    (tmp_path / "k.json").write_text(json.dumps(wrong))
    text = message(tmp_path / "k.json")
    assert all(part in text for part in ("http_reqs.rate: inf", "500 failed of 100", "http_req_duration.avg: -1"))


def test_all_impossible_lines_of_locusts_statistics_are_told_at_once(tmp_path: Path) -> None:
    head = "Type,Name,Request Count,Failure Count,Average Response Time,Requests/s\n"
    (tmp_path / "l.csv").write_text(head + "GET,/a,100,500,5,10\nGET,/b,100,1,-5,10\nGET,/c,10,1,5,1\n")
    text = message(tmp_path / "l.csv")
    assert "l.csv:2: Failure Count: 500 failed of 100 requests (Request Count) is impossible" in text
    assert "l.csv:3: Average Response Time: '-5' is negative" in text and "2 mistakes" in text


def test_a_history_of_locust_with_more_failures_than_requests_names_its_line(tmp_path: Path) -> None:
    lines = (DATA / "locust_history.csv").read_text().splitlines()
    cells = lines[-1].split(",")
    columns = lines[0].split(",")
    cells[columns.index("Total Failure Count")] = "999999"
    (tmp_path / "h.csv").write_text("\n".join([*lines[:-1], ",".join(cells), ""]))
    text = message(tmp_path / "h.csv", imported)
    assert f"h.csv:{len(lines)}: Total Failure Count: 999,999 failed of" in text


WRK = """Running 3s test @ http://x/
  1 threads and 2 connections
  Thread Stats   Avg      Stdev     Max   +/- Stdev
    Latency     4.00ms    1.00ms   9.00ms   70.00%
  Latency Distribution
     50%    4.00ms
     99%    8.00ms
  600 requests in 3.00s, 1MB read
  Non-2xx or 3xx responses: 5
Requests/sec: 200.00
"""


@pytest.mark.parametrize(
    ("change", "what"),
    [
        (("4.00ms    1.00ms", "-4.00ms    1.00ms"), "w:4: Latency: '-4.00ms' is negative"),
        (("99%    8.00ms", "99%    -8.00ms"), "w:7: 99%: '-8.00ms' is negative"),
        (("Requests/sec: 200", "Requests/sec: -200"), "w:10: Requests/sec: '-200.00' is negative"),
        (("600 requests", "-600 requests"), "w:8: '-600' is negative"),
        (("responses: 5", "responses: 700"), "responses: 700 failed of 600 requests"),
        (("Requests/sec: 200", "Requests/sec: 900"), "Requests/sec: 900/s contradicts 600 (requests) in 3 s"),
    ],
)
def test_an_impossible_number_of_wrk_names_its_line(tmp_path: Path, change: tuple[str, str], what: str) -> None:
    (tmp_path / "w").write_text(WRK)
    assert len(table_of(tmp_path / "w")[1].rows) == 1
    (tmp_path / "w").write_text(WRK.replace(*change))
    assert what in message(tmp_path / "w").replace("Non-2xx or 3xx responses:", "responses:")


def test_all_impossible_lines_of_a_jtl_are_told_at_once_up_to_twenty(tmp_path: Path) -> None:
    right = jtl_line(0, 10, "a")
    wrong = [right.replace(",10,", ",-10,", 1), "0" + right[13:], right]
    (tmp_path / "r.jtl").write_text(HEADER + right + "".join(wrong))
    text = message(tmp_path / "r.jtl", imported)
    assert "r.jtl:3" in text and "-10 ms is impossible" in text
    assert "r.jtl:4: timeStamp: '0' is no time" in text and "2 mistakes" in text
    (tmp_path / "r.jtl").write_text(HEADER + right + wrong[0] * 500)
    assert message(tmp_path / "r.jtl", imported).count("is impossible") == 20


def test_a_report_of_vegeta_whose_rate_is_not_that_of_its_requests_is_refused(tmp_path: Path) -> None:
    data = json.loads((DATA / "vegeta-report.json").read_text())
    (tmp_path / "v.json").write_text(json.dumps(data | {"rate": 10 * data["rate"]}))
    assert "rate: " in message(tmp_path / "v.json") and "contradicts 2,400 (requests)" in message(tmp_path / "v.json")
    codes = {**data["status_codes"], "500": 5000}
    (tmp_path / "v.json").write_text(json.dumps(data | {"status_codes": codes}))
    assert "codes of 2,400 requests is impossible" in message(tmp_path / "v.json")


def test_a_table_with_more_failures_than_samples_names_its_line(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("users,samples,failed\n1,100,3\n2,100,500\n")
    assert "t.csv:3: failed: 500 failed of 100 requests (samples) is impossible" in message(tmp_path / "t.csv")


def test_negative_bytes_of_a_sample_are_refused(tmp_path: Path) -> None:
    wrong = jtl_line(0, 10, "a").split(",")
    wrong[9] = "-7"
    (tmp_path / "r.jtl").write_text(HEADER + jtl_line(0, 10, "a") + ",".join(wrong))
    assert "-7.0 bytes are impossible" in message(tmp_path / "r.jtl", imported)


@pytest.mark.parametrize("at_ms", [1_790_000_000_000, 4_000_000_000_000])
def test_a_result_of_a_time_that_has_not_come_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, at_ms: int
) -> None:
    monkeypatch.setattr(analysis.time, "time", lambda: 1_790_000_100.0)
    (tmp_path / "r.jtl").write_text(HEADER + jtl_line(0, 10, "a").replace("1790000000000", str(at_ms)))
    [answer] = analysis.analyze([tmp_path / "r.jtl"], analysis.AnalysisChoices(tmp_path / "runs", report=False))
    notes = [note for note in answer.findings[-1]["notes"] if "in the future" in note]
    assert len(notes) == (at_ms == 4_000_000_000_000)
