"""The answers as plain lines for a terminal: legible without colour, as wide as report/columns.py says."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from plimsoll.report.columns import columns
from plimsoll.report.finding_view import DecidedRow, FindingView
from plimsoll.report.k6.outcome import views_of

NO_FINDING = "No finding was recorded: the run ended before it could answer. The report shows what was measured."
HOLD = "\N{NO-BREAK SPACE}"
_BEFORE_UNIT = re.compile(r"(?<=\d) (?=(?:[µm]?s|min|h|[KMGT]?i?B)(?!\w))")


def answer_lines(findings: Iterable[Mapping[str, Any]]) -> str:
    """Question, answer and what supports it, for every finding ; ends without a line break.

    Control characters in names are dropped, so that a name cannot steer the terminal.
    """
    views = views_of(findings)
    if not views:
        return NO_FINDING
    return "\n\n".join("\n".join(_lines(item)) for item in views)


def table_lines(findings: Iterable[Mapping[str, Any]]) -> str:
    """The tables of the findings as plain lines, one column as wide as its widest cell; each begins with an empty
    line. Control characters are dropped."""
    lines = []
    for table in (table for view in views_of(findings) for table in view.tables):
        rows = [[clean(cell) for cell in row] for row in [table.columns, *table.rows]]
        lines += ["", clean(table.title), *wrapped(table.note, "  "), *row_lines(rows)]
    return "\n".join(lines)


def row_lines(rows: Sequence[Sequence[str]]) -> list[str]:
    """A line for each row, one column as wide as its widest cell."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return [f"  {'  '.join(map(str.ljust, row, widths))}".rstrip() for row in rows]


def _lines(item: FindingView) -> list[str]:
    lines = [*wrapped(item.question, ""), *wrapped(item.answer, "  ")]
    lines += [line for text in item.cautions for line in wrapped(f"But: {text}", "  ")]
    if item.is_partly_valid:
        lines += wrapped(f"Not valid, {item.invalid_for}: {' '.join(item.reasons)}", "  ")
    if not item.valid and not item.unanswered:
        lines += wrapped(_invalid_words(item), "  ")
    lines += outcome_lines(item)
    width = max((len(label) for label, _ in item.facts), default=0)
    lines += [line for label, value in item.facts for line in wrapped(f"{label:<{width}}  {value}", "  ")]
    lines += [line for text in item.sentences for line in wrapped(f"- {text}", "  ")]
    lines += [line for text in item.evidence for line in wrapped(f"Evidence: {text}", "  ")]
    for objective in item.objectives:
        lines += wrapped(f"Objective {objective.operation} {objective.objective}: {objective.met_up_to}", "  ")
    lines += [line for text in item.caveats for line in wrapped(f"Note: {text}", "  ")]
    lines += [line for text in item.next_steps for line in wrapped(f"Next: {text}", "  ")]
    return lines


def _invalid_words(item: FindingView) -> str:
    """That it is invalid, whether the generator is why, and where the reasons are if the answer does not say them."""
    said = "" if item.reasons else "The reasons are with the first answer."
    where = "See the reasons below." if item.caveats else said
    blamed = "the target alone did not make this result." if item.blames_generator else ""
    why = " ".join(filter(None, (blamed, where)))
    return f"INVALID{f' for {item.invalid_for}' if item.invalid_for else ''}{f': {why}' if why else '.'}"


def outcome_lines(item: FindingView) -> list[str]:
    """The rows of what a plain run did, each on as many lines as it takes."""
    return [line for row in item.outcome for line in wrapped(row_words(row), "  ")]


def row_words(row: DecidedRow) -> str:
    """ "✗ http_req_duration p(95)<500: failed. p(95) was 612 ms." """
    sign, _, verdict = row.badge.partition(" ")
    return " ".join(filter(None, (sign, f"{row.subject}: {verdict}.", row.words)))


def wrapped(text: str, indent: str, width: int | None = None) -> list[str]:
    """Lines of `width`, else as wide as an answer's; a number stays on one line with its unit."""
    held = _BEFORE_UNIT.sub(HOLD, clean(text))
    lines = textwrap.wrap(
        held, width or columns(), initial_indent=indent, subsequent_indent=f"{indent}  ", break_on_hyphens=False
    )
    return [line.replace(HOLD, " ") for line in lines]


def clean(text: str) -> str:
    """Without what is not printed, so that a name cannot steer the terminal."""
    return "".join(letter if letter.isprintable() else " " for letter in text)
