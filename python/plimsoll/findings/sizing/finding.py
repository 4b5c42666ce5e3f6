"""What hardware does it need? CPU cores and memory for the expected load and for 2, 5 and 10 times of it.

    used         what the load takes: CPU by the demand per operation (stats/throughput/demand_curve.py), memory as it
                 grew with load and items (stats/growth/space.py), each with its 95% interval
    minimum      just that: all of it is busy, work waits, and nothing else may run there
    recommended  the upper end of the interval ÷ (1 − reserve)

The numbers are findings/sizing/needs.py's, the tables findings/sizing/tables.py's; here are the sentences, with the
assumptions spelt out.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from plimsoll.findings.evidence import RESOURCES, Evidence, as_data
from plimsoll.findings.sizing.carries import carried_on
from plimsoll.findings.sizing.facts import DISK, HERE, Grown, Part, SizingFacts
from plimsoll.findings.sizing.limit import (
    OF_HARDWARE,
    Stopped,
    ceiling_words,
    ends_at_one_core,
    more_cores_help,
    process_words,
    processes_needed,
    stopped_by,
    undecided_words,
)
from plimsoll.findings.sizing.memory import memory_growth, next_steps_for_memory
from plimsoll.findings.sizing.needs import (
    HELD_WITHIN,
    TIMES,
    Wanted,
    cores_of,
    cpu_per_operation_s,
    needs_at,
    too_little,
)
from plimsoll.findings.sizing.tables import (
    CANNOT,
    capital,
    carries_table,
    disk_table,
    hardware_table,
    item_table,
    process_table,
    whole_cores_words,
)
from plimsoll.stats.throughput.demand_curve import FEWEST_LEVELS, RISE, RISE_SD
from plimsoll.words import amount_words, level_words, number, percent_words, share_words, size_words

QUESTION = "What hardware does it need?"
FAR = 2.0


def sizing_finding(main: Mapping[str, Any], facts: SizingFacts, wanted: Wanted, unit: str) -> dict[str, Any]:
    """The finding; `main`: the run's first finding, for what stopped it and what it carried."""
    if not facts.parts:
        return _nothing_known(facts)
    hosts = list(dict.fromkeys(part.host for part in facts.parts))
    sizes = [needs_at(times, hosts, facts, wanted) for times in TIMES]
    carries = [carried_on(cores, main, facts) for cores in wanted.cores]
    stopped, undecided = stopped_by(main), undecided_words(main, wanted)
    return {
        "question": QUESTION,
        "answer": _answer(sizes, facts, wanted, unit, stopped, undecided),
        "sizing": {
            "noun": facts.noun,
            "per_s": wanted.per_s,
            "level": wanted.level,
            "items": wanted.items,
            "reserve": wanted.reserve,
            "sizes": sizes,
            "processes": [_part_json(part, wanted, stopped) for part in facts.parts],
            "per_item": [_grown_json(one) for one in facts.grown],
            "carries": carries,
        },
        "evidence": _evidence(facts, unit),
        "tables": [
            hardware_table(sizes, wanted, unit, facts.noun, _caveats(facts, wanted, stopped, undecided)),
            *carries_table(carries),
            process_table(facts, wanted, stopped),
            *disk_table(sizes),
            *item_table(facts),
        ],
        "notes": _notes(main, facts, wanted, hosts),
        "next": _next(facts, sizes),
    }


def common_of_sizing(experiment: str, main: Mapping[str, Any], unit: str, run: str) -> dict[str, Any]:
    """What the finding has of its run, whose first finding is `main`: it is as valid as that."""
    return {
        "schema": 1,
        "experiment": experiment,
        "status": main.get("status"),
        "valid": main.get("valid", True),
        "invalid_because": list(main.get("invalid_because") or []),
        "level_unit": unit,
        "run": run,
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
            f"{capital(one.kind)} of {one.where} from {number(one.found.from_items)} to "
            f"{amount_words(one.found.to_items, 'item')}", names=(one.run,),
        )
        for one in facts.grown
    ]  # fmt: skip
    return as_data([*parts, *grown])


def _caveats(facts: SizingFacts, wanted: Wanted, stopped: Stopped, undecided: str) -> list[str]:
    """What a reader of the sizes alone has to know of those above what the run measured or proved."""
    top, largest = max(rate for _, rate in facts.rates), TIMES[-1] * wanted.per_s
    measured = f"The highest load measured is {number(top)} {facts.noun}s/s: sizes above it are extrapolated."
    beyond = [measured] if largest > HELD_WITHIN * top else []
    return [*filter(None, (undecided, ceiling_words(facts.parts, wanted, stopped))), *beyond]


