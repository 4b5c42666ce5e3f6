"""Where does throughput stop rising? From a step table: one row a level, no seconds, no intervals of its own.

The capacity of a closed load is ours: up to the highest level below 95 % of the plateau. An open load is carried as
long as throughput rises with what arrives. Where throughput begins to flatten is told beside it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal

from plimsoll.findings.capacity_words import ONE_WORDS, headroom_of, level_words, number
from plimsoll.findings.evidence import SERIES, TABLE, Evidence, as_data, of_steps
from plimsoll.findings.sustainable import bounds_for_headroom
from plimsoll.findings.table_objectives import judge_table_objectives
from plimsoll.runs.step_table import Row, StepTable
from plimsoll.stats.asymptotes import asymptotes
from plimsoll.stats.flattening import FLAT, PLATEAU_SHARE, Flattening, Untold, flattening
from plimsoll.stats.knee import LIGHT_SHARE
from plimsoll.stats.littles_law import contradicts

Model = Literal["open", "closed"]
SCHEMA = 1
QUESTION = "Up to which load does throughput rise?"
ONE_TABLE_RUN = (
    "Each level was measured once: how much it differs from run to run is not known, so there is no interval."
)


def levels_finding(
    table: StepTable,
    objectives: Sequence[Any] = (),
    *,
    expected: float | None = None,
    steps: Sequence[Mapping[str, Any]] | None = None,
    interval: Sequence[float] | None = None,
    run_path: str | None = None,
    notes: Sequence[str] = (),
    model: Model = "closed",
) -> dict[str, Any]:
    """The finding. `steps`: of a run with seconds, else made of the rows; `interval`: of the most it finished per
    second (95 %, within this run), where seconds tell; `model`: whether users wait for their answers (closed)."""
    rows = [row for row in table.totals() if row.level is not None and row.throughput_per_s is not None]
    found = flattening_of(table)
    unit = table.level_unit
    good, bad = carried(found, model)
    judged = judge_table_objectives(objectives, table, expected if expected is not None else good)
    shown = (
        [dict(step) for step in steps] if steps is not None else [_step(row, found, model) for row in table.totals()]
    )
    return {
        "schema": SCHEMA,
        "question": QUESTION,
        "answer": " ".join([_answer(found, rows, unit, model), *_objective_words(judged, unit)]),
        "experiment": "analyze",
        "status": "finished",
        "valid": True,
        "level_unit": unit,
        "capacity": _capacity(found, rows, unit, interval, model),
        "facts": _facts(found, unit),
        "objectives": judged,
        "headroom": headroom_of(expected, *bounds_for_headroom(good, bad, judged)),
        "evidence": _evidence(table, rows, steps),
        "notes": [
            *notes,
            *([ONE_TABLE_RUN] if rows and interval is None else []),
            *_left_out(table, unit),
            *(_doubts(rows, unit) if model == "closed" else []),
            *_plateau_words(found, unit, model),
            *(_bound_words(found, rows, unit) if model == "closed" else []),
            *_slower_words(table, found),
        ],
        "next": _next(found, judged, unit, model),
        "steps": [step for step in shown if step.get("level") is not None],
        "run": run_path,
    }


def _evidence(table: StepTable, rows: Sequence[Row], steps: Sequence[Mapping[str, Any]] | None) -> list[dict[str, Any]]:
    """The rows of the source with level and throughput; of a run with seconds its stretches at one level."""
    levels = [row.level or 0.0 for row in rows]
    span = (min(levels), max(levels)) if levels else None
    lines = tuple(f"line {row.line}" for row in rows if row.line is not None)
    file = file_of(table) if steps is None else SERIES
    about = "With level and throughput"
    found = Evidence(len(rows), "rows", file, about, None, None, span, table.level_unit, lines)
    return as_data([found, of_steps(steps, table.level_unit, "Held at one level", SERIES) if steps else None])


def file_of(table: StepTable) -> str:
    """Where its rows can be read: a table has lines in its source, the rows of samples are made of the seconds."""
    return TABLE if any(row.line is not None for row in table.rows) else SERIES


def flattening_of(table: StepTable) -> Flattening | Untold:
    """Where throughput flattens, by the rows of the whole load that have level and throughput."""
    rows = [row for row in table.totals() if row.level is not None and row.throughput_per_s is not None]
    levels, per_s = [row.level or 0.0 for row in rows], [row.throughput_per_s or 0.0 for row in rows]
    return flattening(levels, per_s, one_is_alone=table.level_unit in ("users", "vus", "connections"))


def carried(found: Flattening | Untold, model: Model) -> tuple[float | None, float | None]:
    """The highest level that is carried and the lowest that is not, as our own runs have them: of a closed load the
    bracket of 95 % of the plateau, of an open one that of the end of its rise. None where it is not known."""
    if isinstance(found, Untold):
        return None, None
    if model == "open":
        return found.last_rising, found.first_flat
    return found.unsaturated_to, found.saturated_from


def _answer(found: Flattening | Untold, rows: Sequence[Row], unit: str, model: Model) -> str:
    if isinstance(found, Untold):
        return f"Cannot tell where throughput flattens. {found.reason}"
    rate = {row.level: row.throughput_per_s for row in rows}
    top = f"the most was {number(found.most_per_s)}/s at {level_words(found.most_at, unit)}"
    if found.first_flat is None:
        how = "rises, though in less than proportion at the end," if found.gains[-1] < 0.8 else "rises in proportion"
        return f"Throughput {how} up to {level_words(found.last_rising, unit)}, the most that was tried; {top}."
    good, bad = carried(found, model)
    if good is None:
        return f"Throughput is within 5 % of its most at {level_words(bad or 0, unit)} already; {top}."
    to = f"Throughput rises up to {level_words(good, unit)} ({number(rate[good] or 0)}/s)"
    at_bad = f"{level_words(bad or 0, unit)} ({number(rate[bad] or 0)}/s)"
    if model == "open":
        return f"{to}; at {at_bad} less than half of what was added was finished; {top}."
    if not found.is_plateau_seen:
        return f"{to} and flattens towards {at_bad}, the most that was tried."
    return f"{to}; from {at_bad} on, more bring no more throughput; {top}."


def _facts(found: Flattening | Untold, unit: str) -> list[list[str]]:
    """Where throughput begins to flatten, which is no capacity."""
    if isinstance(found, Untold) or found.first_flat is None:
        return []
    return [["Begins to flatten", f"between {number(found.last_rising)} and {level_words(found.first_flat, unit)}"]]


def _plateau_words(found: Flattening | Untold, unit: str, model: Model) -> list[str]:
    """What the capacity means here, and where the plateau that it goes by may be higher."""
    if isinstance(found, Untold) or found.first_flat is None:
        return []
    between = f"between {number(found.last_rising)} and {level_words(found.first_flat, unit)}"
    notes = [f"It begins to flatten {between}: what was added brought less than half of what the first brought."]
    if model == "closed":
        notes.append("“Carried” means as in a closed run of our own: throughput below 95 % of its plateau.")
        if not found.is_plateau_seen:
            notes.append(
                "The most was finished at the highest level, so the plateau may lie above it, and the capacity with it."
            )
    return notes


def _capacity(
    found: Flattening | Untold, rows: Sequence[Row], unit: str, interval: Sequence[float] | None, model: Model
) -> dict[str, Any] | None:
    if isinstance(found, Untold):
        return None
    good, bad = carried(found, model)
    return {
        "users": good if unit == "users" else None,
        "level": good,
        "unit": unit,
        "model": model,
        "requests_per_s": next((row.throughput_per_s for row in rows if row.level == good), None),
        "good": good,
        "bad": bad,
        "plateau_share": PLATEAU_SHARE if model == "closed" else None,
        "plateau_seen": found.is_plateau_seen,
        "flattens_between": None if found.first_flat is None else [found.last_rising, found.first_flat],
        "gains": [round(gain, 3) for gain in found.gains],
        "flat_below_gain": FLAT,
        "most_per_s": found.most_per_s,
        "most_at": found.most_at,
        "most_interval": list(interval) if interval is not None else None,
    }


def _step(row: Row, found: Flattening | Untold, model: Model) -> dict[str, Any]:
    """A row as a step of a finding; without times of its own."""

    def exact(name: str) -> float | None:
        low, high = row.times_ms.get(name, (None, None))
        return low if low == high else None

    return {
        "level": row.level,
        "start_s": None,
        "end_s": None,
        "verdict": verdict_of(row.level, found, model),
        "reasons": [],
        "done_per_s": row.throughput_per_s,
        "p50_ms": exact("p50"),
        "p90_ms": exact("p90"),
        "p99_ms": exact("p99"),
        "mean_ms": exact("mean"),
        "times_ms": {name: list(bounds) for name, bounds in row.times_ms.items()},
        "samples": row.samples,
        "errors": row.failed,
        "error_share": row.errors,
        "cpu": dict(row.utilisation),
        "line": row.line,
    }


def verdict_of(level: float | None, found: Flattening | Untold, model: Model) -> str:
    """ "good" up to the highest level that is carried, "bad" from the lowest that is not."""
    good, bad = carried(found, model)
    if level is None:
        return "unknown"
    if bad is not None and level >= bad:
        return "bad"
    return "good" if good is not None and level <= good else "unknown"


def _left_out(table: StepTable, unit: str) -> list[str]:
    """Levels that cannot be added up, as an operation's throughput is not published there."""
    missing = [row.level for row in table.totals() if row.level is not None and row.throughput_per_s is None]
    known = any(row.throughput_per_s is not None for row in table.rows)
    if not missing or not known or None in table.operations:
        return []
    listed = ", ".join(number(level) for level in missing)
    return [f"Left out: {listed} {unit}, where not every operation has a throughput."]


