"""Where the search looks next: tables of trials, no clock and no load."""

from __future__ import annotations

import math

import pytest

from plimsoll.experiments.capacity.search import (
    Goal,
    Trial,
    bracket_of,
    capacity_estimate,
    collapsed,
    falls_below,
    falls_past_top,
    has_no_plateau,
    propose,
    rounded,
)
from plimsoll.experiments.steps.record import Bracket
from plimsoll.stats.throughput.plateau import Plateau

GOAL = Goal(0.10)
H = GOAL.half_width


def test_bounds_resolve_inversions_conservatively():
    trials = [Trial(80, "good"), Trial(100, "bad"), Trial(120, "good"), Trial(90, "undecided")]
    assert bracket_of(trials).good == 80 and bracket_of(trials).bad == 100
    assert bracket_of([]).width == math.inf


def test_after_an_overloaded_probe_it_aims_just_above_the_plateau_then_just_below():
    probe = Trial(200, "bad", Plateau(100, 0.02))
    first = propose([probe], GOAL, H)
    assert first.aim == "bad" and first.level == pytest.approx(100 * (1 + H), rel=0.01)
    bad = Trial(first.level, "bad", Plateau(100, 0.01))
    second = propose([probe, bad], GOAL, H)
    assert second.aim == "good" and second.level == pytest.approx(100 * (1 - H), rel=0.015)
    assert propose([probe, bad, Trial(second.level, "good")], GOAL, H) is None


def test_a_bad_bound_too_far_above_the_plateau_is_tightened():
    found = propose([Trial(115, "bad", Plateau(100, 0.01))], GOAL, H)
    assert found.aim == "bad" and found.level < 108


def test_a_level_that_proved_nothing_is_not_asked_again():
    trials = [Trial(200, "bad", Plateau(100, 0.02)), Trial(rounded(100 * (1 + H), False), "undecided")]
    found = propose(trials, GOAL, H)
    assert found.level > trials[1].level


def test_the_estimate_never_leaves_the_bracket():
    low = capacity_estimate([Trial(120, "bad", Plateau(95, 0.01)), Trial(100, "good")], H)
    high = capacity_estimate([Trial(100, "bad", Plateau(130, 0.01))], H)
    assert low.level > 100 and high.level < 100


def test_a_step_that_finished_clearly_less_than_another_carried_has_collapsed():
    carried, fell, near = Trial(100, "good"), Trial(140, "bad", Plateau(70, 0.02)), Trial(110, "bad", Plateau(98, 0.01))
    assert collapsed([carried, fell, near]) == [False, True, False]
    assert falls_past_top([carried, fell]) and not falls_past_top([carried, near])
    assert falls_past_top([Trial(140, "bad", Plateau(98, 0.01)), Trial(200, "bad", Plateau(70, 0.02), proven=False)])


def test_a_collapse_is_told_only_if_less_is_finished_than_is_carried():
    carried, top, deep = (
        Trial(91, "good"),
        Trial(121, "bad", Plateau(110, 0.01)),
        Trial(160, "bad", Plateau(90.6, 0.01)),
    )
    assert falls_past_top([carried, top, deep]) and falls_below([carried, top, deep], 91) is None
    deeper = Trial(240, "bad", Plateau(60, 0.01))
    assert falls_below([carried, top, deep, deeper], 91) == deeper


def test_overloaded_steps_of_a_target_that_collapses_are_not_asked_and_the_range_is_halved():
    trials = [Trial(100, "good", own=True), Trial(200, "bad", Plateau(60, 0.01), own=True)]
    assert capacity_estimate(trials, H) is None
    assert propose(trials, GOAL, H).level == pytest.approx(math.sqrt(100 * 200), rel=0.01)
    near = [*trials, Trial(141, "undecided")]
    assert propose(near, GOAL, H).level == pytest.approx(141 / 1.045, rel=0.01), "close below it"
    assert propose([*near, Trial(135, "good")], GOAL, H).level == pytest.approx(141 * 1.045, rel=0.01), "close above"
    assert propose([*near, Trial(135, "good"), Trial(151, "bad")], GOAL, H).level == 141, "again"


