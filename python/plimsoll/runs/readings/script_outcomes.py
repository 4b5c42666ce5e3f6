"""Whether a script did what it was to do: iterations that ended with an exception, checks that failed, and WebSockets
that did not open.

No check fails a request: what is measured counts its answer as a good one. No socket is a request.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from plimsoll.runs.snapshot import Series
from plimsoll.words import joined

if TYPE_CHECKING:
    from plimsoll.runs.reader import RunReader

OPENED = "101"  # Switching Protocols (RFC 6455, section 4.1)
CHECKS, SESSIONS = "checks", "ws_sessions"
_TAGS, _STATUS = ("group", "check"), "status"
NOT_OPENED = "See why the WebSockets do not open: their address in the script, and the server's log."
MOST_CAUSES, NO_ANSWER = 2, "no answer"
_ALL = ((0.0, math.inf),)


@dataclass
class ScriptOutcomes:
    """`done` iterations, of which `threw` ended with an exception; checks by the path of their group and their name as
    [passes, fails]; WebSockets by the status that answered them, empty without an answer. Grows with the number of
    checks only."""

    done: int = 0
    threw: int = 0
    checks: dict[tuple[str, str], list[int]] = field(default_factory=dict)
    sockets: Counter[str] = field(default_factory=Counter)

    def add(self, series: Iterable[Series]) -> None:
        """Add the checks and WebSockets among these series; others change nothing."""
        for one in series:
            if one.metric == SESSIONS:
                count_sockets(self.sockets, one)
            if one.metric == CHECKS and one.total:
                group, name = (str(one.tags.get(tag) or "") for tag in _TAGS)
                self._count(group, name, int(one.passes or 0), int(one.total) - int(one.passes or 0))

    def add_json(self, told: Mapping[str, Any]) -> None:
        """Add what a trial holds; nothing of one of an earlier version, which does not."""
        self.done += int(told["done"]) if "threw" in told else 0
        self.threw += int(told.get("threw") or 0)
        self.sockets.update(told.get("sockets") or {})
        for one in told.get("checks") or ():
            self._count(one["group"], one["name"], one["passes"], one["fails"])

    def to_json(self) -> dict[str, Any]:
        """As `add_json` reads it, without `done`."""
        sockets = {"sockets": dict(self.sockets)} if self.sockets else {}
        return {"threw": self.threw, "checks": self.listed(), **sockets}

    @property
    def unopened(self) -> Counter[str]:
        """WebSockets that did not open, by their status."""
        return unopened(self.sockets)

    def listed(self) -> list[dict[str, Any]]:
        """The checks, in the order in which they came."""
        return [
            {"name": name, "group": group, "passes": passes, "fails": fails}
            for (group, name), (passes, fails) in self.checks.items()
        ]

    def _count(self, group: str, name: str, passes: int, fails: int) -> None:
        counts = self.checks.setdefault((group, name), [0, 0])
        counts[0] += passes
        counts[1] += fails


def count_sockets(sockets: Counter[str], series: Series) -> None:
    """Add the WebSockets of a series to those by status."""
    sockets[str(series.tags.get(_STATUS) or "")] += int(series.value or 0)


def unopened(sockets: Mapping[str, float]) -> Counter[str]:
    """Those WebSockets that did not open, by the status that answered them."""
    return Counter({status: int(count) for status, count in sockets.items() if status != OPENED})


def unopened_words(sockets: Counter[str]) -> str:
    """ "status 404 and no answer"."""
    return joined([f"status {one}" if one else NO_ANSWER for one, _ in sockets.most_common(MOST_CAUSES)])


def outcomes_of_run(run: RunReader, windows: Sequence[tuple[float, float]] = _ALL) -> ScriptOutcomes:
    """Those in the seconds of these windows (from, to; in order, none within another), whenever their iterations
    began."""
    found = ScriptOutcomes()
    tags = (run.manifest.get("options") or {}).get("systemTags")
    wanted = (CHECKS, SESSIONS) if tags is None or _STATUS in tags else (CHECKS,)
    for block in run.blocks(wanted):
        for load in block.load:
            if any(begin <= load.second < end for begin, end in windows):
                found.done += load.done
                found.threw += load.threw
        for merged in block.merged(sorted(edge for window in windows for edge in window), (*_TAGS, _STATUS)):
            if any(begin <= merged.from_s < end for begin, end in windows):
                found.add(merged.series)
    return found
