"""What the generator says of itself, from planted facts."""

from __future__ import annotations

from typing import Any

import pytest
from findings_as_json import checked

from plimsoll.findings.run import run_finding, run_finding_of
from plimsoll.findings.validity.self_diagnosis import DELAYING, Diagnosis, diagnose, lasting
from plimsoll.runs.readings.generator_seconds import GeneratorSeconds
from plimsoll.runs.snapshot import Series, Snapshot

SECONDS = 10
HEALTHY_ENGINE = {
    "cpu_s": 0.3, "lag_p50_ms": 0.05, "lag_p99_ms": 0.4, "lag_max_ms": 0.6, "threads": 1, "rss_bytes": 50 << 20,
    "open_files": 120, "busiest_thread_share": 0.3, "waiting_share": 0.01, "stalled_share": 0.0, "longest_turn_ms": 0.9,
    "script_timed": 100, "script_mean_ms": 0.05, "script_p99_ms": 0.2, "script_max_ms": 0.4,
    "refused_files": 0, "refused_ports": 0,
}  # fmt: skip
HEALTHY_MACHINE = {
    "usable_cores": 4.0, "local_ports": 28_232.0, "host_busy_share": 0.2, "host_steal_share": 0.0,
    "throttled_share": 0.0, "time_wait": 30.0, "tcp_in_use": 200.0, "open_files_limit": 20_000.0,
    "memory_free_bytes": float(8 << 30), "memory_bytes": float(16 << 30),
}  # fmt: skip
BUCKET_OF_20_MS = 0x4034 << 6


def facts(engine: dict[str, Any] | None = None, machine: dict[str, Any] | None = None, **of: Any) -> GeneratorSeconds:
    """A run of SECONDS seconds with 20 ms responses; `seconds` limits the trouble to the first ones."""
    troubled = of.get("seconds", SECONDS)
    response = Series("http_req_response_time", "trend", {}, 50, 1000.0, 20.0, 20.0, ((BUCKET_OF_20_MS, 50),))
    found = GeneratorSeconds()
    for second in range(SECONDS):
        trouble = second < troubled
        generator = HEALTHY_ENGINE | (engine or {} if trouble else {})
        found.add(Snapshot(second, vus_max=of.get("vus", 50), series=(response,), generator=generator))
        values = HEALTHY_MACHINE | (machine or {} if trouble else {})
        found.add_row({"second": second, "source": "generator", "values": values})
        found.add_row({"second": second, "source": "host", "values": {"host_steal_share": 1.0}})
    return found


def names(found: list[Diagnosis]) -> list[str]:
    return [one.name for one in found]


def test_a_healthy_run_says_nothing() -> None:
    assert diagnose(facts()) == []
    finding = checked(run_finding(facts()))
    assert finding["valid"] and finding["generator"]["healthy"] and not finding["next"]
    assert finding["answer"] == "No: its busiest thread was at most 30% busy in a second and it was 0.4 ms late at p99."


@pytest.mark.parametrize(("waited", "ran", "others"), [(0.08, 0.01, True), (0.08, 0.3, False), (0.01, 0.005, False)])
def test_lateness_is_others_doing_where_it_waited_longer_for_a_core_than_it_ran(
    waited: float, ran: float, others: bool
) -> None:
    engine = {"lag_p99_ms": 16.0, "waiting_share": waited, "busiest_thread_share": ran}
    [found] = [one for one in diagnose(facts(engine)) if one.name == "lag"]
    assert ("Other work on this machine had the core that it wanted for 8% of the time." in found.words) is others


def test_lateness_on_a_full_machine_tells_how_little_of_it_was_the_generators() -> None:
    engine = {"lag_p99_ms": 16.0, "cpu_s": 0.04}
    [found] = [one for one in diagnose(facts(engine, {"host_busy_share": 1.0})) if one.name == "lag"]
    assert "were 100% busy, 1% of them by the generator. The target, if it runs here, and other work" in found.words
    [found] = [one for one in diagnose(facts(engine | {"cpu_s": 3.0}, {"host_busy_share": 1.0})) if one.name == "lag"]
    assert "other work" not in found.words


SLOW_SCRIPT = {"stalled_share": 0.4, "longest_turn_ms": 55.0, "script_mean_ms": 50.3, "script_p99_ms": 52.0}
LATE = {"lag_p99_ms": 16.0}


