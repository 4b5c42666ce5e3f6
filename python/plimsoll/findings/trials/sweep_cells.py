"""The cells of a sweep along one of its parameters, and its values as numbers."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from plimsoll.words import joined

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
