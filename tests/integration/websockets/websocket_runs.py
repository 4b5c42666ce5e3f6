"""What a run of a script with sockets gave."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

Ran = Callable[..., dict[str, Any]]


def values(ended: dict[str, Any], metric: str) -> dict[str, float]:
    """A metric's values in the summary."""
    found: dict[str, float] = ended["summary"]["metrics"][metric]["values"]
    return found


def count_of(ended: dict[str, Any], trend: str) -> int:
    """How many values a trend has, of all tags."""
    every = (one for snapshot in ended["snapshots"] for one in snapshot.series)
    return sum(one.count for one in every if one.metric == trend)


def assert_said(ended: dict[str, Any], parts: list[str]) -> None:
    """That what the script noted begins with texts that have these parts, in order."""
    said = [one[0] for one in ended["told"]]
    for at, part in enumerate(parts):
        assert part in said[at], said[at]
