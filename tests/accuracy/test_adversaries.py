"""Brackets of targets that break what estimators of capacity assume: a part of adversary_scorecard.py, other seeds."""

from __future__ import annotations

import pytest
from adversaries import Bucket, Foreign, Retrograde
from adversary_scorecard import CASES, CLOSED_CASES, closed_search, closed_source, search

from plimsoll.experiments.capacity.experiment import run_capacity
from plimsoll.experiments.capacity.result import CapacitySettings
from plimsoll.findings.capacity.finding import capacity_findings

RUNS = 4


@pytest.mark.parametrize(
    "name",
    [
        "throughput falls past its top, fast target",
        "metastable: twice the work behind a queue of 60",
        "a limit of the rate, with a burst",
        "a limit of connections",
        "iterations of four requests with pauses",
        "iterations that last for six seconds",
    ],
)
def test_most_brackets_are_right_and_no_carried_level_is_contradicted(name: str):
    case = next(case for case in CASES if case.name == name)
    found = [search(case, 1_000 + seed) for seed in range(RUNS)]
    assert sum(one.right for one in found) >= RUNS - 1, found
    assert sum(not one.good_carried for one in found) <= 1, found


@pytest.mark.parametrize("name", CLOSED_CASES)
def test_a_closed_load_is_carried_up_to_the_level_at_which_the_target_collapses(name: str):
    found = [closed_search(name, 2_000 + seed) for seed in range(RUNS)]
    assert sum(one.right for one in found) >= RUNS - 1, found


def test_a_collapse_under_a_closed_load_is_told_with_the_load_at_which_it_recovers():
    source = closed_source(CLOSED_CASES["closed load: metastable"], 5)
    result = run_capacity(source, CapacitySettings(budget_s=300, max_level=5000))
    assert result.collapse is not None and result.collapse.per_s <= 0.7 * result.collapse.carried_per_s
    assert result.collapse.recovers_at is not None and result.collapse.recovers_at <= 0.2 * result.bracket.good
    answer = capacity_findings(result, None)[0]["answer"]
    assert "it collapses to" in answer and "it recovers by itself at" in answer


def test_a_target_that_collapses_has_no_capacity_by_what_it_finishes_then():
    result = run_capacity(Retrograde(8, 8 / 1500, 7), CapacitySettings(arrivals_per_level_s=1.0, budget_s=300))
    assert result.bracket.good is not None and result.bracket.good >= 0.64 * 1500
    assert result.estimate is None
    assert result.collapse is not None and result.collapse.per_s <= 0.5 * 1500


def test_credit_that_ten_seconds_do_not_show_is_seen_by_the_confirmation():
    class Small(Bucket):
        """50/s and 50 at once."""

        rate, burst, tokens = 50.0, 50.0, 50.0

    result = run_capacity(Small(8, 0.005, 3), CapacitySettings(arrivals_per_level_s=1.0, budget_s=360))
    assert result.bracket.good is not None and result.bracket.good <= 51
    assert result.confirmation is not None and result.confirmation.seconds >= 30


def test_a_step_in_which_retries_pile_up_is_no_chance_that_leaves_overloads_undecided():
    case = next(case for case in CASES if case.name == "retries that amplify")
    found = [search(case, seed) for seed in (70_002, 70_007)]
    assert all(one.right and one.width <= 0.15 for one in found), found


@pytest.mark.parametrize(
    "name",
    [
        "foreign work on the host for 20 s",
        "foreign work on the host all the time",
        "a helper that is not probed works more under overload",
    ],
)
def test_foreign_work_on_the_host_moves_no_bound_unless_it_stays(name: str):
    case = next(case for case in CASES if case.name == name)
    found = [search(case, seed) for seed in (70_001, 70_004)]
    assert all(one.right and one.width <= 0.15 for one in found), found


def test_steps_that_foreign_work_disturbed_are_told():
    source = Foreign(4, 4 / 300, 70_001)
    result = run_capacity(
        source, CapacitySettings(arrivals_per_level_s=1.0, budget_s=300), probes_sampler=source.sample
    )
    disturbed = [step for step in result.steps if step.judgement.disturbed]
    assert disturbed and all("other processes used 1." in step.judgement.reasons[-1] for step in disturbed)
    notes = capacity_findings(result, None)[0]["notes"]
    assert any("work that is neither the target's nor the generator's came or went" in note for note in notes), notes


@pytest.mark.parametrize("seed", [70_001, 70_005, 70_011])
def test_a_step_that_leaves_more_than_half_a_seconds_work_over_confirms_nothing(seed: int):
    case = next(case for case in CASES if case.name == "heavy-tailed service")
    result = run_capacity(case.source(seed), CapacitySettings(arrivals_per_level_s=1.0, budget_s=300))
    last = [step.measurement for step in result.steps if step.kind == "confirm"][-1]
    left_over_s = last.unfinished_end / last.done_per_s
    assert result.confirmation is not None
    assert (result.confirmation.verdict == "confirmed") == (left_over_s <= 0.52)


def test_a_target_that_compiles_for_minutes_is_not_bounded_by_what_it_did_not_carry_in_the_first():
    """It gains a third between the steps at the upper end and the end of the search, which no response times showed."""
    case = next(case for case in CASES if case.name == "compiles for two minutes")
    for seed in (40_000, 40_001):
        bracket = run_capacity(case.source(seed), CapacitySettings(arrivals_per_level_s=1.0, budget_s=300)).bracket
        assert bracket.good <= 300 and bracket.bad >= 290
