"""Which levels of a table are carried: beside the true saturation of random curves, and beside the rule before."""

from __future__ import annotations

import pytest
from table_curves import CURVES, below_the_plateau, machine_repair, score, told, told_of_arrivals

TABLES, SEED = 300, 80_001


@pytest.mark.parametrize("kind", CURVES)
def test_the_bracket_of_a_table_holds_the_knee_in_nine_of_ten_and_more_often_than_before(kind: str) -> None:
    new, old = (score(kind, rule, TABLES, SEED) for rule in (told, below_the_plateau))
    assert new.tables == old.tables > 0.85 * TABLES
    assert new.held >= 0.9 and new.held > old.held + 0.1


@pytest.mark.parametrize("kind", CURVES)
def test_a_level_that_does_what_its_users_ask_for_is_hardly_ever_called_too_much(kind: str) -> None:
    new, old = (score(kind, rule, TABLES, SEED) for rule in (told, below_the_plateau))
    assert new.wrongly_bad <= min(0.03, max(0.01, old.wrongly_bad))


@pytest.mark.parametrize("kind", ["bounds", "queue"])
def test_the_bracket_is_no_wider_than_the_levels_of_the_table_make_it(kind: str) -> None:
    """A fall of efficiency as gradual as the law's leaves many levels between: honest, and wider."""
    new, old = (score(kind, rule, TABLES, SEED) for rule in (told, below_the_plateau))
    assert new.width <= 1.2 * old.width


def test_an_open_load_is_told_as_well() -> None:
    """What is done of arrivals is the bounds themselves: all, up to the capacity."""
    assert score("bounds", told_of_arrivals, TABLES, SEED).held >= 0.9


def test_the_machine_repair_model_is_exact() -> None:
    """One server, one user: one round takes service and think time. Two users: by hand, 2 (1 + z) / ((1 + z)² + 1)."""
    assert machine_repair([1], 1, 9.0)[0] == pytest.approx(0.1)
    assert machine_repair([2], 1, 9.0)[0] == pytest.approx(1 - 81 / (81 + 18 + 2))
    assert machine_repair([500], 4, 9.0)[0] == pytest.approx(4.0)
