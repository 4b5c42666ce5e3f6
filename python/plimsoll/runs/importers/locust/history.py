"""Locust's --csv …_stats_history.csv: a line a second with users, counts so far, and percentiles of the last 10 s.

docs.locust.io, "Retrieve test statistics in CSV format". Counts per second are the differences of the counts so far.
Percentiles of windows cannot be merged (law 6), but they bound those of the whole: where nine in ten of each window
took at most x, so did nine in ten of all. With --csv-full-history there are lines for each endpoint.
"""

from __future__ import annotations

import math
from array import array
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from plimsoll.runs.importers.contradictions import Told, impossible_counts
from plimsoll.runs.importers.lines import SourceFile
from plimsoll.runs.importers.order_of_times import Stated, check_order
from plimsoll.runs.importers.plain_numbers import real
from plimsoll.runs.importers.source import HIDES_QUEUEING, NO_GENERATOR, BadRecord, Format
from plimsoll.runs.importers.spill import Spill
from plimsoll.runs.importers.units import whole

WINDOW_S = 10
PERCENTILES = {"50%": "p50", "66%": "p66", "75%": "p75", "80%": "p80", "90%": "p90", "95%": "p95", "98%": "p98",
               "99%": "p99", "99.9%": "p99.9", "99.99%": "p99.99", "100%": "max"}  # fmt: skip
_COLUMNS = {name: column for column, name in PERCENTILES.items()}
NEEDED = ("Timestamp", "Name", "Requests/s", "Total Request Count", "Total Failure Count")
# Of before 2021 (0.14 to 1.2), whose history had the columns of its statistics and no users.
_EARLIER = {"# requests": "Total Request Count", "request count": "Total Request Count",
            "# failures": "Total Failure Count", "failure count": "Total Failure Count", "user count": "User Count",
            "average response time": "Total Average Response Time"}  # fmt: skip
_OF_ALL = ("Aggregated", "Total")
NO_USERS = "This history is of a Locust before 1.3: it does not say how many users there were, so it is of no level."
ANEW = (
    "Locust's counts began anew {:g} s after the first line (--reset-stats, or a test that was started again): what "
    "came between that and the line before is not in the file."
)
_NO_TIME = ("", "N/A")
_WIDTH = 2 + len(PERCENTILES)
ROUNDED = "Locust rounds times: above 100 ms to 10 ms, above 1 s to 100 ms, above 10 s to 1 s."


@dataclass(frozen=True)
class Window:
    """Percentiles in ms of the WINDOW_S seconds before `end_s` (s since 1970), of a request or of all (None)."""

    end_s: int
    name: str | None
    times_ms: dict[str, float]


class Windows(Sequence[Window]):
    """Windows in order, of which only the numbers are kept: about 100 bytes each."""

    def __init__(self) -> None:
        self._numbers = array("d")
        self._names: dict[str | None, int] = {}

    def add(self, window: Window) -> None:
        """One more; statistics that it lacks stay unknown."""
        place = self._names.setdefault(window.name, len(self._names))
        times = (window.times_ms.get(key, math.nan) for key in PERCENTILES.values())
        self._numbers.extend((window.end_s, place, *times))

    def __len__(self) -> int:
        return len(self._numbers) // _WIDTH

    def __iter__(self) -> Iterator[Window]:
        names = list(self._names)
        for start in range(0, len(self._numbers), _WIDTH):
            end_s, place, *times = self._numbers[start : start + _WIDTH]
            known = {key: value for key, value in zip(PERCENTILES.values(), times, strict=True) if value == value}
            yield Window(int(end_s), names[int(place)], known)

    def __getitem__(self, index: Any) -> Any:
        return list(self)[index]


def looks_like(head: str) -> bool:
    """Whether its first line names the columns of the history."""
    columns = _columns([cell.strip().strip('"') for cell in head.partition("\n")[0].strip().split(",")])
    return all(name in columns for name in NEEDED) and "50%" in columns


def _columns(header: Sequence[str]) -> list[str]:
    """The names of the columns as Locust has them today."""
    return [_EARLIER.get(name.strip().lower(), name.strip()) for name in header]


def read(file: SourceFile, into: Spill) -> Windows:
    """Counts and users into `into`; the percentiles as windows."""
    rows = file.rows()
    header = _columns(next(rows))
    missing = [name for name in NEEDED if name not in header]
    if missing:
        raise file.error(BadRecord(f"the columns {', '.join(missing)} are missing", None, "Export it with --csv."))
    place = {name: index for index, name in enumerate(header)}
    counts, windows = _Counts(file, into), Windows()
    file.records(rows, _taker(place, len(header), counts, windows))
    counts.end()
    file.notes.append(ROUNDED)
    if "User Count" not in place:
        file.notes.append(NO_USERS)
    return windows


