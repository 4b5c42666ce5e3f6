"""Sentences of findings as a reader needs them: units, no contradictions, the next step that can still be taken."""

from __future__ import annotations

import math
from typing import Any

import pytest

from plimsoll.findings.capacity.words import answer, headroom_of, next_steps
from plimsoll.findings.hold.objectives import held_objectives
from plimsoll.findings.hold.series import HoldSeries, Watched
from plimsoll.findings.hold.slow_or_overloaded import slow_or_overloaded
from plimsoll.findings.hold.stability import bursts_finding, drift_finding, leak_finding
from plimsoll.findings.imported.table_objectives import judge_table_objectives
from plimsoll.findings.limits.what_stops import limiting_resource
from plimsoll.findings.objectives import Wanted, judge_objectives
from plimsoll.findings.validity.generator import generator_health
from plimsoll.report.text import answer_lines
from plimsoll.runs.histogram import Histogram
from plimsoll.runs.readings.step_table import Row, StepTable
from plimsoll.runs.snapshot import Series, Snapshot
from plimsoll.stats.estimates.wilson import wilson_interval
from plimsoll.words import level_words, ratio_words

np = pytest.importorskip("numpy")
HELD = {"level": 1.0, "measured_from_s": 0.0, "end_s": 100.0}


def watched(values_ms: Any, alone_ms: Any = ()) -> Watched:
    """Values of a held load in turn over the blocks, and those of one user alone."""
    found = Watched()
    for block, part in zip(found.blocks, np.array_split(np.asarray(values_ms, float), len(found.blocks)), strict=True):
        block.add_series(Series.of_trend("t", {}, Histogram.from_values(part)))
    if len(alone_ms):
        found.alone.add_series(Series.of_trend("t", {}, Histogram.from_values(np.asarray(alone_ms, float))))
    found.totals = {0: len(values_ms)}
    return found


def series_of(operation: Watched, memory: Any = None) -> HoldSeries:
    empty = np.array([])
    return HoldSeries(empty, empty, empty, empty, empty, {"views": operation}, [], memory or {})


def test_no_failure_has_an_interval_from_exactly_nothing() -> None:
    assert wilson_interval(0, 1985).low == 0.0 and wilson_interval(1985, 1985).high == 1.0
    seen = watched(np.full(1985, 5.0))
    [one] = held_objectives([Wanted.of({"objective": "error_rate<5%"})], [seen], HELD, "multiple")
    assert "e-" not in one["words"] and "(95%: 0% to 0.19%)" in one["words"]


@pytest.mark.parametrize(("objective", "unit"), [("p90<=0.1s", "ms"), ("max<200ms", "ms"), ("error_rate<=5%", "ratio")])
def test_numbers_of_an_objective_have_their_unit(objective: str, unit: str) -> None:
    wanted = {"objective": objective}
    steps = [{"level": 1.0, "measured_from_s": 0.0, "end_s": 2.0}]
    times = Series.of_trend("http_req_duration", {}, Histogram.from_values(np.full(40, 5.0)))
    table = StepTable((Row(level=1.0, times_ms={"p90": (5.0, 5.0)}),))
    told = [
        held_objectives([Wanted.of(wanted)], [watched(np.full(400, 5.0))], HELD, "users"),
        judge_objectives([wanted], steps, [Snapshot(0, 1.79e9, 1.0, series=(times,))], 1.0),
        judge_table_objectives([wanted], table, 1.0),
    ]
    assert [one["unit"] for [one] in told] == [unit] * 3


def test_how_much_longer_a_hold_must_be_is_said_by_the_test_that_did_not_decide() -> None:
    draw = np.random.default_rng(3)
    bursts = np.repeat(np.exp(draw.standard_normal(40)), 50) * draw.exponential(20, 2000)
    seen = watched(bursts)
    objective = f"p99<{1.5 * seen.merged.percentile(0.99):.0f}ms"
    [one] = held_objectives([Wanted.of({"objective": objective})], [seen], HELD, "users")
    assert one["verdict"] == "undecided" and one["interval"] is None
    assert "worth 77 independent ones, at least 459 decide it" in one["words"] and one["times_longer"] > 2
    assert one["needs"].startswith(f"all requests, {objective}: Hold 1 user for about ")


