"""The fields of a finding: those that all have, and those of each kind, which are beside them where they apply."""

from __future__ import annotations

from typing import Annotated, Any, Literal, Required

from typing_extensions import TypedDict

from plimsoll.findings.shape.beside import Database, Profile
from plimsoll.findings.shape.imported import Demand, Growth, Scaled, TableComparison, Totals
from plimsoll.findings.shape.loads import (
    Asymptotes,
    Capacity,
    DataVolume,
    Extrapolation,
    Headroom,
    LimitedBy,
    Negligible,
    Ordered,
    RemedySide,
    ResourceUse,
    Scalability,
    Sizing,
    Sustainable,
)
from plimsoll.findings.shape.long_runs import (
    Ageing,
    Burst,
    Cliff,
    Consumer,
    ConsumerUse,
    Drain,
    Drift,
    Forecast,
    Index,
    Keep,
    Leak,
    Loaded,
    MemoryBudget,
    Operation,
    Periodic,
    PolledWork,
    Restart,
)
from plimsoll.findings.shape.script_metrics import MixAtLevel, RequestSplit, ScriptMetric
from plimsoll.findings.shape.trials import (
    Cell,
    Compared,
    DecomposedLevel,
    Dependency,
    Excluded,
    FailureChange,
    Pair,
    ProcessWork,
    RequestChange,
    RequestDependency,
    Stop,
    WorkChange,
    WorkUnknown,
)
from plimsoll.findings.shape.units import (
    Bytes,
    Connections,
    Cores,
    Files,
    Level,
    Milliseconds,
    Number,
    Pairs,
    PerSecond,
    Ports,
    Ratio,
    Requests,
    Samples,
    Seconds,
    Threads,
    Times,
    Trials,
    Unit,
    UnixSeconds,
    Vus,
)

Judged = Annotated[float, Unit("named by objectives[].unit")]
LevelUnit = str  # users, vus, multiple, connections, requests/s, or what the levels of a table are ("processors")


class Evidence(TypedDict, total=False):
    """`count` of `unit` in `file` of the run directory, `from_s` to `to_s` of the run; `levels`: lowest and
    highest; `names`: which ones."""

    words: Required[str]
    count: Required[Annotated[float, Unit("named by evidence[].unit")]]
    unit: Required[str]
    file: Required[str]
    about: str
    from_s: Seconds
    to_s: Seconds
    levels: list[Annotated[float, Unit("named by evidence[].level_unit")]]
    level_unit: LevelUnit
    names: list[str]


class ObjectiveVerdict(TypedDict, total=False):
    """An objective at one level; of a published table with the line, and with bounds where it states no value."""

    level: Level | None
    value: Judged | None
    interval: list[Judged] | None
    bounds: list[Judged | None]
    samples: Samples | None
    needed: Samples
    over: Samples
    effective: Samples
    unanswered: Samples
    verdict: str
    line: Number | None


class Validity(TypedDict, total=False):
    """Whether what rests on this may be said: valid, valid within ± `error`, or invalid, with the reasons; `quantile`
    of a response time."""

    rests_on: Required[
        Literal["throughput", "response_time", "mean_time", "counts", "failures", "memory", "cpu_per_operation"]
    ]
    verdict: Required[Literal["valid", "within", "invalid"]]
    words: Required[str]
    error: Annotated[float, Unit("named by validity[].error_unit")]
    error_unit: Literal["ms", "ratio"]
    quantile: Ratio
    because: list[str]


class Objective(TypedDict, total=False):
    """An objective, up to which level it was met, and its verdict at the level that matters (`at_level`); `unmatched`:
    no request and no operation has the name that it gives."""

    objective: Required[str]
    verdict: Required[str]
    operation: str | None
    request: str
    unit: str
    value: Judged | None
    interval: list[Judged] | None
    alone: Judged | None
    samples: Samples | None
    needed: Samples
    times_longer: Times | None
    at_level: Level | None
    met_up_to: Level | None
    met_up_to_users: Annotated[float, Unit("users")] | None
    failed_from: Level | None
    verdicts: list[ObjectiveVerdict]
    words: str
    reason: str
    needs: str | None
    unmatched: bool
    validity: Validity


class Destination(TypedDict):
    """Where most connections went."""

    address: str
    local_ports: Ports


class ScriptCap(TypedDict):
    """An option of the script that allows no more load: at most `allows_per_s` of `unit`."""

    option: str
    scenario: str | None
    value: Annotated[float, Unit("named by script_cap[].value_unit")]
    value_unit: str
    allows_per_s: PerSecond
    unit: Literal["iterations", "requests"]
    words: str
    remedy: str


