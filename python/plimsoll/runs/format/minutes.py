"""minutes.jsonl.zst: the seconds of series.jsonl.zst once more, a minute a line and in columns, for fast reading.

What answers and reports read of an hour is a small part of it, in columns (docs/decisions/0011, the format in
docs/run-directory.md). A line here says which bytes of series.jsonl.zst it stands for, a portion of that file. Where
there is none (the last minute of a killed run, an older run, a second that does not fit), readers take the lines, so
this file may end or be missing anywhere.

Nothing here imports numpy, which a run does without; the reading half is minute_blocks.py.
"""

from __future__ import annotations

import math
import sys
import zlib
from array import array
from binascii import b2a_base64
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from operator import sub
from pathlib import Path
from typing import Any

from plimsoll.runs.directory import MINUTES, LineFile
from plimsoll.runs.format.packed_file import line_file
from plimsoll.runs.metric_names import CONNECTING, HANDSHAKING, RESPONSE_METRICS
from plimsoll.runs.snapshot import FIELDS

VERSION = 1
# The trends that answers and reports are made of, beside the script's own; every other kind of series is small and is
# kept whole.
KEPT_TRENDS = frozenset((*RESPONSE_METRICS, CONNECTING, HANDSHAKING))
SECONDS = 60
MOST_BUCKETS = 500_000  # a block with as many is full before its minute is, so that memory stays bounded
_FAST = 1  # zlib's level: a minute of 20 operations takes 25 ms
_REAL, _SIGNED = "f8", "i8"
# Sums and bounds of trends have six digits, a hundredth of a bucket's width, which a float of 4 bytes gives back.
DIGITS, SHORT = 6, "d6"


@dataclass
class _Rows:
    """The series of one metric: a row for each second and set of tags, in the order of series.jsonl.zst."""

    metric: str
    kind: str
    second: list[int] = field(default_factory=list)
    place: list[int] = field(default_factory=list)
    tags: list[int] = field(default_factory=list)
    epoch: list[int] = field(default_factory=list)  # 0: the second's own
    values: dict[str, list[Any]] = field(default_factory=dict)
    first: list[int] = field(default_factory=list)
    steps: array[int] = field(default_factory=lambda: array("I"))
    times: array[int] = field(default_factory=lambda: array("Q"))
    sizes: list[int] = field(default_factory=list)

    def add(self, second: int, place: int, tags: int, item: Mapping[str, Any]) -> None:
        """Add one series of a snapshot; ValueError, TypeError, KeyError for one that does not fit."""
        self.second.append(second)
        self.place.append(place)
        self.tags.append(tags)
        self.epoch.append(int(item.get("epoch") or 0))
        for name in FIELDS[self.kind]:
            self.values.setdefault(name, []).append(item.get(name))
        if self.kind == "trend":
            pairs = item.get("buckets") or ()
            if not item["count"] and (pairs or item.get("sum")):
                raise ValueError("values without a count")
            self.sizes.append(len(pairs))
            if pairs:
                index, times = zip(*pairs, strict=True)
                self.first.append(int(index[0]))
                self.steps.append(0)
                self.steps.extend(map(sub, index[1:], index))
                self.times.extend(times)

    def to_json(self) -> dict[str, Any]:
        """The columns; ValueError, OverflowError or TypeError where one does not fit."""
        at = {"metric": self.metric, "kind": self.kind}
        rows = {"second": column(self.second), "place": column(self.place), "tags": column(self.tags)}
        if any(self.epoch):
            rows["epoch"] = column(self.epoch)
        if self.kind != "trend":
            return {**at, **rows, **self.values}
        return {
            **at,
            **rows,
            "count": column(self.values["count"]),
            "sum": _reals(0.0 if value is None else value for value in self.values["sum"]),
            "min": _reals(self.values["min"]),
            "max": _reals(self.values["max"]),
            "sizes": column(self.sizes),
            "first": _packed(_SIGNED, _little(array("q", self.first)).tobytes()),
            "steps": column(self.steps),
            "times": column(self.times),
        }


def column(values: list[int] | array[int]) -> str:
    """Whole numbers from 0 as "u2:…": the smallest unsigned type that holds them, then base64 of zlib of them, little
    end first. OverflowError for a negative one, TypeError for one that is not whole."""
    wide = _little(array("Q", values) if isinstance(values, list) else values[:])
    size, raw = wide.itemsize, wide.tobytes()
    planes = [raw[at::size] for at in range(size)]
    used = max((at + 1 for at, plane in enumerate(planes) if plane.count(0) < len(plane)), default=1)
    width = next(width for width in (1, 2, 4, 8) if width >= used)
    narrow = bytearray(len(wide) * width)
    for at in range(width):  # many times as fast as number by number
        narrow[at::width] = planes[at]
    return _packed(f"u{width}", narrow)


