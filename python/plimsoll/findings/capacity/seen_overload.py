"""What a search without an upper bound saw all the same: a short step in which the target fell behind.

A probe proves no level to be too much. But something stopped the target in it, so that nothing may be said of how far
its resources would reach.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from plimsoll.words import level_words, number, time_words

FELL_BEHIND = 0.95  # of the arrivals


def overload_seen(result: Mapping[str, Any]) -> dict[str, Any] | None:
    """The lowest step above what is carried that finished clearly less than came, of an open load that no level was
    proven to be too much for; None elsewhere. `result`: the run's, with its steps."""
    if result["bad"] is not None or not result["open"]:
        return None
    behind = [
        step
        for step in result["steps"]
        if step["verdict"] == "bad"
        and step["level"] > (result["good"] or 0.0)
        and step["done_per_s"] < FELL_BEHIND * step["planned_per_s"]
    ]
    return min(behind, key=lambda step: float(step["level"]), default=None)


def as_seen_in_passing(limited: Mapping[str, Any], step: Mapping[str, Any], unit: str) -> dict[str, Any]:
    """`limited`, found in the short step, as the limit of a run in which no level was proven to be too much: none, with
    what was found there as `in_short_step`. Requests that fail, and the generator, stop it all the same."""
    if limited["kind"] in ("none", "errors", "generator"):
        return dict(limited)
    told = f"No level was proven to be too much; {overload_words(step, unit)}. {limited['evidence']}"
    return {"kind": "none", "where": None, "utilisation": None, "evidence": told, "in_short_step": dict(limited)}


def overload_of(main: Mapping[str, Any]) -> dict[str, Any] | None:
    """The same of the finding of a capacity."""
    capacity = main["capacity"]
    told = {key: capacity.get(key) for key in ("good", "bad")}
    return overload_seen({**told, "open": capacity.get("model") == "open", "steps": main.get("steps") or ()})


def overload_words(step: Mapping[str, Any], unit: str) -> str:
    """What it finished there, in a clause."""
    seconds = step["end_s"] - step["measured_from_s"]
    return (
        f"in a short step of {time_words(seconds)} at {level_words(step['level'], unit)} it finished "
        f"{number(step['done_per_s'])} of {number(step['planned_per_s'])}/s"
    )
