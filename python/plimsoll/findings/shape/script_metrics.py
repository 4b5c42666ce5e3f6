"""The fields of what the script's own metrics said, and of how the time of a request splits."""

from __future__ import annotations

from typing import Annotated, Literal, Required

from typing_extensions import TypedDict

from plimsoll.findings.shape.units import (
    Blocks,
    Level,
    Milliseconds,
    PerSecond,
    Probability,
    Ratio,
    Samples,
    Seconds,
    Unit,
)

OfMetric = Annotated[float, Unit("named by script_metrics[].unit")]
PerHour = Annotated[float, Unit("1/h")]
PerIteration = Annotated[float, Unit("1/iteration")]


class MetricAtLoad(TypedDict, total=False):
    """A metric at one load: a counter's sum `counted` and its rates, a rate's `share`, a trend's `mean`, `p95` and
    `most`, a gauge's `last`, `least` and `most`. Intervals are null with `why_no_interval`."""

    load: Required[str]
    level: Required[Level]
    variant: Required[str | None]
    seconds: Required[Seconds]
    counted: OfMetric
    iterations: Annotated[float, Unit("iterations")]
    per_s: PerSecond
    per_s_interval: list[PerSecond] | None
    per_hour: PerHour
    per_hour_interval: list[PerHour] | None
    per_iteration: PerIteration | None
    per_iteration_interval: list[PerIteration] | None
    passes: Samples
    values: Samples
    share: Ratio | None
    share_interval: list[Ratio] | None
    mean: OfMetric | None
    mean_interval: list[OfMetric] | None
    p95: OfMetric | None
    p95_interval: list[OfMetric] | None
    last: OfMetric | None
    least: OfMetric
    most: OfMetric | None
    confidence: Probability | None
    batches: Blocks
    why_no_interval: str | None


class MetricCeiling(TypedDict):
    """What a counter reaches at most, as throughput stopped rising: iterations at the plateau × `per_iteration` of the
    levels of the plateau, from `from_level` on; intervals of 95%."""

    per_s: PerSecond
    per_s_interval: list[PerSecond]
    per_hour: PerHour
    per_hour_interval: list[PerHour]
    per_iteration: PerIteration
    from_level: Level
    from_words: str
    means: str


class ScriptMetric(TypedDict):
    """A metric of the script. `unit`: of its values."""

    metric: str
    kind: Literal["counter", "rate", "trend", "gauge"]
    unit: Literal["ms", "no unit"]
    loads: list[MetricAtLoad]
    ceiling: MetricCeiling | None


class SplitPart(TypedDict):
    """A part of a request's time: mean with its interval, and its share of the whole; `within`: the
    metric of the part that holds it."""

    part: str
    metric: str
    within: str | None
    mean_ms: Milliseconds
    interval_ms: list[Milliseconds] | None
    share: Ratio


class RequestSplit(TypedDict):
    """How the time of a request splits at one load."""

    load: str
    level: Level
    variant: str | None
    requests: Samples
    mean_ms: Milliseconds
    parts: list[SplitPart]


class Starved(TypedDict):
    """An operation that is done less than a third as often as its share at low load leads to expect."""

    operation: str
    share: Ratio
    mean_ms: Milliseconds | None
    low_share: Ratio


class MixAtLevel(TypedDict):
    """What share of the iterations at a level each operation made, and which are starved there."""

    load: str
    level: Level
    iterations: Samples
    shares: dict[str, Ratio]
    starved: list[Starved]
