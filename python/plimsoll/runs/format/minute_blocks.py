"""Some seconds of a run in columns: a line of minutes.jsonl.zst decoded, or lines of series.jsonl.zst gathered.

Both give the same numbers, so that what is made of them does not depend on where they came from. A block is bounded, by
its seconds and by its buckets, and one is in memory at a time.
"""

from __future__ import annotations

import bisect
import hashlib
import math
import zlib
from binascii import a2b_base64
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

import numpy as np
from numpy.typing import NDArray

from plimsoll.runs.format import quick_json
from plimsoll.runs.format.line_cut import LineCutter
from plimsoll.runs.format.lines import placed_lines
from plimsoll.runs.format.minutes import DIGITS, MOST_BUCKETS, SECONDS, SHORT, VERSION
from plimsoll.runs.format.packed_file import is_frame_edge, is_packed
from plimsoll.runs.histogram import bucket_middle
from plimsoll.runs.snapshot import FIELDS, Series, Snapshot

_METRICS, _BETWEEN, _FIRST = b',"metrics":[', b',{"metric":"', b'{"metric":"'
NOTHING_ABOVE: Mapping[str, float] = {}
MOST_KEPT_S = 10_800  # seconds whose load is kept decoded: about 30 MB
Integers = NDArray[np.int64]
Reals = NDArray[np.float64]
_NONE = np.zeros((0, 2), np.int64)  # of buckets


class Merged(NamedTuple):
    """The series of some seconds at once, from second `from_s` on: each with the sums of its counts, its histograms
    merged."""

    from_s: int
    series: tuple[Series, ...]


