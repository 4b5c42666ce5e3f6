"""A peer's CPU is the target's: full cores are named before the pool in front of it, sized for, and not foreign."""

from __future__ import annotations

from typing import Any

import pytest
from capacity_runs import LOADS, run_of, sizing_of

from plimsoll.findings.drain.series import _process_memory
from plimsoll.findings.limits.what_stops import limiting_resource
from plimsoll.findings.resources import are_cores_of_others, means_of_sockets
from plimsoll.findings.validity.foreign_work import foreign_work
from plimsoll.findings.validity.generator import generator_health
from plimsoll.findings.validity.shared_peers import shared_words, with_shared_peers

LOW: dict[str, Any] = {"level": 10, "verdict": "good", "reasons": [], "start_s": 0, "measured_from_s": 1, "end_s": 5}
BAD: dict[str, Any] = {
    "level": 100, "verdict": "bad", "reasons": [], "in_flight_end": 40, "backlog_end": 20,
    "start_s": 6, "measured_from_s": 7, "end_s": 16,
}  # fmt: skip
Values = dict[str, dict[str, float]]
# A small server with a pool of 2 before a cache that does the work, both on one of two cores; the generator has the
# other (Webdis before Redis).
WITHOUT_PEERS: Values = {
    "host": {"cores": 2.0, "cpu_share": 0.62, "cpu_cores_used": 1.24},
    "target_cores": {"usable_cores": 1.0, "cpu_share": 0.99},
    "process:web": {"cpu_cores_used": 0.28, "busiest_thread_cores_used": 0.2, "processes": 1.0, "restarts": 0.0},
    "sockets:web": {
        "connections_in": 60.0, "connections_out": 2.0, "connections_to_127.0.0.1:6379": 2.0,
        "awaiting_127.0.0.1:6379": 1.9, "answered_by_127.0.0.1:6379": 0.1,
    },
}  # fmt: skip
CACHE = {"cpu_cores_used": 0.68, "busiest_thread_cores_used": 0.68, "processes": 1.0, "restarts": 0.0}
PEER: Values = {
    "process:redis-server": CACHE,
    "sockets:redis-server": {"connections_in": 2.0, "listens_on_6379": 1.0, "connections_of_others": 0.0},
}
CALM: Values = {
    "host": {"cores": 2.0, "cpu_share": 0.1, "cpu_cores_used": 0.2},
    "target_cores": {"usable_cores": 1.0, "cpu_share": 0.15},
}


def limited(here: Values) -> dict[str, Any]:
    return limiting_resource(BAD, [LOW, BAD], [CALM, here], "users")


def test_the_full_core_of_target_and_peer_is_named_before_the_pool_between_them() -> None:
    assert limited(WITHOUT_PEERS)["kind"] == "pool"  # what was said while the peer was not known
    found = limited({**WITHOUT_PEERS, **PEER})
    assert (found["kind"], found["where"], found["resource"]) == ("cpu", "the target's one core", "target_cores")
    assert "of it redis-server 0.68, web 0.28" in found["evidence"]
    assert found["runner_up"]["kind"] == "pool"


def test_a_peer_that_may_use_all_cores_is_no_part_of_what_fills_the_target_s_own() -> None:
    free = {"target_cores": {**WITHOUT_PEERS["target_cores"], "free_redis-server": 1.0}}
    here = {**WITHOUT_PEERS, **PEER, **free}
    assert are_cores_of_others(here, within=True) and not are_cores_of_others({**here, **PEER})
    own = {**here, "process:web": {**here["process:web"], "cpu_cores_used": 0.95}}
    found = limited(own)
    assert found["where"] == "the target's one core" and "that web may use" in found["evidence"]
    assert "of it web 0.95." in found["evidence"]


def test_the_work_of_a_peer_is_not_foreign() -> None:
    [foreign] = foreign_work(WITHOUT_PEERS, 0.2)
    assert foreign.cores == pytest.approx(1.24 - 0.28 - 0.2)
    assert foreign_work({**WITHOUT_PEERS, **PEER}, 0.2) == []


