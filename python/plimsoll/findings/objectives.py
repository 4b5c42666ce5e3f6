"""Objectives, judged per level and apart from saturation: met, failed (violated), or undecided with what would decide.

Each verdict at a level is an exact test (stats/estimates/objective_test.py), wrong with a probability of at most 1%
each way. A target may miss its objectives for one idle user and yet carry many.

Where unfinished work of an open load grew all the while, requests share one queue, so that even all of them are worth
hardly one independent value. But then each request takes longer than the one before for as long as the load lasts: a
limit that the values of such a level miss is missed there, as surely as the level is not carried
(experiments/steps/judge.py).
"""

from __future__ import annotations

import difflib
import math
from collections.abc import Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import replace
from typing import Any

from plimsoll.findings.capacity.sustainable import bounds_of_verdicts
from plimsoll.findings.exit_codes import without_data
from plimsoll.findings.resources import Step
from plimsoll.runs.readings.failures import MAKE_REQUESTS, requests_words
from plimsoll.runs.readings.objective_samples import Samples, Wanted, Watch, needed_samples
from plimsoll.runs.snapshot import Snapshot
from plimsoll.stats.estimates.objective_test import Judged
from plimsoll.stats.estimates.quantile_test import ERROR
from plimsoll.study.objectives import Limit
from plimsoll.words import count_words, level_words, ms_words, share_words, time_words

# In findings "violated" is called "failed", as the exit code and earlier findings have it.
VERDICTS = {"met": "met", "violated": "failed", "undecided": "undecided"}
NO_ANSWER = "no request was answered"
_HOLD_IT = "plimsoll hold"
MARGIN = 1.3  # on the time that would decide it, if the next requests are as those that were seen
LEAST_HOLD_S = 20.0
_SAME_LEVEL = 1e-9
MOSTLY = 0.5  # of the arrivals that were not done, for them to be what waits at the end


def judge_objectives(
    objectives: Iterable[Any],
    steps: Sequence[Step],
    snapshots: Iterable[Snapshot],
    reference: float | None,
    unit: str = "users",
    is_open: bool = False,
) -> list[dict[str, Any]]:
    """One entry per objective; `reference`: the level that decides (expected load, else the capacity); `is_open`:
    whether arrivals come however long answers take.

    Each entry: operation or request, objective, unit ("ms" or "ratio", of the values and intervals in verdicts),
    verdict ("met", "failed", "undecided"), met_up_to (also as met_up_to_users if that is the unit), failed_from, words,
    needs (what would settle an undecided one), verdicts per level.
    """
    wanted = [Wanted.of(objective) for objective in objectives]
    if not wanted:
        return []
    levels, names = _collect(wanted, steps, snapshots)
    early = {float(step["level"]) for step in steps if step.get("step_kind") == "expected"}
    growing = _growing(steps) if is_open else set[float]()
    return [
        _entry(
            objective,
            {level: watch.samples[place] for level, watch in levels.items()},
            reference,
            unit,
            names,
            early,
            growing,
        )
        for place, objective in enumerate(wanted)
    ]


def _collect(
    wanted: Sequence[Wanted], steps: Sequence[Step], snapshots: Iterable[Snapshot]
) -> tuple[dict[float, Watch], set[str]]:
    """What each level saw, and the names of requests and operations that were seen."""
    found: dict[float, Watch] = {}
    names: set[str] = set()
    levels: dict[int, float] = {}  # by epoch
    for snapshot in snapshots:
        if snapshot.epoch < max(levels, default=0):
            levels.clear()  # another load, which numbers them anew
        for one in snapshot.earlier:
            if one.epoch in levels:
                found[levels[one.epoch]].add_cut_off(snapshot.second, one.interrupted)
        level = _level_at(steps, snapshot.second)
        if level is None:
            continue
        levels[snapshot.epoch] = level
        found.setdefault(level, Watch(wanted)).add(snapshot)
        names |= {
            str(series.tags[tag]) for series in snapshot.series for tag in ("name", "scenario") if tag in series.tags
        }
    return found, names


def _growing(steps: Sequence[Step]) -> set[float]:
    """Levels that were not carried and in all of whose steps unfinished work grew, by what came and was not done."""

    def grew(step: Step) -> bool:
        missing = (step.get("planned_per_s") or 0.0) - (step.get("done_per_s") or 0.0)
        left = (step.get("backlog_end") or 0.0) + (step.get("in_flight_end") or 0.0)
        not_carried = step.get("verdict") == "bad" and not step.get("disturbed")
        return not_carried and missing > 0 and left >= MOSTLY * missing * (step["end_s"] - step["measured_from_s"])

    all_of: dict[float, bool] = {}
    for step in steps:
        level = float(step["level"])
        all_of[level] = all_of.get(level, True) and grew(step)
    return {level for level, all_grew in all_of.items() if all_grew}