@dataclass(frozen=True)
class Rows:
    """The series of one metric in a block, one a row, in the order of series.jsonl.zst; arrays of shape (n,).

    `second`: place of the second in the block; `place`: that of the series in the second; `tags`: in the block's list.
    `values`: by field of Series; of a trend arrays (NaN for none), else lists. A trend's row k has the buckets
    [ends[k], ends[k + 1]): `times` are their counts, `total` + offset[k] their indices, all of which are in `span`.
    `epoch`: that of arrivals of an earlier level, 0 of the second's own; None if all are its own.
    """

    metric: str
    kind: Any
    second: Integers
    place: Integers
    tags: Integers
    values: Mapping[str, Any]
    ends: Integers
    total: Integers
    offset: Integers
    times: NDArray[Any]
    span: tuple[int, int] = (0, 0)
    epoch: Integers | None = None

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Rows:
        """From what minutes.jsonl holds of a metric; ValueError, KeyError, TypeError, IndexError or zlib.error if it is
        none."""
        at = (_whole(data["second"]), _whole(data["place"]), _whole(data["tags"]))
        nothing = np.zeros(0, np.int64)
        epoch = _whole(data["epoch"]) if "epoch" in data else None
        if data["kind"] != "trend":
            values = {name: data[name] for name in FIELDS[data["kind"]]}
            return cls(data["metric"], data["kind"], *at, values, nothing, nothing, nothing, nothing, epoch=epoch)
        values = {name: _column(data[name]) for name in ("sum", "min", "max")} | {"count": _whole(data["count"])}
        offset = np.zeros(at[0].size, np.int64)
        sizes = _whole(data["sizes"])
        ends = np.concatenate(([0], np.cumsum(sizes)))
        filled, first, total = sizes > 0, _whole(data["first"]), np.cumsum(_column(data["steps"]), dtype=np.int64)
        offset[filled] = first - total[ends[:-1][filled]]
        last = total[ends[1:][filled] - 1] + offset[filled]
        span = (int(first.min()), int(last.max())) if first.size else (0, 0)
        return cls(data["metric"], "trend", *at, values, ends, total, offset, _column(data["times"]), span, epoch)

    @classmethod
    def of(cls, rows: Sequence[tuple[int, int, int, Series]]) -> Rows:
        """From (second, place, tags, series) of one metric and kind."""
        second, place, tags = np.array([row[:3] for row in rows], dtype=np.int64).reshape(-1, 3).T
        series = [row[3] for row in rows]
        about, nothing = series[0], np.zeros(0, np.int64)
        own = all(one.epoch is None for one in series)
        epoch = None if own else np.array([one.epoch or 0 for one in series], dtype=np.int64)
        if about.kind != "trend":
            values = {name: [getattr(one, name) for one in series] for name in FIELDS[about.kind]}
            none = (nothing, nothing, nothing, nothing)
            return cls(about.metric, about.kind, second, place, tags, values, *none, epoch=epoch)
        pairs = [np.asarray(one.buckets if one.count else (), dtype=np.int64).reshape(-1, 2) for one in series]
        both = np.concatenate(pairs)
        trend = {
            "count": np.array([one.count for one in series], dtype=np.int64),
            "sum": np.array([one.sum or 0.0 if one.count else 0.0 for one in series], dtype=float),
            "min": np.array([one.min if one.count else None for one in series], dtype=float),
            "max": np.array([one.max if one.count else None for one in series], dtype=float),
        }
        ends = np.concatenate(([0], np.cumsum([len(one) for one in pairs]))).astype(np.int64)
        span = (int(both[:, 0].min()), int(both[:, 0].max())) if both.size else (0, 0)
        offset = np.zeros(len(rows), np.int64)
        columns = (trend, ends, both[:, 0], offset, both[:, 1], span, epoch)
        return cls(about.metric, "trend", second, place, tags, *columns)

    @property
    def sizes(self) -> Integers:
        """How many buckets each row of a trend has."""
        return np.diff(self.ends)

    def numbers(self, name: str) -> Reals:
        """A field of the rows of another kind than trend, 0 for none."""
        return np.array([value or 0 for value in self.values[name]], dtype=float)

    def bounds(self) -> tuple[Reals, Reals]:
        """Least and greatest value of each row of a trend; from its buckets where it does not say, NaN without any."""
        least, most, filled = self.values["min"].copy(), self.values["max"].copy(), self.sizes > 0
        for bound, at in ((least, self.ends[:-1]), (most, self.ends[1:] - 1)):
            unknown = np.isnan(bound) & filled
            bound[unknown] = bucket_middle(self.total[at[unknown]] + self.offset[unknown])
        return least, most

    def pairs(self) -> Integers:
        """(index, count) of all buckets of a trend, shape (n, 2)."""
        return np.column_stack((self.total + np.repeat(self.offset, self.sizes), self.times))

    def series(self, row: int, tags: Sequence[Mapping[str, str]]) -> Series:
        """One row as a series; buckets are an array of shape (n, 2)."""
        about = self.metric, self.kind, tags[self.tags[row]]
        epoch = None if self.epoch is None else int(self.epoch[row]) or None
        if self.kind != "trend":
            return Series(*about, **{name: column[row] for name, column in self.values.items()}, epoch=epoch)
        count, total, least, most = (self.values[name][row].item() for name in FIELDS["trend"])
        inside = slice(self.ends[row], self.ends[row + 1])
        buckets = np.column_stack((self.total[inside] + self.offset[row], self.times[inside]))
        return Series(*about, count, total, _known(least), _known(most), buckets, epoch=epoch)


def _known(value: float) -> float | None:
    return None if value != value else value


def _column(text: str) -> NDArray[Any]:
    name, _, data = text.partition(":")
    if name == SHORT:
        return _of_six_digits(np.frombuffer(zlib.decompress(a2b_base64(data)), np.dtype("<f4")).astype(float))
    return np.frombuffer(zlib.decompress(a2b_base64(data)), np.dtype(name).newbyteorder("<"))


def _of_six_digits(near: Reals) -> Reals:
    """The numbers of six digits that these are the nearest of 4 bytes to. A whole number divided by a power of ten up
    to 10²² is the number that its text is read as."""
    found, scaled = near.copy(), (near != 0) & np.isfinite(near)
    power = DIGITS - 1 - np.floor(np.log10(np.abs(near[scaled]))).astype(int)
    for shift in np.unique(power).tolist():
        chosen = np.flatnonzero(scaled)[power == shift]
        if abs(shift) > 22:
            found[chosen] = [float(f"{value:.{DIGITS}g}") for value in near[chosen].tolist()]
        elif shift >= 0:
            found[chosen] = np.rint(near[chosen] * 10.0**shift) / 10.0**shift
        else:
            found[chosen] = np.rint(near[chosen] / 10.0**-shift) * 10.0**-shift
    return found


def _whole(text: str) -> Integers:
    return _column(text).astype(np.int64)


