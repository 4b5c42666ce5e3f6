"""How much load does it carry? From a capacity run to the finding: bracket, limit, headroom, objectives, health.

It reads what the run directory holds and nothing else, so that a run can be judged again without being made again.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from plimsoll.findings.capacity.collapse import collapse_notes, quickened_words
from plimsoll.findings.capacity.data_volume import data_volume_facts
from plimsoll.findings.capacity.dearer import dearer_process
from plimsoll.findings.capacity.estimates import interval_facts, knee_facts
from plimsoll.findings.capacity.nearly_full import nearly_full
from plimsoll.findings.capacity.seen_overload import as_seen_in_passing, overload_seen
from plimsoll.findings.capacity.sustainable import bounds_for_headroom, sustainable_load
from plimsoll.findings.capacity.words import answer, headroom_of, next_steps
from plimsoll.findings.evidence import as_data, of_sources, of_steps
from plimsoll.findings.limits.database import Statements
from plimsoll.findings.limits.what_stops import STOLEN_MATTERS, limiting_resource
from plimsoll.findings.objectives import judge_objectives
from plimsoll.findings.resources import Means, Step, cpu_shares, means_of_steps
from plimsoll.findings.validity.asked import asked_load
from plimsoll.findings.validity.flow import flow_of_run, of_step, with_flow
from plimsoll.findings.validity.generator import figures_of, generator_health, limit_of_generator, seconds_of_steps
from plimsoll.findings.validity.script_caps import cap_of_step, with_script_cap
from plimsoll.findings.validity.validity import conclusions, objectives_within
from plimsoll.findings.validity.wandering_host import host_words
from plimsoll.runs.metric_names import RESPONSE_METRICS
from plimsoll.runs.readings.arrivals import by_arrival, windows_of
from plimsoll.runs.readings.ended_steps import ended_steps
from plimsoll.runs.snapshot import Snapshot
from plimsoll.stats.throughput.bracket import relevant_bounds
from plimsoll.words import level_words, number, share_words

if TYPE_CHECKING:
    from plimsoll.runs.reader import RunReader

THRASHING_S, THRASHING_SHARE = 5, 0.15
SCHEMA = 1
QUESTION = "How much load does it carry?"
_NO_CAPACITY = "Without a capacity there is no limit."
_NOT_ENOUGH = "Not enough data"  # how the reason of a step begins that says no more
_NOT_JUDGED = {"kind": "unknown", "where": None, "utilisation": None, "evidence": _NO_CAPACITY}


def capacity_findings(
    result: Any,
    run: RunReader | None,
    *,
    expected_users: float | None = None,
    objectives: Iterable[Any] = (),
    objectives_level: float | None = None,
    users_per_level: float | None = None,
    same_host: bool | None = None,
    kept_apart: str | None = None,
    apart_by_affinity: bool = False,
    run_path: str | None = None,
    notes: Iterable[str] = (),
) -> list[dict[str, Any]]:
    """The capacity finding, alone in a list (docs/findings.md).

    `result`: a CapacityResult or its JSON; `run`: None where there is no more of it (then objectives stay undecided);
    `expected_users`: for the headroom; `objectives`: of the study or the script; `objectives_level`: where
    they decide, if not at the expected users; `users_per_level`: users at level 1 where the unit
    is not users; `kept_apart`: how generator and target were separated on one host, in words, by this run or, with
    `apart_by_affinity`, before it.
    """
    facts = dict(result.to_json() if hasattr(result, "to_json") else result)
    per_level = 1.0 if facts["unit"] == "users" else users_per_level
    steps: list[dict[str, Any]] = facts["steps"]
    rows, snapshots = _sources(run, steps)
    means = means_of_steps(rows, steps)
    for step, seen in zip(steps, means, strict=True):
        step["cpu"] = cpu_shares(seen, step.get("generator_share"))
    deciding = _deciding(facts, steps)
    bad = _bound(steps, facts["bad"], "bad")
    decisive = [steps[at] for at in deciding]
    again_rows, again_snapshots = _sources(run, steps)
    seconds = seconds_of_steps(again_snapshots, again_rows, decisive)
    generator = generator_health(
        [{**figures_of(facts_of), **step} for facts_of, step in zip(seconds, decisive, strict=True)],
        [means[at] for at in deciding],
        seconds,
        same_host=same_host,
        kept_apart=kept_apart,
        unit=facts["unit"],
    )
    flow = flow_of_run(run)
    generator = with_flow(generator, flow, steps, facts["unit"], is_open=facts["open"], decisive=deciding)
    if bad is not None:  # else what is said to be carried is a least, which a cap leaves true
        generator = with_script_cap(generator, cap_of_step(run, bad, steps, facts))
    reference = expected_users / per_level if expected_users and per_level else objectives_level or facts["good"]
    failed = facts["status"] == "failed"
    answered = not failed and _has_bound(facts)
    volume = data_volume_facts(steps, means)
    made = [step for step in steps if not step.get("capped") or step["verdict"] == "good"]
    judged = judge_objectives(objectives, made, snapshots, reference, facts["unit"], facts["open"])
    judged = objectives_within(judged, steps)
    capacity = _capacity(facts, steps, means, per_level)
    apart = None if apart_by_affinity else kept_apart
    limited = _limit(facts, steps, means, bad, run, limit_of_generator(generator), apart) if answered else _NOT_JUDGED
    finding: dict[str, Any] = {
        "schema": SCHEMA,
        "question": QUESTION,
        "answer": "",
        "experiment": "capacity",
        "status": facts["status"],
        "valid": generator["healthy"] and answered,
        "validity": conclusions(generator, ("throughput", "response_time", "failures"))["validity"],
        "capacity": capacity,
        "objectives": judged,
        "sustainable": sustainable_load(facts["good"], facts["bad"], judged, facts["unit"]),
        "limited_by": dict(limited),
        "headroom": _headroom(facts, judged, per_level, expected_users),
        "generator": generator,
        "data_volume": volume,
        "evidence": _evidence(facts, steps, [means[at] for at in deciding], decisive),
        "invalid_because": [*([] if failed else generator["reasons"]), *_missing_answer(facts)],
        "notes": [
            _reason(facts, falls=capacity["dearer"] is not None),
            generator["words"],
            *([] if failed else [*_notes(facts, steps), *host_words(steps, means, facts["unit"])]),
            *notes,
        ],
        "steps": steps,
        "run": run_path,
    }
    if volume is not None:
        finding["notes"].append(volume["words"])
    expected = next((one for one in steps if one.get("step_kind") == "expected"), None)
    asked = asked_load(flow[of_step(flow, expected)]) if expected is not None and facts["open"] else None
    if asked is not None and expected is not None:
        finding["asked"] = asked | {"level": expected["level"]}
    finding["answer"] = answer(facts, finding)
    finding["next"] = next_steps(facts, finding)
    return [finding]


def _evidence(
    facts: Mapping[str, Any], steps: Sequence[Step], means: Sequence[Means], decisive: Sequence[Step]
) -> list[dict[str, Any]]:
    """All steps, those of each bound, and the probes in the steps that decide."""
    bounds = []
    for name, verdict in (("Carried", "good"), ("Not carried", "bad")):
        level = facts[verdict]
        here = [step for step in steps if level is not None and (step["level"], step["verdict"]) == (level, verdict)]
        bounds.append(of_steps(here, facts["unit"], name) if here else None)
    sources = of_sources(means, decisive, "Probes in the steps that decide")
    return as_data([of_steps(steps, facts["unit"]), *bounds, sources])


def result_of_run(run: RunReader) -> dict[str, Any]:
    """The JSON of the result as the run recorded it; of a killed run what its finished steps prove."""
    ended = run.events("capacity_result")
    if ended:
        return dict(ended[-1]["result"])
    steps = ended_steps(run)
    good, bad = relevant_bounds((step["level"], step["verdict"] == "good") for step in steps if _proves(step))
    started = [event for event in run.events("experiment_started") if event.get("experiment") == "capacity"]
    about = started[-1] if started else {}
    return {
        "unit": about.get("unit", "users"),
        "open": about.get("open", True),
        "status": "interrupted",
        "reason": "The run ended before its experiment did; only finished steps count.",
        "good": good,
        "bad": bad,
        "width": (bad - good) / bad if good is not None and bad else None,
        "width_goal": about.get("width_goal", 0.10),
        "step_s": about.get("step_s"),
        "max_level": None,
        "min_level": None,
        "estimate": None,
        "estimate_sd": None,
        "rate_per_level_s": about.get("rate_per_level_s"),
        "rate_arrivals": None,
        "load_s": steps[-1]["end_s"] if steps else 0.0,
        "steps": steps,
    }


def _proves(step: Mapping[str, Any]) -> bool:
    """Whether the search took it for a bound: a probe of the ramp only hints, unless the target all but failed."""
    if step.get("given_up"):
        return True
    held = step.get("step_kind") in ("hold", "confirm") and step["verdict"] in ("good", "bad")
    return held and not (step.get("disturbed") or step.get("unsteady"))


def _sources(run: RunReader | None, steps: Sequence[Step]) -> tuple[Iterable[Mapping[str, Any]], Iterable[Snapshot]]:
    if run is None:
        return (), ()
    metrics = (*RESPONSE_METRICS, "http_req_failed")
    return run.resources(), by_arrival(lambda: run.snapshots(metrics=metrics), windows_of(steps))


def _bound(steps: Sequence[Step], level: float | None, verdict: str) -> Step | None:
    """The longest step at that level with that verdict: it says most about the target there."""
    found = [step for step in steps if level is not None and step["level"] == level and step["verdict"] == verdict]
    return max(found, key=lambda step: step["end_s"] - step["measured_from_s"], default=None)


def _deciding(facts: Mapping[str, Any], steps: Sequence[dict[str, Any]]) -> list[int]:
    """Places of the steps that bound the answer; without bounds, of the highest level held."""
    bounds = [_bound(steps, facts["good"], "good"), _bound(steps, facts["bad"], "bad")]
    places = [at for at, step in enumerate(steps) if any(step is bound for bound in bounds)]
    if not places and steps:
        places = [max(range(len(steps)), key=lambda at: steps[at]["level"])]
    return places


def _has_bound(facts: Mapping[str, Any]) -> bool:
    return facts["good"] is not None or facts["bad"] is not None


def _missing_answer(facts: Mapping[str, Any]) -> list[str]:
    if facts["status"] == "failed":
        return [facts["reason"]]
    return [] if _has_bound(facts) else ["Too little was measured to bound the capacity."]


def _capacity(
    facts: Mapping[str, Any], steps: Sequence[Step], means: Sequence[Means], per_level: float | None
) -> dict[str, Any]:
    """Bracket, rates, interval and knee."""
    good = facts["good"]
    held = [step for step in steps if step["level"] == good and step["verdict"] == "good"]
    seconds = sum(step["end_s"] - step["measured_from_s"] for step in held)

    def rate(name: str) -> float | None:
        total = sum(step[name] * (step["end_s"] - step["measured_from_s"]) for step in held)
        return total / seconds if seconds else None

    done_per_s, requests_per_s = rate("done_per_s"), rate("requests_per_s")
    per_level_s = facts.get("rate_per_level_s") if facts["open"] else None
    if per_level_s and done_per_s and requests_per_s is not None:  # a step's arrivals are drawn, and none was left over
        requests_per_s *= good * per_level_s / done_per_s
        done_per_s = good * per_level_s
    elif not facts["open"] and done_per_s and requests_per_s is not None:
        requests_per_s = _requests_of(done_per_s, requests_per_s * seconds, seconds, held, steps)
    return {
        "users": good * per_level if good is not None and per_level else None,
        "level": good,
        "unit": facts["unit"],
        "model": "open" if facts["open"] else "closed",
        "rate_per_s": done_per_s,
        "requests_per_s": requests_per_s,
        "rate_per_level_s": per_level_s,
        "good": good,
        "bad": facts["bad"],
        "width": facts["width"],
        "estimate": facts["estimate"],
        "estimate_sd": facts["estimate_sd"],
        "confirmation": facts.get("confirmation"),
        "cap": {key: facts["cap"][key] for key in ("level", "per_s", "why")} if facts.get("cap") else None,
        "collapse": facts.get("collapse"),
        "failing_anyway": facts.get("failing_anyway"),
        "slowed": facts.get("slowed"),
        "quickened": facts.get("quickened"),
        "dearer": dearer_process(steps, means),
        **interval_facts(facts),
        **knee_facts(facts, steps),
    }


def _requests_of(
    done_per_s: float, requests: float, seconds: float, held: Sequence[Step], steps: Sequence[Step]
) -> float:
    """Requests per second of iterations that end `done_per_s` times a second. A step begins and ends within iterations,
    so that it counts up to one a VU more or fewer of the one than of the other: within that, the requests are those of
    an iteration at all levels, or one level would have two throughputs."""
    each = sorted(step["requests_per_s"] / step["done_per_s"] for step in steps if step["done_per_s"])
    per_iteration = each[len(each) // 2] if each else 0.0
    vus = sum(float(step.get("in_flight_end") or 0.0) for step in held)
    if per_iteration and abs(requests - per_iteration * done_per_s * seconds) <= per_iteration * vus:
        return per_iteration * done_per_s
    return requests / seconds


def _headroom(
    facts: Mapping[str, Any],
    objectives: Sequence[Mapping[str, Any]],
    per_level: float | None,
    expected_users: float | None,
) -> dict[str, Any] | None:
    """Of the sustainable load: the lower of what is carried and what meets the objectives."""
    bounds = bounds_for_headroom(facts["good"], facts["bad"], objectives)
    return headroom_of(expected_users, *(one * per_level if one is not None and per_level else None for one in bounds))


def _limit(
    facts: Mapping[str, Any],
    steps: Sequence[Step],
    means: Sequence[Means],
    bad: Step | None,
    run: RunReader | None,
    generator: dict[str, Any] | None,
    kept_apart: str | None,
) -> dict[str, Any]:
    """What stops it at `bad`; where no level was proven to be too much, what a short step showed, or was nearly full
    at the highest that is carried."""
    unit, short = facts["unit"], overload_seen(facts)
    limited = limiting_resource(
        _clearest(bad, steps) or short,
        steps,
        means,
        unit,
        statements=Statements.of(run),
        generator=generator,
        kept_apart=kept_apart,
    )
    if short is not None:
        return as_seen_in_passing(limited, short, unit)
    return nearly_full(facts, steps, means, limited)


def _clearest(bad: Step | None, steps: Sequence[Step]) -> Step | None:
    """The overloaded step that shows best what limits: the bound, or where the hypervisor took CPU time from it, the
    overloaded step that it disturbed least."""
    if bad is None or bad.get("stolen_share", 0.0) < STOLEN_MATTERS:
        return bad
    return min((step for step in steps if step["verdict"] == "bad"), key=lambda step: step.get("stolen_share", 0.0))


def _reason(facts: Mapping[str, Any], *, falls: bool) -> str:
    """Why the search ended; `falls`: what the target carries fell meanwhile, as the search itself did not see."""
    good, bad = facts["good"], facts["bad"]
    is_wide = good is not None and bad is not None and (bad - good) / bad > facts["width_goal"]
    if falls and is_wide and not facts.get("slowed"):
        return f"{facts['reason']} What the target carries fell meanwhile, which more time does not narrow."
    return str(facts["reason"])


def _notes(facts: Mapping[str, Any], steps: Sequence[Step]) -> list[str]:
    """What a reader should know before trusting the number."""
    notes = []
    good = facts["good"]
    lower = [
        step
        for step in steps
        if facts["bad"] is not None and step["verdict"] == "good" and step["level"] > facts["bad"]
    ]
    if lower:
        highest = level_words(max(step["level"] for step in lower), facts["unit"])
        notes.append(
            f"{highest} was carried in another step although a lower level was not: the target changed in between."
        )
    behind = [step for step in steps if not step.get("drained", True)]
    if behind and not any(step.get("stuck") for step in steps):  # else the answer says what was lost
        level = level_words(behind[0]["level"], facts["unit"])
        later = "it was longer than the drain waited, and was answered later" if "stuck" in behind[0] else "it was lost"
        notes.append(f"The backlog did not drain after {level}: {later}.")
    notes += _disturbed_words(steps, facts["unit"])
    unsteady = [step for step in steps if step.get("unsteady")]
    if unsteady:
        notes.append(
            f"{len(unsteady)} of {len(steps)} steps prove nothing, as the target itself changed all the while. At "
            f"{level_words(unsteady[-1]['level'], facts['unit'])}: {unsteady[-1]['reasons'][-1]} A hold of some "
            "minutes shows whether it goes on."
        )
    notes += _confirmation_words(facts, steps)
    notes += quickened_words(facts)
    notes += [*collapse_notes(facts, steps), *_thrashing_words(facts, steps)]
    below = [s for s in steps if good is not None and s["verdict"] == "good" and s["level"] == good]
    if any(step["dropped"] for step in below):
        notes.append("Some arrivals could not be sent even at the level called good; the report counts them.")
    return notes


def _disturbed_words(steps: Sequence[Step], unit: str) -> list[str]:
    """Which steps prove nothing for what the hypervisor or other work took from this host."""
    disturbed = [step for step in steps if step.get("disturbed")]
    stolen = [step for step in disturbed if step["stolen_share"] >= STOLEN_MATTERS]
    beside = [step for step in disturbed if step["stolen_share"] < STOLEN_MATTERS]
    words = []
    if stolen:
        worst = max(step["stolen_share"] for step in stolen)
        words.append(f"{len(stolen)} of {len(steps)} steps prove nothing: the hypervisor took up to "
                     f"{share_words(worst)} of a core's time from this host.")  # fmt: skip
    if beside:
        words.append(f"{len(beside)} of {len(steps)} steps prove nothing: work that is neither the target's nor the "
                     f"generator's came or went on this host. At {level_words(beside[-1]['level'], unit)}: "
                     f"{beside[-1]['reasons'][-1]}")  # fmt: skip
    return [f"{text} On a quieter host the answer is narrower." for text in words]


def _confirmation_words(facts: Mapping[str, Any], steps: Sequence[Step]) -> list[str]:
    """What holding the carried level once more said; nothing of runs that knew no confirmation."""
    if "confirmation" not in facts or facts["good"] is None:
        return []
    found = facts["confirmation"]
    if found is None and facts.get("cap") and not facts["open"]:
        return []  # the level at which the script cannot send more is held once
    if found is None:
        more = "no load time was left. Give more (--for)." if facts["bad"] is not None else "no level was too much."
        return [f"The level that is carried was not held a second time: {more}"]
    level = level_words(found["level"], facts["unit"])
    if found["level"] == facts["good"] and found["verdict"] == "confirmed":
        again = "was carried again" if facts["open"] else "brought as much again"
        told = f"Confirmed: held once more at the end, for {found['seconds']} s, {level} {again}."
        return [told, *_luck_words(facts, steps)]
    last = next((step for step in reversed(steps) if step.get("step_kind") == "confirm"), {})
    if found["verdict"] == "undecided" and last.get("disturbed"):
        return [f"Not confirmed: held once more at the end, {level} proved nothing. {last['reasons'][-1]}"]
    if found["verdict"] == "undecided":
        why = [text for text in (last.get("reasons") or ())[-1:] if not text.startswith(_NOT_ENOUGH)]
        told = f"Not confirmed: held once more at the end, for {found['seconds']} s, {level} was too close to tell."
        return [" ".join([told, *why])]
    if not facts["open"]:
        return [f"Not confirmed: held once more at the end, {level} brought {found['why']}"]
    if found["level"] == facts["good"]:
        return [f"Held once more at the end, {level} was not carried; most steps at that level were. {found['why']}"]
    return [f"Held once more at the end, {level} was no longer carried, and the bracket lies below. {found['why']}"]


def _luck_words(facts: Mapping[str, Any], steps: Sequence[Step]) -> list[str]:
    """What only shorter steps carried, of a target that collapses."""
    higher = [step["level"] for step in steps if step["verdict"] == "good" and step["level"] > facts["good"]]
    if not higher or not facts.get("collapse"):
        return []
    most = level_words(max(higher), facts["unit"])
    return [f"Shorter steps carried up to {most}. So near to the level at which it collapses, it does so now and then."]


def _thrashing_words(facts: Mapping[str, Any], steps: Sequence[Step]) -> list[str]:
    """Whether the target finishes clearly less under overload than it carries, so that it cannot catch up. Only of runs
    whose search did not look for a collapse."""
    carried = _bound(steps, facts["good"], "good")
    if carried is None or not facts["open"] or "collapse" in facts:
        return []
    overloaded = [
        step
        for step in steps
        if step["verdict"] == "bad"
        and step["level"] > carried["level"]
        and step.get("stolen_share", 0.0) < STOLEN_MATTERS
        and step["end_s"] - step["measured_from_s"] >= THRASHING_S
    ]
    worst = min(overloaded, key=lambda step: step["done_per_s"], default=None)
    if worst is None or worst["done_per_s"] > (1 - THRASHING_SHARE) * carried["done_per_s"]:
        return []
    less = 1 - worst["done_per_s"] / carried["done_per_s"]
    here, there = (level_words(step["level"], facts["unit"]) for step in (worst, carried))
    return [
        f"Overloaded, it finishes less than it carries: {number(worst['done_per_s'])}/s at {here}, {share_words(less)} "
        f"less than at {there}. Once behind, it does not catch up while the load stays: keep a reserve, or refuse what "
        "it cannot do in time."
    ]
