"""A label is any name: no rule reads it back out of a sentence, and an @ in it is no host."""

from __future__ import annotations

from typing import Any

import pytest

from plimsoll.findings.capacity.run_resources import resources_of
from plimsoll.findings.limits.what_stops import limiting_resource
from plimsoll.findings.resources import host_of, processes, target_cores

LOW: dict[str, Any] = {"level": 10, "verdict": "good", "reasons": []}
BAD: dict[str, Any] = {"level": 100, "verdict": "bad", "reasons": [], "in_flight_end": 60, "backlog_end": 40}
AWKWARD = pytest.mark.parametrize("label", ["web, blue", "app to db", "celery@web", "heap limit of x", "locks of y"])
LOCAL = {"restarts": 0.0, "processes": 1.0}  # what the process probe of this host always tells


def limited(here: dict[str, dict[str, float]], low: dict[str, dict[str, float]] | None = None) -> dict[str, Any]:
    return limiting_resource(BAD, [LOW, BAD], [{"host": {"cpu_share": 0.1}, **(low or {})}, here], "users")


def test_a_process_of_this_host_with_an_at_in_its_label_is_of_this_host() -> None:
    means = {"process:celery@web": {"cpu_cores_used": 0.4, **LOCAL}, "process:postgres@db1": {"cpu_cores_used": 3.0}}
    assert {label: host_of(label, values) for label, values in processes(means).items()} == {
        "celery@web": "", "postgres@db1": "db1",
    }  # fmt: skip
    assert target_cores(means) == 0.4


def test_its_cpu_is_a_part_of_this_host_s_cores() -> None:
    steps = [
        {
            "level": level, "done_per_s": level / 10, "verdict": "good", "measured_from_s": 0.0, "end_s": 10.0,
            "error_share": 0.0, "generator_cores": 0.2,
        }
        for level in (100.0, 300.0, 500.0)
    ]  # fmt: skip
    means = [
        {
            "host": {"cores": 2.0, "cpu_share": level / 600, "cpu_cores_used": level / 300},
            "process:celery@web": {"cpu_cores_used": level / 400, **LOCAL},
        }
        for level in (100.0, 300.0, 500.0)
    ]
    found = {one.name: one for one in resources_of(steps, means, same_host=True, kept_apart=False)}
    assert "celery@web" in found["cpu"].parts


@AWKWARD
def test_a_process_that_calls_a_database_comes_before_its_statement_whatever_its_label(label: str) -> None:
    here = {
        f"process:{label}": {"cpu_cores_used": 0.99, "busiest_thread_cores_used": 0.98, **LOCAL},
        f"sockets:{label}": {"connections_out": 4.0},
    }
    found = limited(here)
    assert (found["where"], found["resource"]) == (f"target process {label}, its busiest thread", label)


@AWKWARD
def test_the_queue_before_a_full_pool_is_known_by_its_process(label: str) -> None:
    here = {
        f"sockets:{label}": {"connections_to_10.0.0.2:5432": 4.0},
        f"waits:{label}": {"threads_seen": 60.0, "threads_on_locks": 58.0},
    }
    found = limited(here)
    assert found["kind"] == "pool" and found["runner_up"] is None


@AWKWARD
def test_a_full_heap_is_the_better_name_for_the_cpu_of_its_process(label: str) -> None:
    here = {
        f"process:{label}": {
            "cpu_cores_used": 0.99, "busiest_thread_cores_used": 0.99, "heap_share": 0.9, "gc_share": 0.6, **LOCAL,
        },
    }  # fmt: skip
    found = limited(here)
    assert found["kind"] == "memory_limit" and found["runner_up"]["kind"] == "cpu"
