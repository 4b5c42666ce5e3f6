"""What cannot be read ends with a message that says where and what next, never with a number."""

from __future__ import annotations

import bz2
import gzip
import json
import lzma
import tracemalloc
from importlib import import_module
from pathlib import Path

import pytest
from importing import DATA, imported, table_of
from test_formats_by_documentation import HEADER, JTL_XML, WRK2, jtl_line

from plimsoll.errors import InputError
from plimsoll.runs.importers import level_table, lines
from plimsoll.runs.importers.catalogue import format_of
from plimsoll.runs.importers.jmeter import jtl_columns

TABLE = "users,throughput (req/s),p95 (ms),gc cpu (%)\n"


def message(path: Path, read=table_of) -> str:
    with pytest.raises(InputError) as caught:
        read(path)
    text = str(caught.value)
    assert "Traceback" not in text and text.rstrip().endswith((".", "?", ")"))
    return text


@pytest.mark.parametrize(
    ("rows", "where", "what"),
    [
        ("10,5,120,NaN\n", ":2: gc cpu (%)", "no number that says anything"),
        ("10,-5,120,10\n", ":2: throughput (req/s)", "negative"),
        ("10,5,120,10\n20,1e300,1,1\n", ":3: throughput (req/s)", "larger than anything"),
        ("10,5,1.2 s,10\n", ":2: p95 (ms)", "mixed units: 's' here, 'ms' in the heading"),
        ("10,5,120,178.64%\n", ":2: gc cpu (%)", "above 100%"),
        ("10,5,fast,10\n", ":2: p95 (ms)", "'fast' is no number"),
        ('10,5,"12,5",10\n', ":2: p95 (ms)", "decimal comma"),
        ("0,5,120,10\n", ":2: users", "a level of 0 is none"),
        ("10,5,120\n20,5,120,10\n", ":2", "3 cells under 4 headings"),
        ("", ":1", "a heading and no rows"),
    ],
)
def test_a_table_with_a_wrong_cell_names_file_line_and_column(tmp_path: Path, rows: str, where: str, what: str) -> None:
    path = tmp_path / "t.csv"
    path.write_text(TABLE + rows)
    text = message(path)
    assert f"{path}{where}" in text and what in text


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("users,p95\n1,350 ms\n2,1.2 s\n", "mixed units: 's' here, 'ms' above"),
        ("users,p95\n1,350 ms\n2,360\n", "mixed units: none here, 'ms' above"),
        ("users,p95\n1,350\n", "no unit says whether this is ms or s"),
        ("users,throughput\n1,78\n", "it has no unit"),
        ("users,p95 (ms),p95 (ms)\n1,7,8\n", "two columns have this name"),
        ("connections,threads,req/s\n8,2,100\n", "threads: this and 'connections' both say the level"),
        ("users,req/s,rps\n8,2,100\n", "rps: this and 'req/s' both say the throughput"),
        ("users,p95 (ms),95% (ms)\n8,2,100\n", "95% (ms): this and 'p95 (ms)' both say the p95"),
        ("users,gc cpu (%),cpu gc (%)\n8,2,10\n", "cpu gc (%): this and 'gc cpu (%)' both say the utilisation of gc"),
    ],
)
def test_a_table_whose_units_nobody_can_know_is_refused(tmp_path: Path, text: str, what: str) -> None:
    (tmp_path / "t.csv").write_text(text)
    assert what in message(tmp_path / "t.csv")


def test_a_column_without_a_unit_is_told_once_and_not_for_each_row(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("users,throughput,p95\n1,78,5\n2,80,6\n3,81,x\n")
    told = message(tmp_path / "t.csv")
    assert told.count("it has no unit") == told.count("no unit says whether") == 1 and "3 mistakes" in told


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ('users,p95\n1,"0,350 s"\n', ":2: p95: '0,350 s' has a decimal comma"),
        ('users,p95\n1,"12,5ms"\n', "decimal comma"),
        ('users,p95 (ms)\n1,"1.234,5"\n', "decimal comma"),
        ("users;p95 (ms)\n1;1,350\n", ":2: p95 (ms): '1,350' is 1.350 or 1350"),
        ("users\tsamples\n1\t1,664\n", ":2: samples: '1,664' is 1.664 or 1664"),
        ("users,samples\n1,1.664\n", ":2: samples: '1.664' is no whole number"),
        ("users,failed\n1,0.5\n", ":2: failed: '0.5' is no whole number"),
    ],
)
def test_a_comma_or_a_point_that_may_mean_another_number_is_refused(tmp_path: Path, text: str, what: str) -> None:
    (tmp_path / "t.csv").write_text(text)
    assert what in message(tmp_path / "t.csv")


