"""Which seconds of an imported run are a level: held stretches, pooled short ones, and ramps beside them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
import pytest

from plimsoll.findings.imported.levels import Levels, levels_of
from plimsoll.runs.histogram import Histogram
from plimsoll.runs.snapshot import Series, Snapshot


class Seconds:
    """A run of `levels` a second, in which each user does one request a second up to 100/s, each of `ms`."""

    def __init__(self, levels: Sequence[float], ms: Callable[[int], float] = lambda second: 50.0) -> None:
        self._levels, self._ms = levels, ms

    def snapshots(self, *, metrics: Any = None) -> Iterator[Snapshot]:
        for second, level in enumerate(self._levels):
            done = int(min(level, 100))
            series = []
            if metrics is None or "http_req_duration" in metrics:
                times = Histogram.from_values(np.full(done, self._ms(second)))
                series = [Series.of_trend("http_req_duration", {"name": "a"}, times)] if done else []
                series.append(Series("http_req_failed", "rate", {"name": "a"}, passes=0, total=done))
            yield Snapshot(second, level=level, planned=done, started=done, done=done, series=tuple(series))

    def resources(self) -> Iterator[Any]:
        return iter(())


def parts(found: Levels) -> list[float]:
    return sorted({one.level for one in found.parts})


def test_a_user_each_six_seconds_is_a_ramp_in_twelve_parts_and_not_two_hundred_levels() -> None:
    found = levels_of(Seconds([1 + second // 6 for second in range(1200)]))
    assert not found.held and len(parts(found)) == 12
    assert any("200 short levels are pooled into 12 parts" in note for note in found.notes)
    assert sum(one.seconds for one in found.parts) == pytest.approx(1199, abs=12)


def test_the_ramp_beside_a_hold_is_used_and_the_ramp_down_is_not() -> None:
    up, down = [second / 2 for second in range(400)], [200 - 3 * second for second in range(60)]
    found = levels_of(Seconds([*up, *[200.0] * 420, *down]))
    assert [one.level for one in found.held] == [200] and len(parts(found)) == 12
    assert max(one.end_s for one in found.parts) <= 400
    assert any("ramp down is left out" in note for note in found.notes)


def test_a_few_seconds_at_one_level_do_not_switch_the_ramp_off() -> None:
    found = levels_of(Seconds([*[1.0] * 6, *[1 + second / 3 for second in range(600)]]))
    assert [one.level for one in found.held] == [1] and len(parts(found)) == 12


def test_two_ramps_share_their_parts() -> None:
    ramp = [float(second) for second in range(1, 201)]
    found = levels_of(Seconds([*ramp, *[200 - 8.0 * second for second in range(24)], *ramp, 1.0]))
    assert len(parts(found)) == 12
    assert all(sum(one.level == level for one in found.parts) >= 2 for level in parts(found)[1:-1])


def test_twenty_steps_of_a_minute_stay_twenty_levels() -> None:
    found = levels_of(Seconds([10.0 * (1 + second // 60) for second in range(1200)]))
    assert len(found.held) == 20 and not found.parts and not found.notes


def test_a_jump_is_no_ramp() -> None:
    found = levels_of(Seconds([*[20.0] * 60, 60, 120, *[180.0] * 60, 120, 60, *[20.0] * 60]))
    assert {one.level for one in found.held} == {20, 180} and not found.parts


def test_the_lag_of_a_ramp_is_taken_out() -> None:
    """Ten seconds of response time: what ends in a second began at the level of ten seconds before."""
    ramp = [float(second) for second in range(1, 241)]
    [fast, slow] = (levels_of(Seconds(ramp, lambda second, ms=ms: ms)) for ms in (1.0, 10_000.0))
    shifts = [after - before for before, after in zip(parts(fast), parts(slow), strict=True)]
    assert shifts[-1] == pytest.approx(-10, abs=0.6) and shifts[5] == pytest.approx(-10, abs=0.6)
    assert any("of 10 s before" in note for note in slow.notes) and not any("before on" in note for note in fast.notes)


def test_a_short_stretch_within_a_ramp_is_no_level_of_its_own() -> None:
    ramp = [float(second) for second in range(1, 201)]
    found = levels_of(Seconds([*ramp, *[40.0] * 7, *ramp]))
    assert not found.held and len(parts(found)) == 12


def test_a_run_that_only_falls_is_a_ramp_as_well() -> None:
    found = levels_of(Seconds([240.0 - second for second in range(240)]))
    assert len(parts(found)) == 12
