"""Quotas, memory limits, pools and queues as the limit of an overloaded step."""

from __future__ import annotations

from typing import Any

import pytest

from plimsoll.findings.limits.what_stops import limiting_resource
from plimsoll.findings.resources import means_of_steps

LOW: dict[str, Any] = {"level": 10, "verdict": "good", "reasons": []}
BAD: dict[str, Any] = {"level": 100, "verdict": "bad", "reasons": [], "in_flight_end": 60, "backlog_end": 40}
IDLE = {"host": {"cpu_share": 0.3}, "process:app": {"cpu_cores_used": 0.2, "processes": 1}}


def limited(here: dict[str, dict[str, float]], low: dict[str, dict[str, float]], **bad: Any) -> dict[str, Any]:
    step = {**BAD, **bad}
    return limiting_resource(step, [LOW, step], [{**IDLE, **low}, {**IDLE, **here}], "users")


QUOTA = {"cpu_limit_share": 0.97, "cpu_limit_cores": 0.5, "cpu_throttled_periods_share": 0.8}


def test_a_cpu_quota_is_a_ceiling() -> None:
    found = limited({"cgroup:app": QUOTA}, {"cgroup:app": {"cpu_limit_share": 0.2}})
    assert found["kind"] == "cpu_quota" and "97% of its quota of 0.5 cores" in found["evidence"]
    assert "20% at 10 users" in found["evidence"]
    far = {**QUOTA, "cpu_limit_share": 0.4, "cpu_throttled_periods_share": 0.01}
    assert limited({"cgroup:app": far}, {})["kind"] == "unknown"


def test_a_process_killed_for_want_of_memory_comes_before_the_errors_that_it_causes() -> None:
    group = {"cgroup:app": {"memory_share": 0.6, "oom_kills_per_s": 0.1, "memory_limit_bytes": 2**28}}
    found = limited(group, {}, reasons=["40.0% of the requests failed"], error_share=0.4)
    assert found["kind"] == "memory_limit" and "Limit of 256 MiB" in found["evidence"]
    assert found["runner_up"]["kind"] == "errors"
    assert limited(group, {})["kind"] == "memory_limit"


@pytest.mark.parametrize(
    ("source", "values", "where"),
    [
        ("pool:app HikariPool-1", {"used_share": 1.0, "used": 10.0, "limit": 10.0, "waiting": 7.0}, "pool app Hikari"),
        ("postgresql:db", {"connections_share": 0.99}, "connections of db"),
        ("sockets:app", {"connections_to_10.0.0.2:5432": 8.0}, "connections of app to 10.0.0.2:5432"),
    ],
)
def test_a_full_pool_is_named_where_nothing_hard_is_near_its_ceiling(
    source: str, values: dict[str, float], where: str
) -> None:
    found = limited({source: values}, {})
    assert found["kind"] == "pool" and found["where"].startswith(where)
    busy = limited({source: values, "cgroup:app": QUOTA}, {})
    assert busy["kind"] == "cpu_quota" and busy["runner_up"]["kind"] == "pool"


def test_connections_that_come_and_go_or_outnumber_the_load_are_no_pool() -> None:
    for count in (8.4, 80.0):
        assert limited({"sockets:app": {"connections_to_10.0.0.2:5432": count}}, {})["kind"] == "unknown"


def test_a_queue_of_connections_that_grew_says_that_workers_were_taken() -> None:
    found = limited({"sockets:app": {"accept_queue": 30.0}}, {"sockets:app": {"accept_queue": 0.0}})
    assert found["kind"] == "workers" and "30 connections waited" in found["evidence"]
    assert limited({"sockets:app": {"accept_queue": 4.0}}, {"sockets:app": {"accept_queue": 3.5}})["kind"] == "unknown"


def test_what_shows_only_where_it_fell_behind_by_more_is_named_from_there() -> None:
    steps = [LOW, BAD, {**BAD, "level": 200, "in_flight_end": 300}]
    little, plain = {"connections_in": 300.0, "connections_sending": 30.0}, {"connections_in": 300.0}
    means = [{**IDLE, "sockets:app": one} for one in (plain, little, {**plain, "connections_sending": 290.0})]
    found = limiting_resource(BAD, steps, means, "users")
    assert found["kind"] == "network" and "290 of 300 connections" in found["evidence"]
    assert "in the step at 200 users" in found["evidence"]
    assert limiting_resource(BAD, steps[:2], means[:2], "users")["kind"] == "unknown"


