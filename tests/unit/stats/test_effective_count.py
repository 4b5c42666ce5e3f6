"""How many independent values the values of a load are worth."""

from __future__ import annotations

import pytest

from plimsoll.stats.estimates.effective_count import design_effect, queue_factor

np = pytest.importorskip("numpy")


def test_independent_values_are_worth_nearly_as_many_as_they_are() -> None:
    draw = np.random.default_rng(1)
    counts = np.full(100, 50.0)
    marked = [draw.binomial(50, share, 100).astype(float) for share in (0.5, 0.25, 0.1)]
    assert design_effect(counts, marked) < 1.7


def test_values_of_clusters_are_worth_as_many_as_there_are_clusters() -> None:
    draw = np.random.default_rng(2)
    counts = np.full(100, 50.0)
    marked = 10.0 * draw.binomial(5, 0.25, 100)  # clusters of ten
    assert 8 < design_effect(counts, [marked]) < 18


def test_seconds_that_go_together_are_worth_fewer() -> None:
    draw = np.random.default_rng(3)
    counts, alone = np.full(100, 50.0), draw.binomial(50, 0.25, 100).astype(float)
    together = np.repeat(draw.choice([2.0, 20.0], 10), 10)
    assert design_effect(counts, [together]) > 20 * design_effect(counts, [alone])


def test_a_calm_server_of_15_ms_once_a_second_makes_independent_values_of_few_seconds() -> None:
    counts = np.full(10, 7.0)
    assert design_effect(counts, [np.zeros(10)]) > 2
    assert design_effect(counts, [np.zeros(10)], in_system=0.015) < 1.1


def test_the_factor_of_a_queue_is_that_of_one_server() -> None:
    for load in (0.5, 0.8, 0.9):
        assert queue_factor(load / (1 - load)) == pytest.approx((1 + load) / (1 - load) ** 2)
    assert queue_factor(9.0, 0.1) == pytest.approx(1 + 0.1 * 189)
