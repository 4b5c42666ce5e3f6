"""Samples of any number and order → the seconds of a run directory, in flat memory.

Samples are packed into 36 bytes and spilled to temporary files of 16 seconds each; then one file after the other
becomes its seconds: a histogram, a count of failures and bytes for each set of tags, as our engine writes them.
Memory depends on the rate and the tags, not on the length; the order of the samples does not matter (several
generators' files put together are in none).

A sample counts in the second in which it ended, as everywhere in Plimsoll.
"""

from __future__ import annotations

import math
import shutil
import struct
import tempfile
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from plimsoll.errors import InputError
from plimsoll.runs.histogram import Histogram
from plimsoll.runs.importers.source import BadRecord
from plimsoll.runs.snapshot import Series, Snapshot
from plimsoll.words import count_words

PART_S = 16
MOST_BUFFERED = 16 << 20
MOST_AT_ONCE = 1 << 21
MOST_TAG_SETS = 1000
LONGEST_S = 7 * 86_400
LONGEST_MS = 86_400_000.0
MOST_LEVEL = 1e9
OTHER = "other"
LEAST_PAUSE_S, PAUSE_TIMES, FEWEST_GAPS = 60, 10.0, 10  # what users let pass between requests is no pause

_RECORD = struct.Struct("<ddddI")
_DTYPE = np.dtype([("t", "<f8"), ("ms", "<f8"), ("bytes", "<f8"), ("count", "<f8"), ("key", "<u4")])
_NOTHING = math.nan

Key = tuple[str, tuple[tuple[str, str], ...], bool]  # request, iteration or a metric; tags; whether it failed
Reals = NDArray[np.float64]


