"""What a run left in its directory: whether it can be read, and up to when."""

from __future__ import annotations

import json
from pathlib import Path

from plimsoll.errors import PlimsollError
from plimsoll.runs.reader import RunReader

MOST_LOST_S = 2.0


def unreadable(run: Path, *states: str) -> list[str]:
    """What is wrong with a run directory that should be in one of these states."""
    try:
        reader = RunReader(run)
        seconds = [snapshot.second for snapshot in reader.snapshots()]
    except (PlimsollError, ValueError, OSError) as error:
        return [f"{run.name} cannot be read: {error}"]
    found = (
        [] if not states or reader.state in states else [f"{run.name} says {reader.state}, not {' or '.join(states)}"]
    )
    if seconds != sorted(set(seconds)):
        found.append(f"{run.name}: its seconds are not in order")
    missing = set(range(max(seconds, default=-1) + 1)) - set(seconds)
    if len(missing) > MOST_LOST_S:
        found.append(f"{run.name}: {len(missing)} seconds are missing, the first {min(missing)}")
    return found


def seconds_of(run: Path) -> int:
    """How many seconds can be read; 0 where nothing can yet."""
    try:
        return sum(1 for _ in RunReader(run).snapshots(metrics=()))
    except (PlimsollError, ValueError, OSError):
        return 0


def lost_s(run: Path, killed_unix_s: float) -> float | None:
    """From the end of the last second that can be read to the kill; None where no second was written yet."""
    last = None
    for last in RunReader(run).snapshots(metrics=()):  # noqa: B007
        pass
    return None if last is None else max(0.0, killed_unix_s - last.t_unix - 1.0)


def findings(run: Path) -> list[dict]:
    """The findings; none where there is no file or it is not whole."""
    try:
        return list(json.loads((run / "findings.json").read_bytes()))
    except (OSError, ValueError):
        return []
