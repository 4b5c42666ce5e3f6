"""What was nearly full where a closed search found no level that is too much, and one throughput for one level."""

from __future__ import annotations

from capacity_runs import FACTS, Rows, step
from findings_as_json import checked

from plimsoll.findings.capacity.finding import capacity_findings


def main_of(cores: float, mean_ms: float) -> dict:
    """As run 33f5: 256 VUs who wait a second did 174/s with 0.86 of a core, in responses of 467 ms."""
    low = step(0, 1.0, 19.3) | {"mean_ms": 12.4, "step_kind": "probe", "verdict": "probe"}
    top = step(1, 12.8, 173.6) | {"mean_ms": mean_ms, "requests_per_s": 181.5, "in_flight_end": 256}
    middle = step(2, 3.2, 60.5) | {"step_kind": "probe", "verdict": "probe"}
    rows = []
    for at, used in enumerate((0.07, cores, 0.21)):
        for second in range(10 * at, 10 * at + 10):
            values = {"cpu_cores_used": used, "busiest_thread_cores_used": 0.02, "processes": 1.0}
            rows.append({"second": second, "source": "process:app", "values": values})
    about = {"unit": "multiple", "open": False, "good": 12.8, "bad": None, "vus_per_level": 20.0, "width": None}
    facts = {**FACTS, **about, "rate_per_level_s": None, "steps": [low, top, middle]}
    [main] = checked(capacity_findings(facts, Rows(rows)))
    return main


def test_a_process_at_nearly_one_core_whose_responses_are_slow_is_named() -> None:
    main = main_of(0.86, 467.0)
    found = main["limited_by"]["nearly_full"]
    assert main["limited_by"]["kind"] == "none" and found["resource"] == "app" and found["one_core"]
    assert "A response took 467 ms at 12.8 times the declared load, 12.4 ms at the declared load." in found["evidence"]
    words = "Throughput rises up to 256 VUs (12.8 times the declared load; 174 operations/s, 174 requests/s), the most"
    assert main["answer"].startswith(f"{words} that was tried. But one core of target process app was 86% busy there.")


def test_a_process_that_uses_nearly_a_core_while_responses_are_quick_is_not() -> None:
    assert "nearly_full" not in main_of(0.86, 14.0)["limited_by"]
    assert "nearly_full" not in main_of(0.4, 467.0)["limited_by"]


def test_one_level_has_one_throughput_although_its_step_began_and_ended_within_iterations() -> None:
    capacity = main_of(0.86, 467.0)["capacity"]
    assert capacity["requests_per_s"] == capacity["rate_per_s"] == 173.6


def test_objectives_that_fail_at_the_highest_level_are_a_sentence_of_their_own() -> None:
    from plimsoll.findings.capacity.words import _as_sentence

    clause = " and meets the objectives up to 20 VUs (misses p95<200ms of all requests from 256 VUs)"
    expected = " It meets the objectives up to 20 VUs, and misses p95<200ms of all requests from 256 VUs on."
    assert _as_sentence(clause) == expected
    assert _as_sentence(", but misses p95<1s of detail from 2 VUs") == " It misses p95<1s of detail from 2 VUs."
    assert _as_sentence("; whether it meets the objectives is not decided").startswith(" Whether it meets")
    assert _as_sentence("") == ""