class Spill:
    """Takes samples, then gives seconds. Use as a context manager; `folder` is where its files lie (system's default).

    `has_iterations` is true once an iteration came: then those, else requests, count as planned, started and done;
    `paused_s`: of the seconds given, those of pauses between tests, which have no level.
    """

    def __init__(self, folder: Path | None = None) -> None:
        try:
            self.folder = Path(tempfile.mkdtemp(prefix="plimsoll-import-", dir=folder))
        except OSError as error:
            raise _no_room(folder or "the system's folder for temporary files", error) from error
        self.clear()

    def clear(self) -> None:
        """Forget everything."""
        for path in self.folder.iterdir():
            path.unlink()
        self.samples = self.failed = self.iterations = self.dropped = 0
        self.has_iterations = False
        self.first_s, self.last_s = math.inf, -math.inf
        self.merged_tag_sets = self.paused_s = 0
        self._keys: dict[Key, int] = {}
        self._buffers: dict[int, bytearray] = defaultdict(bytearray)
        self._buffered = 0
        self._started: Counter[int] = Counter()
        self._started_iterations: Counter[int] = Counter()
        self._dropped: Counter[int] = Counter()
        self._levels: dict[str, dict[int, tuple[float, float]]] = {}

    def __enter__(self) -> Spill:
        return self

    def __exit__(self, *_: object) -> None:
        shutil.rmtree(self.folder, ignore_errors=True)

    def request(
        self,
        start_s: float,
        ms: float,
        tags: tuple[tuple[str, str], ...],
        failed: bool,
        received_bytes: float = 0.0,
    ) -> None:
        """One request: start in s since 1970, time in ms. Raises BadRecord for impossible numbers."""
        if not 0 <= ms <= LONGEST_MS:
            raise BadRecord(f"a request that took {ms:g} ms is impossible", "time")
        if not 0 <= received_bytes < math.inf:
            raise BadRecord(f"{received_bytes} bytes are impossible", "bytes")
        self._note_span(start_s, start_s + ms / 1000)
        self.samples += 1
        self.failed += failed
        self._started[math.floor(start_s)] += 1
        self._put(start_s + ms / 1000, ms, received_bytes, 1.0, ("request", tags, failed))

    def requests(self, second: int, count: int, failed: int, tags: tuple[tuple[str, str], ...]) -> None:
        """That many requests ended in this second, of which some failed; their times are not known."""
        self._note_span(second, second)
        self.samples += count
        self.failed += failed
        self._started[second] += count
        for number, is_failed in ((count - failed, False), (failed, True)):
            if number:
                self._put(float(second), _NOTHING, 0.0, float(number), ("request", tags, is_failed))

    def iteration(self, end_s: float, ms: float, tags: tuple[tuple[str, str], ...]) -> None:
        """One iteration (transaction, group of requests) that ended then and took `ms`."""
        if not 0 <= ms <= LONGEST_MS:
            raise BadRecord(f"an iteration that took {ms:g} ms is impossible", "time")
        self._note_span(end_s - ms / 1000, end_s)
        self.has_iterations = True
        self.iterations += 1
        self._started_iterations[math.floor(end_s - ms / 1000)] += 1
        self._put(end_s, ms, 0.0, 1.0, ("iteration", tags, False))

    def place(self, key: Key) -> int:
        """What records have for a key. It stays, also of a key that is merged into another."""
        known = self._keys.get(key)
        return self._new_key(key) if known is None else known

    def many(
        self,
        kind: str,
        failed: int,
        places: NDArray[np.uint32],
        start_s: Reals,
        ms: Reals,
        received_bytes: Reals,
    ) -> None:
        """Many requests of which so many `failed`, or many iterations (`kind`), in the order in which `request` or
        `iteration` would be told them, each with the place of its key; arrays of shape (n,), n > 0. Raises BadRecord
        for impossible numbers."""
        if (
            not ((ms >= 0) & (ms <= LONGEST_MS)).all()
            or not ((received_bytes >= 0) & np.isfinite(received_bytes)).all()
        ):
            raise BadRecord("one of many requests is impossible")
        end_s = start_s + ms / 1000
        began_s = start_s if kind == "request" else end_s - ms / 1000
        self._note_span(float(began_s.min()), float(end_s.max()))
        starts = self._started if kind == "request" else self._started_iterations
        for second, count in zip(*np.unique(np.floor(began_s), return_counts=True), strict=True):
            starts[int(second)] += int(count)
        self.failed += failed
        if kind == "request":
            self.samples += len(places)
        else:
            self.has_iterations = True
            self.iterations += len(places)
        records = np.empty(len(places), _DTYPE)
        records["t"], records["ms"], records["count"], records["key"] = end_s, ms, 1.0, places
        records["bytes"] = received_bytes if kind == "request" else 0.0
        self._put_many(records)

    def _put_many(self, records: NDArray[np.void]) -> None:
        parts = records["t"].astype(np.int64) // PART_S
        order = np.argsort(parts, kind="stable")
        records, parts = records[order], parts[order]
        edges = [0, *(np.flatnonzero(np.diff(parts)) + 1).tolist(), len(parts)]
        for begin, end in pairwise(edges):
            self._buffers[int(parts[begin])] += records[begin:end].tobytes()
        self._buffered += records.nbytes
        if self._buffered >= MOST_BUFFERED:
            self._flush()

    def trend(self, end_s: float, ms: float, metric: str, tags: tuple[tuple[str, str], ...]) -> None:
        """One value of another metric, in the unit of that metric."""
        self._note_span(end_s, end_s)
        if math.isfinite(ms):
            self._put(end_s, ms, 0.0, 1.0, (metric, tags, False))

    @property
    def has_levels(self) -> bool:
        """Whether any load was told."""
        return bool(self._levels)

    def drop(self, at_s: float, count: int = 1) -> None:
        """An arrival that was due and never sent."""
        self.dropped += count
        self._dropped[math.floor(at_s)] += count

    def level(self, at_s: float, level: float, source: str = "") -> None:
        """The load in force at that moment; the last of a second counts, and holds until another is told. Loads of
        several sources add up, each until it tells its last. Raises BadRecord for impossible numbers."""
        if not 0 <= level <= MOST_LEVEL:
            raise BadRecord(f"a load of {level:g} is impossible", "users")
        second = math.floor(at_s)
        levels = self._levels.setdefault(source, {})
        if at_s >= levels.get(second, (-math.inf, 0.0))[0]:
            levels[second] = at_s, level

    @property
    def level_sources(self) -> int:
        """How many sources told a load."""
        return len(self._levels)

    def _note_span(self, start_s: float, end_s: float) -> None:
        first_s, last_s = min(self.first_s, start_s), max(self.last_s, end_s)
        if last_s - first_s > LONGEST_S:
            days = (last_s - first_s) / 86_400
            raise BadRecord(f"with this record the result spans {count_words(days)} days: a time is wrong", "time")
        self.first_s, self.last_s = first_s, last_s

    def _put(self, end_s: float, ms: float, size: float, count: float, key: Key) -> None:
        place = self.place(key)
        part = int(end_s) // PART_S
        self._buffers[part] += _RECORD.pack(end_s, ms, size, count, place)
        self._buffered += _RECORD.size
        if self._buffered >= MOST_BUFFERED:
            self._flush()

    def _new_key(self, key: Key) -> int:
        if len(self._keys) >= MOST_TAG_SETS:
            self.merged_tag_sets += 1
            kind, tags, failed = key
            kept = tuple((name, value) for name, value in tags if name in ("scenario", "status"))
            key = (kind, (*kept, ("name", OTHER)), failed)
            if key not in self._keys and len(self._keys) >= 2 * MOST_TAG_SETS:
                key = (kind, (("name", OTHER),), failed)
        return self._keys.setdefault(key, len(self._keys))

    def _flush(self) -> None:
        for part, data in self._buffers.items():
            try:
                with (self.folder / f"{part:012d}").open("ab") as file:
                    file.write(data)
            except OSError as error:
                raise _no_room(self.folder.parent, error) from error
        self._buffers.clear()
        self._buffered = 0

    def snapshots(self) -> Iterator[Snapshot]:
        """Every second from the first to the last sample, in order; those without any as well."""
        self._flush()
        if not math.isfinite(self.first_s):
            return
        t0 = math.floor(self.first_s)
        keys = list(self._keys)
        state = _State(t0, self)
        following = t0
        for path in sorted(self.folder.iterdir()):
            for second, series, done in _seconds(_pieces(path), keys, self.has_iterations):
                while following < second:
                    yield state.snapshot(following, (), 0)
                    following += 1
                yield state.snapshot(second, series, done)
                following = second + 1
            path.unlink()


