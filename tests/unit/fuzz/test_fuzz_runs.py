"""Run directories whose files somebody changed or damaged: each gives a report, findings, or a message with the
place."""

from __future__ import annotations

import contextlib
import io
import json
import os
import shutil
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
import synthetic_run
from fuzzing import bounded, holds
from hypothesis import strategies as st
from odd_values import changed, changes, cut, cuts

from plimsoll.cli.report import report
from plimsoll.errors import PlimsollError
from plimsoll.report import drawing, html
from plimsoll.report.run_evidence import read_run
from plimsoll.runs.format.damaged import understood
from plimsoll.runs.format.tables import write_tables
from plimsoll.verbs.own_runs import Again, judge_again
from plimsoll.verbs.sizing import size

FILES = ("manifest.json", "events.jsonl", "series.jsonl", "resources.jsonl", "findings.json")
TABLES = ("seconds.parquet", "series.parquet", "resources.parquet")


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(synthetic_run, "STEPS", ((2000, 3, "probe"), (4000, 5, "good"), (8000, 5, "bad")))
    monkeypatch.setattr(html, "write_html", lambda path, out=None: _page(path))
    monkeypatch.setattr("plimsoll.verbs.own_runs.write_html", lambda path: _page(path))
    monkeypatch.setattr("plimsoll.verbs.sizing.write_html", lambda path: _page(path))
    return synthetic_run.write_run(tmp_path / "20260101-000000-capacity-0000")


def _page(path: Path) -> Path:
    """The report without drawing, which a fuzz of data need not wait for."""
    assert html.render(read_run(path), lambda _: "", lambda: "")
    return path


ASKED: tuple[Callable[[Path], Any], ...] = (
    lambda path: report(path, None, False),
    lambda path: report(path, None, True),
    lambda path: judge_again(path, Again(), report=False),
    lambda path: size(path),
)


def ask(path: Path) -> None:
    for one in ASKED:
        with contextlib.suppress(PlimsollError), contextlib.redirect_stdout(io.StringIO()):
            one(path)


def test_changed_values_of_a_run_are_understood_or_refused(run: Path, tmp_path: Path) -> None:
    texts = {name: (run / name).read_text() for name in FILES}

    def check(case: tuple[str, int, list]) -> None:
        name, line, given = case
        path = _copy(run, tmp_path)
        if name.endswith(".jsonl"):
            lines = texts[name].splitlines()
            at = line % len(lines)
            lines[at] = json.dumps(changed(json.loads(lines[at]), given))
            (path / name).write_text("\n".join(lines) + "\n")
        else:
            (path / name).write_text(json.dumps(changed(json.loads(texts[name]), given)))
        ask(path)

    holds("values of a run", st.tuples(st.sampled_from(FILES), st.integers(0, 10**6), changes), check)


def test_changed_bytes_of_a_run_are_understood_or_refused(run: Path, tmp_path: Path) -> None:
    _holds_for_changed_bytes("bytes of a run", FILES, run, tmp_path)


def test_changed_bytes_of_tables_are_understood_or_refused(run: Path, tmp_path: Path) -> None:
    write_tables(run)
    for name in ("series.jsonl", "resources.jsonl"):
        (run / name).unlink()
    _holds_for_changed_bytes("bytes of tables", TABLES, run, tmp_path)


def _holds_for_changed_bytes(what: str, files: Sequence[str], run: Path, tmp_path: Path) -> None:
    def check(case: tuple[str, list]) -> None:
        name, given = case
        path = _copy(run, tmp_path)
        (path / name).write_bytes(cut((run / name).read_bytes(), given))
        ask(path)

    holds(what, st.tuples(st.sampled_from(files), cuts), check)


def _copy(run: Path, tmp_path: Path) -> Path:
    copy = tmp_path / "copy" / run.name
    shutil.rmtree(copy, ignore_errors=True)
    shutil.copytree(run, copy)
    return copy


@pytest.mark.parametrize(
    ("name", "data", "words"),
    [
        ("manifest.json", b"[" * 100_000, "is not valid JSON"),
        ("findings.json", b"[" * 100_000, "is not valid JSON"),
        ("manifest.json", b'{"schema": 1, "experiment": 3, "status": []}', "cannot be understood"),
    ],
)
def test_damaged_files_are_named(run: Path, name: str, data: bytes, words: str) -> None:
    (run / name).write_bytes(data)
    with bounded(), pytest.raises(PlimsollError, match=words):
        report(run, None, False)


@pytest.mark.parametrize("name", ["manifest.json", "events.jsonl", "series.jsonl", "resources.jsonl", "findings.json"])
@pytest.mark.parametrize("kind", ["pipe", "device", "folder"])
def test_what_is_no_file_is_not_waited_for(run: Path, name: str, kind: str) -> None:
    (run / name).unlink()
    if kind == "pipe":
        os.mkfifo(run / name)
    elif kind == "device":
        (run / name).symlink_to("/dev/zero")
    else:
        (run / name).mkdir()
    with bounded():
        ask(run)


def test_a_text_in_place_of_a_second_is_named_by_its_place(run: Path) -> None:
    with (run / "resources.jsonl").open("a") as file:
        file.write('{"t_unix": 1, "second": "y", "source": "host", "values": {"cpu_share": 1}}\n')
    with contextlib.suppress(PlimsollError):
        report(run, None, False)


def test_a_fault_outside_of_reading_is_no_damage(run: Path) -> None:
    with pytest.raises(KeyboardInterrupt), understood(run):
        raise KeyboardInterrupt
    assert drawing.MOST_TRIES == 2
