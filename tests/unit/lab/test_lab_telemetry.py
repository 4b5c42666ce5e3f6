"""The request meter of the tracker's telemetry, on a clock that the test moves."""

from __future__ import annotations

import pytest

from plimsoll_lab.tracker.telemetry import RequestMeter, megabytes


class Clock:
    def __init__(self) -> None:
        self.now_s = 1000.0

    def __call__(self) -> float:
        return self.now_s


def test_the_rate_covers_the_last_minute_only() -> None:
    clock = Clock()
    meter = RequestMeter(clock)
    for _ in range(120):
        for _ in range(3):
            meter.count()
        clock.now_s += 1
    assert meter.per_second == pytest.approx(3, rel=0.02)
    clock.now_s += 120
    assert meter.per_second == 0
    assert meter.total == 360


def test_the_rate_of_a_young_server_covers_its_life() -> None:
    clock = Clock()
    meter = RequestMeter(clock)
    for _ in range(20):
        meter.count()
    clock.now_s += 10
    assert meter.per_second == 2


def test_sizes_are_written_as_the_report_shows_them() -> None:
    assert megabytes(130_500_000) == "130.5 MB"
