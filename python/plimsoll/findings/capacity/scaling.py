"""How does it scale? The universal scalability law through the steps of users who wait for their answers."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from plimsoll.findings.evidence import EVENTS, Evidence, as_data
from plimsoll.findings.imported.shown import good_per_s
from plimsoll.findings.resources import Step
from plimsoll.stats.throughput.scalability import FEWEST_LEVELS, NoLaw, Scalability, fit_scalability
from plimsoll.words import level_words, number, share_words, without_flags

QUESTION = "How does throughput scale with users?"
LAW = "the universal scalability law"
LEAST_SECONDS = 2.0


def scaling_finding(main: Mapping[str, Any], steps: Sequence[Step], *, falls: bool = True) -> dict[str, Any] | None:
    """The finding; None for an open workload, whose level is no number of users at work, and below FEWEST_LEVELS.
    `falls`: whether a fall of throughput is known to be more than chance, where the law's peak lies within the levels.
    """
    if main["capacity"]["model"] != "closed":
        return None
    levels, per_s, done = _points(steps)
    if len(levels) < FEWEST_LEVELS:
        return None
    unit = main["capacity"]["unit"]
    one = 1.0 if unit in ("users", "vus") else 0.0
    found = fit_scalability(levels, per_s, [1 / math.sqrt(count) for count in done], one)
    if isinstance(found, Scalability) and not falls:
        found = replace(found, reached=False)
    rests_on = Evidence(
        sum(done),
        "operations",
        EVENTS,
        f"Throughput of {len(levels)} levels",
        None,
        None,
        (levels[0], levels[-1]),
        unit,
    )
    base: dict[str, Any] = {"question": QUESTION, "evidence": as_data([rests_on])}
    if isinstance(found, NoLaw):
        return base | {
            "answer": f"Cannot tell. {found.reason}",
            "scalability": None,
            "next": [found.settle],
        }
    top = max(levels)
    return base | {
        "answer": _answer(found, unit, top),
        "scalability": _json(found, one > 0),
        "facts": _facts(found, unit, one > 0),
        "notes": [_law_note(found, len(levels))],
        "next": _next(found, unit, top),
    }


def scaling_of_imported(
    steps: Sequence[Step], unit: str, model: str, run_path: str | None, *, falls: bool = True
) -> tuple[list[dict[str, Any]], list[str]]:
    """The finding of another tool's levels, each held, if there is one; and why not, as a sentence of what cannot be
    told; `falls` as of `scaling_finding`."""
    of_answer = [{**step, "done_per_s": good_per_s(step)} for step in steps]  # requests, not the iterations around them
    told = scaling_finding({"capacity": {"model": model, "unit": unit}}, of_answer, falls=falls)
    if told is not None:
        common = {"schema": 1, "experiment": "analyze", "status": "finished", "valid": True, "run": run_path}
        return [{**common, **told, "next": [without_flags(one) for one in told["next"]]}], []
    levels, what = len(_points(steps)[0]), "How throughput scales with users"
    if model != "closed":
        return [], [f"{what}: the load is open, so its level is no number of users at work."]
    return [], [
        f"{what} ({LAW}): that needs {FEWEST_LEVELS} levels held with at most 1% failures and repeats that agree. It "
        f"has {levels}."
    ]


def _points(steps: Sequence[Step]) -> tuple[list[float], list[float], list[float]]:
    """Levels with throughput and completions, the steps of one level together; without steps that failed."""
    sums: dict[float, list[float]] = {}
    for step in steps:
        seconds = step["end_s"] - step["measured_from_s"]
        failing = (
            step.get("given_up")
            or step.get("disturbed")
            or step.get("unsteady")
            or step.get("verdict") == "mixed"
            or (step.get("error_share") or 0.0) > 0.01
        )
        if seconds >= LEAST_SECONDS and step["done_per_s"] and not failing:
            here = sums.setdefault(step["level"], [0.0, 0.0])
            here[0] += step["done_per_s"] * seconds
            here[1] += seconds
    levels = sorted(sums)
    return levels, [sums[at][0] / sums[at][1] for at in levels], [sums[at][0] for at in levels]


def _answer(found: Scalability, unit: str, top: float) -> str:
    low, high = found.peak_interval
    if not found.told:
        most = f" and {number(high)}/s" if high is not None else "; no end is in sight"
        between = "between" if high is not None else "at least"
        return (
            f"Cannot tell where throughput would peak: {between} {number(low)}{'' if most.startswith(' and') else '/s'}"
            f"{most}. Up to {level_words(top, unit)} it bends too little, or scatters too much."
        )
    interval = f"(95%: {number(low)} to {number(high or 0.0)})"
    if found.reached:
        return (
            f"Throughput peaks at {number(found.peak_per_s or 0.0)}/s {interval} with about "
            f"{level_words(found.peak_level or 0.0, unit)}{_where(found)}; more users bring less."
        )
    if found.level_interval[1] is None or (found.peak_level or top) < top:
        return (
            f"Throughput levels off at {number(found.peak_per_s or low)}/s {interval} by {LAW}; that more users would "
            "bring less is not seen."
        )
    return (
        f"Throughput would peak between {number(low)} and {number(high or 0.0)}/s if it goes on along {LAW}; the peak "
        f"itself lies beyond {level_words(top, unit)}, the most that was measured."
    )


def _where(found: Scalability) -> str:
    low, high = found.level_interval
    return f" ({number(low)} to {number(high)})" if high is not None else ""


def _json(found: Scalability, in_users: bool) -> dict[str, Any]:
    return {
        "told": found.told,
        "peak_measured": found.reached,
        "peak_per_s": found.peak_per_s,
        "peak_interval": list(found.peak_interval),
        "peak_level": found.peak_level,
        "peak_level_interval": list(found.level_interval),
        "confidence": 0.95,
        "single_per_s": found.single_per_s if in_users else None,
        "contention": found.contention if in_users else None,
        "coherency": found.coherency if in_users else None,
        "scatter": found.scatter,
    }


def _facts(found: Scalability, unit: str, in_users: bool) -> list[list[str]]:
    if not in_users:
        return []
    return [
        ["One user alone", f"{number(found.single_per_s)} /s"],
        ["Contention σ", share_words(found.contention, 3)],
        ["Coherency κ", number(found.coherency)],
    ]


def _law_note(found: Scalability, count: int) -> str:
    return (
        f"{LAW.capitalize()} fits {count} levels within {share_words(found.scatter)}. That a target follows it is "
        "assumed; a generator at its limit looks like contention."
    )


def _next(found: Scalability, unit: str, top: float) -> list[str]:
    if found.reached and found.told:
        return []
    more = f"Measure levels up to {level_words(2 * top, unit)} (--max-users), with longer steps (--step)"
    return [f"{more}, until throughput falls."]
