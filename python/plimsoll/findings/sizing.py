"""What hardware does it need? CPU cores and memory for the expected load and for 2, 5 and 10 times of it.

    used         what the load takes: CPU by the demand per operation (stats/demand_curve.py), memory as it grew with
                 load and items (stats/space.py), each with its 95 % interval
    minimum      just that: all of it is busy, work waits, and nothing else may run there
    recommended  the upper end of the interval ÷ (1 − reserve)

The numbers are findings/sizing_needs.py's; here are the sentences and tables, with the assumptions spelt out.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from plimsoll.findings.capacity_words import level_words, number
from plimsoll.findings.evidence import RESOURCES, Evidence, as_data
from plimsoll.findings.sizing_facts import DISK, HERE, Grown, Part, SizingFacts
from plimsoll.findings.sizing_needs import (
    TIMES,
    Wanted,
    carried_on,
    cores_of,
    cpu_per_operation_s,
    grown_with_load,
    needs_at,
)
from plimsoll.findings.words import size_words
from plimsoll.stats.demand_curve import FEWEST_LEVELS, RISE, RISE_SD

QUESTION = "What hardware does it need?"
CANNOT = "cannot tell"
FAR = 2.0
_AHEAD = {
    "operation": "ahead: if each further item takes as much.",
    "item": "items are counted from the run's start: how many there were before is not known.",
}


def sizing_finding(main: Mapping[str, Any], facts: SizingFacts, wanted: Wanted, unit: str) -> dict[str, Any]:
    """The finding; `main`: the run's first finding, for what stopped it and what it carried."""
    if not facts.parts:
        return _nothing_known(facts)
    hosts = list(dict.fromkeys(part.host for part in facts.parts))
    sizes = [needs_at(times, hosts, facts, wanted) for times in TIMES]
    first = sizes[0]
    carries = [carried_on(cores, main, facts) for cores in wanted.cores]
    return {
        "question": QUESTION,
        "answer": _answer(first, sizes, facts, wanted, unit),
        "sizing": {
            "noun": facts.noun,
            "per_s": wanted.per_s,
            "level": wanted.level,
            "items": wanted.items,
            "reserve": wanted.reserve,
            "sizes": sizes,
            "processes": [_part_json(part, wanted) for part in facts.parts],
            "per_item": [_grown_json(one) for one in facts.grown],
            "carries": carries,
        },
        "evidence": _evidence(facts, unit),
        "tables": [
            _hardware(sizes, wanted, unit, hosts, facts.noun),
            *_carries_table(carries),
            _by_process(facts, wanted),
            *_disk_table(sizes, unit, facts),
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
        "evidence": as_data([Evidence(0, "points", RESOURCES, "Use of the target's processes")]),
        "notes": [],
        "next": ["Name the target's processes in the study (target.processes) and run it again."],
    }


def _evidence(facts: SizingFacts, unit: str) -> list[dict[str, Any]]:
    """The points of each process, and those by which a size grows with items."""
    levels = [level for level, _ in facts.rates]
    span = (min(levels), max(levels)) if levels else None
    parts = [
        Evidence(
            len(part.per_s), "points", RESOURCES, f"Use of {part.label} over {number(sum(part.seconds))} s",
            levels=span, level_unit=unit,
        )
        for part in facts.parts
    ]  # fmt: skip
    grown = [
        Evidence(
            one.found.increments, "readings", RESOURCES,
            f"{_capital(one.kind)} of {one.where} from {number(one.found.from_items)} to "
            f"{number(one.found.to_items)} items", names=(one.run,),
        )
        for one in facts.grown
    ]  # fmt: skip
    return as_data([*parts, *grown])


def _answer(
    first: Mapping[str, Any], sizes: Sequence[Mapping[str, Any]], facts: SizingFacts, wanted: Wanted, unit: str
) -> str:
    load = _load_words(first, unit, facts.noun)
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
        need = cores_of([part], times * wanted.per_s).recommended(wanted.reserve)
        if need is not None and need > 1:
            at = "It" if times == 1 else f"From {times} times on it"
            return f" {at} needs {math.ceil(need)} processes of {part.label}, whose one busy thread uses one core."
    return ""


def _load_words(size: Mapping[str, Any], unit: str, noun: str) -> str:
    rate = f"{number(size['per_s'])} {noun}s/s"
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


def _hardware(
    sizes: Sequence[Mapping[str, Any]], wanted: Wanted, unit: str, hosts: Sequence[str], noun: str
) -> dict[str, Any]:
    columns = ["Load", f"{_capital(noun)}s/s", "CPU used, cores", "CPU minimum", "CPU recommended", "Memory used"]
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
        needs = [cores_of([part], times * wanted.per_s).recommended(wanted.reserve) for times in TIMES]
        count = " / ".join(CANNOT if need is None else str(max(1, math.ceil(need - 1e-9))) for need in needs)
        rows.append(
            [
                part.label,
                _cpu_of_one(part),
                _growth_words(part),
                count if part.one_thread else "more cores serve it",
            ]
        )
    return {
        "title": "By process",
        "note": f"CPU per {facts.noun}{_where_measured(facts)}. A process of one busy thread uses one core at most: so "
        f"many of it are needed at {', '.join(f'{times}×' for times in TIMES)}.",
        "columns": ["Process", f"CPU per {facts.noun}", "Memory", "Processes needed"],
        "rows": rows,
        "words": ["Process", "Memory"],
    }


def _where_measured(facts: SizingFacts) -> str:
    return " at the highest throughput" if facts.noun == "operation" else ", put in and done"


def _cpu_of_one(part: Part) -> str:
    found = cpu_per_operation_s(part)
    return CANNOT if found is None else f"{number(1000 * found)} ms"


def _disk_table(sizes: Sequence[Mapping[str, Any]], unit: str, facts: SizingFacts) -> list[dict[str, Any]]:
    """Of a run of drain: what its index grows by in a day."""
    rows = []
    for size in sizes:
        for disk in size["disk"]:
            low, high = (size_words(end) for end in disk["interval"])
            load = f"{size['times']}×, {number(size['per_s'])} items/s"
            rows.append([load, disk["where"], f"{size_words(disk['bytes_per_day'])} ({low} to {high})"])
    if not rows:
        return []
    note = "Bytes of each item × items of a day at that load, if each further item takes as much; nothing is deleted."
    columns = ["Load", "What", "Grows in a day (95 %)"]
    return [{"title": "Disk by load", "note": note, "columns": columns, "rows": rows, "words": columns}]


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
                *(_ahead(one, times, facts.noun) for times in TIMES[1:]),
            ]
        )
    return [
        {
            "title": "Growth with items",
            "note": "The mean of what came with each item, with its 95 % interval; " + _AHEAD[facts.noun],
            "columns": ["What", "Per item", "Items seen", "Size there", *(f"At {times}× items" for times in TIMES[1:])],
            "rows": rows,
            "words": ["What"],
        }
    ]


