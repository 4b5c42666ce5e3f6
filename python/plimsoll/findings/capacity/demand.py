"""How far would it go on a budget of a resource? Service demand, and two extrapolations with their assumptions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from plimsoll.findings.evidence import Evidence, as_data
from plimsoll.findings.imported.table_levels import file_of
from plimsoll.runs.readings.step_table import Row, StepTable
from plimsoll.stats.throughput.demand import Reach, demand_s, fit_line, reach
from plimsoll.words import level_words, number, share_words

SCHEMA = 1
QUESTION = "How far would it go on its budget of {name}?"
DEMAND_QUESTION = "What does a request cost of {name}?"
CONSTANT_WORDS = "demand per request stays"
SHARE_NEEDED = "Give the share that may be used with --budget {name}=80% to see how far it would go."
FAR = 1.5


def demand_findings(
    table: StepTable, budgets: Mapping[str, float], run_path: str | None = None
) -> list[dict[str, Any]]:
    """One finding per resource with a utilisation. `budgets`: share of a resource that may be used; "a+b" adds
    the resources a and b, which share one."""
    names = [*table.resources, *(name for name in budgets if "+" in name)]
    return [_finding(name, table, budgets.get(name), run_path) for name in names]


def _finding(name: str, table: StepTable, budget: float | None, run_path: str | None) -> dict[str, Any]:
    rows = _rows(table, name)
    base: dict[str, Any] = {
        "schema": SCHEMA,
        "question": (QUESTION if budget is not None else DEMAND_QUESTION).format(name=name),
        "experiment": "analyze",
        "status": "finished",
        "valid": True,
        "resource": name,
        "level_unit": table.level_unit,
        "evidence": as_data([_rests_on(table, name, rows)]),
        "run": run_path,
    }
    if not rows:
        answer = f"Cannot tell: no level has both a throughput and a utilisation of {name} above 0."
        return base | {"answer": answer, "demand": None, "next": [f"Record the utilisation of {name} at each level."]}
    used, per_s = [share for _, share in rows], [row.throughput_per_s or 0.0 for row, _ in rows]
    costs = [1000 * demand_s(share, rate) for share, rate in zip(used, per_s, strict=True)]
    measured = [
        {"level": row.level, "per_s": rate, "utilisation": share, "demand_ms": cost, "line": row.line}
        for (row, share), rate, cost in zip(rows, per_s, costs, strict=True)
    ]
    demand: dict[str, Any] = {"measured": measured, "budget": budget}
    cost = f"A request takes {_span(costs)} ms of the whole of {name}."
    if budget is None:
        next_step = SHARE_NEEDED.format(name=name)
        return base | {"answer": cost, "demand": demand, "notes": _notes(rows), "next": [next_step]}
    found = reach(used, per_s, budget)
    if _is_one_level(rows):
        found = replace(found, line_per_s=None, interval=None, beyond=max(found.constant_per_s) / max(per_s))
    scaled = _scaled(table, rows, found)
    return base | {
        "answer": f"{_reach_words(name, found, rows)} {cost}",
        "demand": demand | _reach_json(found),
        "scaled": scaled,
        "notes": [*_notes(rows), *_reach_notes(name, found, max(per_s)), *_scaled_words(table, scaled)],
        "next": [_settle(name, found)],
    }


def _rests_on(table: StepTable, name: str, rows: Sequence[tuple[Row, float]]) -> Evidence:
    """The rows with throughput and use of the resource."""
    levels = [row.level for row, _ in rows if row.level is not None]
    span = (min(levels), max(levels)) if levels else None
    lines = tuple(f"line {row.line}" for row, _ in rows if row.line is not None)
    about = f"With throughput and use of {name}"
    return Evidence(len(rows), "rows", file_of(table), about, None, None, span, table.level_unit, lines)


def _span(values: Sequence[float]) -> str:
    low, high = number(min(values)), number(max(values))
    return low if low == high else f"{low} to {high}"


def _rows(table: StepTable, name: str) -> list[tuple[Row, float]]:
    """Rows with a throughput and the utilisation of the resource, or the sum of several, above 0."""
    parts = [part.strip() for part in name.split("+")]
    found = []
    for row in table.totals():
        if row.throughput_per_s and all(part in row.utilisation for part in parts):
            share = sum(row.utilisation[part] for part in parts)
            if share > 0:
                found.append((row, share))
    return found


def _is_one_level(rows: Sequence[tuple[Row, float]]) -> bool:
    """Whether all rows are of one level, whose repeats differ by chance alone; of no level, by their throughput."""
    return len({(row.level, None if row.level is not None else row.throughput_per_s) for row, _ in rows}) < 2


def _reach_words(name: str, found: Reach, rows: Sequence[tuple[Row, float]]) -> str:
    used, per_s = [share for _, share in rows], [row.throughput_per_s or 0.0 for row, _ in rows]
    ends = sorted({(found.constant_per_s[0], 0), (found.constant_per_s[-1], len(used) - 1)}, key=lambda one: one[1])
    if len(used) > 2:
        places = range(len(used))
        low, high = (pick(places, key=lambda place: found.constant_per_s[place]) for pick in (min, max))
        ends = [(found.constant_per_s[place], place) for place in dict.fromkeys((low, high))]
    parts = [
        f"{number(per_s[at])}/s at {share_words(used[at])} → {number(to)}/s at {share_words(found.budget)}"
        for to, at in ends
    ]
    words = f"{', '.join(parts)} of {name} if {CONSTANT_WORDS}"
    if found.line_per_s is None:
        one = "one level does not show one" if _is_one_level(rows) else "only one throughput was measured"
        why = one if _is_one_level(rows) or len(set(per_s)) < 2 else "its utilisation did not rise with load"
        return f"{words}; no line: {why}."
    points = "the two points" if len(used) == 2 else f"the {len(used)} points"
    interval = f" (95%: {number(found.interval[0])} to {number(found.interval[1])})" if found.interval else ""
    return f"{words}; {number(found.line_per_s)}/s{interval} along the line through {points}."


def _notes(rows: Sequence[tuple[Row, float]]) -> list[str]:
    used, per_s = [share for _, share in rows], [row.throughput_per_s or 0.0 for row, _ in rows]
    line = fit_line(used, per_s)
    if line is None or _is_one_level(rows):
        return ["One level does not show whether the demand per request stays the same as load grows."]
    if line.idle < 0:
        return [
            f"The line meets 0/s at {share_words(line.idle)}, below nothing: the demand per request rose with load."
        ]
    return [f"The line says that {share_words(line.idle)} would be in use without any request."]


def _reach_notes(name: str, found: Reach, top_per_s: float) -> list[str]:
    """What the extrapolation assumes, and how far it goes beyond what was measured."""
    notes = [f"Both assume that {name} is what limits, and that nothing else fills up before."]
    if found.beyond > FAR:
        notes.append(
            f"That is up to {number(found.beyond)} times the highest throughput measured ({number(top_per_s)}/s): an "
            "extrapolation, usually too high, as demand mostly rises towards saturation."
        )
    if found.line_per_s is not None and found.interval is None:
        few = len(found.constant_per_s) == 2
        notes.append(f"The line has no interval: {'two points have none' if few else 'it would be without end'}.")
    return notes


def _settle(name: str, found: Reach) -> str:
    nearest = number(min(found.constant_per_s))
    return f"Measure a load near {nearest}/s, or as far as other limits allow, and see whether {name} follows the line."


def _reach_json(found: Reach) -> dict[str, Any]:
    return {
        "constant_demand_per_s": list(found.constant_per_s),
        "line_per_s": found.line_per_s,
        "line_interval": list(found.interval) if found.interval else None,
        "confidence": 0.95 if found.interval else None,
        "times_the_highest_measured": found.beyond,
    }


def _scaled(table: StepTable, rows: Sequence[tuple[Row, float]], found: Reach) -> dict[str, Any] | None:
    """Users and other rates of the highest level, by the same ratio, at constant demand; None without a level."""
    levels = [(row, share) for row, share in rows if row.level is not None]
    if not levels:
        return None
    row, share = max(levels, key=lambda one: one[0].level or 0.0)
    ratio = found.budget / share
    rates = {name: rate * ratio for name, rate in row.rates.items()}
    level = (row.level or 0.0) * ratio
    return {
        "ratio": ratio,
        "from_level": row.level,
        "level": level,
        "level_unit": table.level_unit,
        "rates_per_s": rates,
    }


def _scaled_words(table: StepTable, scaled: Mapping[str, Any] | None) -> list[str]:
    if scaled is None:
        return []
    unit = table.level_unit
    rates = [f"{name} {number(3600 * rate)}/h" for name, rate in scaled["rates_per_s"].items()]
    to = ", ".join([level_words(scaled["level"], unit), *rates])
    return [
        f"With the same mix, constant demand from {level_words(scaled['from_level'], unit)} means "
        f"{number(scaled['ratio'])} times as much: {to}."
    ]
