"""Lets the tests of this folder import the invented run, whatever import mode pytest runs in, and checks each chart
that they make, which a report leaves out."""

from __future__ import annotations

import contextlib
import sys
from pathlib import Path

import pytest

from plimsoll.report import charts

sys.path.insert(0, str(Path(__file__).parent))


@pytest.fixture(autouse=True)
def checked_charts(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every part of a chart is one that Vega-Lite knows."""
    monkeypatch.setattr(charts, "unchecked", contextlib.nullcontext)
