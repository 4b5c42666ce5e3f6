"""Tasks, open files, a Java heap and memory.high as the limit: named where they stopped it, and only there."""

from __future__ import annotations

from typing import Any

import pytest

from plimsoll.findings.capacity.words import next_steps, what_stops_it
from plimsoll.findings.hold.limits import hold_limit
from plimsoll.findings.limits.what_stops import limiting_resource

LOW: dict[str, Any] = {"level": 10, "verdict": "good", "reasons": []}
BAD: dict[str, Any] = {"level": 100, "verdict": "bad", "reasons": [], "in_flight_end": 60, "backlog_end": 40}
FAILING = {"reasons": ["40.0% of the requests failed"], "error_share": 0.4}
Values = dict[str, float]


def limited(here: dict[str, Values], low: dict[str, Values], **bad: Any) -> dict[str, Any]:
    idle = {"host": {"cpu_share": 0.3}, "process:app": {"cpu_cores_used": 0.2, "processes": 1}}
    step = {**BAD, **bad}
    return limiting_resource(step, [LOW, step], [{**idle, **low}, {**idle, **here}], "users")


def held(here: dict[str, Values], *, fails: bool) -> dict[str, Any]:
    """Of a load that was kept up with."""
    step = {"level": 50, "planned_per_s": 50.0, "done_per_s": 49.9, "start_s": 0, "measured_from_s": 2, "end_s": 42}
    answer = {"question": "Do requests fail in bursts?", "answer": "No bursts: 8% fail.", "trouble": "8% fail"}
    return hold_limit(step, {**step, "level": 1}, [here, {}], [answer] if fails else [], "users")


REFUSING = {"processes": 99.0, "processes_limit": 100.0, "processes_share": 0.99, "processes_refused_per_s": 4.0}
FEW = {"processes": 20.0, "processes_limit": 100.0, "processes_share": 0.2, "processes_refused_per_s": 0.0}


def test_tasks_that_were_refused_are_the_limit() -> None:
    found = limited({"cgroup:app": REFUSING}, {"cgroup:app": FEW})
    assert (found["kind"], found["where"]) == ("tasks_limit", "tasks limit of app")
    assert (
        "99 of the 100 tasks" in found["evidence"]
        and "4 more a second were refused; 20 at 10 users" in found["evidence"]
    )
    assert "TasksMax" in found["remedy"]
    assert what_stops_it(found, 100) == ["What stops it: the tasks limit of app."]


@pytest.mark.parametrize(
    ("here", "low"),
    [
        ({**REFUSING, "processes_refused_per_s": 0.0}, FEW),  # full, as it was made to be: nothing more was wanted
        (REFUSING, REFUSING),  # refused whatever the load
        ({**FEW, "processes": 50.0, "processes_share": 0.5}, FEW),
    ],
)
def test_tasks_that_are_there_and_not_refused_are_no_limit(here: Values, low: Values) -> None:
    assert limited({"cgroup:app": here}, {"cgroup:app": low})["kind"] == "unknown"


def test_where_refusals_are_not_counted_a_group_that_filled_is_the_limit() -> None:
    def uncounted(values: Values) -> Values:
        return {name: value for name, value in values.items() if "refused" not in name}

    found = limited({"cgroup:app": uncounted(REFUSING)}, {"cgroup:app": uncounted(FEW)})
    assert found["kind"] == "tasks_limit" and "refused" not in found["evidence"]


OPEN = {
    "cpu_cores_used": 0.2,
    "processes": 3.0,
    "open_files": 1300.0,
    "open_files_limit": 1024.0,
    "open_files_share": 0.99,
}
CLOSED = {**OPEN, "open_files": 300.0, "open_files_share": 0.2}
OF_A_PAGE = {"open_files": 1020.0, "open_files_limit": 1024.0}


@pytest.mark.parametrize(
    ("here", "low", "quiet"),
    [(OPEN, CLOSED, "; 205 at 10 users"), (OF_A_PAGE, {**OF_A_PAGE, "open_files": 80.0}, "; 80 at 10 users")],
)
def test_open_files_at_their_limit_are_named(here: Values, low: Values, quiet: str) -> None:
    found = limited({"process:app": here}, {"process:app": low})
    assert (found["kind"], found["where"]) == ("open_files_limit", "open files of app")
    assert "of the 1,024 files, connections included" in found["evidence"] and quiet in found["evidence"]
    assert "LimitNOFILE" in found["remedy"]


def test_open_files_below_their_limit_or_as_many_at_low_load_are_not_named() -> None:
    assert limited({"process:app": {**OPEN, "open_files_share": 0.7}}, {"process:app": CLOSED})["kind"] == "unknown"
    assert limited({"process:app": OPEN}, {"process:app": OPEN})["kind"] == "unknown"
    many = {**OPEN, "open_files": 2000.0, "open_files_share": 0.4}  # of several processes together
    assert limited({"process:app": many}, {"process:app": CLOSED})["kind"] == "unknown"


