"""Other tools' files, changed and damaged: each is analysed, or refused with file and line."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest
from fuzzing import holds
from hypothesis import strategies as st
from odd_values import cut, cuts, odd_texts

from plimsoll.errors import PlimsollError
from plimsoll.runs.importers.catalogue import FORMATS
from plimsoll.verbs.analysis import AnalysisChoices, analyze

DATA = Path(__file__).parents[1] / "importers" / "data"
SAMPLES: dict[str, bytes] = {
    path.name: (gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes())
    for path in sorted(DATA.iterdir())
}
SAMPLES["jtl.csv"] = (
    "timeStamp,elapsed,label,responseCode,success,bytes,grpThreads,allThreads,Latency\n"
    + "".join(
        f"{1_700_000_000_000 + 100 * n},{20 + n % 7},GET /a,200,true,10,{1 + n // 50},{1 + n // 50},9\n"
        for n in range(200)
    )
).encode()
SAMPLES["jtl.xml"] = (
    '<?xml version="1.0"?>\n<testResults version="1.2">\n'
    + "".join(
        f'<httpSample t="2{n % 9}" ts="{1_700_000_000_000 + 100 * n}" s="true" lb="GET /a" rc="200" na="2" ng="2"/>\n'
        for n in range(100)
    )
    + "</testResults>\n"
).encode()
SAMPLES["table.csv"] = b"users,throughput (req/s),p95 (ms),cpu (%)\n10,100,20,30\n20,200,21,55\n40,390,30,98\n"
SAMPLES["locust.csv"] = (
    b"timestamp,request_type,name,response_time_ms,response_length,status_code,exception\n"
    + b"".join(b"%d.5,GET,/a,%d,10,200,\n" % (1_700_000_000 + n // 5, 20 + n % 9) for n in range(100))
)
SAMPLES["gatling.log"] = (
    "RUN\tshop.Load\tload\t1700000000000\t \t3.9.5\n"
    + "".join(
        f"REQUEST\t\tGET /a\t{1_700_000_000_000 + 100 * n}\t{1_700_000_000_020 + 100 * n}\tOK\t \n" for n in range(50)
    )
).encode()
SHORTENED = {
    name: data[:40_000] if name.startswith(("k6", "vegeta")) and name.endswith("gz") else data
    for name, data in SAMPLES.items()
}


def read(path: Path, runs: Path, **choices: object) -> None:
    try:
        analyze([path], AnalysisChoices(runs=runs, report=False, **choices))  # type: ignore[arg-type]
    except PlimsollError as error:
        assert str(error)


def test_changed_bytes_of_other_tools_files_are_read_or_refused(tmp_path: Path) -> None:
    path = tmp_path / "results"

    def check(case: tuple[str, list]) -> None:
        name, given = case
        path.write_bytes(cut(SHORTENED[name], given))
        read(path, tmp_path / "runs")

    holds("importers' bytes", st.tuples(st.sampled_from(sorted(SHORTENED)), cuts), check)


def test_changed_cells_of_other_tools_files_are_read_or_refused(tmp_path: Path) -> None:
    path = tmp_path / "results"
    tables = [name for name in SHORTENED if name.removesuffix(".gz").endswith((".csv", ".log"))]

    def check(case: tuple[str, int, int, str]) -> None:
        name, line, cell, text = case
        lines = SHORTENED[name].decode("utf-8", "replace").splitlines()
        mark = "\t" if name.endswith(".log") else ","
        at = line % min(len(lines), 30)
        cells = lines[at].split(mark)
        cells[cell % len(cells)] = text
        lines[at] = mark.join(cells)
        path.write_bytes(("\n".join(lines) + "\n").encode("utf-8", "surrogateescape"))
        read(path, tmp_path / "runs")

    cases = st.tuples(st.sampled_from(sorted(tables)), st.integers(0, 10**6), st.integers(0, 40), odd_texts)
    holds("importers' cells", cases, check)


def test_files_that_are_taken_for_a_format_are_read_or_refused(tmp_path: Path) -> None:
    path = tmp_path / "results"

    def check(case: tuple[str, str]) -> None:
        name, format = case
        path.write_bytes(SHORTENED[name])
        read(path, tmp_path / "runs", format=format)

    formats = st.sampled_from([one.name for one in FORMATS])
    holds("importers' formats", st.tuples(st.sampled_from(sorted(SHORTENED)), formats), check)


@pytest.mark.parametrize("count", [100_000])
def test_samples_nested_without_end_are_refused(tmp_path: Path, count: int) -> None:
    from fuzzing import bounded

    path = tmp_path / "deep.jtl"
    sample = b'<sample t="1" ts="1700000000000" s="true" lb="a" rc="200">\n'
    path.write_bytes(b'<?xml version="1.0"?>\n<testResults version="1.2">\n' + sample * count)
    with bounded(), pytest.raises(PlimsollError, match="nested"):
        analyze([path], AnalysisChoices(runs=tmp_path / "runs", report=False))
