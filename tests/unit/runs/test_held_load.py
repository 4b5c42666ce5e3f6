"""Which load a run held, from made-up seconds, and which loads are the same."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

from plimsoll.runs.reader import RunReader
from plimsoll.runs.readings.held_load import HeldLoad, by_load, held_load
from plimsoll.runs.snapshot import Series, Snapshot
from plimsoll.runs.writer import RunFacts, RunWriter
from plimsoll.study.secrets.redactor import Redactor


def run_of(
    folder: Path,
    planned: Sequence[int],
    vus: Sequence[int] | None = None,
    of_arrivals: float = 1.0,
    facts: RunFacts | None = None,
) -> RunReader:
    """A run of these arrivals (VUs) in its seconds; `of_arrivals`: the share of its iterations that were arrivals."""
    facts = facts or RunFacts("run")
    with RunWriter.create(folder, facts, redactor=Redactor(), tables=False) as run:
        for second, count in enumerate(planned):
            counts = {"iteration_duration": count, "iteration_response_time": round(of_arrivals * count)}
            series = tuple(Series(name, "trend", count=n, sum=5.0 * n) for name, n in counts.items() if n)
            busy = vus[second] if vus is not None else 1
            run.append_snapshot(Snapshot(second, vus=busy, planned=count, done=count, series=series))
    return RunReader(run.path)


def test_the_seconds_that_start_and_end_cut_short_do_not_count(tmp_path: Path) -> None:
    load = held_load(run_of(tmp_path, [31, 50, 50, 50, 24, 0, 0]))
    assert load == HeldLoad("arrivals", 50.0) and load.words == "50 arrivals/s"
    assert held_load(run_of(tmp_path, [20, 20, 80, 80, 80, 80, 80]), skip_s=2) == HeldLoad("arrivals", 80.0)


def test_vus_are_told_from_arrivals_whatever_they_got_done(tmp_path: Path) -> None:
    load = held_load(run_of(tmp_path, [90, 80, 85, 3], [20, 20, 20, 0], of_arrivals=0))
    assert load is not None and (load.kind, load.words) == ("vus", "20 VUs")


def test_arrivals_beside_vus_are_counted_alone(tmp_path: Path) -> None:
    load = held_load(run_of(tmp_path, [80] * 10, of_arrivals=0.75))
    assert load is not None and load.kind == "mixed" and load.size == pytest.approx(60)
    assert load.words == "60 arrivals/s beside VUs" and not load.same(HeldLoad("arrivals", 60))


@pytest.mark.parametrize(("model", "words"), [("open", "40 arrivals/s"), ("closed", "7 VUs"), (None, None)])
def test_another_tool_s_results_say_it_or_nobody_does(tmp_path: Path, model: str | None, words: str | None) -> None:
    facts = RunFacts("analyze", options={"model": model})
    load = held_load(run_of(tmp_path, [40] * 5, [7] * 5, of_arrivals=0, facts=facts))
    assert (load.words if load else None) == words


def test_a_run_in_which_nothing_was_planned_has_no_load(tmp_path: Path) -> None:
    assert held_load(run_of(tmp_path, [0, 0, 0])) is None
    assert held_load(run_of(tmp_path, [50] * 4), skip_s=9) is None


def test_random_arrivals_of_one_rate_are_the_same_load_and_of_another_are_not(tmp_path: Path) -> None:
    draw = np.random.default_rng(4)
    loads = {
        (rate, n): held_load(run_of(tmp_path, list(map(int, draw.poisson(rate, 20)))))
        for rate in (20, 40)
        for n in range(20)
    }
    groups = by_load({name: load for name, load in loads.items() if load is not None})
    assert [sorted(group) for group in groups] == [[(rate, n) for n in range(20)] for rate in (20, 40)]


def test_even_arrivals_differ_from_five_per_cent_on(tmp_path: Path) -> None:
    first, near, far = (held_load(run_of(tmp_path, [rate] * 6)) for rate in (100, 104, 107))
    assert first is not None and near is not None and far is not None
    assert first.same(near) and not first.same(far)


def test_vus_of_a_run_of_seconds_may_be_there_for_one_more_or_less(tmp_path: Path) -> None:
    short, longer = (held_load(run_of(tmp_path, [9] * 3, vus, of_arrivals=0)) for vus in ([3, 3, 1], [3, 3, 3]))
    assert short is not None and longer is not None and short.same(longer)
    hour, other = (held_load(run_of(tmp_path, [9] * 300, [vus] * 300, of_arrivals=0)) for vus in (20, 22))
    assert hour is not None and other is not None and not hour.same(other)
