"""The fields of capacity and of what a capacity run tells beside its bracket."""

from __future__ import annotations

from typing import Annotated, Literal, NotRequired, Required

from typing_extensions import TypedDict

from plimsoll.findings.shape.units import (
    Bytes,
    BytesPerItem,
    Connections,
    Cores,
    Items,
    Level,
    Milliseconds,
    PerSecond,
    Probability,
    Processes,
    Ratio,
    Requests,
    Seconds,
    Times,
    Unit,
    Users,
)

OfResource = Annotated[float, Unit("named by the `unit` beside it")]


class Confirmation(TypedDict):
    """What holding the carried level once more at the end said."""

    level: Level
    verdict: Literal["confirmed", "contradicted", "undecided"]
    seconds: Seconds
    why: str


class Cap(TypedDict):
    """The most that the script or the generator can send, whatever the target does."""

    level: Level
    per_s: PerSecond
    why: str


class Collapse(TypedDict):
    """Where throughput falls under overload: from `level` on it finishes `per_s`; after an overload it recovers by
    itself at `recovers_at` within `recovery_s` and not at `stays_at` (null: not shown)."""

    level: Level
    per_s: PerSecond
    carried_level: Level
    carried_per_s: PerSecond
    recovers_at: Level | None
    stays_at: Level | None
    recovery_s: Seconds | None
    recovery_tried: bool
    seen_again: bool


class FailingAnyway(TypedDict):
    """From second `from_s` of the run on `failed` of `requests` fail at `level` too, which is low load."""

    from_s: Seconds
    level: Level
    failed: Requests
    requests: Requests
    causes: str


class ChangedTimes(TypedDict):
    """The median response time at `level`, which is low load, until `from_s` of the run and from `to_s` on."""

    level: Level
    from_ms: Milliseconds
    to_ms: Milliseconds
    from_s: Seconds
    to_s: Seconds


class Dearer(TypedDict):
    """The CPU of `process` for an operation until `from_s` and from `to_s` on, by a trend over `steps` that loaded the
    target alike; `share`: what that adds to the CPU of all processes."""

    process: str
    from_ms: Milliseconds
    to_ms: Milliseconds
    share: Ratio
    from_s: Seconds
    to_s: Seconds
    steps: int


class Capacity(TypedDict, total=False):
    """`good` was carried, `bad` was not; `rate_per_level_s`: operations per second of one level of an open load, as
    declared, or else as all arrivals came; `interval` and `knee` say in words what they mean. Of imported results
    `gains` are what each level added, as a share of what the first brought; a level that does
    `in_proportion_share` of what the lowest promises is carried, one above it that reaches `plateau_share` of the
    plateau is not; `flattens_between`: the levels between which the gain falls below `flat_below_gain`;
    `plateau_per_s`: the mean of the levels from `bad` on; `failing_from`: the lowest level with too many failures;
    `falls_by`: how far throughput is below its most at the highest level; `rises`: whether it rises anywhere."""

    unit: Required[str]
    model: Required[Literal["open", "closed"]]
    good: Required[Level | None]
    bad: Required[Level | None]
    level: Level | None
    users: Users | None
    rate_per_s: PerSecond | None
    requests_per_s: PerSecond | None
    rate_per_level_s: PerSecond | None
    width: Ratio | None
    estimate: Level | None
    estimate_sd: Level | None
    confirmation: Confirmation | None
    cap: Cap | None
    collapse: Collapse | None
    failing_anyway: FailingAnyway | None
    slowed: ChangedTimes | None
    quickened: ChangedTimes | None
    dearer: Dearer | None
    interval: list[Level] | None
    confidence: Probability | None
    interval_means: str
    knee: Level | None
    knee_interval: list[Level] | None
    knee_means: str
    gains: list[Ratio]
    flat_below_gain: Ratio
    in_proportion_share: Ratio
    plateau_share: Ratio | None
    plateau_seen: bool
    flattens_between: list[Level | None] | None
    plateau_per_s: PerSecond | None
    failing_from: Level | None
    falls_by: Ratio | None
    rises: bool
    most_per_s: PerSecond
    most_at: Level
    most_interval: list[PerSecond] | None


