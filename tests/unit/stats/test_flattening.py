"""Where throughput flattens, from one number a level."""

from __future__ import annotations

import math

import numpy as np
import pytest

from plimsoll.stats.throughput.flattening import Flattening, Untold, flattening


def asymptotes(levels: list[int], knee: int, most: float) -> list[float]:
    """The bounds themselves: N* = knee."""
    return [min(level * most / knee, most) for level in levels]


@pytest.mark.parametrize("knee", [20, 47, 80])
def test_the_knee_of_the_asymptotes_lies_in_the_bracket(knee: int) -> None:
    levels = [10, 20, 30, 40, 50, 60, 70, 80, 90, 100, 120]
    found = flattening(levels, asymptotes(levels, knee, 200.0))
    assert isinstance(found, Flattening) and found.first_flat is not None
    assert found.last_rising <= knee + 10 and found.first_flat > knee - 10
    assert found.last_rising < found.first_flat


def test_throughput_of_an_exact_closed_queue_flattens_about_its_operational_knee() -> None:
    """M/M/1 with think time by exact mean value analysis: N* = (D + Z) / D = 11."""
    demand_s, think_s, queue, per_s = 0.1, 1.0, 0.0, {}
    for users in range(1, 41):
        response_s = demand_s * (1 + queue)
        per_s[users] = users / (response_s + think_s)
        queue = per_s[users] * response_s
    levels = [2, 5, 8, 11, 14, 17, 20, 30, 40]
    found = flattening(levels, [per_s[level] for level in levels])
    assert isinstance(found, Flattening)
    assert found.last_rising in (8, 11) and found.first_flat in (11, 14)


def test_in_proportion_to_the_end_has_no_flat_level() -> None:
    found = flattening([1, 2, 4], [10, 20, 39])
    assert isinstance(found, Flattening) and found.first_flat is None and not found.bends


def test_order_does_not_matter_and_a_level_twice_counts_with_its_mean() -> None:
    found = flattening([40, 10, 20, 40, 30], [22, 10, 20, 18, 21])
    assert isinstance(found, Flattening)
    assert (found.last_rising, found.first_flat) == (20, 30)
    assert found.gains == pytest.approx((1.0, 0.1, -0.1))


@pytest.mark.parametrize(
    ("levels", "per_s", "words"),
    [
        ([], [], "no level"),
        ([10, 10], [5, 6], "the only level with a throughput is 10"),
        ([10, 20, 30, 40], [10, 20, 18, 35], "noise, or a cure"),
        ([10, 20, 30], [10, 11, 11], "the lowest levels"),
        ([10, 20], [0, 0], "Nothing was finished"),
    ],
)
def test_what_the_numbers_do_not_tell_is_said_with_what_would(levels: list, per_s: list, words: str) -> None:
    found = flattening(levels, per_s)
    assert isinstance(found, Untold) and words in found.reason and found.settle


def test_one_user_alone_queues_behind_nobody() -> None:
    assert isinstance(flattening([1, 2, 4], [10, 11, 11]), Untold)
    found = flattening([1, 2, 4], [10, 11, 11], one_is_alone=True)
    assert isinstance(found, Flattening) and (found.last_rising, found.first_flat) == (1, 2)


def carried(levels: list[float], per_s: list[float]) -> tuple[float, float | None, bool]:
    found = flattening(levels, per_s)
    assert isinstance(found, Flattening)
    return found.carried.users_to, found.carried.saturated_from, found.carried.is_plateau_seen


def test_a_level_that_does_its_proportion_is_carried_and_one_at_the_plateau_that_does_not_is_saturated() -> None:
    levels = [10.0, 20, 30, 40, 50, 60]
    assert carried(levels, [100, 195, 240, 276, 300, 296]) == (20, 50, True)
    assert carried(levels[:3], [100, 195, 290]) == (30, None, False)
    assert carried([100, 200, 250], [99, 196, 205]) == (200, 250, False)


