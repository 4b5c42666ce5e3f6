"""What is to be done about a limit: the same for a capacity and a held load, with its numbers where they are known."""

from __future__ import annotations

from typing import Any

import pytest

from plimsoll.findings.limits.counted import counted_limits
from plimsoll.findings.limits.heap import heap_limits
from plimsoll.findings.limits.next_steps import steps_of
from plimsoll.findings.limits.waiting import group_limits, waiting_limits
from plimsoll.findings.limits.what_stops import errors_limit, limiting_resource

MIB = 2.0**20


def limit(kind: str, remedy: str = "do this", **more: Any) -> dict[str, Any]:
    return {"kind": kind, "where": "there", "utilisation": 1.0, "evidence": "seen", "remedy": remedy, **more}


def test_a_capacity_proves_its_limit_and_a_held_load_is_told_what_to_do() -> None:
    assert steps_of(limit("pool"), verify=True, probed=True) == [
        "Prove the limit by an intervention: do this. Then run it again (--verify)."
    ]
    assert steps_of(limit("pool"), verify=False, probed=True) == ["Do this."]


def test_the_runner_up_is_the_second_step() -> None:
    second = limit("cpu", "do that") | {"where": "over there"}
    steps = steps_of(limit("pool", runner_up=second), verify=False, probed=True)
    assert steps == ["Do this.", "If that changes nothing, look next at over there. Do that."]
    same = limit("pool", runner_up=limit("pool"))
    assert steps_of(same, verify=False, probed=True) == ["Do this."]


@pytest.mark.parametrize("kind", ["errors", "leak", "periodic_job"])
def test_what_no_second_run_with_more_could_prove_is_said_plainly(kind: str) -> None:
    assert steps_of(limit(kind), verify=True, probed=True) == ["Do this."]


def test_nothing_is_said_where_nothing_limits_or_the_generator_does() -> None:
    assert steps_of({"kind": "none", "where": None, "evidence": ""}, verify=True, probed=True) == []
    assert steps_of(limit("generator"), verify=True, probed=True) == []
    behind = limit("pool", runner_up=limit("generator", "another"))
    assert len(steps_of(behind, verify=False, probed=True)) == 1


@pytest.mark.parametrize(("probed", "words"), [(True, "look at what was not probed"), (False, "probe the target's")])
def test_what_is_not_known_is_to_be_seen(probed: bool, words: str) -> None:
    [step] = steps_of({"kind": "unknown", "where": None, "evidence": ""}, verify=False, probed=probed)
    assert words in step


@pytest.mark.parametrize(
    ("source", "values", "words"),
    [
        ("cgroup:app", {"cpu_limit_share": 0.99, "cpu_limit_cores": 0.5}, "from 0.5 to 0.75 cores"),
        ("cgroup:app", {"oom_kills_per_s": 0.1, "memory_limit_bytes": 256 * MIB}, "from 256 to 384 MiB"),
        ("pool:app", {"used_share": 1.0, "used": 9, "limit": 9, "waiting": 4}, "larger, from 9 to 14;"),
        ("pool:app", {"used_share": 1.0, "waiting": 4}, "larger, by half;"),
        ("cgroup:app", {"cpu_limit_share": 0.99, "cpu_limit_cores": 128.0}, "from 128 to 192 cores"),
        ("cgroup:app", {"disk_limit_share": 0.99, "disk_limit_bytes_per_s": 8 * MIB}, "from 8 to 12 MiB/s"),
        (
            "cgroup:app",
            {"memory_high_share": 1.0, "memory_high_hits_per_s": 9.0, "memory_high_bytes": 64 * MIB},
            "memory.high from 64 to 96 MiB",
        ),
        ("postgresql:db", {"connections_share": 0.99}, "raise max_connections of db by half"),
        ("postgresql:db", {"connections_share": 0.99, "connections_max": 25.0}, "max_connections of db from 25 to 38"),
        ("sockets:app", {"accept_queue": 9.0}, "give app more workers"),
    ],
)
def test_remedies_name_the_size_there_is_and_one_to_try(source: str, values: dict[str, float], words: str) -> None:
    here = {source: values}
    found = [*group_limits(here, {}, "now", "before"), *waiting_limits(here, {}, 9, "now", "before")]
    assert words in found[0].remedy, found[0].remedy


@pytest.mark.parametrize(
    ("source", "values", "words"),
    [
        ("cgroup:app", {"processes_share": 1.0, "processes": 40.0, "processes_limit": 40.0}, "tasks from 40 to 60 ("),
        ("process:app", {"open_files_share": 1.0, "open_files_limit": 1024.0}, "open files from 1,024 to 1,536 ("),
        ("process:app", {"heap_share": 0.99, "gc_share": 0.5, "heap_limit_bytes": 256 * MIB}, ", from 256 to 384 MiB,"),
        ("process:app", {"heap_share": 0.99, "gc_share": 0.5}, "heap (-Xmx), within"),
    ],
)
def test_counts_and_heaps_name_a_size_to_try(source: str, values: dict[str, float], words: str) -> None:
    found = [
        *counted_limits({source: values}, {}, "now", "before"),
        *heap_limits({source: values}, {}, "now", "before"),
    ]
    assert words in found[0].remedy, found[0].remedy


def busy_step(values: dict[str, float]) -> dict[str, Any]:
    step = {"level": 10.0, "verdict": "bad", "start_s": 0.0, "end_s": 9.0}
    calm = {"level": 1.0, "verdict": "good", "start_s": 0.0, "end_s": 9.0}
    low = {name: value / 10 for name, value in values.items()}
    return limiting_resource(step, [calm, step], [{"process:app": low}, {"process:app": values}], "users")


def test_a_thread_that_fills_a_core_is_not_told_to_have_more_cores() -> None:
    found = busy_step({"busiest_thread_cores_used": 0.99, "cpu_cores_used": 1.0, "processes": 1.0})
    assert found["where"].endswith("its busiest thread")
    assert "more than one thread or process of app" in found["remedy"]
    assert "do this work: more cores alone change nothing. Or have an operation" in found["remedy"]


def test_processes_that_fill_a_core_each_are_told_to_be_more() -> None:
    found = busy_step({"cpu_cores_used": 3.9, "processes": 4.0})
    assert "more processes of app than 4" in found["remedy"]


@pytest.mark.parametrize(
    ("causes", "words"),
    [
        ({"status 429": 8, "status 500": 2}, "take the rate limit off"),
        ({"status 503": 5}, "look at the target's log"),
        ({}, "look at the target's log"),
    ],
)
def test_failed_requests_are_looked_at_by_their_cause(causes: dict[str, int], words: str) -> None:
    assert errors_limit(0.5, "half failed", {"error_causes": causes})["remedy"].startswith(words)
