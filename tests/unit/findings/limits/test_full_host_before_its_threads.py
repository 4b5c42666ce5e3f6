"""A thread is a limit by the CPU that it used; one that waits for a core of a full host is the host's."""

from __future__ import annotations

from typing import Any

import pytest

from plimsoll.findings.limits.what_stops import limiting_resource

LOW: dict[str, Any] = {"level": 10, "verdict": "good", "reasons": [], "start_s": 0, "measured_from_s": 1, "end_s": 5}
BAD: dict[str, Any] = {
    "level": 100, "verdict": "bad", "reasons": [], "in_flight_end": 60, "backlog_end": 40,
    "start_s": 6, "measured_from_s": 7, "end_s": 16,
}  # fmt: skip
Values = dict[str, dict[str, float]]
SHOP = {"cpu_cores_used": 0.58, "busiest_thread_cores_used": 0.55, "busiest_process_cores_used": 0.58, "processes": 1.0}
DATABASE = {"cpu_cores_used": 0.9, "busiest_thread_cores_used": 0.3, "processes": 9.0}
STARVED: Values = {
    "process:shop": SHOP, "process:postgres": DATABASE, "waits:shop": {"busiest_thread_ready_share": 0.95},
}  # fmt: skip
CALM: Values = {
    "host": {"cores": 2.0, "cpu_share": 0.3, "cpu_cores_used": 0.6},
    "process:shop": {"cpu_cores_used": 0.1, "busiest_thread_cores_used": 0.1, "processes": 1.0},
    "waits:shop": {"busiest_thread_ready_share": 0.12},
}


def limited(here: Values, low: Values = CALM, **more: Any) -> dict[str, Any]:
    return limiting_resource(BAD, [LOW, BAD], [low, here], "users", **more)


def host(share: float, cores: float = 2.0) -> Values:
    return {"host": {"cores": cores, "cpu_share": share, "cpu_cores_used": cores * share}}


def named(found: dict[str, Any]) -> list[str]:
    return [found["where"], (found.get("runner_up") or {}).get("where"), found["evidence"].partition(" Also: ")[2]]


@pytest.mark.parametrize("share", [1.0, 0.93, 0.85])
def test_a_full_host_is_named_and_not_the_thread_that_waits_for_a_core_of_it(share: float) -> None:
    found = limited({**STARVED, **host(share)})
    assert (found["kind"], found["where"], found["resource"]) == ("cpu", "host, all cores", "cpu")
    assert found["utilisation"] == share
    assert "shop's busiest thread used 0.55 cores and waited for a core in 40% of the time" in found["evidence"]
    assert not any("busiest thread" in str(one) for one in named(found))


def test_a_thread_that_waits_for_a_core_comes_before_its_queue_whoever_fills_the_host() -> None:
    queue = {"sockets:shop": {"accept_queue": 40.0}}
    mine = {name: values for name, values in STARVED.items() if name != "process:postgres"}
    found = limited({**mine, **host(1.0), **queue})  # 0.58 of 2 cores are the target's
    assert found["where"] == "host, all cores" and found["runner_up"]["kind"] == "workers"
    assert "Most of that was other work" in found["evidence"] and found["remedy"].startswith("free the host of other")


def test_a_host_that_other_work_fills_all_the_time_is_told_behind_what_waits() -> None:
    queue = {"sockets:shop": {"accept_queue": 40.0}}
    low = {**CALM, **host(1.0)}
    found = limited({**host(1.0), "process:shop": {"cpu_cores_used": 1.1, "processes": 3.0}, **queue}, low)
    assert found["kind"] == "workers" and found["runner_up"]["where"] == "host, all cores"
    assert "These cores were as full before this load" in found["runner_up"]["evidence"]
    assert found["runner_up"]["remedy"].startswith("free the host of other work")


def test_more_cores_are_no_remedy_where_other_work_fills_them() -> None:
    mine = {"process:shop": {"cpu_cores_used": 0.02, "busiest_thread_cores_used": 0.02, "processes": 1.0}}
    for found in (limited({**host(0.97), **mine}), limiting_resource(BAD, [BAD], [{**host(0.97), **mine}], "users")):
        assert found["where"] == "host, all cores" and "other work than the target's" in found["evidence"]
        assert found["remedy"] == "free the host of other work, and measure again"


def test_who_used_the_full_host_is_in_its_evidence() -> None:
    assert "postgres 0.9, shop 0.58" in limited({**STARVED, **host(1.0)})["evidence"]


def test_full_cores_of_a_cpuset_are_named_for_a_thread_that_waits_for_one_of_them() -> None:
    own = {"target_cores": {"usable_cores": 2.0, "cpu_share": 0.99}}
    found = limited({**STARVED, **host(0.5, 8.0), **own})
    assert (found["where"], found["resource"]) == ("the target's 2 cores", "target_cores")
    assert "waited for a core in 40% of the time" in found["evidence"]
    assert not any("busiest thread" in str(one) for one in named(found))


