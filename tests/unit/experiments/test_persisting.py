"""What fails at low load as well is not the load's: a quota that is used up takes no level away, a limit of the rate
does."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as np

from plimsoll.experiments.capacity.experiment import run_capacity
from plimsoll.experiments.capacity.result import CapacityResult, CapacitySettings
from plimsoll.findings.capacity.finding import capacity_findings

sys.path.insert(0, str(Path(__file__).parents[2] / "accuracy"))
from adversaries import Bucket, ClosedQuota, Quota
from adversary import Adversary
from simulators import ClosedQueue


def searched(target: type[Adversary], servers: int, per_s: float, seed: int = 1) -> CapacityResult:
    return run_capacity(
        target(servers, servers / per_s, seed), CapacitySettings(arrivals_per_level_s=1.0, budget_s=300)
    )


def answer(result: CapacityResult) -> dict[str, Any]:
    return capacity_findings(result, None)[0]


def test_a_quota_that_is_used_up_takes_no_level_away_and_is_told() -> None:
    found = [searched(Quota, 4, 300, seed) for seed in range(4)]
    for result in found:
        assert result.bracket.good is not None and result.bracket.good >= 0.85 * 300, result.bracket
        assert result.failing_anyway is not None and result.failing_anyway.level <= 0.6 * 300
    words = answer(found[0])["answer"]
    assert "of the requests fail whatever the load" in words and "What stops it: requests begin to fail" not in words


def test_a_limit_of_the_rate_is_still_the_limit() -> None:
    for seed in range(3):
        result = searched(Bucket, 8, 800, seed)
        assert result.failing_anyway is None
        assert result.bracket.bad is not None and result.bracket.bad <= 1.25 * Bucket.rate


def test_a_healthy_target_is_not_asked() -> None:
    result = searched(Adversary, 4, 300)
    assert result.failing_anyway is None and answer(result)["capacity"]["failing_anyway"] is None
    assert np.isfinite(result.bracket.width)


def test_users_who_wait_are_not_too_many_for_a_quota_that_is_used_up() -> None:
    settings = CapacitySettings(budget_s=300, max_level=5000)
    without = run_capacity(ClosedQueue(8, 8 / 400, 1.0, 1), settings)
    result = run_capacity(ClosedQuota(8, 8 / 400, 1.0, 1), settings)
    assert result.failing_anyway is not None
    assert without.bracket.good is not None and result.bracket.good is not None and result.bracket.bad is not None
    assert result.bracket.good >= 0.6 * without.bracket.good and result.bracket.bad > without.bracket.good
