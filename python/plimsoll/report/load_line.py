"""The load line of a terminal: what was carried, what was not and what nobody knows, to scale, with marks below.

━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━┄┄┄┄┄┄┄┄┄╳╳╳╳  ━ carried  ┄ not decided  ╳ not carried
            ▲                           ◆                ▲ expected 60  ◆ objectives met up to 168
0                                     168      204       users
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from plimsoll.report import wording
from plimsoll.report.levels import LoadLine, load_line_of
from plimsoll.report.text import WIDTH, wrapped

BAR, GAP, INDENT = 48, 2, 2


def load_line(finding: Mapping[str, Any]) -> list[str]:
    """Three lines, or four where the marks need more words than fit beside the bar; none where there is nothing to
    draw."""
    line = load_line_of(finding)
    if line is None:
        return []
    return drawn(line)


def drawn(line: LoadLine, bar: int = BAR) -> list[str]:
    """The lines of a load line whose bar has so many columns."""

    def at(share: float) -> int:
        return bar if share == 1 else min(bar - 1, round(share * bar))

    def under(level: float) -> int:
        return max(0, at(line.share(level)) - 1)

    areas = [area for area in line.areas if at(area.end) > at(area.begin)]
    signs = "".join(area.sign * (at(area.end) - at(area.begin)) for area in areas)
    key = [f"{area.sign} {area.words}" for area in areas]
    levels = [(under(level), wording.number(level)) for level in line.bounds]
    told, more = _mark_words([f"{mark.sign} {mark.words}" for mark in line.marks], bar)
    lines = [
        (signs, "  ".join(key)),
        (_placed(((under(mark.level), mark.sign) for mark in line.marks), bar), told),
        (_placed([(0, "0"), *levels], bar), line.unit),
    ]
    return [f"{shown:<{bar + GAP - 1}} {words}".rstrip() for shown, words in lines if shown.strip()] + more


def _mark_words(words: list[str], bar: int) -> tuple[str, list[str]]:
    """Those that fit beside the bar, and lines with the others."""
    for count in range(len(words), -1, -1):
        beside = "  ".join(words[:count])
        if len(beside) <= WIDTH - INDENT - bar - GAP:
            return beside, wrapped("  ".join(words[count:]), "") if words[count:] else []
    return "", []


def _placed(texts: Iterable[tuple[int, str]], bar: int) -> str:
    """Each text ends or begins where it is wanted, or where there is room behind the one before."""
    line = ""
    for place, text in sorted(texts):
        begin = max(min(place, bar + GAP - len(text) - 1), len(line) + bool(line))
        line = f"{line:<{begin}}{text}"
    return line
