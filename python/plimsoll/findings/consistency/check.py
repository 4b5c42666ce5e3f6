"""One story: the findings of a run are held against each other before they are shown.

Each rule (rules.py) finds a contradiction in the fields of findings, never in a sentence, and mends it.
What was seen directly stays, and what was derived from it is rewritten or left out, with the reason. What no rule can
mend is said in the notes of both findings.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from plimsoll.findings.consistency.rules import RULES
from plimsoll.findings.consistency.story import Retell, Story


@dataclass(frozen=True)
class Contradiction:
    """What two findings of a run say against each other: the rule, the questions of both, and it in words."""

    rule: str
    between: tuple[str, str]
    words: str


def contradictions(findings: Iterable[Mapping[str, Any]]) -> list[Contradiction]:
    """Those between the findings of one run."""
    story = Story(findings)
    found = ((rule, rule.find(story)) for rule in RULES)
    return [Contradiction(rule.name, rule.between, words) for rule, words in found if words is not None]


def consistent(findings: Sequence[Mapping[str, Any]], retell: Retell | None = None) -> list[dict[str, Any]]:
    """The findings without the contradictions that can be mended; the others are named in their notes. `retell`: makes
    the main answer again from the fields of its finding."""
    story = Story(findings, retell)
    for rule in RULES:
        words = rule.find(story)
        if words is not None and rule.mend is not None:
            rule.mend(story)
            words = rule.find(story)
        if words is not None:
            for question in dict.fromkeys(rule.between):
                story.note(question, f"Two answers of this run disagree: {words}.")
    return story.findings
