"""The capacity search against queues whose capacity is known, in virtual time and seeded.

The whole table, with more cases and runs: `python tests/accuracy/capacity_scorecard.py --runs 200`.
"""

from __future__ import annotations

import numpy as np
import pytest
from capacity_goals import USL
from capacity_scorecard import CASES, search_once
from simulators import ClosedQueue, OpenQueue, UslUsers, drifting_speeds

from plimsoll.experiments.capacity.experiment import CARRIED_SINCE, run_capacity
from plimsoll.experiments.capacity.result import CapacitySettings
from plimsoll.experiments.capacity.time_plan import width_reached
from plimsoll.experiments.load import LoadSource
from plimsoll.experiments.steps.record import Progress
from plimsoll.findings.capacity.finding import capacity_findings

RUNS = 20


@pytest.mark.parametrize(
    "name", ["M/M/1 300/s, 30 s steps", "M/M/4 300/s, 30 s steps", "M/M/1 300/s, 10 s steps (demo)"]
)
def test_the_true_capacity_lies_in_a_narrow_bracket(name: str):
    case = next(case for case in CASES if case.name == name)
    found = [search_once(case, 1000 + seed) for seed in range(RUNS)]
    right = [
        outcome
        for outcome in found
        if outcome.good and outcome.bad and outcome.good <= 1 <= outcome.bad and 1 - outcome.good / outcome.bad <= 0.1
    ]
    assert len(right) >= 0.9 * RUNS


@pytest.mark.parametrize(
    (
        "drift",
        "first_seed",
    ),  # of 80 searches each, 93 to 99% hold it and 79 to 84% are narrow: of 40 that is fewer by chance
    [("quick drift 9%, probed", 9000), ("slow drift 9%, probed", 4000), ("quick drift 9%, idle cores", 4000)],
)
def test_a_drifting_host_is_told_from_the_target_where_its_speed_is_probed(drift: str, first_seed: int):
    case = next(case for case in CASES if case.name.startswith(f"demo 290/s, {drift}"))
    found = [search_once(case, first_seed + seed) for seed in range(2 * RUNS)]
    held = [one.good and one.bad and one.good <= one.mean_speed <= one.bad for one in found]
    narrow = [one.good and one.bad and 1 - one.good / one.bad <= 0.1 for one in found]
    assert sum(map(bool, held)) >= 0.85 * 2 * RUNS
    assert sum(map(bool, narrow)) >= 0.65 * 2 * RUNS
    assert max(one.load_s for one in found) <= 210, "200 s of load, and the last step's warm-up"


@pytest.mark.parametrize("seed", [95, 110])  # of 120, those that need it
def test_where_levels_near_the_border_take_too_long_the_overload_of_a_probe_is_held_for_an_upper_end(seed: int):
    """Seen with etcd: 60 s of five minutes unused, and no upper end, as 90% of the capacity was open on a host that
    became faster. A probe of 2 s had seen an overload above it."""
    rate = 1500.0
    source = OpenQueue(2, 2 / rate, seed, rate_per_level_s=1.0, speeds=drifting_speeds("quick", 0.09, seed))
    settings = CapacitySettings(step_s=10.0, arrivals_per_level_s=1.0, budget_s=150.0, expected_level=150.0)
    found = run_capacity(source, settings, probes_sampler=source.sample)
    good, bad = found.bracket.good, found.bracket.bad
    assert good is not None and bad is not None and 0.85 * rate <= good <= rate <= bad <= 2 * rate
    assert any(one.kind == "hold" and one.level == bad and one.judgement.verdict == "bad" for one in found.steps)
    assert found.load_s <= 160.0


def test_a_drifting_host_that_is_not_probed_leaves_steps_undecided_rather_than_misjudged():
    case = next(case for case in CASES if case.name == "demo 290/s, quick drift 9%")
    found = [search_once(case, 4000 + seed) for seed in range(RUNS)]
    wrong = [(one.good or 0) > 1 or (one.bad or 9) < 1 for one in found]
    assert sum(wrong) <= 0.2 * RUNS


