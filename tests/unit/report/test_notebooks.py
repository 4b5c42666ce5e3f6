"""What a notebook shows of an answer and of its run."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
import synthetic_run
import vega_lite_schema

import plimsoll
from plimsoll.errors import InputError, RunDirectoryError
from plimsoll.report.run_evidence import read_run
from plimsoll.verbs.session import Answer


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return synthetic_run.write_run(tmp_path_factory.mktemp("runs") / "run")


def test_an_answer_shows_itself_as_markdown(run: Path) -> None:
    answer = Answer(read_run(run).findings, run, run / "report.html", "finished")
    shown = answer._repr_markdown_()
    assert shown.startswith("## How much load does it carry?\n\n") and "| what stops it |" in shown
    assert "# Machines" not in shown, "the run's facts are the report's"


def test_charts_are_altair_objects_of_the_report_in_its_order(run: Path) -> None:
    charts = plimsoll.charts(run)
    assert list(charts)[:2] == ["level-throughput", "level-response"]
    for chart in charts.values():
        vega_lite_schema.check(chart.to_dict())
    assert charts["level-throughput"].to_dict()["width"] == 640


def test_frames_are_the_tables_of_the_run(run: Path) -> None:
    found = plimsoll.frames(run)
    assert list(found) == ["seconds", "series", "resources"]
    assert found["seconds"].num_rows == 100 and "iteration_duration" in found["series"]["metric"].to_pylist()
    assert (run / "seconds.parquet").is_file()


def test_what_is_no_run_and_what_is_not_installed_are_said(
    tmp_path: Path, run: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(RunDirectoryError):
        plimsoll.frames(tmp_path / "nothing")
    monkeypatch.setitem(sys.modules, "altair", None)
    with pytest.raises(InputError, match=r"plimsoll-line\[notebook\]"):
        plimsoll.charts(run)


def test_nothing_is_written_into_a_folder_that_is_no_run(tmp_path: Path) -> None:
    """Seen: three Parquet files in the current folder, after frames("")."""
    for name in (tmp_path, tmp_path / "nothing"):
        with pytest.raises(RunDirectoryError):
            plimsoll.frames(name)
    assert not list(tmp_path.iterdir())
