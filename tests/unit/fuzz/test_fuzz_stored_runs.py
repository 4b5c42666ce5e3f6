"""Run directories that somebody changed, in a folder with others: every verb of `plimsoll runs` goes on, and shows each
run on lines of its own."""

from __future__ import annotations

import contextlib
import io
import json
from pathlib import Path
from typing import Any

import pytest
from fuzzing import holds
from hypothesis import strategies as st
from odd_values import changed, changes

import plimsoll
from plimsoll.cli.runs import list_, prune, search, show
from plimsoll.errors import PlimsollError
from plimsoll.runs.space import expected_bytes
from plimsoll.runs.writer import RunFacts, RunWriter
from plimsoll.study.secrets.redactor import Redactor

FILES = ("manifest.json", "events.jsonl", "findings.json", "study.json", "20260101-000000-hold-0001/manifest.json")
SUMMARY = {
    "http_reqs": {"values": {"count": 16.0, "rate": 8.0}, "thresholds": {"count>9": {"verdict": "failed"}}},
    "http_req_failed": {"values": {"rate": 0.5}},
    "http_req_duration": {"values": {"p(95)": 3.5, "max": 4.0}},
    "checks": {"values": {"rate": 0.5}},
}


def made(root: Path, experiment: str, at: float = 1e9) -> Path:
    """A finished run of a script."""
    script = root / "script.js"
    script.write_text("export default () => {};\n")
    facts = RunFacts(experiment, script=script, t0_unix=at)
    with RunWriter.create(root, facts, tables=False, redactor=Redactor(), clock=lambda: at) as writer:
        writer.append_event("note", summary=SUMMARY, threw=3, message="The target was not reset.")
        finding = {"question": "How much?", "answer": "Carries 168 users.", "valid": True, "notes": ["A note."]}
        writer.write_findings([finding | {"tables": [{"columns": ["a"], "rows": [["b"]]}], "capacity": {"good": 3}}])
    return writer.path


def printed(root: Path, *, as_json: bool = False) -> str:
    """What the verbs print; only `show` may refuse, with a message."""
    with contextlib.redirect_stdout(io.StringIO()) as out:
        list_(root, as_json)
        search(["note"], root, as_json)
        prune(1e9, "1MB", dry_run=True, runs=root)
        for run in plimsoll.stored_runs(root):
            show(str(run.path), runs=root, as_json=as_json)
            for series in (True, False):
                with contextlib.suppress(PlimsollError):
                    show(str(run.path), series=series, resources=not series, runs=root)
    expected_bytes(root, "run", str(root / "script.js"), 10.0)
    return out.getvalue()


def study(root: Path) -> Path:
    """A run of a study with one run in it."""
    path = root / "20260101-000000-study-0002"
    path.mkdir()
    record = {"study": {"name": "shop"}, "parts": [{"status": "finished", "name": "a"}]}
    (path / "study.json").write_text(json.dumps(record))
    made(path, "hold").rename(path / "20260101-000000-hold-0001")
    return path


@pytest.mark.parametrize("experiment", ["run", "hold", "study"])
def test_a_run_with_changed_values_ends_no_verb(tmp_path: Path, experiment: str) -> None:
    path = study(tmp_path) if experiment == "study" else made(tmp_path, experiment)
    whole = made(tmp_path, "capacity", 2e9)
    texts = {name: (path / name).read_text() for name in FILES if (path / name).exists()}

    def check(case: tuple[str, list[tuple[int, str, Any]]]) -> None:
        name, given = case
        data = changed(json.loads(texts[name].splitlines()[0] if name.endswith("l") else texts[name]), given)
        try:
            (path / name).write_text(json.dumps(data) + "\n")
            assert whole.name in printed(tmp_path)
            printed(tmp_path, as_json=True)
        finally:
            (path / name).write_text(texts[name])

    holds(f"a changed {experiment}", st.tuples(st.sampled_from(sorted(texts)), changes), check)


ABSURD = ["1e300", "NaN", "Infinity", "-Infinity", "-1e18", "1" + "0" * 400, "9" * 5_000, "[]", '"x"', "253402300800"]


@pytest.mark.parametrize("number", ABSURD)
@pytest.mark.parametrize("name", ["started_unix", "ended_unix", "status", "experiment", "script"])
def test_an_absurd_value_of_a_manifest_is_no_value(tmp_path: Path, name: str, number: str) -> None:
    path, whole = made(tmp_path, "run"), made(tmp_path, "capacity", 2e9)
    manifest = json.loads((path / "manifest.json").read_text())
    text = json.dumps(manifest | {name: "PLACE"}).replace('"PLACE"', number)
    (path / "manifest.json").write_text(text)
    told = printed(tmp_path)
    assert whole.name in told and path.name in told and "1970" not in told
    if name == "started_unix":
        assert "?     " in told


@pytest.mark.parametrize("number", ABSURD)
def test_an_absurd_number_of_a_summary_is_left_out(tmp_path: Path, number: str) -> None:
    path = made(tmp_path, "run")
    events = (path / "events.jsonl").read_text()
    (path / "events.jsonl").write_text(events.replace(":16.0", f":{number}").replace('"threw":3', f'"threw":{number}'))
    assert max(map(len, printed(tmp_path).splitlines())) < 500


def test_a_line_break_in_what_is_shown_forges_no_run(tmp_path: Path) -> None:
    path = made(tmp_path, "run")
    manifest = json.loads((path / "manifest.json").read_text())
    forged = "\n2026-11-27 20:00  capacity   1 MB  finished  20261127-200000-capacity-0000\x1b[31m\u2028\r"
    manifest |= {"script": {"path": f"a.js{forged}"}, "experiment": f"run{forged}"}
    (path / "manifest.json").write_text(json.dumps(manifest))
    assert not any(line.startswith("2026-11-27") for line in printed(tmp_path).splitlines())
    assert "a.js\N{REPLACEMENT CHARACTER}2026" in printed(tmp_path) and "\x1b" not in printed(tmp_path)


def test_a_run_whose_events_cannot_be_read_is_listed(tmp_path: Path) -> None:
    path = made(tmp_path, "run")
    (path / "events.jsonl").write_bytes(b"\x28\xb5\x2f\xfd" + b"\xff" * 100)
    assert path.name in printed(tmp_path)
