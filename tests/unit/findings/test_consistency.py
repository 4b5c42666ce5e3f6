"""Findings of a run that contradict each other are mended by the one with the direct evidence, or say so."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from plimsoll.findings.consistency.check import consistent, contradictions
from plimsoll.findings.consistency.rules import RULES
from plimsoll.findings.consistency.story import FAR, HARDWARE, HELD, MAIN, NEXT, SCALING
from plimsoll.findings.hold.finding import QUESTION as HELD_QUESTION

Findings = dict[str, dict[str, Any]]
CORES = {"name": "cpu", "where": "the host's 2 cores", "ceiling": 2.0, "per_s": 1300.0}
DATABASE = {"name": "postgres", "where": "the one busy thread of postgres (one core)", "ceiling": 1.0, "per_s": 2633.0}


def story() -> Findings:
    """A run of which all findings agree."""
    main = {
        "question": MAIN, "experiment": "capacity", "valid": True, "invalid_because": [], "notes": [], "answer": "old",
        "capacity": {
            "unit": "users", "model": "open", "good": 36_000.0, "bad": 40_000.0, "users": 36_000.0,
            "rate_per_s": 1107.0, "interval": [36_500.0, 39_000.0], "knee": 33_000.0,
        },
        "objectives": [
            {
                "objective": "p95 < 300 ms", "met_up_to": 36_000.0, "failed_from": 40_000.0,
                "verdicts": [{"level": 20_000.0, "verdict": "met"}, {"level": 36_000.0, "verdict": "met"}],
            }
        ],
        "limited_by": {"kind": "cpu", "where": "host, all cores", "resource": "cpu", "evidence": "100% busy"},
        "headroom": {"expected_users": 30_000.0, "ratio": 0.2, "carries": True},
    }  # fmt: skip
    following = {"question": NEXT, "answer": "x", "stopped_by": "host, all cores", "order": [CORES, DATABASE]}
    far = {
        "question": FAR, "answer": "x",
        "extrapolations": [
            {"budget_words": "all of 2 cores", "told": True, "interval": [1_100.0, 1_200.0],
             "highest_use_of_budget": 0.9},
        ],
    }  # fmt: skip
    cpu = {"recommended": 1.4}
    hardware = {
        "question": HARDWARE,
        "answer": "x",
        "tables": [{}],
        "sizing": {"sizes": [{"hosts": [{"host": "", "cpu": cpu}]}]},
    }
    law = {"told": True, "peak_level": 40_000.0, "peak_level_interval": [35_000.0, 50_000.0]}
    scaling = {"question": SCALING, "answer": "x", "scalability": law}
    held = {"question": HELD, "experiment": "hold", "stable": True, "limited_by": {"kind": "none", "where": None}}
    return {"main": main, "next": following, "far": far, "hardware": hardware, "scaling": scaling, "held": held}


def with_capacity(**values: Any) -> Callable[[Findings], None]:
    return lambda told: told["main"]["capacity"].update(values)


def with_limit(told: Findings, **values: Any) -> None:
    told["main"]["limited_by"] = values
    told["next"]["stopped_by"] = values["where"]


def by_name(name: str) -> Callable[[Findings], None]:
    """What makes the findings of a run break that rule."""

    def too_few_cores(told: Findings) -> None:
        told["main"]["headroom"] = {"expected_users": 50_000.0, "ratio": -0.28, "carries": False}

    def never_saturated(told: Findings) -> None:
        told["main"]["capacity"] |= {"bad": None, "interval": None}
        told["main"]["headroom"] = None
        told["next"]["stopped_by"] = None

    def objective_fails(told: Findings) -> None:
        told["main"]["objectives"][0] |= {"met_up_to": 20_000.0, "failed_from": 25_000.0}

    return {
        "the bracket is ordered": with_capacity(good=41_000.0, interval=None, knee=None),
        "a limit needs a level that is too much": never_saturated,
        "the interval meets the bracket": with_capacity(interval=[20_000.0, 30_000.0]),
        "the knee is below the overload": with_capacity(knee=60_000.0),
        "an objective is met below where it fails": lambda told: told["main"]["objectives"][0].update(
            failed_from=35_000.0
        ),
        "headroom follows bracket and objectives": objective_fails,
        "the next limit comes after the limit": lambda told: told["next"].update(stopped_by=None),
        "the next limit is above what is carried": lambda told: told["next"].update(
            order=[CORES, {**DATABASE, "per_s": 900.0}]
        ),
        "a budget ends above what was carried with less of it": lambda told: told["far"]["extrapolations"][0].update(
            interval=[700.0, 900.0]
        ),
        "the law reaches what is carried": lambda told: told["scaling"]["scalability"].update(
            peak_level=20_000.0, peak_level_interval=[18_000.0, 22_000.0]
        ),
        "hardware fits the headroom": too_few_cores,
        "what the generator limited is no capacity": lambda told: with_limit(
            told, kind="generator", where="the load generator", evidence="full threads"
        ),
        "a stable load has no limit": lambda told: told["held"].update(limited_by={"kind": "lock", "where": "locks"}),
    }[name]


def broken(name: str) -> list[dict[str, Any]]:
    told = story()
    by_name(name)(told)
    return list(told.values())


def test_findings_that_agree_stay_as_they_are() -> None:
    told = list(story().values())
    assert contradictions(told) == [] and consistent(told) == told


@pytest.mark.parametrize("name", [rule.name for rule in RULES])
def test_each_rule_finds_its_contradiction_and_mends_it_or_says_so(name: str) -> None:
    told = broken(name)
    assert [one.rule for one in contradictions(told)] == [name]
    after = consistent(told, lambda main: f"retold, {main['headroom'] and main['headroom']['carries']}")
    rule = next(one for one in RULES if one.name == name)
    if rule.mend is not None:
        assert contradictions(after) == []
    else:
        notes = [note for one in after for note in one.get("notes") or () if note.startswith("Two answers of this run")]
        assert notes


def mended(name: str) -> dict[str, dict[str, Any]]:
    found = consistent(broken(name), lambda main: f"retold, {main['headroom']}")
    return {one["question"]: one for one in found}


def test_the_limit_that_was_seen_comes_first_in_what_would_stop_it_next() -> None:
    """A healthy shop: the first answer named the host's cores, the second that what stopped it was not known."""
    found = mended("the next limit comes after the limit")[NEXT]
    assert found["answer"] == (
        "What stops it now is host, all cores. After that the one busy thread of postgres (one core) would stop it, "
        "near 2,633/s."
    )


