"""The fields of hold, grow and drain."""

from __future__ import annotations

from typing import Annotated, Required

from typing_extensions import TypedDict

from plimsoll.findings.shape.units import (
    Blocks,
    Bytes,
    BytesPerItem,
    BytesPerSecond,
    Cores,
    Cycles,
    Deviations,
    Items,
    ItemsPerSecond,
    Level,
    Milliseconds,
    Operations,
    PerSecond,
    Polls,
    Probability,
    Ratio,
    Records,
    Requests,
    Samples,
    Seconds,
    Unit,
    Windows,
)


class Drift(TypedDict):
    """Change of the mean response time over the measured time, as a share of its start."""

    share: Ratio
    interval: list[Ratio | None]
    confidence: Probability
    verdict: str
    smallest_detectable: Ratio | None
    start_ms: Milliseconds
    end_ms: Milliseconds
    dependence: Annotated[float, Unit("correlation")]
    blocks: Blocks


class KeptObjective(TypedDict):
    """An objective that the load was steered to; `implied`: not asked for."""

    objective: str
    text: str
    implied: bool
    request: str | None
    operation: str | None


class KeptStatistic(TypedDict):
    """What an objective saw over the kept time; `value` in `unit`; `bad_share` of its requests missed the limit."""

    value: Annotated[float, Unit("named by keep.seen[].unit")] | None
    unit: str
    samples: Samples
    bad_share: Ratio
    allowed: Ratio


class KeptWindow(TypedDict):
    """Some seconds of the kept time, as many as the statistic needs samples; `value` of the ruling objective."""

    from_s: Seconds
    seconds: Seconds
    level: Level
    done_per_s: PerSecond
    value: Annotated[float, Unit("named by keep.windows[].unit")] | None
    unit: str
    met: bool


class KeptDrift(TypedDict):
    """Change of the kept level from the first third of the time to the last."""

    share: Ratio
    interval: list[Ratio]
    smallest_detectable: Ratio
    drifts: bool


class Overload(TypedDict):
    """An overload while the load was steered; `collapsed`: it finished less than when calm."""

    at_s: Seconds
    level: Level
    done_per_s: PerSecond
    calm_per_s: PerSecond
    wait_s: Seconds | None
    collapsed: bool


class Keep(TypedDict, total=False):
    """The load at which objectives just hold; `level` with its 95% interval is None where that cannot be said;
    `ruling`: place of the objective that is nearest to its limit; `held`: whether it held over the kept time;
    `violated_share`: of the time, the windows that missed it; `lost_at_s`: when an overload had not ended for a
    minute of hardly any load."""

    objectives: Required[list[KeptObjective]]
    settled_at_s: Required[Seconds | None]
    unreachable: Required[bool]
    lost_at_s: Required[Seconds | None]
    overloads: Required[list[Overload]]
    windows: Required[list[KeptWindow]]
    level: Required[Level | None]
    interval: Required[list[Level] | None]
    kept_s: Seconds
    from_s: Seconds
    mean_level: Level
    done_per_s: PerSecond
    ruling: Annotated[int, Unit("place in objectives")]
    seen: list[KeptStatistic]
    held: bool
    violated_s: Seconds
    violated_share: Ratio
    drift: KeptDrift | None


class Periodic(TypedDict):
    """Pulses of slowness; `times_s`: seconds of the run at which they began; `interval_s` of the period, at 95%."""

    period_s: Seconds
    interval_s: list[Seconds]
    width_s: Seconds
    cycles: Cycles
    times_s: list[Seconds]
    inside_ms: Milliseconds
    outside_ms: Milliseconds
    z: Deviations


class Leak(TypedDict, total=False):
    """Growth of a process' memory in the second half, with its 99% interval."""

    process: Required[str]
    leaks: Required[bool]
    now_bytes: Bytes
    bytes_per_s: BytesPerSecond | None
    interval: list[BytesPerSecond | None] | None
    limit_bytes: Bytes | None
    limit_in_s: Seconds | None
    limit_interval_s: list[Seconds | None]
    words: str


class Restart(TypedDict, total=False):
    """When a probed process began anew; of its control group or of itself, the memory that was seen last before, and
    its limit (null: not probed); whether the kernel killed something of it for memory then."""

    second: Required[Seconds]
    message: Required[str]
    label: str
    memory_bytes: Bytes
    memory_limit_bytes: Bytes | None
    killed_for_memory: bool


