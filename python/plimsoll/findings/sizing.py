"""What hardware does it need? CPU cores and memory for the expected load and for 2, 5 and 10 times of it.

    used         what the load takes: CPU by the demand per operation (stats/demand_curve.py), memory as it grew with
                 load and items (stats/space.py), each with its 95 % interval
    minimum      just that: all of it is busy, work waits, and nothing else may run there
    recommended  the upper end of the interval ÷ (1 − reserve)

Each host that carries a part of the target is sized by itself. It is arithmetic on what was measured, with assumptions
that the finding spells out, and "cannot tell" where a run does not support it.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from plimsoll.findings.capacity_words import level_words, number
from plimsoll.findings.sizing_facts import DISK, HERE, MEMORY, Grown, Part, SizingFacts
from plimsoll.findings.words import size_words
from plimsoll.stats.demand_curve import (
    FEWEST_LEVELS,
    RISE,
    RISE_SD,
    reach_along_curve,
    use_along_curve,
    use_in_proportion,
)
from plimsoll.stats.space import LEAST_SHARE, WithLoad, are_different_loads, with_load

QUESTION = "What hardware does it need?"
TIMES = (1, 2, 5, 10)
RESERVE = 0.30
CANNOT = "cannot tell"
FAR = 2.0
NEAR_END = 0.7


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
) -> Wanted | None:
    """The throughput of that level: in proportion to it where arrivals are; where users wait for their answers, between
    the levels measured, and below and beyond them in proportion to the nearest. None where no level was measured."""
    if not facts.rates:
        return None
    levels, rates = [at for at, _ in facts.rates], [rate for _, rate in facts.rates]
    if is_open:
        per_s = level * sum(rates) / sum(levels)
    elif level <= levels[0]:
        per_s = level * rates[0] / levels[0]
    elif level >= levels[-1]:
        per_s = level * rates[-1] / levels[-1]
    else:
        per_s = float(np.interp(level, levels, rates))
    return Wanted(per_s, level, chosen, items, reserve)


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


def sizing_finding(main: Mapping[str, Any], facts: SizingFacts, wanted: Wanted, unit: str) -> dict[str, Any]:
    """The finding; `main`: the run's first finding, for what stopped it and what it carried."""
    if not facts.parts:
        return _nothing_known(facts)
    hosts = list(dict.fromkeys(part.host for part in facts.parts))
    sizes = [_at(times, hosts, facts, wanted) for times in TIMES]
    first = sizes[0]
    carries = [carried_on(cores, main, facts) for cores in wanted.cores]
    return {
        "question": QUESTION,
        "answer": _answer(first, sizes, facts, wanted, unit),
        "sizing": {
            "per_s": wanted.per_s,
            "level": wanted.level,
            "items": wanted.items,
            "reserve": wanted.reserve,
            "sizes": sizes,
            "processes": [_part_json(part, wanted) for part in facts.parts],
            "per_item": [_grown_json(one) for one in facts.grown],
            "carries": carries,
        },
        "tables": [
            _hardware(sizes, wanted, unit, hosts),
            *_carries_table(carries),
            _by_process(facts, wanted),
            *_by_item(facts),
        ],
        "notes": _notes(main, facts, wanted, hosts),
        "next": _next(main, facts, wanted),
    }


def _nothing_known(facts: SizingFacts) -> dict[str, Any]:
    seen = f"of {', '.join(facts.missing)} the CPU time is not known" if facts.missing else "none of them was seen"
    return {
        "question": QUESTION,
        "answer": f"Cannot tell: no step shows what the target's processes use ({seen}).",
        "sizing": None,
        "notes": [],
        "next": ["Name the target's processes in the study (target.processes) and run it again."],
    }


def _at(times: int, hosts: Sequence[str], facts: SizingFacts, wanted: Wanted) -> dict[str, Any]:
    """What `times` the load needs, on each host."""
    per_s = times * wanted.per_s
    found: dict[str, Any] = {
        "times": times,
        "per_s": per_s,
        "level": None if wanted.level is None else times * wanted.level,
        "hosts": [],
    }
    for host in hosts:
        parts = [part for part in facts.parts if part.host == host]
        cores, memory = _cores(parts, per_s), _memory(parts, facts, per_s, wanted)
        cpu = cores.to_json(wanted.reserve)
        for name, value in (("whole_cores_minimum", cores.used), ("whole_cores", cores.recommended(wanted.reserve))):
            cpu[name] = None if value is None else max(1, math.ceil(value - 1e-9))
        entry = {"host": host or None, "cpu": cpu, "memory": memory.to_json(wanted.reserve)}
        found["hosts"].append(entry)
    return found