class NamedLimit(TypedDict, total=False):
    """What stops it; kinds are those of docs/attribution.md. `resource`: its name in `order` and `resources`, where its
    demand can be measured. `one_core`: it is a thread or process that uses no more than one core, whatever there are;
    `size`: of a pool, its connections."""

    kind: Required[str]
    where: Required[str | None]
    utilisation: Ratio | None
    evidence: str
    remedy: str
    resource: str
    one_core: bool
    size: Connections


class LimitedBy(NamedLimit, total=False):
    """The limit, and what would be named without it; where no level was proven to be too much, `nearly_full`: what was
    nearly full at the highest level that was carried, or `in_short_step`: what was found where the target fell behind
    in a step too short to prove anything."""

    runner_up: NamedLimit | None
    nearly_full: NamedLimit
    in_short_step: NamedLimit


class Sustainable(TypedDict):
    """The highest level that is carried and meets all objectives; `violated_from`: the lowest at which one is not met,
    which is `objective` of `subject`; `undecided`: whether one may still be met above `level`; `unmatched`: whether one
    names a request that was not seen."""

    level: Level | None
    violated_from: Level | None
    objective: str | None
    subject: str | None
    undecided: bool
    unmatched: NotRequired[bool]
    words: str


class Headroom(TypedDict):
    """Room over the expected load: 0.2 is 20% more than expected; None where the most that is carried was not found,
    or lies so near that it is not decided whether the load is carried."""

    expected_users: Users
    ratio: Ratio | None
    carries: bool | None


class VolumeDemand(TypedDict):
    """How much more CPU an operation takes at twice the data."""

    per_doubling: Ratio
    interval: list[Ratio]
    p: Probability
    significant: bool


class DataVolume(TypedDict):
    """The target's items at both ends of the run."""

    start: Items
    end: Items
    grew_share: Ratio | None
    demand: VolumeDemand | None
    words: str


class Scalability(TypedDict):
    """The universal scalability law; contention and coherency only where the level is users."""

    told: bool
    peak_measured: bool
    peak_per_s: PerSecond | None
    peak_interval: list[PerSecond | None]
    peak_level: Level | None
    peak_level_interval: list[Level | None]
    confidence: Probability
    single_per_s: PerSecond | None
    contention: Ratio | None
    coherency: Ratio | None
    scatter: Ratio


class Asymptotes(TypedDict):
    """What throughput cannot exceed; `demand_of`: "plateau" or the name of a resource; R and Z at the lowest level."""

    most_per_s: PerSecond
    most_interval: list[PerSecond]
    demand_s: Seconds
    demand_of: str
    round_s: Seconds
    round_interval: list[Seconds]
    response_s: Seconds | None
    think_s: Seconds | None
    crossing: Level
    crossing_interval: list[Level]
    confidence: Probability


class ResourcePoint(TypedDict):
    """A measured level; demand in ms of the whole resource per operation."""

    level: Level
    per_s: PerSecond
    utilisation: Ratio
    demand_ms: Milliseconds
    seconds: Seconds


class ResourceUse(TypedDict):
    """A resource whose use rose with throughput; `ceiling` in `unit`."""

    name: str
    where: str
    ceiling: OfResource
    unit: Literal["cores", "ratio"]
    demand_ms: Milliseconds
    full_per_s: PerSecond
    cores_by_part: dict[str, Cores]
    measured: list[ResourcePoint]


class Ordered(ResourceUse):
    """Where it would be full."""

    per_s: PerSecond
    interval: list[PerSecond | None] | None
    told: bool
    level: Level | None


class Extrapolation(TypedDict):
    """Throughput with `budget` (in `unit`) of a resource, by three ways of going on."""

    resource: str
    budget: OfResource
    unit: Literal["cores", "ratio"]
    budget_words: str
    told: bool
    per_s: PerSecond | None
    interval: list[PerSecond | None] | None
    confidence: Probability | None
    level: Level | None
    constant_demand_per_s: list[PerSecond]
    line_per_s: PerSecond | None
    demand_rise: Ratio | None
    times_the_highest_measured: Ratio
    highest_use_of_budget: Ratio


