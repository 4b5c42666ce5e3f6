"""The answers as plain lines for a terminal: legible without colour, at most WIDTH columns."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable
from typing import Any

from plimsoll.report.finding_view import FindingView, as_mapping, view

WIDTH = 100


def answer_lines(findings: Iterable[Any]) -> str:
    """Question, answer and what supports it, for every finding (dicts or dataclasses); ends without a line break.

    Control characters in names are dropped, so that a name cannot steer the terminal.
    """
    views = [view(as_mapping(finding)) for finding in findings]
    if not views:
        return "No finding was recorded: the run ended before it could answer. The report shows what was measured."
    return "\n\n".join("\n".join(_lines(item)) for item in views)


def _lines(item: FindingView) -> list[str]:
    lines = [_clean(item.question), *_wrapped(item.answer, "  ")]
    if not item.valid and not item.unanswered:
        lines += _wrapped("INVALID: this is not a result of the target. See the reasons below.", "  ")
    width = max((len(label) for label, _ in item.facts), default=0)
    lines += [f"  {_clean(label):<{width}}  {_clean(value)}" for label, value in item.facts]
    lines += [line for text in item.sentences for line in _wrapped(f"- {text}", "  ")]
    if item.evidence:
        lines += _wrapped(f"Evidence: {item.evidence}", "  ")
    for objective in item.objectives:
        lines += _wrapped(f"Objective {objective.operation} {objective.objective}: {objective.met_up_to}", "  ")
    lines += [line for text in item.caveats for line in _wrapped(f"Note: {text}", "  ")]
    lines += [line for text in item.next_steps for line in _wrapped(f"Next: {text}", "  ")]
    return lines


def _wrapped(text: str, indent: str) -> list[str]:
    return textwrap.wrap(
        _clean(text), WIDTH, initial_indent=indent, subsequent_indent=f"{indent}  ", break_on_hyphens=False
    )


def _clean(text: str) -> str:
    return "".join(letter if letter.isprintable() else " " for letter in text)
