"""The published figures of the studies (lab/studies/*/published-*.csv), as the tests that replay them read them.

`source line` names every line of the report that a row's figures stand on: 42, 39-42, 73 and 81, "292, 302 and 307"."""

from __future__ import annotations

import csv
import re
from pathlib import Path

STUDIES = Path(__file__).parents[1] / "lab" / "studies"
_PART = r"\d+(?:-\d+)?"
_SOURCE_LINES = re.compile(rf"{_PART}(?:(?:, {_PART})* and {_PART})?")


def rows(study: str, name: str) -> list[dict[str, str]]:
    """The rows of published-<name>.csv, without its comments."""
    with (STUDIES / study / f"published-{name}.csv").open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(line for line in file if not line.startswith("#")))


def figures(study: str, name: str = "model") -> dict[str, float]:
    """Single figures by what they are, each in the unit of its row. AssertionError where one is there twice."""
    found: dict[str, float] = {}
    for row in rows(study, name):
        assert row["what"] not in found, f"published-{name}.csv of {study} has {row['what']!r} twice: rename one"
        found[row["what"]] = float(row["value"])
    return found


def source_lines(row: dict[str, str]) -> list[int]:
    """The lines that a row names, in its order. ValueError where they are not written as above."""
    cell = row["source line"]
    if not _SOURCE_LINES.fullmatch(cell):
        raise ValueError(f"{cell!r} names no lines. Write them as 42, 39-42, 73 and 81, or 292, 302 and 307.")
    found: list[int] = []
    for part in re.split(", | and ", cell):
        first, _, last = part.partition("-")
        found += range(int(first), int(last or first) + 1)
    return found
