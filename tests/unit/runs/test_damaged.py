"""A run directory whose data cannot be understood names the file and the line, where a function had them in hand."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from plimsoll.errors import RunDirectoryError
from plimsoll.runs.format.damaged import understood
from plimsoll.runs.format.lines import read_lines

EVENTS = [{"kind": "note", "second": 1.0}, {"kind": "step", "second": float("nan"), "level": "high"}]


def doubled(event: Mapping[str, Any]) -> float:
    return 2 * event["level"] / 1


@pytest.fixture
def run(tmp_path: Path) -> Path:
    (tmp_path / "events.jsonl").write_text("".join(json.dumps(one) + "\n" for one in EVENTS))
    (tmp_path / "manifest.json").write_text('{"schema": 1, "clock": {"t0_unix": "noon"}}')
    return tmp_path


def test_a_line_that_a_function_had_in_hand_is_named(run: Path) -> None:
    words = r"events\.jsonl, line 2 \(step\) cannot be understood: TypeError"
    with pytest.raises(RunDirectoryError, match=words), understood(run):
        [doubled(event) for event in read_lines(run / "events.jsonl") if event["kind"] == "step"]


def test_a_field_of_the_manifest_is_named(run: Path) -> None:
    with pytest.raises(RunDirectoryError, match=r"manifest\.json, 'clock' cannot be understood"), understood(run):
        clock = json.loads((run / "manifest.json").read_text())["clock"]
        float(clock["t0_unix"])


@pytest.mark.parametrize("name", ["events.jsonl", "manifest.json", "nothing"])
def test_where_nothing_matches_the_run_is_named(run: Path, name: str) -> None:
    (run / name).write_text("{" * 10_000)
    with pytest.raises(RunDirectoryError, match=rf"{run.name} cannot be understood: KeyError"), understood(run):
        raise KeyError("level")
