"""Samples of a process by the function that was at work in each: its own time, without what it called."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol

MOST_FUNCTIONS = 40
LONGEST_NAME = 160


@dataclass(frozen=True)
class Profile:
    """`counts` of (function, where), samples each; `sample_s`: the time that a sample stands for; `seconds` sampled;
    `errors`: samples that could not be read."""

    counts: Mapping[tuple[str, str], int]
    sample_s: float
    seconds: float
    errors: int = 0

    @property
    def samples(self) -> int:
        """All of them."""
        return sum(self.counts.values())

    def to_json(self) -> dict[str, Any]:
        """As the event holds it: the functions with the most own time, and the samples of all."""
        dearest = Counter(dict(self.counts)).most_common(MOST_FUNCTIONS)
        return {
            "samples": self.samples,
            "sample_s": self.sample_s,
            "seconds": round(self.seconds, 3),
            "errors": self.errors,
            "functions": [
                {"name": name[:LONGEST_NAME], "where": where[:LONGEST_NAME], "samples": count}
                for (name, where), count in dearest
            ],
        }


class Profiler(Protocol):
    """Samples a process between `start` and `stop`. Both raise ProbeUnavailable, with what to do."""

    kind: str

    def start(self) -> None:
        """Begin; returns at once."""

    def stop(self) -> Profile:
        """End, and what was seen; may take seconds."""

    def close(self) -> None:
        """End without an answer. Nothing is left running."""
