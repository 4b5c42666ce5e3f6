"""Where does throughput stop rising? From a step table: one row a level, no seconds, no intervals of its own.

What each level says is table_curve.py's, its words table_words.py's.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from plimsoll.findings.capacity.estimates import CLOSED_KNEE_WORDS
from plimsoll.findings.capacity.sustainable import bounds_for_headroom
from plimsoll.findings.capacity.words import headroom_of
from plimsoll.findings.evidence import SERIES, TABLE, Evidence, as_data, of_steps
from plimsoll.findings.imported.table_answer import answer_words
from plimsoll.findings.imported.table_curve import Curve, Model, curve_of
from plimsoll.findings.imported.table_objectives import judge_table_objectives
from plimsoll.findings.imported.table_words import (
    facts,
    next_words,
    note_words,
    objective_words,
)
from plimsoll.runs.readings.failures import requests_words
from plimsoll.runs.readings.step_table import Row, StepTable
from plimsoll.stats.throughput.flattening import FLAT, IN_PROPORTION, PLATEAU_SHARE, Untold
from plimsoll.stats.throughput.knee import Knee
from plimsoll.words import level_words, share_words

SCHEMA = 1
TO_ANSWER = "See whether the target runs and whether one request by hand is answered, then measure again."
QUESTION = "Up to which load does throughput rise?"


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
    test: str | None = None,
    curve: Curve | None = None,
) -> dict[str, Any]:
    """The finding. `steps`: of a run with seconds, else made of the rows; `interval`: of the most it finished per
    second (95%, within this run), where seconds tell; `model`: whether users wait for their answers (closed); `test`:
    which of several tests in one table it is about; `curve`: its levels, where they are judged already."""
    curve = curve if curve is not None else curve_of(table, model, objectives)
    unit = table.level_unit
    judged = judge_table_objectives(objectives, table, expected if expected is not None else curve.good)
    shown = [dict(step) for step in steps] if steps is not None else [_step(row, curve) for row in table.totals()]
    headroom = headroom_of(expected, *bounds_for_headroom(curve.good, curve.bad, judged))
    words = [
        answer_words(curve),
        *_whole_words(table),
        *objective_words(judged, unit),
        *_expected_words(headroom, unit),
    ]
    unmeasured = _nothing_answered(table)
    return {
        "schema": SCHEMA,
        "question": QUESTION if test is None else f"{QUESTION[:-1]} in {test}?",
        "answer": " ".join([*unmeasured, *words]),
        "experiment": "analyze",
        "status": "finished",
        "valid": not unmeasured,
        "invalid_because": unmeasured,
        "level_unit": unit,
        "capacity": _capacity(curve, interval),
        "facts": facts(curve),
        "objectives": judged,
        "headroom": headroom,
        "evidence": _evidence(table, curve.rows, steps),
        "notes": [*notes, *note_words(curve, table, interval)],
        "next": [*([TO_ANSWER] if unmeasured else []), *next_words(curve, judged)],
        "steps": [step for step in shown if step.get("level") is not None],
        "run": run_path,
    }


def _nothing_answered(table: StepTable) -> list[str]:
    """Why nothing was measured, where the source states no time, no throughput and no good answer."""
    rows = table.totals()
    if not rows or any(row.times_ms or row.good_per_s is None or row.good_per_s > 0 for row in rows):
        return []
    if any(row.samples and not row.failed and row.error_share is None for row in rows):
        return []
    failed = sum(row.failed or 0 for row in rows)
    return [f"No request was answered ({failed:,} failed)." if failed else "No request was answered."]


def _whole_words(table: StepTable) -> list[str]:
    """Failures of a test that has no level."""
    rows = [row for row in table.totals() if row.level is None and row.errors]
    return [
        f"{row.failed:,} of {requests_words(row.samples)} failed ({share_words(row.errors or 0.0)})."
        if row.failed and row.samples
        else f"{share_words(row.errors or 0.0)} of the requests failed."
        for row in rows[:1]
    ]


def _expected_words(headroom: Mapping[str, Any] | None, unit: str) -> list[str]:
    if headroom is None:
        return []
    at = level_words(headroom["expected_users"], unit)
    if headroom["carries"] is None:
        return [f"Whether it carries the expected {at} is not known."]
    if not headroom["carries"]:
        return [f"It does not carry the expected {at}."]
    return [f"It carries the expected {at}; the headroom is {share_words(headroom['ratio'] or 0.0)}."]


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


def _capacity(curve: Curve, interval: Sequence[float] | None) -> dict[str, Any] | None:
    shape = curve.shape
    if isinstance(shape, Untold):
        return _by_failures(curve)
    knee = curve.knee if isinstance(curve.knee, Knee) else None
    return {
        **_ends(curve),
        "in_proportion_share": IN_PROPORTION,
        "plateau_share": PLATEAU_SHARE if curve.model == "closed" else None,
        "plateau_seen": shape.carried.is_plateau_seen,
        "flattens_between": None if shape.first_flat is None else [shape.last_rising, shape.first_flat],
        "gains": [round(gain, 3) for gain in shape.gains],
        "flat_below_gain": FLAT,
        **_most(curve, interval),
        **(
            {"knee": knee.level, "knee_interval": list(knee.interval), "knee_means": CLOSED_KNEE_WORDS}
            if knee is not None
            else {}
        ),
    }


def _ends(curve: Curve) -> dict[str, Any]:
    return {
        "users": curve.good if curve.unit == "users" else None,
        "level": curve.good,
        "unit": curve.unit,
        "model": curve.model,
        "requests_per_s": curve.per_s(curve.good),
        "good": curve.good,
        "bad": curve.bad,
        "failing_from": curve.failing_from,
        "falls_by": None if curve.fails_first else curve.falls_by,
        "rises": curve.rises,
    }


def _by_failures(curve: Curve) -> dict[str, Any] | None:
    """The capacity where throughput does not tell it, but failures do; None where neither does."""
    if not curve.fails_first:
        return None
    return {**_ends(curve), "plateau_seen": False, "flattens_between": None, "gains": [], **_most(curve, None)}


def _most(curve: Curve, interval: Sequence[float] | None) -> dict[str, Any]:
    """The plateau and the level with the most throughput, as the answer tells them."""
    most, plateau = curve.highest, curve.plateau
    return {
        "plateau_per_s": None if plateau is None else plateau.per_s,
        "most_per_s": 0.0 if most is None else most.per_s,
        "most_at": curve.rows[0].level if most is None else most.level,
        "most_interval": list(interval) if interval is not None else None,
    }


def _step(row: Row, curve: Curve) -> dict[str, Any]:
    """A row as a step of a finding; without times of its own."""

    def exact(name: str) -> float | None:
        low, high = row.times_ms.get(name, (None, None))
        return low if low == high else None

    return {
        "level": row.level,
        "start_s": None,
        "end_s": None,
        "verdict": curve.verdict(row.level),
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
