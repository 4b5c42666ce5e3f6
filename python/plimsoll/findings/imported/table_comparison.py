"""Is B slower than A? From two step tables with one run per cell: what they are consistent with, and no more."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from plimsoll.findings.evidence import TABLE, Evidence, as_data
from plimsoll.listed_names import listed
from plimsoll.runs.readings.step_table import StepTable
from plimsoll.stats.comparison.cell_ratios import Ratios, ratios
from plimsoll.words import level_words, number, share_words

SCHEMA = 1
QUESTION = "Is B slower than A?"
MOST_ANOMALIES = 6
NO_PROOF = (
    "One run per cell: how much runs differ by chance is not known, and cells of one run share its luck, so no "
    "difference here is proven."
)
_WORDS = {"up": "consistent with B being slower", "down": "consistent with B being faster", "none": "no one direction"}


def comparison_finding(
    a: StepTable, b: StepTable, names: tuple[str, str], run_path: str | None = None
) -> dict[str, Any]:
    """The finding; A and B are the tables of `names`. Levels, operations and statistics that only one of them has are
    left out."""
    cells = _cells(a, b)
    levels = list(dict.fromkeys(level for level, _, _, _, _ in cells))
    per_level = {level: _judged([cell for cell in cells if cell[0] == level]) for level in levels}
    whole = _judged(cells)
    unit = a.level_unit
    return {
        "schema": SCHEMA,
        "question": QUESTION,
        "answer": " ".join([_answer(whole, per_level, unit), *_rate_words(_rates_of(a, b))]),
        "experiment": "analyze",
        "status": "finished",
        "valid": True,
        "level_unit": unit,
        "comparison": {
            "a": names[0],
            "b": names[1],
            "cells": len(cells),
            "levels": [
                {"level": level, "median_ratio": found.median, "risen": found.risen, "cells": found.cells,
                 "direction": found.direction}
                for level, found in per_level.items() if found is not None
            ],
        },
        "evidence": as_data([_rests_on(cells, names, unit)]),
        "notes": [
            f"A is {names[0]}, B is {names[1]}. {NO_PROOF}",
            *_anomalies(cells, per_level, unit),
            *_rates(a, b, unit),
        ],
        "next": ["Run both several times at each level, interleaved (plimsoll compare), to say “slower” or “same”."],
        "run": run_path,
    }  # fmt: skip


Cell = tuple[float, str, str, float, float]


def _rests_on(cells: Sequence[Cell], names: tuple[str, str], unit: str) -> Evidence:
    """The times that both tables state."""
    span = (min(cell[0] for cell in cells), max(cell[0] for cell in cells)) if cells else None
    return Evidence(len(cells), "times", TABLE, "Stated by both", levels=span, level_unit=unit, names=names)


def _cells(a: StepTable, b: StepTable) -> list[Cell]:
    """(level, operation, statistic, time of A, time of B) where both state them."""
    other = {(row.level, row.operation): row for row in b.rows}
    found = []
    for row in a.rows:
        match = other.get((row.level, row.operation))
        if match is None or row.level is None:
            continue
        for name, (low, high) in row.times_ms.items():
            there = match.times_ms.get(name)
            if low == high and low > 0 and there is not None and there[0] == there[1] > 0:
                found.append((row.level, row.operation or "all requests", name, low, there[0]))
    return sorted(found, key=lambda cell: cell[0])


def _judged(cells: Sequence[Cell]) -> Ratios | None:
    return ratios([cell[3] for cell in cells], [cell[4] for cell in cells])


def _answer(whole: Ratios | None, per_level: dict[float, Ratios | None], unit: str) -> str:
    if whole is None:
        return "The tables have no level, operation and time in common."
    parts = [
        f"{number(level)}: × {number(found.median)}, {found.risen} of {found.cells} cells longer"
        for level, found in per_level.items()
        if found is not None
    ]
    directions = {found.direction for found in per_level.values() if found is not None}
    words = _WORDS[whole.direction]
    if len(directions) > 1:
        words = f"not of one direction at all levels; taken together {words}"
    return f"These figures are {words}. Median ratio of times, B to A, by {unit}: {'; '.join(parts)}."


def _anomalies(cells: Sequence[Cell], per_level: dict[float, Ratios | None], unit: str) -> list[str]:
    """Cells that go against their level."""
    notes = []
    for level, found in per_level.items():
        here = [cell for cell in cells if cell[0] == level]
        for place in found.anomalies if found is not None else ():
            _, operation, name, before, after = here[place]
            where = f"{operation} {name} at {level_words(level, unit)}"
            notes.append(f"{where}: {number(before)} → {number(after)} ms")
    if not notes:
        return []
    return [f"Against the rest of their level, look at these first: {listed(notes, MOST_ANOMALIES, '; ')}."]


def _rates_of(a: StepTable, b: StepTable) -> list[tuple[float, float]]:
    """Throughput of good answers of A and B at each level and operation that both have."""
    there = {(row.level, row.operation): row.good_per_s for row in b.rows}
    pairs = [(row.good_per_s, there.get((row.level, row.operation))) for row in a.rows if row.level is not None]
    return [(before, after) for before, after in pairs if before and after]


def _rate_words(rates: Sequence[tuple[float, float]]) -> list[str]:
    """Which way throughput points: users who wait for answers may do less at equal times, and a target may shed
    load."""
    found = ratios([before for before, _ in rates], [after for _, after in rates])
    if found is None or found.direction == "none":
        return []
    doing, how = ("more", "higher") if found.direction == "up" else ("less", "lower")
    agree = sum(after > before if found.direction == "up" else after < before for before, after in rates)
    return [
        f"Throughput is consistent with B doing {doing}: {how} at {agree} of {found.cells} levels, in the median by "
        f"{share_words(abs(found.median - 1))}."
    ]


def _rates(a: StepTable, b: StepTable, unit: str) -> list[str]:
    """Throughput side by side where both have it."""
    there = {row.level: row.throughput_per_s for row in b.totals()}
    pairs = [(row.level, row.throughput_per_s, there.get(row.level)) for row in a.totals()]
    known = [
        f"{number(level)}: {number(before)} and {number(after)}/s"
        for level, before, after in pairs
        if level is not None and before is not None and after is not None
    ]
    return [f"Throughput of A and B by {unit}: {'; '.join(known)}."] if known else []
