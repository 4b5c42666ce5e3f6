"""Objectives against a step table: met, failed, or undecided, level by level.

A source that lacks the very percentile still bounds it: quantiles rise, so p90 lies between p50 and p95. Where the
source says how many samples there were, its percentiles, least and greatest bound how many were above the limit: these
decide by the exact test, with an error of 1%, as if the samples were independent. Where they do not, the value counts
as published, from 20 ÷ (1 − q) samples on. No number of samples is demanded where the source does not say how many
there were.

A failure is no answer in time: where more than 5% of the requests failed, p95 is above any limit.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import Any

from plimsoll.findings.capacity.sustainable import bounds_of_verdicts
from plimsoll.findings.objectives import VERDICTS
from plimsoll.listed_names import listed
from plimsoll.nearest_word import nearest
from plimsoll.runs.readings.objective_samples import Wanted, needed_samples
from plimsoll.runs.readings.step_table import Bounds, Row, StepTable
from plimsoll.stats.estimates.quantile import samples_needed
from plimsoll.stats.estimates.quantile_test import is_above, is_below, judge_share, share_bounds
from plimsoll.study.objectives import Limit
from plimsoll.words import number

MOST_NAMES = 12
INFINITE = float("inf")


def judge_table_objectives(
    objectives: Iterable[Any], table: StepTable, reference: float | None
) -> list[dict[str, Any]]:
    """One entry per objective, keys as `findings.objectives.judge_objectives`; "undecided" says what is missing."""
    return [_entry(Wanted.of(objective), table, reference) for objective in objectives]


def _entry(wanted: Wanted, table: StepTable, reference: float | None) -> dict[str, Any]:
    subject = wanted.request or wanted.operation
    found = _rows_of(table, subject)
    rows = [row for row in found if row.level is not None]
    whole = len(found) == 1 and not rows
    verdicts = [_verdict(wanted.limit, row) for row in sorted(found if whole else rows, key=lambda row: row.level or 0)]
    leveled = [item for item in verdicts if item["level"] is not None]
    met_up_to, failed_from = bounds_of_verdicts(leveled)
    verdict = verdicts[0]["verdict"] if whole else _at(met_up_to, failed_from, reference)
    entry: dict[str, Any] = {
        **({"request": wanted.request} if wanted.request else {"operation": wanted.operation}),
        "objective": wanted.text,
        "unit": wanted.limit.unit,
        "met_up_to": met_up_to,
        "failed_from": failed_from,
        "verdict": verdict,
        "at_level": None if whole else reference,
        "verdicts": verdicts,
    }
    if table.level_unit == "users":
        entry["met_up_to_users"] = met_up_to
    if subject is not None and not found:
        entry["unmatched"] = True
    entry["needs"] = _needs(wanted, subject, verdicts, table, reference) if entry["verdict"] == "undecided" else None
    return entry


def _rows_of(table: StepTable, subject: str | None) -> Sequence[Row]:
    """Rows of that operation; of all together without one, or the only one there is."""
    if subject is not None or None in table.operations or len(table.operations) > 1:
        return table.of(subject)
    return table.rows


def _at(met_up_to: float | None, failed_from: float | None, reference: float | None) -> str:
    if failed_from is not None and (reference is None or failed_from <= reference):
        return "failed"
    if met_up_to is not None and (reference is None or met_up_to >= reference):
        return "met"
    return "undecided"


def _verdict(limit: Limit, row: Row) -> dict[str, Any]:
    if limit.statistic == "error_rate":
        return {"level": row.level, **_errors(limit, row)}
    if limit.quantile is not None and (row.errors or 0.0) > 1 - limit.quantile:
        return _mostly_failed(limit, row)
    low, high = bounds_of(limit, row)
    value = low if low == high else None
    found: dict[str, Any] = {"level": row.level, "value": value, "bounds": [low, high if high < INFINITE else None]}
    found |= {"samples": row.samples, "needed": needed_samples(limit), "line": row.line}
    if row.samples is not None:
        proven = _by_count(limit, row, row.samples)
        if proven is not None:
            return found | {"verdict": proven}
        if row.samples < (samples_needed(limit.quantile) if limit.quantile is not None else needed_samples(limit)):
            return found | {"verdict": "undecided"}
    if limit.is_met_by(high):
        return found | {"verdict": "met"}
    return found | {"verdict": "undecided" if limit.is_met_by(low) else "failed"}


def _mostly_failed(limit: Limit, row: Row) -> dict[str, Any]:
    """More requests failed than the percentile leaves out: that share was not answered in time, whatever times say."""
    found = {"level": row.level, "value": None, "bounds": [None, None], "samples": row.samples}
    return found | {"needed": needed_samples(limit), "line": row.line, "verdict": "failed"}


def _by_count(limit: Limit, row: Row, samples: int) -> str | None:
    """The verdict that the number of samples above the limit proves; None where it proves none."""
    if limit.quantile is None:
        return None
    allowed = 1 - limit.quantile
    fewest, most = shares_over(limit, row)
    if is_below(min(samples, math.floor(most * samples)), samples, allowed):
        return "met"
    return "failed" if is_above(min(samples, math.ceil(fewest * samples - 1e-9)), samples, allowed) else None


def shares_over(limit: Limit, row: Row) -> Bounds:
    """Least and greatest share of the samples above the limit that the row's statistics allow."""
    fewest, most = 0.0, 1.0
    for name, (low, high) in row.times_ms.items():
        share = {"min": 0.0, "max": 1.0}.get(name)
        if name.startswith("p") and name[1:].replace(".", "").isdigit():
            share = float(name[1:]) / 100
        if share is None:
            continue
        if limit.is_met_by(high):
            most = min(most, 1 - share)
        elif not limit.is_met_by(low):
            fewest = max(fewest, 1 - share)
    return fewest, max(fewest, most)