def test_what_would_end_below_what_was_carried_is_left_out_with_the_reason() -> None:
    found = mended("the next limit is above what is carried")[NEXT]
    assert [one["name"] for one in found["order"]] == ["cpu"]
    assert found["notes"] == [
        "the one busy thread of postgres (one core) is left out: by its demand it would end below what was carried."
    ]


def test_an_objective_that_fails_below_the_expected_load_takes_its_headroom() -> None:
    """11,607 users carried, "480% more than the expected 2,000", and both objectives failed there."""
    found = mended("headroom follows bracket and objectives")[MAIN]
    assert found["headroom"]["carries"] is False and found["headroom"]["ratio"] == pytest.approx(-1 / 3)
    assert found["answer"].startswith("retold")


def test_an_expected_load_is_never_refused_below_what_is_carried() -> None:
    told = story()
    told["main"]["headroom"] = {"expected_users": 30_000.0, "ratio": None, "carries": False}
    assert "headroom follows bracket and objectives" in [one.rule for one in contradictions(told.values())]
    found = consistent(list(told.values()))[0]
    assert found["headroom"]["carries"] is True and found["headroom"]["ratio"] == pytest.approx(0.2)


def test_an_interval_that_excludes_a_carried_level_is_left_out_with_the_reason() -> None:
    found = mended("the interval meets the bracket")[MAIN]["capacity"]
    assert found["interval"] is None
    assert found["interval_means"] == (
        "Left out, as the interval ends at 30,000 users, below the carried 36,000 users."
    )


def test_sizes_that_did_not_carry_the_expected_load_are_left_out() -> None:
    found = mended("hardware fits the headroom")[HARDWARE]
    assert found["sizing"] is None and found["tables"] == []
    assert "1.4 cores are recommended for the expected load, and the 2 that the target had" in found["answer"]


def test_a_stable_load_that_the_generator_limited_is_one_story_where_the_answer_is_not_valid() -> None:
    held = {"question": HELD, "experiment": "hold", "stable": True, "valid": False, "limited_by": {"kind": "generator"}}
    assert contradictions([held]) == []
    assert contradictions([held | {"valid": True}])[0].rule == "a stable load has no limit"


def test_questions_are_those_of_the_findings() -> None:
    assert HELD == HELD_QUESTION


@pytest.mark.parametrize("end", [". Then run it again (--verify).", "; and run it again (--verify)."])
def test_a_limit_that_is_left_out_takes_its_next_step_along(end: str) -> None:
    """Redmine: "What stops it now is not known" beside "Prove the limit: give the target more cores", of no limit."""
    told = story()
    told["main"]["capacity"] |= {"bad": None, "interval": None}
    told["main"]["headroom"] = None
    remedy = "give the target more cores"
    told["main"]["limited_by"]["remedy"] = remedy
    told["main"]["next"] = [
        "Give it more time.",
        f"Prove the limit by an intervention: {remedy}{end}",
    ]
    told = {one["question"]: one for one in consistent(list(told.values()))}
    assert told[MAIN]["limited_by"]["kind"] == "none" and told[MAIN]["next"] == ["Give it more time."]
    assert told[NEXT]["answer"].startswith(
        "No level that was held was too much. By what was probed the host's 2 cores "
    )