def test_a_limit_where_the_percentile_lies_is_said_to_be_undecidable_in_reasonable_time() -> None:
    seen = watched(np.random.default_rng(3).exponential(20, 2000))
    [one] = held_objectives([Wanted.of({"objective": f"p90<{seen.merged.percentile(0.9)}ms"})], [seen], HELD, "users")
    assert one["verdict"] == "undecided" and "no reasonable time" in one["needs"]


def test_a_load_that_doubles_the_median_is_not_said_to_hardly_show() -> None:
    alone = np.full(100, 20.0)
    told = {
        ratio: slow_or_overloaded(series_of(watched(np.full(400, 20.0 * ratio), alone)), [], True)["answer"]
        for ratio in (1.1, 1.9, 3.0)
    }
    assert told[1.1].startswith("Neither: hardly slower under the load")
    assert told[1.9].startswith("A little slower under the load: ") and "1.9 times as long" in told[1.9]
    assert told[3.0].startswith("Slower under the load: ")


def test_no_response_time_is_said_to_fall_by_more_than_all_of_it() -> None:
    draw = np.random.default_rng(2)
    seconds, times = np.arange(60.0), 10 * np.exp(1.5 * np.repeat(draw.standard_normal(15), 4))
    series = HoldSeries(seconds, times, seconds, seconds, seconds, {}, [], {})
    found = drift_finding(series)
    assert found["drift"] is not None and found["drift"]["interval"][0] < -1
    assert "(99%: -100% to +" in found["answer"]


def test_bursts_are_of_what_failed_and_of_nothing_they_are_not_denied() -> None:
    """Seen: "No: none of 0 requests failed", and iterations that threw as failed requests."""
    seconds, none = np.arange(60.0), np.zeros(60)
    answers = [
        bursts_finding(HoldSeries(seconds, none, failed, requests, none + 10, {}, [], {}, broke=broke))["answer"]
        for failed, requests, broke in ((none, none, 0), (none, none + 10, 0), (none + 5, none + 10, 300))
    ]
    assert answers[0] == "It cannot be told: the script made no request."
    assert answers[1] == "No: none of 600 requests in 60 s failed."
    assert answers[2].startswith("No bursts: 300 of 600 iterations and requests failed (50%)")


def test_memory_that_stays_has_no_sign() -> None:
    seconds = np.arange(200.0)
    memory = {"target": (seconds, np.full(200, 4e6) + 100 * (seconds % 2))}
    answer = leak_finding(series_of(watched([1.0] * 40), memory), None)["answer"]
    assert "+0 " not in answer and "-0 " not in answer


@pytest.mark.parametrize(
    ("unit", "level", "words"),
    [
        ("multiple", 1.0, "at the declared load"),
        ("multiple", 2.4, "at 2.4 times the declared load"),
        ("users", 1000.0, "at 1,000 users"),
        ("vus", 1.0, "at 1 VU:"),
    ],
)
def test_a_late_generator_is_told_with_the_unit_of_its_level(unit: str, level: float, words: str) -> None:
    step = {"level": level, "lag_p99_ms": 20.0, "p50_ms": 30.0}
    told = generator_health([step], [{}], rests_on="response_time", unit=unit)
    assert not told["healthy"] and words in told["reasons"][0]
    assert "--isolate" in told["remedies"][0]
    apart = generator_health([step], [{}], rests_on="response_time", unit=unit, kept_apart="on other cores")
    assert "--isolate" not in apart["remedies"][0] and "something else ran" in apart["remedies"][0]


def test_levels_read_as_words() -> None:
    assert [level_words(1, unit) for unit in ("users", "vus", "multiple")] == ["1 user", "1 VU", "the declared load"]
    assert level_words(2, "vus") == "2 VUs"


