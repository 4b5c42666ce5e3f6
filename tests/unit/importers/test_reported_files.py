"""Files that users of other tools reported as read wrongly; each test names the report. The inputs are made here."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from importing import imported, table_of

from plimsoll.errors import InputError
from plimsoll.runs.importers.catalogue import format_of
from plimsoll.runs.importers.jmeter import jtl_csv
from plimsoll.runs.importers.lines import SourceFile

T0_MS = 1_790_000_000_000
NAMES = (
    "timeStamp,elapsed,label,responseCode,responseMessage,threadName,dataType,success,failureMessage,bytes,sentBytes,"
    "grpThreads,allThreads,URL,Latency,IdleTime,Connect"
)


def sample(number: int, success: str = "true", delimiter: str = ",") -> str:
    """A line of JMeter's with its default columns."""
    at = T0_MS + 100 * number
    cells = (at, 40, "Home", 200, "OK", f"Users 1-{number % 5 + 1}", "text", success, "", 500, 90, 5, 5, "u", 30, 0, 1)
    return delimiter.join(map(str, cells)) + "\n"


@pytest.mark.parametrize("delimiter", [",", ";", "\t", "|"])
def test_a_jtl_without_the_names_of_its_columns_is_named_as_one(tmp_path: Path, delimiter: str) -> None:
    # kulya/jmeter-gradle-plugin 45, flood-io/ruby-jmeter 39: print_field_names is off
    (tmp_path / "r.jtl").write_text("".join(sample(number, delimiter=delimiter) for number in range(9)))
    with pytest.raises(InputError, match="without the line that names its columns") as error:
        format_of(SourceFile(tmp_path / "r.jtl"))
    assert NAMES in str(error.value)