def _doubts(rows: Sequence[Row], unit: str) -> list[str]:
    """Numbers that contradict each other, by Little's law, if users wait for their answers."""
    notes = []
    for row in rows:
        mean = row.times_ms.get("mean")
        if mean is None or not row.level or not row.throughput_per_s or mean[0] != mean[1]:
            continue
        if contradicts(row.level, row.throughput_per_s, mean[0] / 1000):
            waiting = row.throughput_per_s * mean[0] / 1000
            notes.append(
                f"The numbers at {level_words(row.level, unit)} contradict each other: "
                f"{number(row.throughput_per_s)}/s with a mean of {number(mean[0])} ms keep {number(waiting)} users "
                "waiting, more than there are, unless "
                "these do not wait for their answers, or the tool adds times that it guessed (Little's law)."
            )
    return notes


def _bound_words(found: Flattening | Untold, rows: Sequence[Row], unit: str) -> list[str]:
    """The asymptotic bounds where throughput flattened and users hardly wait for each other at the lowest level."""
    if isinstance(found, Untold) or found.first_flat is None or unit not in ONE_WORDS:
        return []
    lowest = min(rows, key=lambda row: row.level or 0.0)
    bounds = asymptotes(1 / found.most_per_s, lowest.level, lowest.throughput_per_s)
    if bounds.crossing is None or not lowest.level or lowest.level > LIGHT_SHARE * bounds.crossing:
        return []
    alone = f"{number(bounds.bound(1.0))}/s for each {ONE_WORDS[unit]}"
    return [
        f"Asymptotic bounds by the lowest level and the most, without an interval: at most {alone} up to "
        f"{level_words(bounds.crossing, unit)}, and {number(bounds.most_per_s)}/s beyond, if what an operation costs "
        "does not change with the load."
    ]


