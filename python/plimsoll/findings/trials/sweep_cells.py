"""The cells of a sweep along one of its parameters, and its values as numbers."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from plimsoll.findings.trials.same_work import APART
from plimsoll.words import joined, number

Cell = Mapping[str, Any]
FLAT = 0.10  # by which a metric may change over the range of a parameter and not depend on it


def lines_over(cells: Sequence[dict[str, Any]], name: str) -> Iterator[tuple[dict[str, str], list[dict[str, Any]]]]:
    """For each setting of the other parameters: that setting, and its cells in their order."""
    for others in dict.fromkeys(tuple((k, v) for k, v in cell["parameters"].items() if k != name) for cell in cells):
        yield dict(others), [cell for cell in cells if all(cell["parameters"][key] == value for key, value in others)]


def where_words(others: Mapping[str, str]) -> str:
    """A setting in a sentence: " at FORM=a and SIZE=10"; empty without others."""
    return f" at {joined([f'{key}={value}' for key, value in others.items()])}" if others else ""


def number_of(text: str) -> float | None:
    """The value as a finite number; None if it is none."""
    try:
        value = float(text)
    except ValueError:
        return None
    return value if math.isfinite(value) else None


def each_words(cells: Sequence[Cell]) -> str:
    """How many requests an iteration makes, where that differs between cells: else its duration looks like that of one
    request. Only of cells in which few failed."""
    known = [cell for cell in cells if cell["state"] == "answers" and cell["requests_each"]]
    fewest, most = (pick(known, key=lambda cell: cell["requests_each"], default=None) for pick in (min, max))
    if fewest is None or most is None or most["requests_each"] < APART * fewest["requests_each"]:
        return ""
    told = [f"{_requests(cell['requests_each'])} at {_where(cell)}" for cell in (fewest, most)]
    return f"An iteration makes {told[0]} and {told[1]}."


def _requests(count: float) -> str:
    shown = number(count, 2)
    return f"{shown} request{'' if shown == '1' else 's'}"


def _where(cell: Cell) -> str:
    return ", ".join(f"{name}={value}" for name, value in cell["parameters"].items())
