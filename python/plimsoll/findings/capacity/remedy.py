"""What did a remedy change? Two capacity runs of the same target, before it and with it.

The brackets are bounds that were proven, so the ratio lies between good after ÷ bad before and bad after ÷ good before.
Two runs in a row tell nothing of what else changed between them; the finding says so.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from plimsoll.findings.evidence import FINDINGS, Evidence, as_data, of_steps
from plimsoll.words import level_words, number, percent_words

QUESTION = "What did the remedy change?"
SCHEMA = 1


# What `remedy_finding` reads of the capacity finding before it.
_OF_BEFORE = ("capacity", "limited_by", "valid", "run")


def applied(command: str, before: Mapping[str, Any]) -> dict[str, Any]:
    """What the run with a remedy keeps of it: the command, and of the capacity finding before it what is compared."""
    return {"command": command, "before": {key: before.get(key) for key in _OF_BEFORE}}


def not_run(command: str, before: Mapping[str, Any]) -> str | None:
    """Why a remedy that was to follow the capacity finding `before` was not run, and what to do; None where it was."""
    if before["status"] == "finished" and before["capacity"].get("good"):
        return None
    if before["status"] == "interrupted":
        why, step = "the run before it was interrupted", "Run it again, to the end."
    elif before["status"] == "failed":
        why, step = "the run before it failed", "Mend that first, and run it again."
    else:
        why = "the run before it proved no level that is carried, so that there is nothing to compare with"
        step = next(iter(before.get("next") or ()), "Give it more load time (--for).")
    return f"The remedy was not run ({command}), as {why}. {step}"


def remedy_finding(
    before: Mapping[str, Any], after: Mapping[str, Any], command: str, run_path: str | None
) -> dict[str, Any]:
    """The finding of two capacity findings; `command`: the remedy as it may be shown."""
    old, new = before["capacity"], after["capacity"]
    low, high = _ratio(new.get("good"), old.get("bad")), _ratio(new.get("bad"), old.get("good"))
    known = bool(before["valid"] and after["valid"] and old.get("good") and new.get("good"))
    verdict = _verdict(low, high) if known else "cannot tell"
    finding: dict[str, Any] = {
        "schema": SCHEMA,
        "question": QUESTION,
        "answer": _answer(before, after, verdict, low, high),
        "experiment": "capacity",
        "status": after["status"],
        "valid": known,
        "objectives": [],
        "verdict": verdict,
        "ratio_at_least": low,
        "ratio_at_most": high,
        "evidence": _evidence(before, after, run_path),
        "level_unit": new.get("unit"),
        "before": _side(before),
        "after": _side(after),
        "invalid_because": _reasons(before, after),
        "notes": [
            f"The remedy: {command}",
            "The two runs follow each other: whatever else changed in between counts as the remedy's.",
        ],
        "next": _next_steps(after, verdict),
        "run": run_path,
    }
    return finding


def _evidence(before: Mapping[str, Any], after: Mapping[str, Any], run_path: str | None) -> list[dict[str, Any]]:
    """The first findings of both runs, and the steps of the one with the remedy."""
    runs = tuple(str(one) for one in (before.get("run"), after.get("run") or run_path) if one)
    both = Evidence(2, "findings", FINDINGS, "Before and with the remedy", names=runs)
    return as_data([both, of_steps(after.get("steps") or (), str(after["capacity"].get("unit") or "users"), "With it")])


def _reasons(before: Mapping[str, Any], after: Mapping[str, Any]) -> list[str]:
    """Which of the two runs has no valid capacity."""
    found = []
    for one, which in ((before, "before"), (after, "with")):
        if not one["capacity"].get("good"):
            found.append(f"The run {which} it proved no level that is carried.")
        elif not one["valid"]:
            found.append(f"The run {which} it is not valid.")
    return found


def _ratio(above: float | None, below: float | None) -> float | None:
    return above / below if above and below else None


def _verdict(low: float | None, high: float | None) -> str:
    if low is not None and low > 1:
        return "more"
    if high is not None and high < 1:
        return "less"
    return "not shown"


def _side(finding: Mapping[str, Any]) -> dict[str, Any]:
    capacity, limit = finding["capacity"], finding["limited_by"]
    return {
        "good": capacity.get("good"),
        "bad": capacity.get("bad"),
        "unit": capacity.get("unit"),
        "rate_per_s": capacity.get("rate_per_s"),
        "limited_by": {"kind": limit["kind"], "where": limit["where"]},
        "run": finding.get("run"),
    }


def _answer(
    before: Mapping[str, Any], after: Mapping[str, Any], verdict: str, low: float | None, high: float | None
) -> str:
    if verdict == "cannot tell":
        words = "Cannot tell: one of the two runs has no valid capacity."
        if not (before["capacity"].get("good") and after["capacity"].get("good")):
            return words
        span = f"{_bracket(before)} before, {_bracket(after)} with it"
        return f"{words} Their brackets differ by {_change(low, high)} ({span}), which proves nothing."
    span = f"{_bracket(before)} before, {_bracket(after)} with it"
    stops = f"Stopped by {_limit(before)} before, by {_limit(after)} with it."
    if verdict == "not shown":
        return f"No change of the capacity is shown: {span}; it is {_change(low, high)}. {stops}"
    return f"It carries {verdict}: {_change(low, high)} ({span}). {stops}"


def _bracket(finding: Mapping[str, Any]) -> str:
    capacity = finding["capacity"]
    unit = str(capacity.get("unit") or "users")
    if capacity.get("bad") is None:
        return f"at least {level_words(capacity['good'], unit)}"
    return f"{number(capacity['good'])} to {level_words(capacity['bad'], unit)}"


def _change(low: float | None, high: float | None) -> str:
    """ "between −3% and +12%"."""
    shown = [percent_words(ratio - 1).replace("-", "−") if ratio is not None else None for ratio in (low, high)]
    if shown[0] and shown[1]:
        return f"between {shown[0]} and {shown[1]}"
    return f"at least {shown[0]}" if shown[0] else f"at most {shown[1]}" if shown[1] else "not bounded"


def _limit(finding: Mapping[str, Any]) -> str:
    limit = finding["limited_by"]
    if limit["kind"] == "none":
        return "nothing within the levels tried"
    return str(limit["where"] or "something that was not told")


def _next_steps(after: Mapping[str, Any], verdict: str) -> list[str]:
    if verdict == "not shown":
        return [
            "A narrower bracket shows smaller changes (--width 0.05); `plimsoll compare` tells response times apart."
        ]
    if verdict == "more":
        return [f"What stops it now is the next thing to look at: {_limit(after)}."]
    return ["Take the remedy back, and look at what stops it with it."] if verdict == "less" else list(after["next"])
