"""Validity belongs to a conclusion: what the generator limited is no capacity, what it did not limit is not void."""

from __future__ import annotations

from typing import Any

import pytest
from capacity_steps import step
from findings_as_json import checked

from plimsoll.findings.capacity.finding import capacity_findings
from plimsoll.findings.exit_codes import exit_code
from plimsoll.findings.run import run_finding
from plimsoll.findings.validity.foreign_work import foreign_work
from plimsoll.findings.validity.generator import generator_health, not_alone
from plimsoll.findings.validity.self_diagnosis import diagnose
from plimsoll.findings.validity.validity import ALL, conclusions, objectives_within, of_time
from plimsoll.runs.readings.generator_seconds import GeneratorSeconds
from plimsoll.runs.snapshot import Series, Snapshot

HOST = {"cores": 2.0, "cpu_share": 1.0, "cpu_steal_share": 0.0}
SHOP = {"cpu_cores_used": 0.5, "busiest_thread_cores_used": 0.45}
POSTGRES = {"cpu_cores_used": 0.25, "busiest_thread_cores_used": 0.2}


def search(*steps: dict[str, Any], good: float, bad: float) -> dict[str, Any]:
    """The capacity finding of these steps, without probes."""
    facts = {
        "unit": "users", "open": True, "status": "finished", "reason": "", "good": good, "bad": bad,
        "width": (bad - good) / bad, "width_goal": 0.1, "step_s": 10.0, "max_level": None, "min_level": None,
        "estimate": None, "estimate_sd": None, "rate_per_level_s": 1.0, "rate_arrivals": None, "load_s": 20.0,
        "steps": list(steps),
    }  # fmt: skip
    [finding] = checked(capacity_findings(facts, None))
    return finding


def test_a_millisecond_of_lag_does_not_void_a_limit_of_refusals() -> None:
    """Seen: a server of 50/s that answers 429 beyond, lag 1.0 ms beside 5 ms, exit code 3."""
    refused = {"reasons": ["29.0% of the requests failed."], "error_share": 0.29, "error_causes": {"429": 29}}
    late = {"lag_p99_ms": 1.3}
    found = search(step(48, "good", **late), step(52, "bad", **late, **refused), good=48, bad=52)
    assert found["valid"] and exit_code(found) == 0 and found["invalid_because"] == []
    assert found["limited_by"]["kind"] == "errors" and "not a capacity" not in found["answer"]
    at_p99 = next(one for one in found["validity"] if one.get("quantile") == 0.99)
    assert (at_p99["verdict"], at_p99["error"], at_p99["error_unit"]) == ("within", 1.3, "ms")
    assert at_p99["words"] == "response times at p99: valid within ± 1.3 ms"


@pytest.mark.parametrize(("share", "valid"), [(0.05, True), (0.97, False)])
def test_only_what_could_have_sent_no_more_voids_the_level_that_was_not_carried(share: float, valid: bool) -> None:
    full = {"generator_share": share}
    assert search(step(100, "good"), step(110, "bad", **full), good=100, bad=110)["valid"] is valid
    assert search(step(100, "good", **full), step(110, "bad"), good=100, bad=110)["valid"]


def test_refusals_stay_valid_beside_a_full_generator_and_failures_of_its_own_do_not() -> None:
    refused = step(52, "bad", reasons=["29.0% of the requests failed."], error_share=0.29, generator_share=0.97)
    assert search(step(48, "good"), refused, good=48, bad=52)["valid"]
    seconds = lived([{"refused_ports": 3}] * 10)
    assert not generator_health([refused], [{}], [seconds])["healthy"]


def lived(engine: list[dict[str, Any]], planned: int = 50, **more: Any) -> GeneratorSeconds:
    """Seconds of the engine, each as a healthy one but for what is given."""
    found = GeneratorSeconds()
    healthy = {
        "cpu_s": 0.1, "lag_p50_ms": 0.03, "lag_p99_ms": 1.0, "lag_max_ms": 2.0, "longest_turn_ms": 0.4,
        "busiest_thread_share": 0.1, "waiting_share": 0.01, "stalled_share": 0.0, "threads": 1,
    }  # fmt: skip
    times = Series("http_req_duration", "trend", {}, 50, 500.0, 9.0, 12.0, ((0x4024 << 6, 50),))
    for second, told in enumerate(engine):
        sent = 0 if told.get("longest_turn_ms") == 0 else planned
        found.add(
            Snapshot(second, planned=sent, started=sent, vus_max=50, series=(times,), generator=healthy | told, **more)
        )
    return found


SILENT = {"lag_p99_ms": 0.0, "lag_max_ms": 0.0, "longest_turn_ms": 0.0, "cpu_s": 0.0001}


