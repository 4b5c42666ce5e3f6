"""What stands beside the answer of a step table (table_answer.py), in words, and what to measure next."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from plimsoll.findings.imported.table_answer import MOST_MIXED, flattens, flattens_words, listed_rates
from plimsoll.findings.imported.table_curve import FIND_OUT, ONE_IS_ALONE, Curve
from plimsoll.findings.imported.terms import FAILS_MORE
from plimsoll.runs.readings.step_table import Row, StepTable
from plimsoll.stats.throughput.asymptotes import asymptotes
from plimsoll.stats.throughput.flattening import BEHIND, IN_PROPORTION, Untold
from plimsoll.stats.throughput.knee import LIGHT_SHARE, Knee
from plimsoll.stats.throughput.littles_law import contradicts
from plimsoll.words import ONE_WORDS, level_words, number, share_words

ONE_TABLE_RUN = (
    "Each level was measured once: how much it differs from run to run is not known, so there is no interval."
)
RISES = (
    f"“Rises with the load”: throughput is {share_words(IN_PROPORTION)} or more of the lowest level's in proportion to "
    "the users, or they ask for less than the highest that was seen. “No more”: neither, and more users bring no more."
)
CARRIED_OPEN = (
    f"“Carried”: {share_words(IN_PROPORTION)} or more of what comes is done, in proportion to the lowest level. “Not "
    f"carried”: less than {share_words(BEHIND)}, or more load brings no more."
)


def facts(curve: Curve) -> list[list[str]]:
    """Where throughput begins to flatten, which is no capacity."""
    between = flattens(curve)
    return [["Begins to flatten", between]] if between else []


def note_words(curve: Curve, table: StepTable, interval: Sequence[float] | None) -> list[str]:
    """What the answer rests on and what stands beside it."""
    return [
        *_repeat_words(curve, interval),
        *_good_answers(curve),
        *_left_out(table, curve.unit),
        *(_doubts(curve.rows, curve.unit) if curve.model == "closed" else []),
        *_plateau_words(curve),
        *(_bound_words(curve) if curve.model == "closed" else []),
        *_slower_words(table, curve),
    ]


def _repeat_words(curve: Curve, interval: Sequence[float] | None) -> list[str]:
    if not curve.rows:
        return []
    if curve.repeats:
        rates: dict[float | None, list[float]] = {}
        for row in curve.rows:
            rates.setdefault(row.level, []).append(row.good_per_s or 0.0)
        shown = [f"{number(level or 0.0)}: {listed_rates(found)}" for level, found in rates.items() if len(found) > 1]
        return [f"Measured several times, by {ONE_WORDS.get(curve.unit, curve.unit)}: {'; '.join(shown)}."]
    return [ONE_TABLE_RUN] if interval is None else []


def _good_answers(curve: Curve) -> list[str]:
    failed = [row for row in curve.rows if row.errors]
    if not failed:
        return []
    words = ["Throughput counts good answers only."]
    if curve.fails_first:
        words.append(
            f"A level at which {share_words(FAILS_MORE)} more requests fail than at the lowest is not carried."
        )
    return [" ".join(words)]


def _left_out(table: StepTable, unit: str) -> list[str]:
    """Levels that cannot be added up, as an operation or its throughput is missing there."""
    missing = [row.level for row in table.totals() if row.level is not None and row.throughput_per_s is None]
    known = any(row.throughput_per_s is not None for row in table.rows)
    if not missing or not known or None in table.operations:
        return []
    listed = ", ".join(number(level) for level in missing)
    return [f"Left out: {listed} {unit}, where not every operation has a throughput."]


def _plateau_words(curve: Curve) -> list[str]:
    """What the capacity means here, and where the plateau that it goes by may be higher."""
    shape = curve.shape
    if isinstance(shape, Untold) or shape.first_flat is None:
        return []
    notes = flattens_words(curve)
    if curve.model == "closed" and not curve.fails_first:
        notes.append(RISES)
        if not shape.carried.is_plateau_seen:
            notes.append(
                "The most was finished at the highest level, so the plateau may lie above it, and the capacity with it."
            )
    if curve.model == "open" and not curve.fails_first:
        notes.append(CARRIED_OPEN)
    return notes


def _doubts(rows: Sequence[Row], unit: str) -> list[str]:
    """Numbers that contradict each other, by Little's law, if users wait for their answers."""
    notes = []
    for row in rows:
        mean = row.times_ms.get("mean")
        if mean is None or not row.level or not row.throughput_per_s or mean[0] != mean[1]:
            continue
        if unit in ONE_IS_ALONE and contradicts(row.level, row.throughput_per_s, mean[0] / 1000):
            waiting = row.throughput_per_s * mean[0] / 1000
            notes.append(
                f"The numbers at {level_words(row.level, unit)} contradict each other (Little's law): "
                f"{number(row.throughput_per_s)}/s with a mean of {number(mean[0])} ms keep {number(waiting)} users "
                "waiting, more than there are. Either they do not wait for their answers, or the tool adds times that "
                "it guessed."
            )
    return notes


