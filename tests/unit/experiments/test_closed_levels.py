"""Closed levels that have collapsed, and what is known without them."""

from __future__ import annotations

import pytest

from plimsoll.experiments.capacity.closed import Throughput
from plimsoll.experiments.capacity.closed_levels import ClosedLevels
from plimsoll.experiments.capacity.result import CapacitySettings
from plimsoll.experiments.capacity.search import bracket_of


def known(*ramp: tuple[float, float]) -> ClosedLevels:
    levels = ClosedLevels(CapacitySettings(), whole=True)
    levels.points = [Throughput(level, per_s, 2.0) for level, per_s in ramp]
    return levels


def test_a_level_that_does_clearly_less_than_a_lower_one_has_collapsed():
    levels = known((100, 100.0), (200, 200.0))
    assert levels.note(Throughput(400, 130.0, 3.0)) and 400 in levels.collapsed
    assert not levels.note(Throughput(300, 197.0, 3.0)) and 300 in levels.held, "within chance and 8%"
    assert not levels.has_fallen(Throughput(150, 90.0, 20.0)), "chance is large"


def test_of_a_target_that_slows_down_all_the_while_only_held_levels_tell_a_collapse():
    levels = known((100, 100.0))
    assert levels.has_fallen(Throughput(200, 60.0, 2.0)) and not levels.has_fallen(Throughput(200, 60.0, 2.0), True)
    levels.note(Throughput(100, 100.0, 2.0))
    assert levels.has_fallen(Throughput(200, 60.0, 2.0), True)


def test_a_level_that_holds_acquits_those_below_it():
    levels = known((100, 100.0), (200, 200.0))
    levels.note(Throughput(250, 90.0, 2.0))
    levels.fell.add(280)
    levels.note(Throughput(300, 290.0, 2.0))
    assert not levels.collapsed and not levels.fell


def test_before_a_cliff_each_level_that_rises_is_carried_and_the_range_is_halved():
    levels = known((100, 100.0), (200, 200.0))
    levels.fell.add(400)
    assert levels.has_cliff
    assert bracket_of(levels.trials()).good is None, "the ramp proves nothing"
    assert levels.next_level(bracket_of(levels.trials()), 100) == pytest.approx(283, abs=1)
    levels.note(Throughput(283, 280.0, 2.0))
    levels.note(Throughput(336, 120.0, 2.0))
    bounds = bracket_of(levels.trials())
    assert (bounds.good, bounds.bad) == (283, 336)
    assert levels.next_level(bounds, 100) == pytest.approx(308, abs=1)


def test_past_a_plateau_a_collapse_is_no_cliff():
    levels = known((100, 100.0), (200, 190.0), (400, 200.0))
    levels.note(Throughput(800, 90.0, 2.0))
    assert levels.collapsed and not levels.has_cliff
    assert 800 not in {one.level for one in levels.all()}
