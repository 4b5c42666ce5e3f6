"""The fields of what is read from other tools' results (`plimsoll analyze`)."""

from __future__ import annotations

from typing import Required

from typing_extensions import TypedDict

from plimsoll.findings.shape.units import (
    Cells,
    Deviations,
    Level,
    Milliseconds,
    Number,
    PerSecond,
    Probability,
    Ratio,
    Requests,
    Seconds,
)


class Totals(TypedDict):
    """The whole result."""

    requests: Requests
    failed: Requests
    seconds: Seconds
    times_ms: dict[str, Milliseconds]


class Growth(TypedDict):
    """Whether unfinished requests grew."""

    rate_per_s: PerSecond
    done_per_s: PerSecond
    unfinished_end: Requests
    growth_z: Deviations
    shortfall_z: Deviations
    smallest_overload: Ratio


class DemandPoint(TypedDict):
    """A row of the source: throughput, use of the resource, and ms of the whole of it per request."""

    level: Level | None
    per_s: PerSecond
    utilisation: Ratio
    demand_ms: Milliseconds
    line: Number | None


class Demand(TypedDict, total=False):
    """Demand per request, and throughput at a budget by two ways of going on."""

    measured: Required[list[DemandPoint]]
    budget: Required[Ratio | None]
    constant_demand_per_s: list[PerSecond]
    line_per_s: PerSecond | None
    line_interval: list[PerSecond] | None
    confidence: Probability | None
    times_the_highest_measured: Ratio


class Scaled(TypedDict):
    """The highest level with the same mix at the budget."""

    ratio: Ratio
    from_level: Level | None
    level: Level
    level_unit: str
    rates_per_s: dict[str, PerSecond]


class ComparedLevel(TypedDict):
    """Cells of a level: B ÷ A."""

    level: Level
    median_ratio: Ratio
    risen: Cells
    cells: Cells
    direction: str


class TableComparison(TypedDict):
    """Two published tables side by side."""

    a: str
    b: str
    cells: Cells
    levels: list[ComparedLevel]
