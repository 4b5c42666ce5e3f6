"""Was it the target, or the generator? Health of the load generator in the steps that decide the answer.

A run is invalid as a capacity if, in a step that bounds it,
  * the host's CPU was over 90 % busy while the generator took over 10 % of the host, or
  * the generator's lag was above both 1 ms and a tenth of the response time at the same percentile (p50, p90, p99), or
    of the median in the mean of a part of the load, or
  * the generator used over 90 % of what its threads can, or
  * it had no file or port for a connection, its CPU quota held it up, or its loop stood still (self_diagnosis.py).

Long runs are judged alike over the seconds of their load, as far as their answers rest on the same (RestsOn).
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any, Literal, NamedTuple

from plimsoll.findings.capacity_words import level_words
from plimsoll.findings.resources import Means, Step, means_of_steps, target_cores
from plimsoll.findings.self_diagnosis import LEAST_LAG_MS, THREAD_BUSY, diagnose
from plimsoll.runs.generator_seconds import RESPONSE_METRICS, GeneratorSeconds
from plimsoll.runs.snapshot import Snapshot

HOST_BUSY = 0.90
GENERATOR_TAKES = 0.10
LAG_OF_RESPONSE = 0.10  # at the same percentile
# What is judged here by the step's own figures, or as a disturbance of the target, is left to that.
DIAGNOSED = ("vus", "files", "ports", "quota", "stall")
# Of these, what bounds the load that it can send; a stall only delays it.
LIMITING = ("vus", "files", "ports", "quota", "thread")
RARE_LAG_OF_MEDIAN = 0.50  # of a lag p99 in means, to which it adds little
# What a second's lag p99 adds to its mean beyond its median: 0.08 where lag is exponential, 0.01 to 0.5 in all.
RARE_SHARE = 0.1
LEAST_SPELL_S = 2
MOST_PARTS, SHORTEST_PART_S = 5, 10  # of a load, in each of which lateness counts where an answer rests on means
# What an answer rests on: percentiles of times at one level, mean times while the level changes, or items counted
# second by second.
RestsOn = Literal["times", "means", "counts"]
COUNTED_MS = 1000.0
NOT_ALONE = "The numbers below are not the target's alone, because the generator may have been the limit."


class Problem(NamedTuple):
    """Why figures are not the target's alone, what to do, and whether the generator could not have sent more."""

    reason: str
    remedy: str
    limits: bool = False


def seconds_of_steps(
    snapshots: Iterable[Snapshot], rows: Iterable[Mapping[str, Any]], steps: Sequence[Step]
) -> list[GeneratorSeconds]:
    """What the generator and its machine did in the measured seconds of each step; the run is read once."""
    windows = [(float(step["measured_from_s"]), float(step["end_s"])) for step in steps]
    facts = [GeneratorSeconds() for _ in steps]
    for snapshot in snapshots:
        for (start_s, end_s), of_step in zip(windows, facts, strict=True):
            if start_s <= snapshot.second < end_s:
                of_step.add(snapshot)
    for row in rows:
        second = row.get("second")
        for (start_s, end_s), of_step in zip(windows, facts, strict=True):
            if isinstance(second, int | float) and start_s <= second < end_s:
                of_step.add_row(row)
    return facts


def figures_of(facts: GeneratorSeconds) -> dict[str, Any]:
    """The generator's own figures of these seconds, named as those of a step that an experiment judged."""
    cores = facts.mean("cpu_s")
    return {
        "generator_share": cores / max(1.0, facts.last("threads") or 1.0),
        "generator_cores": cores,
        "lag_p50_ms": facts.median("lag_p50_ms") or 0.0,
        "lag_p90_ms": _lag_of_spells_ms(facts, 0.90),
        "lag_p99_ms": facts.median("lag_p99_ms") or 0.0,
        "lag_of_spells_ms": _lag_of_spells_ms(facts, 0.99),
        "lag_mean_ms": _mean_lag_ms(facts),
        "p50_ms": facts.response_ms(0.50),
        "p90_ms": facts.response_ms(0.90),
        "p99_ms": facts.response_ms(0.99),
    }


def _lag_of_spells_ms(facts: GeneratorSeconds, quantile: float) -> float:
    """How late, at least, a share 1 - `quantile` of all events was because some seconds were: half of the events of a
    second are later than its lag p50. One second alone is a hiccup."""
    each = sorted(facts.of("lag_p50_ms"), reverse=True)
    seconds = max(LEAST_SPELL_S, math.ceil(2 * (1 - quantile) * len(each) - 1e-9))
    return each[seconds - 1] if len(each) >= seconds else 0.0


