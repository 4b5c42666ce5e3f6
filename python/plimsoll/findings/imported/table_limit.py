"""What limits a target of which only a table of levels is known: the utilisation that was near its ceiling where the
load was no longer carried, and clearly lower at the lowest load.

The rule is that of our own runs (limits/what_stops.py), on one mean a level: who prints 70% may have had one busy
core of eight.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from plimsoll.findings.limits.limit import NEAR_CEILING, Limit, no_limit
from plimsoll.runs.readings.step_table import Row
from plimsoll.words import level_words, share_words

_KINDS = (("disk", re.compile(r"\bdisk\b", re.I)), ("memory", re.compile(r"\b(?:memory|mem|ram)\b", re.I)))
_REMEDIES = {
    "cpu": "give the target more CPU. A mean over cores cannot show one that is full, so more processes or threads may "
    "be what it needs instead",
    "disk": "give the target a faster disk, or let it read and write less",
    "memory": "give the target more memory",
}
_UNSAID = re.compile(r"\b(?:utili[sz]ation|util|busy)\b", re.I)


def limit_of_table(rows: Sequence[Row], bad: float | None, unit: str) -> dict[str, Any] | None:
    """The limit as JSON, with the runner-up; kind "unknown" where every utilisation had room or was always high. None
    without utilisations at the level `bad`, or without such a level. `rows`: of the whole load, one a level."""
    known = sorted((row for row in rows if row.level is not None and row.utilisation), key=lambda row: row.level or 0.0)
    here = next((row for row in known if row.level == bad), None)
    if here is None:
        return None
    lowest = known[0] if known[0] is not here else None
    seen = [_limit(name, share, here, lowest, unit) for name, share in here.utilisation.items()]
    full = sorted((one for one in seen if one.utilisation >= NEAR_CEILING), key=lambda one: -one.utilisation)
    found = [one.to_json() for one in full if one.rose]
    if found:
        return found[0] | {"runner_up": found[1] if len(found) > 1 else None}
    what = "What was near its ceiling was so at the lowest load too" if full else "Nothing was near its ceiling"
    return no_limit("unknown", f"{what}: {' '.join(one.evidence for one in full or seen)}")


def _limit(name: str, share: float, here: Row, lowest: Row | None, unit: str) -> Limit:
    low = lowest.utilisation.get(name) if lowest is not None else None
    before = (
        f", {share_words(low)} at {level_words(lowest.level or 0.0, unit)}"
        if lowest is not None and low is not None
        else ""
    )
    words = f"{name} was {share_words(share)} in use at {level_words(here.level or 0.0, unit)}{before}."
    kind = next((kind for kind, pattern in _KINDS if pattern.search(name)), "cpu")
    if kind == "cpu" and _UNSAID.search(name):
        kind = "resource"
    remedy = _REMEDIES.get(kind) or f"give the target more of it ({name})"
    return Limit(kind, "the target" if name.lower() == kind else name, share, low, words, remedy)
