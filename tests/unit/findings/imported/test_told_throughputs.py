"""The throughputs that are told of a curve: one computation, and no word that the levels contradict."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from plimsoll.findings.imported.level_means import LevelMean, fall_of, highest_of, is_level, plateau_of
from plimsoll.findings.imported.run import Stretch, repeats_of
from plimsoll.findings.imported.table_curve import curve_of
from plimsoll.findings.imported.table_levels import levels_finding
from plimsoll.runs.readings.step_table import Row, StepTable

LEVELS = (1, 5, 10, 20, 40, 60)


def counted(levels: Sequence[float], done: Sequence[int], failed: Sequence[int] | None = None) -> StepTable:
    """Rows of a minute at each level, whose requests are counted."""
    rows = [
        Row(level=level, throughput_per_s=count / 60, samples=count, failed=bad, duration_s=60.0)
        for level, count, bad in zip(levels, done, failed or [0] * len(done), strict=True)
    ]
    return StepTable(tuple(rows))


def told(table: StepTable) -> dict[str, Any]:
    return levels_finding(table)


def flat(seed: int) -> StepTable:
    """As a target that one user keeps busy counts: 96/s at all levels."""
    return counted(LEVELS, np.random.default_rng(seed).poisson(96 * 60, len(LEVELS)).tolist())


@pytest.mark.parametrize("seed", range(20))
def test_a_throughput_that_is_the_same_everywhere_is_told_as_one_mean_and_does_not_rise(seed: int) -> None:
    table = flat(seed)
    found = told(table)
    mean = sum(row.samples or 0 for row in table.rows) / 360
    assert found["answer"].startswith("Throughput does not rise with the load: from 1 to 60 users it is ")
    [number] = re.findall(r"it is ([\d.]+)/s, the mean of 6 levels", found["answer"])
    assert float(number) == pytest.approx(mean, rel=0.003) and "rises" not in found["answer"]


@pytest.mark.parametrize("seed", range(20))
def test_no_rate_in_an_answer_exceeds_the_most_that_is_told_and_each_is_a_mean_that_was_measured(seed: int) -> None:
    levels = [10.0 * place for place in range(1, 13)]
    draw = np.random.default_rng(seed)
    table = counted(levels, [int(draw.poisson(60 * min(level, 62.0))) for level in levels])
    found = told(table)
    means = {row.level: row.throughput_per_s or 0.0 for row in table.rows}
    capacity = found["capacity"]
    assert capacity["most_per_s"] == max(means.values()) == means[capacity["most_at"]]
    for level, rate in re.findall(r"([\d.]+) users \(([\d.]+)/s\)", found["answer"]):
        assert float(rate) == pytest.approx(means[float(level)], rel=0.006)
    above = [rate for level, rate in means.items() if level >= capacity["bad"]]
    assert capacity["plateau_per_s"] == pytest.approx(sum(above) / len(above))
    assert f"the mean of {len(above)} levels" in found["answer"] and "falls" not in found["answer"]


def test_a_fall_is_told_only_beyond_chance() -> None:
    steps = [10.0, 20.0, 40.0, 60.0, 80.0]
    noisy = told(counted(steps, [600, 1200, 2460, 2390, 2300]))
    assert "falls" not in noisy["answer"]
    falling = told(counted(steps, [600, 1200, 2400, 1800, 1200]))
    assert "past 40 users it falls, by 50% to 20/s at 80 users" in falling["answer"]


def test_a_throughput_that_only_falls_is_told_as_that() -> None:
    found = told(counted([5, 10, 20, 40], [6000, 5400, 3600, 1200]))
    assert found["answer"].startswith("Throughput falls with the load: from 100/s at 5 users to 20/s at 40 users.")


def test_failures_beside_a_plateau_are_in_the_answer() -> None:
    some = told(counted([10, 20, 40, 60, 80], [600, 1200, 2000, 2000, 2000], [0, 0, 0, 0, 300]))
    assert "From 80 users on 15% of the requests fail, 0% at 10" in some["answer"]
    everywhere = told(counted([10, 20, 40, 60], [600, 1200, 2000, 2000], [120, 240, 400, 400]))
    assert "20% of the requests fail; throughput counts good answers only" in everywhere["answer"]


def test_where_it_begins_to_flatten_stands_in_an_answer_without_a_plateau_and_never_against_the_bracket() -> None:
    rising = told(counted([2, 6, 12, 24], [1200, 3480, 4800, 6300]))
    assert "begins to flatten between 6 and 12 users" in rising["answer"] and "No plateau was seen" in rising["answer"]
    for seed in range(40):
        draw = np.random.default_rng(seed)
        levels = sorted(draw.choice(np.arange(1, 200), 8, replace=False).tolist())
        done = [int(draw.poisson(60 * min(level / 2, 30.0))) for level in levels]
        found = told(counted(levels, done))
        for _, words in found["facts"]:
            low, high = (float(text) for text in re.findall(r"[\d.]+", words))
            capacity = found["capacity"]
            assert low >= (capacity["good"] or 0) and high <= (capacity["bad"] or high)


def test_a_level_held_twice_with_throughputs_that_differ_is_mixed() -> None:
    """Two tests in one file: the second target does half of what the first did."""

    def stretch(level: float, start: int, per_s: int) -> Stretch:
        count = 60 * per_s
        return Stretch(level, start, start + 60, done=[per_s] * 60, requests={None: count}, failed={None: 0})

    held = [stretch(10 * place, 60 * place, 10 * place) for place in (1, 2, 3, 4)]
    held += [stretch(10 * place, 600 + 60 * place, 5 * place) for place in (1, 2, 3, 4)]
    table = counted([10, 20, 30, 40], [900, 1800, 2700, 3600])
    curve = curve_of(table, "closed", (), repeats_of(held))
    assert curve.mixed == {10 * place: (10.0 * place, 5.0 * place) for place in (1, 2, 3, 4)}
    found = levels_finding(table, curve=curve)
    assert "The repeats of 4 of 4 levels disagree" in found["answer"] and found["capacity"] is None
    assert any("analyze each test by itself" in step for step in found["next"])
    steady = [stretch(10, 60, 10), stretch(10, 600, 11)]
    assert not curve_of(table, "closed", (), repeats_of(steady)).mixed


def test_means_of_levels() -> None:
    means = [LevelMean(10, 100.0, 0.01, 60), LevelMean(20, 110.0, 0.01, 30), LevelMean(30, 110.0, 0.01, 30)]
    plateau, top = plateau_of(means), highest_of(means)
    assert plateau is not None and (plateau.per_s, plateau.least, plateau.most) == (105.0, 100.0, 110.0)
    assert top is not None and top.level == 20 and fall_of(means) is None and not is_level(means)
    unknown = [LevelMean(10, 100.0), LevelMean(20, 50.0)]
    assert fall_of(unknown) == pytest.approx(0.5) and plateau_of([]) is None and highest_of([]) is None


def test_a_table_on_disk_tells_the_same(tmp_path: Path) -> None:
    from plimsoll.verbs.analysis import AnalysisChoices, analyze

    (tmp_path / "t.csv").write_text("users,throughput (req/s)\n2,96\n6,97\n12,96\n60,96.5\n")
    [answer] = analyze([tmp_path / "t.csv"], AnalysisChoices(tmp_path / "runs", report=False))
    assert "does not rise with the load: from 2 to 60 users it is 96.4/s" in answer.findings[0]["answer"]