def _answer(
    sizes: Sequence[Mapping[str, Any]],
    facts: SizingFacts,
    wanted: Wanted,
    unit: str,
    stopped: Stopped,
    undecided: str,
) -> str:
    first = sizes[0]
    load = _load_words(first, unit, facts.noun)
    parts = []
    for host in first["hosts"]:
        where = f" on {host['host']}" if host["host"] else ""
        cpu = _cpu_words(
            host["cpu"], _by_process([one for one in facts.parts if one.host == (host["host"] or HERE)], wanted)
        )
        parts.append(f"{capital(cpu)}{where}; {_memory_words(host['memory'])}")
    words = [*filter(None, [undecided]), f"For {load}: {'. '.join(parts)}."]
    if stopped.carried_per_s is not None and wanted.per_s > stopped.carried_per_s:
        at = f"This run stopped at {amount_words(stopped.carried_per_s, 'operation')}/s, below what is asked for."
        words.insert(0, at)
    words.append(f"This load is {wanted.chosen}, and {share_words(wanted.reserve)} are left as a reserve.")
    words += filter(None, [ceiling_words(facts.parts, wanted, stopped)])
    last = sizes[-1]["hosts"][0]["cpu"]
    if last["recommended"] is not None and len(first["hosts"]) == 1:
        need = f"{sizes[-1]['times']} times that load needs {amount_words(last['recommended'], 'core')}"
        words.append(f"{need}, if an operation then costs what it costs now.")
    return " ".join(words) + process_words(facts.parts, wanted, stopped)


def _load_words(size: Mapping[str, Any], unit: str, noun: str) -> str:
    rate = f"{number(size['per_s'])} {noun}s/s"
    return rate if size["level"] is None else f"{level_words(size['level'], unit)} ({rate})"


def _by_process(parts: Sequence[Part], wanted: Wanted) -> str:
    """ " (postgres 0.7, shop 0.27)"; empty for one process alone."""
    used = [(cores_of([part], wanted.per_s).used, part.label) for part in parts]
    told = sorted(((cores, label) for cores, label in used if cores is not None), reverse=True)
    return f" ({', '.join(f'{label} {number(cores)}' for cores, label in told)})" if len(told) > 1 else ""


def _cpu_words(cpu: Mapping[str, Any], by_process: str) -> str:
    if cpu["used"] is None:
        return f"CPU: cannot tell, {cpu['cannot_tell']}"
    return (
        f"CPU at least {_cores_words(cpu['minimum'])}{by_process}, recommended {_cores_words(cpu['recommended'])}"
        f" ({whole_cores_words(cpu['whole_cores'])})"
    )


def _memory_words(memory: Mapping[str, Any]) -> str:
    if memory["used"] is None:
        return f"memory: cannot tell, {memory['cannot_tell']}"
    return f"memory at least {size_words(memory['minimum'])}, recommended {size_words(memory['recommended'])}"


def _cores_words(cores: float) -> str:
    return f"{number(cores)} core{'' if number(cores) == '1' else 's'}"


def _part_json(part: Part, wanted: Wanted, stopped: Stopped) -> dict[str, Any]:
    grown = memory_growth(part) if part.memory else None
    return {
        "label": part.label,
        "host": part.host or None,
        "cpu_ms_per_operation": None if (found := cpu_per_operation_s(part)) is None else 1000 * found,
        "one_thread": part.one_thread,
        "ends_at_one_core": ends_at_one_core(part, stopped),
        "more_cores_help": more_cores_help(part, stopped),
        "processes": part.processes,
        "memory_highest_bytes": part.memory_highest if part.memory else None,
        "memory_grows_with": None if grown is None else grown.kind,
        "measured": [
            {"per_s": per_s, "cores": cores, "seconds": seconds}
            for per_s, cores, seconds in zip(part.per_s, part.cores, part.seconds, strict=True)
        ],
        "cores_by_times": {str(times): cores_of([part], times * wanted.per_s).used for times in TIMES},
        "processes_by_times": {
            str(times): processes_needed(part, times * wanted.per_s, wanted.reserve, stopped)
            for times in TIMES
            if ends_at_one_core(part, stopped)
        },
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
        f"Assumed: {stays}, for which a change of {percent_words(RISE)} ± {share_words(RISE_SD)} is allowed in the "
        "interval."
        if levels >= FEWEST_LEVELS
        else f"Assumed: {stays} as it was at the load measured. Fewer than {FEWEST_LEVELS} loads do not show whether "
        "it does.",
        *facts.notes,
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
        volume = (
            f"the {amount_words(facts.volume, 'item')} of this run"
            if facts.volume is not None
            else "the data of this run"
        )
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
    if kind in OF_HARDWARE:
        return []
    what = "something that was not found" if kind == "unknown" else f"{kind.replace('_', ' ')}, {limited.get('where')}"
    return [
        f"This run stopped at {amount_words(carried, 'operation')}/s because of {what}: above that, hardware alone "
        "brings nothing until that limit is lifted."
    ]


def _next(facts: SizingFacts, sizes: Sequence[Mapping[str, Any]]) -> list[str]:
    steps = []
    levels = len({rate for _, rate in facts.rates})
    if facts.noun == "item":
        steps.append("Run plimsoll drain with more items a second as well: it shows whether an item's CPU stays.")
    elif levels < FEWEST_LEVELS:
        steps.append(
            "Give a run of plimsoll capacity: its steps show how demand changes with load, and give intervals."
        )
    if too_little(facts):
        steps.append("Run it to its end, or hold that load for a minute (plimsoll hold): the sizes then rest on more.")
    elif any(host["cpu"]["used"] is None for host in sizes[0]["hosts"]):
        steps.append("Hold that load for a minute (plimsoll hold) and size by that run: it shows the CPU that it uses.")
    steps += next_steps_for_memory(facts, sizes)
    if not facts.grown:
        steps.append(
            "Give a run of plimsoll grow as well, and probe its files (probes.files), for memory and disk by items."
        )
    how = "drain" if facts.noun == "item" else "capacity"
    steps.append(f"Prove the size: run plimsoll {how} on such a host or quota before buying it.")
    return steps
