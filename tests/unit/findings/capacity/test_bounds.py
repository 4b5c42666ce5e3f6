"""The finding of the asymptotic bounds, from hand-made steps of a queue of known demand and think time."""

from __future__ import annotations

import pytest
from capacity_runs import DEMAND_S, FACTS, THINK_S, by_question, closed_throughput, run_of

from plimsoll.findings.capacity.bounds import QUESTION
from plimsoll.findings.capacity.finding import capacity_findings
from plimsoll.findings.capacity.further import further_findings

LEVELS = [2, 4, 8, 16, 32, 64, 90, 128]


def found_of(levels, **options):
    points = [(float(users), closed_throughput(users)) for users in levels]
    return by_question(further_findings(*run_of(points, open_=False, **options), same_host=True)).get(QUESTION)


def holds(bounds, name: str, truth: float) -> bool:
    low, high = bounds[name]
    return low <= truth <= high


def test_a_plateau_tells_the_bounds_with_their_intervals_and_where_they_meet():
    found = found_of(LEVELS, bad=90, app=0.0)
    bounds = found["asymptotes"]
    assert bounds["demand_of"] == "plateau" and bounds["most_per_s"] == pytest.approx(100, rel=0.02)
    assert bounds["demand_s"] == pytest.approx(DEMAND_S, rel=0.02)
    assert bounds["round_s"] == pytest.approx(DEMAND_S + THINK_S, rel=0.02)
    assert bounds["crossing"] == pytest.approx(51, rel=0.02)
    assert holds(bounds, "most_interval", 100) and holds(bounds, "round_interval", 0.51)
    assert holds(bounds, "crossing_interval", 51)
    assert found["answer"].startswith("At most 99.7/s (95%: ") and "The two meet at 50.8 users" in found["answer"]
    assert "an iteration costs as much at any load" in found["notes"][0]
    assert ["R, waiting for answers at the lowest level", "5.97 ms"] in found["facts"]
    assert bounds["response_s"] + bounds["think_s"] == pytest.approx(2 / closed_throughput(2), rel=0.01)


def test_the_largest_measured_demand_agrees_with_the_plateau_or_something_else_ends_earlier():
    same = found_of(LEVELS, bad=90, app=DEMAND_S)
    assert same["notes"][1].endswith("which agrees.") and "The one busy thread of app" in same["notes"][1]
    other = found_of(LEVELS, bad=90, app=DEMAND_S / 2, database=0.001)
    assert other["notes"][1].endswith("so something else ends earlier.")


def test_without_a_plateau_the_largest_measured_demand_bounds():
    found = found_of(LEVELS[:5], app=DEMAND_S)
    assert found["asymptotes"]["demand_of"] == "app"
    assert holds(found["asymptotes"], "most_interval", 100) and holds(found["asymptotes"], "crossing_interval", 51)
    assert "What was not watched may end earlier" in found["notes"][1]


def test_what_the_steps_do_not_support_is_not_said():
    assert found_of(LEVELS[:5], app=0.0, host=False) is None, "neither a plateau nor a demand"
    assert found_of([40, 64, 90, 128], bad=90, app=0.0) is None, "users wait for each other at the lowest level"
    points = [(float(users), closed_throughput(users)) for users in LEVELS]
    assert QUESTION not in by_question(further_findings(*run_of(points, bad=90), same_host=True)), "arrivals"


def test_requests_that_fail_before_throughput_stops_rising_show_no_plateau():
    points = [(float(users), closed_throughput(users)) for users in LEVELS[:5]]
    main, run = run_of(points, open_=False, bad=32, app=0.0)
    main["steps"][-1]["reasons"] = ["12% of the requests failed."]
    [judged] = capacity_findings({**FACTS, "open": False, "good": 16.0, "bad": 32.0, "steps": main["steps"]}, run)
    assert judged["capacity"]["knee"] is None and "Requests failed before" in judged["capacity"]["knee_means"]
    assert QUESTION not in by_question(further_findings(judged, run, same_host=True))


def test_requests_beside_each_other_leave_no_think_time_to_tell():
    points = [(float(users), closed_throughput(users)) for users in LEVELS]
    main, run = run_of(points, open_=False, bad=90)
    for step in main["steps"]:
        step["mean_ms"], step["samples"] = 400.0, 3 * step["samples"]
    bounds = by_question(further_findings(main, run, same_host=True))[QUESTION]["asymptotes"]
    assert bounds["response_s"] is None and bounds["think_s"] is None
