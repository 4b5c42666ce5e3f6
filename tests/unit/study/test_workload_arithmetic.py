"""Users to arrival rates and back."""

from __future__ import annotations

import math

import pytest

from plimsoll.errors import InputError
from plimsoll.study import (
    ClosedWorkload,
    Group,
    OpenWorkload,
    Operation,
    arrivals_per_s,
    scenarios_for,
    shares,
    total_arrivals_per_s,
    users_for_rate,
    users_per_group,
)
from plimsoll.study.models import ThinkTime
from plimsoll.study.workload import (
    k6_seconds,
    most_closed_rate_per_s,
    rate_of_scenarios,
)

OPEN = OpenWorkload(
    script="s.js",
    operations=[
        Operation(name="create", exec="createIssue", per_user_hour=1),
        Operation(name="view", per_user_hour=49),
    ],
)


def closed(*weights: float) -> ClosedWorkload:
    return ClosedWorkload(
        script="s.js", groups=[Group(name=f"g{i}", weight=weight, think_time_s=30) for i, weight in enumerate(weights)]
    )


def test_users_times_operations_per_user_and_hour_is_the_arrival_rate():
    assert arrivals_per_s(OPEN, 3600) == {"create": 1.0, "view": 49.0}
    assert total_arrivals_per_s(OPEN, 168) == pytest.approx(168 * 50 / 3600)


@pytest.mark.parametrize("users", [0, 0.001, 1, 168, 3e6])
def test_users_for_rate_is_the_inverse(users):
    assert users_for_rate(OPEN, total_arrivals_per_s(OPEN, users)) == pytest.approx(users)


def test_scenarios_hold_the_rates_of_one_user_as_floats():
    options = scenarios_for(OPEN)
    assert options["scenarios"]["create"]["executor"] == "constant-arrival-rate"
    assert options["scenarios"]["create"]["exec"] == "createIssue"
    assert options["scenarios"]["view"]["exec"] == "view"
    assert options["scenarios"]["view"]["rate"] == pytest.approx(49 / 3600)
    assert rate_of_scenarios(options) == pytest.approx(total_arrivals_per_s(OPEN, 1))


def test_the_rate_of_scenarios_counts_their_time_units_and_no_vus():
    scenarios = {"a": {"rate": 90, "timeUnit": "1m30s"}, "b": {"rate": 5}, "c": {"executor": "constant-vus", "vus": 3}}
    assert rate_of_scenarios({"scenarios": scenarios}) == pytest.approx(6)


@pytest.mark.parametrize(
    ("text", "seconds"), [("1m30s", 90), ("1h2m3.5s", 3723.5), ("500ms", 0.5), ("250", 0.25), (2000, 2), ("10us", 1e-5)]
)
def test_durations_are_read_as_k6_writes_them(text, seconds):
    assert k6_seconds(text) == pytest.approx(seconds)


@pytest.mark.parametrize("text", ["", "soon", "1x", "1m and"])
def test_what_is_no_duration_is_refused(text):
    with pytest.raises(ValueError):
        k6_seconds(text)


def test_scenarios_of_a_closed_workload_share_one_user_and_carry_the_think_time():
    scenarios = scenarios_for(closed(70, 30))["scenarios"]
    assert [one["vus"] for one in scenarios.values()] == pytest.approx([0.7, 0.3])
    assert scenarios["g0"]["executor"] == "constant-vus"
    assert scenarios["g0"]["thinkTime"] == 30_000


@pytest.mark.parametrize(
    ("given", "option", "mean_s"),
    [
        ({"distribution": "exponential", "mean_s": 5}, {"distribution": "exponential", "mean": 5000}, 5),
        ({"distribution": "constant", "mean_s": 0.1}, {"distribution": "constant", "mean": 100}, 0.1),
        ({"distribution": "uniform", "min_s": 3, "max_s": 7}, {"distribution": "uniform", "min": 3000, "max": 7000}, 5),
    ],
)
def test_a_distribution_of_think_times_reaches_the_scenario(given, option, mean_s):
    group = Group(name="g", think_time=ThinkTime(**given))
    assert group.mean_think_time_s == mean_s
    assert scenarios_for(ClosedWorkload(script="s.js", groups=[group]))["scenarios"]["g"]["thinkTime"] == option


def test_think_times_bound_the_rate_of_a_closed_workload():
    assert most_closed_rate_per_s(closed(70, 30), 60) == pytest.approx(2)
    hasty = ClosedWorkload(script="s.js", groups=[Group(name="a", think_time_s=1), Group(name="b")])
    assert most_closed_rate_per_s(hasty, 1) == math.inf


@pytest.mark.parametrize("weights", [(1,), (70, 30), (1, 1, 1), (5, 3, 3, 1, 0.5)])
@pytest.mark.parametrize("users", [0, 1, 2, 7, 100, 1001])
def test_whole_users_per_group_add_up_and_stay_within_one_of_their_share(weights, users):
    workload = closed(*weights)
    split = users_per_group(workload, users)
    assert sum(split.values()) == users
    assert math.fsum(shares(workload).values()) == pytest.approx(1)
    assert all(abs(split[name] - users * share) < 1 for name, share in shares(workload).items())


@pytest.mark.parametrize("users", [-1, float("nan")])
def test_a_load_below_zero_is_refused(users):
    with pytest.raises(InputError, match="zero or more"):
        arrivals_per_s(OPEN, users)