class AskedLoad(TypedDict, total=False):
    """A load that was not made: what arrivals were planned and sent, and `why` as far as it is known; `level`: of a
    capacity, where that is the expected one."""

    asked_per_s: Required[PerSecond]
    reached_per_s: Required[PerSecond]
    share: Required[Ratio]
    dropped: Required[Annotated[int, Unit("iterations")]]
    why: Required[str]
    level: Level


class FlowFault(TypedDict):
    """Counts and times of a level (null: of a whole run) that do not agree: by Little's law, of arrivals that are not
    accounted for, or of completions without a time."""

    kind: Literal["littles_law", "arrivals", "times"]
    level: Level | None
    counted: Annotated[float, Unit("iterations")]
    told: Annotated[float, Unit("iterations")]
    share: Ratio
    words: str


class Generator(TypedDict, total=False):
    """Whether the generator limited what was measured, and its own numbers; what was not seen is null or absent."""

    healthy: Required[bool]
    words: str
    reasons: list[str]
    remedies: list[str]
    limits: list[str]
    validity: list[Validity]
    notes: list[str]
    foreign_cores: Cores | None
    stood_still_s: Seconds
    script_cap: ScriptCap | None
    flow_faults: list[FlowFault]
    same_host: bool | None
    kept_apart: str | None
    cpu: Ratio | None
    host_share: Ratio | None
    generator_cores: Cores | None
    target_cores: Cores | None
    lag_p99_ms: Milliseconds | None
    busiest_thread_share: Ratio | None
    excluded_trials: Trials
    threads: Threads | None
    usable_cores: Cores | None
    cores_used_most: Cores | None
    waiting_share: Ratio | None
    stalled_share: Ratio | None
    longest_turn_ms: Milliseconds | None
    denied_vus: Vus | None
    script_mean_ms: Milliseconds | None
    script_p99_ms: Milliseconds | None
    script_max_ms: Milliseconds | None
    host_busy_share: Ratio | None
    host_steal_share: Ratio | None
    throttled_share: Ratio | None
    open_files: Files | None
    open_files_limit: Files | None
    refused_files: Files | None
    refused_ports: Ports | None
    time_wait: Connections | None
    local_ports: Ports | None
    memory_free_bytes: Bytes | None
    rss_bytes: Bytes | None
    busiest_destination: Destination | None


class Diagnosis(TypedDict):
    """What the generator found in itself."""

    name: str
    words: str
    remedy: str
    spoils: bool


class ThresholdVerdict(TypedDict, total=False):
    """A threshold of the script as the exit code counts it, with what was compared (null: no sample); `why`: where no
    comparison decides."""

    metric: Required[str]
    rule: Required[str]
    verdict: Required[Literal["passed", "failed", "undecided"]]
    observed: Annotated[float, Unit("named by outcome.thresholds[].unit")] | None
    unit: Literal["ms", "ratio", "bytes"]
    why: str


class CheckCounts(TypedDict, total=False):
    """A check of the script, by its name and the path of its group; of earlier runs all checks together."""

    name: str
    group: str
    passes: Required[Annotated[float, Unit("checks")]]
    fails: Required[Annotated[float, Unit("checks")]]


class Outcome(TypedDict, total=False):
    """What a plain run did, over `lasted_s`, which its rates are of; `causes` of failed requests; thresholds and checks
    with the gravest first; `sockets`: WebSockets by the status that answered; `ended_by_script`: why the script aborted
    the run or marked it as failed."""

    words: Required[str]
    lasted_s: Required[Seconds | None]
    requests: Required[Requests | None]
    requests_per_s: Required[PerSecond | None]
    failed: Required[Requests | None]
    failed_share: Required[Ratio | None]
    causes: Required[dict[str, Requests]]
    thresholds: Required[list[ThresholdVerdict]]
    checks: Required[list[CheckCounts]]
    sockets: dict[str, Annotated[float, Unit("sockets")]]
    ended_by_script: str


class Table(TypedDict, total=False):
    """A table in words: rows of cells, as many as columns; `words` and `codes` name columns of text and of code."""

    title: Required[str]
    columns: Required[list[str]]
    rows: Required[list[list[str]]]
    note: str
    words: list[str]
    codes: list[str]