def _little(values: array[Any]) -> array[Any]:
    """With the little end first, changed in place."""
    if sys.byteorder == "big":
        values.byteswap()
    return values


def _reals(values: Iterable[float | None]) -> str:
    """Like `column` for numbers, in 4 bytes if none has more than six digits, else in 8; None becomes NaN. ValueError
    for one that is not finite."""
    found = array("d", [math.nan if value is None else value for value in values])
    if any(math.isinf(value) for value in found):
        raise ValueError("not finite")
    if all(value != value or _is_short(value) for value in found):
        return _packed(SHORT, _little(array("f", found)).tobytes())
    return _packed(_REAL, _little(found).tobytes())


def _is_short(value: float) -> bool:
    """Whether that is a number of six digits, neither too large nor too small for 4 bytes."""
    return value == 0 or (1e-30 < abs(value) < 1e30 and float(f"{value:.{DIGITS}g}") == value)


def _packed(name: str, raw: bytes | bytearray) -> str:
    return f"{name}:{b2a_base64(zlib.compress(raw, _FAST), newline=False).decode()}"


class MinuteWriter:
    """Gathers the seconds that are written to `lines`, series.jsonl.zst, and writes a line for each full minute of
    them. A second is told twice: by `before` its line is written, and by `add` after that."""

    def __init__(self, run_dir: Path, lines: LineFile) -> None:
        self._run_dir = run_dir
        self._lines = lines
        self._file: LineFile | None = None
        self._kept = KEPT_TRENDS
        self._clear()

    def _clear(self) -> None:
        self._buckets = 0
        self._load: list[dict[str, Any]] = []
        self._rows: dict[tuple[str, str], _Rows] = {}
        self._tags: dict[tuple[tuple[str, str], ...], int] = {}
        self._left_out: dict[str, float] = {}  # and their greatest values

    def before(self, second: Any) -> None:
        """What was gathered is given up, and remains in the lines alone, where this second does not follow it."""
        if self._load and not _above(second, self._load[-1]["second"]):
            self._give_up()

    def add(self, data: Mapping[str, Any]) -> None:
        """Add the second that was written last. Raises RunDirectoryError if the disk is full. One that does not fit
        gives up what was gathered with it."""
        try:
            self._add(data)
        except (ValueError, TypeError, KeyError, OverflowError, AttributeError):
            self._give_up()
            return
        if len(self._load) >= SECONDS or self._buckets >= MOST_BUCKETS:
            self.flush()

    def _give_up(self) -> None:
        self._clear()
        self._lines.end_portion()

    def _add(self, data: Mapping[str, Any]) -> None:
        load = {name: value for name, value in data.items() if name != "series"}
        load["generator"] = dict(load.get("generator") or {})
        if type(load["second"]) is not int:
            raise TypeError("a second is a whole number")
        self._kept |= {one["name"] for one in load.get("script_metrics") or ()}
        at = len(self._load)
        for place, item in enumerate(data.get("series") or ()):
            metric, kind = item["metric"], item["kind"]
            if kind == "trend" and metric not in self._kept:
                greatest = item.get("max") if item["count"] else -math.inf
                most = math.inf if greatest is None else float(greatest)
                self._left_out[metric] = max(most, self._left_out.get(metric, -math.inf))
                continue
            tags = self._tags.setdefault(tuple(item["tags"].items()), len(self._tags))
            rows = self._rows.get((metric, kind))
            if rows is None:
                rows = self._rows[metric, kind] = _Rows(metric, kind)
            rows.add(at, place, tags, item)
            self._buckets += rows.sizes[-1] if kind == "trend" else 0
        self._load.append(load)

    def flush(self) -> None:
        """Write what was gathered, a portion of the lines. Raises RunDirectoryError if the disk does not take it."""
        if not self._load:
            return
        try:
            columns = [one.to_json() for one in self._rows.values()]
        except (ValueError, TypeError, OverflowError):
            self._give_up()
            return
        line = {
            "version": VERSION,
            "from_byte": self._lines.portion,
            "to_byte": self._lines.end_portion(),
            "left_out": sorted(self._left_out),
            "most": {name: most for name, most in self._left_out.items() if math.isfinite(most)},
            "tags": [dict(pairs) for pairs in self._tags],
            "load": self._load,
            "metrics": columns,
        }
        self._clear()
        if self._file is None:
            self._file = line_file(self._run_dir, MINUTES)
            self._file.take_back_torn_line()
        self._file.append(line)

    def close(self) -> None:
        """Write the last part of a minute, if there were whole ones: the lines of a short run are quickly read."""
        try:
            if self._file is not None:
                self.flush()
        finally:
            if self._file is not None:
                self._file.close()


def _above(second: Any, before: int) -> bool:
    return isinstance(second, int) and second > before
