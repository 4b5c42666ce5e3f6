"""Numbers of the printed summary, however large they are."""

from __future__ import annotations

import sys
from typing import Any

import pytest

from plimsoll.report.k6_summary import duration_text, summary_text

LARGEST = sys.float_info.max


def of(metric: dict[str, Any]) -> str:
    return summary_text({"metrics": {"m": {"contains": "default", **metric}}})


@pytest.mark.parametrize(
    ("metric", "words"),
    [
        ({"type": "gauge", "values": {"value": LARGEST, "min": -LARGEST, "max": LARGEST}}, "1.79769e+308  min=-1.79"),
        ({"type": "counter", "values": {"count": LARGEST, "rate": 1e20}}, "1.79769e+308  100000000000000000000/s"),
        ({"type": "gauge", "values": {"value": float("inf"), "min": 0, "max": 3.25}}, "inf  min=0  max=3.25"),
    ],
)
def test_a_large_number_is_written_with_an_exponent(metric: dict[str, Any], words: str) -> None:
    assert words in of(metric)


def test_a_large_time_is_written_with_an_exponent() -> None:
    assert duration_text(LARGEST) == "2.99616e+303m" and duration_text(90_000) == "1m30s"


def test_a_threshold_says_why_it_is_undecided() -> None:
    row = {"verdict": "undecided", "ok": False}
    counter = {"type": "counter", "values": {"count": 3, "rate": 1}}
    assert "because no sample was seen: m" in of({**counter, "thresholds": {"count>1": {**row, "observed": None}}})
    assert "because no request was answered: m" in of({**counter, "thresholds": {"count>1": {**row, "observed": 3}}})
