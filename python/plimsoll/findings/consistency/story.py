"""The findings of a run as one story: what the rules of consistency read and rewrite."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

MAIN, HELD, NEXT, FAR, HARDWARE, SCALING = (
    "How much load does it carry?",
    "Is it stable at this load, and does it meet the objectives?",
    "What would stop it next?",
    "How far would it go?",
    "What hardware does it need?",
    "How does throughput scale with users?",
)
Finding = dict[str, Any]
Retell = Callable[[Mapping[str, Any]], str]


class Story:
    """The findings of a run, copied, by their question. `retell`: makes the main answer again from its fields."""

    def __init__(self, findings: Iterable[Mapping[str, Any]], retell: Retell | None = None) -> None:
        self.findings: list[Finding] = [dict(one) for one in findings]
        self._retell = retell

    def of(self, question: str) -> Finding:
        """The finding; empty where there is none."""
        return next((one for one in self.findings if one.get("question") == question), {})

    @property
    def main(self) -> Finding:
        """The capacity finding; empty for other experiments."""
        return self.of(MAIN)

    @property
    def capacity(self) -> Mapping[str, Any]:
        """Its bracket and rates; empty where there is none."""
        return self.main.get("capacity") or {}

    @property
    def limit(self) -> Mapping[str, Any]:
        """What stops it."""
        return self.main.get("limited_by") or {}

    @property
    def stopped_by(self) -> str | None:
        """Where the limit is that a saturated run met; None where it met none, or that is not known."""
        return self.limit.get("where") if self.capacity.get("bad") is not None else None

    def with_capacity(self, **values: Any) -> None:
        """Other values of the main finding's capacity."""
        self.of(MAIN)["capacity"] = {**self.capacity, **values}

    def note(self, question: str, words: str) -> None:
        """Add to the notes of a finding, once."""
        finding = self.of(question)
        if finding and words not in (finding.get("notes") or ()):
            finding["notes"] = [*(finding.get("notes") or ()), words]

    def retell(self, why: str) -> None:
        """Make the main answer again, as its fields changed; where nobody can, its notes tell why."""
        if self._retell is not None:
            self.of(MAIN)["answer"] = self._retell(self.main)
        else:
            self.note(MAIN, why)

    def users(self, level: float | None) -> float | None:
        """A level in users; None where that is not known."""
        good, users = self.capacity.get("good"), self.capacity.get("users")
        if level is None or self.capacity.get("unit") == "users":
            return level
        return level * users / good if good and users is not None else None


@dataclass(frozen=True)
class Rule:
    """`find` says what contradicts, None if nothing; `mend` makes it right, None where nothing can. `between`: the
    questions of the findings, the one that stays first."""

    name: str
    between: tuple[str, str]
    find: Callable[[Story], str | None]
    mend: Callable[[Story], None] | None = None
