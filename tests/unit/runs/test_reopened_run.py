"""Going on with a run that was cut off: nothing is lost, nothing is there twice, and a torn line ends nowhere else."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from plimsoll.errors import RunDirectoryError
from plimsoll.runs.reader import RunReader
from plimsoll.runs.snapshot import Snapshot
from plimsoll.runs.writer import RunFacts, RunWriter
from plimsoll.study.secrets.redactor import Redactor


def cut_off(folder: Path, torn: str) -> Path:
    """A run whose writer was killed in the middle of a line."""
    run = RunWriter.create(folder, RunFacts("compare"), redactor=Redactor(), tables=False)
    run.write_plan({"experiment": "compare", "token": "secret-word"})
    run.append_snapshot(Snapshot(0))
    run.append_trial({"trial": 1, "load": "1 user"})
    for file in (run._series, run._resources, run._events, run._trials):
        assert file is not None
        file.close()
    for name in ("series.jsonl.zst", "trials.jsonl"):
        with (run.path / name).open("a") as file:
            file.write(torn)
    return run.path


@pytest.mark.parametrize("torn", ["", '{"second": 1, "trial', '{"trial": 2' + 200_000 * " "])
def test_lines_go_on_behind_the_last_whole_one(tmp_path: Path, torn: str) -> None:
    path = cut_off(tmp_path, torn)
    assert RunReader(path).state == "killed"
    with RunWriter.reopen(path, redactor=Redactor()) as run:
        run.append_snapshot(Snapshot(1))
        run.append_trial({"trial": 2, "load": "1 user"})
    reader = RunReader(path)
    assert reader.state == "finished" and [one.second for one in reader.snapshots()] == [0, 1]
    assert [one["trial"] for one in reader.trials()] == [1, 2]
    assert all(json.loads(line) for line in (path / "trials.jsonl").read_text().splitlines())


def test_a_trial_that_was_made_twice_counts_once_and_secrets_stay_out_of_the_plan(tmp_path: Path) -> None:
    path = cut_off(tmp_path, "")
    with RunWriter.reopen(path, redactor=Redactor()) as run:
        run.append_trial({"trial": 1, "load": "again"})
    assert [one["load"] for one in RunReader(path).trials()] == ["again"]
    assert RunReader(path).plan() == {"experiment": "compare", "token": "***"}


def test_a_run_that_is_still_written_is_not_opened_a_second_time(tmp_path: Path) -> None:
    with (
        RunWriter.create(tmp_path, RunFacts("compare"), redactor=Redactor(), tables=False) as run,
        pytest.raises(RunDirectoryError, match="still running"),
    ):
        RunWriter.reopen(run.path, redactor=Redactor())
    assert RunReader(run.path).plan() == {} and RunReader(run.path).trials() == []