def test_calls_whose_order_chance_hid_in_the_step_are_known_from_the_next_overloaded_one() -> None:
    calls = {"connections_in": 20.0, "connections_to_10.0.0.2:8080": 20.0, "accept_queue": 30.0}
    hidden = {**calls, "awaiting_10.0.0.2:8080": 0.0, "answered_by_10.0.0.2:8080": 0.0}
    known = {**calls, "awaiting_10.0.0.2:8080": 1.3, "answered_by_10.0.0.2:8080": 0.0}
    steps = [LOW, BAD, {**BAD, "level": 200}]
    seen = [{**IDLE, "sockets:app": one} for one in ({"accept_queue": 0.0}, hidden, known)]
    found = limiting_resource(BAD, steps, seen, "users")
    assert (found["kind"], found["runner_up"]["kind"]) == ("dependency", "workers")
    assert limiting_resource(BAD, steps[:2], seen[:2], "users")["kind"] == "workers"


def test_a_process_killed_while_the_step_warmed_up_was_killed_by_its_load() -> None:
    steps = [{**BAD, "start_s": 3.02, "measured_from_s": 5, "end_s": 9.0}]
    rows = [
        {"second": second, "source": "cgroup:app", "values": {"memory_share": share, "oom_kills_per_s": kills}}
        for second, share, kills in ((2, 0.9, 0.0), (3, 0.9, 0.9), (4, 0.1, 0.0), (5, 0.2, 0.0), (6, 0.4, 0.0))
    ]
    assert means_of_steps(rows, steps)[0]["cgroup:app"] == {
        "memory_share": pytest.approx(0.3),
        "oom_kills_per_s": pytest.approx(0.3),
    }
    assert means_of_steps(rows[:1] + rows[2:], steps)[0]["cgroup:app"]["oom_kills_per_s"] == 0.0


def test_a_lock_in_a_called_service_comes_before_the_workers_that_wait_for_it_though_their_order_is_hidden() -> None:
    shop = {"accept_queue": 30.0, "connections_in": 20.0, "connections_to_127.0.0.1:8080": 20.0}
    here = {
        "sockets:app": {**shop, "awaiting_127.0.0.1:8080": 0.0, "answered_by_127.0.0.1:8080": 0.0},
        "sockets:stock": {"listens_on_8080": 1.0, "connections_in": 20.0},
        "waits:stock": {"threads_seen": 22.0, "threads_on_locks": 20.0},
        "process:stock": {"cpu_cores_used": 0.1},
    }
    found = limited(here, {"sockets:app": {"accept_queue": 0.0}, "waits:stock": {"threads_on_locks": 0.0}})
    assert (found["where"], found["runner_up"]["kind"]) == ("locks of stock", "workers")


@pytest.mark.parametrize(
    ("calls", "runner_up"),
    [
        ({"awaiting_10.0.0.2:8080": 0.0, "answered_by_10.0.0.2:8080": 0.0}, "dependency"),
        ({"awaiting_10.0.0.2:8080": 0.0, "answered_by_10.0.0.2:8080": 1.0}, "dependency"),  # of 13
        ({"awaiting_10.0.0.2:8080": 1.0, "answered_by_10.0.0.2:8080": 11.0}, None),  # they idle
        ({"connections_to_10.0.0.2:8080": 6.4}, None),  # most requests call nobody
    ],
)
def test_workers_that_may_wait_for_a_service_whose_calls_the_kernels_clock_hides_have_it_as_runner_up(
    calls: dict[str, float], runner_up: str | None
) -> None:
    shop = {"connections_in": 14.0, "connections_to_10.0.0.2:8080": 13.0, "accept_queue": 30.0, **calls}
    found = limited({"sockets:app": shop}, {"sockets:app": {"accept_queue": 0.0}}, in_flight_end=10)
    assert (found["kind"], (found["runner_up"] or {}).get("kind")) == ("workers", runner_up)
