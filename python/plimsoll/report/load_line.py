"""The load line of a terminal: what was carried, what was not and what nobody knows, to scale, with marks below.

━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━┄┄┄┄┄┄┄┄┄╳╳╳╳  ━ carried  ┄ not decided  ╳ not carried
            ▲                           ◆                ▲ expected 60  ◆ objectives met up to 168
0                                     168      204       users
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from plimsoll.report import wording
from plimsoll.report.columns import columns
from plimsoll.report.levels import LoadLine, load_line_of
from plimsoll.report.text import wrapped

BAR, LEAST_BAR, GAP, INDENT = 48, 24, 2, 2


def load_line(finding: Mapping[str, Any]) -> list[str]:
    """Three lines, or four where the marks need more words than fit beside the bar; none where there is nothing to
    draw. On a terminal that is too narrow for both the words stand below."""
    line = load_line_of(finding)
    if line is None:
        return []
    room = columns() - INDENT - GAP
    beside = room - max(len(_key(line)), len(line.unit))
    if beside >= LEAST_BAR:
        return drawn(line, min(BAR, beside))
    return _above_words(line, min(BAR, room - len(line.unit)))


def _key(line: LoadLine) -> str:
    return "  ".join(f"{area.sign} {area.words}" for area in line.areas if area.end > area.begin)


def _above_words(line: LoadLine, bar: int) -> list[str]:
    """The bar alone, and below it what its signs and marks mean."""
    (signs, _), (places, _), (levels, unit) = _drawn(line, bar)
    marks = "  ".join(f"{mark.sign} {mark.words}" for mark in line.marks)
    told = [text for words in (_key(line), marks) if words for text in _folded(words)]
    return [*(shown.rstrip() for shown in (signs, places) if shown.strip()), f"{levels}  {unit}", *told]


def _folded(words: str) -> list[str]:
    return wrapped(words, "", columns() - INDENT)


def drawn(line: LoadLine, bar: int = BAR) -> list[str]:
    """The lines of a load line whose bar has so many columns, with words beside it."""
    told, more = _mark_words([f"{mark.sign} {mark.words}" for mark in line.marks], bar)
    lines = [(shown, told if words is None else words) for shown, words in _drawn(line, bar)]
    return [f"{shown:<{bar + GAP - 1}} {words}".rstrip() for shown, words in lines if shown.strip()] + more


def _drawn(line: LoadLine, bar: int) -> list[tuple[str, str | None]]:
    """Bar, marks and levels, each with what it means; None of the marks."""

    def at(share: float) -> int:
        return bar if share == 1 else min(bar - 1, round(share * bar))

    def under(level: float) -> int:
        return max(0, at(line.share(level)) - 1)

    areas = [area for area in line.areas if at(area.end) > at(area.begin)]
    signs = "".join(area.sign * (at(area.end) - at(area.begin)) for area in areas)
    key = [f"{area.sign} {area.words}" for area in areas]
    levels = [(under(level), wording.number(level)) for level in line.bounds]
    return [
        (signs, "  ".join(key)),
        (_placed(((under(mark.level), mark.sign) for mark in line.marks), bar), None),
        (_placed([(0, "0"), *levels], bar), line.unit),
    ]


def _mark_words(words: list[str], bar: int) -> tuple[str, list[str]]:
    """Those that fit beside the bar, and lines with the others."""
    for count in range(len(words), -1, -1):
        beside = "  ".join(words[:count])
        if len(beside) <= columns() - INDENT - bar - GAP:
            return beside, _folded("  ".join(words[count:])) if words[count:] else []
    return "", []


def _placed(texts: Iterable[tuple[int, str]], bar: int) -> str:
    """Each text ends or begins where it is wanted, or where there is room behind the one before."""
    line = ""
    for place, text in sorted(texts):
        begin = max(min(place, bar + GAP - len(text) - 1), len(line) + bool(line))
        line = f"{line:<{begin}}{text}"
    return line
