"""Points of a resource over time, and what becomes of them in a run directory."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from plimsoll.runs.importers.source import BadRecord

_PERCENT = re.compile(r"(_percent(age)?|_pct| ?\(%\)|%)$")
_SHARE = re.compile(r"(_ratio|_share|_utili[sz]ation|_fraction)$")
# A rate between two scrapes passes 100% a little, as their times are not exact; per cent of one core pass it by far.
MOST_SHARE = 1.05


@dataclass(frozen=True)
class Point:
    """A value of `name` of `source` at `at_s` seconds since 1970; `is_counter` is None where the name has to tell."""

    at_s: float
    source: str
    name: str
    value: float
    is_counter: bool | None = None


@dataclass
class Aligned:
    """Rows for resources.jsonl, how many points lay within the run, and how many outside."""

    rows: list[dict[str, Any]] = field(default_factory=list)
    inside: int = 0
    outside: int = 0
    first_s: float = math.inf
    last_s: float = -math.inf


def named(name: str, value: float) -> tuple[str, float]:
    """Name and value with the unit in the name, as rows of resources have them: "cpu (%)" 21 → "cpu_share" 0.21."""
    bare = _PERCENT.sub("", name)
    if bare != name:
        return f"{_plain(bare)}_share", value / 100
    if _SHARE.search(name):
        return f"{_plain(_SHARE.sub('', name))}_share", value
    return _plain(name), value


def check_share(name: str, value: float, column: str) -> None:
    """BadRecord for a utilisation of more than there is: per cent of one core, or per cent under a share's name."""
    if _PERCENT.search(name):
        if value > 100 * MOST_SHARE:
            step = "Give per cent of all cores, or the cores in use under a name without %."
            raise BadRecord(f"{value:g}% is above 100%", column, step)
    elif _SHARE.search(name) and value > MOST_SHARE:
        what = f"{value:g} is above 1, but the name says that it is a share"
        step = "Call it …_percent if it is per cent of all that there is; give cores in use another name, or leave it."
        raise BadRecord(what, column, step)


def _plain(name: str) -> str:
    return re.sub(r"[^A-Za-z0-9]+", "_", name).strip("_").lower()


def rates_of_counters(points: Iterable[Point]) -> Iterator[Point]:
    """Counters (declared so, else …_total) as rates per second over the time since their last point; one that fell was
    reset, and its first point, as any counter's, has no rate. Others stay as they are."""
    before: dict[tuple[str, str], Point] = {}
    for point in points:
        if not _is_counter(point):
            yield point
            continue
        last = before.get((point.source, point.name))
        before[point.source, point.name] = point
        if last is None or point.at_s <= last.at_s or point.value < last.value:
            continue
        rate = (point.value - last.value) / (point.at_s - last.at_s)
        yield Point(point.at_s, point.source, _rate_name(point.name.removesuffix("_total")), rate)


def _is_counter(point: Point) -> bool:
    return point.name.endswith("_total") if point.is_counter is None else point.is_counter


def _rate_name(name: str) -> str:
    """Seconds of CPU per second are cores in use; else "…_per_s"."""
    return "cpu_cores_used" if re.search(r"cpu_seconds?$", name) else f"{name}_per_s"


def aligned(points: Iterable[Point], t0_unix: float, seconds: int, offset_s: float) -> Aligned:
    """Points, in any order, as rows of the run that began at `t0_unix` and took `seconds`; `offset_s` is added to their
    times. What is kept grows with the points in the run, not with all of them: of those before it, only the last of
    each counter, from which its first rate in the run is made."""
    found = Aligned()
    before: dict[tuple[str, str], Point] = {}
    counters: list[Point] = []
    latest: dict[tuple[int, str, str], tuple[float, float]] = {}

    def put(point: Point) -> None:
        key = (math.floor(point.at_s + offset_s - t0_unix), point.source, point.name)
        found.inside += 1
        if key not in latest or point.at_s >= latest[key][0]:
            latest[key] = point.at_s, point.value

    for point in points:
        at_s = point.at_s + offset_s
        found.first_s, found.last_s = min(found.first_s, at_s), max(found.last_s, at_s)
        is_counter, second = _is_counter(point), math.floor(at_s - t0_unix)
        if not 0 <= second < seconds:
            found.outside += 1
            last = before.get((point.source, point.name))
            if is_counter and second < 0 and (last is None or point.at_s >= last.at_s):
                before[point.source, point.name] = point
        elif is_counter:
            counters.append(point)
        else:
            put(point)
    counters = sorted([*before.values(), *counters], key=lambda point: point.at_s)
    for rate in rates_of_counters(counters):
        put(rate)
    found.rows = _rows(latest, t0_unix)
    return found


def _rows(latest: Mapping[tuple[int, str, str], tuple[float, float]], t0_unix: float) -> list[dict[str, Any]]:
    """The last value of each second, source and name, as rows in the order of seconds and sources."""
    rows: dict[tuple[int, str], dict[str, float]] = {}
    for (second, source, name), (_, value) in latest.items():
        plain, plain_value = named(name, value)
        rows.setdefault((second, source), {})[plain] = plain_value
    return [
        {"t_unix": t0_unix + second, "second": second, "source": source, "values": values}
        for (second, source), values in sorted(rows.items())
    ]
