"""The published tables of the field reports: the authors' conclusions come out, or are contradicted with the reason, or
are "figure not published". Figures are those printed as text; each row names its line in the source."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from plimsoll.findings.table_levels import levels_finding
from plimsoll.runs.importers import level_table
from plimsoll.runs.importers.lines import SourceFile
from plimsoll.runs.step_table import StepTable
from plimsoll.stats.littles_law import think_time_s

FIELD = Path(__file__).parent / "field"


def table(name: str) -> StepTable:
    return level_table.read(SourceFile(FIELD / name))


def levels(name: str, *objectives: str, request: str | None = None) -> dict[str, Any]:
    wanted = [{"objective": text, **({"request": request} if request else {})} for text in objectives]
    return levels_finding(table(name), wanted)


def test_kiwi_with_one_client_cannot_tell_a_capacity_and_agrees_with_littles_law() -> None:
    found = levels("kiwi-write.csv")
    assert found["capacity"] is None and "the only level with a throughput is 1" in found["answer"]
    assert not any("contradict" in note for note in found["notes"])
    assert think_time_s(1, 71_500 / 3600, 0.050) == pytest.approx(0.000350, abs=1e-5)


def test_kiwi_read_times_decide_what_lies_outside_their_extremes_and_nothing_with_five_samples() -> None:
    found = levels("kiwi-read.csv", "max<=1200ms", "p95<=2s", request="TestCase.filter")
    verdicts = [entry["verdicts"][0] for entry in found["objectives"]]
    assert verdicts[0]["value"] == 1500 and verdicts[0]["verdict"] == "undecided"  # five samples
    assert verdicts[1]["bounds"] == [648, 1500] and verdicts[1]["verdict"] == "undecided"
