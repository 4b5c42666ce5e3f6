"""The table `series` in columns: what a series is is looked up once, and the buckets of many rows are added up at once.

A run of hours with hundreds of series has millions of rows, so that what a row costs decides how long its end takes.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from plimsoll.runs.format.line_cut import Steps
from plimsoll.runs.snapshot import Buckets, Snapshot

_NAME = pa.dictionary(pa.int32(), pa.string())
_TAGS = pa.map_(pa.string(), pa.string())
_OWN = (("count", pa.int64()), ("sum", pa.float64()), ("min", pa.float64()), ("max", pa.float64()))
_OTHERS = (("value", pa.float64()), ("passes", pa.int64()), ("total", pa.int64()))
SERIES_SCHEMA = pa.schema(
    [
        ("second", pa.int64()),
        *((name, _NAME) for name in ("metric", "kind", "scenario", "name")),
        ("tags", _TAGS),
        *_OWN,
        *_OTHERS,
        ("bucket_index", pa.list_(pa.int64())),
        ("bucket_count", pa.list_(pa.int64())),
        ("epoch", pa.int64()),
    ]
)
_ROWS_AT_ONCE = 20_000
_MOST_KNOWN = 20_000
_NO_BUCKETS = Steps((), ())


def series_batches(snapshots: Iterable[Snapshot]) -> Iterator[pa.RecordBatch]:
    """The rows of these seconds, in portions: one for each series of a second, of SERIES_SCHEMA."""
    columns = _Columns()
    for snapshot in snapshots:
        columns.add(snapshot)
        if len(columns.numbers) >= _ROWS_AT_ONCE:
            yield columns.taken()
    if columns.numbers:
        yield columns.taken()


class _Columns:
    """Rows that are not taken yet. `numbers`: which of the known series each row is."""

    def __init__(self) -> None:
        self._known: dict[tuple[Any, ...], int] = {}
        self.numbers: list[int] = []
        self._clear()

    def _clear(self) -> None:
        self.numbers = []
        self._seconds: list[int] = []
        self._values: dict[str, list[Any]] = {name: [] for name, _ in (*_OWN, *_OTHERS, ("epoch", None))}
        self._buckets: list[Steps | None] = []

    def add(self, snapshot: Snapshot) -> None:
        """Add the series of a second."""
        known, number_of, second = self._known, self.numbers.append, snapshot.second
        count, total, least, most, value, passes, of, epoch = (column.append for column in self._values.values())
        bucket_of, second_of = self._buckets.append, self._seconds.append
        for item in snapshot.series:
            is_trend = item.kind == "trend"
            key = (item.metric, item.kind, *item.tags.items())
            number = known.get(key)
            number_of(known.setdefault(key, len(known)) if number is None else number)
            second_of(second)
            count(item.count if is_trend else None)
            total(item.sum if is_trend else None)
            least(item.min)
            most(item.max)
            value(item.value)
            passes(item.passes)
            of(item.total)
            epoch(item.epoch)
            bucket_of(_steps(item.buckets) if is_trend else None)

    def taken(self) -> pa.RecordBatch:
        """All of them, and begin again."""
        at = pa.array(self.numbers, pa.int32())
        tags = [dict(key[2:]) for key in self._known]
        names = {
            "metric": [key[0] for key in self._known],
            "kind": [key[1] for key in self._known],
            "scenario": [one.get("scenario") for one in tags],
            "name": [one.get("name") for one in tags],
        }
        index, counts = _bucket_lists(self._buckets)
        columns = {"second": pa.array(self._seconds, pa.int64())}
        columns |= {name: pa.array(texts, pa.string()).dictionary_encode().take(at) for name, texts in names.items()}
        columns["tags"] = pa.array([list(one.items()) for one in tags], _TAGS).take(at)
        columns |= {name: pa.array(self._values[name], kind) for name, kind in (*_OWN, *_OTHERS)}
        columns |= {"bucket_index": index, "bucket_count": counts, "epoch": pa.array(self._values["epoch"], pa.int64())}
        self._clear()
        if len(self._known) > _MOST_KNOWN:
            self._known.clear()
        return pa.record_batch([columns[one.name] for one in SERIES_SCHEMA], schema=SERIES_SCHEMA)


def _steps(buckets: Buckets) -> Steps:
    if isinstance(buckets, Steps):
        return buckets
    index, times = np.asarray(buckets, dtype=np.int64).reshape(-1, 2).T
    others = np.flatnonzero(times != 1)
    return Steps(np.diff(index, prepend=0).tolist(), np.column_stack((others, times[others])).ravel().tolist())


def _bucket_lists(rows: Sequence[Steps | None]) -> tuple[pa.ListArray, pa.ListArray]:
    """The lists of indices and of counts of each row; null for None. ValueError if one counts what it has not."""
    filled = [_NO_BUCKETS if one is None else one for one in rows]
    sizes = np.array([len(one.steps) for one in filled], np.int64)
    ends = np.concatenate(([0], np.cumsum(sizes)))
    index = np.cumsum(np.fromiter(chain.from_iterable(one.steps for one in filled), np.int64, ends[-1]))
    before = np.concatenate(([0], index))[ends[:-1]]
    index -= np.repeat(before, sizes)
    told = np.array([len(one.others) for one in filled], np.int64)
    places, counts = (
        np.fromiter(chain.from_iterable(one.others for one in filled), np.int64, told.sum()).reshape(-1, 2).T
    )
    owner = np.repeat(np.arange(len(filled)), told // 2)
    if ((places < 0) | (places >= sizes[owner])).any():
        raise ValueError("a count of a bucket that is not there")
    times = np.ones(ends[-1], np.int64)
    times[ends[owner] + places] = counts
    offsets = pa.array(ends.astype(np.int32), mask=np.array([*(one is None for one in rows), False]))
    return _list_array(offsets, index), _list_array(offsets, times)


def _list_array(offsets: pa.Array, values: NDArray[np.int64]) -> pa.ListArray:
    return pa.ListArray.from_arrays(offsets, pa.array(values))