def test_a_level_whose_users_ask_for_less_than_the_most_is_carried_though_they_wait_for_each_other() -> None:
    assert carried([1, 4, 8, 16, 32], [100, 360, 600, 800, 820]) == (4, 16, True)


def test_a_fall_is_saturated_from_its_first_level_on() -> None:
    assert carried([100, 200, 300], [100, 200, 120]) == (200, 300, True)


def test_a_most_at_the_highest_level_is_no_plateau_that_was_seen() -> None:
    assert carried([10, 20, 30, 40], [100, 195, 230, 245]) == (20, 40, False)


def test_a_level_at_which_throughput_still_rises_is_not_saturated() -> None:
    levels, per_s = [10.0, 20, 40, 80], [100.0, 190, 340, 500]
    assert carried(levels, per_s) == (40, None, False)
    found = flattening(levels, per_s)
    assert isinstance(found, Flattening)
    assert found.rise_at_end == pytest.approx(0.47, abs=0.01) and found.before_end == 40


def test_levels_too_near_to_each_other_to_tell_a_rise_by_a_share_are_told_by_the_gain() -> None:
    """From 90 to 95 users 0.6 of the first gain: 90 are within 5% of the most and still no plateau."""
    assert carried([50, 90, 95, 190], [50, 80, 83, 83])[1] != 90


def test_work_that_comes_by_itself_is_carried_if_it_is_done() -> None:
    for second, expected in ((190, (200, 400)), (176, (100, 400)), (160, (100, 200))):
        found = flattening([100, 200, 400], [100, second, 210])
        assert isinstance(found, Flattening)
        assert (found.carried.arrivals_to, found.carried.behind_from) == expected


def test_a_fall_is_called_a_fall() -> None:
    found = flattening([10, 20, 30], [100, 78, 78])
    assert isinstance(found, Untold) and "fell by 22%" in found.reason


@pytest.mark.parametrize("seed", range(20))
def test_scatter_that_is_known_is_not_taken_for_a_cure(seed: int) -> None:
    """An M/M/1 queue of users who think, N* = 96, at 12 levels of 300 requests each."""
    draw = np.random.default_rng(seed)
    levels = np.linspace(16, 192, 12)
    per_s = np.minimum(levels / 96, 1.0) * 80 * np.exp(0.058 * draw.standard_normal(12))
    found = flattening(levels.tolist(), per_s.tolist(), relative_sd=[0.058] * 12)
    assert isinstance(found, Flattening) and 64 <= found.carried.users_to <= 112


def test_a_dip_that_scatter_does_not_explain_stays_a_dip() -> None:
    found = flattening([10, 20, 30, 40], [100, 200, 180, 350], relative_sd=[0.02] * 4)
    assert isinstance(found, Untold) and "fell from 20 to 30" in found.reason


def test_counts_that_a_straight_line_explains_rise_in_proportion_and_those_it_does_not_do_not() -> None:
    """A lowest level that was high by chance made a knee of 31 VUs out of a queue whose knee is at 88."""
    levels, per_s = [4, 9, 13, 18, 22, 27, 31, 35], [1.6, 3.0, 4.2, 5.9, 7.1, 8.65, 11.1, 11.4]
    sd = [1 / math.sqrt(60 * rate) for rate in per_s]
    found = flattening(levels, per_s, relative_sd=sd)
    assert isinstance(found, Flattening) and found.first_flat is None
    assert (found.carried.users_to, found.carried.saturated_from) == (35, None)
    exact = flattening(levels, per_s, relative_sd=[0.001] * 8)
    assert not (isinstance(exact, Flattening) and exact.first_flat is None)
    full = [min(rate, 6.0) for rate in per_s]
    bent = flattening(levels, full, relative_sd=[1 / math.sqrt(60 * rate) for rate in full])
    assert isinstance(bent, Flattening) and bent.carried.saturated_from is not None
