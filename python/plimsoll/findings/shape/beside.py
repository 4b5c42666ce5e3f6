"""The fields of what is watched beside the load: databases and profiles."""

from __future__ import annotations

from typing import NotRequired, Required

from typing_extensions import TypedDict

from plimsoll.findings.shape.units import (
    Bytes,
    Calls,
    DataBlocks,
    Errors,
    Milliseconds,
    PlannerCost,
    Probability,
    Ratio,
    Rows,
    RowsPerSecond,
    Samples,
    Scans,
    Tables,
)


class Statement(TypedDict, total=False):
    """A statement's time over the run; `mean_half_ms`, `mean_top_ms`: at the two loads that are compared."""

    id: Required[str]
    text: Required[str]
    share: Required[Ratio]
    mean_ms: Required[Milliseconds]
    calls: Required[Calls]
    total_ms: Milliseconds
    rows: Rows
    rows_examined: Rows
    no_index_calls: Calls
    temp_disk_tables: Tables
    errors: Errors
    lock_ms: Milliseconds
    block_read_ms: Milliseconds
    blocks_hit: DataBlocks
    blocks_read: DataBlocks
    blocks_written: DataBlocks
    temp_blocks: DataBlocks
    wal_bytes: Bytes
    mean_half_ms: Milliseconds
    mean_top_ms: Milliseconds


class Served(TypedDict):
    """A statement that an index would serve; costs are the planner's and no times."""

    id: str
    share: Ratio
    cost_before: PlannerCost | None
    cost_after: PlannerCost | None
    time_before_ms: NotRequired[Milliseconds | None]
    time_after_ms: NotRequired[Milliseconds | None]


class ComparedIndex(TypedDict):
    """An index, or two together, that was compared with the one advised."""

    sql: str
    proof: str
    cost_after: PlannerCost | None
    time_after_ms: Milliseconds | None


class Advice(TypedDict, total=False):
    """A missing index."""

    sql: Required[str]
    table: str
    method: str
    serves: str
    share: Ratio
    proof: str
    proven: bool
    values: str
    together_with: list[str]
    alternatives: list[ComparedIndex]
    sampled_rows: Rows | None
    why_unproven: str | None
    table_rows: Rows | None
    kept_share: Ratio | None
    is_order: bool
    rows_written: Rows | None
    needs: str | None
    statements: list[Served]


class ScannedTable(TypedDict, total=False):
    """A table and the rows that sequential scans read of it."""

    table: Required[str]
    scans: Scans
    rows_read: Rows
    rows_per_scan: Rows
    written: Rows
    live_rows: Rows
    half_rows_per_s: RowsPerSecond
    top_rows_per_s: RowsPerSecond


class UnusedIndex(TypedDict, total=False):
    """An index that no statement used."""

    index: Required[str]
    table: str
    bytes: Bytes


class Bloat(TypedDict, total=False):
    """Space that holds no rows."""

    name: Required[str]
    kind: str
    bytes: Bytes
    share: Ratio
    by: str


class Effect(TypedDict):
    """An index that was made since it was advised."""

    sql: str
    statement: str
    text: str
    before_ms: Milliseconds
    after_ms: Milliseconds
    calls_before: Calls
    calls_after: Calls
    predicted: Served
    run: str
    factor: Ratio


class Database(TypedDict):
    """What took the database's time."""

    server: str | None
    total_ms: Milliseconds | None
    statements: list[Statement]
    advice: list[Advice]
    tables: list[ScannedTable]
    unused_indexes: list[UnusedIndex]
    bloat: list[Bloat]
    effects: list[Effect]
    half: str | None
    top: str | None


class ProfiledFunction(TypedDict):
    """A function's own share of the samples at the top load and at half of it."""

    name: str
    where: str
    share: Ratio
    share_half: Ratio | None
    ms_per_operation: Milliseconds | None
    ms_per_operation_half: Milliseconds | None
    p: Probability | None
    beyond_chance: bool


class Profile(TypedDict):
    """Where the CPU time goes."""

    tool: str
    samples: Samples
    samples_half: Samples | None
    functions: list[ProfiledFunction]