def _pieces(path: Path) -> Iterator[NDArray[np.void]]:
    """The records of a part, so many at a time that memory stays bounded."""
    with path.open("rb") as file:
        while (records := np.fromfile(file, _DTYPE, MOST_AT_ONCE)).size:
            yield records


def _no_room(folder: Path | str, error: OSError) -> InputError:
    what = f"the samples cannot be kept in {folder} while they are read: {error.strerror or error}"
    return InputError(what, "Make room there, or name another folder in TMPDIR: 36 bytes a sample are needed.")


class _State:
    """What goes on from second to second: the levels last seen, and what is under way."""

    def __init__(self, t0: int, spill: Spill) -> None:
        self.t0, self.in_flight = t0, 0
        self._spill = spill
        self._level_of = dict.fromkeys(spill._levels, 0.0)
        several = len(spill._levels) > 1
        self._last_of = {name: max(told) if several else math.inf for name, told in spill._levels.items()}
        self._pauses = {name: pauses_of(told) for name, told in spill._levels.items()}
        self._started = spill._started_iterations if spill.has_iterations else spill._started

    def snapshot(self, second: int, series: tuple[Series, ...], done: int) -> Snapshot:
        for name, told in self._spill._levels.items():
            over = second > self._last_of[name] or self._is_pause(name, second)
            self._level_of[name] = 0.0 if over else told.get(second, (0.0, self._level_of[name]))[1]
        level = sum(self._level_of.values())
        started, dropped = self._started.get(second, 0), self._spill._dropped.get(second, 0)
        self.in_flight = max(0, self.in_flight + started - done)
        return Snapshot(
            second - self.t0,
            t_unix=float(second),
            level=level,
            vus=int(level),
            planned=started + dropped,
            started=started,
            done=done,
            dropped=dropped,
            in_flight=self.in_flight,
            series=series,
        )

    def _is_pause(self, name: str, second: int) -> bool:
        """Whether nothing is under way there between two tests of one file."""
        pauses = self._pauses[name]
        while pauses and second >= pauses[0][1]:
            pauses.pop(0)
        if not pauses or second <= pauses[0][0] or self.in_flight or self._started.get(second):
            return False
        self._spill.paused_s += 1
        return True