@pytest.mark.parametrize(
    ("here", "kind"), [({"cgroup:app": REFUSING}, "tasks_limit"), ({"process:app": OPEN}, "open_files_limit")]
)
def test_what_is_refused_comes_before_the_errors_that_it_causes(here: dict[str, Values], kind: str) -> None:
    found = limited(here, {"cgroup:app": FEW, "process:app": CLOSED}, **FAILING)
    assert found["kind"] == kind and found["runner_up"]["kind"] == "errors"
    assert limited({"cgroup:app": FEW, "process:app": CLOSED}, {}, **FAILING)["kind"] == "errors"
    of_hold = held(here, fails=True)
    assert of_hold["kind"] == kind and of_hold["runner_up"]["kind"] == "errors"
    assert held(here, fails=False)["kind"] == "none"


def java(heap: float, collecting: float) -> Values:
    used = {"cpu_cores_used": 1.95, "processes": 2.0, "busiest_thread_cores_used": 0.6}
    return {**used, "heap_share": heap, "gc_share": collecting, "heap_limit_bytes": 512 * 2.0**20}


def test_a_heap_that_is_full_and_collected_all_the_time_comes_before_the_cpu_that_this_uses() -> None:
    calm = {**java(0.5, 0.02), "cpu_cores_used": 0.3, "busiest_thread_cores_used": 0.1}
    for host in (0.3, 0.99):
        found = limited({"process:app": java(0.96, 0.6), "host": {"cpu_share": host}}, {"process:app": calm})
        assert (found["kind"], found["where"], found["runner_up"]["kind"]) == (
            "memory_limit",
            "heap limit of app",
            "cpu",
        )
        assert "Its heap of 512 MiB was 96% full" in found["evidence"] and "60% of the time" in found["evidence"]
        assert "50% and 2% at 10 users" in found["evidence"] and "-Xmx" in found["remedy"]


def test_a_full_heap_comes_before_the_quota_of_its_process_and_not_before_the_cpu_of_one_that_calls_others() -> None:
    thread = {"cpu_cores_used": 1.0, "processes": 1.0, "busiest_thread_cores_used": 0.99}
    quiet = {"cpu_cores_used": 0.1, "processes": 1.0, "busiest_thread_cores_used": 0.1}
    found = limited(
        {"process:app": java(0.96, 0.6), "process:app2": thread, "sockets:app2": {"connections_out": 5.0}},
        {"process:app": java(0.5, 0.02), "process:app2": quiet},
    )
    assert found["where"] == "target process app2, its busiest thread"
    quota = {"cgroup:app": {"cpu_limit_share": 0.99, "cpu_limit_cores": 2.0, "cpu_throttled_periods_share": 0.9}}
    assert limited({"process:app": java(0.96, 0.6), **quota}, {})["where"] == "heap limit of app"


@pytest.mark.parametrize(
    ("heap", "collecting"),
    [(0.6, 0.6), (0.97, 0.1)],  # collections that give room; a heap that is merely full
)
def test_a_heap_that_is_not_both_full_and_collected_leaves_the_cpu_its_name(heap: float, collecting: float) -> None:
    calm = {**java(0.5, 0.02), "cpu_cores_used": 0.3, "busiest_thread_cores_used": 0.1}
    found = limited({"process:app": java(heap, collecting)}, {"process:app": calm})
    assert found["kind"] == "cpu"


def test_a_heap_that_is_collected_as_much_at_low_load_is_not_what_this_load_fills() -> None:
    quiet = {"cpu_cores_used": 0.3, "busiest_thread_cores_used": 0.1, "processes": 1.0}
    low, here = ({**java(0.95, share), **quiet} for share in (0.4, 0.5))
    assert limited({"process:app": here}, {"process:app": low})["kind"] == "unknown"


HIGH = {
    "memory_high_bytes": 256 * 2.0**20, "memory_high_share": 0.99, "memory_high_hits_per_s": 120.0,
    "memory_pressure_share": 0.45,
}  # fmt: skip


def test_a_group_that_is_held_up_at_memory_high_is_named() -> None:
    found = limited({"cgroup:app": HIGH}, {"cgroup:app": {**HIGH, "memory_pressure_share": 0.01}})
    assert (found["kind"], found["where"]) == ("memory_limit", "memory.high of app")
    assert "99% of 256 MiB (memory.high)" in found["evidence"] and "120 times a second" in found["evidence"]
    assert "waited for memory in 45% of the time, 1% at 10 users" in found["evidence"]
    assert "MemoryHigh=" in found["remedy"]
    finding = {"limited_by": found, "generator": {"remedies": []}, "objectives": [], "steps": []}
    result = {"status": "finished", "steps": [], "good": 90, "bad": 100, "width_goal": 0.5, "unit": "users"}
    assert "raise memory.high" in " ".join(next_steps(result, finding))


@pytest.mark.parametrize(
    ("changed", "calm"),
    [
        ({"memory_high_hits_per_s": 0.0}, 0.01),
        ({"memory_high_share": 0.6}, 0.01),  # pages of files, which are given back at no cost
        ({"memory_pressure_share": 0.02}, 0.01),  # it lives there, and nothing waits
        ({}, 0.40),  # as much at low load
    ],
)
def test_a_group_that_is_not_held_up_more_than_at_low_load_is_not_named(changed: Values, calm: float) -> None:
    here = {"cgroup:app": {**HIGH, **changed}}
    assert limited(here, {"cgroup:app": {**HIGH, "memory_pressure_share": calm}})["kind"] == "unknown"
