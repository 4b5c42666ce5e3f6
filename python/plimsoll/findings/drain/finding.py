"""Does the asynchronous consumer keep up? From the rows of its probe and the load's own seconds to findings."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from plimsoll.findings.capacity.words import asked_words
from plimsoll.findings.drain.consumer_use import Phases, blocks_of, use_finding
from plimsoll.findings.drain.growth import index_growth, memory_growth
from plimsoll.findings.drain.polls import polls_finding
from plimsoll.findings.drain.series import Array, Consumer, consumer_series, lost_from, operations_of
from plimsoll.findings.evidence import RESOURCES, Evidence, as_data, of_seconds, of_steps
from plimsoll.findings.validity.asked import asked_load
from plimsoll.findings.validity.flow import flow_of_run, of_step, with_flow
from plimsoll.findings.validity.generator import health_of_load, not_alone
from plimsoll.findings.validity.script_caps import NOT_MADE, cap_of_step, with_script_cap
from plimsoll.findings.validity.validity import conclusions
from plimsoll.runs.readings.failures import METRIC as FAILED
from plimsoll.runs.readings.failures import count_unanswered, nothing_measured_words
from plimsoll.stats.consumption.keeping_up import KeepingUp, keeping_up, time_to_drain_s
from plimsoll.words import amount_words, number, share_words, time_words

if TYPE_CHECKING:
    from plimsoll.runs.reader import RunReader

QUESTION = "Does the consumer keep up?"
DISAGREE_SHARE, DISAGREE_READINGS, DISAGREE_ITEMS = 0.1, 3, 20


def drain_findings(
    run: RunReader,
    *,
    index_budget_bytes: float | None = None,
    memory_budget_bytes: float | None = None,
    same_host: bool | None = None,
    kept_apart: str | None = None,
    run_path: str | None = None,
    notes: Iterable[str] = (),
) -> list[dict[str, Any]]:
    """The findings of a drain run, the answer to QUESTION first. `run`: a RunReader, finished or not.

    A generator that was the limit makes that answer invalid, as the load was not the one asked for; the others tell
    what the consumer did with the items that came, and stay valid.
    """
    facts = drain_facts(run)
    common = {
        "schema": 1,
        "experiment": "drain",
        "status": facts["status"],
        "level_unit": facts["unit"],
        "run": run_path,
        "objectives": [],
    }
    seen = consumer_series(run, facts)
    if seen is None:
        return [_unread(common, facts, notes)]
    from_s = (facts["steps"] or [{}])[0].get("measured_from_s", facts["load_from_s"])
    judged = _judge(seen, from_s, facts["load_to_s"])
    drained = _drain_facts(seen, facts, judged)
    generator = health_of_load(
        run,
        _load_step(facts, from_s),
        rests_on="counts",
        same_host=same_host,
        kept_apart=kept_apart,
        unit=facts["unit"],
    )
    flow, load = flow_of_run(run), _load_step(facts, from_s)
    generator = with_flow(generator, flow, [load], facts["unit"])
    if asked := asked_load(flow[of_step(flow, load)]):
        generator = with_script_cap(generator, cap_of_step(run, load, facts["steps"], facts), NOT_MADE)
    made = count_unanswered(one for _, one in run.series(FAILED, from_s=from_s, to_s=facts["load_to_s"]))
    silent = nothing_measured_words(*made)
    answered = judged is not None and facts["status"] != "failed" and not silent
    main: dict[str, Any] = {
        **common,
        "question": QUESTION,
        "answer": " ".join(
            [
                *silent,
                *asked_words(asked),
                *([] if generator["healthy"] or silent else [not_alone(generator)]),
                _answer(facts, judged, seen),
                *_still_words(seen),
            ]
        ),
        **({"asked": asked} if asked else {}),
        "valid": answered and generator["healthy"],
        "keeps_up": None if judged is None or judged.verdict == "undecided" else judged.verdict == "keeps up",
        "facts": _main_facts(judged, drained, seen),
        "consumer": _judged_json(judged),
        "evidence": as_data(
            [
                of_steps([_load_step(facts, from_s)], facts["unit"], "Load"),
                of_seconds(_between(seen, from_s, facts["load_to_s"]), "The consumer under it", RESOURCES),
            ]
        ),
        "generator": generator,
        "validity": [] if silent else conclusions(generator, ["counts"])["validity"],
        "invalid_because": silent or generator["reasons"],
        "notes": [
            *([facts["reason"]] if facts["reason"] else []),
            *lost_from(seen, facts),
            seen.derived,
            generator["words"],
            *notes,
        ],
        "next": [*generator["remedies"], *_next_of_still(seen), *_next(judged)],
        "steps": facts["steps"],
    }
    if judged is not None and judged.verdict == "falls behind":
        main["objectives"] = [_behind(judged)]
    after = of_seconds(_between(seen, facts["load_to_s"], math.inf), "The consumer after the load", RESOURCES)
    time_finding = {
        **common,
        "question": "How long does it take to drain?",
        "valid": answered,
        "evidence": as_data([after]),
        **drained,
    }
    index = {
        **common,
        "question": "How does its index grow?",
        "valid": answered,
        "evidence": as_data([_read(seen.index, "Size of the index")]),
        **index_growth(seen, index_budget_bytes, judged),
    }
    memory = {
        **common,
        "question": "When is the memory budget reached?",
        "valid": answered,
        "evidence": as_data([_read(seen.memory, "Resident memory of the target's processes")]),
        **memory_growth(seen, memory_budget_bytes),
    }
    told = polls_finding(run, operations_of(run, facts))
    polls = [{**common, "valid": answered, **told}] if told is not None else []
    used = use_finding(run, blocks_of(seen.seconds, seen.put_in, seen.taken_out, phases_of(facts)))
    use = [{**common, "valid": answered, **used}] if used is not None else []
    wanted = [index] if seen.index is not None or index_budget_bytes is not None else []
    return [main, time_finding, *polls, *use, *wanted, *([memory] if memory_budget_bytes is not None else [])]


def _between(seen: Consumer, from_s: float, to_s: float) -> Array:
    """The seconds of the consumer from `from_s` to `to_s`."""
    return np.asarray(seen.seconds[(seen.seconds >= from_s) & (seen.seconds <= to_s)] - 1)


def _read(series: tuple[Array, Array] | None, about: str) -> Evidence:
    """The seconds in which that was read."""
    return Evidence(0, "seconds", RESOURCES, about) if series is None else of_seconds(series[0] - 1, about, RESOURCES)


def _load_step(facts: Mapping[str, Any], from_s: float) -> Mapping[str, Any]:
    """The step of the load; of a killed run the stretch in which there was load."""
    if facts["steps"]:
        return dict(facts["steps"][0])
    return {"level": facts["level"], "measured_from_s": from_s, "end_s": facts["load_to_s"]}


def _judge(seen: Consumer, from_s: float, to_s: float) -> KeepingUp | None:
    inside = (seen.seconds >= from_s) & (seen.seconds <= to_s)
    if inside.sum() < 3:
        return None
    put, taken, waiting = seen.put_in[inside], seen.taken_out[inside], seen.waiting[inside]
    judged = keeping_up(np.diff(put), np.diff(taken), float(waiting[0]))
    # The counters are read a moment apart, so that their difference may be below nothing where the backlog is not.
    judged = replace(judged, backlog_end=float(waiting[-1]))
    return replace(judged, verdict="undecided") if _disagree(judged, seen.every_s) else judged


def _disagree(judged: KeepingUp, every_s: float) -> bool:
    """Whether more was put in than taken out, or less, and the backlog did not go with it: by a tenth of what came in,
    and by more than comes in between two readings that are a moment apart."""
    came = judged.arrivals_per_s * judged.seconds
    gap = abs(judged.growth_per_s * judged.seconds - (judged.backlog_end - judged.backlog_start))
    return gap > max(DISAGREE_SHARE * came, DISAGREE_READINGS * every_s * judged.arrivals_per_s, DISAGREE_ITEMS)


_COUNTERS = {"put_in": ("put in", "--produced"), "taken_out": ("done", "--consumed")}


def _still_words(seen: Consumer) -> list[str]:
    """Counters that never moved, a sentence each."""
    found = [(what, seen.unmoved_words(name)) for name, (what, _) in _COUNTERS.items()]
    return [f"The counter of items {what} did not move: {words}." for what, words in found if words]


def _next_of_still(seen: Consumer) -> list[str]:
    """What to look at where a number never moved."""
    flags = [flag for name, (_, flag) in _COUNTERS.items() if name in seen.unmoved]
    steps = [f"See by hand whether {flag} is the number of these items: it did not move." for flag in flags]
    if _shows_no_speed(seen):
        steps.append("Give --consumed as well, a counter of items done: a still backlog shows no speed.")
    return steps


def _shows_no_speed(seen: Consumer) -> bool:
    """Whether what it did is only what came in, as the one number that was read of the consumer never moved."""
    return "waiting" in seen.unmoved and not seen.counts_done


def _answer(facts: Mapping[str, Any], judged: KeepingUp | None, seen: Consumer) -> str:
    if judged is None:
        return f"It cannot be said: the consumer was read for too short a time under load. {facts['reason']}".strip()
    arrived, no_speed = f"{amount_words(judged.arrivals_per_s, 'item')}/s arrived", _shows_no_speed(seen)
    done = "; how fast they were done was not seen" if no_speed else f", {number(judged.taken_per_s)}/s were done"
    rates = f"{arrived}{done}"
    smallest = _smallest_words(judged)
    went = f"the backlog went from {number(judged.backlog_start)} to {amount_words(judged.backlog_end, 'item')}"
    if still := seen.unmoved_words("waiting"):
        went = f"the backlog did not move: {still}"
    if _disagree(judged, seen.every_s):
        return (
            f"It cannot be told, as the readings contradict each other: {rates}, a difference of "
            f"{number(judged.growth_per_s)}/s. But {went}. See whether the backlog and the counters of what was put in "
            "and done are of the same items, in the same unit."
        )
    if judged.verdict == "falls behind":
        low, high = share_words(max(0.0, judged.overload_low)), share_words(min(1.0, judged.overload_high))
        return (
            f"No, it falls behind: {rates}. {_raised(went)}. It grew by {number(judged.growth_per_s)}/s, "
            f"{share_words(judged.overload)} of the arrivals (95%: {low} to {high})."
        )
    if judged.verdict == "keeps up":
        provided = ", if that is the number of these items" if no_speed and judged.backlog_end > 0 else ""
        return f"Yes{provided}: {rates}. {_raised(went)}. {smallest}."
    return f"It cannot be told: {rates}. {_raised(went)}, which is not significant. {smallest}."


def _smallest_words(judged: KeepingUp) -> str:
    """Which growth of the backlog would have shown; it cannot grow by more than what arrives."""
    within = time_words(judged.seconds)
    if judged.smallest_detectable > 1:
        return f"Too little arrived for any growth to show in {within}"
    return f"Growth by {share_words(judged.smallest_detectable)} of the arrivals or more would have shown in {within}"


def _smallest_share(judged: KeepingUp) -> str:
    return "none" if judged.smallest_detectable > 1 else f"{share_words(judged.smallest_detectable)} of the arrivals"


def _raised(clause: str) -> str:
    return f"{clause[:1].upper()}{clause[1:]}"


def _main_facts(judged: KeepingUp | None, drained: Mapping[str, Any], seen: Consumer) -> list[list[str]]:
    if judged is None:
        return []
    rows = [
        ["Put in", f"{amount_words(judged.arrivals_per_s, 'item')}/s"],
        *([] if _shows_no_speed(seen) else [["Done", f"{amount_words(judged.taken_per_s, 'item')}/s"]]),
        ["Backlog at the end of the load", f"{amount_words(judged.backlog_end, 'item')}"],
        ["Smallest growth that shows", _smallest_share(judged)],
    ]
    alone = drained["drain"]["alone_per_s"]
    return [*rows, *([["Done without load", f"{amount_words(alone, 'item')}/s"]] if alone else [])]


def _judged_json(judged: KeepingUp | None) -> dict[str, Any] | None:
    if judged is None:
        return None
    return {
        "verdict": judged.verdict,
        "arrivals_per_s": judged.arrivals_per_s,
        "taken_per_s": judged.taken_per_s,
        "backlog_start": judged.backlog_start,
        "backlog_end": judged.backlog_end,
        "growth_per_s": judged.growth_per_s,
        "overload": judged.overload,
        "overload_interval": [judged.overload_low, judged.overload_high],
        "growth_z": judged.growth_z,
        "smallest_detectable": judged.smallest_detectable,
        "seconds": judged.seconds,
        "busy_per_s": judged.busy_per_s,
    }


def _drain_facts(seen: Consumer, facts: Mapping[str, Any], judged: KeepingUp | None) -> dict[str, Any]:
    """How fast the consumer is without load, how long the backlog took or would take. What waited before the load is
    no part of it: it was not to drain."""
    before, after = seen.waiting[seen.seconds <= facts["load_from_s"]], seen.seconds >= facts["load_to_s"]
    at_rest = float(before[-1]) if before.size else 0.0
    waiting = seen.waiting[after]
    at_end = float(waiting[0]) if waiting.size else (judged.backlog_end if judged else 0.0)
    beyond = at_end - at_rest
    busy = waiting - at_rest > max(2.0, 0.05 * beyond)
    alone = None
    if busy.sum() >= 3:
        span = int(busy.sum())
        alone = float((waiting[0] - waiting[span - 1]) / (span - 1)) if span > 1 else None
    drained_at = facts["drained_at_s"]
    about: dict[str, Any] = {"backlog": at_end, "alone_per_s": alone, "drained_s": None, "left_s": None}
    if drained_at is not None and beyond > 2:
        about["drained_s"] = drained_at - facts["load_to_s"]
        speed = f", {amount_words(alone, 'item')}/s" if alone else ""
        what = f"{amount_words(beyond, 'item')} beyond the {number(at_rest)} that waited before the load"
        items = what if at_rest > 2 else f"{amount_words(at_end, 'item')}"
        answer = f"{items} took {time_words(about['drained_s'])} without load{speed}."
    elif drained_at is not None and at_end <= 2:
        answer = "Nothing waited when the load ended."
    elif drained_at is not None:
        answer = f"No more waited when the load ended than before it: {amount_words(at_end, 'item')}."
        if still := seen.unmoved_words("waiting"):
            answer = f"It was not seen: the backlog stood at {still}."
    elif lost_from(seen, facts):
        answer = f"It cannot be told: the consumer could not be read from {number(float(seen.seconds[-1]))} s on."
    else:
        left = float(waiting[-1]) if waiting.size else at_end
        rate = alone if alone and alone > 0 else (judged.busy_per_s if judged else None)
        left_s = time_to_drain_s(left, rate) if rate else math.inf
        about["left_s"] = left_s if math.isfinite(left_s) else None
        how = (
            f"at {amount_words(rate, 'item')}/s they take {time_words(left_s)} more"
            if rate
            else "how fast it drains was not seen"
        )
        answer = f"{amount_words(left, 'item')} still waited when the run ended; {how}."
    if judged is not None and judged.verdict == "keeps up" and alone and alone > judged.arrivals_per_s and beyond > 2:
        with_load = time_to_drain_s(beyond, alone, judged.arrivals_per_s)
        answer += f" With the load going on they would take {time_words(with_load)}."
    return {"answer": answer, "drain": about, "next": []}


def _behind(judged: KeepingUp) -> dict[str, Any]:
    return {
        "operation": "consumer",
        "objective": "keeps up",
        "verdict": "failed",
        "words": f"the backlog grew by {share_words(judged.overload)} of the arrivals",
        "met_up_to": None,
        "failed_from": None,
        "verdicts": [],
        "needs": None,
    }


def _next(judged: KeepingUp | None) -> list[str]:
    if judged is None:
        return ["Load it for longer (--duration), at least half a minute after the warm-up."]
    if judged.verdict == "falls behind":
        rate = f"{amount_words(judged.busy_per_s, 'item')}/s" if judged.busy_per_s else "what it does while it is busy"
        return [f"Put in less than {rate}, or give the consumer more workers or hosts and run it again."]
    if judged.verdict == "undecided":
        need = judged.seconds * (judged.smallest_detectable / max(0.01, abs(judged.overload))) ** 2
        return [f"Load it for about {time_words(max(2 * judged.seconds, min(need, 40 * judged.seconds)))} to tell."]
    return []


def phases_of(facts: Mapping[str, Any]) -> Phases:
    """When the run rested, was loaded and drained."""
    begin = float(facts["load_from_s"])
    measured = float((facts["steps"] or [{}])[0].get("measured_from_s", begin))
    return Phases(begin, measured, float(facts["load_to_s"]), facts["drained_at_s"], float(facts["ended_s"]))


def drain_facts(run: RunReader) -> dict[str, Any]:
    """The result as the run recorded it; of a killed run what it shows until then."""
    ended = run.events("drain_result")
    if ended:
        return dict(ended[-1]["result"])
    last = max((float(snapshot.second) + 1 for snapshot in run.snapshots(metrics=())), default=0.0)
    begun = list(run.events("step_started"))
    about = (run.events("drain_settings") or [{}])[-1]
    return {
        "unit": (run.events("experiment_started") or [{}])[-1].get("unit", "users"),
        "level": float(begun[0]["level"]) if begun else 0.0,
        "status": "interrupted",
        "reason": ("The run ended before its experiment did; only what was recorded until then counts."),
        "load_from_s": float(begun[0]["second"]) if begun else 0.0,
        "load_to_s": last,
        "drained_at_s": None,
        "ended_s": last,
        "items_per_operation": about.get("items_per_operation", 1.0),
        "operation": about.get("operation"),
        "steps": [],
    }


def _unread(common: Mapping[str, Any], facts: Mapping[str, Any], notes: Iterable[str]) -> dict[str, Any]:
    return {
        **common,
        "question": QUESTION,
        "answer": "It cannot be said: neither the backlog nor the items done could be read.",
        "valid": False,
        "evidence": as_data([Evidence(0, "readings", RESOURCES, "Of the consumer")]),
        "invalid_because": ["Nothing was read of the consumer; the events say why."],
        "notes": [facts["reason"], *notes],
        "next": ["Try the place of the number by hand: the URL, the query, the file, the command."],
    }
