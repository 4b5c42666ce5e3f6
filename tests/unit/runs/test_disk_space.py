"""No run begins on a disk that is nearly full, and one that may fill it says so."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from plimsoll.errors import InputError, RunDirectoryError
from plimsoll.runs import space
from plimsoll.runs.space import FLOOR_BYTES, check_room, expected_bytes, free_bytes
from plimsoll.runs.writer import RunFacts, RunWriter
from plimsoll.study.secrets.redactor import Redactor


def earlier(root: Path, script: Path, size: int, lasted_s: float, at: float = 1e9) -> None:
    clock = iter([at, at + lasted_s, at + lasted_s, at + lasted_s])
    facts = RunFacts("run", script=script)
    with RunWriter.create(root, facts, tables=False, redactor=Redactor(), clock=lambda: next(clock)) as writer:
        (writer.path / "report.html").write_bytes(bytes(size))


def with_free(monkeypatch: pytest.MonkeyPatch, free: float) -> None:
    monkeypatch.setattr(space, "free_bytes", lambda _: int(free))


def test_a_run_does_not_begin_below_the_floor_and_says_how_to(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with_free(monkeypatch, 30e6)
    with pytest.raises(RunDirectoryError, match=r"only 28.6 MiB are free .*plimsoll runs prune.*PLIMSOLL_MIN_FREE_MB"):
        RunWriter.create(tmp_path / "runs", RunFacts("hold"))
    assert not (tmp_path / "runs").exists()
    monkeypatch.setenv("PLIMSOLL_MIN_FREE_MB", "0")
    with RunWriter.create(tmp_path / "runs", RunFacts("hold"), tables=False) as writer:
        assert writer.path.exists()
    monkeypatch.setenv("PLIMSOLL_MIN_FREE_MB", "29.5")
    assert check_room(tmp_path, "hold", None, None) == ""


@pytest.mark.parametrize("text", ["much", "-1", "nan", "inf", "1e999"])
def test_a_floor_that_is_no_number_is_told(tmp_path: Path, text: str) -> None:
    with pytest.raises(InputError, match="PLIMSOLL_MIN_FREE_MB"):
        check_room(tmp_path, "hold", None, None, {"PLIMSOLL_MIN_FREE_MB": text})


def test_a_run_that_may_fill_the_disk_warns_by_its_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with_free(monkeypatch, FLOOR_BYTES + 100e6)
    assert check_room(tmp_path, "hold", None, None) == "" == check_room(tmp_path, "hold", None, 3600)
    assert "may take about 659 MiB, and 195 MiB are free" in check_room(tmp_path, "hold", None, 86_000)
    with RunWriter.create(tmp_path, RunFacts("hold"), tables=False, planned_s=86_000) as writer:
        assert "may take about 659 MiB" in writer.warning


def test_the_last_run_of_the_same_script_tells_what_this_one_takes(tmp_path: Path) -> None:
    script, other = tmp_path / "a.js", tmp_path / "b.js"
    for path in (script, other):
        path.write_text("export default function () {}")
    earlier(tmp_path, script, 50_000_000, 60.0)
    earlier(tmp_path, script, 23_000_000, 100.0, at=1e9 + 1000)
    earlier(tmp_path, other, 90_000_000, 100.0, at=1e9 + 2000)
    for planned_s, wanted in [(1000.0, 202e6), (None, 23e6)]:
        assert expected_bytes(tmp_path, "run", str(script), planned_s) == pytest.approx(wanted, rel=0.01)
    assert expected_bytes(tmp_path, "hold", str(script), None) is None
    assert expected_bytes(tmp_path, "run", "c.js", 10.0) == pytest.approx(3.2e6, rel=0.02)


def test_what_is_free_is_asked_of_the_disk_on_which_the_folder_would_be(tmp_path: Path) -> None:
    assert free_bytes(tmp_path / "not" / "there") == pytest.approx(shutil.disk_usage(tmp_path).free, rel=0.1)


def test_where_nothing_can_be_written_is_not_called_full() -> None:
    """Seen: "only 0 B are free for /proc/nope", of a file system that holds no files."""
    assert check_room(Path("/proc/nope"), "run", None, None) == ""
