"""A resource near its ceiling."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

NEAR_CEILING = 0.90


@dataclass(frozen=True)
class Limit:
    """A resource near its ceiling; `utilisation` as a share of the ceiling, `low` the same at the lowest load."""

    kind: str
    where: str
    utilisation: float
    low: float | None
    evidence: str
    remedy: str | None = None  # what to do about this very one, where that is known

    def to_json(self) -> dict[str, Any]:
        """As the finding holds it."""
        remedy = {"remedy": self.remedy} if self.remedy else {}
        return {
            "kind": self.kind,
            "where": self.where,
            "utilisation": round(self.utilisation, 3),
            "evidence": self.evidence,
            **remedy,
        }
