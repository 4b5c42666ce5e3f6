"""The script's own caps: what they allow, and when they and not the target were the limit."""

from __future__ import annotations

from typing import Any

import pytest

from plimsoll.findings.generator import generator_health, limit_of_generator
from plimsoll.findings.script_caps import binding_cap, declared_caps, seconds_of, with_script_cap
from plimsoll.runs.histogram import Histogram
from plimsoll.runs.snapshot import Series, Snapshot

ARRIVALS = {"executor": "constant-arrival-rate", "rate": 100, "preAllocatedVUs": 10, "maxVUs": 50}


class Run:
    """A run whose iterations take so long in each of two steps."""

    def __init__(self, low_ms: float, high_ms: float, options: dict[str, Any]) -> None:
        self.manifest = {"options": options}
        self.times = [low_ms] * 10 + [high_ms] * 10

    def snapshots(self, *, metrics: Any = None) -> Any:
        for second, each_ms in enumerate(self.times):
            times = Histogram.from_values([each_ms] * 30)
            yield Snapshot(second, series=(Series.of_trend("iteration_duration", {}, times),))


def steps(top_per_s: float) -> list[dict[str, Any]]:
    common = {"p50_ms": 1.0, "lag_p99_ms": 0.1}
    return [
        {"level": 1.0, "verdict": "good", "measured_from_s": 0.0, "end_s": 10.0, "done_per_s": 100.0, **common},
        {"level": 5.0, "verdict": "bad", "measured_from_s": 10.0, "end_s": 20.0, "done_per_s": top_per_s, **common},
    ]


def health(run: Run, top_per_s: float) -> dict[str, Any]:
    held = steps(top_per_s)
    return with_script_cap(generator_health(held, [{}, {}]), run, held, "multiple")


def test_what_the_vus_of_the_script_allow_is_no_capacity_of_the_target() -> None:
    """Seen: maxVUs 50 and sleep(0.1), "Carries 466/s, what stops it: cannot tell", valid, exit code 0."""
    found = health(Run(101.0, 102.0, {"scenarios": {"a": ARRIVALS}}), 490.0)
    assert not found["healthy"] and found["remedies"][0] == "Raise maxVUs."
    assert found["reasons"][0].startswith("The script's maxVUs of 50 (scenario a) allows about 495 iterations/s")
    limit = limit_of_generator(found)
    assert limit is not None and limit["where"] == "the script's maxVUs"


@pytest.mark.parametrize(("high_ms", "top"), [(250.0, 200.0), (500.0, 440.0), (102.0, 300.0)])
def test_a_target_that_gets_slow_or_carries_less_is_the_limit_itself(high_ms: float, top: float) -> None:
    found = health(Run(101.0, high_ms, {"scenarios": {"a": ARRIVALS}}), top)
    assert found["healthy"] and found["script_cap"] is None


def test_rates_and_iterations_are_caps_too_and_the_least_of_a_scenario_counts() -> None:
    each = {"executor": "shared-iterations", "vus": 100, "iterations": 600, "maxDuration": "1m"}
    for options, option in (({"rps": 100}, "rps"), ({"scenarios": {"a": each}}, "iterations")):
        per_s = 100.0 if option == "rps" else 10.0
        found = binding_cap(
            declared_caps(options),
            low_iteration_s=0.1,
            high_iteration_s=0.1,
            iterations_per_s=per_s,
            requests_per_s=per_s,
        )
        assert found is not None and found.cap.option == option and found.allows_per_s == pytest.approx(per_s)


def test_without_a_declared_cap_there_is_none() -> None:
    assert declared_caps({"scenarios": {"a": {"executor": "constant-arrival-rate", "preAllocatedVUs": 10}}}) == []
    assert declared_caps({}) == []
    assert (seconds_of("1m30s"), seconds_of("500ms"), seconds_of(2000), seconds_of(None)) == (90.0, 0.5, 2.0, None)
