"""Files that something else wrote again: spreadsheets, other writers of JSON, several hosts, parents without
samples."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pytest
from importing import DATA, imported

from plimsoll.errors import InputError
from plimsoll.runs.importers.catalogue import format_of
from plimsoll.runs.importers.lines import SourceFile

T0 = 1_790_000_000
HEADER = "timeStamp,elapsed,label,responseCode,responseMessage,threadName,success,bytes,allThreads,Hostname\n"


def line(at_ms: int | str, users: int = 5, host: str = "a", message: str = "OK", label: str = "GET /a") -> str:
    return f"{at_ms},20,{label},200,{message},Users 1-1,true,100,{users},{host}\n"


@pytest.mark.parametrize("time", ["1.76E+12", "1.764000E+12", "1.7640001E12"])
def test_times_that_a_spreadsheet_rounded_are_refused_with_what_they_lost(tmp_path: Path, time: str) -> None:
    (tmp_path / "r.jtl").write_text(HEADER + line(time))
    with pytest.raises(InputError, match=r"was rounded to .* as spreadsheets do"):
        imported(tmp_path / "r.jtl")


def test_a_time_in_powers_with_all_its_digits_is_a_time(tmp_path: Path) -> None:
    (tmp_path / "r.jtl").write_text(HEADER + line("1.790000000500E+12"))
    assert imported(tmp_path / "r.jtl").spill.first_s == pytest.approx(T0 + 0.5)


def test_threads_of_several_hosts_are_added_up_until_each_ends(tmp_path: Path) -> None:
    rows = [line(1000 * (T0 + second), 5, "a") for second in range(10)]
    rows += [line(1000 * (T0 + second) + 3, 3, "b") for second in range(6)]
    (tmp_path / "r.jtl").write_text(HEADER + "".join(rows))
    found = imported(tmp_path / "r.jtl")
    assert [snapshot.level for snapshot in found.snapshots] == [8] * 6 + [5] * 4
    assert any("2 hosts are added up" in note for note in found.notes)


def test_transactions_without_their_samples_are_the_requests_and_counted_once(tmp_path: Path) -> None:
    message = "Number of samples in transaction : 3; number of failing samples : 0"
    (tmp_path / "r.jtl").write_text(HEADER + "".join(line(1000 * (T0 + n), message=message) for n in range(7)))
    found = imported(tmp_path / "r.jtl")
    assert (found.spill.samples, found.spill.iterations) == (7, 7)
    assert any("transactions only" in note for note in found.notes)


def test_a_transaction_of_an_xml_beside_its_samples_is_no_request(tmp_path: Path) -> None:
    samples = "".join(f'<httpSample t="10" ts="{1000 * T0 + n}" lb="a" rc="200" s="true" na="1"/>' for n in range(3))
    parent = (
        f'<sample t="30" ts="{1000 * T0}" lb="Checkout" rc="200" '
        'rm="Number of samples in transaction : 3, number of failing samples : 0" s="true" na="1"/>'
    )
    (tmp_path / "r.jtl").write_text(f'<testResults version="1.2">{samples}{parent}</testResults>')
    found = imported(tmp_path / "r.jtl")
    assert (found.spill.samples, found.spill.iterations) == (3, 1)


def test_k6_samples_written_again_with_spaces_are_the_same(tmp_path: Path) -> None:
    import gzip

    lines = gzip.decompress((DATA / "k6.json.gz").read_bytes()).decode().splitlines()
    again = tmp_path / "again.json"
    again.write_text("".join(json.dumps(json.loads(one)) + "\n" for one in lines))
    found, first = imported(again), imported(DATA / "k6.json.gz")
    assert found.format.name == "k6-json"
    assert (found.spill.samples, found.spill.iterations) == (first.spill.samples, first.spill.iterations)
    assert found.snapshots == first.snapshots


OWN_TREND = {"type": "Metric", "data": {"name": "steps", "type": "trend", "contains": "time"}, "metric": "steps"}


def k6_point(metric: str, value: float, **tags: str) -> dict[str, Any]:
    data = {"time": "2026-11-22T05:55:32.736146503Z", "value": value, "tags": tags or None}
    return {"metric": metric, "type": "Point", "data": data}


@pytest.mark.parametrize("separators", [(",", ":"), (", ", ": ")])
@pytest.mark.parametrize("order", [("metric", "type", "data"), ("type", "data", "metric")])
def test_points_of_k6_that_are_not_used_are_skipped_in_each_form(
    tmp_path: Path, separators: tuple[str, str], order: tuple[str, ...]
) -> None:
    others = [
        k6_point(name, 1, type="trend") for name in ("http_reqs", "http_req_waiting", 'x"', "größe", "my_counter")
    ]
    lines = [
        OWN_TREND,
        k6_point("http_req_duration", 9.5, status="200"),
        *others,
        k6_point("steps", 7),
        k6_point("vus", 3),
    ]
    ordered = [{key: line[key] for key in (order if line["type"] == "Point" else line)} for line in lines]
    (tmp_path / "k.json").write_text("".join(json.dumps(line, separators=separators) + "\n" for line in ordered))
    found = imported(tmp_path / "k.json")
    metrics = {series.metric for snapshot in found.snapshots for series in snapshot.series}
    assert (found.spill.samples, found.snapshots[-1].level, found.notes) == (1, 3, [])
    assert "steps" in metrics and not metrics & {"http_req_waiting", 'x"', "größe", "my_counter"}


def test_a_point_that_is_not_used_and_was_cut_in_the_middle_of_k6s_file_names_its_line(tmp_path: Path) -> None:
    lines = [json.dumps(k6_point(name, 1), separators=(",", ":")) for name in ("http_req_duration", "x", "vus")]
    lines[1] = lines[1][:-3]
    (tmp_path / "k.json").write_text("\n".join(lines) + "\n")
    with pytest.raises(InputError, match="the line is no whole object") as caught:
        imported(tmp_path / "k.json")
    assert caught.value.place.line == 2


def test_a_har_is_named_as_one(tmp_path: Path) -> None:
    (tmp_path / "x.har").write_text(json.dumps({"log": {"version": "1.2", "creator": {"name": "x"}, "entries": []}}))
    with pytest.raises(InputError, match="this is a HAR"):
        format_of(SourceFile(tmp_path / "x.har"))


def test_the_total_of_a_table_is_no_operation_beside_the_others(tmp_path: Path) -> None:
    from importing import table_of

    (tmp_path / "t.csv").write_text("label,users,req/s\nHome,10,60\nCart,10,40\nTOTAL,10,100\n")
    _, table, _ = table_of(tmp_path / "t.csv")
    [total] = table.totals()
    assert total.throughput_per_s == 100 and table.operations == ("Home", "Cart", None)


@pytest.mark.parametrize("packed", [False, True])
def test_a_file_that_becomes_shorter_while_it_is_read_is_refused(tmp_path: Path, packed: bool) -> None:
    path = tmp_path / "r.jtl"
    data = (
        HEADER + "".join(line(1000 * T0 + at, label=f"GET /{at * 7919 % 100_003}") for at in range(60_000))
    ).encode()
    path.write_bytes(gzip.compress(data) if packed else data)
    lines = SourceFile(path).text()
    next(lines)
    with path.open("r+b") as file:
        file.truncate(path.stat().st_size // 2)
    with pytest.raises(InputError, match="became shorter while it was read"):
        list(lines)
