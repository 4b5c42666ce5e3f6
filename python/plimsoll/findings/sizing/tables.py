"""The tables of a sizing: hardware by load, what given cores carry, what each process takes, growth with items."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from plimsoll.findings.sizing.facts import Grown, Part, SizingFacts
from plimsoll.findings.sizing.limit import Stopped, processes_cell
from plimsoll.findings.sizing.memory import growth_words
from plimsoll.findings.sizing.needs import TIMES, Wanted, cpu_per_operation_s
from plimsoll.words import amount_words, level_words, number, share_words, size_words

CANNOT = "cannot tell"
_SIZES = "Minimum: what the load itself takes. Recommended: the upper end of the 95% interval"
_AHEAD = {
    "operation": "ahead: if each further item takes as much.",
    "item": "items are counted from the run's start: how many there were before is not known.",
}


def hardware_table(
    sizes: Sequence[Mapping[str, Any]], wanted: Wanted, unit: str, noun: str, caveats: Sequence[str]
) -> dict[str, Any]:
    """A row for each load and host: cores and memory used, at least, and recommended; above them the `caveats`."""
    columns = ["Load", f"{capital(noun)}s/s", "CPU used, cores", "CPU minimum", "CPU recommended", "Memory used"]
    columns += ["Memory recommended"]
    is_many = len(sizes[0]["hosts"]) > 1
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
        "note": " ".join([_SIZES, f"with {share_words(wanted.reserve)} left unused.", *caveats]),
        "columns": (["Host"] if is_many else []) + columns,
        "rows": rows,
        "words": ["Load"],
    }


def carries_table(carries: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """A row for each number of cores that was asked for; no table without one."""
    if not carries:
        return []
    rows = []
    for one in carries:
        words = f"{CANNOT}: {one['why']}"
        if one["per_s"] is not None:
            low, high = one["interval"]
            to = f"to {number(high)}" if high is not None else "or more"
            words = f"{amount_words(one['per_s'], 'operation')}/s ({number(low)} {to})"
            if one["capped_by"]:
                words = (
                    f"{amount_words(one['per_s'], 'operation')}/s at most: {one['capped_by']} stopped this run there"
                )
        rows.append([number(one["cores"]), share_words(one["usable_share"]), words])
    return [
        {
            "title": "What so many cores would carry",
            "note": "If CPU is what stops it. Usable: the share of its CPU that the target used where that stopped "
            "this run; 100% where it is not known.",
            "columns": ["Cores", "Usable", "Carries (95%)"],
            "rows": rows,
            "words": ["Carries (95%)"],
        }
    ]


def process_table(facts: SizingFacts, wanted: Wanted, stopped: Stopped) -> dict[str, Any]:
    """A row for each of the target's processes."""
    rows = [
        [part.label, _cpu_of_one(part), growth_words(part), processes_cell(part, wanted, stopped)]
        for part in facts.parts
    ]
    return {
        "title": "By process",
        "note": f"CPU per {facts.noun}{_where_measured(facts)}. Of a process that uses one core at most so many are "
        f"needed at {', '.join(f'{times}×' for times in TIMES)}: more cores alone do not help.",
        "columns": ["Process", f"CPU per {facts.noun}", "Memory", "Processes needed"],
        "rows": rows,
        "words": ["Process", "Memory", "Processes needed"],
    }


def disk_table(sizes: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Of a run of drain: what its index grows by in a day."""
    rows = []
    for size in sizes:
        for disk in size["disk"]:
            low, high = (size_words(end) for end in disk["interval"])
            load = f"{size['times']}×, {amount_words(size['per_s'], 'item')}/s"
            grows = f"{size_words(disk['bytes_per_day'])} ({low} to {high})"
            is_chance = disk["interval"][0] <= 0 <= disk["interval"][1]
            rows.append([load, disk["where"], f"{CANNOT}: within chance of nothing" if is_chance else grows])
    if not rows:
        return []
    note = "Bytes of each item × items of a day at that load, if each further item takes as much; nothing is deleted."
    columns = ["Load", "What", "Grows in a day (95%)"]
    return [{"title": "Disk by load", "note": note, "columns": columns, "rows": rows, "words": columns}]


def item_table(facts: SizingFacts) -> list[dict[str, Any]]:
    """Memory and disk by items; no table where neither was seen to grow."""
    if not facts.grown:
        return []
    rows = []
    for one in facts.grown:
        found = one.found
        rows.append(
            [
                f"{one.kind}, {one.where}",
                _per_item_words(one),
                f"{number(found.from_items)} to {number(found.to_items)}",
                size_words(found.last),
                *(_ahead(one, times, facts.noun) for times in TIMES[1:]),
            ]
        )
    return [
        {
            "title": "Growth with items",
            "note": "The mean of what came with each item, with its 95% interval; " + _AHEAD[facts.noun],
            "columns": ["What", "Per item", "Items seen", "Size there", *(f"At {times}× items" for times in TIMES[1:])],
            "rows": rows,
            "words": ["What"],
        }
    ]


def _per_item_words(one: Grown) -> str:
    """What an item takes; not where the interval holds zero, as it may take nothing."""
    low, high = one.found.interval
    if low <= 0 <= high:
        return f"{CANNOT}: within chance of nothing"
    return f"{size_words(one.found.per_item)} ({size_words(low)} to {size_words(high)})"


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
    return f"{number(cpu['recommended'])} → {whole_cores_words(cpu['whole_cores'])}"


def _where_measured(facts: SizingFacts) -> str:
    return " at the highest throughput" if facts.noun == "operation" else ", put in and done"


def _cpu_of_one(part: Part) -> str:
    found = cpu_per_operation_s(part)
    return CANNOT if found is None else f"{number(1000 * found)} ms"


def _ahead(one: Grown, times: int, noun: str) -> str:
    found = one.found
    if noun == "item":  # counted from the start of the run: how many there were before is not known
        return CANNOT
    if found.interval[0] <= 0 < found.interval[1]:
        return CANNOT if found.per_item > 0 else size_words(found.last)
    return size_words(found.last + (times - 1) * found.to_items * found.per_item)


def whole_cores_words(cores: int) -> str:
    """1 whole core, 2 whole cores."""
    return f"{cores} whole core{'' if cores == 1 else 's'}"


def capital(words: str) -> str:
    """The words with a capital at the front."""
    return words[0].upper() + words[1:]
