"""What can throughput not exceed? Asymptotic bounds of users who wait (stats/throughput/asymptotes.py).

The largest service demand is that of the plateau where throughput stopped rising, whatever limits there; else that of
the resource which would be full first, where its use was measured. Without either, or without a level at which users
hardly wait for each other, nothing is said.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from plimsoll.findings.capacity.estimates import closed_counts
from plimsoll.findings.capacity.how_far import reach_of
from plimsoll.findings.capacity.run_resources import Resource
from plimsoll.findings.resources import Step
from plimsoll.stats.throughput.asymptotes import Bounds, Estimate, bounds_by_demand, bounds_by_plateau
from plimsoll.stats.throughput.littles_law import contradicts, think_time_s
from plimsoll.words import ONE_WORDS, UNIT_WORDS, ms_words, number

QUESTION = "What can throughput not exceed?"
ASSUMED = (
    "Asymptotic bounds, X(N) ≤ min(N ÷ (R + Z), 1 ÷ D), need no law of queueing. They assume that an iteration "
    "costs as much at any load, and that users hardly wait for each other at the lowest level."
)


def bounds_finding(
    main: Mapping[str, Any], steps: Sequence[Step], resources: Sequence[Resource]
) -> dict[str, Any] | None:
    """The finding; None for an open workload, for multiples of a load, and where the steps do not support it."""
    capacity = main["capacity"]
    if capacity["model"] != "closed" or capacity["unit"] not in ONE_WORDS:
        return None
    levels, done, seconds = closed_counts(steps)
    fullest = _fullest(resources)
    if not levels:
        return None
    if capacity["bad"] is not None:
        source = "plateau"
        bounds = None if capacity["knee"] is None else bounds_by_plateau(levels, done, seconds)
    elif fullest is not None:
        source = fullest[0].name
        bounds = bounds_by_demand(levels, done, seconds, fullest[1])
    else:
        return None
    if bounds is None:
        return None
    response_s = _response_s(steps, min(levels))
    unit = capacity["unit"]
    return {
        "question": QUESTION,
        "answer": _answer(bounds, unit),
        "asymptotes": _json(bounds, source, response_s),
        "facts": _facts(bounds, response_s, ONE_WORDS[unit]),
        "notes": [ASSUMED, _source_words(source, bounds, fullest)],
        "next": [],
    }


def _fullest(resources: Sequence[Resource]) -> tuple[Resource, Estimate] | None:
    """The resource that would be full first, with the throughput there, where its interval is narrow enough to tell."""
    if not resources:
        return None
    found = reach_of(resources[0], resources[0].ceiling, resources[0].where)
    if not found.told or found.curve is None or found.curve.interval[1] is None:
        return None
    return resources[0], Estimate(found.curve.per_s, found.curve.interval[0], found.curve.interval[1])


def _response_s(steps: Sequence[Step], lowest: float) -> tuple[float, float] | None:
    """(R, Z) of one iteration at the lowest level: seconds of waiting for answers, and the rest of the round. None
    without requests, or with several at a time, as then they take longer than the round."""
    here = [step for step in steps if step["level"] == lowest and step.get("mean_ms") and step.get("requests_per_s")]
    lengths = [step["end_s"] - step["measured_from_s"] for step in here]
    done = sum(step["done_per_s"] * length for step, length in zip(here, lengths, strict=True))
    if done <= 0:
        return None
    response_s = sum(step["mean_ms"] * step["samples"] for step in here) / 1000 / done
    per_s = done / sum(lengths)
    if contradicts(lowest, per_s, response_s):
        return None
    return response_s, max(0.0, think_time_s(lowest, per_s, response_s))


def _interval(found: Estimate, digits: int = 3) -> str:
    return f"95%: {number(found.low, digits)} to {number(found.high, digits)}"


def _answer(bounds: Bounds, unit: str) -> str:
    one, many = ONE_WORDS[unit], UNIT_WORDS[unit]
    alone = bounds.round_s.inverse()
    return (
        f"At most {number(bounds.most_per_s.value)}/s ({_interval(bounds.most_per_s)}), however many {many} there are, "
        f"and at most {number(alone.value)}/s for each {one} ({_interval(alone)}). The two meet at "
        f"{number(bounds.crossing.value)} {many} ({_interval(bounds.crossing)}): beyond, more {many} only wait longer."
    )


def _json(bounds: Bounds, source: str, response_s: tuple[float, float] | None) -> dict[str, Any]:
    def pair(found: Estimate) -> list[float]:
        return [found.low, found.high]

    return {
        "most_per_s": bounds.most_per_s.value,
        "most_interval": pair(bounds.most_per_s),
        "demand_s": bounds.most_per_s.inverse().value,
        "demand_of": source,
        "round_s": bounds.round_s.value,
        "round_interval": pair(bounds.round_s),
        "response_s": response_s[0] if response_s else None,
        "think_s": response_s[1] if response_s else None,
        "crossing": bounds.crossing.value,
        "crossing_interval": pair(bounds.crossing),
        "confidence": 0.95,
    }


def _facts(bounds: Bounds, response_s: tuple[float, float] | None, one: str) -> list[list[str]]:
    demand = bounds.most_per_s.inverse()
    rows = [
        ["Largest service demand D", _seconds(demand) + " per iteration"],
        [f"One {one}'s round R + Z", _seconds(bounds.round_s)],
    ]
    if response_s is not None:
        waiting, rest = response_s
        rows.append(["R, waiting for answers at the lowest level", ms_words(1000 * waiting)])
        rows.append(["Z, the rest: think time and the script itself", ms_words(1000 * rest)])
    return rows


def _seconds(found: Estimate) -> str:
    value, low, high = (ms_words(1000 * one) for one in (found.value, found.low, found.high))
    return f"{value} (95%: {low} to {high})"


def _source_words(source: str, bounds: Bounds, fullest: tuple[Resource, Estimate] | None) -> str:
    if source != "plateau" and fullest is not None:
        return (
            f"D is that of {fullest[0].where}, of what was watched the first to be full. What was not watched may end "
            "earlier. Up to a quarter more demand by then is allowed for."
        )
    words = "D is that of the plateau, where throughput stopped rising: of what limits there, whatever it is."
    if fullest is None:
        return words
    resource, full = fullest
    where = f"{resource.where[:1].upper()}{resource.where[1:]}"
    which = f"{where}, of what was watched the first to be full, would end at {number(full.value)}/s"
    agrees = full.low <= bounds.most_per_s.high and full.high >= bounds.most_per_s.low
    if agrees:
        return f"{words} {which} ({_interval(full)}), which agrees."
    other = "something else ends earlier" if full.low > bounds.most_per_s.high else "its demand falls with the load"
    return f"{words} {which} ({_interval(full)}), so {other}."
