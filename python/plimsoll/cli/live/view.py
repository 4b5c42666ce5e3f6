"""The live view of a state: lines for a terminal of a given size, without any effect.

── bracketing ─────────────────────────────────────── 1 min 12 s, 3 min 48 s left
 Level      168 users, measured for 6 s
 Why        just above the estimated capacity of 162 users, to prove that it is not carried
 Answers    1,672 of 1,680/s done   p95 14 ms   23 unfinished   none failed

then the bracket to scale, a chart, and what target and generator do. What gives way first on a low terminal are the
empty lines, then rows of the chart, then the bracket.
"""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import Group
from rich.text import Text

from plimsoll.cli.live.chart import LABEL, STYLES, course, levels
from plimsoll.live.state import Bracket, State, Step
from plimsoll.report.levels import CARRIED, NOT_CARRIED, OPEN, Mark, line_of
from plimsoll.report.load_line import drawn
from plimsoll.report.text import clean, wrapped
from plimsoll.words import ms_words, number, time_words

WIDEST, HIGHEST = 110, 30
ROOMY = 22  # lines from which on parts have an empty line between them
INDENT, COLUMN = 1, 11  # of the label, and of what it labels
KEY, LEAST_BAR, MOST_BAR = 42, 12, 48  # columns that the signs of the load line need beside it
LEAST_CHART = 3
STALE_S = 3.0
HELD, APART = "↑", "   "
UNPROVEN = "nothing is proven yet"
LAST_STEPS = 8


def view(state: State, width: int, height: int, idle_s: float = 0.0) -> Group:
    """The lines; `idle_s`: since the state was new. No line is wider than `width` - 1, and there are fewer than
    `height`."""
    wide, most = min(width - 1, WIDEST), min(height - 1, HIGHEST)
    now, resources, bracket = _now(state, wide), _resources(state, wide), _bracket(state.bracket, wide)
    gap = 1 if most >= ROOMY else 0
    head = [_head(state, wide, idle_s)]
    room = most - len(head) - len(now) - len(resources) - 2 * gap
    if room - len(bracket) - gap < LEAST_CHART:
        bracket = []
    chart = _chart(state, wide, room - len(bracket) - gap * bool(bracket))
    blocks = [block for block in ([*head, *now], bracket, chart, resources) if block]
    lines = [line for place, block in enumerate(blocks) for line in ([Text()] * gap * bool(place) + block)]
    for line in lines:
        line.truncate(wide, overflow="ellipsis")
        line.no_wrap = True
    return Group(*lines[:most])


def _head(state: State, width: int, idle_s: float) -> Text:
    times = [f"{time_words(state.second)} of load"]
    if state.left_s is not None:
        times.append(f"{time_words(state.left_s)} left")
    right = f" {', '.join(times)}"
    stale = f" no new second for {time_words(idle_s)} " if idle_s >= STALE_S else ""
    line = Text().append("── ", LABEL).append(state.phase, "bold").append(" ")
    rule = "─" * max(2, width - len(line) - len(stale) - len(right))
    return line.append(rule, LABEL).append(stale, "yellow").append(right)


def _now(state: State, width: int) -> list[Text]:
    level = Text().append(clean(state.name), "bold").append(f", {state.stage}" if state.stage else "")
    lines = [_labelled("Level", level)]
    if state.why:
        lines += _wrapped("Why", state.why, width, 2)
    lines += _phrases(state, width - COLUMN - INDENT)
    return [*lines, *(_wrapped("So far", state.more, width, 2) if state.more else [])]


def _phrases(state: State, width: int) -> list[Text]:
    """The numbers, as many on a line as fit; failures are the last."""
    lines = [Text()]
    for phrase in state.numbers:
        style = "red" if state.is_failing and phrase is state.numbers[-1] else ""
        if lines[-1] and len(lines[-1]) + len(APART) + len(phrase) > width:
            lines.append(Text())
        lines[-1].append(APART if lines[-1] else "").append(phrase, style)
    return [_labelled("" if place else "Answers", line) for place, line in enumerate(lines)]


def _resources(state: State, width: int) -> list[Text]:
    lines = [_labelled("Target" if not place else "", Text(clean(words))) for place, words in enumerate(state.target)]
    if state.generator.words:
        sign, style = ("✓ ", "") if state.generator.is_well else ("! ", "yellow")
        lines.append(_labelled("Generator", Text(f"{sign}{state.generator.words}", style)))
    return lines


def _bracket(told: Bracket | None, width: int) -> list[Text]:
    if told is None:
        return []
    if told.good is None and told.bad is None:
        return [_labelled("Bracket", Text(UNPROVEN, LABEL))]
    bar = min(MOST_BAR, width - COLUMN - INDENT - KEY)
    if bar < LEAST_BAR:
        return []
    marks = (Mark(HELD, "now", told.level, f"{number(told.level)} now"),) if told.level else ()
    line = line_of(told.good, told.bad, told.unit, marks)
    lines = [_labelled("Bracket" if not place else "", Text(text)) for place, text in enumerate(drawn(line, bar))]
    for signs in lines[:1]:
        for sign, style in ((CARRIED, "green"), (OPEN, "yellow"), (NOT_CARRIED, "red")):
            signs.highlight_regex(f"{sign}+", style)
    return lines


def _chart(state: State, width: int, most: int) -> list[Text]:
    inner = width - INDENT
    if state.rows:
        found = levels(state.rows, state.unit, inner, most)
    else:
        found = course(state.course, inner, most) if state.course is not None else []
    return [Text(" " * INDENT).append_text(line) for line in found]


def _labelled(label: str, text: Text) -> Text:
    return Text().append(f"{' ' * INDENT}{label:<{COLUMN}}", LABEL).append_text(text)


def _wrapped(label: str, words: str, width: int, most: int) -> list[Text]:
    lines = wrapped(words, "", width - COLUMN - INDENT)
    if len(lines) > most:
        lines = [*lines[: most - 1], f"{lines[most - 1]}…"]
    return [_labelled(label if not place else "", Text(line)) for place, line in enumerate(lines)]


def history(state: State, width: int) -> list[Text]:
    """What stays when the view is gone: the last levels that were judged, or the trials of each load."""
    wide = min(width - 1, WIDEST)
    rows = [row for row in state.rows if row.sign != "now"]
    lines = _steps(state.steps) if state.steps else levels(rows, state.unit, wide - INDENT, LAST_STEPS + 1)
    for line in lines:
        line.truncate(wide, overflow="ellipsis")
        line.no_wrap = True
    return lines


def _steps(steps: Sequence[Step]) -> list[Text]:
    last = steps[-LAST_STEPS:]
    rates = [f"{number(one.done_per_s)} of {number(one.planned_per_s)}/s" for one in last]
    times = ["" if one.p95_ms is None else f"p95 {ms_words(one.p95_ms)}" for one in last]
    ends = [time_words(one.end_s) for one in last]
    sizes = [max(map(len, cells)) for cells in (ends, [one.name for one in last], rates, times)]
    lines = []
    if (left := len(steps) - len(last)) > 0:
        lines.append(Text(f"{left} {'step' if left == 1 else 'steps'} before these", LABEL))
    for one, *cells in zip(last, ends, (one.name for one in last), rates, times, strict=True):
        padded = [f"{cell:>{size}}" for cell, size in zip(cells, sizes, strict=True)]
        lines.append(Text("  ".join(padded)).append(f"  {one.words}", STYLES[one.sign]))
    return lines
