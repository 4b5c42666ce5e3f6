"""Plans of trials and how they are carried out, on a load source in virtual time."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from itertools import pairwise
from typing import Any

import pytest

from plimsoll.experiments.trials.making import Session, run_trials
from plimsoll.experiments.trials.plan import Trial, TrialLevel, TrialPlan, TrialVariant, differences
from plimsoll.experiments.trials.skipping import dominated, unanswered
from plimsoll.runs.histogram import Histogram
from plimsoll.runs.snapshot import Earlier, Series, Snapshot

LEVELS = (TrialLevel(1.0, "1 user"), TrialLevel(5.0, "5 users"))
PAIRS = TrialPlan(
    "compare", (TrialVariant("a", "old"), TrialVariant("b", "new")), LEVELS, 6, 3.0, 1.0, 7, "users", False
)


class SteadyLoad:
    """Every request takes `ms`; interrupted at the second `interrupt_at`."""

    unit, open = "users", False

    def __init__(self, ms: float, interrupt_at: int | None = None) -> None:
        self.ms, self.interrupt_at = ms, interrupt_at
        self.level, self.second, self.stopped = 0.0, 0, ""

    def start(self) -> None: ...

    def set_level(self, level: float) -> None:
        self.level = level

    def snapshots(self, until_s: float) -> Iterator[Snapshot]:
        while self.second < int(until_s):
            if self.second == self.interrupt_at:
                raise KeyboardInterrupt
            times = Histogram.from_values([self.ms] * 10)
            failed = Series("http_req_failed", "rate", {"name": "GET /"}, passes=1, total=10)
            series = (
                Series.of_trend("http_req_duration", {"scenario": "default", "name": "GET /"}, times),
                Series.of_trend("iteration_duration", {"scenario": "default"}, times),
                failed,
            )
            self.second += 1
            yield Snapshot(self.second - 1, 1000.0 + self.second, self.level, planned=10, done=10, series=series)

    def drain(self, limit_s: float) -> float:
        return 0.0

    def rest(self) -> Iterator[Snapshot]:
        return iter(())

    def stop(self, graceful: bool = True) -> None:
        self.stopped = "graceful" if graceful else "at once"

    def now(self) -> float:
        return float(self.second)


class Kept:
    """What a run directory would hold."""

    def __init__(self) -> None:
        self.seconds: list[int] = []
        self.trials: list[dict[str, Any]] = []
        self.events: list[str] = []

    def set_t0(self, t0_unix: float) -> None: ...

    def append_snapshot(self, snapshot: Any) -> None:
        self.seconds.append(snapshot["second"])

    def append_resource(self, row: Any) -> None: ...

    def append_event(self, kind: str, **details: Any) -> None:
        self.events.append(kind)

    def append_trial(self, trial: Any) -> None:
        self.trials.append(dict(trial))


def load(trial: Trial) -> SteadyLoad:
    return SteadyLoad(10.0 if trial.variant == "a" else 20.0)


def test_pairs_stand_next_to_each_other_and_each_two_begin_with_a_different_arm() -> None:
    trials = PAIRS.trials()
    assert [trial.number for trial in trials] == list(range(1, 25))
    pairs = list(zip(trials[0::2], trials[1::2], strict=True))
    for first, second in pairs:
        assert {first.variant, second.variant} == {"a", "b"}
        assert (first.level, first.repetition, first.seed) == (second.level, second.repetition, second.seed)
    for level in LEVELS:
        begins = [first.variant for first, _ in pairs if first.level == level]
        assert all(set(block) == {"a", "b"} for block in zip(begins[0::2], begins[1::2], strict=True))


def test_the_order_is_drawn_by_the_seed() -> None:
    orders = {tuple((t.variant, t.level.level) for t in replace(PAIRS, seed=seed).trials()) for seed in range(5)}
    assert len(orders) > 1 and PAIRS.trials() == PAIRS.trials()


def test_a_costly_switch_is_made_twice_a_repetition_at_most() -> None:
    variants = [trial.variant for trial in replace(PAIRS, order="grouped").trials()]
    switches = sum(before != after for before, after in pairwise(variants))
    assert switches <= 2 * PAIRS.repetitions - 1
    assert Counter(variants) == {"a": 12, "b": 12}
    begins = variants[0::4]
    assert all(set(block) == {"a", "b"} for block in zip(begins[0::2], begins[1::2], strict=True))


def test_a_trial_counts_its_seconds_after_the_warm_up_and_is_one_line() -> None:
    kept = Kept()
    result = run_trials(replace(PAIRS, repetitions=1, levels=LEVELS[:1]), Session(load, kept))
    assert result.status == "finished" and kept.seconds == list(range(8)), "seconds lie one behind the other"
    first = kept.trials[0]
    assert (first["measured_from_s"], first["end_s"], first["seconds"]) == (1, 4, 3)
    every = first["endpoints"][0]
    assert (every["count"], every["failed"], every["requests"]) == (30, 3, 30)
    expected = 10.0 if first["variant"] == "a" else 20.0
    assert every["p95_ms"] == pytest.approx(expected, rel=1e-3) and first["work"]["mean_ms"] == expected
    assert {(one["operation"], one["request"]) for one in first["endpoints"]} == {
        (None, None), ("default", None), (None, "GET /"),
    }  # fmt: skip


def test_what_ends_after_a_trial_counts_for_it_and_what_ended_of_its_warm_up_does_not() -> None:
    def answers(ms: float, count: int, epoch: int | None = None) -> tuple[Series, ...]:
        tags = {"scenario": "default", "name": "GET /"}
        times = replace(Series.of_trend("http_req_duration", tags, Histogram.from_values([ms] * count)), epoch=epoch)
        return times, Series("http_req_failed", "rate", tags, passes=0, total=count, epoch=epoch)

    class Slow(SteadyLoad):
        epoch = 0

        def set_level(self, level: float) -> None:
            self.epoch += 1

        def snapshots(self, until_s: float) -> Iterator[Snapshot]:
            while self.second < int(until_s):
                old = answers(900, 2, epoch=1) if self.epoch == 2 else ()
                yield Snapshot(self.second, planned=10, done=10, epoch=self.epoch, series=(*answers(10, 8), *old))
                self.second += 1

        def rest(self) -> Iterator[Snapshot]:
            assert (self.stopped, self.epoch) == ("graceful", 3), "no arrival after the trial is taken for one of it"
            waits = Earlier(2, done=4, unfinished=3, waiting_for={"GET /": 3})
            yield Snapshot(4, epoch=3, series=answers(500, 4, epoch=2), earlier=(waits,))
            yield Snapshot(5, epoch=3, earlier=(Earlier(2, interrupted=3),))

    kept = Kept()
    run_trials(replace(PAIRS, repetitions=1, levels=LEVELS[:1]), Session(lambda trial: Slow(1.0), kept))
    every = kept.trials[0]["endpoints"][0]
    assert (every["count"], every["failed"], every["requests"]) == (28, 3, 31)
    assert every["max_ms"] == 500 and kept.trials[0]["causes"] == {"no answer when the load ended": 3}
    assert (kept.trials[0]["done"], kept.trials[0]["seconds"]) == (30, 3), "completions are those of its seconds"
    assert kept.seconds[:6] == [0, 1, 2, 3, 4, 5]


def test_an_interrupted_session_keeps_complete_trials_and_a_resumed_one_makes_the_rest() -> None:
    plan, kept, sources = replace(PAIRS, repetitions=1), Kept(), []

    def breaks(trial: Trial) -> SteadyLoad:
        sources.append(SteadyLoad(10.0, interrupt_at=2 if trial.number == 3 else None))
        return sources[-1]

    told: list[str] = []  # what of the load had ended when it was told: it said "stopping" when all was over
    first = run_trials(plan, Session(breaks, kept, on_interruption=lambda: told.append(sources[-1].stopped)))
    assert told == [""]
    assert first.status == "interrupted" and [one["trial"] for one in kept.trials] == [1, 2]
    assert sources[-1].stopped == "at once" and "interrupted" in kept.events
    second = run_trials(plan, Session(load, kept, complete=list(kept.trials), begin_s=kept.seconds[-1] + 1))
    assert second.status == "finished" and [one["trial"] for one in kept.trials] == [1, 2, 3, 4]
    assert len(kept.seconds) == len(set(kept.seconds)), "no second is there twice"


def test_what_surrounds_a_trial_is_entered_before_it_and_left_when_it_failed() -> None:
    steps = []

    @contextmanager
    def around(trial: Trial) -> Iterator[None]:
        steps.append(f"enter {trial.variant}")
        try:
            yield
        finally:
            steps.append("leave")

    class Broken(SteadyLoad):
        def start(self) -> None:
            raise RuntimeError("no")

    with pytest.raises(RuntimeError):
        run_trials(PAIRS, Session(lambda trial: Broken(1.0), Kept(), around=around))
    assert len(steps) == 2 and steps[1] == "leave"


def test_a_cell_without_an_answer_ends_those_that_are_larger_in_every_parameter() -> None:
    variants = tuple(TrialVariant(f"R={r}", f"R={r}", {"variables": {"R": r}}) for r in ("1", "10", "100"))
    analysis = {"over": {"R": ["1", "10", "100"], "users": ["1", "5"]}, "level_parameter": "users"}
    plan = TrialPlan("sweep", variants, LEVELS, 1, 1.0, 0.0, 1, "users", False, order="ascending", analysis=analysis)
    skip = dominated(plan)
    silent = [{"trial": 9, "variant": "R=10", "level": 1.0, "load": "1 user", "answered": 0}]
    tried = {(trial.variant, trial.level.level): skip(trial, silent) for trial in plan.trials()}
    made = {cell for cell, reason in tried.items() if reason is None}
    assert made == {("R=1", 1.0), ("R=1", 5.0)}
    assert "nothing answered in trial 9 (R=10, 1 user)" in str(tried["R=100", 5.0])


def test_nothing_more_is_tried_once_a_variant_answers_no_more() -> None:
    def said(*answers: tuple[str, int]) -> list[str]:
        records = [{"trial": at, "variant": name, "answered": count} for at, (name, count) in enumerate(answers, 1)]
        return [reason for trial in PAIRS.trials() if (reason := unanswered(PAIRS)(trial, records)) is not None]

    assert not said(("a", 9), ("b", 0), ("b", 3), ("a", 9), ("b", 0)), "one silent trial may have met a restart"
    dead = said(("a", 9), ("b", 0), ("b", 0), ("a", 9))
    assert len(dead) == len(PAIRS.trials()) and set(dead) == {"nothing of new answered in trials 2 and 3"}


def test_plans_that_differ_say_where() -> None:
    before, now = PAIRS.to_json(), replace(PAIRS, repetitions=20).to_json()
    assert differences(before, now) == ["repetitions: 6 there, 20 now"]
    changed = replace(PAIRS, variants=(PAIRS.variants[0], TrialVariant("b", "new", {"sha256": "1"})))
    assert differences(before, changed.to_json()) == ["variants[b].facts.sha256: nothing there, 1 now"]
    assert differences(before, before) == []
