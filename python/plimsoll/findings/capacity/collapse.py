"""Collapse and recovery in sentences: how little a target finishes that is overloaded, and when it recovers by itself.

The facts are those of `experiments/capacity/result.py`, `Collapse`, as the run's event `capacity_result` holds them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from plimsoll.findings.resources import Step
from plimsoll.runs.readings.failures import noun_of_step
from plimsoll.words import count_words, level_words, ms_words, number, share_words, time_words

FAILING_SHARE = 0.01


def not_carried_words(result: Mapping[str, Any]) -> str:
    """What happens at the lowest level that is not carried, without a full stop."""
    bad, unit = result["bad"], result["unit"]
    at = f"at {level_words(bad, unit)}"
    fell = result.get("collapse")
    if fell and fell["level"] <= bad * (1 + 1e-9):
        share = 1 - fell["per_s"] / fell["carried_per_s"]
        return f"{at} it collapses to {number(fell['per_s'])}/s, {share_words(share)} less"
    held = [step for step in result["steps"] if step["level"] == bad and step["verdict"] == "bad"]
    worst: Mapping[str, Any] = max(held, key=lambda step: float(step.get("error_share", 0.0)), default={})
    if (failing := float(worst.get("error_share", 0.0))) >= FAILING_SHARE:
        return f"{at} {share_words(failing)} of the {noun_of_step(worst)} fail"
    return f"{at} it is saturated"


def lost_words(result: Mapping[str, Any]) -> str:
    """What was never answered, as a clause with the level that lost most of it; empty without any."""
    lost: dict[float, int] = {}
    for step in result["steps"]:
        lost[float(step["level"])] = lost.get(float(step["level"]), 0) + int(step.get("stuck") or 0)
    count = sum(lost.values())
    if not count:
        return ""
    level = max(lost, key=lambda one: lost[one])
    what, most = "iterations" if count > 1 else "iteration", "most of them " if lost[level] < count else ""
    return f"{count:,} {what} never got an answer, {most}at {level_words(level, result['unit'])}"


def failing_anyway_words(result: Mapping[str, Any]) -> list[str]:
    """What fails at low load as well, which no level is too much for."""
    found = result.get("failing_anyway")
    if not found:
        return []
    share = share_words(found["failed"] / found["requests"])
    level = level_words(found["level"], result["unit"])
    return [
        f"From second {count_words(found['from_s'])} on {share} of the requests fail whatever the load, at {level} too "
        f"({found['causes']}): a quota that is used up, an expired token, or something behind the target."
    ]


def slowed_words(result: Mapping[str, Any]) -> list[str]:
    """That the target became slower while it was searched, at a load at which nothing waits."""
    if not (times := _changed_times(result, "slowed", ", where hardly anything waits,")):
        return []
    return [f"The target became slower meanwhile: {times}. What it carries falls with that."]


def dearer_words(found: Mapping[str, Any] | None) -> list[str]:
    """That an operation cost a process of the target more CPU from step to step (findings/capacity/dearer.py)."""
    if not found:
        return []
    return [
        f"An operation became dearer meanwhile: {found['process']} took {ms_words(found['from_ms'])} of CPU for it by "
        f"second {count_words(found['from_s'])}, and {ms_words(found['to_ms'])} from second "
        f"{count_words(found['to_s'])} on, which makes {share_words(found['share'])} more work for the target. What it "
        "carries falls with that."
    ]


def quickened_words(result: Mapping[str, Any]) -> list[str]:
    """That the target was slower at first, at a load at which nothing waits: what a cold one carries is not told."""
    if not (times := _changed_times(result, "quickened")):
        return []
    return [
        f"The target became quicker meanwhile, as one that warms up: {times}. Just after a restart it may carry less "
        "than this answer says."
    ]


def _changed_times(result: Mapping[str, Any], key: str, beside: str = "") -> str:
    """The times then and now of that change, in a clause; empty where the target did not change so."""
    found = result.get(key)
    if not found:
        return ""
    return (
        f"at {level_words(found['level'], result['unit'])}{beside} half of the requests took up to "
        f"{ms_words(found['from_ms'])} by second {count_words(found['from_s'])}, and up to {ms_words(found['to_ms'])} "
        f"from second {count_words(found['to_s'])} on"
    )


def recovery_words(result: Mapping[str, Any]) -> list[str]:
    """At which level it recovers from overload, as far as that was shown; none for a target that does not collapse."""
    fell = result.get("collapse")
    if not fell:
        return []
    unit, recovers, stays = result["unit"], fell["recovers_at"], fell["stays_at"]
    if recovers is None and stays is None:
        return []
    if recovers is None:
        return [f"Once overloaded it stays overloaded even at {level_words(stays, unit)}."]
    within = f" within {time_words(fell['recovery_s'])}" if fell["recovery_s"] is not None else ""
    if stays is None:
        return [f"From overload it recovers by itself at {level_words(recovers, unit)}{within}."]
    return [
        f"From overload it recovers by itself only when the load falls to {level_words(recovers, unit)}{within}; "
        f"at {level_words(stays, unit)} it stays overloaded."
    ]


def collapse_notes(result: Mapping[str, Any], steps: Sequence[Step]) -> list[str]:
    """What a reader should know of a target that collapses."""
    fell = result.get("collapse")
    if not fell:
        return []
    unit = result["unit"]
    notes = [
        f"Overloaded, it finishes less than it carries: {number(fell['per_s'])}/s after "
        f"{level_words(fell['level'], unit)}, {share_words(1 - fell['per_s'] / fell['carried_per_s'])} less than at "
        f"{level_words(fell['carried_level'], unit)}. Keep a reserve, or refuse what it cannot do in time."
    ]
    if not fell["recovery_tried"]:
        notes.append("At which level it recovers from overload was not tried: no load time was left for it.")
    elif fell["recovers_at"] is None and fell["stays_at"] is None:
        notes.append("At which level it recovers from overload was not shown: no load time was left for it.")
    return notes
