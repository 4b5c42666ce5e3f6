"""Charts of a few lines from Unicode blocks: throughput and p95, a row for each level, or over time."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from rich.text import Text

from plimsoll.live.state import Course, Row, Sign
from plimsoll.report.text import clean
from plimsoll.words import ms_words, number, time_words

STYLES: dict[Sign, str] = {"good": "green", "bad": "red", "open": "yellow", "now": "bold cyan", "other": ""}
LABEL = "dim"
_ACROSS, _UP = " ▏▎▍▌▋▊▉█", " ▁▂▃▄▅▆▇█"
MOST_NAME, LEAST_BAR, MOST_BAR, GAP = 30, 3, 28, 2
ROOM = 2.0  # times the highest p95 of the levels that are not too much: beyond it a bar is cut
CUT = "»"
MOST_HEIGHT, MOST_WIDE = 5, 4  # lines of a chart over time, columns of a value
NONE = "–"


def levels(rows: Sequence[Row], unit: str, width: int, most: int) -> list[Text]:
    """A header and a line for each level, at most `most` in all: those around the one that is held. None where not
    even two levels fit."""
    shown = _around_now(rows, most - 1)
    if len(shown) < min(2, len(rows)) or not rows:
        return []
    names = [_short(row.name) for row in shown]
    done = [number(row.done_per_s) if row.done_per_s else NONE for row in shown]
    p95 = [NONE if row.p95_ms is None else ms_words(row.p95_ms) for row in shown]
    heads = unit if len(unit) <= max(map(len, names), default=0) + 8 else "", "done/s", "p95"
    columns = [max(map(len, (head, *cells))) for head, cells in zip(heads, (names, done, p95), strict=True)]
    words = max(len(row.words) for row in shown)
    bar = (width - sum(columns) - words - 3 * GAP - 2) // 2
    bar = min(MOST_BAR, bar) if bar >= LEAST_BAR else 0
    lines = [Text(_cells(heads, columns, "", "", bar), LABEL)]
    most_done = max((row.done_per_s for row in rows), default=0.0)
    most_p95 = _top(rows)
    for row, *cells in zip(shown, names, done, p95, strict=True):
        drawn = across(row.done_per_s, most_done, bar), across(row.p95_ms or 0.0, most_p95, bar)
        line = Text(_cells(cells, columns, *drawn, bar), STYLES[row.sign])
        lines.append(line.append(f"{' ' * GAP}{row.words}"))
    return lines


def _cells(cells: Sequence[str], columns: Sequence[int], done: str, p95: str, bar: int) -> str:
    name, rate, times = (f"{cell:>{size}}" for cell, size in zip(cells, columns, strict=True))
    return f"{name}{' ' * GAP}{rate} {done:<{bar}}{' ' * GAP}{times} {p95:<{bar}}"


def _short(name: str) -> str:
    shown = clean(name)
    return shown if len(shown) <= MOST_NAME else f"{shown[: MOST_NAME - 1]}…"


def _around_now(rows: Sequence[Row], most: int) -> Sequence[Row]:
    if len(rows) <= most:
        return rows
    now = next((place for place, row in enumerate(rows) if row.sign == "now"), len(rows) - 1)
    first = max(0, min(now - most // 2, len(rows) - most))
    return rows[first : first + max(0, most)]


def _top(rows: Sequence[Row]) -> float:
    """The p95 at which a bar is full: an overload would leave nothing of the others."""
    calm = [row.p95_ms for row in rows if row.p95_ms is not None and row.sign not in ("bad", "now")]
    every = [row.p95_ms for row in rows if row.p95_ms is not None]
    return min(max(every, default=0.0), ROOM * max(calm)) if calm else max(every, default=0.0)


def across(value: float, most: float, width: int) -> str:
    """A bar of at most `width` columns; one that is cut says so."""
    if width <= 0 or most <= 0 or value <= 0:
        return ""
    if value > most * (1 + 1e-9):
        return "█" * (width - 1) + CUT
    eighths = max(1, round(value / most * width * 8))
    whole, rest = divmod(eighths, 8)
    return "█" * whole + (_ACROSS[rest] if rest else "")


def up(values: Sequence[float | None], most: float, height: int) -> list[str]:
    """A column for each value, `height` lines; none where there is no value."""
    eighths = [0 if value is None or most <= 0 else _eighths(value / most * height * 8) for value in values]
    floors = range(8 * (height - 1), -1, -8)
    return ["".join(_UP[max(0, min(8, one - floor))] for one in eighths) for floor in floors]


def _eighths(value: float) -> int:
    return max(1, round(value)) if value > 0 else 0


def course(told: Course, width: int, most: int) -> list[Text]:
    """Throughput and p95 over time, at most `most` lines; none where there is no room for two. Where it is known how
    long it will be, what is still to come is left free."""
    height = min(MOST_HEIGHT, (most - 1) // 2)
    if height < 1 or not told.done_per_s:
        return []
    tops = max(told.done_per_s), max((one for one in told.p95_ms if one is not None), default=0.0)
    labels = [f"{number(tops[0])}/s", ms_words(tops[1])]
    left = max(map(len, ("done/s", *labels)))
    columns = max(1, width - left - 1)
    points = max(len(told.done_per_s), math.ceil((told.whole_s or 0.0) / told.seconds))
    each, wide = math.ceil(points / columns), max(1, min(MOST_WIDE, columns // points))
    done = [sum(part) / len(part) for part in _parts(told.done_per_s, each)]
    p95 = [max((one for one in part if one is not None), default=None) for part in _parts(told.p95_ms, each)]
    lines: list[Text] = []
    for values, top, label, name in ((done, tops[0], labels[0], "done/s"), (p95, tops[1], labels[1], "p95")):
        names = [label, *[""] * (height - 2), *([name] if height > 1 else [])]
        drawn = up([value for value in values for _ in range(wide)], top, height)
        for text, line in zip(names, drawn, strict=True):
            lines.append(
                Text().append(f"{text:>{left}} ", LABEL).append(line, "cyan" if name == "done/s" else "magenta")
            )
    end = time_words(points * told.seconds)
    rule = "─" * max(2, math.ceil(points / each) * wide - len(end) - 5)
    return [*lines, Text(f"{'':>{left}} 0 s {rule} {end}", LABEL)]


def _parts(values: Sequence[Any], each: int) -> list[Sequence[Any]]:
    return [values[place : place + each] for place in range(0, len(values), each)]