@pytest.mark.parametrize(("every_s", "stall_s"), [(10, 1.0), (5, 0.3), (30, 1.5)])
def test_pauses_of_any_rhythm_make_no_level_below_the_capacity_bad(every_s: float, stall_s: float):
    capacity = 300 * (1 - stall_s / every_s)
    for seed in range(6):
        source = OpenQueue(1, 1 / 300, seed, stall_every_s=every_s, stall_s=stall_s)
        bad = run_capacity(source, CapacitySettings(arrivals_per_level_s=1.0)).bracket.bad
        assert bad is None or bad >= capacity


def test_the_interval_covers_the_truth_about_as_often_as_it_says_and_the_knee_is_near_half():
    covered, knees = [], []
    for seed in range(2 * RUNS):
        source = OpenQueue(1, 1 / 1000, 3000 + seed)
        result = run_capacity(source, CapacitySettings(arrivals_per_level_s=1.0))
        capacity = capacity_findings(result, None)[0]["capacity"]
        low, high = capacity["interval"]
        covered.append(low <= 1000 <= high)
        knees += [capacity["knee"]] if capacity["knee"] else []
    assert sum(covered) >= 0.9 * len(covered)
    assert len(knees) >= RUNS
    assert sum(450 <= knee <= 550 for knee in knees) >= 0.9 * len(knees)


def test_the_demo_settings_stay_within_their_load_time():
    case = next(case for case in CASES if case.name == "M/M/1 300/s, 10 s steps (demo)")
    loads = sorted(search_once(case, 2000 + seed).load_s for seed in range(RUNS))
    assert loads[-2] <= 200


def test_evenly_spaced_arrivals_are_searched_as_well():
    source = OpenQueue(1, 1 / 300, 5, even=True)
    result = run_capacity(source, CapacitySettings(arrivals_per_level_s=1.0))
    assert result.bracket.good <= 300 <= result.bracket.bad


def test_pauses_of_the_target_are_not_taken_for_saturation():
    source = OpenQueue(1, 1 / 300, 5, stall_every_s=10, stall_s=1.0)
    result = run_capacity(source, CapacitySettings(arrivals_per_level_s=1.0, budget_s=600))
    assert result.bracket.good <= 270 <= result.bracket.bad
    assert result.bracket.good >= 225


def test_a_target_that_thrashes_is_searched_where_it_still_carries_the_load():
    found = []
    for seed in range(6):  # what has waited for 0.2 s costs half as much again: overloaded, it finishes 0.67 of 300/s
        source = OpenQueue(4, 4 / 300, 5000 + seed, thrash_wait_s=0.2, thrash_factor=1.5)
        bracket = run_capacity(source, CapacitySettings(arrivals_per_level_s=1.0)).bracket
        assert bracket.good is not None and bracket.bad is not None
        found.append((bracket.good / 300, bracket.bad / 300))
    # Waits of 0.2 s, from which it does not recover, come once in 3 minutes at 0.9 and in 40 s at 0.94 of it (M/M/4).
    assert all(0.75 <= good <= 1.01 and 0.88 <= bad <= 1.1 for good, bad in found), found
    assert sum(1 - good / bad <= 0.1 for good, bad in found) >= 5, found


def test_a_target_that_fails_requests_beyond_a_rate_is_bad_there():
    source = OpenQueue(8, 1 / 300, 5, failing_above_per_s=200)
    result = run_capacity(source, CapacitySettings(arrivals_per_level_s=1.0))
    assert 130 <= result.bracket.good < result.bracket.bad <= 230
    assert any("requests failed" in reason for step in result.steps for reason in step.judgement.reasons)


def test_the_carried_level_is_held_once_more_at_the_end_and_says_so():
    result = run_capacity(OpenQueue(1, 1 / 300, 5), CapacitySettings(arrivals_per_level_s=1.0))
    (last,) = [step for step in result.steps if step.kind == "confirm"]
    assert last.level == result.bracket.good
    after = [step for step in result.steps if step.start_s > last.start_s]
    assert all(step.level == result.bracket.bad for step in after), "the other end, once more"
    assert result.confirmation.verdict == "confirmed" and result.confirmation.seconds >= 10
    notes = capacity_findings(result, None)[0]["notes"]
    assert any(note.startswith("Confirmed: held once more at the end, for ") for note in notes)


