"""A target that becomes slower, or quicker, while it is searched is told; one that stays the same is not."""

from __future__ import annotations

import math
import sys
from pathlib import Path
from typing import Any

import pytest

from plimsoll.experiments.capacity.experiment import run_capacity
from plimsoll.experiments.capacity.result import CapacityResult, CapacitySettings
from plimsoll.findings.capacity.finding import capacity_findings

sys.path.insert(0, str(Path(__file__).parents[2] / "accuracy"))
from adversaries import Ageing, ColdCache, Collector, Compiler
from adversary import Adversary, Job


def searched(target: type[Adversary], seed: int, expected: float | None = 20.0) -> CapacityResult:
    settings = CapacitySettings(arrivals_per_level_s=1.0, budget_s=300, expected_level=expected, start_level=5.0)
    return run_capacity(target(4, 4 / 300, seed), settings)


def answer(result: CapacityResult) -> dict[str, Any]:
    return capacity_findings(result, None)[0]


@pytest.mark.parametrize("seed", range(4))
def test_a_target_that_does_more_work_for_each_request_is_told(seed: int) -> None:
    result = searched(Ageing, seed)
    found = result.slowed
    assert found is not None and found.level == 20 and found.to_ms > 1.25 * found.from_ms
    assert found.from_s < 60 < found.to_s
    finding = answer(result)
    assert finding["capacity"]["slowed"]["level"] == 20
    assert "The target became slower meanwhile: at 20 users" in finding["answer"]
    assert any("made the target slower" in step for step in finding["next"])
    assert not any("more load time" in step for step in finding["next"])
    if result.bracket.width > 0.1:
        assert "which more time does not narrow" in result.reason


@pytest.mark.parametrize("target", [Adversary, Collector, ColdCache, Compiler])
def test_others_are_not(target: type[Adversary]) -> None:
    for seed in range(4):
        result = searched(target, seed)
        assert result.slowed is None, result.slowed
        assert result.quickened is None or target in (ColdCache, Compiler), result.quickened
    assert "became slower" not in answer(result)["answer"]


@pytest.mark.parametrize("seed", range(3))
def test_a_target_that_compiles_for_minutes_is_told_in_a_note(seed: int) -> None:
    class Virtual(Compiler):
        """As Keycloak in the gauntlet, whose sign-ins took 36 ms after ten seconds and 8 ms after three minutes."""

        def slowdown(self, now: float, job: Job) -> float:
            return 1 + 4 * math.exp(-self.served / 3_000)

    result = searched(Virtual, seed)
    found = result.quickened
    assert found is not None and found.level == 20 and 1.25 * found.to_ms < found.from_ms
    finding = answer(result)
    assert finding["capacity"]["quickened"]["level"] == 20
    [note] = [note for note in finding["notes"] if "became quicker meanwhile" in note]
    assert "at 20 users half of the requests took up to" in note and "became quicker" not in finding["answer"]


def test_one_that_ages_so_fast_that_little_is_left_is_told_too() -> None:
    class Fast(Ageing):
        requests_to_double = 4_000

    result = searched(Fast, 1)
    assert result.slowed is not None and (result.bracket.good or 0) <= 80, (result.slowed, result.bracket)


def test_without_a_load_that_was_held_early_and_late_nothing_is_told() -> None:
    assert searched(Ageing, 1, expected=None).slowed is None
