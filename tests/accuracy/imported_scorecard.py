"""The knee of another tool's test, from the file alone: JTL, k6 JSON and Locust history of ten shapes of load.

Truth: N* of a simulated closed queue (imported_shapes.py). Right: the knee that `analyze` tells is within 15% of it;
where it tells a bracket only, its geometric middle stands for the knee. Rules were tuned on the shapes of TUNED and on
seeds below 1,000; those of KEPT_OUT and the seeds of the scorecard were not looked at meanwhile.
"""

from __future__ import annotations

import math
import tempfile
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

from imported_shapes import KEPT_OUT, SHAPES, WRITERS, drawn, played
from score_line import Job, Line, Lines

from plimsoll.verbs.analysis import AnalysisChoices, analyze

WITHIN = 0.15
REPEAT = 10


def told_knee(findings: list[dict[str, Any]]) -> float | None:
    """The knee in users; the middle of the bracket where only that is told, None without one."""
    capacity = next((one["capacity"] for one in findings if one.get("capacity")), None)
    if capacity is None:
        return None
    if capacity.get("knee"):
        return float(capacity["knee"])
    good, bad = capacity["good"], capacity["bad"]
    return math.sqrt(good * bad) if good and bad else None


def trial(shape: str, tool: str, seed: int) -> tuple[float | None, float]:
    """(knee told, N*) of one simulated test."""
    truth = drawn(seed)
    run = played(SHAPES[shape], truth, seed)
    with tempfile.TemporaryDirectory(prefix="plimsoll-imported-") as folder:
        file = Path(folder) / "results"
        WRITERS[tool](run, file)
        [analysed] = analyze([file], AnalysisChoices(runs=Path(folder) / "runs", report=False))
    return told_knee(analysed.findings), truth.knee


def line(shape: str, repeat: int, first_seed: int) -> Lines:
    """One shape in all three formats."""
    found = [trial(shape, tool, first_seed + seed) for tool in WRITERS for seed in range(repeat)]
    told = [(knee, truth) for knee, truth in found if knee is not None]
    near = sum(abs(knee / truth - 1) <= WITHIN for knee, truth in told)
    kept = ", kept out of tuning" if shape in KEPT_OUT else ""
    what = f"imported (JTL, k6, Locust): {shape}{kept}: knee within 15% of N*"
    return [Line("A7", what, near, len(told), len(found), "≥", 0.90, True)]


def jobs(scale: float, first_seed: int) -> Iterator[Job]:
    """10 tests of each shape and tool at scale 1."""
    for shape in SHAPES:
        repeat = max(2, round(REPEAT * scale))
        yield Job(f"A7 imported {shape}", partial(line, shape, repeat, first_seed))
