"""Reading a run directory, be it finished, running, or left behind by a killed process.

Everything streams from disk, so that memory does not grow with the length of the run; only tables are held whole, and
the load of the first three hours, which most questions ask for.
"""

from __future__ import annotations

import bisect
import itertools
import json
import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

from plimsoll.errors import InputError, RunDirectoryError
from plimsoll.runs import directory
from plimsoll.runs.directory import file_of, is_being_written, no_run, run_error
from plimsoll.runs.format.line_cut import LineCutter
from plimsoll.runs.format.lines import is_damaged, placed_lines, read_lines
from plimsoll.runs.format.small_files import read_small
from plimsoll.runs.histogram import Histogram
from plimsoll.runs.readings.arrivals import Homes, Window, moves_of
from plimsoll.runs.snapshot import ScriptMetric, Series, Snapshot

if TYPE_CHECKING:
    import pyarrow as pa

    from plimsoll.runs.format.minute_blocks import Block, KnownHeads

State = Literal["finished", "interrupted", "failed", "running", "killed"]


class RunReader:
    """A run directory opened for reading; RunDirectoryError if it is none, or of a newer schema.

    Windows are elapsed seconds [from_s, to_s) since the run's start; None leaves that side open.
    """

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path)
        self.manifest: dict[str, Any] = self._read_manifest()
        self._index: list[tuple[int, int]] = []  # (second, byte from which it can be read), ascending
        self._heads: KnownHeads | None = None
        self._loads: Sequence[Snapshot] | None = None  # all seconds without series, of a run that grows no more

    def _read_manifest(self) -> dict[str, Any]:
        path = self.path / directory.MANIFEST
        try:
            manifest = json.loads(_bytes_of(path))
        except (FileNotFoundError, NotADirectoryError) as error:
            raise no_run(self.path) from error
        except OSError as error:
            raise run_error("read", path, error) from error
        except (ValueError, RecursionError) as error:
            raise RunDirectoryError(f"{path} is not valid JSON", "Restore it, or make the run again.") from error
        schema = manifest.get("schema") if isinstance(manifest, dict) else None
        if schema != directory.SCHEMA:
            what = f"{self.path} has schema {schema!r}, this Plimsoll reads {directory.SCHEMA}"
            raise RunDirectoryError(what, "Read it with the version of Plimsoll that made it, or a newer one.")
        return manifest

    @property
    def state(self) -> State:
        """The status of the manifest; "killed" if it says running but its writer is gone."""
        status: State = self.manifest["status"]
        if status != "running":
            return status
        return "running" if is_being_written(self._series) else "killed"

    @property
    def _series(self) -> Path:
        return file_of(self.path, directory.SERIES)

    def snapshots(
        self, from_s: float | None = None, to_s: float | None = None, *, metrics: Iterable[str] | None = None
    ) -> Iterator[Snapshot]:
        """The seconds that start in the window, in order; with `metrics`, those series alone, which is much faster,
        and their buckets may be an array of shape (n, 2)."""
        lines = self._series
        if not lines.exists() and self._has_table(directory.SECONDS_TABLE):
            found = self._from_tables(from_s, to_s)
            yield from found if metrics is None else (_with_only(one, frozenset(metrics)) for one in found)
            return
        if metrics is not None and file_of(self.path, directory.MINUTES).exists():
            wanted = frozenset(metrics)
            blocks = (block.snapshots() for block in self.blocks(wanted, from_s))
            for snapshot in itertools.chain.from_iterable(blocks) if wanted else self._all_loads():
                if to_s is not None and snapshot.second >= to_s:
                    return
                if _within(snapshot.second, from_s, to_s):
                    yield snapshot
            return
        place = bisect.bisect_right(self._index, (from_s, math.inf)) - 1 if from_s is not None else -1
        for begin, snapshot in self._parsed(lines, self._index[place][1] if place >= 0 else 0, metrics):
            second = snapshot.second
            if not self._index or self._index[-1][1] < begin:
                self._index.append((second, begin))
            if to_s is not None and second >= to_s:
                return
            if _within(second, from_s, to_s):
                yield snapshot

    def _all_loads(self) -> Iterable[Snapshot]:
        """Every second without series, which most questions ask for: read once, up to MOST_KEPT_S of them."""
        from plimsoll.runs.format.minute_blocks import MOST_KEPT_S

        if self._loads is not None:
            return self._loads
        loads = (load for block in self._blocks(frozenset(), None, {}) for load in block.load)
        if self.state == "running":
            return loads
        first = list(itertools.islice(loads, MOST_KEPT_S + 1))
        if len(first) > MOST_KEPT_S:
            return itertools.chain(first, loads)
        self._loads = first
        return first

    def whole_seconds(self, metrics: Iterable[str], *, above: Mapping[str, float] | None = None) -> Iterator[Snapshot]:
        """Every second, in order, with one series for each of these metrics, see Block.whole_seconds; `above` as of
        `blocks`."""
        for block in self.blocks(metrics, above=above):
            yield from block.whole_seconds()

    def blocks(
        self,
        metrics: Iterable[str],
        from_s: float | None = None,
        *,
        arrived_in: Sequence[Window] = (),
        above: Mapping[str, float] | None = None,
    ) -> Iterator[Block]:
        """The run in blocks of at most a minute, in order, with the series of these metrics; those that end before
        second `from_s` may come without. What arrived in one of the windows `arrived_in` and ended after it is in the
        last second of that window. A trend of `above` may be left out where all of its values are less than that."""
        wanted = frozenset(metrics)
        moves = moves_of(self.snapshots(metrics=()), arrived_in) if arrived_in else {}
        if not moves:
            yield from self._blocks(wanted, from_s, above or {})
            return
        from plimsoll.runs.format.minute_blocks import Block

        late = {second for second, _ in moves}
        read = self.snapshots(min(late), max(late) + 1, metrics=wanted)
        homes = Homes(moves, (snapshot for snapshot in read if snapshot.second in late))
        for block in self._blocks(wanted, from_s, {}):
            if homes.touched.isdisjoint(one.second for one in block.load):
                yield block
            else:
                yield Block.of_snapshots([homes.booked(snapshot) for snapshot in block.snapshots()])

    def _blocks(self, wanted: frozenset[str], from_s: float | None, above: Mapping[str, float]) -> Iterator[Block]:
        from plimsoll.runs.format import minute_blocks

        lines = self._series
        if not lines.exists() and self._has_table(directory.SECONDS_TABLE):
            found = (_with_only(snapshot, wanted) for snapshot in self._from_tables(from_s, None))
            return minute_blocks.blocks_of(found)
        self._heads = self._heads or minute_blocks.KnownHeads()
        minutes = file_of(self.path, directory.MINUTES)
        return minute_blocks.blocks_of_run(minutes, lines, wanted, from_s, above, self._heads)

    def _from_tables(self, from_s: float | None, to_s: float | None) -> Iterator[Snapshot]:
        from plimsoll.runs.format import tables

        seconds = tables.read_table(self.path / directory.SECONDS_TABLE)
        wanted = lambda second: _within(second, from_s, to_s)  # noqa: E731
        return tables.snapshots_from(seconds, self.path / directory.SERIES_TABLE, wanted)

    @staticmethod
    def _parsed(lines: Path, start: int, metrics: Iterable[str] | None) -> Iterator[tuple[int, Snapshot]]:
        """The snapshots from byte `start` on, each with the byte from which it can be read."""
        cutter = LineCutter(
            None if metrics is None else frozenset(metrics), buckets="pairs" if metrics is None else "array"
        )
        for begin, raw in placed_lines(lines, start):
            if (found := cutter.snapshot(raw)) is not None:
                yield begin, found

    def script_metrics(self) -> tuple[ScriptMetric, ...]:
        """The metrics that the run's script makes, or its scripts; none of runs of earlier versions, of other tools and
        of tables alone."""
        told = (one for snapshot in self.snapshots(metrics=()) for one in snapshot.script_metrics)
        return tuple({one.name: one for one in told}.values())

    def first_metric(self, names: Sequence[str]) -> str | None:
        """The first of `names` that is among the series of the first second that has any of them; None without."""
        for snapshot in self.snapshots(metrics=names):
            present = {item.metric for item in snapshot.series if item.kind != "trend" or item.count}
            if present:
                return next(name for name in names if name in present)
        return None

    def series(
        self,
        metric: str,
        *,
        operation: str | None = None,
        request: str | None = None,
        tags: Mapping[str, str] | None = None,
        from_s: float | None = None,
        to_s: float | None = None,
    ) -> Iterator[tuple[int, Series]]:
        """(second, series) of that metric with these tags: `operation` is the tag scenario, `request` the tag name."""
        wanted = dict(tags or {})
        wanted |= {key: value for key, value in (("scenario", operation), ("name", request)) if value is not None}
        for snapshot in self.snapshots(from_s, to_s, metrics=(metric,)):
            for item in snapshot.series:
                if item.metric == metric and all(item.tags.get(key) == value for key, value in wanted.items()):
                    yield snapshot.second, item

    def histogram(self, metric: str = "http_req_duration", **choice: Any) -> Histogram:
        """All values of a trend merged, in ms; `choice` as for `series`."""
        merged = Histogram()
        for _, item in self.series(metric, **choice):
            merged.add_series(item)
        return merged

    def counter(self, metric: str = "http_reqs", **choice: Any) -> float:
        """Sum of a counter; `choice` as for `series`."""
        return sum(item.value or 0.0 for _, item in self.series(metric, **choice))

    def rate(self, metric: str = "http_req_failed", **choice: Any) -> tuple[int, int]:
        """(passes, total) of a rate; passes are non-zero values, so failed requests here. `choice` as for `series`."""
        passes = total = 0
        for _, item in self.series(metric, **choice):
            passes += item.passes or 0
            total += item.total or 0
        return passes, total

    def operations(self) -> tuple[str, ...]:
        """The operations (tag scenario) seen, in order of first appearance."""
        return self._tag_values("scenario")

    def requests(self) -> tuple[str, ...]:
        """The request names (tag name) seen, in order of first appearance."""
        return self._tag_values("name")

    def _tag_values(self, tag: str) -> tuple[str, ...]:
        seen = (item.tags.get(tag) for snapshot in self.snapshots() for item in snapshot.series)
        return tuple(dict.fromkeys(value for value in seen if value))

    def per_second(self, *names: str) -> dict[str, NDArray[np.float64]]:
        """Columns of the load, one entry a second, shape (n,): "second" and the fields of Snapshot named."""
        wanted = ("second", *names)
        rows = [[getattr(snapshot, name) for name in wanted] for snapshot in self.snapshots(metrics=())]
        columns = np.array(rows, dtype=np.float64).reshape(-1, len(wanted)).T
        return dict(zip(wanted, columns, strict=True))

    def resources(self) -> Iterator[dict[str, Any]]:
        """The lines of resources.jsonl.zst, in order."""
        return read_lines(file_of(self.path, directory.RESOURCES))

    def resource(self, source: str, name: str) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """One value of one source over time: (seconds, values), each of shape (n,)."""
        rows = [
            (line["second"], line["values"][name])
            for line in self.resources()
            if line.get("source") == source and line.get("values", {}).get(name) is not None
        ]
        columns = np.array(rows, dtype=np.float64).reshape(-1, 2)
        return columns[:, 0], columns[:, 1]

    def events(self, kind: str | None = None) -> list[dict[str, Any]]:
        """The events, in order; of one kind if given."""
        return [line for line in read_lines(self.path / directory.EVENTS) if kind is None or line.get("kind") == kind]

    def damaged_files(self) -> list[str]:
        """Names of the files beside its seconds that are missing or hold lines which cannot be read, which is no
        damage where a kill tore them."""
        is_whole, lines = self.state == "finished", self.manifest.get(directory.PROBE_LINES)
        probes, events, trials = (
            file_of(self.path, name) for name in (directory.RESOURCES, directory.EVENTS, directory.TRIALS)
        )
        damaged = [file for file in (probes, events, trials) if is_damaged(file, is_whole=is_whole)]
        if probes not in damaged and isinstance(lines, int) and sum(1 for _ in placed_lines(probes)) < lines:
            damaged.append(probes)
        if is_whole and not trials.exists() and self.plan():
            damaged.append(trials)
        return [file.name for file in damaged]

    def plan(self) -> dict[str, Any]:
        """What was to be tried; empty for experiments without trials."""
        path = self.path / directory.PLAN
        try:
            plan = json.loads(_bytes_of(path))
        except FileNotFoundError:
            return {}
        except OSError as error:
            raise run_error("read", path, error) from error
        except (ValueError, RecursionError) as error:
            raise RunDirectoryError(f"{path} is not valid JSON", "Restore it, or make the run again.") from error
        return plan if isinstance(plan, dict) else {}

    def trials(self) -> list[dict[str, Any]]:
        """The complete trials, in the order in which they were made, each number once."""
        return list(
            {line["trial"]: line for line in read_lines(self.path / directory.TRIALS) if "trial" in line}.values()
        )

    def findings(self) -> list[dict[str, Any]]:
        """The findings; empty if none were written."""
        path = self.path / directory.FINDINGS
        try:
            findings = json.loads(_bytes_of(path))
        except FileNotFoundError:
            return []
        except OSError as error:
            raise run_error("read", path, error) from error
        except (ValueError, RecursionError) as error:
            raise RunDirectoryError(f"{path} is not valid JSON", "Remove it and analyse the run again.") from error
        return findings if isinstance(findings, list) else [findings]

    def seconds_table(self) -> pa.Table:
        """One row a second: the load, and `generator_…` columns. See tables.py for all columns."""
        from plimsoll.runs.format import tables

        rows = map(tables.second_row, self.snapshots(metrics=()))
        return self._table(directory.SECONDS_TABLE, lambda: tables.table_of(tables.SECONDS_SCHEMA, rows))

    def series_table(self) -> pa.Table:
        """One row a second and series."""
        from plimsoll.runs.format import tables

        return self._table(directory.SERIES_TABLE, lambda: tables.series_table_of(self.snapshots()))

    def resources_table(self) -> pa.Table:
        """One row a value of a probe."""
        from plimsoll.runs.format import tables

        rows = (row for line in self.resources() for row in tables.resource_rows(line))
        return self._table(directory.RESOURCES_TABLE, lambda: tables.table_of(tables.RESOURCES_SCHEMA, rows))

    @property
    def logs(self) -> Path:
        """The folder with the output of the target's commands."""
        return self.path / directory.LOGS

    def _has_table(self, name: str) -> bool:
        return self.manifest.get("status") == "finished" and (self.path / name).is_file()

    def _table(self, name: str, made: Callable[[], pa.Table]) -> pa.Table:
        """The Parquet file as a table if the run finished, else the one that is `made`."""
        from plimsoll.runs.format import tables

        return tables.read_table(self.path / name) if self._has_table(name) else made()


def _with_only(snapshot: Snapshot, metrics: frozenset[str]) -> Snapshot:
    return replace(snapshot, series=tuple(one for one in snapshot.series if one.metric in metrics))


def _within(second: float, from_s: float | None, to_s: float | None) -> bool:
    return (from_s is None or second >= from_s) and (to_s is None or second < to_s)


def _bytes_of(path: Path) -> bytes:
    """A file of JSON whole; RunDirectoryError for what is no file, or larger than one that was written."""
    try:
        return read_small(path)
    except InputError as error:
        raise RunDirectoryError(f"{path}: {error.what}", "Restore it, or make the run again.") from error
