"""Where an answer's levels lie on one line, for the terminal (load_line.py) and the report (its bar).

━━━ what was carried, ┄┄┄ what nobody knows, ╳╳╳ what was not carried; and marks: the expected load, how far objectives
are met, and where the target fell behind in a step too short to prove anything.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from plimsoll.findings.capacity.seen_overload import overload_of
from plimsoll.report import wording
from plimsoll.report.wording import is_number, section

CARRIED, OPEN, NOT_CARRIED = "━┄╳"
_BEYOND = 1.08  # the scale ends so far beyond the highest level, so that something is seen of what is not carried


@dataclass(frozen=True)
class Mark:
    """A level with a sign, in words; `key` names its kind."""

    sign: str
    key: str
    level: float
    words: str


@dataclass(frozen=True)
class Area:
    """A part of the line from one share of it to another, with its sign and words; `bound`: the level that it ends or
    begins at, in words."""

    sign: str
    key: str
    begin: float
    end: float
    words: str
    bound: str = ""

    @property
    def percent(self) -> float:
        """How much of the line it is."""
        return round(100 * (self.end - self.begin), 2)


@dataclass(frozen=True)
class LoadLine:
    """The highest level that was carried and the lowest that was not, None where none was, in `unit`; the marks; and
    the level at which the line ends."""

    good: float | None
    bad: float | None
    unit: str
    marks: tuple[Mark, ...]
    end: float

    @property
    def bounds(self) -> list[float]:
        """Those that are known, the lower first; a carried level of nothing is none."""
        return [level for level in (self.good, self.bad) if level]

    @property
    def areas(self) -> list[Area]:
        """What was carried, what is not decided and what was not carried; those that have no width are left out."""
        good, bad = self.share(self.good or 0.0), self.share(self.bad)
        found = [
            Area(CARRIED, "carried", 0.0, good, "carried", f"up to {wording.number(self.good)} {self.unit}"),
            Area(OPEN, "between", good, bad, "not decided"),
            Area(NOT_CARRIED, "beyond", bad, 1.0, "not carried", f"from {wording.number(self.bad)} {self.unit}"),
        ]
        return [area for area in found if area.end > area.begin]

    def share(self, level: float | None) -> float:
        """How far along the line, of 1; an unknown level at its end."""
        return 1.0 if level is None else min(1.0, max(0.0, level / self.end))

    def percent(self, level: float) -> float:
        """The same of 100."""
        return round(100 * self.share(level), 2)


def load_line_of(finding: Mapping[str, Any]) -> LoadLine | None:
    """None where the finding has no level that was carried or not. In results of other tools nobody judged whether a
    level was carried, only where throughput flattens."""
    if finding.get("experiment") == "analyze":
        return None
    capacity = section(finding, "capacity")
    good, bad = (capacity.get(key) if is_number(capacity.get(key)) else None for key in ("good", "bad"))
    if not (good or bad) or (good is not None and bad is not None and good >= bad):
        return None
    return line_of(good, bad, wording.unit_words(capacity.get("unit"), "users"), tuple(_marks(finding)))


def line_of(good: float | None, bad: float | None, unit: str, marks: tuple[Mark, ...]) -> LoadLine:
    """That of these bounds, of which one at least is known."""
    end = _BEYOND * max(level for level in (good, bad, *(mark.level for mark in marks)) if level)
    return LoadLine(good, bad, unit, marks, end)


def _marks(finding: Mapping[str, Any]) -> Iterable[Mark]:
    headroom, sustainable = section(finding, "headroom"), section(finding, "sustainable")
    expected, per_user = headroom.get("expected_users"), levels_per_user(finding)
    if is_number(expected) and per_user and expected > 0:
        yield Mark("▲", "expected", expected * per_user, f"expected {wording.number(expected)}")
    elif section(finding, "capacity").get("unit") == "multiple":
        yield Mark("▲", "expected", 1.0, "declared load")
    if is_number(sustainable.get("level")) and sustainable["level"] > 0:
        met = wording.number(sustainable["level"])
        yield Mark("◆", "met", sustainable["level"], f"objectives met up to {met}")
    overload = overload_of(finding) if finding.get("steps") and section(finding, "capacity") else None
    if overload is not None:
        level = float(overload["level"])
        yield Mark("▼", "behind", level, f"fell behind at {wording.number(level)} in a short step")


def levels_per_user(finding: Mapping[str, Any]) -> float | None:
    """Levels that one user is: 1 where the level is users; None where the finding does not tell."""
    capacity = section(finding, "capacity")
    if capacity.get("unit", "users") == "users":
        return 1.0
    users, level = capacity.get("users"), capacity.get("level")
    return level / users if is_number(users) and is_number(level) and users else None
