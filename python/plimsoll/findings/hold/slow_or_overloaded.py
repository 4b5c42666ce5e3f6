"""Slow, or overloaded? What takes long for one user alone is slow; what takes long only under the load is
overloaded."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from plimsoll.findings.evidence import SERIES, Evidence, as_data
from plimsoll.findings.hold.series import HoldSeries
from plimsoll.listed_names import listed
from plimsoll.study.objectives import parse_objective
from plimsoll.words import ms_words, number

QUESTION = "Is it slow, or overloaded?"
SHOWS, MUCH_SLOWER = 1.25, 2.0
FEWEST = 10
HARDLY = "Neither: hardly slower under the load"


def slow_or_overloaded(series: HoldSeries, judged: Sequence[Mapping[str, Any]], had_baseline: bool) -> dict[str, Any]:
    """The finding; `operations`: median alone and under load, their ratio."""
    rows = [_row(name, watched) for name, watched in series.operations.items() if watched.merged.count]
    base: dict[str, Any] = {"question": QUESTION, "operations": rows, "evidence": _evidence(series), "next": []}
    if not had_baseline:
        return base | {
            "answer": "It cannot be told: there was no run of one user alone before the load.",
            "next": ["Leave --baseline above 0 to have one."],
        }
    known = [row for row in rows if row["ratio"] is not None]
    failing = [
        item for item in judged if item["verdict"] == "failed" and item["objective"] and item.get("alone") is not None
    ]
    slow = [item for item in failing if not parse_objective(item["objective"]).is_met_by(item["alone"])]
    overloaded = [item for item in failing if item not in slow]
    sentences = []
    if slow:
        sentences.append(
            f"Slow: one user alone misses the objective of {_names(slow)} too, so less load does not help."
        )
    if overloaded:
        names = _names(overloaded)
        sentences.append(f"Overloaded: one user alone meets the objective of {names}, and the load misses it.")
    if not known:
        return base | {
            "answer": " ".join(sentences) or "It cannot be told: too few requests of one user alone were measured.",
            "next": ["Give the baseline more time with --baseline."],
        }
    worst = max(known, key=lambda row: row["ratio"])
    shown = (
        f"the median of '{worst['operation']}' is {ms_words(worst['loaded_ms'])} "
        f"under the load, {ms_words(worst['alone_ms'])} alone"
    )
    if not sentences:
        ratio = worst["ratio"]
        lead = "Slower under the load" if ratio >= MUCH_SLOWER else "A little slower under the load"
        lead, ending = (
            (lead, f"{number(ratio)} times as long") if ratio >= SHOWS else (HARDLY, "the greatest difference")
        )
        sentences.append(f"{lead}: {shown}, {ending}.")
    else:
        sentences.append(f"The greatest difference: {shown}.")
    step = []
    if slow:
        step.append("Profile one slow request by itself: its code, its queries, its data.")
    if overloaded:
        step.append("Find the level that still meets the objectives: plimsoll capacity.")
    return base | {"answer": " ".join(sentences), "next": step}


def _evidence(series: HoldSeries) -> list[dict[str, Any]]:
    """Requests, or iterations, whose times are compared."""
    loaded = sum(watched.merged.count for watched in series.operations.values())
    alone = sum(watched.alone.count for watched in series.operations.values())
    return as_data(
        [
            Evidence(loaded, "response times", SERIES, "Under the load", names=tuple(series.operations)),
            Evidence(alone, "response times", SERIES, "Of one user alone"),
        ]
    )


def _row(name: str, watched: Any) -> dict[str, Any]:
    loaded = watched.merged.percentile(0.5)
    alone = watched.alone.percentile(0.5) if watched.alone.count >= FEWEST else None
    return {
        "operation": name,
        "alone_ms": alone,
        "alone_samples": watched.alone.count,
        "loaded_ms": loaded,
        "ratio": loaded / alone if alone else None,
    }


def _names(items: Sequence[Mapping[str, Any]]) -> str:
    return listed([str(item.get("request") or item.get("operation") or "all requests") for item in items], 3)
