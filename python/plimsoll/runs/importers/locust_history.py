"""Locust's --csv …_stats_history.csv: a line a second with users, counts so far, and percentiles of the last 10 s.

docs.locust.io, "Retrieve test statistics in CSV format". Counts per second are the differences of the counts so far.
Percentiles of windows cannot be merged (law 6), but they bound those of the whole: where nine in ten of each window
took at most x, so did nine in ten of all. With --csv-full-history there are lines for each endpoint.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import groupby

from plimsoll.runs.importers.lines import SourceFile
from plimsoll.runs.importers.source import HIDES_QUEUEING, NO_GENERATOR, BadRecord, Format
from plimsoll.runs.importers.spill import Spill

WINDOW_S = 10
PERCENTILES = {"50%": "p50", "66%": "p66", "75%": "p75", "80%": "p80", "90%": "p90", "95%": "p95", "98%": "p98",
               "99%": "p99", "99.9%": "p99.9", "99.99%": "p99.99", "100%": "max"}  # fmt: skip
NEEDED = ("Timestamp", "User Count", "Name", "Requests/s", "Total Request Count", "Total Failure Count")
ROUNDED = "Locust rounds times: above 100 ms to 10 ms, above 1 s to 100 ms, above 10 s to 1 s."


@dataclass(frozen=True)
class Window:
    """Percentiles in ms of the WINDOW_S seconds before `end_s` (s since 1970), of a request or of all (None)."""

    end_s: int
    name: str | None
    times_ms: dict[str, float]


@dataclass
class _Line:
    second: int
    users: float
    name: str | None
    kind: str
    total: int
    failed: int
    number: int


def looks_like(head: str) -> bool:
    """Whether its first line names the columns of the history."""
    first = head.partition("\n")[0]
    return first.startswith("Timestamp,") and "User Count" in first and "Total Request Count" in first


def read(file: SourceFile, into: Spill) -> list[Window]:
    """Counts and users into `into`; the percentiles as windows."""
    rows = file.rows()
    header = next(rows)
    missing = [name for name in NEEDED if name not in header]
    if missing:
        raise file.error(BadRecord(f"the columns {', '.join(missing)} are missing", None, "Export it with --csv."))
    place = {name: index for index, name in enumerate(header)}
    lines: list[_Line] = []
    windows: list[Window] = []
    file.records(rows, _taker(file, place, len(header), lines, windows))
    _count(file, lines, into)
    file.notes.append(ROUNDED)
    return windows


def _taker(
    file: SourceFile, place: dict[str, int], width: int, lines: list[_Line], windows: list[Window]
) -> Callable[[list[str]], None]:
    def whole(cells: list[str], name: str) -> int:
        try:
            value = float(cells[place[name]])
        except ValueError:
            raise BadRecord(f"{cells[place[name]]!r} is no number", name) from None
        if not 0 <= value < 1e15:
            raise BadRecord(f"{value:g} cannot be", name)
        return int(value)

    def take(cells: list[str]) -> None:
        if not cells:
            return
        if len(cells) != width:
            raise BadRecord(f"{len(cells)} columns instead of {width}")
        name = None if cells[place["Name"]] == "Aggregated" else cells[place["Name"]]
        second = whole(cells, "Timestamp")
        total, failed = whole(cells, "Total Request Count"), whole(cells, "Total Failure Count")
        kind = cells[place["Type"]] if "Type" in place else ""
        lines.append(_Line(second, whole(cells, "User Count"), name, kind, total, failed, file.line))
        if whole(cells, "Requests/s") == 0 and float(cells[place["Requests/s"]]) == 0:
            return
        times = {PERCENTILES[key]: cells[place[key]] for key in PERCENTILES if key in place}
        known = {key: float(cell) for key, cell in times.items() if cell.replace(".", "", 1).isdigit()}
        if known:
            windows.append(Window(second, name, known))

    return take


def _count(file: SourceFile, lines: list[_Line], into: Spill) -> None:
    """Requests of each second: what the counts so far rose by, of endpoints where there are, else of all."""
    has_names = any(line.name is not None for line in lines)
    before: dict[tuple[str, str | None], tuple[int, int]] = {}
    for second, group in groupby(lines, key=lambda line: line.second):
        for line in group:
            into.level(second, line.users)
            if has_names and line.name is None:
                continue
            total, failed = before.get((line.kind, line.name), (0, 0))
            before[line.kind, line.name] = line.total, line.failed
            if line.total < total or line.failed < failed:
                continue  # the statistics were reset
            count, failures = line.total - total, line.failed - failed
            name = "all" if line.name is None else f"{line.kind} {line.name}".strip()
            if count:
                try:
                    into.requests(second, max(count, failures), failures, (("scenario", "default"), ("name", name)))
                except BadRecord as problem:
                    raise file.error(problem, line.number) from problem


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
        "It has percentiles of the last 10 s only, which cannot be merged: at a level they are bounds, and a level "
        "held for less than 11 s has none.",
        NO_GENERATOR,
    ),
)
