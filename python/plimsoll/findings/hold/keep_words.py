"""What `hold --keep` found, in sentences: the level first, then how long the objective was missed, then overloads."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from plimsoll.words import amount_words, level_words, ms_words, number, share_words, time_words

QUESTION = "How much does it carry while the objective just holds, and does that change over time?"


def keep_words(keep: Mapping[str, Any], unit: str) -> list[str]:
    """The sentences, the answer first."""
    asked = _objectives(keep["objectives"])
    if keep["unreachable"]:
        return [f"No level keeps {asked}: the target misses it at the lowest load tried, where nothing waits."]
    if keep["level"] is None:
        return [_too_short(keep, asked)]
    low, high = keep["interval"]
    first = (
        f"At {_objectives([keep['objectives'][keep['ruling']]])} it carries {level_words(keep['level'], unit)} "
        f"({number(low)}–{number(high)}) over {time_words(keep['kept_s'])}"
    )
    return [f"{first}{_drift(keep['drift'])}.", *_held(keep), *_overloads(keep["overloads"], unit)]


def not_kept(keep: Mapping[str, Any]) -> list[str]:
    """Why there is no level, where the time was too short for one; that none keeps the objectives is an answer."""
    if keep["level"] is not None or keep["unreachable"] or keep["lost_at_s"] is not None:
        return []
    return [_too_short(keep, _objectives(keep["objectives"]))]


def _too_short(keep: Mapping[str, Any], asked: str) -> str:
    if keep["settled_at_s"] is None:
        return f"It cannot be said at which load {asked} holds: the load was still rising when the time was over."
    return f"It cannot be said at which load {asked} holds: less than a minute was left after the level had settled."


def _objectives(objectives: Sequence[Mapping[str, Any]]) -> str:
    asked = [one for one in objectives if not one["implied"]] or list(objectives)
    return " and ".join(_objective(one) for one in asked)


def _objective(objective: Mapping[str, Any]) -> str:
    text = str(objective["objective"]).replace("<=", " ≤ ").replace("<", " < ").replace("error_rate", "error rate")
    text = text.replace("ms", " ms")
    return f"{text} of {objective['request']}" if objective.get("request") else text


def _drift(drift: Mapping[str, Any] | None) -> str:
    if drift is None:
        return ""
    if drift["drifts"]:
        verb = "fell" if drift["share"] < 0 else "rose"
        change = share_words(abs(drift["share"]))
        return f"; the kept load {verb} by {change} from the first third of that time to the last"
    return f"; the kept load did not drift (a change of {share_words(drift['smallest_detectable'])} would have shown)"


def _held(keep: Mapping[str, Any]) -> list[str]:
    ruling, seen = keep["objectives"][keep["ruling"]], keep["seen"][keep["ruling"]]
    value = share_words(seen["value"] or 0.0) if seen["unit"] == "ratio" else ms_words(seen["value"] or 0.0)
    name = str(ruling["objective"]).partition("<")[0].replace("error_rate", "the error rate")
    words = [
        f"Over that time {name} was {value}. It was above the limit for {share_words(keep['violated_share'])} of the "
        "time, by turns, as steering to a limit means."
    ]
    if not keep["held"]:
        allowed = share_words(seen["bad_share"] / seen["allowed"] - 1)
        words.append(
            f"The load ran ahead of what holds: {allowed} more requests than allowed missed the limit, "
            "so the level is lowered by that."
        )
    if ruling["implied"]:
        words.append("What ruled is the error rate, which --keep did not name: a target that fails is not quick.")
    return words


def _overloads(overloads: Sequence[Mapping[str, Any]], unit: str) -> list[str]:
    if not overloads:
        return []
    times = f"{len(overloads)} times" if len(overloads) > 1 else "once"
    worst = min(overloads, key=lambda one: one["level"])
    words = [f"It was overloaded {times}, at {level_words(worst['level'], unit)} and more; the load was cut at once."]
    collapsed = [one for one in overloads if one["collapsed"]]
    if collapsed:
        one = min(collapsed, key=lambda each: each["level"])
        words.append(
            f"At {level_words(one['level'], unit)} it finished only "
            f"{amount_words(one['done_per_s'], 'operation')}/s, and "
            f"{number(one['calm_per_s'])} when calm: it collapses, or lost capacity just then."
        )
    return words
