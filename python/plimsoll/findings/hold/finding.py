"""Is it stable, and does it meet its objectives? From a held load's run directory to findings, one per question."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from plimsoll.findings.capacity.words import asked_words
from plimsoll.findings.evidence import as_data, of_requests, of_seconds, of_sources, of_steps
from plimsoll.findings.exit_codes import without_data
from plimsoll.findings.hold.keep import kept, kept_objectives_of
from plimsoll.findings.hold.keep_words import QUESTION as KEEP_QUESTION
from plimsoll.findings.hold.keep_words import keep_words, not_kept
from plimsoll.findings.hold.limits import hold_limit
from plimsoll.findings.hold.objectives import held_objectives
from plimsoll.findings.hold.restarts import restart_finding
from plimsoll.findings.hold.series import HoldSeries, hold_series
from plimsoll.findings.hold.slow_or_overloaded import slow_or_overloaded
from plimsoll.findings.hold.stability import bursts_finding, drift_finding, leak_finding, periodic_finding
from plimsoll.findings.limits.database import Statements
from plimsoll.findings.limits.next_steps import steps_of
from plimsoll.findings.resources import Means, cpu_shares, means_of_steps, saw_target
from plimsoll.findings.validity.asked import asked_load
from plimsoll.findings.validity.flow import flow_of_run, of_step, with_flow
from plimsoll.findings.validity.generator import (
    figures_of,
    generator_health,
    limit_of_generator,
    not_alone,
    seconds_of_steps,
)
from plimsoll.findings.validity.script_caps import (
    NOT_MADE,
    cap_of_step,
    load_not_made,
    objectives_not_made,
    void_of,
    was_made,
    with_script_cap,
)
from plimsoll.findings.validity.validity import ALL, RestsOn, conclusions, objectives_within
from plimsoll.runs.interrupted import INTERRUPTED
from plimsoll.runs.metric_names import RESPONSE_METRICS
from plimsoll.runs.readings.ended_steps import ended_steps
from plimsoll.runs.readings.failures import MAKE_REQUESTS, Failures, nothing_measured_words
from plimsoll.runs.readings.generator_seconds import GeneratorSeconds
from plimsoll.runs.readings.objective_samples import Wanted
from plimsoll.study.objectives import parse_objective
from plimsoll.words import level_words, number, share_words, time_words

if TYPE_CHECKING:
    from plimsoll.runs.reader import RunReader

QUESTION = "Is it stable at this load, and does it meet the objectives?"
FEWEST_SECONDS = 10
OVERLOAD_LASTS_S = 30
MORE_TIME = "Give it more time (--for): the level counts once it has stood for a minute and a half; 5m is usual."
UNTOLD = {
    "Does it get slower over time?": "whether it gets slower",
    "Does something slow it down periodically?": "whether something slows it down periodically",
    "Does it leak memory?": "whether it leaks memory",
    "Is it slow, or overloaded?": "whether it is slow or overloaded",
}
# What each further question's answer rests on; a late generator leaves memory and failures as they are.
RESTS_ON: dict[str, RestsOn] = {
    "Does it get slower over time?": "mean_time",
    "Does something slow it down periodically?": "mean_time",
    "Does it leak memory?": "memory",
    "Did it restart?": "memory",
    "Do requests fail in bursts?": "failures",
    "Is it slow, or overloaded?": "mean_time",
}


def hold_findings(
    run: RunReader,
    *,
    objectives: Iterable[Any] = (),
    memory_limit_bytes: float | None = None,
    same_host: bool | None = None,
    kept_apart: str | None = None,
    apart_by_affinity: bool = False,
    run_path: str | None = None,
    notes: Iterable[str] = (),
) -> list[dict[str, Any]]:
    """The findings of a hold run, the answer to QUESTION first.

    `run`: a RunReader; of a killed run, what its finished steps prove. Each has question, answer, valid, evidence,
    next and its numbers under a key of its own; levels in `unit`, times in s or ms as their names say.
    """
    facts = _facts(run)
    held = next((step for step in facts["steps"] if step.get("step_kind") == "expected"), None)
    alone = next((step for step in facts["steps"] if step.get("step_kind") == "baseline"), None)
    to_keep = kept_objectives_of(run)
    wanted = _to_judge(objectives, to_keep)
    series = hold_series(run, held, alone, wanted)
    about = {"schema": 1, "experiment": "hold", "status": facts["status"]}
    common = {**about, "level_unit": facts["unit"], "run": run_path}
    if held is None or series.seconds.size < FEWEST_SECONDS:
        return [_too_little(facts, held, series, common, notes)]
    keep = kept(run, held, to_keep) if to_keep else None
    held_steps = [held] if alone is None else [held, alone]
    all_means = means_of_steps(run.resources(), held_steps)
    means = all_means[0]
    seconds = _generator_seconds(run, held, series)
    figures = {**figures_of(seconds), **held}
    generator = generator_health(
        [figures],
        [means],
        [seconds],
        same_host=same_host,
        kept_apart=kept_apart,
        unit=facts["unit"],
        asked_of="response_time",
    )
    flow = flow_of_run(run)
    asked = None if keep else asked_load(flow[of_step(flow, held)])
    generator = with_flow(generator, flow, [held], facts["unit"], is_open=facts.get("open", True))
    generator = with_script_cap(
        generator, cap_of_step(run, held, held_steps[1:], facts), NOT_MADE if keep else void_of(held)
    )
    cap = generator["script_cap"]
    whole = [one.merged for one in series.operations.values()]
    judged = held_objectives(
        wanted,
        series.wanted,
        held,
        facts["unit"],
        all_count=sum(one.count for one in whole),
        all_ms=sum(one.sum for one in whole),
        names=series.names,
    )
    judged = objectives_not_made(objectives_within(judged, [figures]), None if keep else cap)
    periodic = periodic_finding(series)
    details = [
        *([] if keep else [drift_finding(series)]),
        *([] if keep and _by_steering(periodic, keep) else [periodic]),
        leak_finding(series, memory_limit_bytes),
        restart_finding(run.events("note"), held, run.resources(), memory_limit_bytes),
        bursts_finding(series),
        slow_or_overloaded(series, judged, alone is not None),
    ]
    details = [one | conclusions(generator, [RESTS_ON[one["question"]]]) for one in details]
    troubles = [one["trouble"] for one in details if one.get("trouble") and one["valid"]]
    untold = [
        UNTOLD[one["question"]]
        for one in details
        if one["question"] in UNTOLD and (one["answer"].startswith("It cannot be told") or not one["valid"])
    ]
    silent = nothing_answered(series)
    given_up = [facts["reason"]] if held.get("given_up") and cap is None else []
    limit = hold_limit(
        held,
        alone,
        all_means,
        details,
        facts["unit"],
        statements=Statements.of(run),
        generator=limit_of_generator(generator),
        kept_apart=None if apart_by_affinity else kept_apart,
        steered=keep is not None,
    )
    if silent and limit["kind"] == "none":
        limit = limit | {"kind": "unknown", "evidence": silent[0]}
    unkept = [] if keep is None or silent else not_kept(keep)
    todo = steps_of(limit, verify=False, probed=saw_target(cpu_shares(means, None)))
    if silent:
        todo = [Failures(Counter(held.get("error_causes") or {})).next_step() or MAKE_REQUESTS]
    main = {
        **common,
        "question": KEEP_QUESTION if keep else QUESTION,
        **({"asked": asked} if asked else {}),
        "answer": _answer(facts, held, judged, [*silent, *given_up, *troubles], untold, generator, keep, asked),
        **conclusions(generator, ALL, answered=not (silent or unkept), because=[*silent, *unkept]),
        "facts": main_facts(facts["unit"], held, series, keep),
        "objectives": judged,
        "limited_by": limit,
        "evidence": _evidence(facts, held, alone, series, means),
        **({"keep": keep} if keep else {}),
        "generator": generator,
        "notes": [*([facts["reason"]] if facts["reason"] and not given_up else []), generator["words"], *notes],
        "stable": not (given_up or troubles or silent or cap),
        "steps": facts["steps"],
        "next": [
            *generator["remedies"],
            *([MORE_TIME] if unkept else []),
            *todo,
            *[item["needs"] for item in judged if item.get("needs")],
        ][:6],
    }
    return [main, *({**common, "objectives": [], **one} for one in details)]


def _by_steering(periodic: Mapping[str, Any], keep: Mapping[str, Any]) -> bool:
    """Whether the pulses are overloads of a steered load, and no job of the target."""
    times = (periodic.get("periodic") or {}).get("times_s") or ()
    over = [one["at_s"] for one in keep["overloads"]]
    near = [at for at in times if any(abs(at - one) <= OVERLOAD_LASTS_S for one in over)]
    return bool(times) and 2 * len(near) >= len(times)


def _to_judge(objectives: Iterable[Any], to_keep: Iterable[Mapping[str, Any]]) -> list[Wanted]:
    """The objectives to judge: a kept one is met and missed by turns, so that it would be judged by a toss; one that is
    stricter is missed, which the steering brought about."""
    wanted = [Wanted.of(objective) for objective in objectives]
    kept = [(one["request"], parse_objective(one["objective"])) for one in to_keep]

    def is_steered(one: Wanted) -> bool:
        of, mine = one.request or one.operation, one.limit
        return any(
            of == request and mine.statistic == limit.statistic and mine.limit <= limit.limit for request, limit in kept
        )

    return [one for one in wanted if not is_steered(one)]


def nothing_answered(series: HoldSeries) -> list[str]:
    """Why nothing was measured, where no request got an answer under load."""
    return nothing_measured_words(float(series.requests.sum()) - series.broke, series.unanswered, series.broke)


def _evidence(
    facts: Mapping[str, Any], held: Mapping[str, Any], alone: Mapping[str, Any] | None, series: HoldSeries, means: Means
) -> list[dict[str, Any]]:
    """The held step and its requests, the baseline, and the probes beside them."""
    return as_data(
        [
            of_steps([held], facts["unit"], "Held"),
            of_requests(float(series.requests.sum()) - series.broke, held, "In its measured seconds"),
            of_steps([alone], facts["unit"], "One user alone before") if alone is not None else None,
            of_sources([means], [held], "Probes beside the load"),
        ]
    )


def _generator_seconds(run: RunReader, held: Mapping[str, Any], series: HoldSeries) -> GeneratorSeconds:
    """What the generator did in the measured seconds, with their response times."""
    metric = run.first_metric(RESPONSE_METRICS)
    if metric is None or metric != series.metric:
        return seconds_of_steps(run.whole_seconds([metric or ""]), run.resources(), [held])[0]
    return series.generator


def _facts(run: RunReader) -> dict[str, Any]:
    ended = run.events("hold_result")
    if ended:
        return dict(ended[-1]["result"])
    about = (run.events("experiment_started") or [{}])[-1]
    steps = ended_steps(run)
    reason = "The run ended before its experiment did; only what was recorded until then counts."
    return {
        "unit": about.get("unit", "users"),
        "open": about.get("open", True),
        "status": "interrupted",
        "reason": reason,
        "level": max((step["level"] for step in steps), default=0.0),
        "steps": [*steps, *_unended(run, steps)],
    }


def _unended(run: RunReader, ended: Iterable[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """The step that a killed run was in, as far as it was recorded."""
    begun = list(run.events("step_started"))
    last = max((snapshot.second for snapshot in run.snapshots(metrics=())), default=0)
    if not begun or any(one["start_s"] == begun[-1]["second"] for one in ended):
        return []
    start = float(begun[-1]["second"])
    step = {
        "level": begun[-1]["level"],
        "step_kind": begun[-1]["step_kind"],
        "start_s": start,
        "measured_from_s": math.ceil(start + 5),
    }
    return [{**step, "end_s": last + 1.0, "verdict": "undecided"}]


def _how_little(series: HoldSeries, held: Mapping[str, Any] | None) -> str:
    """What was measured of a load that was not held for long enough; of none, what it was at."""
    measured = series.seconds.size
    if measured:
        return f"only {time_words(measured)} {'was' if measured == 1 else 'were'} measured under load."
    return f"it ended {'before the load was put on' if held is None else 'while the load warmed up'}."


def _too_little(
    facts: Mapping[str, Any],
    held: Mapping[str, Any] | None,
    series: HoldSeries,
    common: Mapping[str, Any],
    notes: Iterable[str],
) -> dict[str, Any]:
    answer = f"It cannot be said: {_how_little(series, held)} {facts['reason']}".strip()
    todo = "Run it again, for at least a minute after the warm-up; ten minutes and more show drift and leaks."
    if facts["status"] == "failed":  # nothing succeeded for one user alone
        answer = f"It cannot be said. {facts['reason']}"
        todo = Failures(sum((Counter(step["error_causes"]) for step in facts["steps"]), Counter())).next_step()
    return {
        **common,
        "question": QUESTION,
        "answer": answer,
        "valid": False,
        "objectives": [],
        "evidence": as_data([of_seconds(series.seconds, "Measured under load")]),
        "invalid_because": ["Too little was measured."],
        "notes": list(notes),
        "steps": facts["steps"],
        "next": [todo],
    }


def _answer(
    facts: Mapping[str, Any],
    held: Mapping[str, Any],
    judged: list[dict[str, Any]],
    troubles: list[str],
    untold: list[str],
    generator: Mapping[str, Any],
    keep: Mapping[str, Any] | None,
    asked: Mapping[str, Any] | None,
) -> str:
    measured = held["end_s"] - held["measured_from_s"]
    share = f"{share_words(asked['share'])} of " if asked else ""
    at = f"{time_words(measured)} at {share}{level_words(held['level'], facts['unit'])}"
    parts = []
    if facts["status"] == "interrupted":
        parts.append(INTERRUPTED)
    cap = generator["script_cap"]
    if cap and not keep and not was_made(held):
        return " ".join([*parts, load_not_made(held, cap), *([_objective_words(judged)] if judged else [])])
    parts += asked_words(asked)
    if not generator["healthy"]:
        parts.append(" ".join([not_alone(generator), *([cap["words"]] if cap else [])]))
    if keep:
        parts += keep_words(keep, facts["unit"])
        at = f"{time_words(measured)} at a steered load"
    if not (keep and keep["unreachable"]):
        parts += stable_words(at, troubles, untold)
    if judged:
        parts.append(_objective_words(judged))
    return " ".join(parts)


def stable_words(at: str, troubles: list[str], untold: list[str]) -> list[str]:
    """Whether it is stable over `at` (time and load), and what cannot be told (clauses)."""
    words = f"Stable over {at}, as far as that shows: nothing was found that gets worse or comes back."
    if untold:
        words = f"Nothing was found that gets worse or comes back, over {at}."
    if troubles:
        words = f"Not stable over {at}: {'; '.join(_lowered(one) for one in troubles)}."
    return [words, *([f"It cannot be told {_listed(untold)}."] if untold else [])]


def _listed(clauses: list[str]) -> str:
    return f"{', '.join(clauses[:-1])} and {clauses[-1]}" if len(clauses) > 1 else clauses[0]


def _lowered(sentence: str) -> str:
    text = sentence.rstrip(".")
    return text[:1].lower() + text[1:]


def _objective_words(judged: list[dict[str, Any]]) -> str:
    """How many of the objectives are met; of the others how many failed, had no data, or are not decided yet."""
    counts: dict[str, list[dict[str, Any]]] = {"met": [], "failed": [], "undecided": [], "without": []}
    for item in judged:
        counts["without" if without_data(item) else item["verdict"]].append(item)
    words = [f"{len(counts['met'])} of {len(judged)} objective{'s are' if len(judged) > 1 else ' is'} met"]
    if counts["failed"]:
        names = ", ".join(f"{_subject(item)} {item['objective']}" for item in counts["failed"][:3])
        words.append(f"{len(counts['failed'])} failed ({names}{' …' if len(counts['failed']) > 3 else ''})")
    if counts["without"]:
        counted = "which counts as failed" if len(counts["without"]) == 1 else "which count as failed"
        words.append(f"{len(counts['without'])} had no data, {counted}")
    if counts["undecided"]:
        words.append(f"{len(counts['undecided'])} cannot be told yet")
    return ", ".join(words) + "."


def _subject(item: Mapping[str, Any]) -> str:
    return str(item.get("request") or item.get("operation") or "all requests")


def main_facts(
    unit: str, held: Mapping[str, Any], series: HoldSeries, keep: Mapping[str, Any] | None = None
) -> list[list[str]]:
    """The load and what was done at it, as pairs of label and value; level in `unit`. `keep`: what was kept."""
    seconds, measured = series.seconds.size, time_words(held["end_s"] - held["measured_from_s"])
    rows = [
        ["Load", level_words(held["level"], unit)],
        ["Measured for", measured],
        ["Operations", f"{number(float(series.done.sum()) / seconds)} /s"],
    ]
    if keep and keep["level"] is not None:
        rows = [
            ["Mean load kept", level_words(keep["mean_level"], unit)],
            ["Kept for", f"{time_words(keep['kept_s'])} of {measured}"],
            ["Operations", f"{number(keep['done_per_s'])} /s in that time"],
        ]
    elif keep:
        rows[0][0] = "Mean load"
    requests, failed = float(series.requests.sum()) - series.broke, float(series.failed.sum()) - series.broke
    rows.append(["Requests", f"{number(requests / seconds)} /s"])
    rows.append(["Failed requests", f"{number(failed)} of {number(requests)}"])
    if series.broke:
        rows.append(["Iterations with an exception", f"{number(series.broke)} of {number(float(series.done.sum()))}"])
    return rows