def test_a_target_that_loses_a_fifth_before_the_confirmation_is_searched_again_below():
    settings = CapacitySettings(arrivals_per_level_s=1.0, budget_s=600)
    (first,) = [s for s in run_capacity(OpenQueue(1, 1 / 300, 5), settings).steps if s.kind == "confirm"]
    speeds = np.where(np.arange(1000) < first.start_s, 1.0, 0.8)
    result = run_capacity(OpenQueue(1, 1 / 300, 5, speeds=speeds), settings)
    again = [step.judgement.verdict for step in result.steps if step.kind == "confirm" and step.level == first.level]
    assert again == ["bad", "bad"], "one step against it does not decide alone"
    assert result.bracket.good <= 240 < result.bracket.bad <= first.level
    assert result.confirmation.verdict == "confirmed" and result.confirmation.level == result.bracket.good


@pytest.mark.parametrize("slow", [0.7, 0.8, 0.85])
def test_a_target_that_becomes_quicker_is_searched_again_above(slow: float):
    settings = CapacitySettings(arrivals_per_level_s=1.0, budget_s=400)
    (first,) = [
        step
        for step in run_capacity(OpenQueue(1, 1 / (300 * slow), 5), settings).steps
        if step.kind == "confirm" and step.judgement.verdict == "good"
    ]
    speeds = np.where(np.arange(1000) < first.start_s, slow, 1.0)
    result = run_capacity(OpenQueue(1, 1 / 300, 5, speeds=speeds), settings)
    assert result.bracket.good <= 300 <= result.bracket.bad and result.bracket.width <= 0.101
    reasons = [reason for step in result.steps for reason in step.judgement.reasons]
    assert any(reason == CARRIED_SINCE or "is quicker since" in reason for reason in reasons)


def test_a_confirmation_on_a_slow_host_is_made_again():
    settings = CapacitySettings(arrivals_per_level_s=1.0, budget_s=400)
    source = OpenQueue(1, 1 / 300, 5, speeds=np.ones(1000))
    probed = run_capacity(source, settings, probes_sampler=source.sample)
    first = next(step for step in probed.steps if step.kind == "confirm")
    seconds = np.arange(1000)
    speeds = np.where((seconds >= first.start_s) & (seconds < first.start_s + 14), 0.6, 1.0)
    source = OpenQueue(1, 1 / 300, 5, speeds=speeds)
    result = run_capacity(source, settings, probes_sampler=source.sample)
    again = [step.judgement.verdict for step in result.steps if step.kind == "confirm"]
    assert again[0] == "undecided" and "good" in again[1:]
    assert result.confirmation.verdict == "confirmed"


def test_a_level_at_which_two_confirmations_fell_behind_on_a_slower_host_is_left_open_and_a_lower_one_confirmed():
    settings = CapacitySettings(arrivals_per_level_s=1.0, budget_s=400)
    source = OpenQueue(1, 1 / 300, 5, speeds=np.ones(1000))
    probed = run_capacity(source, settings, probes_sampler=source.sample)
    first = next(step for step in probed.steps if step.kind == "confirm")
    source = OpenQueue(1, 1 / 300, 5, speeds=np.where(np.arange(1000) < first.start_s, 1.0, 0.92))
    result = run_capacity(source, settings, probes_sampler=source.sample)
    assert result.bracket.good is not None and result.bracket.good < first.level and result.bracket.good <= 0.95 * 300
    assert result.confirmation is not None and result.confirmation.verdict == "confirmed"
    told = [step for step in result.steps if any("2 longer steps at " in why for why in step.judgement.reasons)]
    assert told and {step.judgement.verdict for step in told} == {"undecided"}
    assert result.bracket.width <= 0.15, "narrowed again with the time that is left"


@pytest.mark.parametrize("seed", [1, 2, 3])
@pytest.mark.parametrize(("every_s", "stall_s"), [(9, 2.5), (7, 2), (13, 4)])
def test_a_level_that_no_longer_step_kept_up_with_is_not_called_carried_though_a_slow_host_explains_each(
    every_s: float, stall_s: float, seed: int
) -> None:
    """Chance was estimated from overloaded steps, in which such a target stalls: of 94/s a real one (hledger-web)
    finished 54, 73 and 79% in three steps, which was within it, and was said to carry 94/s."""
    settings = CapacitySettings(arrivals_per_level_s=1.0, budget_s=300)
    trouble = {"stall_every_s": every_s, "stall_s": stall_s}
    source = OpenQueue(1, 1 / 100, seed, speeds=np.ones(1000), **trouble)
    probed = run_capacity(source, settings, probes_sampler=source.sample)
    first = next(step for step in probed.steps if step.kind == "confirm")
    source = OpenQueue(1, 1 / 100, seed, speeds=np.where(np.arange(1000) < first.start_s, 1.0, 0.65), **trouble)
    result = run_capacity(source, settings, probes_sampler=source.sample)
    again = [step.measurement for step in result.steps if step.kind == "confirm" and step.level == result.bracket.good]
    assert sum(sum(seen.done) < 0.9 * sum(seen.planned) for seen in again) < 2


