"""From what is told each second to the state of the live view."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from plimsoll.cli.live.levels import LevelsFolded
from plimsoll.cli.live.run import RunFolded
from plimsoll.cli.live.trials import TrialsFolded
from plimsoll.experiments.steps.judgement import Judgement
from plimsoll.experiments.steps.measure import Measurement
from plimsoll.experiments.steps.record import Bracket, Progress, StepKind, StepRecord
from plimsoll.experiments.trials.making import TrialProgress
from plimsoll.experiments.trials.plan import TrialLevel, TrialPlan, TrialVariant
from plimsoll.live.seconds import MOST_POINTS, Generator, Resources, Seconds, answers_of
from plimsoll.runs.histogram import Histogram
from plimsoll.runs.snapshot import Series, Snapshot

WELL = {"cpu_s": 0.1, "threads": 1, "lag_p99_ms": 0.2}


def second(number: int, done: int, ms: float, failed: int = 0, **more: Any) -> Snapshot:
    times = Histogram.from_values([ms] * max(1, done))
    series = (
        Series.of_trend("http_req_duration", {}, times),
        Series("http_req_failed", "rate", passes=failed, total=done),
    )
    given = {"planned": done, "generator": WELL, "level": 20.0} | more
    return Snapshot(number, done=done, series=series, **given)


def measured(level: float, done: int, ms: float, failed: int = 0) -> Measurement:
    seen = Measurement(level)
    seen.add(second(5, done, ms, failed))
    return seen


def step(level: float, kind: StepKind, verdict: str, done: int, ms: float, **more: Any) -> StepRecord:
    return StepRecord(level, kind, 4.0, 6.0, measured(level, done, ms), Judgement(verdict, **more))  # type: ignore[arg-type]


def progress(phase: str = "bracket", **more: Any) -> Progress:
    given: dict[str, Any] = {
        "phase": phase, "second": 30.0, "level": 160.0, "unit": "users", "planned_per_s": 1600.0, "done_per_s": 1590.0,
        "unfinished": 12.0, "bracket": Bracket(80.0, None), "snapshot": second(29, 1590, 11.0),
    }  # fmt: skip
    return Progress(**(given | more))


def test_a_held_level_is_told_by_what_was_measured_of_it_and_why_it_was_chosen() -> None:
    state = LevelsFolded()(progress(step=measured(160.0, 1604, 12.0, failed=3), why="above the estimate", until_s=90.0))
    assert state.phase == "bracketing" and state.name == "160 users" and state.stage == "measured for 1 s"
    assert state.why == "above the estimate" and state.left_s == 60.0
    assert state.numbers == ("1,604 of 1,604/s done", "p95 12 ms", "12 unfinished", "3 failed (0.19%)")
    assert state.is_failing and state.bracket is not None and state.bracket.good == 80.0


def test_a_level_that_warms_up_is_told_by_its_last_second() -> None:
    state = LevelsFolded()(progress(step=Measurement(160.0)))
    assert state.stage == "warming up"
    assert state.numbers == ("1,590 of 1,600/s done", "p95 11 ms", "12 unfinished", "none failed")


def test_each_level_has_a_row_by_what_its_steps_are_judged_to_be_by_now() -> None:
    steps = [
        step(20.0, "probe", "good", 200, 5.0),
        step(320.0, "probe", "bad", 1700, 900.0),
        step(80.0, "hold", "good", 800, 6.0),
        step(204.0, "hold", "bad", 1690, 700.0),
        step(120.0, "hold", "undecided", 1200, 8.0, disturbed=True),
        step(8.0, "rest", "good", 80, 5.0),
        step(80.0, "confirm", "good", 801, 6.5),
    ]
    fold = LevelsFolded()
    state = fold(progress(step=measured(160.0, 1604, 12.0), steps=steps))
    assert [(row.name, row.sign, row.words) for row in state.rows] == [
        ("20", "other", "probe"),
        ("80", "good", "✓ carried again"),
        ("120", "open", "? disturbed, so it says nothing"),
        ("160", "now", "held now"),
        ("204", "bad", "✗ not carried"),
        ("320", "bad", "✗ overloaded in a probe"),
    ]
    assert [round(row.p95_ms or 0.0, 1) for row in state.rows] == [5.0, 6.5, 8.0, 12.0, 700.0, 900.0]
    steps[3].judgement = Judgement("undecided")  # judged again in the light of later steps
    ended = fold.ended()
    assert ended is not None and [one.words for one in ended.steps][3] == "? undecided" and len(ended.steps) == 6


def test_a_level_that_is_held_again_keeps_its_numbers_until_there_are_new_ones() -> None:
    steps = [step(80.0, "hold", "good", 800, 6.0)]
    warming, measuring = (
        LevelsFolded()(progress("confirm", step=now, steps=steps)).rows[0]
        for now in (Measurement(80.0), measured(80.0, 780, 9.0))
    )
    assert (warming.done_per_s, warming.sign, warming.words) == (800.0, "now", "held now again")
    assert round(warming.p95_ms or 0.0) == 6 and round(measuring.p95_ms or 0.0) == 9


def test_a_load_that_is_held_is_charted_over_time_and_a_search_over_levels() -> None:
    hold, search = LevelsFolded(), LevelsFolded()
    for _ in range(3):
        held = hold(progress("expected", step=measured(160.0, 1604, 12.0), until_s=60.0))
    assert held.phase == "holding" and not held.rows and held.bracket is None
    assert held.course is not None and held.course.done_per_s == (1590.0,) * 3 and held.course.whole_s == 60.0
    found = search(progress("expected", steps=[step(20.0, "probe", "good", 200, 5.0)]))
    assert found.phase == "expected load" and found.course is None and len(found.rows) == 1


def test_what_an_experiment_tells_besides_stands_there_and_a_drain_says_why() -> None:
    state = LevelsFolded()(progress("drain", level=0.0, planned_per_s=0.0, words="  240 items wait"))
    assert state.name == "no load" and state.more == "240 items wait"
    assert state.numbers[0] == "1,590/s done" and state.why == "no new work until what was begun has ended"


def test_trials_have_a_row_for_each_load_and_variant_with_their_means() -> None:
    levels = (TrialLevel(20.0, "20 users"), TrialLevel(40.0, "40 users"))
    variants = (TrialVariant("A", "BASE_URL=http://127.0.0.1:8080"), TrialVariant("B", "new"))
    plan = TrialPlan("compare", variants, levels, 2, 9.0, 1.0, 1, "users", True)
    trial = next(one for one in plan.trials() if one.variant == "B" and one.level.level == 20.0)
    records = [
        {
            "load": "20 users",
            "variant": "A",
            "done_per_s": done,
            "endpoints": [{"operation": None, "request": None, "p95_ms": p95}],
        }
        for done, p95 in ((200.0, 5.0), (202.0, 7.0))
    ]
    fold = TrialsFolded()
    told = TrialProgress(
        3, 8, "new", "20 users", 4, 10, 198.0, "by chance", second(3, 198, 6.0), (), None, records, trial, plan
    )
    state = fold(told)
    assert (
        state.phase == "trial 3 of 8, 4 of 10 s"
        and state.stage == "warming up"
        and state.name == "new, 20 users"
        and state.why == "by chance"
    )
    assert state.second == 24.0 and state.left_s == 56.0
    assert [(row.name, row.done_per_s, row.p95_ms, row.words) for row in state.rows] == [
        ("A, 20 users", 201.0, 6.0, "2 trials"),
        ("new, 20 users", 0.0, None, "the first now"),
    ]
    other = next(one for one in plan.trials() if one.variant == "A")
    named = TrialsFolded()(replace(told, trial=other, label=variants[0].label)).name
    assert named == "A (BASE_URL=http://127.0.0.1:8080), 20 users", "the rows call it A"
    records.append({"load": "20 users", "variant": "B", "done_per_s": 198.0, "endpoints": []})
    ended = fold.ended()
    assert ended is not None and [row.words for row in ended.rows] == ["2 trials", "1 trial"]


def test_a_plain_run_counts_what_failed_since_it_began() -> None:
    fold = RunFolded()
    fold(second(0, 100, 5.0, failed=2, level=1.0))
    state = fold(second(1, 100, 5.0, level=1.0, vus=3, vus_max=20))
    assert state.name == "3 of 20 VUs at work" and state.second == 2.0
    assert state.numbers[-1] == "2 failed (1%)" and state.more == "200 iterations, 200 requests"
    assert fold.ended() is None


def test_the_target_is_told_by_its_busiest_processes_and_each_host() -> None:
    resources = Resources()
    resources.add(
        {
            "source": f"process:{name}",
            "values": {"busiest_thread_cores_used": busy, "cpu_cores_used": 2 * busy, "rss_bytes": 2**20},
        }
        for name, busy in (("idle", 0.0), ("api", 0.98), ("db", 0.4), ("cache", 0.1))
    )
    resources.add(
        [{"source": "host", "values": {"cpu_share": 0.61, "cores": 4.0}}, {"source": "generator", "values": {"x": 1}}]
    )
    assert resources.words() == (
        "api: busiest thread 98% of a core, 2 cores, 1 MiB",
        "db: busiest thread 40% of a core, 0.8 cores, 1 MiB",
        "cache: busiest thread 10% of a core, 0.2 cores, 1 MiB",
        "1 more process",
        "host: 61% of 4 cores",
    )


@pytest.mark.parametrize(
    ("told", "is_well"),
    [
        ({}, True),
        ({"lag_p99_ms": 0.9}, True),
        ({"lag_p99_ms": 5.0}, True),  # a tenth of the response time hides it
        ({"lag_p99_ms": 12.0}, False),
        ({"cpu_s": 0.95}, False),
        ({"cpu_s": 0.95, "threads": 2}, True),
    ],
)
def test_the_generator_is_well_as_long_as_it_neither_lags_nor_is_full(told: dict[str, float], is_well: bool) -> None:
    assert Generator().health(second(1, 100, 100.0, generator=WELL | told), 100.0).is_well is is_well


def test_a_hiccup_of_one_second_is_no_trouble_and_lag_that_lasts_is() -> None:
    generator = Generator()
    late = [
        generator.health(second(at, 100, 5.0, generator=WELL | {"lag_p99_ms": 40.0 * (at == 3)}), 5.0)
        for at in range(8)
    ]
    assert all(one.is_well for one in late)
    lasting = [
        generator.health(second(at, 100, 5.0, generator=WELL | {"lag_p99_ms": 40.0}), 5.0) for at in range(8, 12)
    ]
    assert not lasting[-1].is_well and "lag p99 40 ms" in lasting[-1].words


def test_arrivals_that_were_never_sent_are_told_of_the_generator() -> None:
    found = Generator().health(second(1, 100, 5.0, late=3, dropped=2), 5.0)
    assert found.words.endswith("3 sent late, 2 never sent") and not found.is_well


def test_a_second_without_answers_has_no_p95() -> None:
    assert answers_of(Snapshot(0)).p95_ms is None


def test_a_day_of_seconds_takes_no_more_room_than_some_minutes() -> None:
    seconds = Seconds()
    for number in range(86_400):
        seconds.add(float(number), None if number % 2 else float(number))
    course = seconds.course(None)
    assert len(course.done_per_s) == len(course.p95_ms) < MOST_POINTS
    assert course.seconds * len(course.done_per_s) == pytest.approx(86_400, rel=0.02)
    assert course.done_per_s[-1] > 85_000 and list(course.done_per_s) == sorted(course.done_per_s)
