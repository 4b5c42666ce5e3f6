"""A resource near its ceiling."""

from __future__ import annotations

import math
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from plimsoll.words import number

NEAR_CEILING = 0.90
RISE = 1.15
OF_UNFINISHED = 0.4  # of the iterations under way at the end of a step, for what waits; on average there are fewer
MORE = 1.5  # times what there is, for a second run that shows whether it was the limit


class Scope(StrEnum):
    """What a limit is a limit of. Rules compare this and the owner, and never a sentence."""

    THREAD = "thread"
    WAITING_THREAD = "waiting thread"
    PROCESS = "process"
    TARGET_CORES = "target cores"
    HOST_CORES = "host cores"
    HOST_DISK = "host disk"
    QUOTA = "quota"
    HEAP = "heap"
    CONNECTIONS = "connections"
    LOCK = "lock"
    STATEMENT = "statement"
    UNINDEXED = "statement without an index"
    OTHER = "other"

    @property
    def is_of_process(self) -> bool:
        """Whether its owner is the label of a process whose own CPU it is."""
        return self in (Scope.THREAD, Scope.WAITING_THREAD, Scope.PROCESS)


@dataclass(frozen=True)
class Limit:
    """A resource near its ceiling; `utilisation` as a share of the ceiling, `low` the same at the lowest load."""

    kind: str
    where: str
    utilisation: float
    low: float | None
    evidence: str
    remedy: str  # what to do about this very one, as a clause: with its number where that is known
    scope: Scope = Scope.OTHER
    owner: str = ""  # label of the process or database, or name of the other host; empty for this host; of cores: whose
    size: float | None = None  # of a pool: how many connections it has

    @property
    def rose(self) -> bool:
        """Whether it was clearly busier than at the lowest load, or that is not known."""
        return self.low is None or self.utilisation >= RISE * self.low

    @property
    def is_of_cores(self) -> bool:
        """Whether it is the cores of this host, or those of it that the target may use."""
        return self.scope is Scope.TARGET_CORES or (self.scope is Scope.HOST_CORES and not self.owner)

    @property
    def is_elsewhere(self) -> bool:
        """Whether it is the cores or the disk of another host."""
        return self.scope in (Scope.HOST_CORES, Scope.HOST_DISK) and bool(self.owner)

    @property
    def resource(self) -> str | None:
        """Its name among the resources whose demand a run measures (capacity/run_resources.py); None for others."""
        if self.scope.is_of_process:
            return self.owner
        if self.scope is Scope.TARGET_CORES:
            return None if self.owner else "target_cores"
        name = {Scope.HOST_CORES: "cpu", Scope.HOST_DISK: "disk"}.get(self.scope)
        return name if name is None or not self.owner else f"{name}@{self.owner}"

    def to_json(self) -> dict[str, Any]:
        """As the finding holds it."""
        found: dict[str, Any] = {
            "kind": self.kind,
            "where": self.where,
            "utilisation": round(self.utilisation, 3),
            "evidence": self.evidence,
            "remedy": self.remedy,
        }
        if self.resource is not None:
            found["resource"] = self.resource
        if self.scope in (Scope.THREAD, Scope.PROCESS):
            found["one_core"] = True
        return found if self.size is None else {**found, "size": self.size}


def no_limit(kind: str, evidence: str) -> dict[str, Any]:
    """What a finding holds where nothing is named: kind "none" (nothing limited it) or "unknown"."""
    return {"kind": kind, "where": None, "utilisation": None, "evidence": evidence}


def to_try(size: float, unit: str = "") -> str:
    """The size that there is and one to try, in words: "from 0.5 to 0.75 cores"; of things without a unit whole ones,
    "from 9 to 14"."""
    more = MORE * size if unit else math.ceil(MORE * size)
    return f"from {number(size)} to {number(more)}{f' {unit}' if unit else ''}"