@pytest.mark.parametrize(
    ("engine", "machine", "name", "words", "remedy"),
    [
        ({"refused_files": 12, "open_files": 20_000}, {}, "files", ["120 connections", "20,000 are"], "ulimit -n"),
        ({"refused_ports": 3}, {"time_wait": 28_000}, "ports", ["30 connections", "28,000 in TIME_WAIT"], "port_range"),
        ({}, {"throttled_share": 0.45, "quota_cores": 0.5}, "quota", ["0.5 cores", "45%"], "CPU quota"),
        (LATE, {"host_steal_share": 0.3}, "steal", ["30%", "16 ms"], "quieter host"),
        ({"waiting_share": 0.5}, {}, "waiting", ["50% of the time", "in 10 of 10 s"], "taskset"),
        ({"busiest_thread_share": 0.97}, {}, "thread", ["97% busy", "only thread"], "--threads 4"),
        ({"busiest_thread_share": 0.97}, {"usable_cores": 1}, "thread", ["97% busy"], "executionSegment"),
        ({"busiest_thread_share": 0.97, "threads": 3}, {}, "thread", ["3 threads"], "--threads 4"),
        (SLOW_SCRIPT, {}, "stall", ["55 ms at a time", "50.3 ms in the mean", "52 ms at p99"], "SharedArray"),
        ({"stalled_share": 0.2, "longest_turn_ms": 30.0}, {}, "stall", ["handshakes", "30 ms"], "--threads 4"),
        (LATE, {}, "lag", ["0.05 ms at the median and 16 ms at p99", "20 ms and 20 ms"], "cores of its own"),
        (LATE | {"lag_p50_ms": 2.5, "lag_p99_ms": 3.0}, {}, "lag", ["2.5 ms at the median"], "cores of its own"),
        ({"denied_vus": 49}, {}, "vus", ["49 of the VUs", "never ran"], "ulimit -n"),
    ],
)  # fmt: skip
def test_each_trouble_is_one_sentence_with_its_numbers_and_remedy(
    engine: dict[str, Any], machine: dict[str, Any], name: str, words: list[str], remedy: str
) -> None:
    found = diagnose(facts(engine, machine))
    assert names(found) == [name] and found[0].spoils
    assert all(part in found[0].words for part in words), found[0].words
    assert remedy in found[0].remedy
    finding = checked(run_finding(facts(engine, machine)))
    assert finding["valid"] is (name in DELAYING) and finding["next"] == [found[0].remedy]
    if name in DELAYING:
        assert finding["answer"].startswith("It did not limit the load, but delayed it")
        assert finding["notes"] == [found[0].words] and finding["invalid_because"] == []
    else:
        assert finding["invalid_because"] == [found[0].words] and finding["answer"].startswith("Yes")


@pytest.mark.parametrize(
    ("engine", "machine", "name"),
    [
        ({"open_files": 19_000}, {}, "files"),
        ({}, {"memory_free_bytes": 100 << 20}, "memory"),
        ({}, {"host_busy_share": 0.99, "usable_cores": 2.0}, "others"),
    ],
)
def test_a_limit_that_only_came_near_is_said_and_spoils_nothing(
    engine: dict[str, Any], machine: dict[str, Any], name: str
) -> None:
    finding = checked(run_finding(facts(engine, machine)))
    assert [one["name"] for one in finding["diagnoses"]] == [name] and finding["valid"]
    assert finding["answer"].startswith("No: ") and finding["notes"] == [finding["diagnoses"][0]["words"]]
    assert finding["answer"].endswith(finding["notes"][0]) and finding["next"]


def test_ports_are_counted_to_the_busiest_destination() -> None:
    near = diagnose(facts(), ("10.0.0.1:80", 27_000))
    assert names(near) == ["ports"] and "27,000 of 28,232 held to 10.0.0.1:80" in near[0].words and not near[0].spoils
    assert diagnose(facts(), ("10.0.0.1:80", 9_000)) == []
    failed = diagnose(facts({"refused_ports": 1}), ("10.0.0.1:80", 28_232))
    assert failed[0].spoils and "28,232 of 28,232 held" in failed[0].words


@pytest.mark.parametrize(
    ("engine", "machine"),
    [({"busiest_thread_share": 0.97}, {}), ({"waiting_share": 0.5}, {}), (SLOW_SCRIPT, {}),
     ({}, {"throttled_share": 0.4}), (LATE, {"host_steal_share": 0.3})],
)  # fmt: skip
def test_a_hiccup_of_one_second_is_no_trouble(engine: dict[str, Any], machine: dict[str, Any]) -> None:
    assert diagnose(facts(engine, machine, seconds=1)) == []


def test_what_follows_from_a_trouble_is_not_told_as_another() -> None:
    assert names(diagnose(facts({"waiting_share": 0.5, **LATE, "stalled_share": 0.4, "longest_turn_ms": 30.0}))) == [
        "waiting"
    ]
    throttled = {"throttled_share": 0.5}
    assert names(diagnose(facts({"waiting_share": 0.5, **LATE}, throttled))) == ["quota"]
    assert names(diagnose(facts(SLOW_SCRIPT | LATE))) == ["stall"]
    flood = {"refused_files": 9, "busiest_thread_share": 0.99, "stalled_share": 0.9, "longest_turn_ms": 40.0}
    assert names(diagnose(facts(flood | LATE, {"host_steal_share": 0.3}))) == ["files"]
    assert names(diagnose(facts({}, {"host_steal_share": 0.3}))) == []  # taken from others: the generator was in time


def test_a_slow_script_that_no_other_vu_waits_for_spoils_nothing() -> None:
    assert diagnose(facts(SLOW_SCRIPT, vus=1)) == []
    assert diagnose(facts(SLOW_SCRIPT | {"longest_turn_ms": 1.5})) == []  # under a tenth of the median response


def test_lasting_needs_two_seconds_and_a_tenth_of_them() -> None:
    assert lasting([], 1) is None and lasting([0.0, 2.0, 0.0], 1) is None
    assert lasting([2.0], 1) and lasting([2.0, 2.0, 0.0], 1)
    assert lasting([2.0, 2.0] + [0.0] * 30, 1) is None
    found = lasting([2.0, 4.0, 0.0], 1)
    assert found is not None and found.words() == "in 2 of 3 s" and found.mean == 3.0


def test_what_an_older_run_does_not_know_is_not_judged() -> None:
    older = GeneratorSeconds()
    older.add(Snapshot(0, generator={"cpu_s": 0.2, "lag_p99_ms": 0.3, "threads": 1}))
    finding = checked(run_finding(older))
    assert finding["valid"] and finding["generator"]["waiting_share"] is None
    assert run_finding_of([], [], status="interrupted", run_path="runs/x") is None
