"""A size goes past what the run proved not to carry only with that said first."""

from __future__ import annotations

import pytest
from capacity_runs import LOADS, run_of, sizing_of, step

from plimsoll.findings.sizing.carries import carried_on
from plimsoll.findings.sizing.facts import sizing_facts
from plimsoll.findings.sizing.tables import carries_table

POOL = {"kind": "pool", "where": "pool jdbc", "size": 8.0}
LOCK = {"kind": "lock", "where": "locks of app"}
UNKNOWN = {"kind": "unknown", "where": None}
ERRORS = {"kind": "errors", "where": "status 503"}
CPU = {"kind": "cpu", "where": "host"}


def stopped_run(limited: dict, thread: bool = False):
    main, run = run_of(LOADS, bad=1300, thread=thread)
    main["capacity"] |= {"bad": 1300.0, "rate_per_s": 120.0}
    main["limited_by"] = limited
    return main, run


@pytest.mark.parametrize("thread", [False, True])
@pytest.mark.parametrize(
    ("limited", "words"),
    [
        (POOL, "More cores alone do not help above 120 operations/s, where pool jdbc stopped this run"),
        (LOCK, "More cores alone do not help above 120 operations/s, where locks of app stopped this run"),
        (UNKNOWN, "What stopped this run at 120 operations/s was not found"),
        (ERRORS, "This run stopped at 120 operations/s because of errors, status 503. Whether more cores lift it"),
        ({"kind": "none", "where": None}, "What stopped this run at 120 operations/s was not found"),
    ],
)
def test_the_ceiling_comes_before_what_ten_times_the_load_needs(limited: dict, words: str, thread: bool) -> None:
    """A pool that stopped a process of one busy thread was not said at all."""
    answer = sizing_of(*stopped_run(limited, thread), expected_level=500)["answer"]
    assert words in answer
    assert answer.index(words) < answer.index("10 times that load needs")


@pytest.mark.parametrize("limited", [POOL, LOCK, UNKNOWN, CPU])
def test_a_load_that_was_proven_to_be_too_much_begins_with_that(limited: dict) -> None:
    answer = sizing_of(*stopped_run(limited), expected_level=2000)["answer"]
    assert answer.startswith("This run stopped at 120 operations/s, below what is asked for")
    assert sizing_of(*stopped_run(limited), expected_level=500)["answer"].startswith("For 500 users")


@pytest.mark.parametrize("limited", [POOL, LOCK])
def test_so_many_cores_carry_no_more_than_what_cores_do_not_lift(limited: dict) -> None:
    main, run = stopped_run(limited)
    facts = sizing_facts(run, main["steps"])
    small, large = (carried_on(cores, main, facts) for cores in (0.3, 4.0))
    assert small["per_s"] == pytest.approx(50, rel=0.06) and not small["capped_by"]
    assert large["per_s"] == 120 and large["interval"][1] == 120 and large["capped_by"] == limited["where"]
    [table] = carries_table([small, large])
    assert table["rows"][1][-1] == f"120 operations/s at most: {limited['where']} stopped this run there"


@pytest.mark.parametrize(
    ("limited", "why"),
    [
        (UNKNOWN, "what stopped this run at 120 operations/s was not found"),
        ({"kind": "none", "where": None}, "what stopped this run at 120 operations/s was not found"),
        (ERRORS, "this run stopped at 120 operations/s because of errors, status 503"),
    ],
)
def test_above_what_stopped_it_for_no_known_reason_cores_promise_nothing(limited: dict, why: str) -> None:
    main, run = stopped_run(limited)
    facts = sizing_facts(run, main["steps"])
    assert carried_on(0.3, main, facts)["per_s"] == pytest.approx(50, rel=0.06)
    large = carried_on(4.0, main, facts)
    assert large["per_s"] is None and large["why"] == why


def test_cores_lift_what_cores_stopped() -> None:
    main, run = stopped_run(CPU)
    assert carried_on(4.0, main, sizing_facts(run, main["steps"]))["per_s"] > 500


def test_a_limit_of_unknown_height_is_said() -> None:
    main, run = run_of(LOADS, thread=False)
    unknown_height = {"unit": "users", "model": "open", "good": 1200.0, "bad": 1300.0, "rate_per_s": None}
    main = {**main, "capacity": unknown_height, "limited_by": POOL}
    answer = sizing_of(main, run, expected_level=500)["answer"]
    assert "More cores alone do not help above the load measured, where pool jdbc was the limit" in answer


FELL_BEHIND = step(12, 2400.0, 240.0, "bad") | {"done_per_s": 130.0}


def fell_behind_in_a_short_step(limited: dict | None):
    """Nothing was proven to be too much, and a short step above what is carried was not served."""
    main, run = run_of(LOADS, thread=False)
    main["steps"] = [*main["steps"], FELL_BEHIND]
    main["limited_by"] = {"kind": "none", "where": None, "utilisation": None, "evidence": "No level was too much."}
    if limited is not None:
        main["limited_by"]["in_short_step"] = limited
    return main, run


@pytest.mark.parametrize(
    ("limited", "words"),
    [
        (UNKNOWN, "what limited it was not found. Whether more cores lift it cannot be told"),
        (None, "what limited it was not found. Whether more cores lift it cannot be told"),
        (POOL, "limited by pool jdbc, as it seems: more cores may not help above that"),
        (CPU, "limited by host, as it seems: that more of it carries more was not measured"),
    ],
)
def test_sizes_beyond_a_short_step_in_which_it_fell_behind_say_so_in_answer_and_table(limited, words) -> None:
    """They went to 89 times the declared load beside a target that fell behind at 16 times."""
    found = sizing_of(*fell_behind_in_a_short_step(limited), expected_level=500)
    fell = "In a short step of 10 s at 2,400 users it finished 130 of 240/s"
    for told in (found["answer"], found["tables"][0]["note"]):
        assert fell in told and words in told
    assert found["answer"].index(fell) < found["answer"].index("10 times that load needs")


def test_sizes_below_what_the_short_step_finished_need_no_such_words() -> None:
    found = sizing_of(*fell_behind_in_a_short_step(UNKNOWN), expected_level=50)
    assert "short step" not in found["answer"] and "short step" not in found["tables"][0]["note"]


def test_so_many_cores_promise_nothing_beyond_the_short_step() -> None:
    main, run = fell_behind_in_a_short_step(UNKNOWN)
    facts = sizing_facts(run, main["steps"])
    assert carried_on(0.3, main, facts)["per_s"] == pytest.approx(50, rel=0.06)
    large = carried_on(4.0, main, facts)
    assert large["per_s"] is None and "it finished 130 of 240/s" in large["why"]


def test_a_load_of_which_nothing_was_decided_begins_with_that() -> None:
    main, run = run_of(LOADS, thread=False)
    answer = sizing_of(main, run, expected_level=5000)["answer"]
    assert answer.startswith("Whether it carries this load was not decided")
    nothing = {**main, "capacity": main["capacity"] | {"good": None, "rate_per_s": None}}
    assert sizing_of(nothing, run, expected_level=500)["answer"].startswith("No load was proven to be carried")


def test_the_table_says_from_where_on_its_sizes_are_extrapolated() -> None:
    main, run = run_of(LOADS, thread=False)
    note = sizing_of(main, run, expected_level=500)["tables"][0]["note"]
    assert "The highest load measured is 120 operations/s: sizes above it are extrapolated" in note
    assert "extrapolated" not in sizing_of(main, run, expected_level=100)["tables"][0]["note"]
