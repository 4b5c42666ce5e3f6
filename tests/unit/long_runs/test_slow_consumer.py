"""A consumer that takes seconds to read holds up neither other probes nor the load, and is judged by its own times."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from test_simulated_runs import Fed, writer

from plimsoll.experiments.long_runs.drain import DrainSettings, run_drain
from plimsoll.findings.drain.finding import drain_findings
from plimsoll.probes.consumer.probe import ConsumerProbe
from plimsoll.runs import RunReader
from plimsoll.verbs.sampling import Sampling


class Hanging:
    """A number that is told when it is let."""

    def __init__(self) -> None:
        self.let, self.told = threading.Event(), threading.Event()

    def __call__(self) -> float:
        self.let.wait(30)
        self.told.set()
        return 7.0


class Quick:
    source = "quick"

    def sample(self) -> dict[str, float]:
        return {"y": 1.0}

    def take_notes(self) -> list[str]:
        return []


@pytest.fixture
def hanging() -> Iterator[Hanging]:
    found = Hanging()
    yield found
    found.let.set()


def answered(probe: ConsumerProbe) -> bool:
    return all(one._asking is not None and one._asking.done.is_set() for one in probe._beside.values())


def test_a_number_that_takes_three_seconds_costs_other_probes_none_and_stands_in_its_own_second(
    hanging: Hanging,
) -> None:
    probe = ConsumerProbe({"waiting": hanging, "taken_out": lambda: 3.0})
    began_unix = time.time() - 1.0
    rows: list[dict[str, Any]] = []
    with Sampling([], [probe, Quick()], lambda *_: None) as sampling:
        for second in range(4):
            assert not hanging.told.is_set()
            rows += sampling(second, began_unix + second)
        assert [row["second"] for row in rows if row["source"] == "quick"] == [0, 1, 2, 3]
        assert not any("waiting" in row["values"] for row in rows)
        hanging.let.set()
        deadline = time.monotonic() + 30
        while not answered(probe) and time.monotonic() < deadline:
            time.sleep(0.001)
        late = [row for row in sampling(4, began_unix + 4) if "waiting" in row["values"]]
    assert [(row["second"], row["values"]) for row in late] == [(0, {"waiting": 7.0})]
    probe.close()


def test_a_number_that_is_never_told_does_not_put_off_the_end_of_the_load(tmp_path: Path, hanging: Hanging) -> None:
    probe = ConsumerProbe({"waiting": hanging})
    with (
        writer(tmp_path, "drain", "users") as run,
        Sampling([], [probe], lambda *_: None) as sampling,
    ):
        result = run_drain(Fed(80), DrainSettings(50, 30, 2, 5), run, sampling)
        seconds = [snapshot.second for snapshot in RunReader(run.path).snapshots(metrics=()) if snapshot.level > 0]
    assert result.load_to_s - result.load_from_s == pytest.approx(32, abs=1) and result.drained_at_s is None
    assert len(seconds) == pytest.approx(32, abs=1) and not hanging.told.is_set()


class Seldom(Fed):
    """Its numbers are read every third second and told three seconds later; `standing` items wait all the time."""

    def __init__(self, rate: float, standing: float = 0.0, from_s: int = 0) -> None:
        super().__init__(rate)
        self.standing, self.from_s = standing, from_s
        self.on_its_way: list[dict[str, Any]] = []

    def sample(self, second: int, t_unix: float) -> list[dict[str, Any]]:
        [row] = super().sample(second, t_unix)
        if second % 3 or second < self.from_s:
            return []
        told = self.on_its_way
        values = row["values"] | {"waiting": row["values"]["waiting"] + self.standing}
        self.on_its_way = [row | {"values": values}]
        return told


def test_rates_and_the_time_to_drain_are_those_of_the_readings_own_times(tmp_path: Path) -> None:
    load = Seldom(40)
    with writer(tmp_path, "drain", "users") as run:
        result = run_drain(load, DrainSettings(50, 120, 5, 90), run, load.sample)
        main, drained, *_ = drain_findings(RunReader(run.path))
    assert main["keeps_up"] is False and main["consumer"]["taken_per_s"] == pytest.approx(40, rel=0.02)
    assert drained["drain"]["alone_per_s"] == pytest.approx(40, rel=0.05)
    assert drained["drain"]["drained_s"] == pytest.approx(drained["drain"]["backlog"] / 40, abs=4)
    assert result.drained_at_s is not None and result.ended_s > result.drained_at_s + 6
    assert not any("could not be read" in note for note in main["notes"])


@pytest.mark.parametrize(("before", "is_drained"), [({"waiting": 500.0}, True), ({}, False)])
def test_what_waited_before_the_run_is_at_rest_until_there_is_a_reading(
    tmp_path: Path, before: dict[str, float], is_drained: bool
) -> None:
    load = Seldom(80, standing=500.0, from_s=6)
    with writer(tmp_path, "drain", "users") as run:
        result = run_drain(load, DrainSettings(50, 30, 2, 60), run, load.sample, before=before)
    assert (result.drained_at_s is not None) == is_drained


def test_a_follower_is_told_how_old_the_last_reading_is(tmp_path: Path) -> None:
    load, words = Seldom(40), []
    with writer(tmp_path, "drain", "users") as run:
        run_drain(load, DrainSettings(50, 30, 2, 5), run, load.sample, lambda progress: words.append(progress.words))
    assert any(one.endswith("items wait (5 s ago)") for one in words), words[-5:]