class Step(TypedDict, total=False):
    """A step as it was held; `cpu`: shares by process; of imported results what their source says.

    Times, samples and errors are those of arrivals in the step, whenever they ended; `done_per_s` and `requests_per_s`
    are what ended in it, `done_own_per_s` of that arrived in it. `interrupted` were cut off; `stuck` were given up
    without an answer."""

    level: Level
    step_kind: str
    kind: str
    second: Seconds
    t_unix: UnixSeconds
    start_s: Seconds | None
    measured_from_s: Seconds | None
    end_s: Seconds | None
    verdict: str
    reasons: list[str]
    given_up: bool
    disturbed: bool
    unsteady: bool
    capped: bool
    own_evidence: bool
    drained: bool
    stolen_share: Ratio
    planned_per_s: PerSecond | None
    done_per_s: PerSecond | None
    requests_per_s: PerSecond | None
    min_ms: Milliseconds | None
    mean_ms: Milliseconds | None
    p50_ms: Milliseconds | None
    p90_ms: Milliseconds | None
    p95_ms: Milliseconds | None
    p99_ms: Milliseconds | None
    max_ms: Milliseconds | None
    times_ms: dict[str, list[Milliseconds]]
    samples: Samples | None
    errors: Requests | None
    error_share: Ratio | None
    error_causes: dict[str, Requests]
    done_own_per_s: PerSecond | None
    interrupted: Annotated[float, Unit("iterations")]
    stuck: Annotated[float, Unit("arrivals")]
    late: Annotated[float, Unit("arrivals")]
    dropped: Annotated[float, Unit("arrivals")]
    backlog_end: Annotated[float, Unit("arrivals")]
    in_flight_end: Annotated[float, Unit("iterations")]
    drain_s: Seconds | None
    volume_start: Annotated[float, Unit("items")] | None
    volume_end: Annotated[float, Unit("items")] | None
    volume_gone: Annotated[float, Unit("items")]
    generator_share: Ratio | None
    generator_cores: Cores | None
    lag_p99_ms: Milliseconds | None
    cpu: dict[str, Ratio | None]
    line: Number | None


class Finding(TypedDict, total=False):
    """An answer. Fields that do not belong to its question are absent. `cautions`: what to know before the answer, of a
    script that did not do all that it was to do."""

    schema: Required[Annotated[Literal[1], Unit("version")]]
    question: Required[str]
    answer: Required[str]
    experiment: Required[
        Literal["capacity", "hold", "grow", "compare", "decompose", "sweep", "drain", "run", "analyze"]
    ]
    status: Required[Literal["finished", "interrupted", "failed"]]
    valid: Required[bool]
    evidence: Required[list[Evidence]]
    units: Required[dict[str, str]]
    next: Required[list[str]]
    run: Required[str | None]
    invalid_because: list[str]
    asked: AskedLoad
    validity: list[Validity]
    notes: list[str]
    cautions: list[str]
    level_unit: LevelUnit
    facts: list[list[str]]
    sentences: list[str]
    tables: list[Table]
    objectives: list[Objective]
    generator: Generator
    steps: list[Step]
    trouble: str
    variant: str
    # capacity and what it tells beside
    capacity: Capacity | None
    limited_by: LimitedBy
    sustainable: Sustainable | None
    headroom: Headroom | None
    data_volume: DataVolume | None
    scalability: Scalability | None
    asymptotes: Asymptotes
    extrapolations: list[Extrapolation]
    resources: list[ResourceUse]
    order: list[Ordered]
    stopped_by: str | None
    sizing: Sizing | None
    negligible: Negligible
    verdict: str
    ratio_at_least: Ratio | None
    ratio_at_most: Ratio | None
    before: RemedySide
    after: RemedySide
    # hold
    keep: Keep
    stable: bool
    drift: Drift | None
    periodic: Periodic | None
    memory: list[Leak] | MemoryBudget | None
    restarts: list[Restart]
    bursts: list[Burst]
    operations: list[Operation]
    # grow
    load: Loaded
    forecast: Forecast | None
    failed_share: Ratio
    ageing: Ageing | None
    cliff: Cliff | None
    # drain
    keeps_up: bool | None
    consumer: Consumer | None
    drain: Drain
    index: Index | None
    use: ConsumerUse
    polls: PolledWork | None
    # compare, decompose, sweep
    a: str
    b: str
    margin: Ratio
    pairs_planned: Pairs
    comparisons: list[Compared]
    pairs: list[Pair]
    failures: list[FailureChange]
    request_changes: list[RequestChange]
    anomalies: list[str]
    excluded: list[Excluded]
    parts: bool
    levels: list[DecomposedLevel]
    parameters: dict[str, list[Any]]
    cells: list[Cell]
    dependencies: list[Dependency]
    requests: list[RequestDependency]
    stops: list[Stop]
    # run, what was watched beside, analyze
    outcome: Outcome
    diagnoses: list[Diagnosis]
    database: Database
    profile: Profile | None
    script_metrics: list[ScriptMetric]
    request_split: list[RequestSplit]
    process_work: list[ProcessWork]
    work_changes: list[WorkChange]
    work_unknown: list[WorkUnknown]
    mix: list[MixAtLevel]
    cannot: list[str]
    totals: Totals
    growth: Growth | None
    resource: str
    demand: Demand | None
    scaled: Scaled | None
    comparison: TableComparison