def _level_at(steps: Sequence[Step], second: int) -> float | None:
    for step in steps:
        if step["measured_from_s"] <= second < step["end_s"]:
            return float(step["level"])
    return None


def _entry(
    objective: Wanted,
    levels: Mapping[float, Samples],
    reference: float | None,
    unit: str,
    names: Iterable[str],
    early: Iterable[float],
    growing: AbstractSet[float],
) -> dict[str, Any]:
    """`early`: levels at which a step may have ended as soon as its objectives were decided, which is a first look at
    half the error; the other half is left for this one. `growing`: levels at which unfinished work grew."""
    judged = {level: levels[level].judged(ERROR / 2 if level in early else ERROR) for level in sorted(levels)}
    judged |= {
        level: _while_it_grows(objective.limit, levels[level], judged[level]) for level in growing & judged.keys()
    }
    verdicts = [_at_level(objective.limit, level, levels[level], one) for level, one in judged.items()]
    met_up_to, failed_from = bounds_of_verdicts(verdicts)
    subject = {"request": objective.request} if objective.request else {"operation": objective.operation}
    entry: dict[str, Any] = {**subject, "objective": objective.text, "unit": objective.limit.unit}
    entry |= {"met_up_to": met_up_to, "failed_from": failed_from}
    if unit == "users":
        entry["met_up_to_users"] = met_up_to
    held = next((item for item in verdicts if reference is not None and _same(item["level"], reference)), None)
    verdict = _at_reference(objective.limit, met_up_to, failed_from, reference, held)
    entry |= {"verdict": verdict, "at_level": reference, "verdicts": verdicts}
    entry["words"] = _words(objective.limit, entry, held, unit)
    entry["needs"] = _needs(objective, levels, judged, reference, unit, names) if verdict == "undecided" else None
    if _is_unmatched(objective, levels):
        entry["unmatched"] = True
    if without_data(entry):
        entry["words"] = no_data_words(objective, names, any(one.unanswered for one in levels.values()))
    return entry


def _while_it_grows(limit: Limit, samples: Samples, judged: Judged) -> Judged:
    """The verdict at a level at which response times grow as long as it is held."""
    value = samples.value if limit.unit == "ms" else None
    over = value is not None and not limit.is_met_by(value)
    return replace(judged, verdict="violated", times_longer=1.0) if over and judged.verdict == "undecided" else judged


def _is_unmatched(objective: Wanted, levels: Mapping[float, Samples]) -> bool:
    """Whether it names a request or an operation, loads were held, and nothing of that name was seen in any."""
    if objective.operation is None and objective.request is None:
        return False
    return bool(levels) and not any(samples.count or samples.unanswered for samples in levels.values())


def _same(level: float, other: float) -> bool:
    return math.isclose(level, other, rel_tol=_SAME_LEVEL)


def _at_reference(
    limit: Limit,
    met_up_to: float | None,
    failed_from: float | None,
    reference: float | None,
    held: Mapping[str, Any] | None,
) -> str:
    """What was seen there; else, as more load is never faster, met above means met and failed below means failed; but
    not where it was held and what was seen, too little to decide, says otherwise: then one of the two was disturbed."""
    if held is not None and held["verdict"] != "undecided":
        return str(held["verdict"])
    if reference is None:
        return (
            "failed"
            if failed_from is not None and met_up_to is None
            else "met"
            if met_up_to is not None
            else "undecided"
        )
    if failed_from is not None and failed_from <= reference:
        within = held is not None and held["value"] is not None and limit.is_met_by(held["value"])
        return "undecided" if within else "failed"
    is_met = met_up_to is not None and met_up_to >= reference and not (held is not None and _misses(limit, held))
    return "met" if is_met else "undecided"


def _misses(limit: Limit, seen: Mapping[str, Any]) -> bool:
    """Whether what was seen at a level, too little to decide, is beyond the limit."""
    return seen["verdict"] == "undecided" and seen["value"] is not None and not limit.is_met_by(seen["value"])


def _at_level(limit: Limit, level: float, samples: Samples, judged: Judged) -> dict[str, Any]:
    """The verdict at one level with its numbers; `interval` of a share of failures."""
    found: dict[str, Any] = {
        "level": level,
        "value": samples.value,
        "samples": samples.count,
        "needed": needed_samples(limit),
        "over": judged.over,
        "effective": judged.effective,
        "verdict": VERDICTS[judged.verdict],
    }
    if samples.unanswered:
        found["unanswered"] = samples.unanswered
    if limit.statistic == "error_rate":
        found["interval"] = [judged.share_low, judged.share_high]
    return found