def pauses_of(seconds: Iterable[int]) -> list[tuple[int, int]]:
    """(last second before, first after) of each pause between the `seconds` in which a level was told: much longer than
    users let pass between their requests."""
    told = np.array(sorted(seconds), dtype=np.int64)
    gaps = np.diff(told)
    if gaps.size < FEWEST_GAPS:
        return []
    least = max(LEAST_PAUSE_S, PAUSE_TIMES * float(np.quantile(gaps, 0.95)))
    return [(int(told[place]), int(told[place + 1])) for place in np.flatnonzero(gaps >= least)]


@dataclass
class _Total:
    """The records of one second and key."""

    count: int
    size: float
    times: Histogram

    @classmethod
    def of(cls, records: NDArray[np.void]) -> _Total:
        ms = records["ms"]
        times = Histogram.from_values(ms[np.isfinite(ms)])
        return cls(int(records["count"].sum()), float(records["bytes"].sum()), times)

    def add(self, other: _Total) -> None:
        self.count += other.count
        self.size += other.size
        self.times.add(other.times)


def _seconds(
    pieces: Iterator[NDArray[np.void]], keys: list[Key], has_iterations: bool
) -> Iterator[tuple[int, tuple[Series, ...], int]]:
    """Each second of a part: (second since 1970, series, iterations or requests done)."""
    totals: dict[int, dict[int, _Total]] = {}
    for records in pieces:
        _add_totals(records, totals)
    for second in sorted(totals):
        found: list[Series] = []
        done, size = 0, 0.0
        for place in sorted(totals[second]):
            kind, tags, failed = keys[place]
            total = totals[second][place]
            size += total.size
            done += total.count if kind == ("iteration" if has_iterations else "request") else 0
            found += _series(kind, dict(tags), failed, total)
        yield second, _with_bytes(found, size), done


def _add_totals(records: NDArray[np.void], totals: dict[int, dict[int, _Total]]) -> None:
    second = np.floor(records["t"]).astype(np.int64)
    order = np.lexsort((records["key"], second))
    records, second = records[order], second[order]
    edges = np.flatnonzero(np.diff(second) | np.diff(records["key"].astype(np.int64))) + 1
    for begin, end in pairwise([0, *edges.tolist(), records.size]):
        of_second = totals.setdefault(int(second[begin]), {})
        place, total = int(records["key"][begin]), _Total.of(records[begin:end])
        if place in of_second:
            of_second[place].add(total)
        else:
            of_second[place] = total


def _with_bytes(series: list[Series], size: float) -> tuple[Series, ...]:
    return (*series, Series("data_received", "counter", {}, value=size)) if size else tuple(series)


def _series(kind: str, tags: Mapping[str, str], failed: bool, total: _Total) -> Iterator[Series]:
    count, times = total.count, total.times
    if kind == "iteration":
        yield Series("iterations", "counter", tags, value=float(count))
        yield Series.of_trend("iteration_duration", tags, times)
        return
    if kind != "request":
        yield Series.of_trend(kind, tags, times)
        return
    if times.count:
        yield Series.of_trend("http_req_duration", tags, times)
    yield Series("http_req_failed", "rate", tags, passes=count if failed else 0, total=count)
    yield Series("http_reqs", "counter", tags, value=float(count))