class Burst(TypedDict):
    """A stretch in which significantly more requests failed."""

    start_s: Seconds
    end_s: Seconds
    failed: Requests
    requests: Requests


class Operation(TypedDict):
    """Medians of one user alone and under the load."""

    operation: str
    alone_ms: Milliseconds | None
    alone_samples: Samples
    loaded_ms: Milliseconds | None
    ratio: Ratio | None


class Loaded(TypedDict):
    """What was loaded; volumes as the target counts them."""

    items: Items
    loaded: Items
    failed: Items
    loading_s: Seconds
    volume_start: Items | None
    volume_end: Items | None


class Forecast(TypedDict):
    """How long all items would take."""

    total_s: Seconds
    interval_s: list[Seconds]
    confidence: Probability
    left_s: Seconds
    family: str


class Fit(TypedDict):
    """A law of the time per item; `units` of a and b (null: the law has no b); `cv`: relative scatter around it."""

    family: str
    a: Annotated[float, Unit("named by ageing.fits[].units.a")]
    b: Annotated[float, Unit("named by ageing.fits[].units.b")] | None
    units: dict[str, str | None]
    cv: Ratio
    weight: Probability


class Later(TypedDict):
    """The time per item at a larger volume, with its 90% interval."""

    volume: Items
    per_item_s: Seconds
    interval_s: list[Seconds]


class Ageing(TypedDict):
    """By which law the time per item grows with the data."""

    family: str | None
    grows: bool | None
    fits: list[Fit]
    from_volume: Items
    to_volume: Items
    change: Ratio
    points: Windows
    at_four_times: Later | None


class Cliff(TypedDict):
    """A volume at which the time per item changes at once; `cores_slower`: the share of their work in the same CPU time
    that the target's cores did less from then on, null where it was not measured or is not told."""

    volume: Items
    between: list[Items]
    rise: Ratio
    t: Deviations
    cores_slower: Ratio | None


class Consumer(TypedDict):
    """What arrived and what was done under the load; `overload`: growth of the backlog as a share of the arrivals."""

    verdict: str
    arrivals_per_s: ItemsPerSecond
    taken_per_s: ItemsPerSecond
    backlog_start: Items
    backlog_end: Items
    growth_per_s: ItemsPerSecond
    overload: Ratio
    overload_interval: list[Ratio]
    growth_z: Deviations
    smallest_detectable: Ratio
    seconds: Seconds
    busy_per_s: ItemsPerSecond | None


class Drain(TypedDict):
    """After the load: `drained_s` it took, or `left_s` it would take."""

    backlog: Items
    alone_per_s: ItemsPerSecond | None
    drained_s: Seconds | None
    left_s: Seconds | None


class Index(TypedDict, total=False):
    """Growth of the index with items done."""

    bytes_per_item: Required[BytesPerItem]
    interval: list[BytesPerItem] | None
    start_bytes: Bytes
    end_bytes: Bytes
    budget_bytes: Bytes
    items_left: Items | None


class ProcessUse(TypedDict):
    """A process of the target at rest, under the load and while the backlog drained; `cpu_ms_of_doing_it`: the part of
    an item's CPU that goes with the items done."""

    label: str
    rest_cores: Cores | None
    load_cores: Cores
    drain_cores: Cores | None
    cpu_ms_per_item: Milliseconds | None
    cpu_interval_ms: list[Milliseconds] | None
    confidence: Probability | None
    cpu_ms_of_doing_it: Milliseconds | None
    memory_highest_bytes: Bytes | None


class ConsumerUse(TypedDict):
    """`items_per_s`: done under the load."""

    processes: list[ProcessUse]
    host_cores: Cores | None
    items_per_s: ItemsPerSecond | None


class MemoryBudget(TypedDict):
    """Growth of the consumer's memory, with its 99% interval."""

    bytes_per_s: BytesPerSecond
    interval: list[BytesPerSecond | None]
    now_bytes: Bytes
    budget_bytes: Bytes


class PolledWork(TypedDict):
    """Items of the consumer's polls in the time that they took."""

    per_s: ItemsPerSecond | None
    interval: list[ItemsPerSecond | None]
    items: Items
    seconds: Seconds
    polls: Polls
    rounding_s: Seconds
    records: Records | None
    operations: Operations | None
