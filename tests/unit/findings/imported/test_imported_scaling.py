"""The law of scaling of another tool's levels goes by what the answer goes by."""

from __future__ import annotations

from typing import Any

import pytest

from plimsoll.findings.capacity.scaling import scaling_of_imported

LEVELS = (1, 2, 4, 8, 16, 32, 64)


def steps(*, per_s: list[float], iterations: float = 1.0, verdict: str = "good") -> list[dict[str, Any]]:
    return [
        {"level": float(level), "start_s": 60 * place, "measured_from_s": 60 * place, "end_s": 60 * place + 60,
         "done_per_s": iterations * rate, "requests_per_s": rate, "error_share": 0.0, "verdict": verdict}
        for place, (level, rate) in enumerate(zip(LEVELS, per_s, strict=True))
    ]  # fmt: skip


def law(level: float) -> float:
    return 10 * level / (1 + 0.05 * (level - 1) + 0.001 * level * (level - 1))


def test_requests_are_fitted_and_not_the_transactions_around_them() -> None:
    [found], _ = scaling_of_imported(
        steps(per_s=[law(one) for one in LEVELS], iterations=0.25), "users", "closed", None
    )
    assert found["scalability"]["single_per_s"] == pytest.approx(10, rel=0.02)


def test_a_fall_that_is_within_chance_is_no_peak_that_was_seen() -> None:
    rates = [law(one) for one in LEVELS]
    [seen], _ = scaling_of_imported(steps(per_s=rates), "users", "closed", None, falls=True)
    [unseen], _ = scaling_of_imported(steps(per_s=rates), "users", "closed", None, falls=False)
    assert "more users bring less" in seen["answer"]
    assert "levels off" in unseen["answer"] and "would bring less is not seen" in unseen["answer"]
    assert not unseen["scalability"]["peak_measured"]


def test_levels_whose_repeats_disagree_are_left_out() -> None:
    found, why = scaling_of_imported(steps(per_s=[10.0] * 7, verdict="mixed"), "users", "closed", None)
    assert not found and "repeats that agree. It has 0" in why[0]
