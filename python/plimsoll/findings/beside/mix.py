"""Does the mix of the work stay as it is at low load? Shares of a closed workload's operations at each level.

Users who wait for a slow operation ask for nothing else meanwhile, so a throughput of all operations together may go on
rising while one of them has all but stopped. An operation counts as starved at a level where it makes less than a third
of the iterations that its share at low load leads to expect, of LEAST_EXPECTED or more. Low load: the lowest levels, up
to a quarter of the one that is carried. Operations with more requests lose some of their share at any level where
waiting outweighs thinking, but seldom so much.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from plimsoll.findings.beside.held_windows import Held, Windows, held_loads
from plimsoll.findings.evidence import SERIES, Evidence, as_data
from plimsoll.words import ms_words, share_words

if TYPE_CHECKING:
    from plimsoll.runs.reader import RunReader

QUESTION = "Does the mix of the work stay?"
WORK = "iteration_duration"
STARVED, LEAST_EXPECTED, LEAST_KNOWN = 1 / 3, 20, 20
LOW_SHARE = 0.25


@dataclass
class Done:
    """Iterations of each operation, and the sum of their durations in ms."""

    count: dict[str, int] = field(default_factory=lambda: defaultdict(int))
    total_ms: dict[str, float] = field(default_factory=lambda: defaultdict(float))

    @property
    def all(self) -> int:
        """Of all operations."""
        return sum(self.count.values())

    def share(self, operation: str) -> float:
        return self.count[operation] / self.all if self.all else 0.0

    def mean_ms(self, operation: str) -> float | None:
        return self.total_ms[operation] / self.count[operation] if self.count[operation] else None


def mix_findings(run: RunReader, main: Mapping[str, Any]) -> list[dict[str, Any]]:
    """What the finding of a closed capacity run with several operations has of its own, alone in a list; else none.
    `run`: a RunReader; `main`: its main finding."""
    if main.get("experiment") != "capacity" or main["capacity"].get("model") != "closed" or not _has_several(run):
        return []
    loads = held_loads(run, main)
    done = _done(run, loads)
    good = main["capacity"].get("good")
    low = _low(loads, done, good)
    if low is None:
        return []
    operations = [name for name in sorted(low.count) if low.count[name] >= LEAST_KNOWN]
    rows = [_row(load, here, low, operations) for load, here in zip(loads, done, strict=True) if here.all]
    starved = [row for row in rows if row["starved"]]
    return [
        {
            "question": QUESTION,
            "answer": _answer(starved, low),
            "mix": rows,
            "tables": [_table(rows, operations)],
            "evidence": as_data([Evidence(sum(one.all for one in done), "iterations", SERIES, "At all levels")]),
            "notes": [
                "While a user waits for a slow operation it asks for nothing else, so that operation's share falls."
            ],
            "next": [_NEXT] if starved else [],
        }
    ]


_NEXT = (
    "Look at what the operation that is starved waits for, and give it an objective: a throughput of all operations "
    "together does not see it."
)


def _has_several(run: RunReader) -> bool:
    workload = (run.manifest.get("study") or {}).get("workload") or {}
    return len(workload.get("groups") or ()) > 1


def _done(run: RunReader, loads: Sequence[Held]) -> list[Done]:
    windows, found = Windows(loads), [Done() for _ in loads]
    for snapshot in run.snapshots(metrics=(WORK,)):
        at = windows.of(snapshot.second)
        if at is None:
            continue
        for series in snapshot.series:
            name = series.tags.get("scenario")
            if series.metric == WORK and name and series.count:
                found[at].count[name] += series.count
                found[at].total_ms[name] += series.sum
    return found


def _low(loads: Sequence[Held], done: Sequence[Done], good: float | None) -> Done | None:
    """What was done at low load; None where that is too little of anything to compare with."""
    low = Done()
    for load, here in zip(loads, done, strict=True):
        if good is not None and load.level <= LOW_SHARE * good:
            for name, count in here.count.items():
                low.count[name] += count
                low.total_ms[name] += here.total_ms[name]
    return low if sum(count >= LEAST_KNOWN for count in low.count.values()) > 1 else None


def _row(load: Held, here: Done, low: Done, operations: Sequence[str]) -> dict[str, Any]:
    shares = {name: here.share(name) for name in operations}
    starved = [
        {"operation": name, "share": shares[name], "mean_ms": here.mean_ms(name), "low_share": low.share(name)}
        for name in operations
        if low.share(name) * here.all >= LEAST_EXPECTED and shares[name] < STARVED * low.share(name)
    ]
    return {"load": load.words, "level": load.level, "iterations": here.all, "shares": shares, "starved": starved}


def _answer(starved: Sequence[Mapping[str, Any]], low: Done) -> str:
    if not starved:
        return "Yes: no operation falls below a third of its share at low load."
    first = min(starved, key=lambda row: float(row["level"]))
    told = ", ".join(_words(one, low) for one in first["starved"])
    return (
        f"No: at {first['load']} {told}. What throughput there is there, is that of the other operations, and says "
        "nothing of these."
    )


def _words(one: Mapping[str, Any], low: Done) -> str:
    """ "create_baseline makes 0.2% of the iterations (15% at low load) and takes 20.7 s (48 ms)"."""
    usual_ms = low.mean_ms(one["operation"]) or 0.0
    share, usual = share_words(one["share"]), share_words(one["low_share"])
    text = f"{one['operation']} makes {share} of the iterations ({usual} at low load)"
    if one["mean_ms"] is None:
        return f"{text}: none ended"
    return f"{text} and takes {ms_words(one['mean_ms'])} ({ms_words(usual_ms)})"


def _table(rows: Sequence[Mapping[str, Any]], operations: Sequence[str]) -> dict[str, Any]:
    return {
        "title": "Shares of the operations",
        "note": "Of the iterations that ended at that level, probes of the ramp included.",
        "columns": ["At", *operations, "Iterations"],
        "words": ["At"],
        "rows": [
            [row["load"], *(share_words(row["shares"][name]) for name in operations), f"{row['iterations']:,}"]
            for row in rows
        ],
    }
