"""Holds each chart that tests make against Vega-Lite's own schema, as Altair ships it: the report checks none."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import altair
import pytest

from plimsoll.report import level_charts, long_charts, vega_lite
from plimsoll.report.over_time import axis
from plimsoll.report.trials import trial_charts

CHARTS = (level_charts, long_charts, axis, trial_charts)


def check(specification: dict[str, Any]) -> None:
    """ValidationError, with the place, where a part is none that Vega-Lite knows."""
    altair.Root.validate(specification)


def _checked(content: vega_lite.Part, height_px: int) -> vega_lite.Part:
    specification = vega_lite.chart_of(content, height_px)
    check(specification)
    return specification


@pytest.fixture(scope="package", autouse=True)
def checked_charts() -> Iterator[None]:
    """For a conftest.py: checks the charts of all tests of its folder, and those of their fixtures."""
    with pytest.MonkeyPatch.context() as patch:
        for module in CHARTS:
            patch.setattr(module, "chart_of", _checked)
        yield
