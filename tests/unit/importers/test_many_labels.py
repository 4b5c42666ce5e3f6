"""Work on a file grows with its lines, not with lines times labels, and the answer stays readable."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from importing import imported
from test_jtl_in_columns import T0_MS, jtl

from plimsoll.errors import InputError
from plimsoll.runs.importers.jmeter import jtl_columns, jtl_csv
from plimsoll.runs.readings.step_table import Row, StepTable
from plimsoll.verbs.analysis import AnalysisChoices, analyze


class Counted(Row):
    """A row that counts how often it is asked for its operation."""

    asked = 0

    def __getattribute__(self, name: str) -> Any:
        if name == "operation":
            Counted.asked += 1
        return super().__getattribute__(name)


@pytest.mark.parametrize("together", [True, False])
def test_a_table_is_parted_in_passes_whose_number_is_not_that_of_its_operations(together: bool) -> None:
    rows = tuple(Counted(operation=f"GET /{n}", throughput_per_s=1.0) for n in range(300))
    Counted.asked = 0
    tests = StepTable(rows, together=together).tests()
    assert len(tests) == (1 if together else 300) and Counted.asked <= 10 * len(rows)


def test_what_a_line_means_is_asked_once_for_each_label_and_code_and_not_for_each_thread(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = []
    real = jtl_csv.tags_of
    monkeypatch.setattr(jtl_csv, "tags_of", lambda *texts: asked.append(texts) or real(*texts))
    monkeypatch.setattr(jtl_csv, "LARGE_BYTES", 0)
    monkeypatch.setattr(jtl_columns, "BLOCK_BYTES", 40_000)
    row = {"elapsed": 5, "responseCode": "200", "success": "true", "bytes": 1, "allThreads": 1, "dataType": "text"}
    rows = [
        row
        | {"timeStamp": T0_MS + n, "label": f"item {n % 7}", "threadName": f"Shop 1-{n}", "responseMessage": f"m{n}"}
        for n in range(2000)
    ]
    (tmp_path / "r.jtl").write_bytes(jtl(rows))
    assert imported(tmp_path / "r.jtl").spill.samples == 2000 and len(asked) == 7


def test_a_report_of_jmeter_is_one_test_of_all_its_labels(tmp_path: Path) -> None:
    text = "Label,# Samples,Average,Median,90% Line,95% Line,99% Line,Min,Max,Error %,Throughput\n"
    text += "".join(f"GET /{n},10,100,90,150,180,200,5,300,0.00%,1.5\n" for n in range(300))
    (tmp_path / "a.csv").write_text(text)
    [answer] = analyze([tmp_path / "a.csv"], AnalysisChoices(tmp_path / "runs", report=False))
    assert len(answer.findings) <= 3 and "taken for a test of its own" not in str(answer.findings)


def test_a_table_of_more_tests_than_anybody_reads_is_refused_with_what_to_do(tmp_path: Path) -> None:
    head = "operation,req/s\n"
    (tmp_path / "t.csv").write_text(head + "".join(f"a{n},5\n" for n in range(201)))
    with pytest.raises(InputError, match="201 tests apart") as caught:
        analyze([tmp_path / "t.csv"], AnalysisChoices(tmp_path / "runs", report=False))
    assert "--together" in caught.value.next_step and not (tmp_path / "runs").exists()


def test_many_tests_apart_are_named_by_the_first_few_and_how_many_more(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("operation,req/s\n" + "".join(f"a{n},5\n" for n in range(40)))
    [answer] = analyze([tmp_path / "t.csv"], AnalysisChoices(tmp_path / "runs", report=False))
    [note] = [note for note in answer.findings[-1]["notes"] if "test of its own" in note]
    assert "a11 and 28 more" in note and "a12" not in note
