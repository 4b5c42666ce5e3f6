"""A run that has ended and whose files were damaged later: what is missing is told, wherever it is read."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from plimsoll.cli.runs import show
from plimsoll.errors import RunDirectoryError
from plimsoll.findings.of_run import findings_of_run
from plimsoll.report.run_evidence import read_run
from plimsoll.runs import RunFacts, RunReader, RunWriter
from plimsoll.runs.format.tables import write_tables
from plimsoll.runs.snapshot import Series, Snapshot
from plimsoll.verbs.own_runs import Again, judge_again


def written(folder: Path, seconds: int, *, cut_after: int | None, first: int = 0) -> Path:
    """A finished run; of one that is cut, only the lines before that second, and from `first` on."""
    writer = RunWriter.create(folder, RunFacts("run"), tables=False)
    for second in range(first, seconds if cut_after is None else cut_after):
        done = Series("iterations", "counter", {"scenario": "a"}, value=10.0)
        writer.append_snapshot(
            Snapshot(second, planned=10, started=10, done=10, vus_max=2, series=(done,), generator={"lag_max_ms": 0.1})
        )
    writer.write_findings([{"question": "?", "answer": "All was well.", "valid": True}])
    writer.finish()
    manifest = json.loads((writer.path / "manifest.json").read_text())
    assert manifest["last_second"] == (seconds if cut_after is None else cut_after) - 1
    (writer.path / "manifest.json").write_text(json.dumps(manifest | {"last_second": seconds - 1}))
    return writer.path


@pytest.mark.parametrize(("cut_after", "which"), [(5, "5 to 11"), (11, "11")])
def test_seconds_that_are_missing_at_the_end_are_told(tmp_path: Path, cut_after: int, which: str) -> None:
    run = written(tmp_path, 12, cut_after=cut_after)

    [found] = findings_of_run(RunReader(run))
    assert f"of the run cannot be read: its files are damaged there (second {which})" in found["notes"][0]
    note = read_run(run).findings[0]["notes"][0]
    assert f"(second {which}). What was measured then is missing in charts and tables." in note


def test_a_whole_run_and_one_of_an_earlier_version_say_nothing(tmp_path: Path) -> None:
    run = written(tmp_path, 12, cut_after=None)
    for _ in range(2):
        assert "can be read" not in json.dumps(read_run(run).findings)
        assert "cannot be read" not in json.dumps(findings_of_run(RunReader(run)))
        manifest = json.loads((run / "manifest.json").read_text())
        manifest.pop("last_second", None)
        (run / "manifest.json").write_text(json.dumps(manifest))


def test_seconds_that_come_again_are_told(tmp_path: Path) -> None:
    run = written(tmp_path, 12, cut_after=None)
    lines = run / "series.jsonl.zst"
    lines.write_bytes(2 * lines.read_bytes())

    [found] = findings_of_run(RunReader(run))
    assert "12 seconds of the run come again in its files" in found["notes"][0]


def test_seconds_that_are_missing_at_the_begin_are_told(tmp_path: Path) -> None:
    run = written(tmp_path, 12, cut_after=None, first=3)
    [found] = findings_of_run(RunReader(run))
    assert "3 seconds of the run cannot be read: its files are damaged there (second 0 to 2)" in found["notes"][0]


def test_what_was_found_is_not_overwritten_where_no_second_can_be_read_any_more(tmp_path: Path) -> None:
    run = written(tmp_path, 12, cut_after=None)
    for name in ("series.jsonl.zst", "minutes.jsonl.zst"):
        (run / name).write_bytes(b"")
    before = (run / "findings.json").read_bytes()
    with pytest.raises(RunDirectoryError, match="none of its 12 seconds can be read"):
        judge_again(run, Again(), report=False)
    assert (run / "findings.json").read_bytes() == before


def test_a_hole_in_the_middle_is_told_in_a_report_whose_answer_is_of_before(tmp_path: Path) -> None:
    run = written(tmp_path, 150, cut_after=None)
    changed = run / "series.jsonl.zst"
    data = bytearray(changed.read_bytes())
    second = data.find(data[:4], 4)  # where the frame of the second minute begins
    data[second + 40] ^= 0xFF
    changed.write_bytes(bytes(data))
    (run / "minutes.jsonl.zst").unlink()
    assert "(second 60 to 119)" in read_run(run).findings[0]["notes"][0]


@pytest.mark.parametrize("name", ["resources.jsonl.zst", "events.jsonl", "trials.jsonl"])
def test_other_lines_that_cannot_be_read_are_told(tmp_path: Path, name: str) -> None:
    run = written(tmp_path, 12, cut_after=None)
    file = run / name
    file.write_bytes((file.read_bytes() if file.exists() else b"") + b'{"kind": \n')
    [found] = findings_of_run(RunReader(run))
    assert (
        found["notes"][0]
        == f"A part of {name} cannot be read: it was changed or is damaged. What it held is missing in this answer."
    )
    assert name in read_run(run).findings[0]["notes"][0]


def test_what_a_kill_tore_is_no_damage(tmp_path: Path) -> None:
    run = written(tmp_path, 12, cut_after=None)
    manifest = json.loads((run / "manifest.json").read_text())
    (run / "manifest.json").write_text(json.dumps(manifest | {"status": "failed"}))
    with (run / "events.jsonl").open("ab") as events:
        events.write(b'{"kind": ')
    assert "damaged" not in json.dumps(findings_of_run(RunReader(run)))


def test_probes_whose_lines_are_gone_are_told(tmp_path: Path) -> None:
    run = written(tmp_path, 3, cut_after=None)
    manifest = json.loads((run / "manifest.json").read_text())
    assert manifest["probe_lines"] == 0
    (run / "manifest.json").write_text(json.dumps(manifest | {"probe_lines": 2}))
    (run / "resources.jsonl.zst").write_bytes(b"")
    assert RunReader(run).damaged_files() == ["resources.jsonl.zst"]


def test_a_report_tells_that_no_second_can_be_read(tmp_path: Path) -> None:
    run = written(tmp_path, 12, cut_after=None)
    for name in ("series.jsonl.zst", "minutes.jsonl.zst"):
        (run / name).write_bytes(b"")
    assert "12 seconds of the run cannot be read" in read_run(run).findings[0]["notes"][0]


def test_a_run_whose_lines_were_removed_is_read_from_its_tables(tmp_path: Path) -> None:
    run = written(tmp_path, 12, cut_after=None)
    write_tables(run)
    (run / "series.jsonl.zst").unlink()
    (run / "minutes.jsonl.zst").unlink(missing_ok=True)
    reader = RunReader(run)
    assert reader.first_metric(["http_reqs", "iterations"]) == "iterations" and reader.first_metric(["x"]) is None


def test_lines_that_runs_show_cannot_print_are_told_beside_them(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run = written(tmp_path, 12, cut_after=5)
    show(str(run), runs=tmp_path, as_json=False, series=True, resources=False)
    printed = capsys.readouterr()
    assert len(printed.out.splitlines()) == 5
    assert (
        printed.err.startswith("warning: 7 seconds of the run cannot be read")
        and "missing in these lines" in printed.err
    )