def test_confirmations_of_a_few_arrivals_withdraw_nothing():
    """At 6/s two seconds of work are twelve iterations, which chance leaves now and then."""
    settings = CapacitySettings(arrivals_per_level_s=1.0, budget_s=900)
    source = OpenQueue(1, 1 / 6, 2, speeds=np.where(np.arange(3000) < 556, 1.0, 0.93))
    result = run_capacity(source, settings, probes_sampler=source.sample)
    verdicts = [step.judgement.verdict for step in result.steps if step.kind == "confirm"]
    assert verdicts[:2] == ["undecided", "undecided"] and result.confirmation.verdict == "confirmed"
    assert result.confirmation.level == result.bracket.good


@pytest.mark.parametrize("per_s", [10, 60])
def test_brackets_are_about_as_wide_as_is_promised_before(per_s: float):
    """At 20/s 10% were promised for five minutes, and 21% were reached."""
    settings = CapacitySettings(arrivals_per_level_s=1.0, budget_s=300, expected_level=per_s / 2.5)
    widths = [run_capacity(OpenQueue(1, 1 / per_s, seed), settings).bracket.width for seed in range(15)]
    assert 0.6 < float(np.median(widths)) / width_reached(per_s, 300) < 1.7


def test_one_step_against_a_level_that_two_others_carried_moves_no_bound():
    settings = CapacitySettings(arrivals_per_level_s=1.0, budget_s=600)
    (first,) = [s for s in run_capacity(OpenQueue(1, 1 / 300, 5), settings).steps if s.kind == "confirm"]
    seconds = np.arange(1000)
    speeds = np.where((seconds >= first.start_s) & (seconds < first.start_s + 9), 0.6, 1.0)
    result = run_capacity(OpenQueue(1, 1 / 300, 5, speeds=speeds), settings)
    again = [step.judgement.verdict for step in result.steps if step.kind == "confirm"]
    assert again[0] == "bad" and set(again[1:]) == {"good"} and result.bracket.good == first.level
    assert result.confirmation.verdict == "confirmed"


def test_a_target_that_ages_within_each_step_is_not_said_to_carry_a_level():
    speeds = 1 / (1.015 ** np.arange(1000))  # the work of a request grows by 1.5% a second, by 56% within a step
    settings = CapacitySettings(arrivals_per_level_s=1.0, step_s=30, budget_s=60, max_level=300)
    result = run_capacity(OpenQueue(4, 4 / 1000, 5, speeds=speeds), settings)
    assert result.bracket.good is None
    assert any(step.judgement.unsteady for step in result.steps)
    for step in result.steps:
        if step.judgement.unsteady:
            assert step.judgement.verdict == "undecided" and "all the while" in step.judgement.reasons[-1]
    notes = capacity_findings(result, None)[0]["notes"]
    assert any("prove nothing, as the target itself changed all the while" in note for note in notes)


def test_without_time_for_it_the_confirmation_is_said_to_be_missing():
    result = run_capacity(OpenQueue(1, 1 / 300, 5), CapacitySettings(arrivals_per_level_s=1.0, budget_s=30))
    if result.bracket.good is not None:
        assert result.confirmation is None or result.confirmation.seconds >= 10
    assert result.load_s < 60


def test_no_saturation_up_to_the_greatest_level_leaves_bad_open():
    source = OpenQueue(1, 1 / 300, 5)
    result = run_capacity(source, CapacitySettings(arrivals_per_level_s=1.0, max_level=100))
    assert result.bracket.good == 100 and result.bracket.bad is None
    assert "greatest allowed (100)" in result.reason


def test_a_start_far_above_the_capacity_finds_its_way_down():
    source = OpenQueue(1, 1 / 50, 5)
    result = run_capacity(source, CapacitySettings(arrivals_per_level_s=1.0, start_level=400, budget_s=600))
    assert result.bracket.good <= 50 <= result.bracket.bad


