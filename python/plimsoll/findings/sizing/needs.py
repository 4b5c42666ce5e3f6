"""What a load takes of CPU and memory, by what a run showed: the numbers of the finding in findings/sizing/finding.py.

Each host that carries a part of the target is sized by itself. It is arithmetic on what was measured, and "cannot tell"
where a run does not support it.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from plimsoll.findings.sizing.facts import DISK, MEMORY, Grown, Part, SizingFacts
from plimsoll.findings.sizing.memory import memory_at
from plimsoll.stats.consumption.item_demand import ItemDemand, item_demand
from plimsoll.stats.growth.space import LEAST_SHARE, are_different_loads
from plimsoll.stats.throughput.demand_curve import use_along_curve, use_in_proportion
from plimsoll.words import amount_words, number, size_words, time_words

TIMES = (1, 2, 5, 10)
RESERVE = 0.30
LEAST_MEASURED_S = 5.0  # below, the CPU clock's ticks and chance arrivals are most of what is seen
HELD_S, HELD_WITHIN = 5.0, 1.05  # a step that held a load, and how near to it
WIDEST = 2.0  # upper end ÷ value: beyond, it is no answer
ONE_CORE_WITH_RESERVE = 1 - RESERVE  # up to here one core is enough, whatever the interval
DAY_S = 86_400.0


@dataclass(frozen=True)
class Wanted:
    """What to size for: `per_s` operations, which are `level` (None where a throughput was asked for); `items`: data
    that it shall hold; `reserve`: share of the hardware to be left unused, in [0, 1); `chosen`: why this load; `cores`:
    sizes to be asked what they would carry."""

    per_s: float
    level: float | None
    chosen: str
    items: float | None = None
    reserve: float = RESERVE
    cores: tuple[float, ...] = ()


def wanted_of(
    facts: SizingFacts,
    *,
    is_open: bool,
    level: float,
    chosen: str,
    items: float | None = None,
    reserve: float = RESERVE,
    per_level_s: float | None = None,
) -> Wanted | None:
    """The throughput of that level. Of an open load it is in proportion to it, by `per_level_s` where that is known,
    else by all that was done; of a closed load it lies between the levels measured, and below and beyond them is in
    proportion to the nearest. None where no level was measured."""
    if not facts.rates:
        return None
    levels, rates = [at for at, _ in facts.rates], [rate for _, rate in facts.rates]
    if is_open:
        per_s = level * (per_level_s or sum(rates) / sum(levels))
    elif level <= levels[0]:
        per_s = level * rates[0] / levels[0]
    elif level >= levels[-1]:
        per_s = level * rates[-1] / levels[-1]
    else:
        per_s = float(np.interp(level, levels, rates))
    return Wanted(per_s, level, chosen, items, reserve)


def known_per_level_s(capacity: Mapping[str, Any]) -> float | None:
    """Operations per second at level 1: as an open load has it, else by what was carried; None where nothing was. A
    level has one rate in all findings."""
    if capacity.get("rate_per_level_s"):
        return float(capacity["rate_per_level_s"])
    carried_per_s, level = capacity.get("rate_per_s"), capacity.get("good")
    return carried_per_s / level if carried_per_s and level else None


@dataclass(frozen=True)
class Need:
    """What a load takes of a resource; `interval` None where the run gives none, `used` None: cannot tell, `why`;
    `after_more`: it was seen, but after an overload or a higher load."""

    used: float | None
    interval: tuple[float, float] | None = None
    why: str = ""
    after_more: bool = False

    def recommended(self, reserve: float) -> float | None:
        """With the reserve; from the upper end of the interval."""
        if self.used is None:
            return None
        return (self.interval[1] if self.interval is not None else self.used) / (1 - reserve)

    def to_json(self, reserve: float) -> dict[str, Any]:
        """In cores or bytes."""
        return {
            "used": self.used,
            "interval": list(self.interval) if self.interval is not None else None,
            "confidence": 0.95 if self.interval is not None else None,
            "minimum": self.used,
            "recommended": self.recommended(reserve),
            "cannot_tell": self.why or None,
        }


def needs_at(times: int, hosts: Sequence[str], facts: SizingFacts, wanted: Wanted) -> dict[str, Any]:
    """What `times` the load needs, on each host."""
    per_s = times * wanted.per_s
    found: dict[str, Any] = {
        "times": times,
        "per_s": per_s,
        "level": None if wanted.level is None else times * wanted.level,
        "hosts": [],
        "disk": [_disk(one, per_s) for one in facts.grown if one.kind == DISK and facts.noun == "item"],
    }
    for host in hosts:
        parts = [part for part in facts.parts if part.host == host]
        cores = Need(None, why=why) if (why := too_little(facts)) else cores_of(parts, per_s)
        memory = _memory(parts, facts, (per_s, found["level"]), wanted)
        cpu = cores.to_json(wanted.reserve)
        for name, value in (("whole_cores_minimum", cores.used), ("whole_cores", cores.recommended(wanted.reserve))):
            cpu[name] = None if value is None else max(1, math.ceil(value - 1e-9))
        of_memory = memory.to_json(wanted.reserve) | {"after_more_load": memory.after_more}
        found["hosts"].append({"host": host or None, "cpu": cpu, "memory": of_memory})
    return found


def _disk(grown: Grown, per_s: float) -> dict[str, Any]:
    """What it grows by in a day at so many items per second."""
    daily = DAY_S * per_s
    low, high = grown.found.interval
    return {
        "where": grown.where,
        "bytes_per_day": daily * grown.found.per_item,
        "interval": [daily * low, daily * high],
        "confidence": 0.95,
    }


def cores_of(parts: Sequence[Part], per_s: float) -> Need:
    """Cores of all the parts together, where all of them were seen."""
    points = together(parts)
    if not points:
        return Need(None, why="no step saw all processes")
    if parts[0].put_per_s:
        demand = item_demand_of(parts)
        return Need(*demand.at(per_s)) if demand is not None else Need(None, why="its CPU time did not rise with items")
    rate, used, seconds = (list(column) for column in zip(*points, strict=True))
    if are_different_loads(rate):
        found = use_along_curve(used, rate, per_s, seconds)
    else:
        found = use_in_proportion(used, rate, per_s)
    top = max(range(len(rate)), key=rate.__getitem__)
    if found is not None:
        return _as_supported(Need(found.used, found.interval), points, per_s)
    if are_different_loads(rate) and per_s > rate[top]:
        return Need(None, why="its CPU time did not rise with throughput")
    return _as_supported(Need(used[top] * per_s / rate[top]), points, per_s)


def _as_supported(need: Need, points: Sequence[tuple[float, float, float]], per_s: float) -> Need:
    """No more than was used where that load, or the next above it, was held; "cannot tell" where the interval is too
    wide to say how many cores it takes."""
    assert need.used is not None
    low, high = need.interval or (need.used, need.used)
    held = [(rate, cores) for rate, cores, seconds in points if seconds >= HELD_S and rate >= per_s / HELD_WITHIN]
    used = need.used
    if held:
        nearest = HELD_WITHIN * min(rate for rate, _ in held)
        most = max(cores * max(1.0, per_s / rate) for rate, cores in held if rate <= nearest)
        low, used, high = min(low, most), min(used, most), min(high, most)
    if used <= 0 or (high > WIDEST * used and high > ONE_CORE_WITH_RESERVE):
        between = f"between {number(low)} and {amount_words(high, 'core')}"
        return Need(None, why=f"the steps measured put it {between} (95%)")
    return Need(used, None if need.interval is None else (low, high))


def too_little(facts: SizingFacts) -> str:
    """Why the steps that count are too short for any size; empty where they are not."""
    measured_s = max((sum(part.seconds) for part in facts.parts), default=0.0)
    if measured_s >= LEAST_MEASURED_S:
        return ""
    return f"only {time_words(measured_s)} of a load that was carried were measured"


def item_demand_of(parts: Sequence[Part]) -> ItemDemand | None:
    """Of a run of drain: CPU of an item in all the parts together, which have the same points in time."""
    order = sorted(range(len(parts[0].when_s)), key=parts[0].when_s.__getitem__)
    used = [cores for _, cores, _ in together(parts)]
    put, done, seconds = (
        [one[place] for place in order] for one in (parts[0].put_per_s, parts[0].per_s, parts[0].seconds)
    )
    return item_demand(used, put, done, seconds)


def cpu_per_operation_s(part: Part) -> float | None:
    """At the highest throughput; of a run of drain that of an item, None where it cannot be told."""
    if part.put_per_s:
        demand = item_demand_of([part])
        return None if demand is None else demand.per_item
    return part.cores[-1] / part.per_s[-1]


def together(parts: Sequence[Part]) -> list[tuple[float, float, float]]:
    """(throughput, cores of all the parts, seconds) of the steps that saw all of them."""
    points = []
    for when in sorted(set.intersection(*({*part.when_s} for part in parts))):
        places = [part.when_s.index(when) for part in parts]
        cores = sum(part.cores[place] for part, place in zip(parts, places, strict=True))
        points.append((parts[0].per_s[places[0]], cores, parts[0].seconds[places[0]]))
    return points


def _memory(parts: Sequence[Part], facts: SizingFacts, size: tuple[float, float | None], wanted: Wanted) -> Need:
    """Bytes of all the parts at a `size` of (throughput, level): as they grew with load, and with the items that come
    beside those of the run."""
    total, low, high, why, after_more = 0.0, 0.0, 0.0, too_little(facts), False
    for part in parts:
        if not part.memory:
            return Need(None, why=f"the memory of {part.label} is not known")
        found = memory_at(part, size[0], facts, size[1])
        more, more_ends, reason_of_items = _memory_of_items(part, facts, wanted)
        if why or found.why or reason_of_items:
            why, after_more = why or found.why or reason_of_items, after_more or found.after_more
            continue
        ends = found.interval or (found.used, found.used)
        total += found.used + more
        low += ends[0] + more_ends[0]
        high += ends[1] + more_ends[1]
    if why:
        return Need(None, why=why, after_more=after_more)
    return Need(total, (max(0.0, low), high) if high > low else None)


def _memory_of_items(part: Part, facts: SizingFacts, wanted: Wanted) -> tuple[float, tuple[float, float], str]:
    """Bytes that come with more items than the run had, where that is asked for."""
    if wanted.items is None:
        return 0.0, (0.0, 0.0), ""
    found = [one.found for one in facts.grown if one.kind == MEMORY and one.where == part.label]
    if not found or facts.volume is None:
        missing = "how many items the run had" if found else f"how the memory of {part.label} grows with items"
        return 0.0, (0.0, 0.0), f"{missing} is not known"
    more = max(0.0, wanted.items - facts.volume)
    low, high = found[-1].interval
    if low <= 0 and more * high > LEAST_SHARE * part.memory_highest:
        spread = f"{size_words(low)} to {size_words(high)} an item"
        return 0.0, (0.0, 0.0), f"whether the memory of {part.label} grows with items is within chance ({spread})"
    return max(0.0, more * found[-1].per_item), (max(0.0, more * low), max(0.0, more * high)), ""
