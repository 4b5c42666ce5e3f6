"""What the records say: how often both ends of the bracket are true, and how often it is narrow in time."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

RIGHT_GOAL, NARROW_GOAL = 0.95, 0.80
NARROW, ROUNDING = 0.10, 0.002
DISTURBED_CORES = 0.25
Score = Literal["right", "wrong", "border", "untested"]


def end_score(record: dict[str, Any], end: str) -> Score:
    """One end of the bracket against its truth trial: `good` must be carried, `bad` must not be."""
    truth = record.get(f"truth_{end}")
    if truth is None or truth["verdict"] == "no truth":
        return "untested"
    if truth["verdict"] == "border":
        return "border"
    return "right" if (truth["verdict"] == "carried") == (end == "good") else "wrong"


def is_disturbed(record: dict[str, Any]) -> bool:
    """Whether others took so much CPU beside the run of Plimsoll that it does not count."""
    machine = record.get("machine")
    return machine is not None and not machine.get("preferred") and machine["foreign_cores"] > DISTURBED_CORES


def is_narrow(record: dict[str, Any]) -> bool:
    """Whether the bracket has two ends, at most NARROW apart."""
    width = record.get("width")
    return bool(record.get("good") and record.get("bad") and width is not None and width <= NARROW + ROUNDING)


@dataclass(frozen=True)
class Tally:
    """Counts over records: `ends` tested ends, of which `right`, `border`, `wrong`; `runs`, of which `narrow`."""

    runs: int
    answered: int
    narrow: int
    ends: int
    right: int
    border: int
    wrong: int


def tally(records: Sequence[dict[str, Any]]) -> Tally:
    """Count them."""
    scores = [end_score(one, end) for one in records for end in ("good", "bad")]
    count = {kind: scores.count(kind) for kind in ("right", "border", "wrong")}
    return Tally(
        runs=len(records),
        answered=sum(one["status"] == "answered" for one in records),
        narrow=sum(map(is_narrow, records)),
        ends=sum(count.values()),
        **count,
    )


@dataclass(frozen=True)
class Repeats:
    """Pairs of k6's own trials of one level: of `pairs`, in how many the two said the `same`, the `opposite`, or one of
    them border."""

    pairs: int
    same: int
    opposite: int


def repeats(records: Sequence[dict[str, Any]]) -> Repeats:
    """How well the truth agrees with itself: no answer can agree with it better."""
    truths = [one.get(f"truth_{end}") or {} for one in records for end in ("good", "bad")]
    said = [[trial["verdict"] for trial in truth.get("trials") or ()] for truth in truths]
    pairs = [pair for pair in said if len(pair) == 2 and "no truth" not in pair]
    opposite = sum(set(pair) == {"carried", "not carried"} for pair in pairs)
    return Repeats(len(pairs), sum(first == second for first, second in pairs), opposite)