def _cores(parts: Sequence[Part], per_s: float) -> Need:
    """Cores of all the parts together, where all of them were seen."""
    points = _together(parts)
    if not points:
        return Need(None, why="no step saw all processes")
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


def _answer(
    first: Mapping[str, Any], sizes: Sequence[Mapping[str, Any]], facts: SizingFacts, wanted: Wanted, unit: str
) -> str:
    load = _load_words(first, unit)
    parts = []
    for host in first["hosts"]:
        where = f" on {host['host']}" if host["host"] else ""
        parts.append(f"{_capital(_cpu_words(host['cpu']))}{where}; {_memory_words(host['memory'])}")
    words = f"For {load} ({wanted.chosen}), with a reserve of {wanted.reserve:.0%}: {'. '.join(parts)}."
    words += "".join(_thread_words(part, wanted) for part in facts.parts)
    last = sizes[-1]["hosts"][0]["cpu"]
    if last["recommended"] is not None and len(first["hosts"]) == 1:
        words += f" {sizes[-1]['times']} times that needs {number(last['recommended'])} cores by the same arithmetic."
    return words


def carried_on(cores: float, main: Mapping[str, Any], facts: SizingFacts) -> dict[str, Any]:
    """What so many cores of this host would carry: the throughput whose use is the share of them that the target could
    use where this run ended (of its quota, or of the one core of its busy thread; all of them where neither is known).
    Of a process of one busy thread no more than one core counts."""
    found: dict[str, Any] = {"cores": cores, "usable_share": 1.0, "per_s": None, "interval": None, "why": ""}
    parts = [part for part in facts.parts if part.host == HERE]
    if not parts:
        return found | {"why": "no process of the target ran on this host"}
    points = _together(parts)
    if not points or not are_different_loads([rate for rate, _, _ in points]):
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