class CpuNeed(TypedDict):
    """Cores that a load takes; `recommended` with the reserve."""

    used: Cores | None
    interval: list[Cores] | None
    confidence: Probability | None
    minimum: Cores | None
    recommended: Cores | None
    cannot_tell: str | None
    whole_cores_minimum: Cores | None
    whole_cores: Cores | None


class MemoryNeed(TypedDict):
    """Bytes that a load takes; `after_more_load`: it was seen at that load only after an overload or a higher load."""

    used: Bytes | None
    interval: list[Bytes] | None
    confidence: Probability | None
    minimum: Bytes | None
    recommended: Bytes | None
    cannot_tell: str | None
    after_more_load: bool


class HostNeed(TypedDict):
    """What a host needs; null is the host of the run."""

    host: str | None
    cpu: CpuNeed
    memory: MemoryNeed


class DiskGrowth(TypedDict):
    """What a run of drain says files grow by in a day at a load."""

    where: str
    bytes_per_day: Bytes
    interval: list[Bytes]
    confidence: Probability


class Size(TypedDict):
    """What so many times the load needs."""

    times: Times
    per_s: PerSecond
    level: Level | None
    hosts: list[HostNeed]
    disk: list[DiskGrowth]


class UsePoint(TypedDict):
    """Cores at a throughput."""

    per_s: PerSecond
    cores: Cores
    seconds: Seconds


class SizedProcess(TypedDict):
    """A process of the target; `cores_by_times` by times of the load. `ends_at_one_core`: one process uses no more than
    one core, and `processes_by_times` are needed; `more_cores_help`: null where that is not known."""

    label: str
    host: str | None
    cpu_ms_per_operation: Milliseconds | None
    one_thread: bool
    ends_at_one_core: bool
    more_cores_help: bool | None
    processes: Processes
    memory_highest_bytes: Bytes | None
    memory_grows_with: str | None
    measured: list[UsePoint]
    cores_by_times: dict[str, Cores | None]
    processes_by_times: dict[str, Processes | None]


class SizedItems(TypedDict):
    """How a size grows with items."""

    kind: str
    where: str
    bytes_per_item: BytesPerItem
    interval: list[BytesPerItem]
    confidence: Probability
    from_items: Items
    to_items: Items
    last_bytes: Bytes
    run: str


class Carried(TypedDict, total=False):
    """What so many cores would carry; `capped_by`: what stopped the run there, which cores do not lift, else empty."""

    cores: Required[Cores]
    usable_share: Ratio
    per_s: PerSecond | None
    interval: list[PerSecond | None] | None
    capped_by: str
    why: str


class Sizing(TypedDict):
    """Hardware for a load and for multiples of it; `noun`: what `per_s` counts."""

    noun: Literal["operation", "item"]
    per_s: PerSecond
    level: Level | None
    items: Items | None
    reserve: Ratio
    sizes: list[Size]
    processes: list[SizedProcess]
    per_item: list[SizedItems]
    carries: list[Carried]


class ResourceShare(TypedDict):
    """What the operations take of a resource: demand in ms of the whole of it, and their share at the expected load."""

    name: str
    where: str
    demand_ms: Milliseconds
    demand_interval_ms: list[Milliseconds]
    confidence: Probability
    share: list[Ratio | None]


class Negligible(TypedDict):
    """`share`: of what the target carries of these operations alone, lowest and highest by the bracket; a smaller one
    than `below` is negligible."""

    below: Ratio
    expected_level: Level
    expected_per_s: PerSecond
    carried_per_s: PerSecond | None
    not_carried_per_s: PerSecond | None
    share: list[Ratio | None]
    resources: list[ResourceShare]
    operations: list[str]


class RemedyLimit(TypedDict):
    """What stopped a run."""

    kind: str
    where: str | None


class RemedySide(TypedDict):
    """The capacity before, or with, the remedy."""

    good: Level | None
    bad: Level | None
    unit: str | None
    rate_per_s: PerSecond | None
    limited_by: RemedyLimit
    run: str | None