def test_throughput_that_rises_with_the_overload_is_no_capacity():
    stuck = [Trial(150, "bad", Plateau(130, 0.01)), Trial(100, "bad", Plateau(92, 0.01))]
    assert has_no_plateau(stuck) and not falls_past_top(stuck)


def test_a_level_that_shows_by_itself_what_the_others_deny_ends_their_say():
    assert has_no_plateau([Trial(108, "good", own=True), Trial(130, "bad", Plateau(100, 0.01))])
    assert not has_no_plateau([Trial(108, "good", own=False), Trial(130, "bad", Plateau(100.5, 0.01))])


def test_a_level_below_one_that_was_carried_is_held_again_until_most_steps_agree():
    trials = [Trial(90, "good"), Trial(100, "bad"), Trial(120, "good"), Trial(140, "bad")]
    assert propose(trials, GOAL, H).level == 100
    assert bracket_of([*trials, Trial(100, "good"), Trial(100, "good")]).bad == 140


def test_a_target_that_collapses_in_a_long_step_outvotes_a_short_one():
    trials = [Trial(90, "good"), Trial(130, "bad", Plateau(50, 0.01)), Trial(100, "good", own=True)]
    tipped = Trial(100, "bad", Plateau(50, 0.01), own=True, long=True)
    assert bracket_of([*trials, tipped, Trial(100, "good", own=True)]).bad == 100


def test_of_a_target_that_collapses_what_a_long_step_carried_is_carried():
    short = [Trial(110, "good", own=True), Trial(120, "bad", Plateau(110, 0.01)), Trial(90, "good", own=True)]
    held = Trial(100, "good", own=True, long=True)
    assert bracket_of([*short, held]) == Bracket(110, 120), "its throughput stays at its top"
    assert bracket_of([*short, Trial(160, "bad", Plateau(50, 0.01))]) == Bracket(110, 120), "no long step yet"
    assert bracket_of([*short, Trial(160, "bad", Plateau(50, 0.01)), held]) == Bracket(100, 120)


def test_deep_overload_counts_less_than_a_step_near_the_capacity():
    trials = [Trial(400, "bad", Plateau(80, 0.01)), Trial(105, "bad", Plateau(100, 0.01))]
    assert capacity_estimate(trials, H).level == pytest.approx(100, rel=0.01)


def test_what_the_ramp_finished_says_nothing_once_more_was_carried():
    ramp, good = Trial(200, "bad", Plateau(100, 0.02), proven=False), Trial(106, "good")
    assert propose([ramp, good], GOAL, H).level == pytest.approx(math.sqrt(106 * 200), rel=0.01)
    assert propose([ramp, Trial(101, "good")], GOAL, H).level == pytest.approx(101 * (1 + H) ** 2, rel=0.01)


def test_with_little_time_left_the_first_good_bound_is_aimed_where_one_step_decides():
    trials = [Trial(104, "bad", Plateau(100, 0.02)), Trial(96, "undecided", Plateau(101, 0.02))]
    assert propose(trials, GOAL, H).level > propose(trials, GOAL, H, hurry=True).level
    assert propose(trials, GOAL, H, hurry=True).level < 96 * (1 - 0.9 * H)
    assert propose([*trials, Trial(90, "good")], GOAL, H, hurry=True) == propose([*trials, Trial(90, "good")], GOAL, H)


def test_without_a_plateau_it_doubles_or_halves():
    assert propose([Trial(10, "good")], GOAL, H).level == 20
    assert propose([Trial(10, "bad")], GOAL, H).level == 5
    assert propose([Trial(10, "good"), Trial(40, "bad")], GOAL, H).level == 20


def test_the_greatest_level_allowed_ends_the_search_when_it_is_good():
    goal = Goal(0.1, most_level=50)
    assert propose([Trial(40, "good")], goal, H).level == 50
    assert propose([Trial(50, "good")], goal, H) is None


