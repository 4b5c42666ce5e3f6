"""Did the data grow under the load, and did operations cost more for it?"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from plimsoll.findings.resources import Means, Step, target_cores
from plimsoll.stats.growth.covariate import DemandChange, demand_change
from plimsoll.words import number, percent_words

MOST_ERRORS = 0.01
MOST_OPEN = 2.0  # width of the interval, of twice the data, from which it says nothing: 0 to 3 times the cost


def data_volume_facts(steps: Sequence[Step], means: Sequence[Means]) -> dict[str, Any] | None:
    """`start`, `end`, `grew_share`, `demand` (change of CPU per operation when the data doubles) and `words`.

    None where the study does not say how to read the volume. `demand` is null where the steps do not tell.
    """
    read = (step.get(key) for step in steps for key in ("volume_start", "volume_end"))
    known = [value for value in read if value is not None]
    if not known:
        return None
    start, end = known[0], known[-1]
    change = _demand(steps, means, start)
    share = end / start - 1 if start > 0 else None
    return {
        "start": start,
        "end": end,
        "grew_share": share,
        "demand": None if change is None else _change_json(change),
        "words": f"{_growth_words(start, end, share)} {_demand_words(change, start != end)}".strip(),
    }


def _demand(steps: Sequence[Step], means: Sequence[Means], start: float) -> DemandChange | None:
    rows = []
    for step, seen in zip(steps, means, strict=True):
        before, after, cores = step.get("volume_start"), step.get("volume_end"), target_cores(seen)
        if before is None or after is None or cores is None or not step["done_per_s"]:
            continue
        if step["error_share"] > MOST_ERRORS:  # what fails costs something else
            continue
        rows.append((cores, step["done_per_s"], (before + after) / 2, step["end_s"] - step["measured_from_s"]))
    if not rows:
        return None
    cores_used, per_s, volume, seconds = zip(*rows, strict=True)
    return demand_change(cores_used, per_s, volume, seconds, start)


def _change_json(change: DemandChange) -> dict[str, Any]:
    interval = [change.low, change.high]
    return {"per_doubling": change.per_doubling, "interval": interval, "p": change.p, "significant": change.significant}


def _growth_words(start: float, end: float, share: float | None) -> str:
    if start == end:
        return f"The data volume stayed at {number(start)}."
    by = f" ({percent_words(share)})" if share is not None else ""
    return f"The data volume went from {number(start)} to {number(end)}{by} during the run."


def _demand_words(change: DemandChange | None, grew: bool) -> str:
    if not grew:
        return ""
    if change is None:
        return "Whether operations cost more for it cannot be told from these steps."
    if not change.significant and change.high - change.low > MOST_OPEN:
        return "Whether CPU per operation changed with it is inconclusive: the confidence interval is too wide."
    interval = f"99%: {percent_words(change.low)} to {percent_words(change.high)} if the data doubles"
    if not change.significant:
        return f"CPU per operation did not change with it beyond chance ({interval})."
    by = f"by {percent_words(change.per_doubling)} ({interval})"
    return f"CPU per operation changed with it beyond chance, {by}, so the answer holds for this volume."
