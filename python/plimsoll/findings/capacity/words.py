"""The capacity answer in sentences, and what to do next."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping
from typing import Any

from plimsoll.findings.capacity.collapse import (
    dearer_words,
    failing_anyway_words,
    lost_words,
    not_carried_words,
    recovery_words,
    slowed_words,
)
from plimsoll.findings.capacity.nothing_carried import ON_A_QUIET_HOST, how_to_find_one, is_disturbed, min_users_words
from plimsoll.findings.capacity.sustainable import OBJECTIVES_OPEN, fails_below
from plimsoll.findings.exit_codes import without_data
from plimsoll.findings.limits.next_steps import steps_of
from plimsoll.findings.resources import saw_target
from plimsoll.findings.validity.foreign_work import OF_WHAT_WAS_LEFT
from plimsoll.runs.interrupted import INTERRUPTED
from plimsoll.runs.readings.failures import MAKE_REQUESTS, Failures
from plimsoll.words import amount_words, level_words, number, share_words, time_words

KEPT_UP = 0.9
GENERATOR_LIMITED = "the generator may have been the limit"
OTHERS_TOOK = "others took CPU time of its host"
KIND_WORDS = {"cpu": "CPU", "disk": "disk", "memory": "memory", "resource": "utilisation"}
MANY_TIMES = 10  # the expected load; from there on a percentage is hard to read
LEAST_HEADROOM = 0.005  # that is told: a percentage without a fraction
WAITED_FOR = {
    "cpu_quota": "the {where}",
    "memory_limit": "the {where}",
    "tasks_limit": "the {where}",
    "open_files_limit": "{where}, of which there may be no more",
    "pool": "{where}, all in use",
    "workers": "{where}, all taken",
    "dependency": "it waits for {where}",
    "network": "the {where}, which is full",
    "slow_reader": "{where}",
    "lock": "{where}, which most of the work under way waits for",
    "database_lock": "{where}, which sessions wait for",
    "database_statement": "{where}, which takes most of the database's time",
    "generator": "{where}, and not the target",
    "leak": "{where}",
    "periodic_job": "{where}",
}

AGES = (
    "Find out what made the target slower: the data that the load writes, its memory, or a job beside it. Hold the "
    "carried level for longer (`plimsoll hold`) to see how it goes on, and set the target back before each run "
    "(target.reset of a study)."
)


def answer(result: Mapping[str, Any], finding: Mapping[str, Any]) -> str:
    """The whole answer: what it carries, what stops it, the room left; or why there is no answer."""
    if result["status"] == "failed":
        lost = lost_words(result)
        return f"No capacity was measured{f'; {lost}' if lost else ''}. {result['reason']}"
    headroom, found = finding["headroom"], finding.get("sustainable") or {}
    lowered = _is_lowered(found, result["good"], result["bad"])
    sustainable = found.get("words", "")
    if sustainable == OBJECTIVES_OPEN and headroom and headroom["carries"] is None and lowered:
        sustainable = ""  # the last sentence says it, of the load that matters
    nearly = {"nearly_full": finding["limited_by"].get("nearly_full")}
    carries, lost = _carries(result, finding["capacity"] | nearly, sustainable), lost_words(result)
    parts = [f"{carries.rstrip('.')}; {lost}." if lost else carries, *recovery_words(result)]
    if not finding["generator"]["healthy"]:
        parts.insert(0, f"The numbers below are not a capacity of the target, because {why_not(finding['generator'])}.")
    asked = finding.get("asked")
    if asked is not None:
        parts[:0] = asked_words(asked, _expected_words(asked["level"], result["unit"]))
    if result["status"] == "interrupted":
        parts.insert(0, INTERRUPTED)
    parts.extend(failing_anyway_words(result))
    parts.extend(slowed_words(result))
    parts.extend(dearer_words((finding.get("capacity") or {}).get("dearer")))
    parts.extend(what_stops_it(finding["limited_by"], result["bad"], alone=finding["generator"]["healthy"]))
    parts.extend(_headroom_words(headroom, found, lowered, result["bad"]))
    return " ".join(parts)


def why_not(generator: Mapping[str, Any]) -> str:
    """Why numbers are not the target's alone, in a clause: the generator, what took CPU time from both, or a
    measurement that does not add up."""
    if generator["reasons"] and all(OF_WHAT_WAS_LEFT in reason for reason in generator["reasons"]):
        return OTHERS_TOOK
    flow = {one["words"] for one in generator.get("flow_faults") or ()}
    is_flow = flow and flow >= set(generator["reasons"])
    return "what was measured does not add up" if is_flow else GENERATOR_LIMITED


def _expected_words(level: float, unit: str) -> str:
    words = level_words(level, unit)
    return f"at {words}" if words.startswith("the ") else f"at the expected {words}"


def asked_words(asked: Mapping[str, Any] | None, at: str = "", *, with_reason: bool = True) -> list[str]:
    """That a load was not made (findings/validity/asked.py), or nothing; `at`: "at the expected 500 users"."""
    if asked is None:
        return []
    rates = f"asked for {amount_words(asked['asked_per_s'], 'iteration')}/s, reached {number(asked['reached_per_s'])}/s"
    why = f"; {asked['why']}" if with_reason else ""
    return [f"The load{f' {at}' if at else ''} was not made: {rates} ({share_words(asked['share'])}){why}."]


def what_stops_it(limited: Mapping[str, Any], bad: float | None, *, alone: bool = True) -> list[str]:
    """The limit in a sentence; none where no level was too much, unless requests fail. `alone`: whether the numbers are
    the target's alone, without which it may be another's."""
    lead = "What stops it" if alone or limited["kind"] == "generator" else "What stopped it in these numbers"
    if limited["kind"] in KIND_WORDS and bad is not None:
        return [f"{lead}: {KIND_WORDS[limited['kind']]} of {limited['where']}."]
    if limited["kind"] == "errors":
        return [f"{lead}: requests begin to fail."]
    if limited["kind"] in WAITED_FOR and bad is not None:
        return [f"{lead}: {WAITED_FOR[limited['kind']].format(where=limited['where'])}."]
    return ["What stops it: cannot tell."] if bad is not None else []


def _kept_up(step: Mapping[str, Any]) -> bool:
    """Whether a short step, which judges nothing, finished about what was planned."""
    return bool(step["samples"]) and step["done_per_s"] >= KEPT_UP * step["planned_per_s"]


def _carries(result: Mapping[str, Any], capacity: Mapping[str, Any], sustainable: str = "") -> str:
    """`sustainable`: a clause that says up to which level the objectives are met (findings/capacity/sustainable.py)."""
    good, bad, unit = result["good"], result["bad"], result["unit"]
    if good is None and bad is None:
        hint = (
            f" Overloaded seconds suggest about {level_words(result['estimate'], unit)}." if result["estimate"] else ""
        )
        calm = [step["level"] for step in result["steps"] if step["verdict"] == "probe" and _kept_up(step)]
        calm = [level for level in calm if level < (result["estimate"] or math.inf)]
        if calm:
            hint = f" The quick ramp met no overload up to {level_words(max(calm), unit)}.{hint}"
        capped = f" {result['cap']['why']}" if result.get("cap") else ""
        return f"It cannot be said how much load it carries: no step was decided.{hint}{capped}"
    if good is None:
        level = level_words(bad, unit, result.get("vus_per_level"))
        if most := _at_most(result):
            return f"From {level} on, more bring no more throughput{most}; at no lower level it was proven to rise."
        return f"It does not carry {level}; no lower level was proven to be carried."
    rates = [f"{number(capacity[key])} {word}/s" for key, word in _RATES if capacity.get(key)]
    if result["open"] and (result.get("confirmation") or {}).get("verdict") == "undecided":
        rates[-1:] = [f"{one}; not confirmed by a longer step" for one in rates[-1:]]
    inside = f" ({', '.join(rates)})" if rates else ""
    users = ""
    if unit != "users" and capacity.get("users") is not None:
        users = f", which is {amount_words(capacity['users'], 'user')}"
    if not result["open"]:
        vus = result.get("vus_per_level")
        if bad is None and result.get("cap"):
            return f"Carries at least {level_words(good, unit, vus)}{users}{inside}{sustainable}; {_seen_above(result)}"
        if bad is None:
            carried = f"{level_words(good, unit, vus)}{users}{inside}".replace(") (", "; ")
            most = f"Throughput rises up to {carried}{_beyond(result)}."
            return f"{most}{nearly_full_words(capacity.get('nearly_full'))}{_as_sentence(sustainable)}"
        if result.get("collapse"):
            stops = f"; {not_carried_words(result)}"
        else:
            stops = f"; from {level_words(bad, unit, vus)} on, more bring no more throughput{_at_most(result)}"
        return f"Throughput rises up to {level_words(good, unit, vus)}{users}{inside}{sustainable}{stops}."
    if bad is None:
        return f"Carries at least {level_words(good, unit)}{users}{inside}{sustainable}; {_seen_above(result)}"
    at_bad = not_carried_words(result)
    return f"Carries {level_words(good, unit)}{users}{inside}{sustainable}; {at_bad}."


def _as_sentence(sustainable: str) -> str:
    """The clause on the objectives as a sentence of its own, with a space in front; empty where there is none."""
    if not sustainable:
        return ""
    words = sustainable.removeprefix(" and ").removeprefix(", but ").removeprefix("; ")
    if " (misses " in words:
        met, _, missed = words.removesuffix(")").partition(" (misses ")
        words = f"{met}, and misses {missed} on"
    return f" {words[0].upper()}{words[1:]}." if words.startswith("whether") else f" It {words}."


def nearly_full_words(found: Mapping[str, Any] | None) -> str:
    """What was nearly full at the highest level that was carried (nearly_full.py); empty where nothing was."""
    return f" But {found['where']} was {share_words(found['utilisation'])} busy there." if found else ""


def _at_most(result: Mapping[str, Any]) -> str:
    """The most that a closed load was seen to bring, in brackets; nothing of runs before that was kept."""
    most = result.get("plateau_per_s")
    return f" (at most {amount_words(most, 'operation')}/s)" if most else ""


def _seen_above(result: Mapping[str, Any]) -> str:
    """What was seen above the greatest level that is carried, where no level was proven to be too much."""
    if result.get("cap"):
        why = str(result["cap"]["why"])
        return f"{why[:1].lower()}{why[1:]}"
    behind = [step for step in result["steps"] if step["verdict"] == "bad" and step["level"] > result["good"]]
    if not behind:
        return "no saturation was found up to there."
    step = min(behind, key=lambda one: float(one["level"]))
    held_s = step["end_s"] - step["measured_from_s"]
    return (
        f"at {level_words(step['level'], result['unit'])} it fell behind in a probe of {time_words(held_s)}, not held "
        "again."
    )


def _beyond(result: Mapping[str, Any]) -> str:
    """What was tried above the level up to which throughput rises, where no level is too much."""
    vus, unit = result.get("vus_per_level"), result["unit"]
    above = [step for step in result["steps"] if step["step_kind"] == "hold" and step["level"] > result["good"]]
    if not above:
        return ", the most that was tried"
    last = max(above, key=lambda step: float(step["level"]))
    return f"; at {level_words(last['level'], unit, vus)} less than in proportion, and whether more bring more is open"


def _how_to_go_on(result: Mapping[str, Any], *, falls: bool) -> list[str]:
    """What finds a level that is too much, where none was proven: a greater one, or what makes steps prove something.
    `falls`: what the target carries fell meanwhile."""
    if result.get("cap"):
        what = result["cap"].get("remedy") or "Raise the script's limit."
        return [f"{what} Then run it again, to load the target itself."]
    most, tried = result.get("max_level"), max((step["level"] for step in result["steps"]), default=0.0)
    one_vu = 1 / (result.get("vus_per_level") or math.inf)  # a closed load has whole ones
    if most is not None and tried >= most * (1 - 1e-9) - one_vu * (1 - 1e-9):
        return ["Raise --max-users to find where it stops."]
    if falls:
        return []
    ended = "The load time ended before a level was proven to be too much"
    if is_disturbed(result):
        return [f"{ended}: {ON_A_QUIET_HOST}."]
    nearer = f", or start at {min_users_words(result['good'])}" if result["unit"] == "users" else ""
    return [f"{ended}: {_with_more_time(result, 'give it more (--for)')}{nearer}."]


def _with_more_time(result: Mapping[str, Any], otherwise: str) -> str:
    """What the search said that more time would give; `otherwise`, where it said nothing."""
    return result.get("more_time") or otherwise


_RATES = (("rate_per_s", "operations"), ("requests_per_s", "requests"))


def headroom_of(expected_users: float | None, good: float | None, bad: float | None) -> dict[str, Any] | None:
    """Room over the expected load, of the most users that are carried and the fewest that are not; None where nothing
    is expected. More than is carried may still be carried where no less is known to be too much."""
    if not expected_users:
        return None
    carries = None
    if good is not None and good >= expected_users:
        carries = True
    elif bad is not None and bad <= expected_users:
        carries = False
    known = good is not None and carries is not None
    return {
        "expected_users": expected_users,
        "ratio": good / expected_users - 1 if good is not None and known else None,
        "carries": carries,
    }


def _is_lowered(sustainable: Mapping[str, Any], good: float | None, bad: float | None) -> bool:
    """Whether the objectives and not the capacity say how much load there may be."""
    violated = sustainable.get("violated_from")
    lowered = False
    if violated is not None and good is not None and fails_below(violated, bad):
        lowered = violated <= good or sustainable["level"] != good
    return lowered or bool(sustainable.get("unmatched"))


def _headroom_words(
    headroom: Mapping[str, Any] | None, sustainable: Mapping[str, Any], lowered: bool, bad: float | None
) -> list[str]:
    """Of the capacity, which is a least where no level is `bad`, or, where an objective fails below it (`lowered`), of
    the sustainable load."""
    if not headroom:
        return []
    expected, ratio = amount_words(headroom["expected_users"], "user"), headroom["ratio"]
    if headroom["carries"] is None:
        what = "it meets the objectives at" if lowered else "it carries"
        return [f"Whether {what} the expected {expected} was not decided."]
    that = "The sustainable load is" if lowered else "That is"
    if ratio is not None and ratio >= 0:
        least = bad is None and not lowered
        if least and ratio < LEAST_HEADROOM:
            return [f"That is at least the expected {expected}."]
        lead = f"{that} {'at least ' if least else ''}"
        if ratio >= MANY_TIMES - 1:
            return [f"{lead}{number(ratio + 1, 2)} times the expected {expected}."]
        return [f"{lead}{share_words(ratio)} more than the expected {expected}."]
    will_not = "it will not meet the objectives there" if lowered else "it will not carry them"
    if ratio is None and lowered and not sustainable.get("unmatched"):
        return [f"It will not meet the objectives at the expected {expected}."]
    if ratio is None:
        return [f"It will not carry the expected {expected}."]
    return [f"{that} {share_words(-ratio)} less than the expected {expected}: {will_not}."]


def next_steps(result: Mapping[str, Any], finding: Mapping[str, Any]) -> list[str]:
    """What the reader can do now, most useful first."""
    if result["status"] == "failed":
        answering = [step for step in result["steps"] if step["samples"] and step.get("error_share", 0.0) <= 0.5]
        if answering and not any(step["requests_per_s"] for step in answering):
            return [MAKE_REQUESTS]
        if answering:
            return ["See in the target's log of that time why it stopped answering, start it again and repeat the run."]
        causes = Counter(result["steps"][-1].get("error_causes") or {}) if result["steps"] else Counter()
        known = Failures(causes).next_step()
        return [known or "Try one request by hand, and look at the target's log and at logs/ of the run."]
    blank = [str(item["needs"]) for item in finding["objectives"] if without_data(item) and item.get("needs")]
    steps = [*finding["generator"]["remedies"], *dict.fromkeys(blank)]
    good, bad, goal = result["good"], result["bad"], result["width_goal"]
    falls = result.get("slowed") or (finding.get("capacity") or {}).get("dearer")
    if result["status"] == "interrupted":
        steps.append("Run it again to the end for a bracket of the full width.")
    elif good is None and (bad is not None or not result.get("cap")):
        steps += how_to_find_one(result, falls=bool(falls))
    elif bad is None:
        steps += _how_to_go_on(result, falls=bool(falls))
    elif (bad - good) / bad > goal + 1e-9 and not falls:
        how = ON_A_QUIET_HOST if is_disturbed(result) else _with_more_time(result, "more load time (--for) narrows it")
        steps.append(
            f"The bracket is {share_words((bad - good) / bad, 3)} wide, the goal was {share_words(goal)}: {how}."
        )
    if falls:
        steps.append(AGES)
    probed = any(saw_target(step.get("cpu") or ()) for step in finding["steps"])
    if bad is not None or finding["limited_by"]["kind"] != "unknown":
        steps += steps_of(finding["limited_by"], verify=True, probed=probed)
    return steps + _to_decide(result, finding)


def _to_decide(result: Mapping[str, Any], finding: Mapping[str, Any]) -> list[str]:
    """What would decide the objectives that are open: where the expected load is not carried, a load that is."""
    undecided = [item for item in finding["objectives"] if item.get("needs") and not without_data(item)]
    if undecided and result["good"] is not None and (finding.get("headroom") or {}).get("carries") is False:
        many = "1 objective is" if len(undecided) == 1 else f"{len(undecided)} objectives are"
        level = level_words(result["good"], result["unit"])
        return [f"{many} undecided. Judge them at a load that is carried: plimsoll hold at {level}."]
    return [f"{_subject(item)}, {item['objective']}: undecided. {item['needs']}" for item in undecided]


def _subject(item: Mapping[str, Any]) -> str:
    return str(item.get("operation") or item.get("request") or "All requests")
