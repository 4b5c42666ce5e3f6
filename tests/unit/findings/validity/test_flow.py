"""Counts and times of each level agree, or the measurement is at fault; a load that was not made is said first."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from plimsoll.findings.capacity.finding import capacity_findings
from plimsoll.findings.capacity.words import asked_words
from plimsoll.findings.exit_codes import exit_code
from plimsoll.findings.run import run_finding
from plimsoll.findings.trials.trials import sound_trials
from plimsoll.findings.validity.asked import asked_load
from plimsoll.findings.validity.flow import fault_of, fault_of_run, with_flow
from plimsoll.runs import RunFacts, RunReader, RunWriter
from plimsoll.runs.histogram import Histogram
from plimsoll.runs.readings.flow_seconds import flow_second
from plimsoll.runs.readings.generator_seconds import GeneratorSeconds
from plimsoll.runs.snapshot import Earlier, Series, Snapshot

RATE, MS = 100, 200.0


def second(at: int, **more: Any) -> Snapshot:
    """100 arrivals and 100 completions of 200 ms, so that 20 are inside."""
    done, times_ms, timed = more.pop("done", RATE), more.pop("ms", MS), more.pop("timed", None)
    times = Histogram.from_values([times_ms] * (done if timed is None else timed))
    tags = {"scenario": "a"}
    series = tuple(Series.of_trend(f"iteration_{name}", tags, times) for name in ("duration", "response_time"))
    about = {"planned": RATE, "started": RATE, "done": done, "in_flight": 20, "epoch": 1, "level": 5.0, "vus_max": 50}
    return Snapshot(at, series=series, **(about | more))


def load(seconds: int = 30, **more: Any) -> list[Snapshot]:
    return [second(at, **more) for at in range(seconds)]


def words_of(snapshots: list[Snapshot]) -> str:
    found = fault_of_run([flow_second(one) for one in snapshots])
    return "" if found is None else found.words


def test_a_healthy_load_has_no_fault() -> None:
    assert words_of(load()) == ""


def test_times_that_were_cut_are_named_with_both_numbers() -> None:
    words = words_of(load(ms=120.0))
    assert words.startswith("In this run: 20 iterations were inside on average, but throughput × time inside (100/s × ")
    assert "makes 12, 40% apart. By Little's law they are equal" in words


@pytest.mark.parametrize(
    ("planted", "words"),
    [
        ({"done": 90}, "2,800 arrivals were counted, but 2,520 ended and those unfinished changed by 0, which makes"),
        ({"done": 115}, "completions were counted twice, or arrivals lost."),
        ({"timed": 80}, "2,800 iterations ended and 2,240 have a time: times were lost."),
    ],
)
def test_completions_that_are_lost_or_counted_twice_are_named(planted: dict[str, Any], words: str) -> None:
    assert words in words_of(load(**planted))


def test_arrivals_that_were_dropped_or_cut_are_accounted_for() -> None:
    dropped = load(planned=125, dropped=20, interrupted=5)
    assert words_of(dropped) == ""


def test_of_a_source_that_does_not_say_what_arrived_nothing_is_said() -> None:
    assert words_of([replace(one, planned=0, started=0, in_flight=0) for one in load()]) == ""
    flow = [flow_second(replace(one, planned=0, started=0, in_flight=0)) for one in load()]
    assert fault_of(flow[1:], flow[0]) is None


def test_what_hangs_since_an_earlier_level_is_no_fault_of_this_one() -> None:
    stuck = (Earlier(1, unfinished=300, oldest_s=40.0),)
    flow = [flow_second(one) for one in load(epoch=2, in_flight=320, earlier=stuck)]
    assert fault_of(flow[1:], flow[0]) is None
    cut = [flow_second(one) for one in load(epoch=2, in_flight=320, earlier=stuck, ms=120.0)]
    assert fault_of(cut[1:], cut[0]) is not None


def test_a_run_that_does_not_add_up_is_not_valid() -> None:
    facts = GeneratorSeconds()
    snapshots = load(ms=120.0)
    times = Series.of_trend("http_req_duration", {}, Histogram.from_values([120.0] * 100))
    for one in snapshots:
        facts.add(replace(one, series=(*one.series, times)))
    found = run_finding(facts, flow=[flow_second(one) for one in snapshots])
    assert not found["valid"] and found["invalid_because"][0].startswith("In this run: 20 iterations")
    assert "report the run directory" in found["next"][0]
    void = {one["rests_on"] for one in found["validity"] if one["verdict"] == "invalid"}
    assert void == {"throughput", "response_time"}


def step(level: float, verdict: str, begin: int, **more: Any) -> dict[str, Any]:
    return {
        "level": level, "step_kind": "hold", "start_s": begin - 1.0, "measured_from_s": float(begin),
        "end_s": begin + 11.0, "verdict": verdict, "reasons": [], "planned_per_s": 100.0, "done_per_s": 100.0,
        "requests_per_s": 100.0, "p50_ms": 200.0, "p90_ms": 200.0, "p99_ms": 200.0, "mean_ms": 200.0, "samples": 1100,
        "errors": 0, "error_share": 0.0, "error_causes": {}, "late": 0, "dropped": 0, "backlog_end": 0,
        "generator_share": 0.05, "generator_cores": 0.05, "lag_p99_ms": 0.2,
    } | more  # fmt: skip


def capacity(folder: Path, *levels: list[Snapshot], kinds: tuple[str, ...] = ()) -> dict[str, Any]:
    """Of two levels of 12 s each behind each other, the first carried, the second not."""
    with RunWriter.create(folder, RunFacts("capacity"), tables=False) as writer:
        seconds = [replace(one, second=at) for at, one in enumerate(one for level in levels for one in level)]
        for one in seconds:
            writer.append_snapshot(one)
    steps = [step(5.0, "good", 1), step(6.0, "bad", 13), *(step(5.5, "good", 25, step_kind=kind) for kind in kinds)]
    facts = {
        "unit": "users", "open": True, "status": "finished", "reason": "", "good": 5.0, "bad": 6.0, "width": 1 / 6,
        "width_goal": 0.1, "step_s": 10.0, "max_level": None, "min_level": None, "estimate": None, "estimate_sd": None,
        "rate_per_level_s": 1.0, "rate_arrivals": None, "load_s": 24.0, "steps": steps,
    }  # fmt: skip
    [finding] = capacity_findings(facts, RunReader(writer.path))
    return finding


def test_a_level_that_does_not_add_up_voids_the_answer_that_rests_on_it(tmp_path: Path) -> None:
    assert capacity(tmp_path / "twin", load(12), load(12))["valid"]
    found = capacity(tmp_path / "cut", load(12), load(12, ms=80.0))
    assert not found["valid"] and exit_code(found) == 3
    assert found["answer"].startswith("The numbers below are not a capacity of the target, because what was measured")
    assert found["invalid_because"][0].startswith("At 6 users: 20 iterations were inside")
    assert any("report the run directory" in text for text in found["next"])
    [fault] = found["generator"]["flow_faults"]
    assert (fault["level"], fault["kind"]) == (6.0, "littles_law")
    assert (fault["counted"], fault["told"]) == (20.0, pytest.approx(8.0, rel=0.01))
    kinds = {one["rests_on"]: one["verdict"] for one in found["validity"]}
    assert kinds == {"throughput": "invalid", "response_time": "invalid", "failures": "valid"}


def test_a_fault_at_another_level_is_a_note_and_the_answer_stands() -> None:
    health = {"healthy": True, "reasons": [], "remedies": [], "notes": [], "validity": [], "stood_still_s": 0.0}
    flow = [flow_second(replace(one, second=at)) for at, one in enumerate([*load(12), *load(12, ms=80.0)])]
    steps = [step(5.0, "good", 1), step(6.0, "probe", 13)]
    told = with_flow(health, flow, steps, "users", decisive=[0])
    assert told["healthy"] and told["notes"][0].endswith("That level says nothing.")
    assert not with_flow(health, flow, steps, "users", decisive=[1])["healthy"]
    assert with_flow(health, flow[:12], steps[:1], "users") == health


def test_a_load_that_was_not_made_is_the_first_sentence(tmp_path: Path) -> None:
    short = load(planned=125, dropped=25)
    asked = asked_load([flow_second(one) for one in short])
    assert asked is not None and (asked["asked_per_s"], asked["reached_per_s"], asked["share"]) == (125, 100, 0.8)
    words = "The load was not made: asked for 125 iterations/s, reached 100/s (80%); no VU was free; an iteration took "
    assert asked_words(asked)[0].startswith(words)
    facts = GeneratorSeconds()
    for one in short:
        facts.add(one)
    assert run_finding(facts, flow=[flow_second(one) for one in short])["answer"].startswith(words[:60])
    expected = load(12, planned=125, dropped=25)
    found = capacity(tmp_path, load(12), load(12), expected, kinds=("expected",))
    assert found["answer"].startswith("The load at the expected 5.5 users was not made: asked for 125 iterations/s")


def test_a_target_that_became_slow_is_why_and_a_load_that_was_made_says_nothing() -> None:
    slow = [second(0), *(second(at, ms=900.0, planned=125, dropped=25) for at in range(1, 20))]
    asked = asked_load([flow_second(one) for one in slow])
    assert asked is not None
    assert (
        asked["why"] == "no VU was free, because the target became slow: an iteration took 900 ms, and 200 ms at first"
    )
    assert asked_load([flow_second(one) for one in load()]) is None
    assert asked_load([flow_second(one) for one in load(backlog=3)]) is None
    assert asked_words(None) == []


def test_a_trial_that_does_not_add_up_is_left_out() -> None:
    about = {"variant": "a", "load": "5 users", "requests": 1000, "failed": 0, "repetition": 1, "level": 5.0}
    trials = [
        about | {"trial": at + 1, "start_s": 12 * at, "measured_from_s": 12 * at + 1, "end_s": 12 * at + 12}
        for at in range(2)
    ]
    seconds = [replace(one, second=at) for at, one in enumerate([*load(12), *load(12, ms=80.0)])]
    found = sound_trials(trials, seconds, (), rests_on="tail")
    assert [one["trial"] for one in found.sound] == [1]
    assert found.words(str)[0].startswith(
        "Trial 2 (a, 5 users) left out: In trial 2: 20 iterations were inside on average"
    )
