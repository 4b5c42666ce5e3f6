"""The sustainable load: the highest level at which the target is not saturated *and* all objectives are met.

Decided from the levels that were held. An objective that is undecided at the capacity leaves open whether more than the
highest level at which it was met is sustainable; one that failed at a level ends it there.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from plimsoll.findings.exit_codes import without_data
from plimsoll.words import level_words

OBJECTIVES_OPEN = "; whether it meets the objectives is not decided"


def sustainable_load(
    good: float | None, bad: float | None, objectives: Sequence[Mapping[str, Any]], unit: str
) -> dict[str, Any] | None:
    """`level`: the highest that is carried and meets all objectives, None if there is none that was proven;
    `violated_from`: the lowest level at which one fails, with `objective` and of what; `undecided`: whether an
    objective may still be met above `level`; `words`: a clause that follows "Carries N". None without objectives.

    `good`, `bad`: the capacity's bracket; `objectives`: as `judge_objectives` makes them; levels in `unit`.
    """
    if not objectives:
        return None
    first = min((one for one in objectives if one["failed_from"] is not None), key=_failed_from, default=None)
    failed_from = None if first is None else float(first["failed_from"])
    met = [one["met_up_to"] for one in objectives]
    known = [float(level) for level in met if level is not None]
    level = min(known) if len(known) == len(met) else None
    if level is not None and good is not None:
        level = min(level, good)
    found: dict[str, Any] = {
        "level": level,
        "violated_from": failed_from,
        "objective": None if first is None else first["objective"],
        "subject": None if first is None else _subject(first),
        "undecided": _is_open(good, level, failed_from),
    }
    if any(one.get("unmatched") for one in objectives):
        found["unmatched"] = True
    blank = next(filter(without_data, objectives), None)
    return found | {"words": _words(found, good, bad, unit, blank)}


def _is_open(good: float | None, level: float | None, failed_from: float | None) -> bool:
    """Whether nothing is proven between the highest level that meets all and the capacity."""
    if good is None or (level is not None and level >= good):
        return False
    return failed_from is None or failed_from > good


def bounds_of_verdicts(verdicts: Sequence[Mapping[str, Any]]) -> tuple[float | None, float | None]:
    """Up to which level an objective is met, and from which on it fails, by its verdicts at levels."""
    failed_from = min((one["level"] for one in verdicts if one.get("verdict") == "failed"), default=None)
    met = [one["level"] for one in verdicts if one.get("verdict") == "met"]
    return max((level for level in met if failed_from is None or level < failed_from), default=None), failed_from


def bounds_for_headroom(
    good: float | None, bad: float | None, objectives: Sequence[Mapping[str, Any]]
) -> tuple[float | None, float | None]:
    """The bracket that headroom counts from: the capacity's, lowered by the objectives that failed at some level below
    those that are not carried anyway. One that failed at every level it was decided at leaves no level that is good. So
    does one that matched nothing, as what it asks is not known of any level."""
    failing = [one for one in objectives if one["failed_from"] is not None and fails_below(one["failed_from"], bad)]
    if any(one["met_up_to"] is None for one in failing) or any(one.get("unmatched") for one in objectives):
        good = None
    elif good is not None:
        good = min([good, *(float(one["met_up_to"]) for one in failing)])
    return good, min([*([bad] if bad is not None else []), *map(_failed_from, failing)], default=None)


def fails_below(failed_from: float, bad: float | None) -> bool:
    """Whether an objective that fails from that level on says more than that `bad` is not carried."""
    return bad is None or failed_from < bad


def _words(
    found: Mapping[str, Any], good: float | None, bad: float | None, unit: str, blank: Mapping[str, Any] | None
) -> str:
    """A clause; "" where nothing is carried. `blank`: an objective without data, which counts as failed."""
    if good is None:
        return ""
    level, violated = found["level"], found["violated_from"]
    if level is not None and level >= good:
        return " and meets the objectives there"
    if violated is None or violated > good:
        if blank is not None:
            return f", but {blank['objective']} of {_subject(blank)} had no data and counts as failed"
        if level is None:
            return OBJECTIVES_OPEN
        return f" and meets the objectives up to {level_words(level, unit)} at least"
    which = f"{found['objective']} of {found['subject']}"
    if level is None:
        return f", but misses {which} from {level_words(violated, unit)}"
    misses = f"misses {which} from {level_words(violated, unit)}"
    return f" and meets the objectives up to {level_words(level, unit)} ({misses})"


def _failed_from(objective: Mapping[str, Any]) -> float:
    return float(objective["failed_from"])


def _subject(objective: Mapping[str, Any]) -> str:
    return str(objective.get("operation") or objective.get("request") or "all requests")
