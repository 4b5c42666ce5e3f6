"""The curve of a step table in words: the answer, what stands beside it, and what to measure next."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from plimsoll.findings.imported.table_curve import FAILS_MORE, ONE_IS_ALONE, Curve
from plimsoll.runs.readings.step_table import Row, StepTable
from plimsoll.stats.throughput.asymptotes import asymptotes
from plimsoll.stats.throughput.flattening import BEHIND, IN_PROPORTION, PLATEAU_SHARE, Flattening, Untold
from plimsoll.stats.throughput.knee import LIGHT_SHARE, Knee
from plimsoll.stats.throughput.littles_law import contradicts
from plimsoll.words import ONE_WORDS, level_words, number, share_words

ONE_TABLE_RUN = (
    "Each level was measured once: how much it differs from run to run is not known, so there is no interval."
)
CARRIED = (
    f"“Carried”: throughput is {share_words(IN_PROPORTION)} or more of what as many users would bring in proportion to "
    "the lowest level, or they ask for less than the most that was seen. “Not carried”: neither, and more users bring "
    "no more."
)
CARRIED_OPEN = (
    f"“Carried”: {share_words(IN_PROPORTION)} or more of what comes is done, in proportion to the lowest level. “Not "
    f"carried”: less than {share_words(BEHIND)}, or more load brings no more."
)


def answer_words(curve: Curve) -> str:
    """Up to which level throughput rises, what stops it, and the knee."""
    parts = [_rise_words(curve), *_mixed_words(curve)]
    if isinstance(curve.knee, Knee):
        low, high = curve.knee.interval
        about = level_words(curve.knee.level, curve.unit)
        parts.append(f"The knee is at about {about} (95%: {number(low)} to {number(high)}).")
    return " ".join(parts)


def _rise_words(curve: Curve) -> str:
    shape, unit = curve.shape, curve.unit
    if curve.fails_first:
        return _failing_words(curve)
    if isinstance(shape, Untold):
        return f"Cannot tell where throughput flattens. {shape.reason}"
    top = f"the most was {number(shape.most_per_s)}/s at {level_words(shape.most_at, unit)}"
    if shape.first_flat is None and curve.bad is None:
        how = "rises in proportion"
        if curve.good != curve.rows[-1].level or shape.gains[-1] < 0.8:
            how = "rises, though in less than proportion at the end,"
        to = level_words(shape.last_rising, unit)
        return f"Throughput {how} up to {to}, the most that was tried; {top}. No knee was seen."
    if curve.bad is None:
        return _still_rising_words(curve, shape)
    to = f"Throughput rises with the load up to {level_words(curve.good or 0.0, unit)} ({_rate(curve, curve.good)})"
    at_bad = f"{level_words(curve.bad, unit)} ({_rate(curve, curve.bad)})"
    if curve.model == "open":
        return f"{to}; at {at_bad} {_undone(curve)} is not done; {top}."
    to += _between_words(curve)
    if curve.queues_at is not None:
        return f"{to}; at {at_bad}, the most that was tried, most of the response time is waiting."
    if not shape.carried.is_plateau_seen:
        return f"{to} and flattens towards {at_bad}, the most that was tried."
    last = curve.rows[-1]
    if (last.good_per_s or 0.0) < PLATEAU_SHARE * shape.most_per_s:
        fall = 1 - (last.good_per_s or 0.0) / shape.most_per_s
        falls = (
            f"past {level_words(shape.most_at, unit)} it falls, by {share_words(fall)} at "
            f"{level_words(last.level or 0.0, unit)}"
        )
        return f"{to}; {falls}; {top}."
    return f"{to}; from {at_bad} on, more bring no more throughput; {top}."


def _between_words(curve: Curve) -> str:
    """How throughput goes on above what is carried, at levels that are not saturated."""
    good, bad = curve.good or 0.0, curve.bad or 0.0
    between = max((row.level for row in curve.rows if row.level is not None and good < row.level < bad), default=None)
    if between is None or (curve.per_s(between) or 0.0) <= (curve.per_s(good) or 0.0):
        return ""
    return f", by less than the load up to {level_words(between, curve.unit)} ({_rate(curve, between)})"


def _undone(curve: Curve) -> str:
    """Which share of what comes at the level that is not carried is not done there, by the lowest level."""
    lowest = curve.rows[0].level or 1.0
    comes = (curve.per_s(lowest) or 0.0) * (curve.bad or 0.0) / lowest
    return f"{share_words(max(0.0, 1 - (curve.per_s(curve.bad) or 0.0) / comes) if comes else 0.0)} of what comes"


def _still_rising_words(curve: Curve, shape: Flattening) -> str:
    last = curve.rows[-1]
    more, times = share_words(shape.rise_at_end), (last.level or 0.0) / shape.before_end
    return (
        f"Throughput still rises at {level_words(last.level or 0.0, curve.unit)} ({_rate(curve, last.level)}), the "
        f"most that was tried: {more} more than at {number(shape.before_end)}, for {number(times)} times the load. "
        "No plateau was seen, so where it stops is not known."
    )


def _failing_words(curve: Curve) -> str:
    """Failures come first: what is answered with an error is not carried."""
    at, unit = curve.failing_from or 0.0, curve.unit
    known = [row for row in curve.rows if row.errors is not None]
    worst = max((row.errors or 0.0 for row in known if row.level == at), default=0.0)
    low = known[0]
    before = f", {share_words(low.errors or 0.0)} at {number(low.level or 0.0)}" if low.level != at else ""
    fails = f"{share_words(worst)} of the requests fail{before}"
    if curve.good is None:
        return f"At {level_words(at, unit)} {fails}: not carried."
    rate = _rate(curve, curve.good)
    return f"Carries {level_words(curve.good, unit)} ({rate}); at {level_words(at, unit)} {fails}."


def _rate(curve: Curve, level: float | None) -> str:
    return f"{number(curve.per_s(level) or 0.0)}/s"


def _mixed_words(curve: Curve) -> list[str]:
    return [
        f"At {level_words(level, curve.unit)} the repeats disagree ({_listed(rates)}), so that level is mixed: neither "
        "carried nor not."
        for level, rates in curve.mixed.items()
    ]


def _listed(rates: Sequence[float]) -> str:
    *first, last = [f"{number(rate)}/s" for rate in rates]
    return f"{', '.join(first)} and {last}"


def facts(curve: Curve) -> list[list[str]]:
    """Where throughput begins to flatten, which is no capacity."""
    between = _flattens(curve)
    return [["Begins to flatten", between]] if between else []


def _flattens(curve: Curve) -> str | None:
    shape = curve.shape
    if isinstance(shape, Untold) or shape.first_flat is None:
        return None
    return f"between {number(shape.last_rising)} and {level_words(shape.first_flat, curve.unit)}"


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
        shown = [f"{number(level or 0.0)}: {_listed(found)}" for level, found in rates.items() if len(found) > 1]
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
    between, shape = _flattens(curve), curve.shape
    if between is None or isinstance(shape, Untold):
        return []
    notes = [f"It begins to flatten {between}: what was added brought less than half of what the first brought."]
    if curve.model == "closed" and not curve.fails_first:
        notes.append(CARRIED)
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
                f"The numbers at {level_words(row.level, unit)} contradict each other: "
                f"{number(row.throughput_per_s)}/s with a mean of {number(mean[0])} ms keep {number(waiting)} users "
                "waiting, more than there are, unless "
                "these do not wait for their answers, or the tool adds times that it guessed (Little's law)."
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
    bounds = asymptotes(1 / shape.most_per_s, lowest.level, lowest.good_per_s)
    if bounds.crossing is None or not lowest.level or lowest.level > LIGHT_SHARE * bounds.crossing:
        return []
    alone = f"{number(bounds.bound(1.0))}/s for each {ONE_WORDS[unit]}"
    return [
        f"Asymptotic bounds by the lowest level and the most, without an interval: at most {alone} up to "
        f"{level_words(bounds.crossing, unit)}, and {number(bounds.most_per_s)}/s beyond, if what an operation costs "
        "does not change with the load."
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
    return [
        *_to_measure(curve),
        *(str(entry["needs"]) for entry in judged if entry.get("needs") and not entry.get("unmatched")),
    ]


def _to_measure(curve: Curve) -> list[str]:
    shape, unit = curve.shape, curve.unit
    again = [f"Repeat {level_words(level, unit)}, in random order with the others." for level in curve.mixed]
    if curve.fails_first:
        at = level_words(curve.failing_from or 0.0, unit)
        return [*again, f"See which requests fail at {at} and why; then measure levels between."]
    if isinstance(shape, Untold):
        return [*again, shape.settle]
    if curve.bad is None:
        return [
            *again,
            f"Measure levels above {level_words(curve.rows[-1].level or 0.0, unit)} to find where it flattens.",
        ]
    low, high = level_words(curve.good or 0, unit), level_words(curve.bad, unit)
    if curve.good is None:
        steps = [f"Measure levels below {high}."]
    else:
        steps = [f"Measure between {low} and {high}, each level several times, to narrow it and to get an interval."]
    if curve.model == "closed" and not shape.carried.is_plateau_seen:
        steps.append(f"Measure levels above {high}, to see whether throughput goes on rising.")
    return [*again, *steps]
