"""Two sets of finished runs are compared at the same load, or not at all."""

from __future__ import annotations

import itertools
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import plimsoll
from plimsoll.errors import InputError
from plimsoll.findings.of_run import findings_of_run
from plimsoll.runs.histogram import Histogram
from plimsoll.runs.reader import RunReader
from plimsoll.runs.snapshot import Series, Snapshot
from plimsoll.runs.writer import RunFacts, RunWriter
from plimsoll.study.secrets.redactor import Redactor

CLOCK = itertools.count(10.0, 10.0)


def write_run(folder: Path, ms: float, rate: int = 0, vus: int = 0) -> Path:
    """A run of five seconds with `rate` arrivals each, or of `vus` VUs, or of neither known; the next starts later."""
    start = next(CLOCK)
    draw = np.random.default_rng(int(start))
    times = iter([start, start + 5, start + 5])
    with RunWriter.create(folder, RunFacts("run"), redactor=Redactor(), clock=lambda: next(times), tables=False) as run:
        for second in range(5):
            count = rate or round(vus * 1000 / ms) or 400
            values = Histogram.from_values(ms * np.exp(0.1 * draw.standard_normal(count)))
            names = ["http_req_duration", *(["iteration_duration"] if rate or vus else [])]
            names += ["iteration_response_time"] if rate else []
            series = tuple(Series.of_trend(name, {"scenario": "default"}, values) for name in names)
            planned = count if rate or vus else 0
            run.append_snapshot(Snapshot(second, start + second, vus=vus, planned=planned, done=count, series=series))
    return run.path


def compared(folder: Path, a: list[Path], b: list[Path]) -> dict[str, Any]:
    request = plimsoll.CompareRequest(runs_a=tuple(a), runs_b=tuple(b))
    [finding] = plimsoll.compare(request, plimsoll.TrialChoices(runs=folder / "runs")).findings
    return finding


def test_runs_at_different_loads_are_refused_with_their_loads_and_what_to_do(tmp_path: Path) -> None:
    a, b = ([write_run(tmp_path / "made", ms, rate) for _ in range(2)] for ms, rate in ((100, 20), (141, 150)))
    with pytest.raises(InputError, match="do not hold the same loads") as found:
        compared(tmp_path, a, b)
    words = str(found.value)
    assert f"20 arrivals/s: A {a[0]} and {a[1]}, B none; 150 arrivals/s: A none, B {b[0]} and {b[1]}" in words
    assert words.endswith("and leave the others out.") and not (tmp_path / "runs").exists()


def test_one_run_at_another_load_is_refused_too(tmp_path: Path) -> None:
    a, b = ([write_run(tmp_path / "made", 100, rate) for rate in rates] for rates in ((20, 20, 20), (20, 20, 40)))
    with pytest.raises(InputError, match=f"40 arrivals/s: A none, B {b[2]}"):
        compared(tmp_path, a, b)


def test_arrivals_and_vus_are_no_comparison_although_both_have_them(tmp_path: Path) -> None:
    a, b = ([write_run(tmp_path / "made", 100, *load) for load in ((20, 0), (20, 0), (0, 5), (0, 5))] for _ in "ab")
    with pytest.raises(InputError, match="all with arrival rates or all with VUs"):
        compared(tmp_path, a, b)


@pytest.mark.parametrize("kind", ["rate", "vus"])
def test_sets_with_the_same_three_loads_are_compared_load_by_load(tmp_path: Path, kind: str) -> None:
    sets: dict[str, list[Path]] = {"a": [], "b": []}
    for _ in range(4):
        for load in (50, 100, 200):
            for arm, ms in (("a", 100.0), ("b", 150.0 if load == 200 else 100.0)):
                sets[arm].append(write_run(tmp_path / "made", ms, **{kind: load}))
    finding = compared(tmp_path, sets["a"], sets["b"])
    unit = "arrivals/s" if kind == "rate" else "VUs"
    medians = [one for one in finding["comparisons"] if one["primary"] and one["statistic"] == "p50"]
    assert [one["load"] for one in medians] == [f"50 {unit}", f"100 {unit}", f"200 {unit}"]
    assert [one["verdict"] == "slower" for one in medians] == [False, False, True]
    assert all(one["paired"] and one["pairs"] == 4 for one in medians)
    assert medians[2]["ratio"] == pytest.approx(1.5, rel=0.05)
    assert f"p50 at 200 {unit} +" in finding["answer"]
    run = RunReader(finding["run"])
    levels = [1.0, 2.0, 4.0] if kind == "rate" else [50.0, 100.0, 200.0]
    assert [one["level"] for one in run.plan()["levels"]] == levels
    assert run.plan()["open"] == (kind == "rate") and run.plan()["repetitions"] == 4


