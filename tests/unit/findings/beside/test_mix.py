"""Whether the mix of the work stays, from iterations of known operations at each level."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from findings_as_json import checked

from plimsoll.findings.beside.further import findings_beside
from plimsoll.findings.beside.mix import QUESTION
from plimsoll.runs import Histogram, RunFacts, RunReader, RunWriter, Series, Snapshot
from plimsoll.study.secrets.redactor import Redactor

STEP_S = 10
GROUPS = [{"name": "read", "exec": "read"}, {"name": "write", "exec": "write"}]
# level: iterations a second of reads and of writes, and how long a write takes, ms
STARVING = {20.0: (16, 4, 50.0), 40.0: (32, 8, 50.0), 160.0: (140, 28, 90.0), 640.0: (500, 1, 20_000.0)}


def run_of(folder: Path, levels: dict[float, tuple[int, int, float]], groups: Any = GROUPS) -> RunReader:
    facts = RunFacts("capacity", t0_unix=1e9, study={"workload": {"groups": groups}})
    writer = RunWriter.create(folder, facts, tables=False, redactor=Redactor())
    with writer:
        for place, (reads, writes, write_ms) in enumerate(levels.values()):
            for second in range(place * STEP_S, (place + 1) * STEP_S):
                series = [
                    Series.of_trend("iteration_duration", {"scenario": name}, Histogram.from_values(np.full(count, ms)))
                    for name, count, ms in (("read", reads, 10.0), ("write", writes, write_ms))
                    if count
                ]
                writer.append_snapshot(Snapshot(second, 1e9 + second, done=reads + writes, series=tuple(series)))
    return RunReader(writer.path)


def main_of(levels: dict[float, Any], good: float | None = 160.0, model: str = "closed", **own: Any) -> dict[str, Any]:
    steps = [
        {"level": level, "measured_from_s": place * STEP_S, "end_s": (place + 1) * STEP_S, "step_kind": "hold"}
        for place, level in enumerate(levels)
    ]
    capacity = {"unit": "users", "model": model, "good": good, "bad": 640.0}
    about = {"experiment": "capacity", "status": "finished", "valid": True, "run": None}
    return {**about, "capacity": capacity, "steps": steps, **own}


def test_an_operation_that_all_but_stops_is_named_at_the_lowest_level_where_it_does(tmp_path: Path) -> None:
    [found] = checked(findings_beside(run_of(tmp_path, STARVING), [main_of(STARVING)]))
    assert found["question"] == QUESTION
    assert found["answer"].startswith(
        "No: at 640 users write makes 0.2% of the iterations (20% at low load) and takes 20 s (50 ms)."
    )
    assert [len(row["starved"]) for row in found["mix"]] == [0, 0, 0, 1]
    assert found["mix"][2]["shares"]["write"] == pytest.approx(28 / 168)
    assert found["next"]


def test_a_mix_that_stays_and_one_that_shifts_a_little_are_told_so(tmp_path: Path) -> None:
    levels = {20.0: (16, 4, 50.0), 160.0: (140, 28, 90.0), 640.0: (500, 50, 900.0)}  # 20, 17 and 9%
    [found] = checked(findings_beside(run_of(tmp_path, levels), [main_of(levels)]))
    assert found["answer"].startswith("Yes: ") and found["next"] == []


def test_an_operation_of_which_none_ended_is_told_so(tmp_path: Path) -> None:
    levels = {20.0: (16, 4, 50.0), 640.0: (500, 0, 0.0)}
    [found] = checked(findings_beside(run_of(tmp_path, levels), [main_of(levels)]))
    assert "write makes 0% of the iterations (20% at low load): none ended" in found["answer"]


@pytest.mark.parametrize(
    ("levels", "groups", "own"),
    [
        (STARVING, GROUPS[:1], {}),
        (STARVING, GROUPS, {"experiment": "hold"}),
        (STARVING, GROUPS, {"model": "open"}),
        ({160.0: (140, 28, 90.0), 640.0: (500, 1, 9.0)}, GROUPS, {}),  # nothing at low load
        ({20.0: (1, 0, 50.0), 640.0: (500, 1, 9.0)}, GROUPS, {}),  # too little there
    ],
)
def test_where_there_is_nothing_to_compare_nothing_is_said(
    tmp_path: Path, levels: Any, groups: Any, own: dict[str, Any]
) -> None:
    found = findings_beside(run_of(tmp_path, levels, groups), [main_of(levels, **own)])
    assert QUESTION not in [one["question"] for one in found]


def test_a_run_that_carries_nothing_has_no_low_load(tmp_path: Path) -> None:
    assert findings_beside(run_of(tmp_path, STARVING), [main_of(STARVING, good=None)]) == []
