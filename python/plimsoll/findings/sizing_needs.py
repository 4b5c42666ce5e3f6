"""What a load takes of CPU and memory, by what a run showed: the numbers of the finding in findings/sizing.py.

Each host that carries a part of the target is sized by itself. It is arithmetic on what was measured, and "cannot tell"
where a run does not support it.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from plimsoll.findings.sizing_facts import DISK, HERE, MEMORY, Grown, Part, SizingFacts
from plimsoll.findings.words import size_words
from plimsoll.stats.demand_curve import FEWEST_LEVELS, reach_along_curve, use_along_curve, use_in_proportion
from plimsoll.stats.item_demand import ItemDemand, item_demand
from plimsoll.stats.space import LEAST_SHARE, WithLoad, are_different_loads, with_load

TIMES = (1, 2, 5, 10)
RESERVE = 0.30
NEAR_END = 0.7
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


def carried_per_level_s(capacity: Mapping[str, Any]) -> float | None:
    """Operations per second at level 1 by what was carried; None where nothing was."""
    carried_per_s, level = capacity.get("rate_per_s"), capacity.get("good")
    return carried_per_s / level if carried_per_s and level else None


@dataclass(frozen=True)
class Need:
    """What a load takes of a resource; `interval` None where the run gives none, `used` None: cannot tell, `why`."""

    used: float | None
    interval: tuple[float, float] | None = None
    why: str = ""

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
        cores, memory = cores_of(parts, per_s), _memory(parts, facts, per_s, wanted)
        cpu = cores.to_json(wanted.reserve)
        for name, value in (("whole_cores_minimum", cores.used), ("whole_cores", cores.recommended(wanted.reserve))):
            cpu[name] = None if value is None else max(1, math.ceil(value - 1e-9))
        entry = {"host": host or None, "cpu": cpu, "memory": memory.to_json(wanted.reserve)}
        found["hosts"].append(entry)
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
    points = _together(parts)
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
    if found is not None:
        return Need(found.used, found.interval)
    top = max(range(len(rate)), key=rate.__getitem__)
    if are_different_loads(rate) and per_s > rate[top]:
        return Need(None, why="its CPU time did not rise with throughput")
    return Need(used[top] * per_s / rate[top])


def item_demand_of(parts: Sequence[Part]) -> ItemDemand | None:
    """Of a run of drain: CPU of an item in all the parts together, which have the same points in time."""
    order = sorted(range(len(parts[0].when_s)), key=parts[0].when_s.__getitem__)
    used = [cores for _, cores, _ in _together(parts)]
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


def _together(parts: Sequence[Part]) -> list[tuple[float, float, float]]:
    """(throughput, cores of all the parts, seconds) of the steps that saw all of them."""
    points = []
    for when in sorted(set.intersection(*({*part.when_s} for part in parts))):
        places = [part.when_s.index(when) for part in parts]
        cores = sum(part.cores[place] for part, place in zip(parts, places, strict=True))
        points.append((parts[0].per_s[places[0]], cores, parts[0].seconds[places[0]]))
    return points


def _memory(parts: Sequence[Part], facts: SizingFacts, per_s: float, wanted: Wanted) -> Need:
    """Bytes of all the parts: as they grew with load, and with the items that come beside those of the run."""
    total, low, high, why = 0.0, 0.0, 0.0, ""
    for part in parts:
        if not part.memory:
            return Need(None, why=f"the memory of {part.label} is not known")
        used, ends, reason = _memory_of(part, per_s)
        more, more_ends, reason_of_items = _memory_of_items(part, facts, wanted)
        if reason or reason_of_items:
            why = reason or reason_of_items
            continue
        total += used + more
        low += (ends[0] if ends is not None else used) + more_ends[0]
        high += (ends[1] if ends is not None else used) + more_ends[1]
    if why:
        return Need(None, why=why)
    return Need(total, (max(0.0, low), high) if high > low else None)


def _memory_of(part: Part, per_s: float) -> tuple[float, tuple[float, float] | None, str]:
    """(bytes, interval, why it cannot be told) at a throughput."""
    grown = grown_with_load(part)
    top = max(part.per_s)
    if grown.kind == "load":
        found = grown.at(per_s)
        assert found is not None
        used = max(found[0], part.memory_highest if per_s >= top else 0.0)
        return used, (min(found[1][0], used), max(found[1][1], used)), ""
    if per_s <= top or grown.kind == "none":
        return part.memory_highest, None, ""
    if grown.kind == "time":
        return 0.0, None, f"the memory of {part.label} grew with time, not with load"
    if are_different_loads(part.per_s):
        return 0.0, None, f"the memory of {part.label} grew while load rose with time; which of them it was is open"
    return 0.0, None, f"the memory of {part.label} was seen at fewer than {FEWEST_LEVELS} loads"


def grown_with_load(part: Part) -> WithLoad:
    """How its memory grew over the steps."""
    return with_load(part.memory, part.per_s, part.when_s)


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


def carried_on(cores: float, main: Mapping[str, Any], facts: SizingFacts) -> dict[str, Any]:
    """What so many cores of this host would carry: the throughput whose use is the share of them that the target could
    use where this run ended (of its quota, or of the one core of its busy thread; all of them where neither is known).
    Of a process of one busy thread no more than one core counts."""
    found: dict[str, Any] = {"cores": cores, "usable_share": 1.0, "per_s": None, "interval": None, "why": ""}
    parts = [part for part in facts.parts if part.host == HERE]
    if not parts:
        return found | {"why": "no process of the target ran on this host"}
    points = _together(parts)
    if not points or parts[0].put_per_s or not are_different_loads([rate for rate, _, _ in points]):
        return found | {"why": f"fewer than {FEWEST_LEVELS} loads were measured"}
    per_s, used, seconds = (list(column) for column in zip(*points, strict=True))
    share, usable = _usable_share(main, parts, points), cores
    if len(parts) == 1 and parts[0].one_thread:
        usable = min(cores, 1.0)
    curve = reach_along_curve(used, per_s, share * usable, seconds)
    if curve is None:
        return found | {"why": "its CPU time did not rise with throughput, or is more than that without any load"}
    return found | {"usable_share": share, "per_s": curve.per_s, "interval": list(curve.interval)}


def _usable_share(
    main: Mapping[str, Any], parts: Sequence[Part], points: Sequence[tuple[float, float, float]]
) -> float:
    """Use at the capacity ÷ what it might have used, where that is known and CPU stopped it, or where nothing was found
    to stop it and the use was near its end; else 1."""
    capacity, kind = main.get("capacity") or {}, (main.get("limited_by") or {}).get("kind")
    carried, quotas = capacity.get("rate_per_s"), [part.quota_cores for part in parts if part.quota_cores]
    if capacity.get("bad") is None or not carried or kind not in ("cpu", "cpu_quota", "unknown"):
        return 1.0
    ceiling = quotas[0] if quotas else 1.0 if len(parts) == 1 and parts[0].one_thread else None
    per_s, used, seconds = (list(column) for column in zip(*points, strict=True))
    there = use_along_curve(used, per_s, carried, seconds)
    if ceiling is None or there is None:
        return 1.0
    share = min(1.0, there.used / ceiling)
    return share if kind != "unknown" or share >= NEAR_END else 1.0