def bounds_of(limit: Limit, row: Row) -> Bounds:
    """What the row says of the statistic in ms: between its nearest percentiles, the mean between min and max."""
    exact = row.times_ms.get(limit.statistic)
    if exact is not None:
        return exact
    least = row.times_ms.get("min", (0.0, 0.0))[0]
    most = row.times_ms.get("max", (INFINITE, INFINITE))[1]
    if limit.quantile is None:
        if limit.statistic == "max":
            return max([least, *(low for low, _ in row.times_ms.values())]), INFINITE
        return least, most
    for name, (low, high) in row.times_ms.items():
        if name.startswith("p") and name[1:].replace(".", "").isdigit():
            share = float(name[1:]) / 100
            least = max(least, low) if share <= limit.quantile else least
            most = min(most, high) if share >= limit.quantile else most
    return least, max(least, most)


def _errors(limit: Limit, row: Row) -> dict[str, Any]:
    value = row.errors
    found: dict[str, Any] = {"value": value, "samples": row.samples, "needed": needed_samples(limit), "line": row.line}
    if row.failed is not None and row.samples:
        verdict = VERDICTS[judge_share(row.failed, row.samples, limit.limit)]
        return found | {"verdict": verdict, "interval": list(share_bounds(row.failed, row.samples))}
    if value is None:
        return found | {"verdict": "undecided"}
    return found | {"verdict": "met" if limit.is_met_by(value) else "failed"}


def _needs(
    wanted: Wanted, subject: str | None, verdicts: Sequence[dict[str, Any]], table: StepTable, reference: float | None
) -> str:
    if not verdicts:
        known = [str(name) for name in table.operations if name]
        has = listed(known, MOST_NAMES) if known else "none by name"
        step = f" {nearest(subject, known, '')}".rstrip() if subject is not None else ""
        return f"The source has no rows with a level for {subject or 'all requests together'}; it has {has}.{step}"
    if any(item["verdict"] != "undecided" for item in verdicts) and reference is not None:
        return f"Measure it at {number(reference)}, or above to show that it is met there."
    has = ", ".join(table.statistics) or "no times"
    return f"The source has {has}, or too few samples, which does not settle {wanted.text}; record single samples."