def test_what_an_undecided_objective_takes_has_a_unit() -> None:
    steps = [{"level": 1.0, "measured_from_s": 0.0, "end_s": 2.0}]
    times = Series.of_trend("http_req_duration", {}, Histogram.from_values(np.full(40, 5.0)))
    seconds = [Snapshot(second, 1.79e9, 1.0, series=(times,)) for second in range(2)]
    [one] = judge_objectives([{"objective": "p99<150ms"}], steps, seconds, 1.0, "multiple")
    assert one["needs"] == "Hold the declared load for about 20 s to decide it: plimsoll hold."


@pytest.mark.parametrize(("count", "words"), [(1, "1 objective is undecided."), (3, "3 objectives are undecided.")])
def test_no_objective_is_to_be_judged_at_a_load_that_is_not_carried(count: int, words: str) -> None:
    result = {"status": "finished", "good": 2970.0, "bad": 3000.0, "width_goal": 0.1, "steps": [], "unit": "users"}
    finding = {
        "generator": {"remedies": []},
        "limited_by": {"kind": "unknown"},
        "objectives": [{"objective": "p90<=1s", "needs": "Hold 5,000 users for about 5 h: plimsoll hold."}] * count,
        "steps": [],
        "headroom": {"expected_users": 5000.0, "ratio": -0.41, "carries": False},
    }
    step = next_steps(result, finding)[-1]
    assert step == f"{words} Judge them at a load that is carried: plimsoll hold at 2,970 users."
    for carries in (None, True):
        told = next_steps(result, finding | {"headroom": {"ratio": None, "carries": carries}})
        assert sum("Hold 5,000 users for about 5 h" in one for one in told) == count


@pytest.mark.parametrize(
    ("probed", "words"), [({"host": 0.3, "generator": 0.1}, "probe the target's processes"), ({"app": 0.1}, "pools")]
)
def test_who_probed_the_target_is_not_told_to_probe_it(probed: dict[str, float], words: str) -> None:
    result = {"status": "finished", "good": 2.0, "bad": 2.1, "width_goal": 0.1, "steps": []}
    finding = {
        "generator": {"remedies": []},
        "limited_by": {"kind": "unknown"},
        "objectives": [],
        "steps": [{"cpu": probed}],
    }
    [step] = next_steps(result, finding)
    assert words in step


def test_a_host_that_is_full_at_any_load_is_not_said_to_be_far_from_its_ceiling() -> None:
    steps = [{"level": 100.0}, {"level": 3806.0}]
    app = {"cpu_cores_used": 0.19, "processes": 1.0}
    means = [{"host": {"cpu_share": share}, "process:app": app} for share in (0.95, 0.98)]
    found = limiting_resource(steps[1], steps, means, "users")
    assert found["kind"] == "unknown" and "no resource was near" not in found["evidence"]
    assert "98% busy in the step at 3,806 users, and 95% at 100 users: something else" in found["evidence"]
    means[0]["host"]["cpu_share"] = 0.3
    assert limiting_resource(steps[1], steps, means, "users")["kind"] == "cpu"


def test_a_number_stays_on_one_line_with_its_unit() -> None:
    text = answer_lines([{"answer": "It took between 12 ms and 15 min and 3.5 GiB, 95% of all. " * 20}])
    starts = {line.split()[0] for line in text.splitlines()[1:]}
    assert not starts & {"ms", "min", "GiB,", "%"}


def test_an_invalid_finding_without_reasons_sends_the_reader_to_the_first() -> None:
    text = answer_lines([{"valid": False, "invalid_because": ["Late."]}, {"valid": False, "answer": "No drift."}])
    assert "See the reasons below." in text and "The reasons are with the first answer." in text


