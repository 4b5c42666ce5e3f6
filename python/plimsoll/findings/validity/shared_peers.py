"""Peers of the target that work for others as well: what is counted as the target's is then not all its own."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from plimsoll.findings.resources import Means, shared_peers
from plimsoll.words import number


def shared_words(means: Sequence[Means]) -> Iterator[str]:
    """Notes on them, of the means of steps."""
    most: dict[str, float] = {}
    for values in means:
        for label, count in shared_peers(values).items():
            most[label] = max(most.get(label, 0.0), count)
    for label, count in most.items():
        connections = "connection" if number(count) == "1" else "connections"
        yield (
            f"{label} works for others as well: {number(count)} {connections} beside the target's were at work. All of "
            "its CPU is counted, so that the target's own part is less."
        )


def with_shared_peers(main: Mapping[str, Any], sockets: Sequence[Means]) -> dict[str, Any]:
    """The main finding of a run with these notes. `sockets`: means_of_sockets of its steps."""
    notes = list(shared_words(sockets))
    return {**main, "notes": [*(main.get("notes") or ()), *notes]} if notes else dict(main)
