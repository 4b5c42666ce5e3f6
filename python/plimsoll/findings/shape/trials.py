"""The fields of compare, decompose and sweep."""

from __future__ import annotations

from typing import Annotated, Literal

from typing_extensions import TypedDict

from plimsoll.findings.shape.units import (
    Bytes,
    Exponent,
    Level,
    Logarithm,
    Milliseconds,
    Number,
    Pairs,
    PerSecond,
    Probability,
    Ratio,
    Requests,
    Restarts,
    Rounds,
    Samples,
    Trials,
    Unit,
)

OfComparison = Annotated[float, Unit("named by comparisons[].unit")]
OfDependency = Annotated[float, Unit("named by dependencies[].unit")]


class Compared(TypedDict):
    """B against A: `ratio` is B ÷ A with its `interval`; `a` and `b` geometric means in `unit`."""

    level: Level
    load: str
    operation: str | None
    request: str | None
    statistic: str
    unit: Literal["ms", "1/s"]
    primary: bool
    verdict: str
    ratio: Ratio | None
    interval: list[Ratio] | None
    confidence: Probability
    p: Probability | None
    within_margin: bool | None
    a: OfComparison | None
    b: OfComparison | None
    paired: bool
    pairs: Pairs
    pair_sd: Logarithm | None
    fewest_samples: Samples
    failed_a: Ratio
    failed_b: Ratio
    pairs_to_settle: Pairs | None
    reasons: list[str]


class Pair(TypedDict):
    """A pair of trials: B ÷ A."""

    load: str
    statistic: str
    repetition: Number
    ratio: Ratio


class RequestChange(TypedDict):
    """Requests in an iteration of A and B, where they differ."""

    load: str
    a: Requests
    b: Requests


class FailureChange(TypedDict):
    """Failed shares that differ beyond chance."""

    load: str
    a: Ratio
    b: Ratio
    p: Probability


class Excluded(TypedDict):
    """A trial that does not count; `keeps`: what of it counts all the same, means and medians ("middle") and what is no
    time ("counts")."""

    trial: Number
    variant: str | None
    load: str | None
    name: str
    reason: str
    keeps: list[Literal["middle", "counts"]]


class Layer(TypedDict):
    """The share of a layer in an iteration."""

    layer: str
    share: Ratio
    interval: list[Ratio]
    confidence: Probability
    ms: Milliseconds
    verdict: str


class LayerOrder(TypedDict):
    """Largest first; whether larger than the next beyond chance."""

    layer: str
    larger_than_next: bool | None


class _DecomposedLevel(TypedDict):
    level: Level
    load: str
    rounds: Rounds
    statistic: str
    layers: list[Layer]
    sentences: list[str]
    failed_shares: dict[str, Ratio]
    ms: dict[str, Milliseconds | None]
    answer: str


class DecomposedLevel(_DecomposedLevel, total=False):
    """What the rounds at a level say; `ms` of each variant."""

    order: list[LayerOrder]


class CellSamples(TypedDict):
    """A value for each trial."""

    work: list[Milliseconds]
    mean: list[Milliseconds]
    p95: list[Milliseconds]
    memory: list[Bytes]


class Cell(TypedDict):
    """A combination of a sweep: medians of its trials."""

    parameters: dict[str, str]
    load: str
    state: Literal["answers", "fails", "silent", "not tried"]
    trials: Trials
    work_ms: Milliseconds | None
    mean_ms: Milliseconds | None
    p95_ms: Milliseconds | None
    memory_bytes: Bytes | None
    done_per_s: PerSecond | None
    failed_share: Ratio | None
    failed: Requests
    requests: Requests
    requests_each: Requests | None
    requests_ms: list[dict[str, Milliseconds]]
    causes: dict[str, Requests]
    restarts: dict[str, Restarts]
    samples: CellSamples


class Dependency(TypedDict):
    """How a metric (in `unit`) goes with a parameter; `least` and `most`: the parameter's value and the metric's."""

    parameter: str
    metric: str
    unit: Literal["ms", "bytes"]
    at: dict[str, str]
    least: list[str | OfDependency]
    most: list[str | OfDependency]
    form: str
    exponent: Exponent | None
    interval: list[Exponent] | None
    scale: OfDependency | None
    farthest: Ratio | None
    words: str


class RequestDependency(TypedDict):
    """A request whose time goes with a parameter; `factor` from its least to its most."""

    parameter: str
    request: str
    at: dict[str, str]
    exponent: Exponent
    interval: list[Exponent]
    confidence: Probability
    factor: Ratio
    beside_others: bool
    words: str


class Stop(TypedDict):
    """A combination at which it stops answering."""

    parameters: dict[str, str]
    state: str
    cause: str
    restarts: dict[str, Restarts]
    words: str


class WorkOfProcess(TypedDict):
    """CPU that a process of the target uses for an operation, mean over the trials, and its share of all processes'."""

    process: str
    cpu_ms: Milliseconds
    interval_ms: list[Milliseconds] | None
    share: Ratio


class ProcessWork(TypedDict):
    """Which process does the work at one load of one variant; `cpu_ms`, with its interval of 95%, of all processes
    together."""

    load: str
    level: Level
    variant: str
    trials: Trials
    cpu_ms: Milliseconds
    interval_ms: list[Milliseconds] | None
    processes: list[WorkOfProcess]


class WorkChange(TypedDict):
    """CPU of a process for an operation, B ÷ A with its interval of 95% over the pairs."""

    load: str
    level: Level
    process: str
    a_ms: Milliseconds
    b_ms: Milliseconds
    ratio: Ratio
    interval: list[Ratio]
    pairs: Pairs


class WorkUnknown(TypedDict):
    """A load of a variant at which the CPU of an operation is not known, as who did the work was not read."""

    load: str
    level: Level
    variant: str
    because: str
