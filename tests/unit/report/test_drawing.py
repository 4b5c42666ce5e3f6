"""Charts drawn in a process beside this one are those that would be drawn here, whatever becomes of that process."""

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
        assert drawing._process is not None and drawing._process.poll() is None
    assert drawing._process.returncode is not None


def test_what_cannot_be_drawn_raises_as_it_would_here() -> None:
    with pytest.raises(ValueError) as here:
        static_svg(NONE)
    with Drawing() as drawing, pytest.raises(ValueError) as beside:
        drawing.svg(NONE)
    assert str(beside.value)[:60] == str(here.value)[:60]


def test_without_that_process_charts_are_drawn_here(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    with Drawing() as drawing:
        assert drawing._process is not None
        drawing._process.kill()
        assert drawing.svg(CHART) == static_svg(CHART)
    monkeypatch.setattr(sys, "executable", str(tmp_path / "none"))
    with Drawing() as drawing:
        assert drawing.svg(CHART) == static_svg(CHART)


def test_it_ends_with_the_process_that_started_it() -> None:
    with Drawing() as drawing:
        assert drawing._process is not None and drawing._process.stdin is not None
        drawing._process.stdin.close()
        assert drawing._process.wait(30) == 0


def test_an_error_while_reading_leaves_no_process_behind() -> None:
    with pytest.raises(KeyError), Drawing() as drawing:
        raise KeyError
    assert drawing._process is not None
    with pytest.raises(ProcessLookupError):
        os.kill(drawing._process.pid, 0)


def test_each_line_is_answered_by_a_line() -> None:
    out = io.StringIO()
    serve(io.StringIO(f"{json.dumps(CHART)}\n{json.dumps(NONE)}\nno json\n"), out)
    first, *others = out.getvalue().splitlines()
    assert json.loads(first) == static_svg(CHART) and others == ["null", "null"]