def test_sizing_counts_all_processes_and_tells_them_apart() -> None:
    found = sizing_of(*run_of(LOADS, thread=False), expected_level=500)
    each = {one["label"]: one["cores_by_times"]["1"] for one in found["sizing"]["processes"]}
    assert len(each) == 2
    assert sum(each.values()) == pytest.approx(found["sizing"]["sizes"][0]["hosts"][0]["cpu"]["used"], rel=0.1)
    assert all(f"{label} 0." in found["answer"].partition("recommended")[0] for label in each)


def test_a_process_that_came_late_and_did_next_to_nothing_takes_no_points_from_the_others() -> None:
    main, run = run_of(LOADS, thread=False)
    late = max(row["second"] for row in run.rows) - 3
    for second, cores in ((late, 0.002), (late + 1, 0.001)):
        run.rows.append({"second": second, "source": "process:logger", "values": {"cpu_cores_used": cores}})
    found = sizing_of(main, run, expected_level=500)
    assert "logger" not in found["answer"] and found["sizing"]["sizes"][0]["hosts"][0]["cpu"]["interval"] is not None


def test_a_peer_that_works_for_others_is_told_with_how_many() -> None:
    shared = {"sockets:db": {"connections_of_others": 2.4}, "sockets:cache": {"connections_of_others": 0.2}}
    [note] = shared_words([{}, shared])
    assert note.startswith("db works for others as well: 2.4 connections beside the target's")

    class Run:
        def resources(self) -> list[dict[str, Any]]:
            return [{"second": 8, "source": "sockets:db", "values": {"connections_of_others": 1.0}}]

    both, low = {"steps": [LOW, BAD]}, {"steps": [LOW]}
    assert "1 connection beside" in with_shared_peers(both, means_of_sockets(both, Run()))["notes"][0]
    assert "notes" not in with_shared_peers(low, means_of_sockets(low, Run()))


@pytest.mark.parametrize(
    ("kept_apart", "healthy"), [("affinity: target on CPU 0, generator on CPU 1", True), (None, False)]
)
def test_a_full_host_is_no_competition_where_each_has_cores_of_its_own(kept_apart: str | None, healthy: bool) -> None:
    host = {"host": {"cores": 2.0, "cpu_share": 0.95, "cpu_cores_used": 1.9}, "process:web": {"cpu_cores_used": 1.0}}
    step = {**BAD, "generator_cores": 0.85, "generator_share": 0.85, "lag_p99_ms": 0.1, "p50_ms": 50.0, "p99_ms": 90.0}
    health = generator_health([step], [host], kept_apart=kept_apart, unit="users")
    assert health["healthy"] is healthy
    assert ("were not kept apart" in health["words"]) is not healthy


def test_memory_of_a_drain_does_not_grow_because_a_process_was_found_later() -> None:
    class Run:
        def resources(self) -> list[dict[str, Any]]:
            first = {"process:app": 0, "process:db": 4, "process:late": 60}
            return [
                {"second": second, "source": source, "values": {"rss_bytes": 100.0}}
                for second in range(100)
                for source, since in first.items()
                if second >= since
            ]

    seconds, sizes = _process_memory(Run())  # type: ignore[misc]
    assert (seconds[0], seconds[-1]) == (4, 99) and set(sizes) == {200.0}


def test_a_full_core_of_some_processes_is_named_where_others_have_cores_of_their_own() -> None:
    bound = {"core_0_of_web": 1.0, "core_1_of_redis-server": 1.0, "usable_cores": 2.0, "cpu_share": 0.6}
    host = {"cores": 8.0, "cpu_share": 0.2, "cpu_cores_used": 1.6, "core_0_share": 0.22, "core_1_share": 0.98}
    several = {**CACHE, "processes": 4.0, "busiest_thread_cores_used": 0.3, "cpu_cores_used": 0.95}
    here = {**WITHOUT_PEERS, **PEER, "target_cores": bound, "host": host, "process:redis-server": several}
    found = limited(here)
    assert (found["kind"], found["where"]) == ("cpu", "the one core of redis-server") and "resource" not in found
    assert "98% busy" in found["evidence"] and "of it redis-server 0.95" in found["evidence"]
    of_others = {**here, "process:redis-server": {**several, "cpu_cores_used": 0.1}}
    assert limited(of_others)["kind"] == "pool"
