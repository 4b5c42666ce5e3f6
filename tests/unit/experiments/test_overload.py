"""At which level a target that collapsed recovers: a metastable server whose truth is known by construction."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2] / "accuracy"))
from adversaries import Metastable, Retries

from plimsoll.experiments.capacity.experiment import run_capacity
from plimsoll.experiments.capacity.overload import find_recovery
from plimsoll.experiments.capacity.result import CapacitySettings, Collapse
from plimsoll.experiments.steps.holding import StepHolder


def after_collapse(seed: int, left_s: float = 120.0):
    """A search of the recovery level of 250/s calm and 125/s behind a queue of 60."""
    source = Metastable(1, 1 / 250, seed)
    holder = StepHolder(source, None)
    source.start()
    found = Collapse(250.0, 125.0, 220.0, 220.0)
    return find_recovery(holder, found, lambda: left_s - source.now(), False), holder


def test_the_recovery_level_of_a_metastable_target_is_bracketed():
    for seed in range(3):
        found, _ = after_collapse(seed)
        assert found.recovery_tried
        assert found.recovers_at <= 125 * 1.02 and found.stays_at >= 125 * 0.95
        assert found.stays_at <= 2 * found.recovers_at


def test_a_target_that_does_not_collapse_again_shows_no_level():
    source = Metastable(1, 1 / 1000, 1)
    holder = StepHolder(source, None)
    source.start()
    found = find_recovery(holder, Collapse(250.0, 125.0, 220.0, 220.0), lambda: 60 - source.now(), False)
    assert found.recovery_tried and found.recovers_at is None and found.stays_at is None


def test_too_little_time_tells_less_and_ends_in_time():
    found, holder = after_collapse(1, left_s=25)
    assert holder.source.now() <= 60
    assert found.recovers_at is None or found.stays_at is not None


def test_a_search_says_where_the_target_collapses_and_where_it_recovers():
    recovered = 0
    for seed in (2, 3, 6):  # a level near the border may not collapse when it is put on again: then no level is said
        result = run_capacity(Metastable(1, 1 / 250, seed), CapacitySettings(arrivals_per_level_s=1.0, budget_s=300))
        found = result.collapse
        assert found is not None
        assert 110 <= found.per_s <= 145, "125 behind a queue, and 250 until it is there"
        assert found.carried_level == result.bracket.good and found.recovery_tried
        assert found.recovers_at is None or found.recovers_at <= 130
        assert result.steps[-1].kind in ("overload", "recovery")
        recovered += found.recovers_at is not None
    assert recovered >= 2


def test_work_that_a_proxy_sent_again_is_gone_before_the_next_step_begins():
    result = run_capacity(Retries(4, 4 / 300, 3), CapacitySettings(arrivals_per_level_s=1.0, budget_s=300))
    assert any(step.kind == "rest" for step in result.steps)
    assert result.bracket.good >= 0.8 * 300, (
        "the level after an overload began behind, and half of it was called too much"
    )


def test_no_recovery_is_searched_where_the_caller_does_not_want_it():
    settings = CapacitySettings(arrivals_per_level_s=1.0, budget_s=300, recovery=False)
    result = run_capacity(Metastable(1, 1 / 250, 3), settings)
    assert result.collapse is not None and not result.collapse.recovery_tried