def test_vus_of_a_slower_b_are_the_same_load(tmp_path: Path) -> None:
    runs = [write_run(tmp_path / "made", ms, vus=20) for _ in range(3) for ms in (100, 300)]
    finding = compared(tmp_path, runs[0::2], runs[1::2])
    assert finding["verdict"] == "slower" and "p50 at 20 VUs" in finding["answer"]


def test_loads_that_are_not_known_are_said_and_never_mixed_with_several_that_are(tmp_path: Path) -> None:
    runs = [write_run(tmp_path / "made", 100, rate) for rate in (50, 0, 50, 50)]
    finding = compared(tmp_path, runs[0::2], runs[1::2])
    [note] = [text for text in finding["notes"] if "is not known" in text]
    assert str(runs[1]) in note and str(runs[0]) not in note
    others = [write_run(tmp_path / "made", 100, rate) for rate in (100, 100, 100, 100)]
    with pytest.raises(InputError, match=f"a load that is not known: {runs[1]}"):
        compared(tmp_path, [*runs[0::2], *others[:2]], [*runs[1::2], write_run(tmp_path, 100, 50), *others[2:]])


def test_a_run_of_which_seconds_cannot_be_read_counts_for_nothing_and_is_told(tmp_path: Path) -> None:
    def made(ms: float, *, without: int | None = None) -> Path:
        times = Histogram.from_values(ms * np.exp(0.1 * np.random.default_rng(1).standard_normal(20)))
        series = tuple(Series.of_trend(name, {}, times) for name in ("http_req_duration", "iteration_duration"))
        with RunWriter.create(tmp_path / "made", RunFacts("run"), redactor=Redactor(), tables=False) as run:
            for second in range(8):
                if second != without:
                    generator = {"lag_max_ms": 0.1}
                    run.append_snapshot(
                        Snapshot(second, second, vus=2, planned=20, done=20, series=series, generator=generator)
                    )
        return run.path

    a, b = [made(100.0) for _ in range(3)], [made(100.0), made(100.0), made(100.0, without=4)]
    finding = compared(tmp_path, a, b)
    [excluded] = finding["excluded"]
    assert "1 second of the run cannot be read: its files are damaged there (second 4)" in excluded["reason"]


def test_a_run_without_seconds_and_one_that_was_killed_are_told(tmp_path: Path) -> None:
    a, b = ([write_run(tmp_path / "made", 100, 20) for _ in range(2)] for _ in "ab")
    manifest = json.loads((b[1] / "manifest.json").read_text())
    (b[1] / "manifest.json").write_text(json.dumps(manifest | {"status": "interrupted"}))
    finding = compared(tmp_path, a, b)
    assert f"Not all runs came to their end: {b[1]} (interrupted)." in " ".join(finding["notes"])
    (a[0] / "series.jsonl.zst").write_bytes(b"")
    with pytest.raises(InputError, match="5 seconds of the run cannot be read") as caught:
        compared(tmp_path, a, b)
    assert "--skip" not in str(caught.value)


def test_trials_that_are_gone_are_told_and_the_run_is_to_be_made_again(tmp_path: Path) -> None:
    runs = [write_run(tmp_path / "made", 100, 20) for _ in range(4)]
    compared(tmp_path, runs[:2], runs[2:])
    [made] = (tmp_path / "runs").iterdir()
    (made / "trials.jsonl").unlink()
    [finding] = findings_of_run(RunReader(made))
    assert finding["notes"][0].startswith("A part of trials.jsonl cannot be read")
    assert finding["next"] == ["Make the run again: what is left of it does not answer the question."]