def _taker(place: dict[str, int], width: int, counts: _Counts, windows: Windows) -> Callable[[list[str]], None]:
    def number(cells: list[str], name: str) -> float:
        try:
            value = real(cells[place[name]])
        except ValueError:
            raise BadRecord(f"{cells[place[name]]!r} is no number", name) from None
        if not 0 <= value < 1e15:
            raise BadRecord(f"{value:g} cannot be", name)
        return value

    def count(cells: list[str], name: str) -> int:
        return whole(number(cells, name), cells[place[name]], name)

    def take(cells: list[str]) -> None:
        if not cells:
            return
        if len(cells) != width:
            raise BadRecord(f"{len(cells)} columns instead of {width}")
        name = None if cells[place["Name"]] in _OF_ALL else cells[place["Name"]]
        second = int(number(cells, "Timestamp"))
        total, failed = count(cells, "Total Request Count"), count(cells, "Total Failure Count")
        for problem in impossible_counts(Told("Total Request Count", total), Told("Total Failure Count", failed)):
            raise problem
        kind = cells[place["Type"]] if "Type" in place else ""
        if "User Count" in place:
            counts.into.level(second, count(cells, "User Count"))
        counts.add(second, None if name is None else f"{kind} {name}".strip(), total, failed)
        if number(cells, "Requests/s") == 0:
            return
        times = {PERCENTILES[key]: cells[place[key]] for key in PERCENTILES if key in place}
        known = {key: _percentile(cell, _COLUMNS[key]) for key, cell in times.items() if cell.strip() not in _NO_TIME}
        if known and max(known.values()) == 0 and total:
            return  # nothing ended in that window: Locust prints 0 for "no request"
        if sorted(known.values()) != list(known.values()):
            check_order({key: Stated(_COLUMNS[key], times[key], known[key], 1.0) for key in known})
        if known:
            windows.add(Window(second, name, known))

    return take


def _percentile(cell: str, column: str) -> float:
    try:
        value = real(cell)
    except ValueError:
        raise BadRecord(f"{cell[:40]!r} is no number", column) from None
    if not 0 <= value < 1e15:
        raise BadRecord(f"{value:g} cannot be", column)
    return value


class _Counts:
    """Requests of each second: what the counts so far rose by, of endpoints where there are, else of all.

    Whether there are endpoints shows only when the first comes, so until then the lines of all are kept.
    """

    def __init__(self, file: SourceFile, into: Spill) -> None:
        self.into = into
        self._file = file
        self._of_all: list[tuple[int, int, int, int]] | None = []
        self._before: dict[str, tuple[int, int, int]] = {}
        self._first_s: float = math.inf
        self._anew = False

    def add(self, second: int, name: str | None, total: int, failed: int) -> None:
        """A line: the counts so far, of an endpoint or of all (None)."""
        if name is not None:
            self._of_all = None
            self._rise(second, name, total, failed)
        elif self._of_all is not None:
            self._of_all.append((self._file.line, second, total, failed))

    def end(self) -> None:
        """After the last line."""
        for line, second, total, failed in self._of_all or ():
            try:
                self._rise(second, "all", total, failed)
            except BadRecord as problem:
                raise self._file.error(problem, line) from problem

    def _rise(self, second: int, name: str, total: int, failed: int) -> None:
        self._first_s = min(self._first_s, second)
        before, failed_before, last_s = self._before.get(name, (0, 0, -1))
        if second < last_s or (second == last_s and total < before):
            step = "Sort the lines by Timestamp, and give the lines of one test alone."
            raise BadRecord(
                "it is of a time before the line above, of which counts were told already", "Timestamp", step
            )
        self._before[name] = total, failed, second
        if total < before or failed < failed_before:  # the statistics were reset (--reset-stats)
            before = failed_before = 0
            if not self._anew:
                self._anew = True
                self._file.notes.append(ANEW.format(second - self._first_s))
        count, failures = total - before, failed - failed_before
        if count:
            self.into.requests(second, max(count, failures), failures, (("scenario", "default"), ("name", name)))


FORMAT = Format(
    name="locust-history",
    title="Locust, stats history",
    shape="seconds",
    loop="closed",
    looks_like=looks_like,
    read=read,
    supports="counts and errors per second, levels from User Count, bounds of percentiles at each level",
    cannot=(
        HIDES_QUEUEING,
        "It has percentiles of the last 10 s only, which cannot be merged. At a level they are bounds, and a level "
        "held for less than 11 s has none.",
        NO_GENERATOR,
    ),
)
