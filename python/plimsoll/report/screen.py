"""The answer on one screen of a terminal: what was found, where it lies, what stops it, what to do next.

Every part has its most lines, and parts give way in turn until all fits; what is left out is counted, and the whole is
in `text.answer_lines` (`--details`) and in the report.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from plimsoll.report.finding_view import FindingView, ObjectiveLine, section, view
from plimsoll.report.load_line import load_line
from plimsoll.report.text import NO_FINDING, WIDTH, clean, wrapped

MOST_LINES = 25
ANSWER_LINES, LIMIT_LINES, ROW_LINES = 6, 3, 2
FEW = 2  # rows of one kind of which each may take ROW_LINES
MOST_OBJECTIVES, MOST_OTHERS, MOST_NEXT, MOST_TABLE_ROWS = 4, 5, 3, 6
_SENTENCE_END = re.compile(r"(?<=[.!?]) +(?=[A-Z0-9])")
_GRAVEST_FIRST = {"failed": 0, "undecided": 1, "unknown": 2}


@dataclass
class _Part:
    """Rows of lines; `least` rows stay when there is no room."""

    rows: list[list[str]]
    least: int = 0
    left_out: int = 0

    def shorten(self) -> bool:
        """Whether a row could be left out, the last."""
        if len(self.rows) <= self.least:
            return False
        self.rows.pop()
        self.left_out += 1
        return True

    @property
    def height(self) -> int:
        return sum(map(len, self.rows))


def screen(findings: Sequence[Mapping[str, Any]], report: str | None, how: str = "--details") -> str:
    """At most MOST_LINES lines, of WIDTH columns but for the report's path; ends without a line break. `how`: what
    prints the rest."""
    if not findings:
        return "\n".join([NO_FINDING, *_report(report)])
    main = view(findings[0])
    others = [one for one in map(view, findings[1:]) if one.answer]
    answer = _Part([_cut(main.answer, ANSWER_LINES, ""), *_reasons(main)], 2)
    line = _Part([[f"  {one}" for one in load_line(findings[0])]], 1)
    objectives = _objectives(main.objectives)
    limit = _Part([_cut(text, LIMIT_LINES, lead="Limited by: ") for text in _limit(findings[0], main)], 1)
    each = ROW_LINES if len(others) <= FEW else 1
    further = _Part([_cut(_answered(one), each, lead=f"{one.question} ") for one in others[:MOST_OTHERS]])
    further.left_out = len(others[MOST_OTHERS:])
    steps = _steps(main, others)
    following = _Part([_cut(text, ROW_LINES, lead="Next: ") for text in steps[:MOST_NEXT]], 1)
    following.left_out = len(steps[MOST_NEXT:])
    table = _Part(_table(main), 0)
    blocks = [[answer], [line], [table], [objectives, limit], [further], [following]]
    for part in (further, table, following, objectives):
        while _height(blocks) + 3 > MOST_LINES and part.shorten():
            pass
    told = [one for one in ([row for part in block for lines in part.rows for row in lines] for block in blocks) if one]
    rest = _rest(main, others, further, objectives, following, how)
    return "\n\n".join("\n".join(lines) for lines in [*told, [*rest, *_report(report)]])


def _height(blocks: Iterable[Sequence[_Part]]) -> int:
    """Lines with the empty one behind each block."""
    heights = [sum(part.height for part in block) for block in blocks]
    return sum(height + 1 for height in heights if height)


def _reasons(main: FindingView) -> list[list[str]]:
    if main.valid or main.unanswered:
        return []
    what = f" for {main.invalid_for}" if main.invalid_for else ""
    because = main.caveats[0] if main.caveats else "the target alone did not make this result."
    return [_cut(because, LIMIT_LINES, lead=f"INVALID{what}: ")]


def _objectives(found: Sequence[ObjectiveLine]) -> _Part:
    """The gravest first."""
    ordered = sorted(found, key=lambda one: _GRAVEST_FIRST.get(one.verdict, 3))
    most = ROW_LINES if len(ordered) <= FEW else 1
    rows = [_cut(one.met_up_to, most, lead=f"{one.operation} {one.objective}: ") for one in ordered[:MOST_OBJECTIVES]]
    return _Part(rows, 1, len(ordered[MOST_OBJECTIVES:]))


def _limit(finding: Mapping[str, Any], main: FindingView) -> list[str]:
    """What stops it, and the first sentence of why."""
    value = next((value for label, value in main.facts if label == "Limited by"), None)
    if value is None:
        return []
    why = str(section(finding, "limited_by").get("evidence") or "").removeprefix("Cannot tell: ")
    return [": ".join(filter(None, (value, _SENTENCE_END.split(why)[0])))]


def _answered(one: FindingView) -> str:
    return one.answer if one.valid or one.unanswered else f"INVALID: {one.answer}"


def _steps(main: FindingView, others: Iterable[FindingView]) -> list[str]:
    """Those of the main answer, or else of the others."""
    return main.next_steps or list(dict.fromkeys(step for one in others for step in one.next_steps))[:1]


def _table(main: FindingView) -> list[list[str]]:
    """The first table of the main answer, a row each, if it fits the width."""
    if not main.tables:
        return []
    table = main.tables[0]
    rows = [[clean(cell) for cell in row] for row in [table.columns, *table.rows[:MOST_TABLE_ROWS]]]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    if sum(widths) + 2 * len(widths) > WIDTH:
        return []
    return [[f"  {'  '.join(map(str.ljust, row, widths))}".rstrip()] for row in rows]


def _rest(
    main: FindingView, others: Sequence[FindingView], further: _Part, objectives: _Part, steps: _Part, how: str
) -> list[str]:
    """What more there is to read."""
    notes = len(main.caveats) + sum(len(one.caveats) for one in others)
    counted = (
        (further.left_out, "more answer"),
        (objectives.left_out, "more objective"),
        (steps.left_out, "more step"),
        (notes, "note"),
    )
    parts = [f"{count} {name}{'s' if count > 1 else ''}" for count, name in counted if count]
    return [f"{', '.join(parts)}, and what this rests on: {how}."] if parts else [f"What this rests on: {how}."]


def _report(report: str | None) -> list[str]:
    return [f"Report: {clean(report)}"] if report else []


def _cut(text: str, most: int, indent: str = "  ", lead: str = "") -> list[str]:
    """Lines of WIDTH, as many whole sentences as fit into `most`; where not even the first does, it is cut."""
    sentences = _SENTENCE_END.split(clean(text))
    for count in range(len(sentences), 0, -1):
        lines = wrapped(f"{lead}{' '.join(sentences[:count])}", indent)
        if len(lines) <= most:
            return lines
    lines = wrapped(f"{lead}{sentences[0]}", indent)[:most]
    if len(lines[-1]) > WIDTH - 2:
        lines[-1] = lines[-1].rpartition(" ")[0]
    lines[-1] = f"{lines[-1].rstrip(' ,;:')} …"
    return lines