def test_thousands_that_can_be_nothing_else_are_read_whatever_separates_the_cells(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("users;samples;p95 (ms)\n10;1,234,567;1,350.5\n")
    [row] = table_of(tmp_path / "t.csv")[1].rows
    assert (row.samples, row.times_ms["p95"]) == (1_234_567, (1350.5, 1350.5))


def test_names_of_an_operation_in_several_columns_are_joined(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("method,endpoint,users,p95 (ms)\nGET,/a,1,5\n,/b,1,6\n,,1,7\n")
    assert table_of(tmp_path / "t.csv")[1].operations == ("GET /a", "/b", None)


def test_a_heading_of_many_spaces_is_read_as_any_other() -> None:
    assert level_table.column_of("p95" + " " * 20_000 + "(ms)").unit == "ms"
    assert level_table.column_of("cpu (" + " " * 20_000 + "x").unit == ""


def test_all_mistakes_of_a_table_are_told_together(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text(TABLE + "10,-5,NaN,10\n20,5,1 s,10\n")
    text = message(tmp_path / "t.csv")
    assert text.count("t.csv:2") == 2 and text.count("t.csv:3") == 1 and "3 mistakes" in text


def test_units_in_cells_and_markdown_and_thousands_are_read(tmp_path: Path) -> None:
    (tmp_path / "t.md").write_text(
        "| users | rps | p95 | db cpu | heap |\n|---|---|---|---|---|\n"
        "| 1,000 | 12.5 | 0.35 s | 78.64% | 130.5 MB |\n| 2,000 | 20 | 1.2 s | - | 150 MB |\n"
    )
    _, table, _ = table_of(tmp_path / "t.md")
    first, second = table.rows
    assert (first.level, first.throughput_per_s, first.times_ms["p95"]) == (1000, 12.5, (350, 350))
    assert first.utilisation == {"db": pytest.approx(0.7864)} and second.utilisation == {}


def test_a_last_line_that_was_cut_is_left_out_and_said(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text(TABLE + "10,5,120,10\n20,9")
    _, table, notes = table_of(tmp_path / "t.csv")
    assert len(table.rows) == 1 and "Line 3 is cut off" in notes[0]
    (tmp_path / "r.jtl").write_text(HEADER + jtl_line(0, 10, "a") + "17900000")
    found = imported(tmp_path / "r.jtl")
    assert found.times().count == 1 and "Line 3 is cut off" in found.notes[0]


def test_a_point_of_k6_that_was_cut_is_said_whatever_its_metric(tmp_path: Path) -> None:
    point = '{"metric":"NAME","type":"Point","data":{"time":"2026-11-22T05:34:37.5Z","value":9.5,"tags":{}}}\n'
    (tmp_path / "k.json").write_text(point.replace("NAME", "http_req_duration") + point.replace("NAME", "x")[:60])
    found = imported(tmp_path / "k.json")
    assert found.times().count == 1 and "Line 2 is cut off" in found.notes[0]


@pytest.mark.parametrize(
    ("metric", "value", "what"),
    [
        ("vus", "NaN", "a load of nan is impossible"),
        ("dropped_iterations", "Infinity", "inf dropped iterations are impossible"),
        ("dropped_iterations", "NaN", "nan dropped iterations are impossible"),
        ("http_req_duration", "1" * 400, "larger than anything measured can be"),
    ],
)
def test_a_point_of_k6_with_an_impossible_number_names_its_line(
    tmp_path: Path, metric: str, value: str, what: str
) -> None:
    at = '"time":"2026-11-22T05:34:37.5Z"'
    point = f'{{"metric":"http_req_duration","type":"Point","data":{{{at},"value":9.5,"tags":{{}}}}}}\n'
    wrong = point.replace("http_req_duration", metric).replace("9.5", value)
    (tmp_path / "k.json").write_text(point + wrong + point)
    text = message(tmp_path / "k.json", imported)
    assert "k.json:2" in text and what in text


def test_a_result_of_vegeta_with_a_number_of_400_digits_names_its_line(tmp_path: Path) -> None:
    line = '{"attack":"a","code":200,"timestamp":"2026-11-22T05:43:10Z","latency":LATENCY,"url":"/"}\n'
    (tmp_path / "v.json").write_text(line.replace("LATENCY", "5") + line.replace("LATENCY", "1" * 400) + line)
    assert "v.json:2" in message(tmp_path / "v.json", imported)


@pytest.mark.parametrize("size", ['"x"', '"12"', "true", "[1]"])
def test_bytes_of_vegeta_that_are_no_number_name_their_line(tmp_path: Path, size: str) -> None:
    line = '{"attack":"a","code":200,"timestamp":"2026-11-22T05:43:10Z","latency":5,"bytes_in":SIZE,"url":"/"}\n'
    (tmp_path / "v.json").write_text("".join(line.replace("SIZE", one) for one in ("7", "null", size, "7")))
    text = message(tmp_path / "v.json", imported)
    assert "v.json:3: bytes_in" in text and "is no number of bytes" in text


@pytest.mark.parametrize(
    ("change", "what"),
    [
        ({"status_codes": {"200": float("inf")}}, "status_codes.200: inf is no number"),
        ({"status_codes": {"200": "x"}}, "status_codes.200: 'x' is no number"),
        ({"status_codes": {"200": None}}, "status_codes.200: it is missing"),
        ({"status_codes": {"200": 9999}}, "9,999 answers of 2,400 requests"),
        ({"success": 1.5}, "success: 1.5 is no number"),
        ({"success": -0.5, "status_codes": None}, "success: -0.5 is no number"),
        ({"success": float("nan"), "status_codes": None}, "success: nan is no number"),
        ({"requests": float("inf")}, "requests: inf is no number"),
    ],
)
def test_a_report_of_vegeta_with_an_impossible_number_names_it(tmp_path: Path, change: dict, what: str) -> None:
    data = json.loads((DATA / "vegeta-report.json").read_text()) | change
    (tmp_path / "v.json").write_text(json.dumps(data))
    assert what in message(tmp_path / "v.json")


def test_a_report_of_vegeta_without_codes_has_errors_only_where_it_says_how_many_succeeded(tmp_path: Path) -> None:
    data = json.loads((DATA / "vegeta-report.json").read_text())
    del data["status_codes"]
    for success, errors in ((0.75, 0.25), (None, None)):
        (tmp_path / "v.json").write_text(json.dumps(data | {"success": success}))
        [row] = table_of(tmp_path / "v.json")[1].rows
        assert row.errors == errors


def test_a_summary_that_is_nested_too_deeply_is_not_called_cut(tmp_path: Path) -> None:
    (tmp_path / "k.json").write_text('{"metrics": {"http_reqs": ' + "[" * 100_000)
    text = message(tmp_path / "k.json")
    assert "nested too deeply" in text and "cut" not in text and "that the tool itself wrote" in text


def test_a_packed_file_that_was_cut_is_used_as_far_as_it_unpacks(tmp_path: Path) -> None:
    whole = gzip.compress((HEADER + "".join(jtl_line(n * 10, 7, "a") for n in range(20_000))).encode())
    (tmp_path / "r.jtl.gz").write_bytes(whole[: len(whole) // 2])
    found = imported(tmp_path / "r.jtl.gz")
    assert 1000 < found.times().count < 20_000
    assert any("cut after line" in note for note in found.notes)


@pytest.mark.parametrize(
    ("line", "what"),
    [
        ("x,10,a,200,OK,g 1-1,text,true,,1,1,1,1,u,1,0,1\n", "is no time"),
        ("1790000000000,NaN,a,200,OK,g 1-1,text,true,,1,1,1,1,u,1,0,1\n", "impossible"),
        ("1790000000000,-5,a,200,OK,g 1-1,text,true,,1,1,1,1,u,1,0,1\n", "impossible"),
        ("1790000000000,10,a,200,OK,g 1-1,text,maybe,,1,1,1,1,u,1,0,1\n", "neither true nor false"),
        ("1790000000000,10,a\n", "3 columns instead of 17"),
        ("1890000000000,10,a,200,OK,g 1-1,text,true,,1,1,1,1,u,1,0,1\n", "spans 1,157 days"),
        ("1" * 400 + ",10,a,200,OK,g 1-1,text,true,,1,1,1,1,u,1,0,1\n", "is no time"),
        ("1790000000000,10,a,200,OK,g 1-1,text,true,,1,1,1,nan,u,1,0,1\n", "a load of nan is impossible"),
        ("1790000000000,10,a,200,OK,g 1-1,text,true,,nan,1,1,1,u,1,0,1\n", "nan bytes are impossible"),
    ],
)
def test_a_wrong_line_of_samples_names_its_line(tmp_path: Path, line: str, what: str) -> None:
    (tmp_path / "r.jtl").write_text(HEADER + jtl_line(0, 10, "a") + line + jtl_line(1, 10, "a"))
    text = message(tmp_path / "r.jtl", imported)
    assert f"{tmp_path / 'r.jtl'}:3" in text and what in text


@pytest.mark.parametrize(
    ("data", "what"),
    [
        (b"", "the file is empty"),
        (b"hello world\nthis is text\n", "no known tool writes this"),
        (b"PK\x03\x04zip", "a zip archive or a spreadsheet"),
        (b"<!DOCTYPE html><html></html>", "a web page"),
        (
            b"\x7f\xff\x81\x03\x01\x01\x06Result\x01\xff\x82\x00\x01\x0c\x01\x06Attack\x01\x0c\x00\x01\x03Seq\x01\x06Timestamp",
            "vegeta encode",
        ),
        (b'{"metrics": {"http_reqs": {"count": 1}, "iterations"', "no whole JSON"),
        (b'{"metrics": {"http_req_duration": {"avg": 1}, "http_reqs": {"count": NaN, "rate": 1}}}', "http_reqs.count"),
        (b"\0\0\0\0\x063.11.5\0" + b"\xff" * 40, "no log of Gatling"),
    ],
)
def test_a_file_of_no_known_form_says_what_it_is_or_what_is_known(tmp_path: Path, data: bytes, what: str) -> None:
    (tmp_path / "f").write_bytes(data)

    def read(path: Path) -> object:
        from plimsoll.runs.importers.catalogue import format_of
        from plimsoll.runs.importers.lines import SourceFile

        return imported(path) if format_of(SourceFile(path)).shape == "samples" else table_of(path)

    assert what in message(tmp_path / "f", read)


@pytest.mark.parametrize(
    ("change", "what"),
    [
        (('by="900"', 'by="many"'), "are no ms and bytes"),
        (('ts="1790000000000"', 'ts="now"'), "is no time"),
        (("UTF-8", "UTF-9"), "no XML that can be read"),
        (("UTF-8", "gb2312"), "no XML that can be read"),
        (("<sample", "<<sample"), "no whole XML"),
    ],
)
def test_xml_that_cannot_be_read_says_why(tmp_path: Path, change: tuple[str, str], what: str) -> None:
    (tmp_path / "r.xml").write_text(JTL_XML.replace(*change) + "</testResults>")
    assert what in message(tmp_path / "r.xml", imported)


def test_a_result_of_vegeta_with_an_impossible_url_names_it(tmp_path: Path) -> None:
    line = '{"attack":"a","code":200,"timestamp":"2026-11-22T05:43:10Z","latency":5,"url":"http://[x/"}\n'
    (tmp_path / "v.json").write_text(line)
    assert "v.json:1: url" in message(tmp_path / "v.json", imported)


def test_a_time_in_locusts_history_that_cannot_be_names_its_line(tmp_path: Path) -> None:
    lines = (DATA / "locust_history.csv").read_text().splitlines(keepends=True)
    home = [line for line in lines if ",GET,home," in line][-1]
    later = home.replace("1795325721", "2795325721").replace(",3491,", ",9999,")
    (tmp_path / "h.csv").write_text("".join([*lines, later]))
    assert f"h.csv:{len(lines) + 1}" in message(tmp_path / "h.csv", imported)


def test_a_format_that_is_forced_and_unknown_lists_the_known(tmp_path: Path) -> None:
    (tmp_path / "f").write_text("x")
    with pytest.raises(InputError, match="jmeter-csv, "):
        imported(tmp_path / "f", "jmeter")


K6_POINT = '{"metric":"vus","type":"Point","data":{"time":1790000000,"value":1,"tags":{}}}\n'
VEGETA_RESULT = '{"attack":"a","code":200,"timestamp":"2026-11-22T05:14:00Z","latency":1000,"bytes_in":1}\n'


# Arrow reads up to 32 blocks ahead, in a thread of its own.
AHEAD = 32 * jtl_columns.BLOCK_BYTES


@pytest.mark.parametrize(
    ("first", "name", "ahead"),
    [(K6_POINT, "k6-json", 0), (VEGETA_RESULT, "vegeta-json", 0), (HEADER, "jmeter-csv", AHEAD)],
)
def test_a_line_without_an_end_is_refused_before_it_is_read_whole(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, first: str, name: str, ahead: int
) -> None:
    monkeypatch.setattr(lines, "MOST_LINE", 1 << 20)
    path = tmp_path / "long"
    with path.open("w") as file:
        file.write(first)
        for _ in range(64 + (2 * ahead >> 20)):
            file.write("x" * (1 << 20))
    import_module("pyarrow.csv")  # what it imports is not what it keeps of the file
    tracemalloc.start()
    text = message(path, lambda path: imported(path, name))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert f"{path}:2" in text and "a line of over 1 million characters" in text and "one record a line" in text
    assert peak < (16 << 20) + ahead


def test_a_line_as_long_as_may_be_is_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lines, "MOST_LINE", len(VEGETA_RESULT))
    (tmp_path / "v").write_text(VEGETA_RESULT * 3)
    assert imported(tmp_path / "v", "vegeta-json").spill.samples == 3


@pytest.mark.parametrize("time", ["11/22/2026 05:14 AM", "1763788440", "1763788440000000", "soon"])
def test_the_time_of_a_jtl_is_told_to_be_ms_alone(tmp_path: Path, time: str) -> None:
    row = jtl_line(0, 5, "GET /a").partition(",")[2]
    (tmp_path / "r.jtl").write_text(HEADER + f"{time},{row}")
    told = message(tmp_path / "r.jtl", imported)
    assert "timeStamp" in told and "Use ms since 1970, or 2026-11-22T05:14:00Z." in told and "seconds" not in told


def test_a_duration_that_no_test_has_is_told_as_that(tmp_path: Path) -> None:
    text = WRK2.replace("in 30.00s", "in 18446744073709.55s").replace("2000.15", "0.00")
    (tmp_path / "w").write_text(text)
    assert "requests in: 18,446,744,073,710 s is no sensible duration of a test" in message(tmp_path / "w")


PLAIN = b"users,req/s\n1,10\n2,20\n"


@pytest.mark.parametrize(
    ("content", "what"),
    [
        (PLAIN.decode().encode("utf-16"), "text in UTF-16 or UTF-32, as PowerShell's"),
        (b"\xfe\xff" + PLAIN.decode().encode("utf-16-be"), "text in UTF-16. Save it as UTF-8"),
        (PLAIN.decode().encode("utf-32"), "Save it as UTF-8"),
        (bz2.compress(PLAIN), "packed by bzip2"),
        (lzma.compress(PLAIN), "packed by xz"),
        (bytes.fromhex("28b52ffd") + bytes(20), "packed by zstd"),
        (gzip.compress(gzip.compress(PLAIN, mtime=0), mtime=0), "packed by gzip twice"),
    ],
    ids=["UTF-16", "UTF-16 BE", "UTF-32", "bzip2", "xz", "zstd", "gzip twice"],
)
def test_what_is_packed_in_another_way_or_no_utf_8_is_named(tmp_path: Path, content: bytes, what: str) -> None:
    path = tmp_path / "t.csv"
    path.write_bytes(content)
    assert what in message(path, lambda one: format_of(lines.SourceFile(one)))


def test_a_table_of_very_many_rows_is_refused_at_the_first_that_is_too_many(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text("users,req/s\n" + "".join(f"{level},10\n" for level in range(1, level_table.MOST_ROWS + 500)))
    text = message(path)
    assert f"{path}:{level_table.MOST_ROWS + 2}: a table of levels has at most" in text and text.count("at most") == 1
