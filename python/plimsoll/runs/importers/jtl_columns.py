"""JMeter's CSV in columns: what jtl_csv.py says of each line, said of thousands of lines at once, for large files.

A file of 1 GB has up to 40 M lines, which line by line take minutes. Here Arrow parses blocks of it, and numpy sorts
them into the spill. What is not as JMeter writes it (a time as a date, a column too few, a text that is no UTF-8) is
Irregular: the file is read anew, line by line, which says what is wrong and where, or knows what to do with it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from plimsoll.runs.importers.clock import EARLIEST_S, LATEST_S
from plimsoll.runs.importers.lines import SourceFile
from plimsoll.runs.importers.source import BadRecord
from plimsoll.runs.importers.spill import Key, Spill

if TYPE_CHECKING:
    import pyarrow as pa

BLOCK_BYTES = 2 << 20
_TEXTS = ("label", "success", "responseCode", "responseMessage", "threadName", "Hostname")
_NUMBERS = ("elapsed", "bytes", "allThreads", "SampleCount")
_MOST_REMEMBERED = 100_000

KeyOf = Callable[[str, str, str, str, str], Key]  # of thread, label, code, message and success
Reals = NDArray[np.float64]


class Irregular(Exception):
    """Something that only reading line by line can judge."""


def read_columns(file: SourceFile, header: Sequence[str], delimiter: str, into: Spill, key_of: KeyOf) -> None:
    """All samples into `into`. Raises Irregular, with part of them in it."""
    import pyarrow as pa
    from pyarrow import csv

    if len(set(header)) < len(header):
        raise Irregular
    wanted = [name for name in ("timeStamp", *_NUMBERS, *_TEXTS) if name in header]
    types: dict[str, Any] = {"timeStamp": pa.int64()} | {name: pa.float64() for name in _NUMBERS}
    types |= {name: pa.dictionary(pa.int32(), pa.string()) for name in _TEXTS}
    taker = _Taker(into, key_of)
    with file.open() as stream:
        try:
            blocks = csv.open_csv(
                pa.PythonFile(stream, mode="r"),
                csv.ReadOptions(use_threads=False, block_size=BLOCK_BYTES, column_names=list(header), skip_rows=1),
                csv.ParseOptions(delimiter=delimiter, newlines_in_values=True),
                csv.ConvertOptions(column_types=types, include_columns=wanted, null_values=[""]),
            )
            for block in blocks:
                taker.take(block)
        except (pa.ArrowException, BadRecord, OverflowError) as error:
            raise Irregular from error
    if file.fault:  # cut: how far it is used is said with its line
        raise Irregular


class _Taker:
    """Takes blocks; remembers which key the texts of a line mean."""

    def __init__(self, into: Spill, key_of: KeyOf) -> None:
        self._into = into
        self._key_of = key_of
        self._known: dict[tuple[str, ...], Key] = {}

    def take(self, block: pa.RecordBatch) -> None:
        if not block.num_rows:
            return
        columns = dict(zip(block.schema.names, block.columns, strict=True))
        start_s = _whole(columns["timeStamp"]) / 1000
        ms = _reals(columns["elapsed"])
        if not ((start_s >= EARLIEST_S) & (start_s <= LATEST_S)).all():
            raise Irregular
        if "SampleCount" in columns and (_reals(columns["SampleCount"]) != 1).any():
            raise Irregular
        keys, of_row = self._keys(columns, block.num_rows)
        places = self._into.places(keys)
        size = np.nan_to_num(_reals(columns["bytes"], may_lack=True)) if "bytes" in columns else np.zeros(len(ms))
        kinds = np.array([key[0] == "iteration" for key in keys])[of_row]
        for is_iteration in (False, True):
            chosen = kinds == is_iteration
            if chosen.any():
                self._into.many(keys, places, of_row[chosen], start_s[chosen], ms[chosen], size[chosen])
        if "allThreads" in columns:
            users, told = _reals(columns["allThreads"], may_lack=True), ~kinds
            self._levels(columns.get("Hostname"), start_s + ms / 1000, users, told & ~np.isnan(users))

    def _keys(self, columns: dict[str, Any], rows: int) -> tuple[list[Key], NDArray[np.int64]]:
        """The keys of a block, in the order in which they come, and which of them each line has."""
        names = ("threadName", "label", "responseCode", "responseMessage", "success")
        texts, combined = [], np.zeros(rows, np.int64)
        for name in names:
            values, of_row = _texts(columns.get(name), rows, "default" if name == "threadName" else "")
            texts.append(values)
            combined = combined * len(values) + of_row
        _, first, which = np.unique(combined, return_index=True, return_inverse=True)
        order = np.argsort(first)
        rank = np.empty(len(order), np.int64)
        rank[order] = np.arange(len(order))
        keys = []
        for number in combined[first[order]].tolist():
            parts: list[str] = []
            for values in reversed(texts):
                number, place = divmod(number, len(values))
                parts.append(values[place])
            keys.append(self._key(tuple(reversed(parts))))
        return keys, rank[which]

    def _key(self, texts: tuple[str, ...]) -> Key:
        known = self._known.get(texts)
        if known is None:
            if texts[4] not in ("true", "false"):
                raise Irregular
            known = self._key_of(*texts)
            if len(self._known) < _MOST_REMEMBERED:
                self._known[texts] = known
        return known

    def _levels(self, hosts: Any, at_s: Reals, users: Reals, told: NDArray[np.bool_]) -> None:
        """The last load of each second and host, as telling each of them would leave it."""
        values, of_row = _texts(hosts, len(at_s), "")
        chosen = np.flatnonzero(told)
        if not (users[chosen] >= 0).all():
            raise Irregular
        second = np.floor(at_s[chosen])
        order = np.lexsort((at_s[chosen], second, of_row[chosen]))  # equal ones stay in the order of the lines
        chosen, second = chosen[order], second[order]
        host = of_row[chosen]
        if not chosen.size:
            return
        is_last = np.append((np.diff(second) != 0) | (np.diff(host) != 0), True)
        for place in chosen[is_last].tolist():
            self._into.level(float(at_s[place]), float(users[place]), values[int(of_row[place])])


def _whole(column: Any) -> NDArray[np.int64]:
    if column.null_count:
        raise Irregular
    found: NDArray[np.int64] = column.to_numpy(zero_copy_only=False)
    return found


def _reals(column: Any, *, may_lack: bool = False) -> Reals:
    """The numbers of a column; NaN for an empty cell where one may be."""
    lacking = column.null_count
    if lacking and not may_lack:
        raise Irregular
    found: Reals = column.to_numpy(zero_copy_only=False)
    if np.isnan(found).sum() != lacking or np.isinf(found).any():
        raise Irregular
    return found


def _texts(column: Any, rows: int, without: str) -> tuple[list[str], NDArray[np.int64]]:
    """The different texts of a column, and which of them each line has; `without` of a file that has no such column."""
    if column is None:
        return [without], np.zeros(rows, np.int64)
    if column.null_count:
        raise Irregular
    values = column.dictionary.to_pylist()
    return values or [""], column.indices.to_numpy(zero_copy_only=False).astype(np.int64)