def test_a_hanging_target_ends_the_search_with_a_reason():
    source = OpenQueue(1, 1 / 300, 5, dies_at_s=0, dead_mode="hang")
    result = run_capacity(source, CapacitySettings(arrivals_per_level_s=1.0))
    assert result.status == "failed" and "hangs" in result.reason and source.stopped


def test_a_target_that_only_fails_ends_the_search_with_a_reason():
    source = OpenQueue(1, 1 / 300, 5, dies_at_s=0)
    result = run_capacity(source, CapacitySettings(arrivals_per_level_s=1.0))
    assert result.status == "failed" and "100% of the requests failed" in result.reason


@pytest.mark.parametrize("mode", ["hang", "errors"])
def test_a_target_that_dies_in_the_middle_is_told_from_a_saturated_one(mode: str):
    source = OpenQueue(1, 1 / 300, 5, dies_at_s=40, dead_mode=mode)
    result = run_capacity(source, CapacitySettings(arrivals_per_level_s=1.0))
    assert result.status == "failed" and "no longer answers" in result.reason


def test_control_c_keeps_what_was_measured():
    source = OpenQueue(1, 1 / 300, 5, interrupt_at_s=60)
    result = run_capacity(source, CapacitySettings(arrivals_per_level_s=1.0))
    assert result.status == "interrupted" and source.stopped
    assert result.estimate is not None and len(result.steps) >= 6
    assert result.steps[-1].judgement.reasons == ("Interrupted.",)


def test_the_same_seed_gives_the_same_answer_and_progress_comes_each_second():
    def search() -> tuple:
        lines: list[Progress] = []
        result = run_capacity(
            OpenQueue(4, 4 / 300, 7), CapacitySettings(arrivals_per_level_s=1.0), on_progress=lines.append
        )
        return result.bracket, result.load_s, len(lines)

    first = search()
    assert first == search()
    assert first[2] == first[1]


def test_a_closed_workload_finds_where_throughput_stops_rising():
    source = ClosedQueue(1, 0.01, think_s=0.5, seed=3)
    assert isinstance(source, LoadSource)
    result = run_capacity(source, CapacitySettings(budget_s=1800, step_s=30))
    # Machine repair model, S = 10 ms, Z = 0.5 s: 95% of the plateau of 100/s is reached at 54 users.
    assert 45 <= result.bracket.good <= 54 <= result.bracket.bad <= 65


@pytest.mark.parametrize("make", [lambda seed: ClosedQueue(1, 0.01, 0.5, seed), lambda seed: UslUsers(*USL, seed)])
def test_a_closed_bracket_holds_the_truth_in_little_time_and_says_how_little_it_knows(make):
    truth = 54 if type(make(0)) is ClosedQueue else make(0).saturated_from(0.95)
    found = [run_capacity(make(seed), CapacitySettings()).bracket for seed in range(20)]
    assert sum(bool(one.good and one.bad and one.good <= truth <= one.bad) for one in found) >= 18
    assert min(one.width for one in found) > 0.10, "two and a half minutes do not tell more"


def test_a_closed_workload_without_a_plateau_up_to_the_greatest_level_says_so():
    result = run_capacity(ClosedQueue(1, 0.01, think_s=0.5, seed=3), CapacitySettings(max_level=16))
    assert result.bracket.good == 16 and result.bracket.bad is None


@pytest.mark.parametrize(("most", "wrong"), [(80, 0), (64, 3)])
def test_a_knee_that_hides_between_a_level_and_the_greatest_allowed_is_not_carried(most, wrong):
    """20, 40 and 80 users of a server whose users begin to wait for each other at 51: from 40 to 80 throughput rises by
    a third, and from 57 on not at all. Before, 80 were carried in two searches of three."""
    settings = CapacitySettings(min_level=20, max_level=most, budget_s=180)
    found = [run_capacity(ClosedQueue(1, 0.02, think_s=1.0, seed=seed), settings) for seed in range(10)]
    assert sum((one.bracket.good or 0) > 58 for one in found) <= wrong
    assert all(one.bracket.good and one.bracket.good >= 35 for one in found)
    open_ = [one for one in found if one.bracket.good == 45 and one.bracket.bad is None]
    assert all("less than in proportion" in one.reason for one in open_)
    for one in open_[:1]:
        [finding] = capacity_findings(one, None)
        assert f"; at {most} VUs less than in proportion, and whether more bring more is open." in finding["answer"]