def _ahead(one: Grown, times: int, noun: str) -> str:
    found = one.found
    if noun == "item":  # counted from the start of the run: how many there were before is not known
        return CANNOT
    if found.interval[0] <= 0 < found.interval[1]:
        return CANNOT if found.per_item > 0 else size_words(found.last)
    return size_words(found.last + (times - 1) * found.to_items * found.per_item)


def _part_json(part: Part, wanted: Wanted) -> dict[str, Any]:
    grown = grown_with_load(part) if part.memory else None
    return {
        "label": part.label,
        "host": part.host or None,
        "cpu_ms_per_operation": None if (found := cpu_per_operation_s(part)) is None else 1000 * found,
        "one_thread": part.one_thread,
        "processes": part.processes,
        "memory_highest_bytes": part.memory_highest if part.memory else None,
        "memory_grows_with": None if grown is None else grown.kind,
        "measured": [
            {"per_s": per_s, "cores": cores, "seconds": seconds}
            for per_s, cores, seconds in zip(part.per_s, part.cores, part.seconds, strict=True)
        ],
        "cores_by_times": {str(times): cores_of([part], times * wanted.per_s).used for times in TIMES},
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
    named, of_items = ", ".join(part.label for part in facts.parts), facts.noun == "item"
    levels = len({rate for _, rate in facts.rates})
    stays = f"the same mix of {facts.noun}s on cores like these, and CPU per {facts.noun} that stays"
    notes = [
        f"Counted: the processes {named}. Not counted: other services, system, file caches, generator.",
        f"Assumed: {stays}, for which a change of {RISE:+.0%} ± {RISE_SD:.0%} is allowed in the interval."
        if levels >= FEWEST_LEVELS
        else f"Assumed: {stays} as it was at the load measured; fewer than {FEWEST_LEVELS} loads do not show whether.",
        "Minimum is the mean: with it every core is busy, and work waits. Response times at a size are not predicted.",
    ]
    if wanted.per_s > top or FAR * wanted.per_s > top:
        most = max(times for times in TIMES) * wanted.per_s / top
        loads = "1 load" if levels == 1 else f"{levels} loads"
        notes.append(
            f"The highest load measured is {number(top)} {facts.noun}s/s over {loads}; the largest size is "
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
        why = "no run shows files (probes.files) while a known number of items came"
        notes.append(f"Disk: {CANNOT}, {'the size of the index was not read (--index)' if of_items else why}.")
    if of_items:
        notes.append("An item counts with the requests that put it in, in the processes that answer these.")
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
    if facts.noun == "item":
        steps.append("Run plimsoll drain with more items a second as well: it shows whether an item's CPU stays.")
    elif levels < FEWEST_LEVELS:
        steps.append(
            "Give a run of plimsoll capacity: its steps show how demand changes with load, and give intervals."
        )
    if any(part.memory and grown_with_load(part).kind == "time" for part in facts.parts):
        steps.append("Hold the load for longer (plimsoll hold) to see where the memory that grew with time ends.")
    if not facts.grown:
        steps.append(
            "Give a run of plimsoll grow as well, and probe its files (probes.files), for memory and disk by items."
        )
    how = "drain" if facts.noun == "item" else "capacity"
    steps.append(f"Prove the size: run plimsoll {how} on such a host or quota before buying it.")
    return steps
