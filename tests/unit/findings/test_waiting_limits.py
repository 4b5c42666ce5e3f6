"""Quotas, memory limits, pools and queues as the limit of an overloaded step."""

from __future__ import annotations

from typing import Any

import pytest

from plimsoll.findings.limits import limiting_resource

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