@pytest.mark.parametrize("dies_at_s", [12, 22, 32, 42])
def test_a_target_that_dies_under_the_highest_levels_ends_the_search(dies_at_s):
    source = ClosedQueue(1, 0.02, think_s=1.0, seed=1, dies_at_s=dies_at_s)
    result = run_capacity(source, CapacitySettings(min_level=20, max_level=64, budget_s=180))
    assert result.status == "failed" and "no longer answers after level" in result.reason
    assert (result.bracket.good or 0) <= 45


def test_a_closed_search_confirms_its_level_and_holds_the_expected_one():
    settings = CapacitySettings(budget_s=600, step_s=20, expected_level=10)
    result = run_capacity(ClosedQueue(1, 0.01, think_s=0.5, seed=3), settings)
    assert result.confirmation is not None and result.confirmation.level == result.bracket.good
    (expected,) = [step for step in result.steps if step.kind == "expected"]
    assert expected.level == 10 and len(expected.measurement.seconds) >= 20


class AgeingUsers(UslUsers):
    """Users of a target that does 0.4% less each second."""

    def per_s(self, users: float) -> float:
        return super().per_s(users) * 0.996**self.second


def test_a_closed_target_whose_throughput_falls_all_the_while_gets_no_bracket():
    result = run_capacity(AgeingUsers(*USL, 0), CapacitySettings(step_s=30, budget_s=600))
    held = [step for step in result.steps if step.kind == "hold"]
    assert held and all(step.judgement.unsteady for step in held)
    assert result.bracket.good is None and result.bracket.bad is None
    assert "Throughput drifted in every step" in result.reason
    assert "Throughput falls by" in held[0].judgement.reasons[0]


class DeclaredVus(ClosedQueue):
    """A script's load of six VUs at level 1, put on as the engine does: rounded to whole VUs."""

    unit = "multiple"

    def set_level(self, level: float) -> None:
        super().set_level(round(level * 6))


def test_multiples_of_declared_vus_are_held_in_whole_vus_only():
    settings = CapacitySettings(vus_per_level=6, start_level=1 / 6, width=0.02, max_level=50.1)
    result = run_capacity(DeclaredVus(1, 0.01, think_s=0.05, seed=3), settings)
    vus = [step.level * 6 for step in result.steps]
    assert len(vus) > 4 and vus == pytest.approx([round(one) for one in vus])
    tried = {step.level for step in result.steps}
    assert len(tried) == len({round(6 * level) for level in tried}), "one load goes by one level"
    assert result.bracket.good is not None and result.bracket.bad is not None
    assert round(6 * (result.bracket.bad - result.bracket.good)) >= 1


def test_time_left_is_spent_on_a_level_that_told_nothing_until_it_does():
    """These ended wider than 3% when a level was held again only as long as before."""
    found = []
    for seed in (40013, 40014, 40017, 40023):
        source = OpenQueue(1, 1 / 300, seed, stall_every_s=10, stall_s=0.5)
        settings = CapacitySettings(width=0.03, step_s=60, budget_s=1800, arrivals_per_level_s=1.0)
        bracket = run_capacity(source, settings).bracket
        assert bracket.good is not None and bracket.bad is not None
        found.append((bracket.width <= 0.03, bracket.good <= 285 <= bracket.bad))
    assert sum(narrow for narrow, _ in found) >= 3 and all(holds for _, holds in found), found


def test_of_a_slow_target_the_declared_load_at_least_is_proven():
    """Of 5 arrivals a second a step of 10 s has 50, which prove nothing of any level. Of 24 such searches 13 named no
    level that is carried, as real wikis and trackers had none either."""
    found = []
    for seed in range(8):
        settings = CapacitySettings(arrivals_per_level_s=1.0, budget_s=300, expected_level=2.0)
        bracket = run_capacity(OpenQueue(1, 1 / 5, seed), settings).bracket
        found.append((bracket.good, bracket.bad))
    assert all(good is not None and 2.0 <= good <= 5.4 for good, _ in found), found
    assert all(bad is None or bad >= 4.75 for _, bad in found), found