def _slower_words(table: StepTable, found: Flattening | Untold) -> list[str]:
    """How response times changed where throughput flattened: the third of the curves."""
    if isinstance(found, Untold) or found.first_flat is None:
        return []
    for name in ("p50", "mean", "p90", "p95", "p99"):
        before = _largest(table, found.last_rising, name)
        after = _largest(table, found.first_flat, name)
        if before and after and before[0] > 0:
            where = f" of {before[1]}" if before[1] else ""
            return [
                f"From {number(found.last_rising)} to {number(found.first_flat)} the {name}{where} went from "
                f"{number(before[0])} to {number(_of(table, found.first_flat, name, before[1]) or after[0])} ms."
            ]
    return []


def _largest(table: StepTable, level: float, name: str) -> tuple[float, str | None] | None:
    found = [
        (row.times_ms[name][1], row.operation) for row in table.rows if row.level == level and name in row.times_ms
    ]
    whole = [one for one in found if one[1] is None]
    return max(whole or found, key=lambda one: one[0], default=None)


def _of(table: StepTable, level: float, name: str, operation: str | None) -> float | None:
    rows = (row for row in table.rows if row.level == level and row.operation == operation and name in row.times_ms)
    return next((row.times_ms[name][1] for row in rows), None)


def _objective_words(judged: Sequence[Mapping[str, Any]], unit: str) -> list[str]:
    missed = [entry for entry in judged if entry["failed_from"] is not None]
    failed = [entry for entry in judged if entry["verdict"] == "failed" and entry["failed_from"] is None]
    if failed:
        words = ", ".join(f"{entry['objective']} of {_subject(entry)}" for entry in failed)
        return [f"Over the whole test {words} was missed."]
    if not missed:
        return ["No objective was missed."] if judged and all(one["verdict"] == "met" for one in judged) else []
    first = min(missed, key=lambda entry: float(entry["failed_from"]))
    at = level_words(first["failed_from"], unit)
    return [f"The first objective to be missed is {first['objective']} of {_subject(first)}, at {at}."]


def _subject(entry: Mapping[str, Any]) -> str:
    return str(entry.get("operation") or entry.get("request") or "all requests")


def _next(found: Flattening | Untold, judged: Sequence[Mapping[str, Any]], unit: str, model: Model) -> list[str]:
    steps = []
    if isinstance(found, Untold):
        steps.append(found.settle)
    elif found.first_flat is None:
        steps.append(f"Measure levels above {level_words(found.last_rising, unit)} to find where it flattens.")
    else:
        good, bad = carried(found, model)
        low, high = level_words(good or 0, unit), level_words(bad or 0, unit)
        if good is None:
            steps.append(f"Measure levels below {high}.")
        else:
            steps.append(
                f"Measure between {low} and {high}, each level several times, to narrow it and to get an interval."
            )
        if model == "closed" and not found.is_plateau_seen:
            steps.append(f"Measure levels above {high}, to see whether throughput goes on rising.")
    return [*steps, *(str(entry["needs"]) for entry in judged if entry.get("needs"))]
