"""The gauntlet's rules: what a truth trial proves, how an answer is scored, and whom the tuning may see."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

sys.path.insert(0, str(Path(__file__).parents[3] / "benches" / "gauntlet"))
from catalogue import HELD_OUT, every
from contradictions import contradictions
from page import text_of
from processes import GENERATOR_CORES, TARGET_CORES, on_cores, on_target_cores
from scoring import end_score, is_disturbed, is_narrow, tally
from truth import Trial, declared_rates, judge, of_both, trial_of, wrapped

CARRIED = Trial(
    asked_per_s=100, completed_per_s=99.8, dropped_share=0, failed_share=0, p50_first_third_ms=10, p50_last_third_ms=11,
    p99_ms=40, in_flight_first_half=2, in_flight_end=2, vus=200, vus_made=200, generator_cores=0.3, target_cores=0.8,
    foreign_cores=0.02, stolen_cores=0, preferred=False,
)  # fmt: skip


@pytest.mark.parametrize(
    ("change", "verdict"),
    [
        ({}, "carried"),
        ({"completed_per_s": 97.0}, "border"),
        ({"completed_per_s": 94.0}, "not carried"),
        ({"dropped_share": 0.005}, "border"),
        ({"dropped_share": 0.02}, "not carried"),
        ({"dropped_share": 0.015, "vus_made": 120}, "carried"),  # k6 drops while it makes VUs
        ({"dropped_share": 0.03, "vus_made": 120}, "border"),
        ({"failed_share": 0.06}, "not carried"),
        ({"p50_last_third_ms": 80.0}, "border"),
        ({"p50_last_third_ms": 300.0}, "not carried"),
        ({"in_flight_end": 30.0}, "border"),
        ({"in_flight_end": 60.0}, "not carried"),
        ({"generator_cores": 0.9}, "no truth"),
        ({"foreign_cores": 0.2}, "no truth"),
        ({"foreign_cores": 0.2, "preferred": True}, "carried"),
        ({"core_speed": 1040, "searched_speed": 1000}, "carried"),
        ({"core_speed": 1080, "searched_speed": 1000, "target_cores": 0.8}, "no truth"),  # which a faster core explains
        ({"core_speed": 1080, "searched_speed": 1000, "target_cores": 0.7}, "carried"),  # and here it does not
        ({"core_speed": 920, "searched_speed": 1000}, "carried"),
        ({"core_speed": 920, "searched_speed": 1000, "completed_per_s": 94.0}, "no truth"),
        ({"core_speed": 1080, "searched_speed": 1000, "completed_per_s": 94.0}, "not carried"),
        ({"core_speed": 1080, "searched_speed": 1000, "completed_per_s": 97.0}, "no truth"),
        ({"core_speed": None, "searched_speed": 1000}, "carried"),
    ],
)
def test_a_truth_trial_is_judged_by_the_written_rule(change: dict[str, float], verdict: str) -> None:
    assert judge(replace(CARRIED, **change)) == verdict


@pytest.mark.parametrize(
    ("first", "second", "truth"),
    [
        ("carried", "carried", "carried"),
        ("carried", "not carried", "no truth"),
        ("not carried", "border", "border"),
        ("no truth", "carried", "carried"),
        ("no truth", "no truth", "no truth"),
    ],
)
def test_the_truth_is_what_both_trials_of_a_level_say(first: str, second: str, truth: str) -> None:
    assert of_both(first, second) == of_both(second, first) == truth


@pytest.mark.parametrize(
    ("good", "bad", "scores"),
    [
        ("carried", "not carried", ("right", "right")),
        ("not carried", "carried", ("wrong", "wrong")),
        ("border", "no truth", ("border", "untested")),
    ],
)
def test_an_end_is_right_only_if_the_truth_says_the_same(good: str, bad: str, scores: tuple[str, str]) -> None:
    record = {"truth_good": {"verdict": good}, "truth_bad": {"verdict": bad}}
    assert (end_score(record, "good"), end_score(record, "bad")) == scores


def test_an_open_bracket_is_not_narrow_and_a_disturbed_run_is_recognised() -> None:
    assert not is_narrow({"good": 1.0, "bad": None, "width": None})
    assert is_narrow({"good": 9.1, "bad": 10.0, "width": 0.09})
    assert is_disturbed({"machine": {"foreign_cores": 0.5}}) and not is_disturbed({"machine": {"foreign_cores": 0.1}})


def test_border_is_counted_as_tested_and_not_as_right() -> None:
    one = {"status": "answered", "good": 1, "bad": 2, "width": 0.5, "truth_good": {"verdict": "border"}}
    seen = tally([one])
    assert (seen.ends, seen.right, seen.border, seen.narrow) == (1, 0, 1, 0)


def test_every_third_product_in_alphabetical_order_is_held_out() -> None:
    names = list(every())
    assert names == sorted(names) and len(names) == 18 and set(names[::3]) == HELD_OUT


def test_products_are_in_five_languages_at_least_and_have_a_script_with_declared_rates() -> None:
    products = every().values()
    assert len({product.language for product in products}) >= 5
    for product in products:
        assert all(rate > 0 for rate in declared_rates(product.script).values())


def test_the_wrapper_offers_each_scenario_its_share_of_the_level() -> None:
    text = wrapped(every()["etcd"].script, {"lookups": 100.0, "announcements": 25.0}, 2.5, 200, 500)
    assert '{"lookups": [25000, 160, 400], "announcements": [6250, 40, 100]}' in text and "LASTS = 60" in text


def test_what_k6_tells_becomes_a_trial() -> None:
    metrics = {
        "in_time": {"values": {"count": 600}}, "dropped_iterations": {"values": {"count": 7}},
        "third_0": {"values": {"med": 5.0}}, "third_2": {"values": {"med": 6.0, "p(99)": 9.0}},
    }  # fmt: skip
    machine = dict.fromkeys(("foreign_cores", "stolen_cores", "target_cores", "generator_cores", "preferred"), 0.0)
    trial = trial_of(metrics, 10.0, 100, machine)
    assert (trial.completed_per_s, trial.dropped_share, trial.p50_last_third_ms) == (10.0, 0.01, 6.0)


def test_the_page_names_each_miss_with_what_k6_saw() -> None:
    truth: dict[str, Any] = {"verdict": "not carried", **vars(CARRIED)}
    record: dict[str, Any] = {
        "product": "webdis", "run": 1, "revision": "abc", "day": "2026-01-01", "status": "answered",
        "answer": "Carries.", "declared_per_s": 50.0, "good": 2.0, "bad": None, "width": None, "valid": True,
        "asked_s": 100.0,
        "limit": {"kind": "cpu", "where": "host"}, "truth_good": truth,
    }  # fmt: skip
    text = text_of([record], "abc")
    assert "webdis, run 1: carried at 100/s; k6: not carried" in text and "no bracket of 10%: Carries." in text


def step(level: float, verdict: str, done: float, p50: float, in_flight: int = 0) -> dict[str, Any]:
    return {
        "level": level, "step_kind": "hold", "verdict": verdict, "planned_per_s": 100.0, "done_per_s": done,
        "p50_ms": p50, "in_flight_end": in_flight,
    }  # fmt: skip


def findings(*steps: dict[str, Any], good: float | None = None, bad: float | None = None) -> list[dict[str, Any]]:
    return [{"steps": list(steps), "capacity": {"good": good, "bad": bad}, "valid": True, "limited_by": None}]


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        (findings(step(1, "good", 100, 10), step(2, "good", 90, 300), good=2.0), "called carried; 90%"),
        (findings(step(1, "good", 100, 10), step(2, "undecided", 80, 300), good=1.0), "plainly not carried"),
        (findings(step(1, "good", 100, 10), step(2, "undecided", 100, 11), good=1.0), "plainly carried"),
        (findings(step(1, "good", 100, 10), step(3, "hold", 100, 12), good=1.0, bad=2.0), "not carried by the answer"),
    ],
)
def test_what_a_step_plainly_shows_contradicts_another_verdict(answer: list[dict[str, Any]], said: str) -> None:
    assert any(said in line for line in contradictions(answer, []))


def test_foreign_work_on_the_targets_core_contradicts_a_valid_answer() -> None:
    resources = [
        {"source": "target_cores", "second": 1, "values": {"usable_cores": 1.0, "cpu_share": 1.0}},
        {"source": "process:target", "second": 1, "values": {"cpu_cores_used": 0.3}},
    ]
    assert "used 0.70 of the target's 1 core" in contradictions(findings(), resources)[0]


def test_a_full_pool_is_no_limit_while_the_core_is_full() -> None:
    answer = findings()
    answer[0]["limited_by"] = {
        "kind": "pool", "where": "connections to redis", "runner_up": {"where": "one core", "utilisation": 0.99},
    }  # fmt: skip
    assert contradictions(answer, []) == ["limited by connections to redis, while one core was 99% busy"]


def test_two_rates_of_one_level_contradict_each_other() -> None:
    answer = findings()
    answer[0]["capacity"] |= {"good": 5.0, "rate_per_s": 735.0}
    answer.append({"answer": "For 5 …", "question": "…", "sizing": {"level": 5.0, "per_s": 653.0}})
    assert contradictions(answer, []) == ["carried 735/s, and sized for 653/s of the same level"]


def test_what_loads_a_product_keeps_off_the_cores_of_its_database() -> None:
    @contextmanager
    def database() -> Iterator[set[int]]:
        yield os.sched_getaffinity(0)

    everywhere = os.sched_getaffinity(0)
    with on_target_cores(database()) as of_database:
        assert of_database == (everywhere & TARGET_CORES or everywhere)
        assert os.sched_getaffinity(0) == everywhere
        with on_cores(TARGET_CORES), on_cores(GENERATOR_CORES):
            assert os.sched_getaffinity(0) == (everywhere & GENERATOR_CORES or everywhere)