def test_a_quota_is_named_for_a_thread_that_it_holds_up() -> None:
    quota = {"cgroup:shop": {"cpu_limit_share": 0.98, "cpu_limit_cores": 0.6, "cpu_throttled_periods_share": 0.9}}
    found = limited({**STARVED, **host(0.5, 8.0), **quota})
    assert found["kind"] == "cpu_quota" and not any("busiest thread" in str(one) for one in named(found))


def test_a_thread_that_used_a_core_is_its_own_limit_on_a_full_host_too() -> None:
    busy = {**SHOP, "cpu_cores_used": 0.99, "busiest_thread_cores_used": 0.98}
    found = limited({**STARVED, "process:shop": busy, **host(0.95)})
    assert (found["where"], found["resource"]) == ("target process shop, its busiest thread", "shop")


def test_a_thread_that_waits_on_a_host_with_room_is_told_with_the_cpu_that_it_used() -> None:
    found = limited({**STARVED, **host(0.5)})
    assert found["kind"] == "cpu" and found["utilisation"] == pytest.approx(0.55)
    assert "waits for a core" in found["where"] and "priority" in found["remedy"]


APART = "affinity: target on CPU 1, generator on CPU 0"
GO = {"cpu_cores_used": 0.94, "busiest_thread_cores_used": 0.4, "busiest_process_cores_used": 0.94, "processes": 1.0}
ONE = {"target_cores": {"usable_cores": 1.0, "cpu_share": 0.96}}


def test_the_one_core_that_isolate_gave_is_no_affinity_of_the_target_s_own() -> None:
    found = limited({"process:prometheus": GO, **host(0.55), **ONE}, kept_apart=APART)
    assert found["where"] == "the target's one core" and found["runner_up"] is None
    assert "This run gave the target that core" in found["evidence"] and APART in found["evidence"]
    assert found["remedy"].startswith("give the target more cores (--isolate gave it one")
    assert "interpreter" not in found["remedy"] and "affinity" not in found["remedy"]


def test_a_thread_that_fills_the_one_core_that_isolate_gave_may_not_be_the_limit_of_more() -> None:
    busy = {**GO, "busiest_thread_cores_used": 0.93}
    found = limited({"process:prometheus": busy, **host(0.55), **ONE}, kept_apart=APART)
    assert found["where"] == "target process prometheus, its busiest thread"
    assert "which this run gave it (--isolate)" in found["evidence"]
    assert found["remedy"].startswith("give the target a second core (leave --isolate out)")
    assert "more cores alone change nothing" not in found["remedy"]


def test_one_core_of_the_target_s_own_affinity_is_named_as_that() -> None:
    found = limited({"process:prometheus": GO, **host(0.55), **ONE})
    assert found["where"] == "the target's one core" and "its affinity or cpuset" in found["remedy"]


def test_a_process_at_one_core_that_may_use_more_may_have_a_lock_of_its_interpreter() -> None:
    found = limited({"process:app": GO, **host(0.55)})
    assert found["where"] == "target process app" and "interpreter" in found["remedy"]


SENDING: Values = {"sockets:postgres": {"connections_in": 6.0, "connections_sending": 4.0, "listens_on_5432": 1.0}}
CALLER: Values = {
    "sockets:shop": {"connections_in": 90.0, "connections_out": 6.0, "connections_to_127.0.0.1:5432": 6.2}
}


def test_unread_answers_on_loopback_are_no_network_beside_a_full_host() -> None:
    local = {"sockets:postgres": {**SENDING["sockets:postgres"], "connections_sending_local": 4.0}}
    found = limited({**STARVED, **host(1.0), **local, **CALLER})
    assert found["where"] == "host, all cores" and "network" not in str(found)


def test_unread_answers_on_loopback_are_a_slow_reader() -> None:
    local = {"sockets:postgres": {**SENDING["sockets:postgres"], "connections_sending_local": 4.0}}
    found = limited({**host(0.4), **local, **CALLER})
    assert (found["kind"], found["where"]) == ("slow_reader", "shop, which reads the answers of postgres late")
    assert "loopback" in found["evidence"] and "network" not in found["remedy"]


def test_runs_of_before_know_loopback_by_who_calls() -> None:
    found = limited({**host(0.4), **SENDING, **CALLER})
    assert found["kind"] == "slow_reader"


def test_answers_that_another_host_does_not_take_are_still_the_network() -> None:
    away = {"sockets:postgres": {**SENDING["sockets:postgres"], "connections_sending_local": 0.0}}
    assert limited({**host(0.4), **away})["kind"] == "network"