def test_a_jtl_that_a_spreadsheet_saved_has_its_success_in_capitals(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # CSVSaveService of JMeter reads it so: Boolean.valueOf()
    lines = "".join(sample(number, "FALSE" if number % 10 == 0 else "TRUE") for number in range(50))
    (tmp_path / "r.csv").write_text(f"{NAMES}\n{lines}")
    found = imported(tmp_path / "r.csv")
    assert (found.spill.samples, found.spill.failed) == (50, 5)
    monkeypatch.setattr(jtl_csv, "LARGE_BYTES", 0)
    assert imported(tmp_path / "r.csv").spill.failed == 5


SUMMED = "this line holds 10 samples in one"


@pytest.mark.parametrize("large", [False, True])
def test_lines_that_hold_several_samples_have_no_times_and_are_refused(
    tmp_path: Path, large: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    # JMeter's StatisticalSampleResult: `elapsed` is the sum of the times of SampleCount samples
    if large:
        monkeypatch.setattr(jtl_csv, "LARGE_BYTES", 0)
    one = f"{T0_MS},400,Home,200,OK,Users 1-1,true,5000,5,1,0\n"
    several = f"{T0_MS + 900},4000,Home,200,OK,Users 1-1,true,5000,5,10,1\n"
    names = "timeStamp,elapsed,label,responseCode,responseMessage,threadName,success,bytes,allThreads"
    names = f"{names},SampleCount,ErrorCount"
    (tmp_path / "r.jtl").write_text(f"{names}\n{one}{one}")
    assert imported(tmp_path / "r.jtl").spill.samples == 2
    (tmp_path / "r.jtl").write_text(f"{names}\n{one}{several}{one}")
    with pytest.raises(InputError, match=rf"r\.jtl:3.*{SUMMED}.*mode=StrippedBatch"):
        imported(tmp_path / "r.jtl")


def test_so_are_those_of_an_xml(tmp_path: Path) -> None:
    line = f'<sample t="4000" ts="{T0_MS}" s="true" lb="Home" rc="200" rm="OK" tn="U 1-1" na="5" sc="{{}}" ec="0"/>'
    (tmp_path / "r.xml").write_text(f'<testResults version="1.2">{line.format(1)}{line.format(1)}</testResults>')
    assert imported(tmp_path / "r.xml").spill.samples == 2
    (tmp_path / "r.xml").write_text(f'<testResults version="1.2">{line.format(1)}{line.format(10)}</testResults>')
    with pytest.raises(InputError, match=SUMMED):
        imported(tmp_path / "r.xml")


@pytest.mark.parametrize(
    "saved",
    ["PNG&#x0;&#x1;", "PNG&#0;&#11;", "PNG\x01\x1f", "&#xFFFF;&#xD800;", "&" + "#x0;", "a&#xA;b &amp; &#128512;\tc"],
)
@pytest.mark.parametrize("before", [0, 65_400])
def test_answers_that_were_saved_with_characters_that_xml_does_not_have_cost_no_result(
    tmp_path: Path, saved: str, before: int
) -> None:
    # afranken/jmeter-analysis-maven-plugin 40, Blazemeter/taurus 619, apache/jmeter 6761: bodies that are no text
    body = f'<responseData class="java.lang.String">{"x" * before}{saved}</responseData>'
    lines = [
        f'<httpSample t="100" ts="{T0_MS + 100 * number}" s="true" lb="Home" rc="200" rm="OK" tn="U 1-1" by="9" na="5">'
        f"{body if number == 3 else ''}</httpSample>\n"
        for number in range(9)
    ]
    (tmp_path / "r.xml").write_text(f'<?xml version="1.0"?>\n<testResults>{"".join(lines)}</testResults>')
    found = imported(tmp_path / "r.xml")
    assert found.spill.samples == 9
    replaced = [note for note in found.notes if "XML does not have" in note]
    assert len(replaced) == (0 if "amp" in saved else 1), found.notes


WRK = """Running 5s test @ http://localhost:8081
  2 threads and 20 connections
  Thread Stats   Avg      Stdev     Max   +/- Stdev
    Latency     {mean}    0.00us   {most}    {share}%
    Req/Sec     0.00      0.00     0.00      -nan%
  Latency Distribution
     50%    {median}
     99%    {most}
  {count} requests in 5.00s, 15.11KB read
  Socket errors: connect 1, read {read}, write 0, timeout {late}
{refused}Requests/sec:      {rate}
Transfer/sec:      3.02KB
"""


def test_wrk_that_timed_nothing_has_no_times(tmp_path: Path) -> None:
    # wg/wrk 497, 452: no request was answered, or all came later than --timeout; it prints 0.00us for each time
    none = dict.fromkeys(("mean", "most", "median"), "0.00us")
    (tmp_path / "w.txt").write_text(
        WRK.format(**none, share="-nan", count=0, read=236, late=0, refused="", rate="0.00")
    )
    _, table, notes = table_of(tmp_path / "w.txt")
    assert table.rows[0].times_ms == {} and (table.rows[0].samples, table.rows[0].failed) == (237, 237)
    assert any("no time" in note for note in notes)


def test_wrk_counts_late_answers_among_its_requests(tmp_path: Path) -> None:
    # wg/wrk 140, 452: response_complete() of wrk.c adds to `complete` before the time is judged
    times = {"mean": "9.00ms", "most": "90.00ms", "median": "8.00ms", "share": "90.00"}
    (tmp_path / "w.txt").write_text(WRK.format(**times, count=1000, read=4, late=100, refused="", rate="200.00"))
    row = table_of(tmp_path / "w.txt")[1].rows[0]
    assert (row.samples, row.failed) == (1005, 105)
    refused = "  Non-2xx or 3xx responses: 1000\n"
    (tmp_path / "w.txt").write_text(WRK.format(**times, count=1000, read=4, late=100, refused=refused, rate="200.00"))
    row = table_of(tmp_path / "w.txt")[1].rows[0]
    assert (row.samples, row.failed) == (1005, 1005), "an answer is both refused and late, and fails once"


HISTORY = (
    "Timestamp,User Count,Type,Name,Requests/s,Failures/s,50%,66%,75%,80%,90%,95%,98%,99%,99.9%,99.99%,100%,"
    "Total Request Count,Total Failure Count,Total Median Response Time,Total Average Response Time,"
    "Total Min Response Time,Total Max Response Time,Total Average Content Size\r\n"
)


def test_locusts_counts_that_begin_anew_count_from_there(tmp_path: Path) -> None:
    # locustio/locust 513, 662, 846: statistics are reset once all users are there (--reset-stats)
    counts = [50, 100, 150, 45, 95, 145]
    lines = [
        f"{T0_MS // 1000 + second},10,,Aggregated,50.0,0.0,{','.join(['100'] * 11)},{count},0,100,100,100,100,10\r\n"
        for second, count in enumerate(counts)
    ]
    (tmp_path / "x_stats_history.csv").write_text(HISTORY + "".join(lines))
    found = imported(tmp_path / "x_stats_history.csv")
    assert found.total("http_reqs") == 150 + 145
    assert any("began anew" in note for note in found.notes)


AGGREGATE = (
    "Label,# Samples,Average,Median,90% Line,95% Line,99% Line,Min,Max,Error %,Throughput,Received KB/sec,Sent KB/sec"
)
PLUGINS = (
    "sampler_label,aggregate_report_count,average,aggregate_report_median,aggregate_report_90%_line,"
    "aggregate_report_95%_line,aggregate_report_99%_line,aggregate_report_min,aggregate_report_max,"
    "aggregate_report_error%,aggregate_report_rate,aggregate_report_bandwidth,aggregate_report_stddev"
)


@pytest.mark.parametrize("names", [AGGREGATE, AGGREGATE.replace(",Max,", ",Maximum,"), PLUGINS])
def test_jmeters_own_tables_have_the_units_that_their_headings_lack(tmp_path: Path, names: str) -> None:
    # test-results-reporter/testbeats 69, flood-io/ruby-jmeter 48
    rows = "Home,1000,120,110,200,250,300,50,400,0.000%,10.50000,20.11,1.2\nLogin,500,220,210,300,350,400,150,500,"
    rows += "2.000%,5.25,20.1,1.2\nTOTAL,1500,153,140,280,320,390,50,500,0.667%,15.75,40.2,2.4\n"
    (tmp_path / "a.csv").write_text(f"{names}\n{rows}")
    found, table, _ = table_of(tmp_path / "a.csv")
    home, login, total = table.rows
    assert found.name == "table" and (home.operation, login.operation, total.operation) == ("Home", "Login", None)
    assert (
        home.times_ms["mean"] == (120, 120)
        and home.times_ms["p99"] == (300, 300)
        and home.times_ms["max"] == (400, 400)
    )
    assert (login.samples, login.error_share, login.throughput_per_s) == (500, pytest.approx(0.02), 5.25)
    assert any("times are taken as ms" in note for note in table.notes)


def test_a_summary_report_with_a_column_of_users_is_a_table_of_levels(tmp_path: Path) -> None:
    # ballerina-performance-cloud appends a line a test, with the users behind JMeter's own columns
    names = "Label,# Samples,Average,Min,Max,Std. Dev.,Error %,Throughput,Received KB/sec,Sent KB/sec,Avg. Bytes,Users"
    rows = "".join(f"get,1000,{20 + n},1,90,3.10,0.000%,{100 * n}.00000,1.2,0.5,90.0,{10 * n}\n" for n in (1, 2, 4))
    (tmp_path / "s.csv").write_text(f"{names}\n{rows}")
    table = table_of(tmp_path / "s.csv")[1]
    assert [(row.level, row.throughput_per_s) for row in table.rows] == [(10, 100), (20, 200), (40, 400)]


def test_other_tables_still_need_their_units(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("users,throughput (/s),average\n10,100,120\n")
    with pytest.raises(InputError, match="no unit says whether this is ms or s"):
        table_of(tmp_path / "t.csv")


def test_a_test_that_ended_before_its_vus_were_counted_is_of_no_level(tmp_path: Path) -> None:
    # FAULTS: `vus` of runs under a second are 0; the analysis of such a summary ended with a traceback
    metrics = {"http_reqs": {"count": 2, "rate": 46.6}, "vus": {"value": 0, "min": 0, "max": 0}}
    (tmp_path / "s.json").write_text(json.dumps({"metrics": metrics | {"http_req_duration": {"p(95)": 41.3}}}))
    table = table_of(tmp_path / "s.json")[1]
    assert table.rows[0].level is None and any("is of no level" in note for note in table.notes)


def test_the_new_machine_readable_summary_of_k6_says_the_same(tmp_path: Path) -> None:
    # grafana/k6 4803, --new-machine-readable-summary: it was "no requests in it; check that the test ran"
    def metric(name: str, kind: str, **values: float) -> dict[str, object]:
        return {"name": name, "type": kind, "contains": "time" if kind == "trend" else "default", "values": values}

    times = {"avg": 12.5, "med": 10, "p(90)": 20, "p(95)": 30, "max": 90}
    metrics = [
        metric("http_reqs", "counter", count=100),
        metric("http_req_failed", "rate", matches=3, total=100, rate=0.03),
        metric("http_req_duration", "trend", **times),
        metric("vus", "gauge", value=5, min=5, max=5),
    ]
    whole = {"version": "1.0.0", "config": {"duration": 20.0, "execution": "local", "script": "s.js"}}
    (tmp_path / "n.json").write_text(json.dumps(whole | {"results": {"checks": None, "metrics": metrics}}))
    found, table, _ = table_of(tmp_path / "n.json")
    [row] = table.rows
    assert (found.name, row.level, row.samples, row.failed) == ("k6-summary", 5, 100, 3)
    assert (row.throughput_per_s, row.duration_s) == (5, 20)
    assert row.times_ms["p95"] == (30, 30) and row.times_ms["mean"] == (12.5, 12.5)


@pytest.mark.parametrize(
    ("text", "what", "step"),
    [
        ('{"Home": {"transaction": "Home", "sampleCount": 9}}', "JMeter's dashboard", "Give the JTL"),
        ('{"type": "GROUP", "stats": {"numberOfRequests": {"total": 9}}}', "Gatling's report", "simulation.log"),
        ("shop.Simulation\tshop\tRUN\t1790000000000\t \t2.0\n", "Gatling 2.0 or 2.1", "2.2 or later"),
        ('Method,Name,Error,Occurrences\r\nGET,/a,"x",3\r\n', "list of failures", "_stats_history.csv"),
        ('{"aggregate": {"counters": {"http.requests": 9}}}', "Artillery", "table of levels"),
        ("response-time,DNS+dialup,DNS,Request-write\n0.01,0,0,0\n", "a result of hey", "table of levels"),
        ("This is ApacheBench, Version 2.3\n", "ApacheBench", "table of levels"),
    ],
)
def test_files_that_are_not_read_are_named_with_what_to_give(tmp_path: Path, text: str, what: str, step: str) -> None:
    (tmp_path / "f").write_text(text)
    with pytest.raises(InputError, match=what) as error:
        format_of(SourceFile(tmp_path / "f"))
    assert step in str(error.value)
