"""Charts drawn in a process beside this one are those that would be drawn here; without it the report says so."""

from __future__ import annotations

import io
import json
import os
import sys
from pathlib import Path
from typing import Any

import pytest

from plimsoll.report.charts import static_svg
from plimsoll.report.drawing import Drawing, serve

CHART: dict[str, Any] = {
    "data": {"values": [{"at": 1, "what": "“ä” <b>"}, {"at": 2, "what": "z"}]},
    "mark": "bar",
    "encoding": {"x": {"field": "at", "type": "quantitative"}, "y": {"field": "what", "type": "nominal"}},
}
NONE = {"data": {"values": []}, "mark": "no such mark"}


def test_a_chart_drawn_beside_is_the_same() -> None:
    with Drawing() as drawing:
        assert drawing.svg(CHART) == static_svg(CHART) == drawing.svg(CHART)
        process = drawing._process
        assert process is not None and process.poll() is None
    assert process.returncode is not None


def test_what_cannot_be_drawn_raises_as_it_would_here() -> None:
    with pytest.raises(ValueError) as here:
        static_svg(NONE)
    with Drawing() as drawing, pytest.raises(ValueError) as beside:
        drawing.svg(NONE)
    assert str(beside.value)[:60] == str(here.value)[:60]


def test_a_process_that_is_gone_is_started_once_more_and_then_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    with Drawing() as drawing:
        for wanted in (static_svg(CHART), None):
            assert drawing._process is not None
            drawing._process.kill()
            drawn = drawing.svg(CHART)
            assert wanted is None or drawn == wanted
        assert "chart engine could not start, it ended with SIGKILL" in drawn and "<svg" not in drawn
        assert drawing.svg(CHART) == drawn and drawing.failure is not None
    monkeypatch.setenv("XDG_CACHE_HOME", "/nowhere")
    assert drawing.library() == ""  # no browser can draw them then


def test_without_any_process_the_place_of_a_chart_says_why(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(sys, "executable", str(tmp_path / "none"))
    with Drawing() as drawing:
        assert "it cannot be started (No such file or directory)" in drawing.svg(CHART)


def test_the_library_of_browsers_is_made_there_and_kept(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    with Drawing() as drawing:
        made = drawing.library()
    assert "vegaEmbed" in made and "</script" not in made
    with Drawing() as other:
        other.failure = "it is not there"
        assert other.library() == made


def test_it_ends_with_the_process_that_started_it() -> None:
    with Drawing() as drawing:
        assert drawing._process is not None and drawing._process.stdin is not None
        drawing._process.stdin.close()
        assert drawing._process.wait(30) == 0


def test_an_error_while_reading_leaves_no_process_behind() -> None:
    with pytest.raises(KeyError), Drawing() as drawing:
        assert drawing._process is not None
        pid = drawing._process.pid
        raise KeyError
    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)


def test_each_line_is_answered_by_a_line() -> None:
    out = io.StringIO()
    serve(io.StringIO(f"{json.dumps(CHART)}\n{json.dumps(NONE)}\nno json\n"), out)
    first, *others = out.getvalue().splitlines()
    assert json.loads(first) == static_svg(CHART) and others == ["null", "null"]