def _carries_table(carries: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    if not carries:
        return []
    rows = []
    for one in carries:
        words = f"{CANNOT}: {one['why']}"
        if one["per_s"] is not None:
            low, high = one["interval"]
            to = f"to {number(high)}" if high is not None else "or more"
            words = f"{number(one['per_s'])} operations/s ({number(low)} {to})"
        rows.append([number(one["cores"]), f"{one['usable_share']:.0%}", words])
    return [
        {
            "title": "What so many cores would carry",
            "note": "If CPU is what stops it. Usable: the share of its CPU that the target used where that stopped "
            "this run; 100% where it is not known.",
            "columns": ["Cores", "Usable", "Carries (95 %)"],
            "rows": rows,
            "words": ["Carries (95 %)"],
        }
    ]


def _thread_words(part: Part, wanted: Wanted) -> str:
    """Where one busy thread is not enough: more cores alone do not help."""
    if not part.one_thread:
        return ""
    for times in TIMES:
        need = _cores([part], times * wanted.per_s).recommended(wanted.reserve)
        if need is not None and need > 1:
            at = "It" if times == 1 else f"From {times} times on it"
            return f" {at} needs {math.ceil(need)} processes of {part.label}, whose one busy thread uses one core."
    return ""


def _load_words(size: Mapping[str, Any], unit: str) -> str:
    rate = f"{number(size['per_s'])} operations/s"
    return rate if size["level"] is None else f"{level_words(size['level'], unit)} ({rate})"


def _cpu_words(cpu: Mapping[str, Any]) -> str:
    if cpu["used"] is None:
        return f"CPU: cannot tell, {cpu['cannot_tell']}"
    return (
        f"CPU at least {_cores_words(cpu['minimum'])}, recommended {_cores_words(cpu['recommended'])}"
        f" ({_whole(cpu['whole_cores'])})"
    )


def _memory_words(memory: Mapping[str, Any]) -> str:
    if memory["used"] is None:
        return f"memory: cannot tell, {memory['cannot_tell']}"
    return f"memory at least {size_words(memory['minimum'])}, recommended {size_words(memory['recommended'])}"


def _cores_words(cores: float) -> str:
    return f"{number(cores)} core{'' if number(cores) == '1' else 's'}"


def _whole(cores: int) -> str:
    return f"{cores} whole core{'' if cores == 1 else 's'}"


def _capital(words: str) -> str:
    return words[0].upper() + words[1:]


def _hardware(sizes: Sequence[Mapping[str, Any]], wanted: Wanted, unit: str, hosts: Sequence[str]) -> dict[str, Any]:
    columns = ["Load", "Operations/s", "CPU used, cores", "CPU minimum", "CPU recommended", "Memory used"]
    columns += ["Memory recommended"]
    is_many = len(hosts) > 1
    rows = []
    for size in sizes:
        for host in size["hosts"]:
            cpu, memory = host["cpu"], host["memory"]
            level = f", {level_words(size['level'], unit)}" if size["level"] is not None else ""
            row = [f"{size['times']}×{level}", number(size["per_s"])]
            row += [_span(cpu, number), _or_not(cpu["minimum"], number), _recommended_cores(cpu)]
            row += [_span(memory, size_words), _or_not(memory["recommended"], size_words)]
            rows.append(([host["host"] or "this host"] if is_many else []) + row)
    return {
        "title": "Hardware by load",
        "note": f"Minimum: what the load itself takes. Recommended: the upper end of the 95 % interval with "
        f"{wanted.reserve:.0%} left unused.",
        "columns": (["Host"] if is_many else []) + columns,
        "rows": rows,
        "words": ["Load"],
    }


def _span(need: Mapping[str, Any], words: Any) -> str:
    if need["used"] is None:
        return CANNOT
    if need["interval"] is None:
        return str(words(need["used"]))
    return f"{words(need['used'])} ({words(need['interval'][0])} to {words(need['interval'][1])})"


def _or_not(value: float | None, words: Any) -> str:
    return CANNOT if value is None else str(words(value))


def _recommended_cores(cpu: Mapping[str, Any]) -> str:
    if cpu["recommended"] is None:
        return CANNOT
    return f"{number(cpu['recommended'])} → {_whole(cpu['whole_cores'])}"


def _by_process(facts: SizingFacts, wanted: Wanted) -> dict[str, Any]:
    rows = []
    for part in facts.parts:
        needs = [_cores([part], times * wanted.per_s).recommended(wanted.reserve) for times in TIMES]
        count = " / ".join(CANNOT if need is None else str(max(1, math.ceil(need - 1e-9))) for need in needs)
        rows.append(
            [
                part.label,
                f"{number(1000 * part.cores[-1] / part.per_s[-1])} ms",
                _growth_words(part),
                count if part.one_thread else "more cores serve it",
            ]
        )
    return {
        "title": "By process",
        "note": f"CPU per operation at the highest throughput. A process of one busy thread uses one core at most: so "
        f"many of it are needed at {', '.join(f'{times}×' for times in TIMES)}.",
        "columns": ["Process", "CPU per operation", "Memory", "Processes needed"],
        "rows": rows,
        "words": ["Process", "Memory"],
    }


def _growth_words(part: Part) -> str:
    if not part.memory:
        return "not known"
    grown, highest = grown_with_load(part), size_words(part.memory_highest)
    if grown.kind == "load":
        base, there = grown.at(0.0), grown.at(max(part.per_s))
        assert base is not None and there is not None
        slope = (there[0] - base[0]) / max(part.per_s)
        return f"{highest} at most; {size_words(base[0])} and {size_words(slope)} per operation/s"
    if grown.kind == "time":
        return f"{highest} at most; grew by {size_words(grown.over_time)} over the run, whatever the load"
    if grown.kind == "none":
        return f"{highest} at most; no growth with load"
    return f"{highest} at most; growth cannot be told"


def _by_item(facts: SizingFacts) -> list[dict[str, Any]]:
    if not facts.grown:
        return []
    rows = []
    for one in facts.grown:
        found = one.found
        spread = " to ".join(size_words(end) for end in found.interval)
        rows.append(
            [
                f"{one.kind}, {one.where}",
                f"{size_words(found.per_item)} ({spread})",
                f"{number(found.from_items)} to {number(found.to_items)}",
                size_words(found.last),
                *(_ahead(one, times) for times in TIMES[1:]),
            ]
        )
    return [
        {
            "title": "Growth with items",
            "note": "The mean of what came with each item, with its 95 % interval; ahead: if each further item takes "
            "as much.",
            "columns": ["What", "Per item", "Items seen", "Size there", *(f"At {times}× items" for times in TIMES[1:])],
            "rows": rows,
            "words": ["What"],
        }
    ]


def _ahead(one: Grown, times: int) -> str:
    found = one.found
    if found.interval[0] <= 0 < found.interval[1]:
        return CANNOT if found.per_item > 0 else size_words(found.last)
    return size_words(found.last + (times - 1) * found.to_items * found.per_item)


def _part_json(part: Part, wanted: Wanted) -> dict[str, Any]:
    grown = grown_with_load(part) if part.memory else None
    return {
        "label": part.label,
        "host": part.host or None,
        "cpu_ms_per_operation": 1000 * part.cores[-1] / part.per_s[-1],
        "one_thread": part.one_thread,
        "processes": part.processes,
        "memory_highest_bytes": part.memory_highest if part.memory else None,
        "memory_grows_with": None if grown is None else grown.kind,
        "measured": [
            {"per_s": per_s, "cores": cores, "seconds": seconds}
            for per_s, cores, seconds in zip(part.per_s, part.cores, part.seconds, strict=True)
        ],
        "cores_by_times": {str(times): _cores([part], times * wanted.per_s).used for times in TIMES},
    }


def _grown_json(one: Grown) -> dict[str, Any]:
    found = one.found
    return {
        "kind": one.kind,
        "where": one.where,
        "bytes_per_item": found.per_item,
        "interval": list(found.interval),
        "confidence": 0.95,
        "from_items": found.from_items,
        "to_items": found.to_items,
        "last_bytes": found.last,
        "run": one.run,
    }


def _notes(main: Mapping[str, Any], facts: SizingFacts, wanted: Wanted, hosts: Sequence[str]) -> list[str]:
    """The assumptions, and what is not in the numbers."""
    top = max(rate for _, rate in facts.rates)
    named = ", ".join(part.label for part in facts.parts)
    levels = len({rate for _, rate in facts.rates})
    stays = "the same mix of operations on cores like these, and CPU per operation that stays"
    notes = [
        f"Counted: the processes {named}. Not counted: other services, system, file caches, generator.",
        f"Assumed: {stays}, for which a change of {RISE:+.0%} ± {RISE_SD:.0%} is allowed in the interval."
        if levels >= FEWEST_LEVELS
        else f"Assumed: {stays} as it was at the load measured; fewer than {FEWEST_LEVELS} loads do not show whether.",
        "Minimum is the mean: with it every core is busy, and work waits. Response times at a size are not predicted.",
    ]
    if wanted.per_s > top or FAR * wanted.per_s > top:
        most = max(times for times in TIMES) * wanted.per_s / top
        notes.append(
            f"The highest load measured is {number(top)} operations/s over {levels} loads; the largest size is "
            f"{number(most)} times of it, an extrapolation."
        )
    notes += _stopped(main, wanted)
    if any(part.processes > 1 and part.memory for part in facts.parts):
        several = ", ".join(part.label for part in facts.parts if part.processes > 1 and part.memory)
        notes.append(f"Memory of {several} counts shared pages in each of its processes: it is an upper bound.")
    if wanted.items is None:
        volume = f"the {number(facts.volume)} items of this run" if facts.volume is not None else "the data of this run"
        notes.append(f"Memory is for {volume}; more data may need more.")
    if any(one.kind == DISK for one in facts.grown) is False:
        notes.append(f"Disk: {CANNOT}, no run shows files (probes.files) while a known number of items came.")
    if len(hosts) > 1 or hosts != [HERE]:
        notes.append("Each host is sized for the parts that ran on it.")
    return notes


def _stopped(main: Mapping[str, Any], wanted: Wanted) -> list[str]:
    """Where something else than CPU or memory stopped the run: hardware alone does not lift that."""
    capacity, limited = main.get("capacity") or {}, main.get("limited_by") or {}
    carried = capacity.get("rate_per_s")
    if capacity.get("bad") is None or not carried or TIMES[-1] * wanted.per_s <= carried:
        return []
    kind = str(limited.get("kind") or "unknown")
    if kind in ("cpu", "cpu_quota", "memory", "memory_limit"):
        return []
    what = "something that was not found" if kind == "unknown" else f"{kind.replace('_', ' ')}, {limited.get('where')}"
    return [
        f"This run stopped at {number(carried)} operations/s because of {what}: above that, hardware alone brings "
        "nothing until that limit is lifted."
    ]


def _next(main: Mapping[str, Any], facts: SizingFacts, wanted: Wanted) -> list[str]:
    steps = []
    levels = len({rate for _, rate in facts.rates})
    if levels < FEWEST_LEVELS:
        steps.append(
            "Give a run of plimsoll capacity: its steps show how demand changes with load, and give intervals."
        )
    if any(part.memory and grown_with_load(part).kind == "time" for part in facts.parts):
        steps.append("Hold the load for longer (plimsoll hold) to see where the memory that grew with time ends.")
    if not facts.grown:
        steps.append(
            "Give a run of plimsoll grow as well, and probe its files (probes.files), for memory and disk by items."
        )
    steps.append("Prove the size: run plimsoll capacity on such a host or quota before buying it.")
    return steps
