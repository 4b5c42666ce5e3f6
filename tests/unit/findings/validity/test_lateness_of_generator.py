"""Whether the generator was too late: beside the percentile of response times that its lateness becomes part of."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from plimsoll.findings.run import run_finding
from plimsoll.findings.validity.generator import figures_of, generator_health
from plimsoll.findings.validity.validity import RestsOn
from plimsoll.runs.histogram import Histogram
from plimsoll.runs.readings.generator_seconds import GeneratorSeconds
from plimsoll.runs.snapshot import Series, Snapshot

QUICK = {"level": 23, "p50_ms": 14.0, "p90_ms": 30.0, "p99_ms": 51.0}


def reasons(step: dict[str, Any], rests_on: RestsOn = "response_time") -> list[str]:
    told: list[str] = generator_health([step], [{}], rests_on=rests_on)["reasons"]
    return told


def seconds(lags: list[tuple[float, float]]) -> GeneratorSeconds:
    """Seconds of which lag p50 and p99 are given, in ms."""
    facts = GeneratorSeconds()
    for second, (p50_ms, p99_ms) in enumerate(lags):
        told = {"cpu_s": 0.1, "threads": 1, "lag_p50_ms": p50_ms, "lag_p99_ms": p99_ms}
        facts.add(Snapshot(second, 1.79e9 + second, 23, 23, 23, generator=told))
    return facts


@pytest.mark.parametrize(
    "lateness",
    [
        {"lag_p50_ms": 0.02, "lag_p99_ms": 2.2},  # a tenth of the median and more, but of p99 a 25th
        {"lag_p50_ms": 1.3, "lag_p90_ms": 2.9, "lag_p99_ms": 5.0},
        {"lag_p50_ms": 0.9, "lag_p90_ms": 0.9, "lag_p99_ms": 0.9, "p50_ms": 0.2, "p90_ms": 0.3, "p99_ms": 1.0},
    ],
)
def test_lateness_that_hardly_moves_its_percentile_is_none(lateness: dict[str, float]) -> None:
    assert reasons(QUICK | lateness) == []


@pytest.mark.parametrize(
    ("lateness", "words"),
    [
        ({"lag_p50_ms": 1.5}, "lag 1.5 ms at the median, more than a tenth of the median response time (14 ms)."),
        ({"lag_p90_ms": 3.1}, "lag 3.1 ms at p90, more than a tenth of the response time there (30 ms)."),
        ({"lag_p99_ms": 5.2}, "lag 5.2 ms at p99, more than a tenth of the response time there (51 ms)."),
        ({"lag_of_spells_ms": 9.0}, "lag 9 ms at p99, more than a tenth of the response time there (51 ms)."),
        (
            {"lag_p99_ms": 1.5, "p99_ms": None},
            "lag 1.5 ms at p99, more than a tenth of the median response time (14 ms",
        ),
        ({"lag_p99_ms": 1.5, "p50_ms": None}, "lag p99 1.5 ms."),
    ],
)
def test_lateness_is_told_with_what_it_is_compared_with(lateness: dict[str, float], words: str) -> None:
    [reason] = reasons(QUICK | lateness)
    assert reason.startswith("The generator itself was late at 23 users: ")
    assert words in reason


@pytest.mark.parametrize(
    ("late_seconds", "lag_ms", "late_at"),
    [(1, 6.0, None), (2, 6.0, "p99"), (12, 3.2, "p90"), (31, 2.0, "the median")],
)
def test_some_late_seconds_count_at_the_percentile_that_they_reach(
    late_seconds: int, lag_ms: float, late_at: str | None
) -> None:
    every = 60 // late_seconds
    lags = [(lag_ms, lag_ms) if second % every == 0 and second < every * late_seconds else (0.02, 0.5)
            for second in range(60)]  # fmt: skip
    told = reasons({**figures_of(seconds(lags)), **QUICK})
    assert [f"lag {lag_ms:g} ms at {late_at}" in one for one in told] == ([] if late_at is None else [True])


def test_lateness_of_a_part_of_the_load_counts_by_its_mean() -> None:
    lags = [(0.02, 0.5)] * 54 + [(40.0, 60.0)] * 6
    [told] = reasons({**figures_of(seconds(lags)), **QUICK})
    assert "lag 21 ms in the mean of a part of it, more than a tenth of the median response time" in told


def test_counts_bear_lateness_up_to_a_tenth_of_a_second_and_means_by_half_of_the_median() -> None:
    assert reasons(QUICK | {"lag_p99_ms": 99.0}, "counts") == []
    assert len(reasons(QUICK | {"lag_p99_ms": 101.0}, "counts")) == 1
    assert reasons(QUICK | {"lag_p99_ms": 6.9}, "mean_time") == []
    assert len(reasons(QUICK | {"lag_p99_ms": 7.1}, "mean_time")) == 1


def test_of_a_run_without_requests_no_response_time_is_judged() -> None:
    """Seen of a script that makes none: "late by 8.42 ms, more than half of the 1.99 ms measured": an iteration's."""
    facts = GeneratorSeconds()
    times = Series.of_trend("iteration_response_time", {}, Histogram.from_values([2.0] * 200))
    for second in range(10):
        lag = {"lag_p50_ms": 3.0, "lag_p99_ms": 8.0, "busiest_thread_share": 1.0, "threads": 1.0}
        facts.add(Snapshot(second, done=200, series=(times,), generator=lag))
    found = run_finding(facts)
    assert {one["rests_on"] for one in found["validity"]} == {"throughput", "failures"}
    assert "response time" not in str(found), found
    answered = GeneratorSeconds()
    answered.add(Snapshot(0, done=200, series=(replace(times, metric="http_req_duration"),), generator=lag))
    assert "response times" in str(run_finding(answered)["answer"])
