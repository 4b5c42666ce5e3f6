"""Facts of the generator, second by second."""

from __future__ import annotations

import math

import pytest

from plimsoll.runs.histogram import Histogram
from plimsoll.runs.readings.generator_seconds import GeneratorSeconds
from plimsoll.runs.snapshot import Series, Snapshot


def trend(metric: str, values: list[float]) -> Series:
    return Series.of_trend(metric, {}, Histogram.from_values(values))


def test_percentiles_are_those_of_the_histogram_without_its_arithmetic_library() -> None:
    facts, whole = GeneratorSeconds(), [1.0, 2.0, 3.0, 400.0, 50.0]
    facts.add(Snapshot(0, series=(trend("http_req_duration", [9000.0]), trend("http_req_response_time", whole[:2]))))
    facts.add(Snapshot(1, series=(trend("http_req_response_time", whole[2:]),)))
    assert facts.response_ms(0.5) == pytest.approx(3.0, rel=5e-4)
    assert facts.response_ms(0.99) == pytest.approx(400.0, rel=5e-4)
    assert GeneratorSeconds().response_ms(0.5) is None


def test_the_script_s_mean_weighs_every_iteration_that_was_timed() -> None:
    facts = GeneratorSeconds()
    facts.add(Snapshot(0, generator={"script_timed": 3, "script_mean_ms": 10.0, "script_p99_ms": 12.0}))
    facts.add(Snapshot(1, generator={"script_timed": 1, "script_mean_ms": 2.0, "script_p99_ms": 2.0}))
    facts.add(Snapshot(2, generator={"script_timed": 0}))
    assert facts.script_mean_ms == pytest.approx(8.0) and facts.most("script_p99_ms") == 12.0
    assert GeneratorSeconds().script_mean_ms is None


def test_what_was_never_known_is_none_and_other_sources_change_nothing() -> None:
    facts = GeneratorSeconds()
    facts.add_row({"source": "host", "values": {"time_wait": 5.0}})
    facts.add_row({"source": "generator", "values": {"time_wait": 2.0, "odd": "text"}})
    facts.add_row({"source": "generator"})
    assert facts.most("time_wait") == facts.last("time_wait") == 2.0
    for value in (9.0, 4.0, 5.0):
        facts.add_row({"source": "generator", "values": {"time_wait": value}})
    assert (facts.median("time_wait"), facts.mean("time_wait"), facts.last("time_wait")) == (4.0, 5.0, 5.0)
    assert facts.median("odd") is None and facts.mean("odd") == 0.0
    assert facts.most("odd") is None and math.isclose(facts.total("odd"), 0.0)


@pytest.mark.parametrize(("gap_ms", "stood_s"), [(10.208, 0.0), (1000.0, 1.0), (None, 1.0)])
def test_a_last_second_that_ended_before_anything_was_timed_in_it_is_no_standstill(
    gap_ms: float | None, stood_s: float
) -> None:
    """Seen on a busy machine: a run of a second took 5 ms more, and "stood still for 1 s from second 1", though its
    timer had come every 10 ms. `gap_ms` is not known of older runs."""
    facts = GeneratorSeconds()
    gap = {} if gap_ms is None else {"gap_ms": gap_ms}
    facts.add(Snapshot(0, started=100, generator={"lag_max_ms": 6.3, "longest_turn_ms": 0.4, "cpu_s": 0.03, **gap}))
    facts.add(Snapshot(1, generator={"lag_max_ms": 0.0, "longest_turn_ms": 0.0, "cpu_s": 0.0007, **gap}))
    assert sum(one.length_s for one in facts.standstills()) == stood_s
