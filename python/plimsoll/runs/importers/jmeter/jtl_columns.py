"""JMeter's CSV in columns: what jtl_csv.py says of each line, said of thousands of lines at once, for large files.

A file of 1 GB has up to 40 M lines, which line by line take minutes. Here Arrow parses blocks of it, and numpy sorts
them into the spill. What is not as JMeter writes it (a text that is no time, a column too few, bytes that are no
UTF-8) is Irregular: the file is read anew, line by line, which says what is wrong and where, or knows what to do.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from plimsoll.runs.importers.clock import EARLIEST_S, LATEST_S
from plimsoll.runs.importers.date_column import DateColumn
from plimsoll.runs.importers.lines import SourceFile
from plimsoll.runs.importers.source import BadRecord
from plimsoll.runs.importers.spill import Key, Spill

if TYPE_CHECKING:
    import pyarrow as pa

BLOCK_BYTES = 2 << 20
_TEXTS = ("label", "success", "responseCode", "responseMessage", "threadName", "Hostname")
_NUMBERS = ("elapsed", "bytes", "allThreads", "SampleCount")
_MOST_REMEMBERED = 100_000

Reals = NDArray[np.float64]


class Irregular(Exception):
    """Something that only reading line by line can judge."""


@dataclass(frozen=True)
class Meaning:
    """What the texts of a line mean: the group of a thread, whether a message is that of a transaction, and the key of
    group, label, code, transaction or not, and failed or not."""

    group_of: Callable[[str], str]
    is_transaction: Callable[[str], bool]
    key_of: Callable[[str, str, str, bool, bool], Key]


def read_columns(file: SourceFile, header: Sequence[str], delimiter: str, into: Spill, meaning: Meaning) -> None:
    """All samples into `into`. Raises Irregular, with part of them in it.

    Times are whole ms or, where the first line has another text, dates.
    """
    import pyarrow as pa
    from pyarrow import csv as arrow_csv

    if len(set(header)) < len(header):
        raise Irregular
    wanted = [name for name in ("timeStamp", *_NUMBERS, *_TEXTS) if name in header]
    has_ms = _first_time(file, header, delimiter).strip().isdecimal()
    types: dict[str, Any] = {"timeStamp": pa.int64() if has_ms else pa.string()}
    types |= {name: pa.float64() for name in _NUMBERS}
    types |= {name: pa.dictionary(pa.int32(), pa.string()) for name in _TEXTS}
    taker = _Taker(into, meaning)
    with file.open() as stream:
        try:
            blocks = arrow_csv.open_csv(
                pa.PythonFile(stream, mode="r"),
                arrow_csv.ReadOptions(
                    use_threads=False, block_size=BLOCK_BYTES, column_names=list(header), skip_rows=1
                ),
                arrow_csv.ParseOptions(delimiter=delimiter, newlines_in_values=True),
                arrow_csv.ConvertOptions(column_types=types, include_columns=wanted, null_values=[""]),
            )
            for block in blocks:
                taker.take(block)
        except (pa.ArrowException, BadRecord, OverflowError) as error:
            raise Irregular from error
    if file.fault:  # cut: how far it is used is said with its line
        raise Irregular


def _first_time(file: SourceFile, header: Sequence[str], delimiter: str) -> str:
    """The timeStamp of the first sample; empty where the head of the file has none."""
    head = file.head().decode("utf-8-sig", errors="replace")
    rows = csv.reader(io.StringIO(head, newline=""), delimiter=delimiter)
    next(rows, None)
    place = header.index("timeStamp")
    return next((row[place] for row in rows if len(row) > place), "")


class _Taker:
    """Takes blocks; remembers which place the texts of a line have."""

    def __init__(self, into: Spill, meaning: Meaning) -> None:
        self._into = into
        self._meaning = meaning
        self._known: dict[tuple[Any, ...], int] = {}
        self._dates = DateColumn("timeStamp")

    def take(self, block: pa.RecordBatch) -> None:
        if not block.num_rows:
            return
        columns = dict(zip(block.schema.names, block.columns, strict=True))
        start_s = self._starts(columns["timeStamp"])
        ms = _reals(columns["elapsed"])
        if not ((start_s >= EARLIEST_S) & (start_s <= LATEST_S)).all():
            raise Irregular
        if "SampleCount" in columns and (_reals(columns["SampleCount"]) != 1).any():
            raise Irregular
        places, is_iteration, is_failed = self._meanings(columns, block.num_rows)
        size = np.nan_to_num(_reals(columns["bytes"], may_lack=True)) if "bytes" in columns else np.zeros(len(ms))
        for kind, chosen in (("request", ~is_iteration), ("iteration", is_iteration)):
            if chosen.any():
                failed = int((is_failed & chosen).sum()) if kind == "request" else 0
                self._into.many(kind, failed, places[chosen], start_s[chosen], ms[chosen], size[chosen])
        if "allThreads" in columns:
            users = _reals(columns["allThreads"], may_lack=True)
            self._levels(columns.get("Hostname"), start_s + ms / 1000, users, ~is_iteration & ~np.isnan(users))

    def _starts(self, column: Any) -> Reals:
        """Seconds since 1970 of whole ms or of dates."""
        import pyarrow as pa

        if column.null_count:
            raise Irregular
        if pa.types.is_string(column.type):
            return self._dates.seconds(column)
        found: Reals = column.to_numpy(zero_copy_only=False) / 1000
        return found

    def _meanings(
        self, columns: dict[str, Any], rows: int
    ) -> tuple[NDArray[np.uint32], NDArray[np.bool_], NDArray[np.bool_]]:
        """Of each line: the place of its key, whether it is an iteration, and whether it failed.

        Threads become groups and messages become yes or no before lines are told apart, so that the work here is that
        of different labels and codes, whatever the number of threads.
        """
        meaning = self._meaning
        parts = [
            _meant(*_texts(columns.get("threadName"), rows, "default"), meaning.group_of),
            _texts(columns.get("label"), rows, ""),
            _texts(columns.get("responseCode"), rows, ""),
            _meant(*_texts(columns.get("responseMessage"), rows, ""), meaning.is_transaction),
            _meant(*_texts(columns.get("success"), rows, ""), _is_failed),
        ]
        combined = np.zeros(rows, np.int64)
        for values, of_row in parts:
            combined = combined * len(values) + of_row
        different, first, which = np.unique(combined, return_index=True, return_inverse=True)
        order = np.argsort(first)  # a name that comes first keeps its place where names are too many
        left, cells = different[order], []
        for values, _ in reversed(parts):
            left, of_key = np.divmod(left, len(values))
            cells.append([values[place] for place in of_key.tolist()])
        places = np.empty(len(order), np.uint32)
        places[order] = [self._place(texts) for texts in zip(*reversed(cells), strict=True)]
        (is_transaction, transaction), (is_failed, failed) = parts[3:]
        return places[which], np.array(is_transaction)[transaction], np.array(is_failed)[failed]

    def _place(self, texts: tuple[Any, ...]) -> int:
        known = self._known.get(texts)
        if known is None:
            known = self._into.place(self._meaning.key_of(*texts))
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


def _meant(
    texts: list[str], of_row: NDArray[np.int64], meaning: Callable[[str], Any]
) -> tuple[list[Any], NDArray[np.int64]]:
    """The different meanings of texts, and which of them each line has."""
    places: dict[Any, int] = {}
    of_text = [places.setdefault(meaning(text), len(places)) for text in texts]
    return list(places), np.array(of_text, np.int64)[of_row]


def _is_failed(success: str) -> bool:
    if success not in ("true", "false"):
        raise Irregular
    return success == "false"
