"""Each level of a search says why it is held: to who watches, and in the run."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest

from plimsoll.experiments.capacity import why_next
from plimsoll.experiments.capacity.experiment import run_capacity
from plimsoll.experiments.capacity.ramp import NextProbe, Ramp
from plimsoll.experiments.capacity.result import CapacitySettings
from plimsoll.experiments.capacity.search import Goal, Trial, propose
from plimsoll.experiments.load import LoadSource
from plimsoll.experiments.long_runs.hold import HELD, HoldSettings, run_hold
from plimsoll.experiments.steps.measure import Measurement
from plimsoll.experiments.steps.record import Progress
from plimsoll.stats.throughput.plateau import Plateau

sys.path.insert(0, str(Path(__file__).parents[2] / "accuracy"))
from simulators import ClosedQueue, OpenQueue

GOAL = Goal(0.10)


class Kept:
    """A writer that keeps the events."""

    def __init__(self) -> None:
        self.events: list[dict[str, Any]] = []

    def set_t0(self, t0_unix: float) -> None: ...

    def append_snapshot(self, snapshot: Any) -> None: ...

    def append_resource(self, row: Any) -> None: ...

    def append_event(self, kind: str, *, second: float, **details: Any) -> None:
        self.events.append({"kind": kind, "second": second, **details})


def words_for(trials: list[Trial], hurry: bool = False) -> str:
    proposal = propose(trials, GOAL, GOAL.half_width, hurry)
    assert proposal is not None
    return why_next.words_of(proposal, "users")


def test_a_level_near_the_estimate_names_it_and_what_it_is_to_prove() -> None:
    probe = Trial(200, "bad", Plateau(100, 0.02))
    assert words_for([probe]) == "just above the estimated capacity of 100 users, to prove that it is not carried"
    held = Trial(105, "bad", Plateau(100, 0.01))
    assert words_for([probe, held]).startswith("just below the estimated capacity of 100 users, to prove that it is c")
    assert words_for([probe], hurry=True).startswith("well below the estimated capacity of 100 users, ")


def test_a_level_without_an_estimate_says_so() -> None:
    assert words_for([Trial(100, "good"), Trial(400, "bad")]).endswith("; no step has shown the capacity yet")


def test_a_level_that_a_higher_one_contradicts_is_held_again_for_that() -> None:
    trials = [Trial(100, "bad"), Trial(120, "good"), Trial(90, "good")]
    assert words_for(trials) == "not carried before; held again, as a higher level was carried since"


def test_between_the_bounds_of_a_target_that_collapses_the_estimate_is_not_named() -> None:
    trials = [Trial(100, "good"), Trial(160, "bad", Plateau(40, 0.01), own=True), Trial(120, "bad", Plateau(80, 0.01))]
    assert "overload does not tell the capacity here" in words_for(trials)


def test_the_ramp_says_how_it_rises_and_where_it_is_bounded() -> None:
    ramp = Ramp(CapacitySettings(max_level=100.0), "users")
    many, few = Measurement(10.0, planned=[100], done=[100], seconds=[1]), Measurement(10.0, planned=[5], seconds=[1])
    assert ramp.next_probe(10.0, many, 0.0) == NextProbe(20.0, "twice the level before, where nothing waited")
    assert ramp.next_probe(10.0, many, 60.0) == NextProbe(
        14.0, "a little above the level before, where work began to wait"
    )
    found = ramp.next_probe(10.0, few, 0.0)
    assert found is not None and found.level == 40.0 and "too few arrivals" in found.why
    assert ramp.next_probe(60.0, many, 0.0) == NextProbe(100.0, "the greatest level that is allowed")
    assert ramp.next_probe(100.0, many, 0.0) is None


@pytest.mark.parametrize(
    ("source", "settings"),
    [
        (OpenQueue(1, 1 / 300, 3), CapacitySettings(arrivals_per_level_s=1.0, expected_level=100.0)),
        (ClosedQueue(4, 4 / 300, 0.2, 3), CapacitySettings(expected_level=20.0)),
    ],
)
def test_every_level_of_a_search_tells_why(source: LoadSource, settings: CapacitySettings) -> None:
    told: list[Progress] = []
    steps: list[int] = []
    writer = Kept()

    def see(progress: Progress) -> None:
        told.append(progress)
        steps.append(len(progress.steps))

    found = run_capacity(source, settings, writer, on_progress=see)
    begun = [event for event in writer.events if event["kind"] in ("step_started", "recovery_started")]
    assert len(begun) == len(found.steps) > 4 and all(event.get("why") for event in begun)
    assert {why_next.FIRST, why_next.CONFIRMED} <= {event["why"] for event in begun}
    held = [one for one in told if one.step is not None]
    assert held and all(one.why for one in held) and all(one.until_s == settings.load_budget_s for one in told)
    assert not any(one.why for one in told if one.step is None)
    assert steps == sorted(steps) and steps[-1] in (len(found.steps), len(found.steps) - 1)
    assert all(one.snapshot is not None and one.snapshot.second + 1 == one.second for one in told)


def test_a_held_load_says_when_it_ends() -> None:
    told: list[Progress] = []
    run_hold(OpenQueue(1, 1 / 300, 3), HoldSettings(100.0, 40.0, 10.0, 0.0), on_progress=told.append)
    assert {one.why for one in told if one.step is not None} == {HELD}
    assert {one.until_s for one in told} == {50.0}
