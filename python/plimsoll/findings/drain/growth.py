"""How a consumer's index and memory grow in a run of `drain`, and when they reach what they may take."""

from __future__ import annotations

from typing import Any

import numpy as np

from plimsoll.findings.drain.series import Array, Consumer
from plimsoll.stats.consumption.keeping_up import KeepingUp
from plimsoll.stats.estimates.mean_interval import mean_interval
from plimsoll.stats.growth.drift import drift
from plimsoll.words import MIB, amount_words, change_words, number, size_words, time_words


def index_growth(seen: Consumer, budget: float | None, judged: KeepingUp | None) -> dict[str, Any]:
    """How the index grows with each item, and for how many more `budget` (bytes) lasts."""
    if seen.index is None:
        return {"answer": "It cannot be told: its size could not be read.", "index": None, "next": ["Check --index."]}
    at, size = seen.index
    items = np.interp(at, seen.seconds, seen.taken_out)
    if np.ptp(items) < 10:
        return {"answer": "It cannot be told: fewer than ten items were done.", "index": None, "next": []}
    per_item = float((size[-1] - size[0]) / (items[-1] - items[0]))
    interval = _per_item_interval(items, size)
    now = float(size[-1])
    words = f"{_growth_words(per_item, interval)}: from {size_words(float(size[0]))} to {size_words(now)}."
    about: dict[str, Any] = {
        "bytes_per_item": per_item,
        "interval": interval,
        "start_bytes": float(size[0]),
        "end_bytes": now,
    }
    if budget is not None:
        words += f" {_budget_words(budget, now, per_item, interval, judged)}"
        about |= {
            "budget_bytes": budget,
            "items_left": None if _may_not_grow(per_item, interval) else (budget - now) / per_item,
        }
    return {"answer": words, "index": about, "next": []}


def _may_not_grow(per_item: float, interval: list[float] | None) -> bool:
    return per_item <= 0 or (interval is not None and interval[0] <= 0)


def _growth_words(per_item: float, interval: list[float] | None) -> str:
    shown = f" (95%: {size_words(interval[0])} to {size_words(interval[1])})" if interval else ""
    if _may_not_grow(per_item, interval):
        return f"It is not seen to grow with the items: {size_words(per_item)} each{shown}"
    return f"It grows by {size_words(per_item)} per item{shown}"


def _per_item_interval(items: Array, size: Array) -> list[float] | None:
    """Batch means of the growth per item over ten stretches with as many items each; None where it cannot be told."""
    edges = np.linspace(items[0], items[-1], 11)
    sizes = np.interp(edges, items, size)
    slopes = np.diff(sizes) / np.diff(edges)
    if not np.isfinite(slopes).all():
        return None
    return mean_interval(slopes)


def _budget_words(
    budget: float, now: float, per_item: float, interval: list[float] | None, judged: KeepingUp | None
) -> str:
    if now >= budget:
        return f"The budget of {size_words(budget)} is exceeded."
    rate = judged.taken_per_s if judged else 0.0
    if _may_not_grow(per_item, interval):
        if interval is None or interval[1] <= 0:
            return f"The budget of {size_words(budget)} is not approached."
        return (
            f"The budget of {size_words(budget)} lasts for at least {number((budget - now) / interval[1])} more items."
        )
    left = (budget - now) / per_item
    when = f", in {time_words(left / rate)} at {amount_words(rate, 'item')}/s" if rate > 0 else ""
    low = (budget - now) / interval[1] if interval and interval[1] > 0 else None
    least = f" ({number(low)} at the least)" if low else ""
    return f"The budget of {size_words(budget)} lasts for {number(left)} more items{least}{when}."


def memory_growth(seen: Consumer, budget: float | None) -> dict[str, Any]:
    """When the resident memory of the target's processes reaches `budget` (bytes), if it goes on to grow so."""
    if seen.memory is None or budget is None:
        step = "Name the consumer's processes in the study (target.processes)."
        return {"answer": "It cannot be told: no process was probed.", "memory": None, "next": [step]}
    at, size = seen.memory
    now, found = float(size[-1]), drift(at, size)
    if found is None or found.low <= 0:
        words = f"Not by what was seen: memory stays at {size_words(now)}, below the budget of {size_words(budget)}."
        return {
            "answer": words if now < budget else f"It is above the budget of {size_words(budget)} already.",
            "memory": None,
            "next": [],
        }
    left = (budget - now) / found.slope
    rate = f"{change_words(found.slope * 3600 / MIB)} MiB an hour"
    return {
        "answer": (
            f"In {time_words(max(0.0, left))} if it goes on to grow by {rate} "
            f"(99%: {time_words(max(0.0, (budget - now) / found.high))} to "
            f"{time_words(max(0.0, (budget - now) / found.low))}); {size_words(now)} now."
        ),
        "memory": {
            "bytes_per_s": found.slope,
            "interval": [found.low, found.high],
            "now_bytes": now,
            "budget_bytes": budget,
        },
        "next": [],
    }