def test_whole_levels_stay_whole_and_at_least_one():
    assert rounded(12.4, True) == 12 and rounded(0.2, True) == 1
    assert rounded(0.012346, False) == pytest.approx(0.01235) and rounded(20523.7, False) == 20524


def test_a_plateau_that_a_pause_marred_is_no_estimate():
    assert capacity_estimate([Trial(640, "bad", Plateau(95, 0.5), proven=False)], H) is None


def test_the_good_bound_is_aimed_as_low_as_the_width_allows_and_the_bad_one_as_high():
    bad = Trial(102, "bad", Plateau(100, 0.01))
    assert propose([bad], GOAL, H).level == pytest.approx(102 * 0.903, rel=0.001)
    good = [Trial(200, "bad", Plateau(100, 0.01), proven=False), Trial(98, "good")]
    assert propose(good, GOAL, H).level == pytest.approx(98 / 0.903, rel=0.001)


def test_a_hint_close_below_a_bad_level_is_held_itself():
    trials = [Trial(320, "good", proven=False), Trial(340, "bad")]
    assert propose(trials, GOAL, H).level == 320


def test_an_undecided_level_may_be_held_again_and_a_judged_one_not():
    goal = Goal(0.1, most_level=50)
    assert propose([Trial(40, "good"), Trial(50, "undecided")], goal, H).level == 50
    assert propose([Trial(40, "good"), Trial(50, "bad"), Trial(45.0, "good")], goal, H) is None


def test_near_bounds_are_brought_nearer_from_the_other_side_when_one_level_told_nothing():
    goal, known = Goal(0.03), Plateau(287, 0.004)
    near = [Trial(284, "good"), Trial(293, "bad", known)]
    lower_bad = propose(near, goal, goal.half_width)
    assert lower_bad.aim == "bad" and 284 < lower_bad.level < 293
    told_nothing = [*near, Trial(lower_bad.level, "undecided")]
    higher_good = propose(told_nothing, goal, goal.half_width)
    assert higher_good.aim == "good" and 284 < higher_good.level < lower_bad.level
    neither = propose([*told_nothing, Trial(higher_good.level, "undecided")], goal, goal.half_width)
    assert neither == lower_bad


def test_a_bracket_a_hair_wider_than_the_goal_is_not_the_end():
    found = propose([Trial(284.5, "good"), Trial(293.4, "bad", Plateau(287, 0.004))], Goal(0.03), Goal(0.03).half_width)
    assert found is not None and (found.level - 284.5) / found.level < 0.03


def test_while_nothing_is_carried_for_certain_a_level_that_told_nothing_leads_to_the_calm_probe_below_it():
    probes = [Trial(level, "good", proven=False) for level in (4.0, 8.0, 16.0)]
    fell = [Trial(35.0, "bad"), Trial(32.0, "bad")]
    first = propose([*probes, *fell], GOAL, H)
    assert first.aim == "good" and 16 < first.level < 32
    trials = [*probes, *fell, Trial(first.level, "undecided")]
    assert propose(trials, GOAL, H).level == 16
    assert propose([*trials, Trial(16.0, "undecided")], GOAL, H).level == 8


def test_a_level_that_told_nothing_is_not_asked_again_below_three_that_were_too_much():
    """A slow wiki was held four times at half of the lowest such level, for 140 of its 300 seconds."""
    calm = [Trial(0.25, "good", proven=False), Trial(1, "good", proven=False), Trial(4, "good", proven=False)]
    fell = [
        Trial(16, "bad", Plateau(14, 0.02)),
        Trial(8, "bad", Plateau(4.5, 0.03)),
        Trial(5.4, "bad", Plateau(4.2, 0.03)),
    ]
    assert has_no_plateau([*calm, *fell])
    first = propose([*calm, *fell], GOAL, H)
    assert first.level == pytest.approx(2.7) and first.aim == "good"
    second = propose([*calm, *fell, Trial(first.level, "undecided")], GOAL, H)
    assert second.level == 1 and second.aim == "good"
