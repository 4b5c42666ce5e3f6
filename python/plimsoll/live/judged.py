"""What a step was judged to be, in words with a sign; of one that is held here, or that a run directory has."""

from __future__ import annotations

from typing import Protocol

from plimsoll.live.state import PHASES, Sign
from plimsoll.report.wording import VERDICT_SIGNS, VERDICT_WORDS


class Judged(Protocol):
    """The part of a judgement that is told."""

    @property
    def verdict(self) -> str:
        """ "good", "bad", "undecided"."""

    @property
    def disturbed(self) -> bool:
        """Whether it says nothing."""

    @property
    def capped(self) -> bool:
        """Whether the script was the limit."""


def judged(kind: str, found: Judged) -> tuple[Sign, str]:
    """Of a step of that kind: "✓ carried"."""
    if found.disturbed:
        return "open", "? disturbed, so it says nothing"
    if found.capped:
        return "open", "? the script sends no more"
    if kind == "probe":
        return ("bad", "✗ overloaded in a probe") if found.verdict == "bad" else ("other", "probe")
    if kind == "baseline":
        return "other", PHASES["baseline"]
    if kind == "expected" and found.verdict == "undecided":
        return "other", "held"
    again = " again" if kind == "confirm" else ""
    words = f"{VERDICT_SIGNS.get(found.verdict, '?')} {VERDICT_WORDS.get(found.verdict, found.verdict)}{again}"
    signs: dict[str, Sign] = {"good": "good", "bad": "bad"}
    return signs.get(found.verdict, "open"), words