def _words(limit: Limit, entry: Mapping[str, Any], held: Mapping[str, Any] | None, unit: str) -> str:
    """Where it was judged and by what, then up to where it is met and from where it fails."""
    met, failed, reference = entry["met_up_to"], entry["failed_from"], entry["at_level"]
    parts = []
    if reference is not None and held is not None:
        undecided = f", {undecided_words(held)}" if held["verdict"] == "undecided" and held["samples"] else ""
        parts.append(f"at {level_words(reference, unit)}, {value_words(limit, held)}{undecided}")
    elif reference is not None and entry["verdict"] == "met":
        parts.append(f"{level_words(reference, unit)} was not held, and a higher level meets it")
    elif reference is not None and entry["verdict"] == "failed":
        parts.append(f"{level_words(reference, unit)} was not held, and a lower level misses it")
    elif reference is not None:
        parts.append(f"{level_words(reference, unit)} was not held")
    highest = max((item["level"] for item in entry["verdicts"]), default=None)
    if met is not None:
        every = "met at all levels that were tried, " if met == highest and len(entry["verdicts"]) > 1 else "met "
        doubted = any(_misses(limit, item) for item in entry["verdicts"] if item["level"] < met)
        parts.append(f"met at {level_words(met, unit)}" if doubted else f"{every}up to {level_words(met, unit)}")
    if failed is not None:
        parts.append(f"failed from {level_words(failed, unit)}")
    if met is None and failed is None:
        parts.append("not decided at any level")
    return "; ".join(parts)


def value_words(limit: Limit, seen: Mapping[str, Any]) -> str:
    """The value at a level, and how many requests are above the limit."""
    count = seen["samples"]
    if not count:
        return NO_ANSWER if seen.get("unanswered") else "no request of it was seen"
    counted = requests_words(count)
    if limit.statistic == "error_rate":
        return f"{share_words(seen['value'])} of {counted} failed"
    shown = ms_words(seen["value"])
    if limit.statistic == "mean":
        return f"mean {shown} of {counted}"
    if limit.statistic == "max":
        return f"{shown} was the longest of {counted}"
    return f"{shown}; {count_words(seen['over'])} of {counted} took longer than {ms_words(limit.limit)}"


def undecided_words(seen: Mapping[str, Any]) -> str:
    """Why the requests that were seen do not decide it, by how many it takes at least: none of those above the limit,
    each independent of the others."""
    needed = f"at least {count_words(seen['needed'])} decide it"
    if seen["samples"] < seen["needed"]:
        return f"too few, {needed}"
    if seen["effective"] < seen["needed"]:
        return f"worth {count_words(seen['effective'])} independent ones, {needed}"
    return "which does not decide it"


def _needs(
    objective: Wanted,
    levels: Mapping[float, Samples],
    judged: Mapping[float, Judged],
    reference: float | None,
    unit: str,
    names: Iterable[str],
) -> str:
    """What would decide it: how much longer at the level that matters, by what was seen there or nearest to it."""
    held = [level for level, samples in levels.items() if samples.count and samples.seconds and level > 0]
    if not held:
        return no_data_words(objective, names, any(samples.unanswered for samples in levels.values()))
    near = min(held, key=lambda level: abs(math.log(level / reference))) if reference else max(held)
    samples, there = levels[near], judged[near]
    if reference is not None and not _same(near, reference):
        count = (there.times_longer or 1.0) * there.samples
        seconds = count / (samples.count / samples.seconds * reference / near)
        return f"{longer_words(1.0, seconds, level_words(reference, unit))}: {_HOLD_IT}."
    return f"{longer_words(there.times_longer, samples.seconds, level_words(near, unit))}: {_HOLD_IT}."


def longer_words(times: float | None, seconds: float, where: str) -> str:
    """For how long a level must be held to decide; `times`: as long as the `seconds` that it was, None for far too
    long."""
    if times is None:
        return f"What was seen lies at the limit, which no reasonable time at {where} decides; a lower level may"
    return f"Hold {where} for about {_rounded(max(LEAST_HOLD_S, MARGIN * times * seconds))} to decide it"


def _rounded(seconds: float) -> str:
    """Seconds to about one digit and a half, up: it is an estimate."""
    step = next((size for most, size in ((20, 1), (120, 10), (600, 60)) if seconds <= most), 300)
    return time_words(float(step * math.ceil(seconds / step)))


def no_data_words(objective: Wanted, names: Iterable[str], unanswered: bool = False) -> str:
    """Why nothing was seen of it: no answer, or a name that no request has; the nearest name is told."""
    if unanswered:
        return f"No data: {NO_ANSWER}. See why the target does not answer."
    if objective.operation is None and objective.request is None:
        return f"No data: no request was seen. {MAKE_REQUESTS}"
    near = difflib.get_close_matches(objective.subject, sorted(set(names)), n=1)
    step = f"Did you mean {near[0]!r}?" if near else "Check its name and the workload."
    return f"No data: no request of {objective.subject!r} was seen. {step}"