@dataclass
class KnownHeads:
    """What the lines of minutes.jsonl.zst say beside their series, with the load of their seconds, for those who read
    them several times: decoded once, up to MOST_KEPT_S seconds; the others each time."""

    _known: dict[bytes, tuple[dict[str, Any], list[Snapshot]]] = field(default_factory=dict)
    _seconds: int = 0

    def of(self, head: bytes) -> tuple[dict[str, Any], list[Snapshot]]:
        """What is in front of the series of a line, without its load, and its load; as Block.from_line raises."""
        digest = hashlib.blake2b(head, digest_size=16).digest()
        known = self._known.get(digest)
        if known is None:
            about = quick_json.loads(head + b"}")
            if about["version"] != VERSION:
                raise ValueError("a line of another version")
            known = about, [Snapshot.from_json(one) for one in about.pop("load")]
            if self._seconds + len(known[1]) <= MOST_KEPT_S:
                self._seconds += len(known[1])
                self._known[digest] = known
        return known


@dataclass(frozen=True)
class Block:
    """Seconds in a row: `load`, the snapshots without series, and the rows of the metrics that were wanted; the
    bytes of series.jsonl.zst that it stands for."""

    load: Sequence[Snapshot]
    rows: Sequence[Rows]
    tags: Sequence[Mapping[str, str]]
    from_byte: int = 0
    to_byte: int = 0

    @classmethod
    def from_line(
        cls,
        raw: bytes,
        wanted: frozenset[str],
        from_s: float | None = None,
        above: Mapping[str, float] = NOTHING_ABOVE,
        heads: KnownHeads | None = None,
    ) -> Block | None:
        """From a line of minutes.jsonl.zst; None if it is none of this version or lacks a metric that is wanted; one of
        `above` may lack if all of its values are less than that. Rows are left out where it ends before second
        `from_s`. `heads`: of the same run's other readings."""
        head, _, rest = raw.partition(_METRICS)
        try:
            about, load = (heads or KnownHeads()).of(head)
            lacking, most = wanted.intersection(about["left_out"]), about.get("most") or {}
            is_below = all(most.get(one, math.inf) < above.get(one, -math.inf) for one in lacking)
            if not is_below:
                return None
            names = frozenset(name.encode() for name in wanted)
            is_early = from_s is not None and load[-1].second < from_s
            text = b"" if is_early or not wanted else rest.rstrip().removesuffix(b"]}").removeprefix(_FIRST)
            found = [piece for piece in text.split(_BETWEEN) if piece[: piece.find(b'"')] in names]
            rows = [Rows.from_json(quick_json.loads(_FIRST + piece)) for piece in found]
            return cls(load, rows, about["tags"], about["from_byte"], about["to_byte"])
        except (ValueError, KeyError, TypeError, AttributeError, IndexError, zlib.error):
            return None

    @classmethod
    def of_snapshots(cls, snapshots: Sequence[Snapshot]) -> Block:
        """From snapshots that hold the wanted series alone."""
        tags: dict[tuple[tuple[str, str], ...], int] = {}
        found: dict[tuple[str, str], list[tuple[int, int, int, Series]]] = {}
        for at, snapshot in enumerate(snapshots):
            for place, one in enumerate(snapshot.series):
                known = tags.setdefault(tuple(one.tags.items()), len(tags))
                found.setdefault((one.metric, one.kind), []).append((at, place, known, one))
        load = [replace(snapshot, series=()) for snapshot in snapshots]
        return cls(load, [Rows.of(rows) for rows in found.values()], [dict(pairs) for pairs in tags])

    def snapshots(self) -> Iterator[Snapshot]:
        """The seconds one by one, with their series."""
        if not self.rows:
            yield from self.load
            return
        order = sorted(
            (second, place, which, row)
            for which, rows in enumerate(self.rows)
            for row, (second, place) in enumerate(zip(rows.second.tolist(), rows.place.tolist(), strict=True))
        )
        begin = 0
        for second, load in enumerate(self.load):
            end = bisect.bisect_left(order, (second + 1,), begin)
            series = tuple(self.rows[which].series(row, self.tags) for _, _, which, row in order[begin:end])
            begin = end
            yield _with(load, series)

    def whole_seconds(self, *, with_buckets: bool = True) -> Iterator[Snapshot]:
        """The seconds one by one, each with one series a metric: all of its tags together, without tags, its buckets
        (if they are needed) an array of shape (n, 2) in any order. Trends, rates and counters only."""
        seconds = np.arange(len(self.load))
        series: list[list[Series]] = [[] for _ in self.load]
        for rows in self.rows:
            begins = np.searchsorted(rows.second, seconds).tolist()
            ends = np.searchsorted(rows.second, seconds, side="right").tolist()
            pairs = rows.pairs() if with_buckets else _NONE
            buckets = lambda second: pairs[rows.ends[begins[second]] : rows.ends[ends[second]]]  # noqa: B023, E731
            none: dict[str, str] = {}
            there = [(second, none) for second in seconds.tolist() if ends[second] > begins[second]]
            for second, one in _sums(rows, rows.second, there, buckets):
                series[second].append(one)
        for load, found in zip(self.load, series, strict=True):
            yield _with(load, tuple(found))

    def merged(
        self, edges: Sequence[float], tags: Sequence[str], metrics: Collection[str] | None = None
    ) -> Iterator[Merged]:
        """The series (with `metrics`, those alone) added up over the seconds between two of the `edges` (elapsed s,
        ascending), apart by these tags. Trends, rates and counters only.

        In order of time; over the blocks of a run, several may come of what lies between two edges. What happened in a
        window is the sum of those that begin in it, if its ends are edges.
        """
        stretch = np.searchsorted(np.asarray(edges, dtype=float), [one.second for one in self.load], side="right")
        parts = [tuple((name, one[name]) for name in tags if name in one) for one in self.tags]
        known = {part: number for number, part in enumerate(dict.fromkeys(parts))}
        part_of = np.array([known[part] for part in parts], dtype=np.int64)
        shown = [dict(part) for part in known]
        found: dict[int, list[tuple[int, int, Series]]] = {}
        for rows in self.rows:
            if metrics is not None and rows.metric not in metrics:
                continue
            keys = stretch[rows.second] * len(known) + part_of[rows.tags]
            groups, first, group_of = np.unique(keys, return_index=True, return_inverse=True)
            stretches, those = (groups // len(known)).tolist(), (groups % len(known)).tolist()
            seconds, places = rows.second[first].tolist(), rows.place[first].tolist()
            there = [(group, shown[part]) for group, part in enumerate(those)]
            for group, one in _sums(rows, group_of, there, _merged_buckets(rows, group_of, groups.size)):
                found.setdefault(stretches[group], []).append((seconds[group], places[group], one))
        for number in sorted(found):
            ordered = sorted(found[number], key=lambda one: one[:2])
            begin = int(np.argmax(stretch == number))
            yield Merged(self.load[begin].second, tuple(one for *_, one in ordered))


def _with(load: Snapshot, series: tuple[Series, ...]) -> Snapshot:
    return replace(load, series=series) if series else load


def _sums(
    rows: Rows, group_of: Integers, there: Sequence[tuple[int, Mapping[str, str]]], buckets: Callable[[int], Integers]
) -> Iterator[tuple[int, Series]]:
    """The rows of each group, which are `there` with their tags, added up in the order of the rows; none of a kind
    that has no sum."""
    if rows.kind == "trend":
        count, total = (np.bincount(group_of, rows.values[name]).tolist() for name in ("count", "sum"))
        least, most = np.full(len(count), np.nan), np.full(len(count), np.nan)
        low, high = rows.bounds()
        np.fmin.at(least, group_of, low)
        np.fmax.at(most, group_of, high)
        bounds = [[_known(value) for value in bound.tolist()] for bound in (least, most)]
        for group, tags in there:
            values = (int(count[group]), total[group], bounds[0][group], bounds[1][group])
            yield group, Series(rows.metric, "trend", tags, *values, buckets(group))
    elif rows.kind == "rate":
        passes, of = (np.bincount(group_of, rows.numbers(name)).tolist() for name in ("passes", "total"))
        for group, tags in there:
            yield group, Series(rows.metric, "rate", tags, passes=int(passes[group]), total=int(of[group]))
    elif rows.kind == "counter":
        value = np.bincount(group_of, rows.numbers("value")).tolist()
        for group, tags in there:
            yield group, Series(rows.metric, "counter", tags, value=value[group])


_MOST_CELLS = 4_000_000


def _merged_buckets(rows: Rows, group_of: Integers, groups: int) -> Callable[[int], Integers]:
    """What gives the merged buckets of a group, shape (n, 2)."""
    if not rows.total.size:
        return lambda _: _NONE
    low, high = rows.span
    width, index = high - low + 1, np.arange(high - low + 1)
    if groups * width <= _MOST_CELLS:
        cells = rows.total + np.repeat(rows.offset - low + group_of * width, rows.sizes)
    else:  # only the buckets that are there
        place = rows.total + np.repeat(rows.offset - low, rows.sizes)
        present = np.zeros(width, bool)
        present[place] = True
        index = np.flatnonzero(present)
        width = index.size
        cells = (np.cumsum(present) - 1)[place] + np.repeat(group_of * width, rows.sizes)
    if groups * width > _MOST_CELLS:
        used, which = np.unique(cells, return_inverse=True)
        counts = np.bincount(which, rows.times)
    else:
        sums = np.bincount(cells, rows.times, groups * width)
        used = np.flatnonzero(sums > 0)
        counts = sums[used]
    ends = np.searchsorted(used, np.arange(groups + 1) * width)
    pairs = np.column_stack((index[used % width] + low, counts.astype(np.int64)))
    return lambda group: pairs[ends[group] : ends[group + 1]]


def blocks_of(snapshots: Iterable[Snapshot]) -> Iterator[Block]:
    """Blocks of snapshots that hold the wanted series alone."""
    pending: list[Snapshot] = []
    buckets = 0
    for snapshot in snapshots:
        pending.append(snapshot)
        buckets += sum(len(one.buckets) for one in snapshot.series)
        if len(pending) >= SECONDS or buckets >= MOST_BUCKETS:
            yield Block.of_snapshots(pending)
            pending, buckets = [], 0
    if pending:
        yield Block.of_snapshots(pending)


def blocks_of_run(
    minutes: Path,
    lines: Path,
    metrics: Iterable[str],
    from_s: float | None = None,
    above: Mapping[str, float] = NOTHING_ABOVE,
    heads: KnownHeads | None = None,
) -> Iterator[Block]:
    """The whole run in blocks, in order: from minutes.jsonl.zst where it has them, else from series.jsonl.zst. Blocks
    that end before second `from_s` may come without rows, and any without a metric of `above` whose values in it are
    all less than that. `heads`: of other readings of the run."""
    wanted, here = frozenset(metrics), 0
    try:
        series = lines.open("rb")
    except OSError:
        return
    with series:
        is_edge = is_frame_edge if is_packed(series) else _is_line_edge
        for _, raw in placed_lines(minutes):
            block = Block.from_line(raw, wanted, from_s, above, heads)
            if block is None and above:
                block = _completed(
                    Block.from_line(raw, wanted - above.keys(), from_s, heads=heads), lines, wanted, above
                )
            if block is None or not here <= block.from_byte < block.to_byte:
                continue
            if not all(is_edge(series, at) for at in (block.from_byte, block.to_byte)):
                continue  # it may have lost its end with the machine's power
            if block.from_byte > here:
                yield from blocks_of(_cut(lines, wanted, here, block.from_byte))
            yield block
            here = block.to_byte
    yield from blocks_of(_cut(lines, wanted, here))


def _completed(block: Block | None, lines: Path, wanted: frozenset[str], above: Mapping[str, float]) -> Block | None:
    """A block that was read without the metrics of `above`, with those that are wanted from the lines that it stands
    for: of their series the few that reach what is asked. None where these are other seconds."""
    if block is None:
        return None
    read = _cut(lines, wanted & above.keys(), block.from_byte, block.to_byte, above)
    few = Block.of_snapshots(list(read))
    if [one.second for one in few.load] != [one.second for one in block.load]:
        return None
    rows = [replace(one, tags=one.tags + len(block.tags)) for one in few.rows]
    return replace(block, rows=[*block.rows, *rows], tags=[*block.tags, *few.tags])


def _cut(
    lines: Path,
    metrics: frozenset[str],
    start: int,
    end: int | None = None,
    above: Mapping[str, float] = NOTHING_ABOVE,
) -> Iterator[Snapshot]:
    """The snapshots of the lines that begin in bytes [start, end), with these metrics."""
    cutter = LineCutter(metrics, above=above)
    for _, raw in placed_lines(lines, start, end):
        if (found := cutter.snapshot(raw)) is not None:
            yield found


def _is_line_edge(file: BinaryIO, at: int) -> bool:
    """Whether a line of an uncompressed file begins at that byte, or would."""
    if at == 0:
        return True
    file.seek(at - 1)
    return file.read(1) == b"\n"
