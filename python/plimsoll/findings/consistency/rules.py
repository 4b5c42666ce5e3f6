"""The rules of consistency between the findings of a run, in the order of their evidence: levels that were held, the
objectives judged there, the limit seen in an overloaded step, extrapolations.

A rule says what contradicts as a clause without its full stop. Within CLOSE two values are the same.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from plimsoll.findings.capacity.words import headroom_of
from plimsoll.findings.consistency.story import FAR, HARDWARE, HELD, MAIN, NEXT, SCALING, Rule, Story
from plimsoll.findings.limits.next_steps import is_step_of
from plimsoll.words import amount_words, level_words, number, percent_words

CLOSE = 0.95
CORES = ("cpu", "target_cores")
WITHOUT_SATURATION = ("none", "unknown", "errors", "generator")


def _level(story: Story, level: float) -> str:
    return level_words(level, str(story.capacity.get("unit")))


def _bracket(story: Story) -> str | None:
    good, bad = story.capacity.get("good"), story.capacity.get("bad")
    if good is None or bad is None or good < bad:
        return None
    return f"the carried level, {_level(story, good)}, lies above {_level(story, bad)}, which is too much"


def _limit_needs_saturation(story: Story) -> str | None:
    kind, bad = story.limit.get("kind"), story.capacity.get("bad")
    if not story.capacity or kind is None:
        return None
    if bad is None and kind not in WITHOUT_SATURATION:
        return f"{story.limit.get('where')} is named as the limit, and no level was too much"
    return "a level was too much, and nothing is said to limit it" if bad is not None and kind == "none" else None


def _leave_out_limit(story: Story) -> None:
    is_saturated = story.capacity.get("bad") is not None
    evidence = (
        "A level was too much, and no limit was seen." if is_saturated else "No level that was held was too much."
    )
    kind = "unknown" if is_saturated else "none"
    limit = story.limit
    story.main["next"] = [step for step in story.main.get("next") or () if not is_step_of(step, limit)]
    story.main["limited_by"] = {"kind": kind, "where": None, "utilisation": None, "evidence": evidence}
    story.retell(evidence)


def _interval(story: Story) -> str | None:
    interval, good, bad = (story.capacity.get(key) for key in ("interval", "good", "bad"))
    if not interval or None in interval:
        return None
    low, high = interval
    if good is not None and high < CLOSE * good:
        return f"the interval ends at {_level(story, high)}, below the carried {_level(story, good)}"
    if bad is not None and CLOSE * low > bad:
        return f"the interval begins at {_level(story, low)}, above {_level(story, bad)}, which is too much"
    return None


def _leave_out_interval(story: Story) -> None:
    story.with_capacity(interval=None, confidence=None, interval_means=f"Left out, as {_interval(story)}.")


def _knee(story: Story) -> str | None:
    knee, bad = story.capacity.get("knee"), story.capacity.get("bad")
    if knee is None or bad is None or CLOSE * knee <= bad or story.capacity.get("model") != "open":
        return None
    return f"the knee is at {_level(story, knee)}, above {_level(story, bad)}, which is too much"


def _leave_out_knee(story: Story) -> None:
    story.with_capacity(knee=None, knee_interval=None, knee_means=f"Left out, as {_knee(story)}.")


def _is_disordered(objective: Mapping[str, Any]) -> bool:
    met, failed = objective.get("met_up_to"), objective.get("failed_from")
    return met is not None and failed is not None and bool(met >= failed)


def _objectives(story: Story) -> str | None:
    for one in story.main.get("objectives") or ():
        if _is_disordered(one):
            met, failed = _level(story, one["met_up_to"]), _level(story, one["failed_from"])
            return f"{one['objective']} is met up to {met}, and failed from {failed}"
    return None


def _order_objectives(story: Story) -> None:
    """Met only below the lowest level at which it failed."""
    mended = []
    for one in story.main["objectives"]:
        if _is_disordered(one):
            met, failed = _level(story, one["met_up_to"]), _level(story, one["failed_from"])
            story.note(MAIN, f"{one['objective']} was met at {met} too, although it failed at {failed}.")
            judged = one.get("verdicts") or ()
            below = [each["level"] for each in judged if each.get("verdict") == "met" and each.get("level") is not None]
            one = {**one, "met_up_to": max((level for level in below if level < one["failed_from"]), default=None)}
        mended.append(one)
    story.main["objectives"] = mended


def _bounds_in_users(story: Story) -> tuple[float | None, float | None]:
    """The bracket, lowered by the objectives that failed at a level."""
    good, bad = story.capacity.get("good"), story.capacity.get("bad")
    for one in story.main.get("objectives") or ():
        failed, met = one.get("failed_from"), one.get("met_up_to")
        if failed is not None:
            good = None if good is None or met is None else min(good, met)
            bad = failed if bad is None else min(bad, failed)
    return story.users(good), story.users(bad)


def _headroom(story: Story) -> str | None:
    headroom = story.main.get("headroom")
    if not headroom or not story.capacity:
        return None
    carries, ratio, expected = headroom.get("carries"), headroom.get("ratio"), headroom["expected_users"]
    good, bad = _bounds_in_users(story)
    if carries is True and bad is not None and bad <= expected:
        return (
            f"the expected {amount_words(expected, 'user')} have headroom, and {amount_words(bad, 'user')} are too many"
        )
    if carries is False and good is not None and good >= expected:
        return (
            f"the expected {amount_words(expected, 'user')} are too many, and {amount_words(good, 'user')} are carried"
        )
    if ratio is not None and carries is not None and (ratio >= 0) is not carries:
        return f"the headroom is {percent_words(ratio)}, and the expected load is {'' if carries else 'not '}carried"
    return None


def _count_headroom(story: Story) -> None:
    words = _headroom(story)
    story.main["headroom"] = headroom_of(story.main["headroom"]["expected_users"], *_bounds_in_users(story))
    story.retell(f"The headroom was counted again, as {words}.")


def _next_limit(story: Story) -> str | None:
    following = story.of(NEXT)
    if not story.capacity or "stopped_by" not in following or following["stopped_by"] == story.stopped_by:
        return None
    said = following["stopped_by"] or "what is not known"
    return f"what stops it is {story.stopped_by or 'not known'}, and the next limit comes after {said}"


def _tell_next(story: Story) -> None:
    following = story.of(NEXT)
    later = [one for one in following.get("order") or () if one.get("name") != story.limit.get("resource")]
    if story.limit.get("kind") == "none":
        now, first = "No level that was held was too much.", "By what was probed"
    else:
        now, first = f"What stops it now is {story.stopped_by or 'not known'}.", "After that"
    after = f" {first} {later[0]['where']} would stop it, near {number(later[0]['per_s'])}/s." if later else ""
    following |= {"stopped_by": story.stopped_by, "answer": now + after}


def _is_passed(story: Story, one: Mapping[str, Any]) -> bool:
    """Whether its extrapolated end lies below what was carried, though it is not the limit."""
    carried = float(story.capacity.get("rate_per_s") or 0.0)
    return one.get("name") != story.limit.get("resource") and float(one["per_s"]) < CLOSE * carried


def _next_end(story: Story) -> str | None:
    for one in story.of(NEXT).get("order") or ():
        if _is_passed(story, one):
            carried = number(story.capacity["rate_per_s"])
            return f"{one['where']} would be full at {number(one['per_s'])}/s, and {carried}/s were carried"
    return None


def _leave_out_passed(story: Story) -> None:
    following = story.of(NEXT)
    for one in following["order"]:
        if _is_passed(story, one):
            story.note(NEXT, f"{one['where']} is left out: by its demand it would end below what was carried.")
    following["order"] = [one for one in following["order"] if not _is_passed(story, one)]
    _tell_next(story)


def _budget(story: Story) -> str | None:
    carried = float(story.capacity.get("rate_per_s") or 0.0)
    for one in story.of(FAR).get("extrapolations") or ():
        high = (one.get("interval") or [None, None])[1]
        has_rest = (one.get("highest_use_of_budget") or 1.0) < CLOSE
        if one.get("told") and has_rest and high is not None and high < CLOSE * carried:
            ends = f"{one['budget_words']} ends at {number(high)}/s at most"
            return f"{ends}, and {number(carried)}/s were carried with less of it"
    return None


def _leave_out_budgets(story: Story) -> None:
    far, words = story.of(FAR), _budget(story)
    far["answer"] = f"Cannot tell: the extrapolation disagrees with what was measured: {words}."
    far["extrapolations"] = [{**one, "told": False} for one in far["extrapolations"]]


def _law(story: Story) -> str | None:
    found, good = story.of(SCALING).get("scalability") or {}, story.capacity.get("good")
    high = (found.get("peak_level_interval") or [None, None])[1]
    if not found.get("told") or high is None or good is None or high >= CLOSE * good:
        return None
    return f"throughput peaks at {_level(story, found['peak_level'])} by the law, and rose up to {_level(story, good)}"


def _leave_out_law(story: Story) -> None:
    scaling, words = story.of(SCALING), _law(story)
    scaling["answer"] = f"Cannot tell: the fitted law disagrees with what was measured: {words}."
    scaling["scalability"] = {**scaling["scalability"], "told": False}


def _hardware(story: Story) -> str | None:
    """Where cores stopped the expected load, fewer than the target had are not enough for it."""
    headroom, sizing = story.main.get("headroom") or {}, story.of(HARDWARE).get("sizing") or {}
    has = _cores_it_had(story)
    if headroom.get("carries") is not False or has is None:
        return None
    for host in (sizing.get("sizes") or [{}])[0].get("hosts") or ():
        enough = (host.get("cpu") or {}).get("recommended")
        if not host.get("host") and enough is not None and enough < CLOSE * has:
            words = f"{amount_words(enough, 'core')} are recommended for the expected load"
            return f"{words}, and the {number(has)} that the target had did not carry it"
    return None


def _cores_it_had(story: Story) -> float | None:
    """The part of the full cores that was the target's; None where no cores stopped it."""
    resource = story.limit.get("resource")
    found = next((one for one in story.of(NEXT).get("order") or () if one.get("name") == resource), None)
    if found is None or resource not in CORES:
        return None
    parts = found.get("cores_by_part") or {}
    own = sum(cores for name, cores in parts.items() if name not in ("generator", "the rest"))
    return float(found["ceiling"]) * (own / sum(parts.values()) if own else 1.0)