@pytest.mark.parametrize(
    ("max_level", "said", "next_step"),
    [
        (
            None,
            "at 12,800 users it fell behind in a probe of 8 s, not held again",
            "give it more (--for)",
        ),
        (12_800.0, "at 12,800 users it fell behind in a probe", "Raise --max-users"),
    ],
)
def test_a_search_that_ran_out_of_time_is_not_told_to_raise_its_greatest_level(
    max_level: float | None, said: str, next_step: str
) -> None:
    steps = [
        {"level": 12_800.0, "verdict": "bad", "measured_from_s": 1.0, "end_s": 9.0},
        {"level": 11_466.0, "verdict": "good", "measured_from_s": 12.0, "end_s": 32.0},
    ]
    result = {
        "status": "finished", "unit": "users", "open": True, "good": 11_466.0, "bad": None, "width_goal": 0.1,
        "max_level": max_level, "steps": steps,
    }  # fmt: skip
    finding = {
        "capacity": {}, "generator": {"healthy": True, "remedies": []}, "limited_by": {"kind": "none"},
        "headroom": None, "objectives": [], "steps": steps,
    }  # fmt: skip
    assert said in answer(result, finding)
    assert next_step in next_steps(result, finding)[0]


def test_ratios_are_read_as_changes_and_no_number_is_endless() -> None:
    ratios = (0.5, 0.99999, 1.198, 3.21, 1234.5, 1e9, math.inf, math.nan)
    words = [ratio_words(ratio) for ratio in ratios]
    assert words == ["-50.0%", "0%", "+19.8%", "3.2 times", "1,234 times", "any", "any", "any"]


@pytest.mark.parametrize(
    ("good", "bad", "ratio", "carries"),
    [
        (300.0, None, 0.5, True),
        (300.0, 400.0, 0.5, True),
        (100.0, 150.0, -0.5, False),
        (100.0, None, None, None),  # nothing above was tried, which says nothing of 200
        (180.0, 250.0, None, None),
        (None, 150.0, None, False),
        (None, None, None, None),
    ],
)
def test_a_load_that_was_not_tried_is_not_said_to_be_too_much(
    good: float | None, bad: float | None, ratio: float | None, carries: bool | None
) -> None:
    found = headroom_of(200.0, good, bad)
    assert found is not None and (found["ratio"], found["carries"]) == (ratio, carries)
    assert headroom_of(None, good, bad) is None


@pytest.mark.parametrize(
    ("good", "bad", "said"),
    [
        (120.0, None, "Whether it carries the expected 200 users was not decided."),
        (120.0, 150.0, "That is 40% less than the expected 200 users: it will not carry them."),
        (None, 150.0, "It will not carry the expected 200 users."),
        (250.0, None, "That is at least 25% more than the expected 200 users."),
        (200.0, None, "That is at least the expected 200 users."),
        (250.0, 300.0, "That is 25% more than the expected 200 users."),
        (10_000.0, 12_000.0, "That is 50 times the expected 200 users."),
        (10_000.0, None, "That is at least 50 times the expected 200 users."),
    ],
)
def test_what_is_said_of_the_expected_load(good: float | None, bad: float | None, said: str) -> None:
    result = {
        "status": "finished", "unit": "users", "good": good, "bad": bad, "open": True, "estimate": None, "steps": []
    }  # fmt: skip
    finding = {
        "capacity": {}, "generator": {"healthy": True, "reasons": []}, "limited_by": {"kind": "none"},
        "headroom": headroom_of(200.0, good, bad), "objectives": [], "steps": [],
    }  # fmt: skip
    assert answer(result, finding).endswith(said)


def test_levels_of_a_script_of_vus_are_told_in_vus_too() -> None:
    assert level_words(0.2, "multiple", 5.0) == "1 VU (0.2 times the declared load)"
    assert level_words(1.0, "multiple", 5.0) == "5 VUs (the declared load)"
    assert level_words(1.2, "multiple") == "1.2 times the declared load"
    result = {
        "status": "finished", "unit": "multiple", "open": False, "good": 1.0, "bad": 1.2, "vus_per_level": 5.0,
        "steps": [],
    }  # fmt: skip
    finding = {
        "capacity": {}, "generator": {"healthy": True, "remedies": []}, "limited_by": {"kind": "none"},
        "headroom": None, "objectives": [], "steps": [],
    }  # fmt: skip
    said = answer(result, finding)
    assert "up to 5 VUs (the declared load)" in said and "from 6 VUs (1.2 times the declared load) on" in said
