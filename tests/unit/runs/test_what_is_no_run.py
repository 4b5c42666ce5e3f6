"""What is said where no run is: what the path is instead, and where runs are."""

from __future__ import annotations

from pathlib import Path

import pytest

from plimsoll.errors import InputError, RunDirectoryError
from plimsoll.runs.importers.lines import SourceFile
from plimsoll.runs.reader import RunReader


def said(path: Path) -> str:
    with pytest.raises(RunDirectoryError) as caught:
        RunReader(path)
    return str(caught.value)


def test_a_name_that_is_nothing_is_told_as_no_path_and_no_run() -> None:
    words = said(Path("zzz"))
    assert "there is no run zzz: it is neither a path nor the end of a run's name in runs/" in words
    assert "plimsoll runs list" in words and "plimsoll analyze" in words


def test_a_file_is_told_to_be_one_and_how_it_becomes_a_run(tmp_path: Path) -> None:
    (tmp_path / "r.jtl").write_text("x")
    words = said(tmp_path / "r.jtl")
    assert "is a file, not a run directory" in words and f"plimsoll analyze {tmp_path / 'r.jtl'}" in words
    assert "--runs" not in words


def test_a_folder_of_runs_names_one_of_them_and_another_folder_what_it_lacks(tmp_path: Path) -> None:
    assert "it has no manifest.json" in said(tmp_path)
    for name in ("20260101-000000-run-aaaa", "20260102-000000-run-bbbb"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "manifest.json").write_text("{}")
    assert (
        f"is not a run directory; it holds runs. Give one of them, such as {tmp_path}/20260102-000000-run-bbbb"
        in said(tmp_path)
    )


@pytest.mark.parametrize(("name", "step"), [("reslts.jtl", "Did you mean results.jtl?"), ("zzz", "plimsoll runs list")])
def test_a_result_file_that_is_not_there_has_the_nearest_name_or_where_runs_are(
    tmp_path: Path, name: str, step: str
) -> None:
    (tmp_path / "results.jtl").write_text("x")
    with pytest.raises(InputError, match="cannot be read: there is no such file") as caught:
        SourceFile(tmp_path / name).head()
    assert step in str(caught.value)