def stopped(for_s: int, at: int = 5, of: int = 15) -> list[dict[str, Any]]:
    """As the engine wrote it under SIGSTOP for that long: a late timer, then empty seconds, told at once."""
    engine: list[dict[str, Any]] = [{} for _ in range(of)]
    engine[at] = {"lag_max_ms": 1000.0 * for_s - 3, "lag_p99_ms": 1000.0 * for_s - 3, "cpu_s": 0.01}
    for second in range(at + 1, at + for_s):
        engine[second] = dict(SILENT)
    return engine


def test_a_stopped_generator_is_never_acquitted() -> None:
    """Seen: SIGSTOP for 5 s of 15, "Did the generator limit this run? No", as medians over the seconds miss it."""
    finding = checked(run_finding(lived(stopped(5))))
    assert not finding["valid"] and finding["answer"].startswith("Yes")
    assert "The generator stood still for 5 s from second 5" in finding["answer"]
    assert [one["name"] for one in finding["diagnoses"]] == ["stood_still"]
    assert finding["next"] and "docker pause" in finding["next"][0]
    health = generator_health([step(100, "good")], [{}], [lived(stopped(5))])
    assert not health["healthy"] and "stood still for 5 s" in health["reasons"][0] and health["limits"]
    assert health["stood_still_s"] == pytest.approx(5.0, abs=0.01)


def test_a_short_stop_in_a_long_run_is_told_and_takes_away_the_percentile_that_it_reaches() -> None:
    finding = checked(run_finding(lived(stopped(1, of=60))))
    assert finding["valid"] and finding["answer"].startswith("For 1 of 60 s it stood still")
    times = {one["quantile"]: one["verdict"] for one in finding["validity"] if one["rests_on"] == "response_time"}
    assert times[0.99] == "invalid" and times[0.5] != "invalid"
    health = generator_health([step(100, "good")], [{}], [lived(stopped(1, of=60))])
    assert health["healthy"] and "stood still for 1 s from second 5" in health["notes"][0]


def test_a_script_that_computes_is_no_standstill() -> None:
    busy = [{"lag_max_ms": 900.0, "longest_turn_ms": 900.0, "cpu_s": 0.95, "busiest_thread_share": 0.95}] * 10
    assert "stood_still" not in [one.name for one in diagnose(lived(busy))]


@pytest.mark.parametrize(
    ("second", "words"),
    [({"waiting_share": 0.95}, "other work kept it from every processor"), ({}, "its process was stopped")],
)
def test_the_cause_of_a_standstill_is_told(second: dict[str, Any], words: str) -> None:
    engine = stopped(3)
    engine[5] |= second
    assert words in diagnose(lived(engine))[0].words


def test_a_starved_generator_could_not_have_sent_more_and_one_that_waits_but_rests_could() -> None:
    starved = [{"busiest_thread_share": 0.4, "waiting_share": 0.55}] * 10
    [found] = diagnose(lived(starved))
    assert found.name == "starved" and found.limits and "had work for 95% of the time" in found.words
    [found] = diagnose(lived([{"busiest_thread_share": 0.2, "waiting_share": 0.4}] * 10))
    assert found.name == "waiting" and not found.limits


def test_a_clock_that_jumps_and_a_machine_that_slept_are_told() -> None:
    facts = lived([{}] * 10)
    facts.add_row({"second": 5, "source": "generator", "values": {"clock_jump_s": 5.0}})
    [found] = diagnose(facts)
    assert found.name == "clock" and "jumped by +5 s" in found.words and not found.spoils
    facts = lived([{}] * 10)
    facts.add_row({"second": 5, "source": "generator", "values": {"suspended_s": 5.0}})
    [found] = diagnose(facts)
    assert found.name == "stood_still" and "the machine slept" in found.words and found.limits


def block(**host: float) -> dict[str, dict[str, float]]:
    return {"host": HOST | host, "process:shop": dict(SHOP), "process:postgres": dict(POSTGRES)}


def test_work_of_others_on_a_full_host_is_named_and_voids_what_it_took() -> None:
    """Seen: host 2.0 of 2 cores, shop 0.5, postgres 0.25, generator 0.1, in the deciding step, and `valid: true`."""
    deciding = step(592, "bad", generator_cores=0.14)
    health = generator_health([deciding], [block()], unit="users")
    assert not health["healthy"] and health["foreign_cores"] == pytest.approx(1.11)
    assert (
        "other processes used 1.11 of the host's 2 cores, so the target had only what was left and may carry more than "
        "this run shows." in health["reasons"][0]
    )
    assert health["limits"] == [] and "target.processes" in health["remedies"][0]
    assert not_alone(health).endswith("because others took CPU time of its host.")
    still = health | {"reasons": [*health["reasons"], "At 592 users: the generator stood still for 5 s."]}
    assert not_alone(still).endswith("because the generator may have been the limit.")


