"""How capacity went over the runs of a script."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

import plimsoll
from plimsoll.cli.runs import app
from plimsoll.errors import InputError
from plimsoll.verbs.trend import LOAD, MACHINE, SCRIPT, VERSION

MACHINE_A = {"cores": 2, "usable_cores": 2.0, "cpu_model": "A", "memory_bytes": 1, "kernel": "6"}


def write(
    root: Path,
    day: int,
    per_s: float | None,
    cpu_s: float | None = 0.5,
    valid: bool = True,
    bad: bool = True,
    **manifest: Any,
) -> Path:
    path = root / f"202611{day:02d}-100000-capacity-{day:04x}"
    path.mkdir(parents=True)
    about = {
        "schema": 1, "experiment": "capacity", "status": "finished", "started_unix": 1.79e9 + 86400 * day,
        "plimsoll": "1", "machine": MACHINE_A, "script": {"path": "shop.js", "sha256": "a"}, "options": {}, **manifest,
    }  # fmt: skip
    (path / "manifest.json").write_text(json.dumps(about))
    capacity = {
        "good": per_s and per_s / 20,
        "bad": bad and per_s and per_s / 18,
        "unit": "multiple",
        "rate_per_s": per_s,
    }
    sizes = [{"per_s": per_s, "hosts": [{"cpu": {"used": cpu_s}}]}] if per_s else []
    findings = [{"question": "?", "answer": "It.", "valid": valid, "capacity": capacity}, {"sizing": {"sizes": sizes}}]
    (path / "findings.json").write_text(json.dumps(findings))
    return path


def test_the_runs_of_a_script_are_told_with_what_differs_and_changes_only_of_what_may_be_compared(
    tmp_path: Path,
) -> None:
    write(tmp_path, 1, 100.0)
    write(tmp_path, 2, 110.0, 0.6)
    write(tmp_path, 3, 220.0, 1.2, machine=MACHINE_A | {"cores": 4})
    write(tmp_path, 4, 200.0, 1.0, machine=MACHINE_A | {"cores": 4}, script={"path": "shop.js", "sha256": "b"})
    write(tmp_path, 5, 90.0, valid=False, machine=MACHINE_A | {"cores": 4}, script={"path": "shop.js", "sha256": "b"})
    write(tmp_path, 6, 50.0, script={"path": "other.js", "sha256": "c"})
    points = plimsoll.trend("shop.js", tmp_path)
    assert [one.per_s for one in points] == [100, 110, 220, 200, 90]
    assert [one.differs for one in points] == [(), (), (MACHINE,), (SCRIPT,), ()]
    pairs = list(zip([None, *points], points, strict=False))
    assert [one.change(before) for before, one in pairs] == [None, pytest.approx(0.1), None, None, None]
    of_cpu = [one.change_of_cpu(before) for before, one in pairs]
    assert of_cpu[1] == pytest.approx(0.6 / 110 / (0.5 / 100) - 1) and of_cpu[2] == pytest.approx(0)
    assert of_cpu[3] is None, "another script is another operation"
    assert [one.per_s for one in plimsoll.trend(root=tmp_path)] == [50], "of the newest run"


def test_another_study_load_or_version_is_told(tmp_path: Path) -> None:
    write(tmp_path, 1, 100.0)
    write(tmp_path, 2, 100.0, study={"workload": {}})
    write(tmp_path, 3, 100.0, study={"workload": {}}, options={"isolate": True}, plimsoll="2")
    assert [one.differs for one in plimsoll.trend("shop.js", tmp_path)] == [(), (LOAD,), (LOAD, VERSION)]


def test_damaged_runs_and_those_without_an_answer_leave_gaps(tmp_path: Path) -> None:
    write(tmp_path, 1, None)
    (write(tmp_path, 2, 100.0) / "findings.json").write_text("{")
    write(tmp_path, 3, 100.0, None)
    points = plimsoll.trend("shop.js", tmp_path)
    assert [(one.per_s, one.cpu_ms, one.valid) for one in points] == [
        (None, None, True), (None, None, False), (100, None, True)
    ]  # fmt: skip
    said = CliRunner().invoke(app, ["trend", "--runs", str(tmp_path)])
    assert said.exit_code == 0 and said.output.startswith("shop.js: 3 runs of capacity\n")
    assert "5 times the declared load (100/s)" in said.output


def test_of_a_capacity_that_is_only_at_least_no_change_is_known(tmp_path: Path) -> None:
    """Seen: "300 users", then "2,279 users +660%", where the first was only "at least 300"."""
    write(tmp_path, 1, 100.0, bad=False)
    write(tmp_path, 2, 200.0)
    points = plimsoll.trend("shop.js", tmp_path)
    assert points[1].change(points[0]) is None and points[1].change_of_cpu(points[0]) is not None
    said = CliRunner().invoke(app, ["trend", "--runs", str(tmp_path)])
    assert "at least 5 times the declared load" in said.output and "%" in said.output


def test_an_unknown_or_ambiguous_name_says_which_there_are(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no run of capacity in"):
        plimsoll.trend(root=tmp_path)
    write(tmp_path, 1, 100.0, script={"path": "a/shop.js", "sha256": "a"})
    write(tmp_path, 2, 100.0, script={"path": "b/old_shop.js", "sha256": "a"})
    with pytest.raises(InputError, match=r"several are called shop\.js"):
        plimsoll.trend("shop.js", tmp_path)
    with pytest.raises(InputError, match=r"is of shp.js.*\n?.*Did you mean"):
        plimsoll.trend("shp.js", tmp_path)


def test_the_runs_of_a_study_are_found_by_its_path(tmp_path: Path) -> None:
    script = tmp_path / "load" / "script.js"
    script.parent.mkdir()
    script.write_text("export function a() {}\n")
    study = script.with_name("study.yaml")
    study.write_text(
        "name: shop\ntarget: {url: 'http://127.0.0.1:9'}\nexpected_users: 10\n"
        "workload: {script: script.js, operations: [{name: a, per_user_hour: 60}]}\n"
    )
    write(tmp_path / "runs", 1, 100.0, script={"path": str(script), "sha256": "a"})
    write(tmp_path / "runs", 2, 50.0)
    assert [one.per_s for one in plimsoll.trend(str(study), tmp_path / "runs")] == [100]
