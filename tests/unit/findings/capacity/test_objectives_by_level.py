"""Objectives by level: exact verdicts, what would decide the others, and the sustainable load."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

import pytest

from plimsoll.findings.capacity.sustainable import bounds_for_headroom, sustainable_load
from plimsoll.findings.capacity.words import answer
from plimsoll.findings.exit_codes import exit_code, exit_code_of
from plimsoll.findings.imported.table_objectives import judge_table_objectives
from plimsoll.findings.objectives import judge_objectives
from plimsoll.report.finding_view import view
from plimsoll.report.tables import objective_rows
from plimsoll.runs.histogram import Histogram
from plimsoll.runs.readings.step_table import Row, StepTable
from plimsoll.runs.snapshot import Earlier, Series, Snapshot

np = pytest.importorskip("numpy")
TAGS = {"scenario": "work", "name": "GET /work", "status": "200"}


def second(at: int, times_ms: Sequence[float], failed: int = 0, **tags: str) -> Snapshot:
    told = {**TAGS, **tags}
    series = (
        Series.of_trend("http_req_response_time", told, Histogram.from_values(np.asarray(times_ms, float))),
        Series("http_req_failed", "rate", told, passes=failed, total=len(times_ms)),
    )
    return Snapshot(at, 1.79e9 + at, 1.0, series=series)


def step(level: float, begin: int, end: int, kind: str = "hold", verdict: str = "good") -> dict[str, Any]:
    return {"level": level, "measured_from_s": begin, "end_s": end, "step_kind": kind, "verdict": verdict}


def judged(
    objective: str, seconds: Iterable[Snapshot], reference: float | None = 1.0, **subject: str
) -> dict[str, Any]:
    seconds = list(seconds)
    steps = [step(1.0, 0, len(seconds))]
    [one] = judge_objectives([{"objective": objective, **subject}], steps, seconds, reference, "multiple")
    return one


@pytest.mark.parametrize("length", [10, 30, 73])
def test_73_requests_none_above_15_ms_meet_a_p90_of_a_second(length: int) -> None:
    draw = np.random.default_rng(1)
    parts = np.array_split(draw.uniform(5, 15, 73), length)
    found = judged("p90<=1000ms", [second(at, part) for at, part in enumerate(parts)])
    assert found["verdict"] == "met" and found["needs"] is None and found["verdicts"][0]["samples"] == 73
    assert "0 of 73 requests took longer than 1 s" in found["words"]


def test_a_server_that_always_takes_two_seconds_violates_a_p95_of_half_a_second_with_20_samples() -> None:
    draw = np.random.default_rng(2)
    found = judged("p95<500ms", [second(at, 2000 + draw.uniform(0, 5, 2)) for at in range(10)])
    assert found["verdict"] == "failed" and found["failed_from"] == 1.0


def test_an_undecided_objective_says_how_much_longer_its_level_must_be_held() -> None:
    found = judged("p99<=1000ms", [second(at, [10.0, 12.0, 14.0]) for at in range(20)])
    assert found["verdict"] == "undecided"
    assert found["needs"].startswith("Hold the declared load for about ") and "to decide it" in found["needs"]
    longer = judged("p99<=1000ms", [second(at, [10.0, 12.0, 14.0]) for at in range(220)])
    assert longer["verdict"] == "met"


def test_an_error_rate_is_met_by_an_exact_test() -> None:
    few = judged("error_rate<=1%", [second(at, [5.0] * 40) for at in range(10)])
    enough = judged("error_rate<=1%", [second(at, [5.0] * 50) for at in range(10)])
    assert (few["verdict"], enough["verdict"]) == ("undecided", "met")
    spread = judged("error_rate<=1%", [second(at, [5.0] * 50, failed=3) for at in range(10)])
    assert spread["verdict"] == "failed"


def test_an_error_rate_of_nothing_is_violated_by_one_failure_and_met_without() -> None:
    assert judged("error_rate<=0%", [second(0, [5.0] * 50, failed=1)])["verdict"] == "failed"
    assert judged("error_rate<=0%", [second(0, [5.0] * 50)])["verdict"] == "met"


def test_requests_without_an_answer_are_no_fast_responses() -> None:
    refused = [second(at, [0.0] * 1000, failed=1000, status="0") for at in range(5)]
    found = judged("p99<200ms", refused)
    assert found["verdict"] == "failed" and "no request was answered" in found["words"]
    assert found["verdicts"][0]["unanswered"] == 5000
    half = [Snapshot(at, 0.0, 1.0, series=(*second(at, [500.0] * 20).series, *refused[0].series)) for at in range(20)]
    assert judged("p50<200ms", half)["verdict"] == "failed", "the refused half is not fast"


def test_a_request_that_timed_out_counts_as_longer_than_the_limit() -> None:
    late = [
        Snapshot(at, 0.0, 1.0, series=(*second(at, [5.0] * 40).series, *second(at, [60_000.0] * 10, status="0").series))
        for at in range(20)
    ]
    found = judged("p90<=200ms", late)
    assert found["verdict"] == "failed" and found["verdicts"][0]["over"] == 200


def test_a_name_that_no_request_has_is_no_data_and_the_nearest_is_told() -> None:
    found = judged("p90<=200ms", [second(0, [5.0] * 50)], request="GET /wrok")
    assert found["verdict"] == "undecided"
    assert found["needs"] == "No data: no request of 'GET /wrok' was seen. Did you mean 'GET /work'?"


def test_what_was_seen_at_the_declared_level_comes_before_what_another_says_of_it() -> None:
    seconds = [second(at, [5.0] * 40 if at >= 10 else [900.0] * 40) for at in range(20)]
    steps = [step(0.25, 0, 10), step(1.0, 10, 20)]
    [found] = judge_objectives([{"objective": "p90<=200ms"}], steps, seconds, 1.0, "multiple")
    assert found["verdict"] == "met" and found["failed_from"] == 0.25
    [inferred] = judge_objectives([{"objective": "p90<=200ms"}], steps[:1], seconds, 1.0, "multiple")
    assert inferred["verdict"] == "failed" and "the declared load was not held" in inferred["words"]


def test_a_lower_level_that_was_disturbed_does_not_fail_one_that_was_held_and_keeps_the_limit() -> None:
    def found(held_ms: float) -> dict[str, Any]:
        seconds = [second(at, [held_ms] * 2 if at >= 10 else [900.0] * 40) for at in range(20)]
        steps = [step(0.25, 0, 10), step(1.0, 10, 20)]
        return judge_objectives([{"objective": "p99<=200ms"}], steps, seconds, 1.0, "multiple")[0]

    assert found(5.0)["verdict"] == "undecided", "20 requests, none above the limit"
    assert found(900.0)["verdict"] == "failed"


def test_a_level_whose_own_requests_miss_the_limit_is_not_met_because_a_higher_one_is() -> None:
    """Seen: "✓ met: at 300 users, 14.1 ms; 41 of 572 requests took longer" than 9.4 ms, as 600 users met it before an
    overload that had not drained."""
    draw = np.random.default_rng(3)
    high = [second(at, draw.uniform(1, 5, 100)) for at in range(3)]
    low = [second(at, [*draw.uniform(1, 5, 19), 20.0, 20.0]) for at in range(3, 8)]
    steps = [step(2.0, 0, 3, "probe"), step(1.0, 3, 8, "expected")]
    [found] = judge_objectives([{"objective": "p95<=10ms"}], steps, [*high, *low], 1.0, "multiple")
    assert [one["verdict"] for one in found["verdicts"]] == ["undecided", "met"]
    assert found["verdict"] == "undecided" and found["needs"]
    assert found["words"].endswith("; met at 2 times the declared load")
    row = objective_rows(view({"question": "?", "answer": "!", "objectives": [found]}).objectives[0])[0]
    assert row["verdict"] == "undecided"


def overloaded(left: int, verdict: str = "bad") -> dict[str, Any]:
    """10 seconds in which 80/s came and 60/s were done, so that 200 more should be waiting."""
    told = {"planned_per_s": 80.0, "done_per_s": 60.0, "backlog_end": left, "in_flight_end": 0}
    return step(4.0, 10, 20, verdict=verdict) | told


def times_of_a_queue_that_grows() -> list[Snapshot]:
    calm = [second(at, [20.0] * 20) for at in range(10)]
    return [*calm, *(second(at, [20.0 + 400 * (at - 9)] * 60) for at in range(10, 20))]


def test_a_limit_that_a_growing_queue_has_passed_is_missed_however_alike_its_requests_are() -> None:
    def found(objective: str, over: dict[str, Any], reference: float, is_open: bool = True) -> dict[str, Any]:
        steps, times = [step(1.0, 0, 10), over], times_of_a_queue_that_grows()
        return judge_objectives([{"objective": objective}], steps, times, reference, "multiple", is_open)[0]

    missed = found("p95<500ms", overloaded(200), 4.0)
    assert (missed["verdict"], missed["failed_from"], missed["needs"]) == ("failed", 4.0, None)
    assert found("p95<500ms", overloaded(200, "undecided"), 4.0)["verdict"] == "undecided", "it may not grow on"
    assert found("p95<500ms", overloaded(0), 4.0)["verdict"] == "undecided", "nothing waits: the load was refused"
    assert found("p95<9000ms", overloaded(200), 4.0)["verdict"] != "failed", "not missed yet"
    assert found("error_rate<=1%", overloaded(200), 4.0)["verdict"] != "failed"
    assert found("p95<500ms", overloaded(200), 4.0, is_open=False)["verdict"] == "undecided", (
        "VUs wait, and no more come"
    )


def line(objective: str, met: float | None, failed: float | None, verdict: str = "met") -> dict[str, Any]:
    return {"objective": objective, "operation": "detail", "met_up_to": met, "failed_from": failed, "verdict": verdict}


@pytest.mark.parametrize(
    ("objectives", "level", "words"),
    [
        ([line("p95<1s", 5000, 7000)], 5000, " and meets the objectives there"),
        ([line("p95<1s", 3000, 4000)], 3000, " and meets the objectives up to 3,000 users (misses p95<1s of detail from 4,000 users)"),  # noqa: E501
        ([line("p95<1s", 3000, None)], 3000, " and meets the objectives up to 3,000 users at least"),
        ([line("p95<1s", None, 100)], None, ", but misses p95<1s of detail from 100 users"),
        ([line("p95<1s", None, None)], None, "; whether it meets the objectives is not decided"),
        ([line("p95<1s", 5000, None), line("p99<1s", 2000, 2500)], 2000, " and meets the objectives up to 2,000 users (misses p99<1s of detail from 2,500 users)"),  # noqa: E501
    ],
)  # fmt: skip
def test_the_sustainable_load_is_carried_and_meets_all_objectives(
    objectives: list[dict[str, Any]], level: float | None, words: str
) -> None:
    found = sustainable_load(5000, 6000, objectives, "users")
    assert found is not None and found["level"] == level and found["words"] == words
    assert sustainable_load(5000, 6000, [], "users") is None


def test_the_first_sentence_says_both_and_the_headroom_counts_the_lower() -> None:
    objectives = [line("p95<1s", 3000, 4000)]
    headroom = bounds_for_headroom(11_607, 14_115, objectives)
    assert headroom == (3000, 4000)
    result = {"status": "finished", "good": 11_607.0, "bad": 14_115.0, "unit": "users", "open": True, "steps": []}
    finding = {
        "capacity": {"rate_per_s": 32.2},
        "generator": {"healthy": True},
        "limited_by": {"kind": "unknown", "where": None},
        "headroom": {"expected_users": 2000.0, "ratio": 0.5, "carries": True},
        "sustainable": sustainable_load(11_607, 14_115, objectives, "users"),
    }
    first, *_, last = answer(result, finding).split(". ")
    assert first.startswith("Carries 11,607 users (32.2 operations/s) and meets the objectives up to 3,000 users")
    assert last == "The sustainable load is 50% more than the expected 2,000 users."


def test_an_objective_that_fails_at_all_levels_leaves_nothing_for_the_headroom() -> None:
    assert bounds_for_headroom(5000, 6000, [line("p95<1s", None, 100)]) == (None, 100)
    assert bounds_for_headroom(5000, 6000, [line("p95<1s", 3000, 7000)]) == (5000, 6000), "7,000 is not carried anyway"
    assert bounds_for_headroom(5000, 6000, [line("p95<1s", 5500, None)]) == (5000, 6000)


def test_an_expected_load_that_is_not_carried_ends_with_99() -> None:
    finding = {"status": "finished", "valid": True, "experiment": "capacity", "objectives": []}
    assert exit_code(finding | {"headroom": {"carries": False}}) == 99
    assert exit_code(finding | {"headroom": {"carries": None}}) == 0 == exit_code(finding | {"headroom": None})
    assert exit_code_of([[finding | {"headroom": {"carries": False}}]]) == 99
    assert exit_code_of([[finding], [finding | {"valid": False}]]) == 3


def test_a_published_table_of_few_samples_decides_by_its_greatest() -> None:
    rows = (Row(level=1.0, times_ms={"p90": (12.0, 12.0), "max": (15.0, 15.0)}, samples=73),)
    [met] = judge_table_objectives([{"objective": "p90<=1000ms"}], StepTable(rows), 1.0)
    rows = (Row(level=1.0, times_ms={"p90": (2000.0, 2000.0), "min": (1990.0, 1990.0)}, samples=20),)
    [failed] = judge_table_objectives([{"objective": "p95<500ms"}], StepTable(rows), 1.0)
    rows = (Row(level=1.0, times_ms={"p90": (900.0, 900.0)}, samples=73),)
    [open_] = judge_table_objectives([{"objective": "p90<=1000ms"}], StepTable(rows), 1.0)
    assert (met["verdict"], failed["verdict"], open_["verdict"]) == ("met", "failed", "undecided")


def test_how_much_longer_it_takes_counts_that_more_seconds_know_the_dependence_better() -> None:
    found = judged("p95<500ms", [second(at, [2000.0, 2001.0]) for at in range(2)])
    assert found["verdict"] == "undecided", "two seconds do not tell whether the requests are independent"
    assert found["needs"].startswith("Hold the declared load for about 20 s to decide it")
    assert judged("p95<500ms", [second(at, [2000.0, 2001.0]) for at in range(4)])["verdict"] == "failed"


@pytest.mark.parametrize(
    ("objective", "verdict", "words"),
    [
        ("p50<=500ms", "met", "0 of 11 requests took longer than 500 ms"),
        ("p99<=22ms", "undecided", "0 of 11 requests took longer than 22 ms, too few, at least 459 decide it"),
    ],
)
def test_a_verdict_says_how_many_requests_it_takes(objective: str, verdict: str, words: str) -> None:
    """Seen beside each other, and not to be reconciled: "0 of 11" met, "0 of 151" undecided."""
    found = judged(objective, [second(at, np.array([20.0 + at % 2])) for at in range(11)], 1.0)
    assert found["verdict"] == verdict and words in found["words"]


def test_iterations_that_were_cut_off_failed_at_the_level_of_their_arrival() -> None:
    """Seen: "at 2,744 users 16% of the requests fail" beside "error_rate met at all levels that were tried"."""

    def at(place: int, epoch: int, *earlier: Earlier) -> Snapshot:
        cut = sum(one.interrupted for one in earlier)
        return replace(second(place, [5.0] * 100), epoch=epoch, earlier=earlier, interrupted=cut)

    seconds = [at(0, 2), at(1, 2), at(2, 3), at(3, 3), at(4, 4, Earlier(3, interrupted=40))]
    steps = [step(1.0, 0, 2), step(2.0, 2, 4, verdict="bad")]
    of_all, of_one = judge_objectives(
        [{"objective": "error_rate<=1%"}, {"objective": "error_rate<=1%", "operation": "work"}], steps, seconds, 2.0
    )
    assert of_all["verdict"] != "met" and "17% of 240" in of_all["words"]
    assert "0% of 200" in of_one["words"], "nobody knows which requests they were"