def _mean_lag_ms(facts: GeneratorSeconds) -> float:
    """Mean lateness over the fifth of the load in which it was greatest. A median of the seconds would not see what
    lasts for less than half of them, and that looks like a target that slows down on the way."""
    both = zip(facts.of("lag_p50_ms"), facts.of("lag_p99_ms"), strict=False)
    each = [usual + RARE_SHARE * (rare - usual) for usual, rare in both]
    parts = max(1, min(MOST_PARTS, len(each) // SHORTEST_PART_S))
    edges = [len(each) * place // parts for place in range(parts + 1)]
    return max(sum(each[start:end]) / max(1, end - start) for start, end in pairwise(edges))


def health_of_load(
    run: Any,
    load: Step,
    *,
    rests_on: RestsOn = "times",
    same_host: bool | None = None,
    kept_apart: str | None = None,
    unit: str = "users",
) -> dict[str, Any]:
    """`generator_health` over one stretch of a run (a RunReader): `load` has level, measured_from_s and end_s, and
    the figures of a step where an experiment made one of it."""
    metric = run.first_metric(RESPONSE_METRICS)
    seconds = seconds_of_steps(run.whole_seconds([metric or ""]), run.resources(), [load])
    return generator_health(
        [{**figures_of(seconds[0]), **load}],
        means_of_steps(run.resources(), [load]),
        seconds,
        rests_on=rests_on,
        same_host=same_host,
        kept_apart=kept_apart,
        unit=unit,
    )


def generator_health(
    steps: Sequence[Step],
    means: Sequence[Means],
    seconds: Sequence[GeneratorSeconds] = (),
    *,
    rests_on: RestsOn = "times",
    same_host: bool | None = None,
    kept_apart: str | None = None,
    unit: str = "users",
) -> dict[str, Any]:
    """Judge `steps`, the deciding ones, with their probe `means` (of the generator's host) and their `seconds`, where
    these are known.

    `rests_on`: where the level changed within the steps, a thread that was full for a part of them counts, and means
    bear lateness at p99 that percentiles do not; where items are counted, lateness counts beside a second and not
    beside response times. `same_host`: whether target and generator share a host (None: yes if a process of the target
    was probed here, else not known); `kept_apart`: how, in words ("pinned to different cores"); `unit`: of the steps'
    levels. Keys: healthy, cpu (share of its threads), host_share, lag_p99_ms, same_host, target_cores, generator_cores,
    reasons, remedies, limits (of the reasons, those for which it could not have sent more), words.
    """
    reasons: list[str] = []
    remedies: list[str] = []
    limits: list[str] = []
    for step, seen in zip(steps, means, strict=True):
        problems = _problems(step, seen, level_words(step["level"], unit), rests_on, kept_apart is not None)
        _note(problems, reasons, remedies, limits)
    for step, facts in zip(steps, seconds, strict=False):
        found = _diagnosed(facts, level_words(step["level"], unit), _names(step, rests_on))
        _note(found, reasons, remedies, limits)
    worst_lag = max((float(step.get("lag_p99_ms") or 0.0) for step in steps), default=0.0)
    target = [cores for seen in means if (cores := target_cores(seen)) is not None]
    shared = same_host if same_host is not None else (True if target else None)
    health = {
        "healthy": not reasons,
        "cpu": _rounded(max((float(step.get("generator_share") or 0.0) for step in steps), default=0.0)),
        "host_share": _rounded(
            max(
                (share for s, m in zip(steps, means, strict=True) if (share := _host_share(s, m)) is not None),
                default=None,
            )
        ),
        "generator_cores": _rounded(max((float(step.get("generator_cores") or 0.0) for step in steps), default=0.0)),
        "target_cores": _rounded(max(target, default=None)),
        "lag_p99_ms": _rounded(worst_lag),
        "same_host": shared,
        "kept_apart": kept_apart,
        "reasons": reasons,
        "remedies": remedies,
        "limits": limits,
    }
    return health | {"words": _same_host_words(health)}


def limit_of_generator(health: Mapping[str, Any]) -> dict[str, Any] | None:
    """The generator as what limited the load, in the JSON of a limit; None where it was late at most, or competed with
    the target for the host's cores."""
    if not health["limits"]:
        return None
    remedy = next(iter(health["remedies"]), None)
    found = {"kind": "generator", "where": "the load generator", "utilisation": None, "evidence": health["limits"][0]}
    return found | ({"remedy": remedy} if remedy else {})


def _note(problems: Iterable[Problem], reasons: list[str], remedies: list[str], limits: list[str]) -> None:
    for problem in problems:
        if problem.reason not in reasons:
            reasons.append(problem.reason)
        if problem.remedy not in remedies:
            remedies.append(problem.remedy)
        if problem.limits and problem.reason not in limits:
            limits.append(problem.reason)


def _names(step: Step, rests_on: RestsOn) -> Sequence[str]:
    """What is diagnosed of the seconds of that step."""
    if rests_on == "counts":  # a stall only delays; where by so much that it shows in counts, the lag tells
        return [name for name in DIAGNOSED if name != "stall"]
    return (*DIAGNOSED, "thread") if rests_on == "means" and not _is_full(step) else DIAGNOSED


def _diagnosed(facts: GeneratorSeconds, level: str, names: Sequence[str]) -> Iterator[Problem]:
    for one in diagnose(facts):
        if one.spoils and one.name in names:
            yield Problem(f"At {level}: {one.words}", one.remedy, one.name in LIMITING)


_OTHER_HOST = "Run the generator on another host, or give it its own cores with --isolate."
_FREE = "Free the generator's host of other work, or give the generator its own cores with --isolate."
# Where the two were kept apart already, what else runs there took the time.
_FREE_APART = "Free the host of other work: something else ran on the generator's cores; or use another host."


def _problems(step: Step, seen: Means, level: str, rests_on: RestsOn, kept_apart: bool) -> list[Problem]:
    found = []
    at = f"at {level}"
    busy, share = seen.get("host", {}).get("cpu_share"), _host_share(step, seen)
    if busy is not None and share is not None and busy > HOST_BUSY and share > GENERATOR_TAKES:
        text = f"CPU of the host was {busy:.0%} busy {at} and the generator took {share:.0%} of it: they competed."
        found.append(Problem(text, _FREE_APART if kept_apart else _OTHER_HOST))
    late = _late_words(step, rests_on)
    if late is not None:
        text = f"The generator itself was late {at}: {late}."
        found.append(Problem(text, _FREE_APART if kept_apart else _FREE))
    if _is_full(step):
        text = f"The generator's threads were {step['generator_share']:.0%} busy {at}: it could not have sent more."
        remedy = "Give the generator more threads or a faster host, or make the script cheaper."
        found.append(Problem(text, remedy, limits=True))
    return found


def _late_words(step: Step, rests_on: RestsOn) -> str | None:
    """How late the generator was, where that shows in what the answer rests on."""
    rare_ms, median_ms = float(step.get("lag_p99_ms") or 0.0), step.get("p50_ms")
    if rests_on == "counts":
        limit_ms = LAG_OF_RESPONSE * COUNTED_MS
        return f"lag p99 {rare_ms:.1f} ms, more than a tenth of the second" if rare_ms > limit_ms else None
    if median_ms is None:
        return f"lag p99 {rare_ms:.1f} ms" if rare_ms > LEAST_LAG_MS else None
    against = f"the median response time ({median_ms:.2f} ms)"
    usual_ms = float(step.get("lag_p50_ms") or 0.0)
    if _is_late(usual_ms, LAG_OF_RESPONSE * median_ms):
        return f"lag {usual_ms:.1f} ms at the median, more than a tenth of {against}"
    mean_ms = float(step.get("lag_mean_ms") or 0.0)
    if _is_late(mean_ms, LAG_OF_RESPONSE * median_ms):
        return f"lag {mean_ms:.1f} ms in the mean of a part of it, more than a tenth of {against}"
    if rests_on == "means":
        late = _is_late(rare_ms, RARE_LAG_OF_MEDIAN * median_ms)
        return f"lag p99 {rare_ms:.1f} ms, more than half of {against}" if late else None
    return _late_above_median(step, median_ms)


def _late_above_median(step: Step, median_ms: float) -> str | None:
    """How late at p90 or p99, beside the response time there; beside the median where only that is known."""
    rare_ms = max(float(step.get(name) or 0.0) for name in ("lag_p99_ms", "lag_of_spells_ms"))
    for name, lag_ms in (("p90", float(step.get("lag_p90_ms") or 0.0)), ("p99", rare_ms)):
        there_ms = step.get(f"{name}_ms")
        if _is_late(lag_ms, LAG_OF_RESPONSE * (median_ms if there_ms is None else there_ms)):
            known = f"the median response time ({median_ms:.2f} ms)"
            against = known if there_ms is None else f"the response time there ({there_ms:.2f} ms)"
            return f"lag {lag_ms:.1f} ms at {name}, more than a tenth of {against}"
    return None


def _is_late(lag_ms: float, limit_ms: float) -> bool:
    return lag_ms > max(LEAST_LAG_MS, limit_ms)


def _is_full(step: Step) -> bool:
    return float(step.get("generator_share") or 0.0) > THREAD_BUSY


def _host_share(step: Step, seen: Means) -> float | None:
    cores = seen.get("host", {}).get("cores")
    used = step.get("generator_cores")
    return float(used) / cores if cores and used is not None else None


def _same_host_words(health: dict[str, Any]) -> str:
    if health["same_host"] is None:
        return "Whether generator and target shared a host is not known, as no process of the target was probed."
    if not health["same_host"]:
        return "Generator and target ran on different hosts."
    text = "Generator and target ran on the same host"
    if health["target_cores"] is not None:
        text += f": the target used {health['target_cores']:.2f} cores, the generator {health['generator_cores']:.2f}"
    text += "; they shared memory, caches, kernel and the loopback network"
    return f"{text}; {health['kept_apart']}." if health["kept_apart"] else f"{text}, and were not kept apart."


def _rounded(value: float | None) -> float | None:
    return None if value is None else round(value, 3)