def _leave_out_hardware(story: Story) -> None:
    hardware, words = story.of(HARDWARE), _hardware(story)
    answer = f"Cannot tell: the sizes disagree with what was measured: {words}."
    hardware |= {"answer": answer, "sizing": None, "tables": []}


def _generator(story: Story) -> str | None:
    if story.limit.get("kind") != "generator" or not story.main.get("valid"):
        return None
    return "the generator limited the load, and the answer is valid as a capacity"


def _blame_generator(story: Story) -> None:
    main, because = story.main, list(story.main.get("invalid_because") or ())
    evidence = str(story.limit.get("evidence"))
    main |= {"valid": False, "invalid_because": because if evidence in because else [*because, evidence]}


def _stable(story: Story) -> str | None:
    held = story.of(HELD)
    limit = held.get("limited_by") or {}
    is_told = limit.get("kind") == "generator" and held.get("valid") is False
    if not held.get("stable") or limit.get("kind") in (None, "none", "unknown") or is_told:
        return None
    return f"the load is stable, and {limit.get('where')} limits it"


RULES: tuple[Rule, ...] = (
    Rule("the bracket is ordered", (MAIN, MAIN), _bracket),
    Rule("a limit needs a level that is too much", (MAIN, MAIN), _limit_needs_saturation, _leave_out_limit),
    Rule("the interval meets the bracket", (MAIN, MAIN), _interval, _leave_out_interval),
    Rule("the knee is below the overload", (MAIN, MAIN), _knee, _leave_out_knee),
    Rule("an objective is met below where it fails", (MAIN, MAIN), _objectives, _order_objectives),
    Rule("headroom follows bracket and objectives", (MAIN, MAIN), _headroom, _count_headroom),
    Rule("the next limit comes after the limit", (MAIN, NEXT), _next_limit, _tell_next),
    Rule("the next limit is above what is carried", (MAIN, NEXT), _next_end, _leave_out_passed),
    Rule("a budget ends above what was carried with less of it", (MAIN, FAR), _budget, _leave_out_budgets),
    Rule("the law reaches what is carried", (MAIN, SCALING), _law, _leave_out_law),
    Rule("hardware fits the headroom", (MAIN, HARDWARE), _hardware, _leave_out_hardware),
    Rule("what the generator limited is no capacity", (MAIN, MAIN), _generator, _blame_generator),
    Rule("a stable load has no limit", (HELD, HELD), _stable),
)
