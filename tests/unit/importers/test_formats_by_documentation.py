"""Formats of tools that were not at hand, after their documentation: JMeter, Gatling, oha, wrk2."""

from __future__ import annotations

import struct
from pathlib import Path

import pytest
from importing import DATA, imported, table_of

from plimsoll.errors import InputError
from plimsoll.findings.exit_codes import exit_code_of
from plimsoll.findings.imported.table_levels import levels_finding

T0 = 1_790_000_000_000
HEADER = (
    "timeStamp,elapsed,label,responseCode,responseMessage,threadName,dataType,success,failureMessage,bytes,sentBytes,"
    "grpThreads,allThreads,URL,Latency,IdleTime,Connect\n"
)


def jtl_line(
    at_ms: int, elapsed: int, label: str, code: str = "200", ok: bool = True, users: int = 3, message: str = "OK"
) -> str:
    word = "true" if ok else "false"
    begin = f"{T0 + at_ms},{elapsed},{label},{code},{message},Shop 1-{users},text,{word}"
    return f"{begin},,2781,133,{users},{users},u,1,0,1\n"


def test_jtl_csv_counts_requests_in_the_second_they_ended_with_group_name_and_code(tmp_path: Path) -> None:
    rows = [
        jtl_line(900, 200, "GET /a"),
        jtl_line(1000, 50, "GET /b", code="503", ok=False),
        jtl_line(3500, 20, "GET /a"),
    ]
    (tmp_path / "r.jtl").write_text(HEADER + "".join(rows))
    found = imported(tmp_path / "r.jtl")
    assert found.format.name == "jmeter-csv"
    assert [snapshot.done for snapshot in found.snapshots] == [0, 2, 0, 1]
    assert [snapshot.started for snapshot in found.snapshots] == [1, 1, 0, 1]
    assert [snapshot.in_flight for snapshot in found.snapshots] == [1, 0, 0, 0]
    assert [snapshot.level for snapshot in found.snapshots] == [0, 3, 3, 3]
    assert found.times(scenario="Shop", name="GET /a").count == 2
    assert found.failed() == 1
    assert found.total("data_received") == 3 * 2781


def test_jtl_csv_takes_transactions_as_iterations_and_words_instead_of_codes_as_errors(tmp_path: Path) -> None:
    transaction = jtl_line(0, 300, "Checkout", code="", message="Number of samples in transaction : 2")
    broken = jtl_line(0, 100, "GET /a", code="Non HTTP response code: java.net.SocketException", ok=False)
    (tmp_path / "r").write_text(HEADER + jtl_line(0, 200, "GET /a") + broken + transaction)
    found = imported(tmp_path / "r")
    assert found.times().count == 2
    assert found.times("iteration_duration", scenario="Checkout").count == 1
    errors = {s.tags.get("error") for snapshot in found.snapshots for s in snapshot.series if s.passes}
    assert errors == {"Non HTTP response code: java.net.SocketException"}


def test_jtl_csv_in_any_order_gives_the_same_seconds(tmp_path: Path) -> None:
    lines = [jtl_line(137 * n, 10 + n % 90, f"GET /{n % 3}") for n in range(800)]
    (tmp_path / "a").write_text(HEADER + "".join(lines))
    (tmp_path / "b").write_text(HEADER + "".join(reversed(lines)))
    one, other = imported(tmp_path / "a"), imported(tmp_path / "b")

    def seen(found):
        return [
            (s.second, s.planned, s.done, s.in_flight, s.level, sorted(map(repr, s.series))) for s in found.snapshots
        ]

    assert seen(one) == seen(other)
    assert one.times() == other.times() and one.times().count == 800


def test_jtl_csv_with_more_names_than_tags_allow_merges_the_rest(tmp_path: Path) -> None:
    (tmp_path / "r").write_text(HEADER + "".join(jtl_line(n, 5, f"GET /item/{n}") for n in range(1500)))
    found = imported(tmp_path / "r")
    assert found.times().count == 1500
    assert found.times(name="other").count == 500
    assert found.spill.merged_tag_sets


JTL_XML = f"""<?xml version="1.0" encoding="UTF-8"?>
<testResults version="1.2">
<httpSample t="120" it="0" lt="100" ct="5" ts="{T0}" s="true" lb="GET /a" rc="200" tn="Shop 1-1" by="900" na="2">
  <httpSample t="60" lt="50" ts="{T0}" s="true" lb="GET /a-0" rc="302" tn="Shop 1-1" by="100" na="2"/>
</httpSample>
<sample t="340" ts="{T0}" s="true" lb="Checkout" rc="200" tn="Shop 1-1" na="2">
  <httpSample t="40" ts="{T0}" s="false" lb="POST /b" rc="500" tn="Shop 1-1" by="50" na="2">
    <java.net.URL>u</java.net.URL></httpSample>
</sample>
"""


