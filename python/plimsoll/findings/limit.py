"""A resource near its ceiling."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

NEAR_CEILING = 0.90
RISE = 1.15


@dataclass(frozen=True)
class Limit:
    """A resource near its ceiling; `utilisation` as a share of the ceiling, `low` the same at the lowest load."""

    kind: str
    where: str
    utilisation: float
    low: float | None
    evidence: str
    remedy: str  # what to do about this very one, as a clause: with its number where that is known

    @property
    def rose(self) -> bool:
        """Whether it was clearly busier than at the lowest load, or that is not known."""
        return self.low is None or self.utilisation >= RISE * self.low

    def to_json(self) -> dict[str, Any]:
        """As the finding holds it."""
        return {
            "kind": self.kind,
            "where": self.where,
            "utilisation": round(self.utilisation, 3),
            "evidence": self.evidence,
            "remedy": self.remedy,
        }


def no_limit(kind: str, evidence: str) -> dict[str, Any]:
    """What a finding holds where nothing is named: kind "none" (nothing limited it) or "unknown"."""
    return {"kind": kind, "where": None, "utilisation": None, "evidence": evidence}
