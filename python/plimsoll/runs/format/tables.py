"""A run in columns: Arrow tables from its lines, and Parquet files once it has ended.

    seconds      one row a second: load, and `generator_…` columns
    series       one row a second and series; tags as a map, `scenario` and `name` as columns of their own too;
                 a trend's histogram as the two lists bucket_index and bucket_count
    resources    one row a value: second, t_unix, source, name, value

DuckDB reads them as they are: SELECT scenario, sum(count) FROM 'series.parquet' GROUP BY scenario.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from plimsoll.errors import RunDirectoryError
from plimsoll.runs import directory
from plimsoll.runs.format.line_cut import LineCutter
from plimsoll.runs.format.lines import placed_lines, read_lines
from plimsoll.runs.format.series_columns import SERIES_SCHEMA, series_batches
from plimsoll.runs.snapshot import SCALARS, Series, Snapshot
from plimsoll.written_files import own_file

Rows = list[dict[str, Any]]
_ROWS_AT_ONCE = 10_000
_GENERATOR = "generator_"
GENERATOR_FIELDS = (
    *("cpu_s", "lag_p50_ms", "lag_p99_ms", "lag_max_ms", "threads", "rss_bytes", "open_files"),
    *(
        "busiest_thread_share",
        "waiting_share",
        "stalled_share",
        "longest_turn_ms",
        "gap_ms",
        "slept_ms",
        "clock_jump_ms",
    ),
    *(
        "script_timed",
        "script_mean_ms",
        "script_p99_ms",
        "script_max_ms",
        "refused_files",
        "refused_ports",
        "denied_vus",
    ),
)
_REAL_SCALARS = ("t_unix", "level", "oldest_wait_s")

SECONDS_SCHEMA = pa.schema(
    [("second", pa.int64())]
    + [(name, pa.float64() if name in _REAL_SCALARS else pa.int64()) for name in SCALARS]
    + [(_GENERATOR + name, pa.float64()) for name in GENERATOR_FIELDS]
)
RESOURCES_SCHEMA = pa.schema(
    [
        ("second", pa.int64()),
        ("t_unix", pa.float64()),
        ("source", pa.dictionary(pa.int32(), pa.string())),
        ("name", pa.dictionary(pa.int32(), pa.string())),
        ("value", pa.float64()),
    ]
)


def write_tables(path: Path, watch: Callable[[str, float], None] | None = None) -> None:
    """Write the three Parquet files of the run directory at `path` from its lines, aside and then renamed. `watch` is
    told each second of the run what is written and the share that is done: hundreds of series take minutes an hour."""
    series = directory.file_of(path, directory.SERIES)
    rows = map(second_row, _snapshots(series, LineCutter(frozenset())))
    seconds = _write(path / directory.SECONDS_TABLE, SECONDS_SCHEMA, _batches(SECONDS_SCHEMA, rows))

    def watched() -> Iterator[Snapshot]:
        for done, one in enumerate(_snapshots(series, LineCutter(None, buckets="steps"))):
            if watch is not None:
                watch("writing the Parquet tables", done / max(seconds, 1))
            yield one

    _write(path / directory.SERIES_TABLE, SERIES_SCHEMA, series_batches(watched()))
    lines = read_lines(directory.file_of(path, directory.RESOURCES))
    of_probes = (row for one in lines for row in resource_rows(one))
    _write(path / directory.RESOURCES_TABLE, RESOURCES_SCHEMA, _batches(RESOURCES_SCHEMA, of_probes))


def _snapshots(path: Path, cutter: LineCutter) -> Iterator[Snapshot]:
    return (found for _, raw in placed_lines(path) if (found := cutter.snapshot(raw)) is not None)


def table_of(schema: pa.Schema, rows: Iterable[dict[str, Any]]) -> pa.Table:
    """An Arrow table from rows; empty with the right columns from none."""
    return pa.Table.from_batches(list(_batches(schema, rows)), schema)


def series_table_of(snapshots: Iterable[Snapshot]) -> pa.Table:
    """The table `series` of these seconds."""
    return pa.Table.from_batches(list(series_batches(snapshots)), SERIES_SCHEMA)


def second_row(snapshot: Snapshot) -> dict[str, Any]:
    """The row of a snapshot in `seconds`."""
    row = {"second": snapshot.second} | {name: getattr(snapshot, name) for name in SCALARS}
    return row | {_GENERATOR + name: snapshot.generator.get(name) for name in GENERATOR_FIELDS}


def resource_rows(line: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """The rows of a line of resources.jsonl; values that are no numbers are left out."""
    for name, value in (line.get("values") or {}).items():
        if isinstance(value, (int, float)):
            common = {key: line.get(key) for key in ("second", "t_unix", "source")}
            yield {**common, "name": name, "value": float(value)}


def read_table(path: Path) -> pa.Table:
    """A Parquet file of a run as a table. RunDirectoryError if it is damaged."""
    with _whole(path):
        return pq.read_table(path)


@contextmanager
def _whole(path: Path) -> Iterator[None]:
    try:
        yield
    except (OSError, pa.ArrowException) as error:
        what = f"{path} cannot be read: {' '.join(str(error).split())[:120]}"
        raise RunDirectoryError(what, "Restore it, or make the run again.") from error


def snapshots_from(seconds: pa.Table, series_file: Path, wanted: Callable[[int], bool]) -> Iterator[Snapshot]:
    """Snapshots rebuilt from columns, ascending; `series_file` is read in portions, as it may be large."""
    rows = _grouped_by_second(series_file)
    group = next(rows, None)
    for row in seconds.to_pylist():
        second = row["second"]
        while group is not None and group[0] < second:
            group = next(rows, None)
        series = group[1] if group is not None and group[0] == second else []
        if wanted(second):
            generator = {name: row.pop(_GENERATOR + name, None) for name in GENERATOR_FIELDS}
            known = {name: value for name, value in generator.items() if value is not None}
            scalars = {name: row[name] for name in SCALARS if row.get(name) is not None}
            yield Snapshot(second, series=tuple(map(_series, series)), generator=known, **scalars)


def _series(row: dict[str, Any]) -> Series:
    pairs = zip(row["bucket_index"] or (), row["bucket_count"] or (), strict=True)
    return Series.from_json({**row, "tags": dict(row["tags"]), "buckets": list(pairs)})


def _grouped_by_second(path: Path) -> Iterator[tuple[int, Rows]]:
    current: int | None = None
    group: Rows = []
    with _whole(path), pq.ParquetFile(path) as file:
        for batch in file.iter_batches(batch_size=2_000):
            for row in batch.to_pylist():
                if row["second"] != current:
                    if current is not None:
                        yield current, group
                    current, group = row["second"], []
                group.append(row)
    if current is not None:
        yield current, group


def _batches(schema: pa.Schema, rows: Iterable[dict[str, Any]]) -> Iterator[pa.RecordBatch]:
    rest = iter(rows)
    while portion := list(islice(rest, _ROWS_AT_ONCE)):
        yield _batch(schema, portion)


def _batch(schema: pa.Schema, rows: Rows) -> pa.RecordBatch:
    columns = []
    for column in schema:
        values = [row.get(column.name) for row in rows]
        if pa.types.is_dictionary(column.type):
            columns.append(pa.array(values, pa.string()).dictionary_encode())
        else:
            columns.append(pa.array(values, column.type))
    return pa.record_batch(columns, schema=schema)


def _write(path: Path, schema: pa.Schema, batches: Iterable[pa.RecordBatch]) -> int:
    """How many rows were written."""
    count = 0
    try:
        with (
            own_file(path) as file,
            pq.ParquetWriter(file, schema, compression="zstd") as writer,
        ):
            for batch in batches:
                writer.write_batch(batch)
                count += batch.num_rows
    except OSError as error:
        raise directory.run_error("write", path, error) from error
    return count
