"""A resource near its ceiling."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from plimsoll.findings.capacity_words import number

NEAR_CEILING = 0.90
RISE = 1.15
MORE = 1.5  # times what there is, for a second run that shows whether it was the limit


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


def to_try(size: float, unit: str = "") -> str:
    """The size that there is and one to try, in words: "from 0.5 to 0.75 cores"; of things without a unit whole ones,
    "from 9 to 14"."""
    more = MORE * size if unit else math.ceil(MORE * size)
    return f"from {number(size)} to {number(more)}{f' {unit}' if unit else ''}"
