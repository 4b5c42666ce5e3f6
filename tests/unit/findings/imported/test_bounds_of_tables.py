"""The asymptotic bounds that a step table tells, as a note without an interval."""

from __future__ import annotations

from plimsoll.findings.imported.table_levels import levels_finding
from plimsoll.runs.readings.step_table import Row, StepTable


def notes_of(points, model="closed") -> list[str]:
    rows = [Row(level=level, throughput_per_s=rate) for level, rate in points]
    found = levels_finding(StepTable(rows=rows, level_unit="users"), model=model)
    return [note for note in found["notes"] if "Asymptotic bounds" in note]


def test_a_table_that_flattens_tells_them_and_one_of_arrivals_or_without_a_plateau_does_not():
    points = [(1.0, 2.0), (10.0, 20.0), (40.0, 78.0), (60.0, 98.0), (100.0, 100.0)]
    [note] = notes_of(points)
    assert "at most 2/s for each user up to 50 users, and 100/s beyond" in note and "without an interval" in note
    assert notes_of(points, model="open") == []
    assert notes_of(points[:3]) == []
    assert notes_of(points[2:]) == [], "users wait for each other at the lowest level"
