"""A cap of the script in a run whose experiment did not judge it: one that was killed, or an earlier version's."""

from __future__ import annotations

from typing import Any

import pytest

from plimsoll.findings.validity.generator import generator_health, limit_of_generator
from plimsoll.findings.validity.script_caps import cap_of_step, with_script_cap
from plimsoll.runs.format.minute_blocks import blocks_of
from plimsoll.runs.histogram import Histogram
from plimsoll.runs.snapshot import Series, Snapshot

ARRIVALS = {"executor": "constant-arrival-rate", "rate": 100, "preAllocatedVUs": 10, "maxVUs": 50}
COMMON = {"p50_ms": 1.0, "lag_p99_ms": 0.1}
LOW = {"level": 1.0, "verdict": "good", "measured_from_s": 0.0, "end_s": 10.0, "done_per_s": 100.0, **COMMON}


class Run:
    """Ten seconds at low load and ten above what the script or the target can do."""

    def __init__(self, per_s: int, iteration_ms: float) -> None:
        self.manifest = {"options": {"scenarios": {"a": ARRIVALS}}}
        self.high = per_s, iteration_ms

    def blocks(self, metrics: Any, *, above: Any) -> Any:
        return blocks_of(self._snapshots())

    def _snapshots(self) -> Any:
        for second in range(20):
            done, each_ms = (100, 101.0) if second < 10 else self.high
            times = Series.of_trend("iteration_duration", {"scenario": "a"}, Histogram.from_values([each_ms] * done))
            late = 0 if second < 10 else 100
            yield Snapshot(second, planned=done + late, done=done, late=late, vus_max=50, series=(times,))


def found(run: Run, result: dict[str, Any]) -> dict[str, Any] | None:
    high = {"level": 6.0, "verdict": "bad", "measured_from_s": 10.0, "end_s": 20.0, "done_per_s": 490.0, **COMMON}
    return cap_of_step(run, high, [LOW, high], result)


def test_what_the_script_allows_is_no_capacity_of_the_target() -> None:
    cap = found(Run(490, 102.0), {"cap": None})
    health = with_script_cap(generator_health([LOW], [{}]), cap)
    assert not health["healthy"] and health["remedies"][0].startswith("Raise maxVUs to 200")
    assert health["reasons"][0].startswith("The script cannot send more: maxVUs of 50 (scenario a) allows about 495")
    limit = limit_of_generator(health)
    assert limit is not None and limit["where"] == "the script's maxVUs"


@pytest.mark.parametrize(
    ("run", "result"),
    [(Run(200, 250.0), {}), (Run(490, 102.0), {"judged_caps": True, "cap": None})],
    ids=["the target is slow", "the experiment judged it"],
)
def test_without_a_cap_nothing_is_void(run: Run, result: dict[str, Any]) -> None:
    assert found(run, result) is None
    assert with_script_cap(generator_health([LOW], [{}]), None)["healthy"]
