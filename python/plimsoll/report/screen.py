"""The answer on one screen of a terminal: what was found, where it lies, what stops it, what to do next.

Every part has its most lines, and parts give way in turn until all fits; what is left out is counted, and the whole is
in `text.answer_lines` (`--details`) and in the report.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from plimsoll.report.columns import columns, lines_for
from plimsoll.report.finding_view import GENERATOR, FindingView, ObjectiveLine, gravest_first, section
from plimsoll.report.k6.outcome import views_of
from plimsoll.report.load_line import load_line
from plimsoll.report.text import NO_FINDING, clean, row_lines, row_words, wrapped
from plimsoll.report.wording import is_number
from plimsoll.words import amount_words, joined, ms_words

MOST_LINES, END_LINES = 25, 2  # the last two: what more there is, and the report's path
ANSWER_LINES, LIMIT_LINES, ROW_LINES = 6, 3, 2
MOST_NAME = 41
FEW = 2  # rows of one kind of which each may take ROW_LINES
MOST_OBJECTIVES, MOST_VERDICTS, MOST_OTHERS, MOST_NEXT, MOST_TABLE_ROWS = 4, 8, 5, 3, 6
CLAUSE_KEEPS = 0.6  # of what a cut behind any word would keep; below, the clause is too short to tell anything
_LOOSE = " ,;:("
_WORD_END = re.compile(r" ")
# What means nothing without the words behind it; a number stays with what it counts.
_HANGING = re.compile(r"(?:[ (](?:an?|and|at|by|for|from|in|is|of|on|or|than|that|the|to|which|with|[\d.,]*\d))+$")
_CLAUSE_END = re.compile(r"[,;:] | \((?=\S)|(?<=\)) ")
_SENTENCE_END = re.compile(r"(?<=[.!?]) +(?=[A-Z0-9])")


@dataclass
class _Part:
    """Rows of lines, the last of which are left out where there is no room; `name` of what is then counted."""

    rows: list[list[str]]
    name: str = ""
    left_out: int = 0

    def shorten(self, most: int) -> None:
        while len(self.rows) > most:
            self.rows.pop()
            self.left_out += 1

    @property
    def height(self) -> int:
        return sum(map(len, self.rows))

    @property
    def counted(self) -> str:
        return _count(self.left_out, f"more {self.name}") if self.name and self.left_out else ""


def screen(
    findings: Sequence[Mapping[str, Any]], report: str | None, how: str = "--details", most_lines: int = MOST_LINES
) -> str:
    """At most `most_lines` lines of 100 columns but for the report's path, or as much on more lines of a narrower
    terminal; ends without a line break. `how`: what prints the rest."""
    most_lines = lines_for(most_lines)
    if not findings:
        return "\n".join([NO_FINDING, *_report(report)])
    main, *others = views_of(findings)
    cautions = [_cut(text, LIMIT_LINES, lead="But: ") for text in main.cautions]
    answer = _Part([_cut(main.question, 1, ""), _cut(main.answer, ANSWER_LINES), *cautions, *_reasons(main)])
    line = _Part([[f"  {one}" for one in load_line(findings[0])]])
    outcome = _Part([_cut(row_words(row), ROW_LINES) for row in main.outcome], "verdict")
    table = _Part(_table(main))
    objectives = _objectives(main.objectives)
    limit = _Part([_cut(text, LIMIT_LINES, lead="Limited by: ") for text in _limit(main)])
    generator = _Part(_healthy_generator(main, findings[0]))
    each = ROW_LINES if len(others) <= FEW else 1
    further = _Part([_cut(_answered(one), each, lead=f"{one.question} ") for one in others], "answer")
    steps = _Part([_cut(text, ROW_LINES, lead="Next: ") for text in _steps(main, others)], "step")
    for part, most in (
        (outcome, MOST_VERDICTS),
        (objectives, MOST_OBJECTIVES),
        (further, MOST_OTHERS),
        (steps, MOST_NEXT),
    ):
        part.shorten(most)
    blocks = [[answer], [line], [outcome], [table], [objectives, limit, generator], [further], [steps]]
    giving_way = (
        *((steps, 2), (further, 2), (objectives, 3), (outcome, 4), (table, 0)),
        *((steps, 1), (objectives, 1), (further, 0), (outcome, 1), (generator, 0), (steps, 0), (objectives, 0)),
    )
    for part, least in giving_way:
        while _height(blocks) + END_LINES > most_lines and len(part.rows) > least:
            part.shorten(len(part.rows) - 1)
    told = [[text for part in block for row in part.rows for text in row] for block in blocks]
    notes = len(main.caveats) + sum(len(one.caveats) for one in others)
    counts = [part.counted for part in (outcome, further, objectives, steps)] + (
        [_count(notes, "note")] if notes else []
    )
    more = f"{', '.join(filter(None, counts))} and what" if any(counts) else "What"
    end = [f"{more} this rests on: {how}.", *_report(report)]
    return "\n\n".join("\n".join(lines) for lines in [*filter(None, told), end])


def screen_of_run(
    findings: Sequence[Mapping[str, Any]], run: Path, report: Path | None, most_lines: int = MOST_LINES
) -> str:
    """The screen of a run, which names what prints the rest of it: a run in runs/ by the end of its name."""
    name = run.name.rpartition("-")[2] if run.parent == Path("runs") else str(run)
    how = f"plimsoll runs show {clean(name)} --details"
    return screen(findings, None if report is None else str(report), how, most_lines)


def _height(blocks: Iterable[Sequence[_Part]]) -> int:
    """Lines with the empty one behind each block."""
    heights = [sum(part.height for part in block) for block in blocks]
    return sum(height + 1 for height in heights if height)


def _reasons(main: FindingView) -> list[list[str]]:
    if main.is_partly_valid:
        return [_cut(because, LIMIT_LINES, lead=f"Not valid, {main.invalid_for}: ") for because in main.reasons[:1]]
    if main.valid or main.unanswered:
        return []
    what = f" for {main.invalid_for}" if main.invalid_for else ""
    otherwise = "the target alone did not make this result." if main.blames_generator else "see --details."
    because = main.reasons[0] if main.reasons else otherwise
    return [_cut(because, LIMIT_LINES, lead=f"INVALID{what}: ")]


def _objectives(found: Sequence[ObjectiveLine]) -> _Part:
    """The gravest first."""
    ordered = gravest_first(found)
    most = ROW_LINES if len(ordered) <= FEW else 1
    leads = [f"{_middle_out(one.operation)} {one.objective}: " for one in ordered]
    return _Part([_cut(one.met_up_to, most, lead=lead) for one, lead in zip(ordered, leads, strict=True)], "objective")


def _middle_out(name: str) -> str:
    """A long name without its middle: its end tells it from its neighbours."""
    half = (MOST_NAME - 1) // 2
    return name if len(name) <= MOST_NAME else f"{name[:half]}…{name[-half:]}"


def _limit(main: FindingView) -> list[str]:
    """What stops it, and the first sentence of why."""
    if not main.limited_by:
        return []
    return [": ".join(filter(None, (main.limited_by, _SENTENCE_END.split(main.limit_words)[0])))]


def _healthy_generator(main: FindingView, finding: Mapping[str, Any]) -> list[list[str]]:
    """That the generator was no limit, and what it used; one that was is told as a reason."""
    healthy = [row for row in main.decided if row.subject == GENERATOR and row.key == "good"]
    if main.outcome or not main.valid or not healthy:
        return []
    seen = section(finding, "generator")
    told = []
    if is_number(seen.get("generator_cores")):
        told.append(f"it used {amount_words(seen['generator_cores'], 'core')}")
    if is_number(seen.get("lag_p99_ms")):
        told.append(f"was {ms_words(seen['lag_p99_ms'])} late at p99")
    return [_cut(": ".join(filter(None, (healthy[0].badge, joined(told)))), 1, lead="Load generator: ")]


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
    lines = row_lines(rows)
    return [[line] for line in lines] if max(map(len, lines)) <= columns() else []


def _count(count: int, name: str) -> str:
    return f"{count} {name}{'s' if count > 1 else ''}"


def _report(report: str | None) -> list[str]:
    return [f"Report: {clean(report)}"] if report else []


def _cut(text: str, most: int, indent: str = "  ", lead: str = "") -> list[str]:
    """Lines, as many whole sentences as fit into `most` of 100 columns; where not even the first does, it is cut, at
    the end of a clause if that leaves most of it."""
    most = lines_for(most)
    sentences = _SENTENCE_END.split(clean(text))
    for count in range(len(sentences), 0, -1):
        lines = wrapped(f"{lead}{' '.join(sentences[:count])}", indent)
        if len(lines) <= most:
            return lines
    first = sentences[0]

    def longest(ends: Iterable[int]) -> tuple[int, list[str]]:
        for end in sorted(ends, reverse=True):
            lines = wrapped(f"{lead}{first[:end].rstrip(_LOOSE)} …", indent)
            if len(lines) <= most and lines[-1].strip() != "…":
                return end, lines
        return 0, []

    ends = [found.start() for found in _WORD_END.finditer(first)]
    words = longest(end for end in ends if not _HANGING.search(first[:end]))
    clauses = longest(found.start() for found in _CLAUSE_END.finditer(first) if _is_closed(first[: found.start()]))
    if words[1]:
        return clauses[1] if clauses[0] >= CLAUSE_KEEPS * words[0] else words[1]
    lines = wrapped(f"{lead}{first}", indent)[:most]
    lines[-1] = f"{lines[-1][: columns() - 2].rstrip(_LOOSE)} …"
    return lines


def _is_closed(text: str) -> bool:
    """Whether it ends outside of brackets."""
    return text.count("(") == text.count(")")