@pytest.mark.parametrize("end", ["</testResults>\n", "", '<httpSample t="12'])
def test_jtl_xml_whole_or_cut_counts_samples_and_not_their_redirects(tmp_path: Path, end: str) -> None:
    (tmp_path / "r.xml").write_text(JTL_XML + end)
    found = imported(tmp_path / "r.xml")
    assert found.format.name == "jmeter-xml"
    assert found.times().count == 2 and found.failed() == 1
    assert found.times("iteration_duration", scenario="Checkout").count == 1
    assert bool(found.notes) == (end != "</testResults>\n")


GATLING_39 = (
    f"RUN\tshop.Simulation\tshop\t{T0}\t \t3.9.5\n"
    f"USER\tBrowse\tSTART\t{T0}\n"
    f"REQUEST\tCart\tGET /a\t{T0 + 10}\t{T0 + 110}\tOK\t \n"
    f"REQUEST\t\tGET /b\t{T0 + 120}\t{T0 + 1500}\tKO\tstatus.find.is(200), but actually found 503\n"
    f"GROUP\tCart\t{T0 + 10}\t{T0 + 110}\t100\tOK\n"
    f"USER\tBrowse\tEND\t{T0 + 2600}\n"
    f"ERROR\tsomething\t{T0 + 2600}\n"
)
GATLING_2 = (
    f"RUN\tshop.Simulation\t\tshop\t{T0}\t \t2.0\n"
    f"USER\tBrowse\t1\tSTART\t{T0}\t0\n"
    f"REQUEST\tBrowse\t1\tCart\tGET /a\t{T0 + 10}\t{T0 + 110}\tOK\t \n"
    f"REQUEST\tBrowse\t1\t\tGET /b\t{T0 + 120}\t{T0 + 1500}\tKO\tfound 503\n"
    f"GROUP\tBrowse\t1\tCart\t{T0 + 10}\t{T0 + 110}\t100\tOK\n"
    f"USER\tBrowse\t1\tEND\t{T0}\t{T0 + 2600}\n"
)


def text(value: str) -> bytes:
    return struct.pack(">i", len(value)) + value.encode("latin-1") + (b"\0" if value else b"")


def cached(number: int, value: str | None = None) -> bytes:
    return struct.pack(">i", number) + text(value) if value is not None else struct.pack(">i", -number)


def binary_log() -> bytes:
    """The records of GATLING_39, as Gatling 3.13 and later write them."""
    run = b"\0" + text("3.11.5") + text("shop.Simulation") + struct.pack(">q", T0) + text("")
    run += struct.pack(">i", 1) + text("Browse") + struct.pack(">i", 1) + struct.pack(">i", 3) + b"abc"
    start = b"\2" + struct.pack(">i?i", 0, True, 0)
    first = b"\1" + struct.pack(">i", 1) + cached(1, "Cart") + cached(2, "GET /a") + struct.pack(">ii?", 10, 110, True)
    first += cached(3, "")
    second = b"\1" + struct.pack(">i", 0) + cached(4, "GET /b") + struct.pack(">ii?", 120, 1500, False)
    second += cached(5, "found 503")
    group = b"\3" + struct.pack(">i", 1) + cached(1) + struct.pack(">iii?", 10, 110, 100, True)
    end = b"\2" + struct.pack(">i?i", 0, False, 2600)
    return run + start + first + second + group + end + b"\4" + cached(5) + struct.pack(">i", 2600)


@pytest.mark.parametrize("log", [GATLING_39.encode(), GATLING_2.encode(), binary_log()], ids=["3.9", "2", "3.11"])
def test_gatlings_log_of_every_version_gives_requests_groups_and_users(tmp_path: Path, log: bytes) -> None:
    (tmp_path / "simulation.log").write_bytes(log)
    found = imported(tmp_path / "simulation.log")
    assert found.times(name="GET /a").max == pytest.approx(100) and found.times(name="GET /b").max == pytest.approx(
        1380
    )
    assert found.failed() == 1
    assert found.times("iteration_duration", scenario="Cart").count == 1
    assert [snapshot.level for snapshot in found.snapshots] == [1, 1]
    assert not found.notes


def test_gatlings_binary_log_that_was_cut_is_used_up_to_its_last_whole_record(tmp_path: Path) -> None:
    (tmp_path / "simulation.log").write_bytes(binary_log()[:-40])
    found = imported(tmp_path / "simulation.log")
    assert found.times().count >= 1 and "is cut at byte" in found.notes[0]