@pytest.mark.parametrize(
    ("host", "known", "took"),
    [
        ({"cpu_share": 0.6}, 0.35, False),  # not full: it took nothing from the target
        ({"cpu_share": 0.42}, 0.0, False),  # 0.09 cores: the kernel's own
        ({"cpu_share": 0.8, "cpu_steal_share": 0.2}, 0.75, True),
    ],
)
def test_work_of_others_voids_only_where_it_was_large_and_the_host_full(
    host: dict[str, float], known: float, took: bool
) -> None:
    found = foreign_work(block(**host), 0.1)
    assert any(one.took_capacity for one in found) is took
    assert max((one.cores for one in found if not one.stolen), default=0.0) == pytest.approx(known, abs=0.01)


def test_others_took_nothing_from_a_target_that_is_one_full_thread() -> None:
    seen = {"host": HOST, "process:app": {"cpu_cores_used": 1.0, "busiest_thread_cores_used": 0.99}}
    assert [one.took_capacity for one in foreign_work(seen, 0.1)] == [False]


def test_without_a_process_of_the_target_others_are_not_known() -> None:
    assert foreign_work({"host": HOST}, 0.1) == []


def test_a_time_is_within_its_error_until_that_is_most_of_it() -> None:
    assert of_time(1.0, 5.0, "response_time").verdict == "within"
    assert of_time(0.9, 0.3, "response_time").verdict == "within"  # what an idle processor needs to wake
    assert of_time(3.0, 5.0, "response_time").verdict == "invalid"
    assert of_time(0.01, 5.0, "response_time").verdict == "valid"


def test_each_conclusion_of_healthy_steps_is_valid_and_memory_is_so_beside_a_full_generator() -> None:
    validity = generator_health([step(100, "bad")], [{}])["validity"]
    assert {one["rests_on"] for one in validity} == set(ALL)
    assert all(one["verdict"] != "invalid" for one in validity)
    full = generator_health([step(100, "bad", generator_share=0.97)], [{}])
    told = {one["rests_on"]: one["verdict"] for one in full["validity"]}
    assert told["throughput"] == told["response_time"] == told["mean_time"] == "invalid"
    assert told["memory"] == told["cpu_per_operation"] == told["failures"] == "valid"
    assert conclusions(full, ["memory"])["valid"] and not conclusions(full, ["throughput"])["valid"]


@pytest.mark.parametrize(
    ("value", "lag", "verdict"), [(305.0, 6.0, "undecided"), (305.0, 4.0, "failed"), (295.0, 50.0, "met")]
)
def test_an_objective_is_void_only_where_the_lag_reaches_across_its_limit(
    value: float, lag: float, verdict: str
) -> None:
    told = "met" if value <= 300 else "failed"
    entry = {
        "objective": "p99<=300ms", "unit": "ms", "verdict": told, "at_level": 10.0, "failed_from": 10.0,
        "verdicts": [{"level": 10.0, "value": value, "verdict": told}],
    }  # fmt: skip
    [judged] = objectives_within([entry], [step(10, "good", lag_p99_ms=lag)])
    assert judged["verdict"] == verdict
    if verdict == "undecided":
        assert "late by 6 ms" in judged["needs"] and judged["validity"]["verdict"] == "invalid"
        assert judged["failed_from"] is None


def test_an_error_rate_bears_any_lag() -> None:
    entry = {"objective": "error_rate<=1%", "unit": "ratio", "verdict": "failed", "verdicts": []}
    assert objectives_within([entry], [step(10, "good", lag_p99_ms=500)]) == [entry]


@pytest.mark.parametrize(
    ("words", "asked"),
    [
        ("may carry more", {}),
        ("may answer faster", {"asked_of": "response_time"}),
        ("may answer faster", {"rests_on": "mean_time"}),
        ("may do more", {"rests_on": "counts"}),
    ],
)
def test_what_others_took_is_worded_by_what_the_experiment_answers(words: str, asked: Any) -> None:
    """Seen: "so the capacity is that of what was left" in hold, compare and grow."""
    health = generator_health([step(592, "bad", generator_cores=0.14)], [block()], unit="users", **asked)
    told = [*health["reasons"], *health["notes"], *(one for v in health["validity"] for one in v.get("because") or ())]
    others = {one for one in told if "other processes used" in one}
    assert len(others) == 1 and f"had only what was left and {words} than" in others.pop()
    assert not any("capacity" in one for one in told)
