"""What a search that proved no level to be carried is told to do: what it lacked, and nothing else."""

from __future__ import annotations

from typing import Any

import pytest
from capacity_runs import FACTS, Rows, step

from plimsoll.findings.capacity.finding import capacity_findings
from plimsoll.findings.capacity.remedy import not_run

MORE = "give it 90 s (--for 90s)"


def probe(place: int, level: float, *, calm: bool = True) -> dict[str, Any]:
    return step(place, level, level / 10, "probe" if calm else "bad") | {"step_kind": "probe"}


def next_of(steps: list[dict[str, Any]], **facts: Any) -> str:
    known = {**FACTS, "open": True, "good": None, "bad": None, "steps": steps, **facts}
    return " ".join(capacity_findings(known, Rows([]))[0]["next"])


def test_a_ramp_that_took_the_whole_load_time_is_told_to_take_more_and_not_to_begin_lower() -> None:
    """A small log's study with --for 45s: the ramp took 26 s, and 6 users' 23 arrivals told nothing."""
    steps = [probe(0, 1.5), probe(1, 94.0), probe(2, 374.0, calm=False)]
    steps.append(step(3, 5.84, 1.3, "undecided") | {"step_kind": "expected"})
    told = next_of(steps, more_time=MORE)
    assert told == f"The load time ended before a level was proven to be carried: {MORE}."


def test_longer_steps_are_asked_for_where_those_that_were_held_told_nothing_with_time_left() -> None:
    told = next_of([probe(0, 10.0), step(1, 50.0, 5.0, "undecided")])
    assert "--for" in told and "--min-users" not in told


def test_where_not_even_the_lowest_level_was_allowed_to_be_low_enough_a_smaller_one_is_asked_for() -> None:
    steps = [probe(0, 800.0, calm=False), step(1, 800.0, 40.0, "bad")]
    told = next_of(steps, bad=800.0, min_level=800.0, more_time=MORE)
    assert told.startswith("Run it again with a smaller --min-users than 800 users, the lowest level that it may try")
    assert "--for" not in told


def test_where_the_first_level_was_too_much_the_next_search_begins_lower() -> None:
    steps = [probe(0, 800.0, calm=False), step(1, 800.0, 40.0, "bad"), step(2, 400.0, 20.0, "undecided")]
    told = next_of(steps, bad=800.0, more_time=MORE)
    assert told.startswith(f"The load time ended before a level was proven to be carried: {MORE}, or begin at a lower")
    assert "--min-users 100)" in told


@pytest.mark.parametrize("bad", [None, 800.0])
def test_others_work_in_every_step_asks_for_a_quieter_host_alone(bad: float | None) -> None:
    steps = [probe(0, 10.0), step(1, 50.0, 5.0, "undecided") | {"disturbed": True, "reasons": ["Others came."]}]
    told = next_of(steps, bad=bad, more_time=MORE)
    assert "on a quieter host" in told and "--for" not in told and "--min-users" not in told


def test_of_users_who_wait_one_is_the_fewest() -> None:
    steps = [step(1, 1.0, 40.0, "bad"), step(2, 2.0, 40.0, "bad")]
    told = next_of(steps, bad=1.0, open=False, unit="vus", more_time=MORE)
    assert "--min-users" not in told


def test_a_remedy_that_was_not_run_says_what_its_run_lacked() -> None:
    before = {"status": "finished", "capacity": {"good": None}, "next": ["Give it 90 s (--for 90s)."]}
    told = not_run("./index.sh", before)
    assert told is not None and told.endswith("nothing to compare with. Give it 90 s (--for 90s).")