OHA = """{"summary": {"successRate": 1.0, "total": 2.0, "slowest": 0.5, "fastest": 0.001, "average": 0.01,
"requestsPerSec": 500.0, "totalData": 1, "sizePerRequest": 1, "sizePerSec": 1.0},
"latencyPercentiles": {"p50": 0.008, "p90": 0.02, "p99.9": null}, "statusCodeDistribution": {"200": 980, "503": 15},
"errorDistribution": {"aborted due to deadline": 5, "connection refused": 2}}"""


def test_oha_is_one_row_in_ms_whose_aborted_requests_count_nowhere(tmp_path: Path) -> None:
    (tmp_path / "o").write_text(OHA)
    found, table, _ = table_of(tmp_path / "o")
    [row] = table.rows
    assert found.name == "oha"
    assert row.times_ms == {"p50": (8, 8), "p90": (20, 20), "mean": (10, 10), "min": (1, 1), "max": (500, 500)}
    assert (row.samples, row.failed) == (997, 17)
    assert "5 requests were under way" in table.notes[1]


WRK2 = """Running 30s test @ http://127.0.0.1:80/index.html
  2 threads and 100 connections
  Thread calibration: mean lat.: 9747 usec, rate sampling interval: 21 msec
  Thread Stats   Avg      Stdev     Max   +/- Stdev
    Latency     6.46ms    1.93ms  12.34ms   67.66%
    Req/Sec     1.05k     1.12k    2.50k    64.84%
  Latency Distribution (HdrHistogram - Recorded Latency)
 50.000%    6.67ms
 90.000%    8.87ms
 99.000%   11.35ms
100.000%   12.36ms

  Latency Distribution (HdrHistogram - Uncorrected Latency (measured without taking delayed starts into account))
 50.000%    1.00ms
  60018 requests in 30.00s, 19.81MB read
  Non-2xx or 3xx responses: 18
  Socket errors: connect 0, read 2, write 0, timeout 1
Requests/sec:   2000.15
Transfer/sec:    676.14KB
"""


def test_wrk2_times_are_the_corrected_ones_and_its_refused_requests_count(tmp_path: Path) -> None:
    (tmp_path / "w").write_text("$ wrk2 …\n" + WRK2)
    _, table, _ = table_of(tmp_path / "w")
    [row] = table.rows
    assert row.level == 100 and row.throughput_per_s == 2000.15
    assert row.times_ms["p50"] == (6.67, 6.67) and "p100" not in row.times_ms
    assert (row.samples, row.failed) == (60_021, 21)
    assert "wrk2" in table.notes[0] and "not used" in table.notes[1]


def test_wrk2_sends_at_a_rate_and_hides_no_queueing(tmp_path: Path) -> None:
    (tmp_path / "w").write_text(WRK2)
    found, _, _ = table_of(tmp_path / "w")
    assert (found.name, found.loop) == ("wrk2", "open")
    cannot = " ".join(found.cannot)
    assert "hides" not in cannot and "wait for each answer" not in cannot and "guess" not in cannot
    assert "does not print the rate" in cannot
    wrk, _, _ = table_of(DATA / "wrk.txt")
    assert (wrk.name, wrk.loop) == ("wrk", "closed") and "wait for each answer" in " ".join(wrk.cannot)


def test_wrk2_is_not_read_as_wrk_and_runs_that_may_be_of_both_are_counted(tmp_path: Path) -> None:
    (tmp_path / "w").write_text(WRK2)
    with pytest.raises(InputError, match="--format wrk2"):
        table_of(tmp_path / "w", "wrk")
    (tmp_path / "w").write_text(WRK2 + (DATA / "wrk.txt").read_text())
    found, table, _ = table_of(tmp_path / "w")
    assert found.name == "wrk2" and len(table.rows) == 5
    assert any("4 of 5 runs have no line that wrk does not print too" in note for note in table.notes)


def test_wrk_without_an_answer_names_its_errors_and_is_not_valid(tmp_path: Path) -> None:
    text = """Running 5s test @ http://localhost:8081
  2 threads and 2 connections
    Latency     0.00us    0.00us   0.00us    -nan%
  0 requests in 5.00s, 15.11KB read
  Socket errors: connect 0, read 236, write 0, timeout 0
Requests/sec:      0.00
"""
    (tmp_path / "w").write_text(text)
    _, table, notes = table_of(tmp_path / "w")
    assert "it counts 236 read errors." in notes[0] and "--timeout" not in notes[0]
    finding = levels_finding(table)
    assert exit_code_of([[finding]]) == 3 and finding["answer"].startswith("No request was answered (236 failed).")
    _, whole, _ = table_of(DATA / "wrk.txt")
    assert exit_code_of([[levels_finding(whole)]]) == 0


def test_wrk_that_was_cut_is_left_out_and_said(tmp_path: Path) -> None:
    (tmp_path / "w").write_text(WRK2 + WRK2[:300])
    _, table, notes = table_of(tmp_path / "w")
    assert len(table.rows) == 1 and "it is cut" in notes[0]
