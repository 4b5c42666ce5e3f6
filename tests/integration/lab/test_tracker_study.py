"""What the tracker writes beside its data is enough for `plimsoll capacity`, as the README says."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from lab_process import LabProcess, ended_process, lab_process

from plimsoll.runs.reader import RunReader
from plimsoll.study import load_study
from plimsoll_lab.tracker.load_files import OURS, write_load_files


@pytest.fixture
def served(tmp_path: Path) -> Iterator[LabProcess]:
    with lab_process("tracker", "--issues", 200, cwd=tmp_path) as tracker:
        yield tracker


def test_a_tracker_and_a_search_of_its_study_need_nothing_else(served: LabProcess, tmp_path: Path) -> None:
    assert served.ready["study"] == ".lab/tracker/study.yaml"
    bounds = ("--min-users", "500", "--max-users", "501", "--step", "2", "-q", "--json")
    command = [sys.executable, "-m", "plimsoll", "capacity", ".lab/tracker/study.yaml", *bounds]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=110, check=False)
    assert done.returncode in (0, 3, 99), done.stderr
    finding, *_ = json.loads(done.stdout)
    assert finding["capacity"]["good"] >= 500
    assert all(step["error_share"] == 0 for step in finding["steps"])
    assert finding["data_volume"]["start"] == 200, "the data were restored before the load"
    run = RunReader(tmp_path / finding["run"])
    assert run.events("reset") and any(row["source"] == "process:tracker" for row in run.resources())


def test_a_study_that_the_user_made_his_own_is_left_alone(tmp_path: Path) -> None:
    path = write_load_files(tmp_path, "http://127.0.0.1:20001", 300)
    study = load_study(path)
    assert study.target.url == "http://127.0.0.1:20001" and study.target.processes[0].port == 20001
    assert study.workload.env == {"ISSUES": "300"} and study.target.reset is not None
    write_load_files(tmp_path, "http://127.0.0.1:20002", 300)
    assert load_study(path).target.url == "http://127.0.0.1:20002"
    own = path.read_text().removeprefix(OURS)
    path.write_text(own)
    write_load_files(tmp_path, "http://127.0.0.1:20003", 300)
    assert path.read_text() == own


def test_a_tracker_that_is_not_there_cannot_be_restored(tmp_path: Path) -> None:
    done = ended_process("tracker", "--restore-at", "http://127.0.0.1:9", "--data", tmp_path)
    assert done.returncode == 3 and "was not restored" in done.stderr and "--data" in done.stderr
