"""What one step proves: hand-made measurements, open and closed."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from plimsoll.experiments.capacity.closed import (
    PlateauSeen,
    Throughput,
    is_flat,
    judge_closed,
    marginal_gain,
    pooled,
    rising,
)
from plimsoll.experiments.steps.evidence import Context, busy_speeds
from plimsoll.experiments.steps.foreign_work import ForeignWork
from plimsoll.experiments.steps.judge import judge, least_distance, smallest_distance
from plimsoll.experiments.steps.measure import Measurement
from plimsoll.runs.histogram import Histogram
from plimsoll.runs.readings.declared_caps import declared_caps
from plimsoll.runs.readings.script_caps import LoadSeconds
from plimsoll.runs.snapshot import Series, Snapshot
from plimsoll.stats.throughput.host_speed import HostSpeed
from plimsoll.stats.throughput.plateau import Plateau

CONTEXT = Context(rate_per_level_s=1.0, half_width=0.048, least_seconds=10)


def measured(planned: list[int], done: list[int], level: float, times_ms: float = 5.0, failed: int = 0, **more: float):
    """A step whose response times are all alike."""
    seen = Measurement(
        level, planned=planned, done=done, seconds=list(range(len(done))), dropped=[0] * len(done), **more
    )
    seen.requests, seen.failed = sum(done), failed
    seen.times = Histogram.from_values(np.full(max(1, sum(done)), times_ms))
    return seen


def test_a_step_that_falls_behind_is_bad_and_says_by_how_much():
    found = judge(measured([330] * 30, [300] * 30, 330), CONTEXT)
    assert found.verdict == "bad" and found.plateau.level == pytest.approx(300)
    assert "grew by 900" in found.reasons[0] and "z = " in found.reasons[0]


def test_a_step_whose_queue_stands_still_is_good_by_itself():
    assert judge(measured([100] * 12, [100] * 12, 100), CONTEXT).verdict == "good"
    assert judge(measured([100] * 8, [100] * 8, 100), CONTEXT).verdict == "undecided"


def test_a_wandering_queue_is_good_only_below_a_known_plateau():
    seen = measured([300] * 20, [292] * 10 + [308] * 10, 300)
    assert judge(seen, CONTEXT).verdict == "undecided"
    below = Context(1.0, 0.048, 10, Plateau(330, 0.01))
    near = Context(1.0, 0.048, 10, Plateau(303, 0.01))
    assert judge(seen, below).verdict == "good"
    assert judge(seen, near).verdict == "undecided"


def test_a_step_without_a_queue_is_good_whatever_overloaded_steps_say():
    still = measured([150] * 12, [150] * 12, 150)
    found = judge(still, Context(1.0, 0.048, 10, Plateau(143, 0.02)))
    assert found.verdict == "good" and found.own


def test_a_shop_that_carried_1708_a_second_is_good_though_it_finished_1662_when_overloaded():
    planned, done = [1700, 1716] * 10, [1700, 1716] * 9 + [1701, 1716]
    found = judge(
        measured(planned, done, 1708, unfinished_start=3.0), Context(1.0, 0.048, 10, Plateau(1662, 0.01), idle_s=0.002)
    )
    assert found.verdict == "good" and found.own and "from 3 to 2" in found.reasons[0]


def test_a_step_in_which_nothing_was_left_over_is_decided():
    planned = [2090, 2092, 2091, 2089, 2092, 2090, 2091, 2091, 2090, 2093]
    seen = measured(planned, planned, 2091, unfinished_start=3.0)
    assert judge(seen, Context(1.0, 0.048, 10, Plateau(2100, 0.03), noise=40.0, idle_s=0.0015)).verdict == "good"


def test_a_confirming_step_that_did_538_of_592_a_second_is_bad():
    done = [590, 575, 560, 550, 540, 530, 520, 512, 505, 498]
    seen = measured([592] * 10, done, 592, unfinished_start=99.0)
    found = judge(seen, Context(1.0, 0.048, 10, idle_s=0.01))
    assert found.verdict == "bad" and found.own and "unfinished work grew by 540" in found.reasons[0]


def test_a_queue_above_what_little_s_law_keeps_inside_is_not_taken_for_calm():
    seen = measured([300] * 10, [300] * 10, 300, unfinished_start=150.0)
    assert judge(seen, Context(1.0, 0.048, 10, idle_s=0.5)).verdict == "good", "150 = 300/s × 0.5 s: nothing waits"
    assert judge(seen, Context(1.0, 0.048, 10, idle_s=0.01)).verdict == "undecided", "147 wait"


def test_users_who_think_within_an_iteration_keep_no_target_busy():
    seen = measured([27] * 30, [25, 29] * 15, 27, unfinished_start=15.0)
    context = Context(1.0, 0.048, 10, Plateau(400, 0.05), idle_s=0.55)
    found = judge(seen, context)
    assert found.verdict == "good" and found.growth.busy_share == 0, "15 = 27/s × 0.55 s of sleeping"
    assert judge(seen, Context(1.0, 0.048, 10)).growth.busy_share > 0.9, "without knowing how long an iteration takes"


def test_errors_that_begin_in_the_last_third_and_last_are_bad_and_a_burst_of_them_is_not():
    seen = measured([208] * 30, [208] * 30, 208)
    seen.requests_each = [208] * 30
    seen.failed_each = [0] * 20 + [5] * 10
    seen.requests, seen.failed = 30 * 208, 50
    assert judge(seen, Context(1.0, 0.048, 10)).verdict == "bad"
    assert "in the last 10 s" in judge(seen, CONTEXT).reasons[0]
    seen.failed_each = [0] * 24 + [40] + [0] * 5
    seen.failed = 40
    assert judge(seen, CONTEXT).verdict == "good"


def test_failures_in_a_burst_prove_nothing_until_as_many_seconds_show_them():
    """18 of 900 in one second of three, as a target of few connections makes them that fails 0.3% in a minute."""
    seen = measured([300] * 3, [300] * 3, 300, failed=18)
    seen.requests_each, seen.failed_each = [300] * 3, [0, 18, 0]
    found = judge(seen, Context(1.0, 0.048, 3))
    assert found.verdict == "undecided" and "in bursts" in found.reasons[0]
    assert judge_closed(seen, PlateauSeen(1000, 0), (0, 0)).verdict == "undecided"
    seen.failed_each = [6] * 3
    assert judge(seen, Context(1.0, 0.048, 3)).verdict == "bad", "as many, spread as chance spreads them"
    minute = measured([300] * 60, [300] * 60, 300, failed=60 * 18)
    minute.requests_each, minute.failed_each = [300] * 60, [0, 54, 0] * 20
    assert judge(minute, CONTEXT).verdict == "bad", "bursts all the while"


def test_what_a_target_that_refuses_answers_shows_its_capacity():
    seen = measured([400] * 12, [400] * 12, 400, failed=2400)
    found = judge(seen, CONTEXT)
    assert found.verdict == "bad" and found.plateau.level == pytest.approx(200)


CAPS = declared_caps({"scenarios": {"a": {"executor": "constant-arrival-rate", "rate": 583, "maxVUs": 50}}})


def capped(mean_ms: float, failed: int = 0):
    """A step of which a part was not sent: of 583/s what 50 VUs do, all of them busy."""
    done = round(50_000 / mean_ms)
    seen = measured([583] * 10, [done] * 10, 583, failed=failed)
    times = Series.of_trend("iteration_duration", {}, Histogram.from_values(np.full(done, mean_ms)))
    for second in range(10):
        seen.load.add(Snapshot(second, planned=583, done=done, late=583 - done, vus_max=50, series=(times,)))
    return seen


def low():
    """Calm seconds whose iterations took 107 ms."""
    found = LoadSeconds()
    found.add(Snapshot(0, series=(Series.of_trend("iteration_duration", {}, Histogram.from_values([107.0] * 30)),)))
    return found


def test_arrivals_that_found_no_vu_while_the_target_was_as_quick_as_ever_are_a_cap_of_the_script():
    context = Context(1.0, 0.048, 10, idle_s=0.107, caps=CAPS, low=low())
    found = judge(capped(108.0), context)
    assert found.capped and found.verdict == "undecided" and "maxVUs of 50 (scenario a) allows" in found.reasons[0]
    slowed = judge(capped(300.0), context)
    assert not slowed.capped and slowed.verdict == "bad", "the target held the VUs"
    failing = judge(capped(108.0, failed=1000), context)
    assert not failing.capped and failing.verdict == "bad", "no cap makes requests fail"


def test_a_backlog_that_the_script_could_not_send_gives_no_step_up():
    seen = measured([5830] * 10, [466] * 10, 5830)
    seen.load = capped(108.0).load
    assert judge(seen, Context(1.0, 0.048, 10)).given_up
    assert judge(seen, Context(1.0, 0.048, 10, caps=CAPS, low=low())).capped


def test_more_than_half_failed_gives_the_step_up():
    found = judge(measured([50] * 5, [50] * 5, 50, failed=200), CONTEXT)
    assert found.given_up and "80% of the requests failed" in found.reasons[0]


def test_a_median_over_ten_seconds_gives_the_step_up():
    found = judge(measured([50] * 5, [50] * 5, 50, times_ms=11_000), CONTEXT)
    assert found.given_up and "is 11 s." in found.reasons[0]


def test_work_waiting_over_thirty_seconds_gives_the_step_up():
    assert judge(measured([1000] * 5, [100] * 5, 1000), CONTEXT).given_up


def test_a_short_pause_after_good_throughput_does_not_give_the_step_up():
    assert not judge(measured([100] * 3, [100, 0, 0], 100, best_done_per_s=100.0), CONTEXT).given_up


def test_errors_above_those_of_low_load_are_bad_and_the_same_share_is_not():
    seen = measured([100] * 20, [100] * 20, 100, failed=100)
    assert judge(seen, CONTEXT).verdict == "bad"
    used_to_it = Context(1.0, 0.048, 10, base_errors=(50, 1000))
    assert judge(seen, used_to_it).verdict == "good"


def test_throughput_in_proportion_gains_all_and_a_plateau_gains_nothing():
    assert marginal_gain(Throughput(10, 100, 1), Throughput(20, 200, 1)) == pytest.approx(1)
    assert marginal_gain(Throughput(10, 100, 1), Throughput(20, 100, 1)) == pytest.approx(0)
    assert is_flat([Throughput(10, 100, 1), Throughput(20, 104, 1)])


def test_doubling_is_flat_only_if_chance_cannot_hide_a_rise():
    assert not is_flat([Throughput(10, 100, 30), Throughput(20, 104, 30)])


def test_a_long_flat_stretch_tells_what_one_step_cannot():
    noisy = [Throughput(level, per_s, 0.2 * per_s) for level, per_s in ((20, 9), (40, 12), (80, 12.5), (160, 12.3))]
    assert not is_flat(noisy[:3]) and not is_flat(noisy[2:])
    assert is_flat(noisy)


def test_closed_steps_are_judged_against_the_plateau():
    plateau = PlateauSeen(100, 0)
    assert judge_closed(measured([99] * 200, [99] * 200, 40), plateau, (0, 0)).verdict == "bad"
    assert judge_closed(measured([80] * 20, [80] * 20, 30), plateau, (0, 0)).verdict == "good"
    assert judge_closed(measured([80] * 20, [80] * 20, 30), PlateauSeen(), (0, 0)).verdict == "undecided"


def test_a_closed_step_is_undecided_while_chance_of_its_own_or_of_the_plateau_could_move_it():
    long = measured([99] * 200, [99] * 200, 40)
    assert judge_closed(measured([96] * 20, [96] * 20, 40), PlateauSeen(100, 0), (0, 0)).verdict == "undecided"
    assert judge_closed(long, PlateauSeen(100, 3), (0, 0)).verdict == "undecided"


def test_levels_held_twice_are_pooled_and_throughput_does_not_fall_by_chance():
    points = pooled([Throughput(10, 100, 1), Throughput(20, 130, 2), Throughput(10, 102, 1), Throughput(30, 128, 2)])
    assert [(one.level, one.per_s) for one in points] == [(10, 101), (20, 130), (30, 128)]
    assert [one.per_s for one in rising(points)] == pytest.approx([101, 129, 129])
    assert [one.sd for one in rising(points)] == pytest.approx([2**-0.5, 2**0.5, 2**0.5])


def test_a_step_that_only_stolen_time_made_late_is_disturbed_and_not_bad():
    planned, done = [300] * 30, [270] * 30
    assert judge(measured(planned, done, 300), CONTEXT).verdict == "bad"
    found = judge(measured(planned, done, 300, stolen=[0.15] * 30), CONTEXT)
    assert (found.verdict, found.disturbed) == ("undecided", True)
    assert found.plateau.level == pytest.approx(270 / 0.85)


def test_stolen_time_does_not_excuse_an_overload_that_it_cannot_explain():
    found = judge(measured([400] * 30, [270] * 30, 400, stolen=[0.1] * 30), CONTEXT)
    assert found.verdict == "bad" and found.plateau.level == pytest.approx(300)


def test_a_second_or_two_of_falling_behind_proves_nothing():
    assert judge(measured([300, 300], [100, 100], 300), CONTEXT).verdict == "undecided"
    assert judge(measured([300, 300], [250, 250], 300, failed=100), CONTEXT).verdict == "undecided"


def test_steps_shorter_than_three_seconds_can_be_bad():
    short = Context(rate_per_level_s=1.0, half_width=0.15, least_seconds=2)
    assert judge(measured([1500, 1500], [800, 800], 1500), short).verdict == "bad"


def test_a_step_that_fell_behind_for_foreign_work_is_disturbed_and_says_so():
    foreign = ForeignWork(np.full(30, 1.8), np.full(30, 0.45))
    step = measured([300] * 30, [170] * 30, 300)
    assert judge(step, CONTEXT).verdict == "bad"
    found = judge(step, replace(CONTEXT, foreign=foreign))
    assert (found.verdict, found.disturbed) == ("undecided", True)
    assert "other processes used 1.8 cores more than usual for 30 s" in found.reasons[-1]


def test_foreign_work_does_not_excuse_an_overload_that_it_cannot_explain():
    foreign = ForeignWork(np.full(30, 1.0), np.full(30, 0.25))
    assert judge(measured([900] * 30, [225] * 30, 900), replace(CONTEXT, foreign=foreign)).verdict == "bad"


def test_a_step_whose_queue_grew_beside_foreign_work_is_not_carried_for_what_it_would_have_done():
    foreign = ForeignWork(np.full(30, 1.8), np.full(30, 0.45))
    context = Context(1.0, 0.048, 10, Plateau(400, 0.01), foreign=foreign)
    found = judge(measured([300] * 30, [170] * 30, 300), context)
    assert (found.verdict, found.disturbed) == ("undecided", True)


def test_a_burst_of_stolen_time_explains_any_window_shorter_than_a_step():
    late = {"planned": [280] * 5, "done": [180] * 5}
    assert judge(measured(**late, level=280), CONTEXT).verdict == "bad"
    found = judge(measured(**late, level=280, stolen=[0.2] * 5), CONTEXT)
    assert (found.verdict, found.disturbed) == ("undecided", True)


def test_a_step_that_falls_behind_above_the_pooled_capacity_is_bad_before_its_own_border():
    seen = measured([306] * 12, [296] * 12, 306, unfinished_start=60.0)
    assert judge(seen, Context(1.0, 0.048, 10, noise=1.5)).verdict == "undecided"
    found = judge(seen, Context(1.0, 0.048, 10, Plateau(292, 0.006), noise=1.5))
    assert found.verdict == "bad" and "which is below" in found.reasons[1]
    assert judge(seen, Context(1.0, 0.048, 10, Plateau(306, 0.006), noise=1.5)).verdict == "undecided"


def test_a_calm_step_is_not_bad_whatever_the_others_say():
    seen = measured([306] * 12, [306] * 12, 306, unfinished_start=60.0)
    assert judge(seen, Context(1.0, 0.048, 10, Plateau(280, 0.006))).verdict == "good"


def test_an_undecided_step_that_was_busy_throughout_shows_a_capacity():
    busy = judge(measured([300] * 20, [292] * 10 + [308] * 10, 300, unfinished_start=100.0), CONTEXT)
    assert busy.verdict == "undecided" and busy.plateau.level == pytest.approx(300)
    calm = judge(measured([300] * 20, [292] * 10 + [308] * 10, 300), Context(1.0, 0.048, 10, Plateau(301, 0.01)))
    assert calm.verdict == "undecided" and calm.plateau is None


def test_a_slow_host_is_no_overload_and_a_fast_one_no_proof_of_calm():
    host = HostSpeed(exponent=1.0, mean_power=100.0)
    slow = measured([300] * 30, [270] * 30, 300, unfinished_start=100.0, speed=[90.0] * 30)
    assert judge(slow, CONTEXT).verdict == "bad"
    assert judge(slow, Context(1.0, 0.048, 10, host=host)).verdict == "undecided"
    assert judge(slow, Context(1.0, 0.048, 10, Plateau(340, 0.01), host=host)).verdict == "undecided", "its queue grew"
    still = measured([300] * 12, [300] * 12, 300, speed=[110.0] * 12)
    assert judge(still, Context(1.0, 0.048, 10, Plateau(305, 0.02))).verdict == "good"
    assert judge(still, Context(1.0, 0.048, 10, Plateau(305, 0.02), host=host)).verdict == "undecided"
    assert judge(still, Context(1.0, 0.048, 10, Plateau(340, 0.10), host=host)).verdict == "good"
    assert judge(still, Context(1.0, 0.048, 10, bad_level=310, host=host)).verdict == "undecided"
    assert judge(still, Context(1.0, 0.048, 10, bad_level=340, host=host)).verdict == "good"
    assert judge(still, Context(1.0, 0.048, 10, host=host)).verdict == "good", "nothing was too much yet"


def test_a_probe_in_which_work_piles_up_within_chance_is_undecided():
    quick = Context(1.0, 0.048, 10, quick=True)
    assert judge(measured([330, 330], [300, 300], 330), quick).verdict == "undecided"
    assert judge(measured([330, 330], [328, 331], 330), quick).verdict == "good"
    assert judge(measured([600, 600], [300, 300], 600), quick).verdict == "bad"


def test_the_smallest_distance_is_where_a_level_is_just_clear_of_the_capacity():
    distance = smallest_distance(done=9000, noise=1.5)
    capacity = Plateau(100.0, math.sqrt(1.5 / 9000))
    assert least_distance(capacity, 100.0, distance) == pytest.approx(100 * distance)


def test_stolen_time_counts_as_a_slower_host_second_by_second():
    seen = measured([330] * 4, [300, 240, 300, 300], 330, unfinished_start=200.0, stolen=[0, 0.2, 0, 0])
    seen.speed = [1.0, 2.0, 3.0, 4.0]
    done, speed = busy_speeds(seen, CONTEXT)
    assert done == pytest.approx([300] * 4) and speed.tolist() == [1, 2, 3, 4]


@pytest.mark.parametrize(
    ("done", "speed", "words"),
    [
        ([255] * 20, 0.85, "the target's cores were 15% slower than in the mean of the search"),
        ([300] * 20, 1.02, "the target's cores were 2% faster than in the mean of the search"),
        ([292] * 10 + [308] * 10, 1.0, "Not enough data"),
        (
            [700, 0, 0] * 7,
            0.94,
            "Finished 233.3 of 300 arrivals per second, and unfinished work grew by 1,400. But what",
        ),
        ([700, 0, 0] * 7, 0.94, "But what it finishes comes in bursts: 21 s are too short to tell by."),
        (
            [440, 60, 260] * 7,
            0.98,
            "what it finishes varies by ± 61% from second to second: 21 s are too short to tell by.",
        ),
    ],
)
def test_an_undecided_step_says_what_leaves_it_open_the_speed_of_the_host_or_chance(
    done: list[int], speed: float, words: str
):
    seen = measured([300] * len(done), done, 300, unfinished_start=60.0, speed=[speed] * len(done))
    found = judge(seen, replace(CONTEXT, plateau=Plateau(303, 0.01), host=HostSpeed(1.0, 1.0), idle_s=0.01))
    assert found.verdict == "undecided" and words in found.reasons[0]
