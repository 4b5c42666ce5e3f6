"""The load line of a terminal: what was carried, what was not and what nobody knows, to scale, with marks below.

━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━┄┄┄┄┄┄┄┄┄╳╳╳╳  ━ carried  ┄ not decided  ╳ not carried
            ▲                           ◆                ▲ expected 60  ◆ objectives met up to 168
0                                     168      204       users
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from plimsoll.findings.capacity.seen_overload import overload_of
from plimsoll.report import wording
from plimsoll.report.finding_view import levels_per_user, section
from plimsoll.report.wording import is_number

BAR, GAP = 48, 2
CARRIED, OPEN, NOT_CARRIED, EXPECTED, MET = "━┄╳▲◆"
_BEYOND = 1.08  # the scale ends so far beyond the highest level, so that something is seen of what is not carried


def load_line(finding: Mapping[str, Any]) -> list[str]:
    """Three lines; none where the finding has no level that was carried or not. In results of other tools nobody judged
    whether a level was carried, only where throughput flattens."""
    if finding.get("experiment") == "analyze":
        return []
    capacity = section(finding, "capacity")
    good, bad = (capacity.get(key) if is_number(capacity.get(key)) else None for key in ("good", "bad"))
    if bad is None and good is not None and finding.get("steps"):
        overload = overload_of(finding)
        bad = overload["level"] if overload else None
    if not (good or bad) or (good is not None and bad is not None and good >= bad):
        return []
    unit = wording.unit_words(capacity.get("unit"), "users")
    return to_scale(good, bad, dict(_marks(finding)), unit)


def to_scale(
    good: float | None, bad: float | None, marks: Mapping[str, tuple[float, str]], unit: str, bar: int = BAR
) -> list[str]:
    """The lines of these bounds, of which there is at least one; `marks`: sign to level and words; `bar`: its
    columns."""
    top = _BEYOND * max(level for level in (good, bad, *(level for level, _ in marks.values())) if level)

    def at(level: float) -> int:
        return min(bar - 1, round(level / top * bar))

    carried, not_carried = at(good or 0), bar if bad is None else at(bad)
    line = CARRIED * carried + OPEN * (not_carried - carried) + NOT_CARRIED * (bar - not_carried)
    signs = ((CARRIED, "carried"), (OPEN, "not decided"), (NOT_CARRIED, "not carried"))
    key = [f"{sign} {words}" for sign, words in signs if sign in line]
    levels = [(max(0, at(level) - 1), wording.number(level)) for level in (good, bad) if level]
    lines = [
        (line, "  ".join(key)),
        (_placed(((max(0, at(level) - 1), sign) for sign, (level, _) in marks.items()), bar), _mark_words(marks)),
        (_placed([(0, "0"), *levels], bar), unit),
    ]
    return [f"{drawn:<{bar + GAP - 1}} {words}".rstrip() for drawn, words in lines if drawn.strip()]


def _marks(finding: Mapping[str, Any]) -> Iterable[tuple[str, tuple[float, str]]]:
    """Sign to level and words: the expected load, and how far objectives are met."""
    headroom, sustainable = section(finding, "headroom"), section(finding, "sustainable")
    expected, per_user = headroom.get("expected_users"), levels_per_user(finding)
    if is_number(expected) and per_user and expected > 0:
        yield EXPECTED, (expected * per_user, f"expected {wording.number(expected)}")
    elif section(finding, "capacity").get("unit") == "multiple":
        yield EXPECTED, (1.0, "declared load")
    if is_number(sustainable.get("level")) and sustainable["level"] > 0:
        yield MET, (sustainable["level"], f"objectives met up to {wording.number(sustainable['level'])}")


def _mark_words(marks: Mapping[str, tuple[float, str]]) -> str:
    return "  ".join(f"{sign} {words}" for sign, (_, words) in marks.items())


def _placed(texts: Iterable[tuple[int, str]], bar: int) -> str:
    """Each text ends or begins where it is wanted, or where there is room behind the one before."""
    line = ""
    for place, text in sorted(texts):
        begin = max(min(place, bar + GAP - len(text) - 1), len(line) + bool(line))
        line = f"{line:<{begin}}{text}"
    return line