def _bound_words(curve: Curve) -> list[str]:
    """The asymptotic bounds where throughput flattened and users hardly wait for each other at the lowest level."""
    shape, unit = curve.shape, curve.unit
    if isinstance(shape, Untold) or shape.first_flat is None or unit not in ONE_WORDS:
        return []
    if curve.bad is None or curve.fails_first or isinstance(curve.knee, Knee):
        return []
    lowest = curve.rows[0]
    most = curve.highest
    if most is None or most.per_s <= 0:
        return []
    bounds = asymptotes(1 / most.per_s, lowest.level, lowest.good_per_s)
    if bounds.crossing is None or not lowest.level or lowest.level > LIGHT_SHARE * bounds.crossing:
        return []
    alone = f"{number(bounds.bound(1.0))}/s for each {ONE_WORDS[unit]}"
    return [
        f"Asymptotic bounds by the lowest level and the most, without an interval: at most {alone} up to "
        f"{level_words(bounds.crossing, unit)}, and {number(bounds.most_per_s)}/s beyond. They assume that an "
        "operation costs as much at any load."
    ]


def _slower_words(table: StepTable, curve: Curve) -> list[str]:
    """How response times changed where throughput flattened: the third of the curves."""
    shape = curve.shape
    if isinstance(shape, Untold) or shape.first_flat is None:
        return []
    for name in ("p50", "mean", "p90", "p95", "p99"):
        before = _largest(table, shape.last_rising, name)
        after = _largest(table, shape.first_flat, name)
        if before and after and before[0] > 0:
            where = f" of {before[1]}" if before[1] else ""
            return [
                f"From {number(shape.last_rising)} to {number(shape.first_flat)} the {name}{where} went from "
                f"{number(before[0])} to {number(_of(table, shape.first_flat, name, before[1]) or after[0])} ms."
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


def objective_words(judged: Sequence[Mapping[str, Any]], unit: str) -> list[str]:
    """The first objective to be missed, or that none was."""
    if unmatched := [str(entry["needs"]) for entry in judged if entry.get("unmatched")]:
        return [*objective_words([entry for entry in judged if not entry.get("unmatched")], unit), *unmatched]
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


def next_words(curve: Curve, judged: Sequence[Mapping[str, Any]]) -> list[str]:
    """What to measure next."""
    missed = _where_missed(curve, judged)
    return [
        *missed,
        *_to_measure(curve, any_missed=bool(missed)),
        *(str(entry["needs"]) for entry in judged if entry.get("needs") and not entry.get("unmatched")),
    ]


def _to_repeat(curve: Curve) -> list[str]:
    if curve.is_mostly_mixed:
        return []
    if len(curve.mixed) > MOST_MIXED:
        return [FIND_OUT]
    return [f"Repeat {level_words(level, curve.unit)}, in random order with the others." for level in curve.mixed]


def _where_missed(curve: Curve, judged: Sequence[Mapping[str, Any]]) -> list[str]:
    """Where the first objective to be missed goes from met to missed: what lies above matters less."""
    missed = [entry for entry in judged if entry["failed_from"] is not None]
    if not missed:
        return []
    first = min(missed, key=lambda entry: float(entry["failed_from"]))
    what, failed = f"{first['objective']} of {_subject(first)}", float(first["failed_from"])
    met = [row.level for row in curve.rows if row.level is not None and row.level < failed]
    if not met:
        return [f"Measure levels below {level_words(failed, curve.unit)}: {what} is missed already at the lowest."]
    if (first["met_up_to"] or 0) < max(met):
        return []  # undecided in between, of which its own step is
    low, high = level_words(max(met), curve.unit), level_words(failed, curve.unit)
    return [f"Measure between {low} and {high}, to see up to where {what} is met."]


def _to_measure(curve: Curve, *, any_missed: bool = False) -> list[str]:
    shape, unit = curve.shape, curve.unit
    again = _to_repeat(curve)
    if curve.fails_first:
        at = level_words(curve.failing_from or 0.0, unit)
        return [*again, f"See which requests fail at {at} and why; then measure levels between."]
    if isinstance(shape, Untold):
        return [*again, shape.settle]
    if curve.bad is None:
        top = curve.means[-1].level
        above = f"Measure levels above {level_words(top, unit)} to find where it flattens."
        return [*again, *([above] if top == curve.rows[-1].level and not any_missed else [])]
    low, high = level_words(curve.good or 0, unit), level_words(curve.bad, unit)
    if curve.good is None:
        steps = [f"Measure levels below {high}."]
    elif curve.good == 1 and curve.same_everywhere is not None:
        steps = ["See what one request waits for: more of them at a time bring nothing."]
    elif unit in ONE_IS_ALONE and curve.bad - curve.good <= 1:
        steps = [f"Measure {low} and {high} several times, to get an interval."]
    else:
        steps = [f"Measure between {low} and {high}, each level several times, to narrow it and to get an interval."]
    if curve.model == "closed" and not shape.carried.is_plateau_seen and curve.queues_at is None:
        steps.append(f"Measure levels above {high}, to see whether throughput goes on rising.")
    return [*again, *steps]
