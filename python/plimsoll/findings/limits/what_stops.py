"""What stops it? The limiting resource, with evidence, or "cannot tell".

Correlation proves nothing, since everything rises with load (docs/attribution.md). A resource is named only if, in the
step in which the target no longer kept up, it was near its own ceiling and clearly busier than at low load. A thread, a
process and a host each have their own ceiling: a program with one busy thread stops at one core of eight.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from plimsoll.findings.limits.cores import Seen, as_filled_by_others, as_full_before, core_limits
from plimsoll.findings.limits.counted import counted_limits
from plimsoll.findings.limits.database import Statements, database_locks, database_statements
from plimsoll.findings.limits.dependency import is_silent
from plimsoll.findings.limits.heap import heap_limits
from plimsoll.findings.limits.limit import Limit, Scope, no_limit
from plimsoll.findings.limits.pools import before_their_pool
from plimsoll.findings.limits.starved_thread import starved_threads
from plimsoll.findings.limits.waiting import group_limits, memory_limits, waiting_limits
from plimsoll.findings.resources import Means, Step, are_cores_of_others, hosts, processes
from plimsoll.runs.readings.failures import Failures, is_targets, noun_of_step, says_failing
from plimsoll.words import amount_words, level_words, number, share_words

STOLEN_MATTERS = 0.03


def limiting_resource(
    bad: Step | None,
    steps: Sequence[Step],
    means: Sequence[Means],
    unit: str,
    *,
    statements: Statements | None = None,
    generator: Mapping[str, Any] | None = None,
    kept_apart: str | None = None,
) -> dict[str, Any]:
    """The limit seen in the step `bad` (one of `steps`; None if the target was never saturated), as JSON, with the
    runner-up: what else was near its ceiling, or waited. `statements`: what the run recorded of its databases;
    `generator`: the limit of the generator itself, if there was one (validity/generator.py); `kept_apart`: how this run
    kept the target off the generator's cores, in words."""
    if bad is None:
        if generator is not None:
            return _with_runner_up([dict(generator)])
        return no_limit("none", "No level that was held saturated the target, so nothing limited it there.")
    overloaded = [step for step in steps if step.get("verdict") == "bad" and step is not bad]
    asked = _Asked(steps, means, unit, statements, generator, kept_apart)
    first = _seen_in([bad, *overloaded], asked)
    if first["kind"] != "unknown":
        return first
    # What shows little where the target just began to fall behind shows plainly where it fell behind by more.
    further = sorted(overloaded, key=lambda step: step["level"])
    others = (_seen_in([one], asked) for one in further)
    return next((one for one in others if one["kind"] != "unknown"), first)


@dataclass(frozen=True)
class _Asked:
    """What `limiting_resource` was asked of, for each step that it looks at."""

    steps: Sequence[Step]
    means: Sequence[Means]
    unit: str
    statements: Statements | None
    generator: Mapping[str, Any] | None
    kept_apart: str | None


def _seen_in(bad_first: Sequence[Step], asked: _Asked) -> dict[str, Any]:
    """The limit seen in the first of these overloaded steps; the others stand in for probes that rested in it."""
    bad, steps, means, unit = bad_first[0], asked.steps, asked.means, asked.unit
    here, own = _filled(bad_first, steps, means), [dict(asked.generator)] if asked.generator is not None else []
    if not here:
        if _stopped_by_errors(bad):
            return _with_runner_up([*own, _errors(bad)])
        nothing = "No probe looked at the target while it was saturated."
        return _with_runner_up(own) if own else no_limit("unknown", nothing)
    lowest = min((step for step, seen in zip(steps, means, strict=True) if seen), key=lambda step: step["level"])
    calm = [step for step in steps if step.get("verdict") != "bad" and step is not bad]
    calm.sort(key=lambda one: one["level"])
    low = _filled([lowest, *calm], steps, means) if lowest is not bad else {}
    words = f"in the step at {level_words(bad['level'], unit)}"
    before = f"at {level_words(lowest['level'], unit)}"
    if _stopped_by_errors(bad):
        return _with_runner_up([*own, *killed(here, bad, unit), *refused(here, low, words, before), _errors(bad)])
    full = _candidates(Seen(here, low, words, before, asked.kept_apart))
    found = [limit for limit in full if limit.rose]
    found = sorted(found, key=lambda limit: (_has_a_better_name(limit, found), -limit.utilisation))
    # A thread of the target that waited for one of the cores shows that these stop it, whoever fills them.
    is_starved = bool(starved_threads(here, low))
    others = [limit for limit in found if _is_of_others(limit, here) and not is_starved]
    found = _with_databases([limit for limit in found if limit not in others], here, bad, asked.statements, words)
    waits = waiting_limits(here, low, _under_way(bad), words, before)
    found += [limit for limit in waits if not _is_explained(limit, found, others)]
    found = [as_filled_by_others(limit) if _is_of_others(limit, here) else limit for limit in found]
    found = [*before_their_pool(found, here), *map(as_filled_by_others, others)]
    found += [as_full_before(limit) for limit in full if found and limit.is_of_cores and not limit.rose]
    if not found and not own and full:
        return no_limit("unknown", _always_full_words(full[0], here, words, before))
    if not found and not own:
        return no_limit("unknown", _seen_words(here, words) + _waited_words(here))
    return _with_runner_up([*own, *(limit.to_json() for limit in found)])


def _filled(wanted: Sequence[Step], steps: Sequence[Step], means: Sequence[Means]) -> Means:
    """The means of the first of these steps; of a source that was not read in it, as probes that are dear rest for
    seconds, or that by chance told nothing of who waits for whom, those of the next step in which it did."""
    of_step = [next(seen for step, seen in zip(steps, means, strict=True) if step is one) for one in wanted]
    filled = dict(of_step[0])
    for seen in of_step[1:] if filled else ():
        filled |= {
            source: values
            for source, values in seen.items()
            if not filled.get(source) or (is_silent(filled[source]) and not is_silent(values))
        }
    return filled


def _with_databases(
    hard: list[Limit], here: Means, bad: Step, statements: Statements | None, words: str
) -> list[Limit]:
    """Hard limits with those of databases: a statement comes before the CPU that it fills, and behind that of a process
    that calls the database."""
    known = statements or Statements()
    callers = [limit for limit in hard if limit.kind != "cpu" or _is_caller(limit, here)]
    filled = [limit for limit in hard if limit not in callers]
    return [*callers, *database_locks(here, bad, known, words), *database_statements(here, bad, known, words), *filled]


def _is_caller(limit: Limit, here: Means) -> bool:
    """Whether it is a process that has connections to other services."""
    return limit.scope.is_of_process and bool(here.get(f"sockets:{limit.owner}", {}).get("connections_out"))


def _has_a_better_name(limit: Limit, found: Sequence[Limit]) -> bool:
    """Whether these are the target's cores, and one of its processes alone is at its ceiling, or it is CPU that the
    collections of a full heap use: then that is what stops it."""
    is_of_its_cores = limit.scope is Scope.TARGET_CORES
    if is_of_its_cores and any(one.scope in (Scope.THREAD, Scope.PROCESS) for one in found):
        return True
    heaps = {one.owner for one in found if one.scope is Scope.HEAP}
    of_all = bool(heaps) and (is_of_its_cores or _is_this_host(limit))
    return of_all or ((limit.scope.is_of_process or limit.scope is Scope.QUOTA) and limit.owner in heaps)


def _is_this_host(limit: Limit) -> bool:
    return limit.scope is Scope.HOST_CORES and not limit.owner


def _is_explained(limit: Limit, found: Sequence[Limit], others: Sequence[Limit]) -> bool:
    """Whether a wait only follows from full cores. Where those that the target may use are full of its own work, who
    holds a lock waits for a core as everyone does, and the threads of a pool that grew with the load sleep like those
    that wait for a lock. Who reads late while cores of this host are full, whoever fills them, waits for one."""
    if limit.scope is Scope.LOCK:
        return any(one.scope is Scope.TARGET_CORES for one in found)
    full = [one for one in (*found, *others) if one.kind in ("cpu", "cpu_quota") and not one.is_elsewhere]
    return limit.kind == "slow_reader" and bool(full)


def _is_of_others(limit: Limit, here: Means) -> bool:
    """Whether these are cores that were full of work that is not the target's."""
    within = limit.scope is Scope.TARGET_CORES
    return (within or _is_this_host(limit)) and are_cores_of_others(here, within=within)


def _under_way(step: Step) -> float:
    """Iterations begun or waiting to begin at the end of the step, or on average in it, where these are more: users who
    think at the same time leave few at a step's end. The mean is by Little's law that of requests, of which an
    iteration makes one at a time."""
    at_end = float(step.get("in_flight_end") or 0.0) + float(step.get("backlog_end") or 0.0)
    return max(at_end, float(step.get("requests_per_s") or 0.0) * float(step.get("mean_ms") or 0.0) / 1000)


def _with_runner_up(found: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """The first, with the second beside it and the others' names in its evidence."""
    first, others = found[0], found[1:]
    more = f" Also: {', '.join(str(other['where']) for other in others)}." if others else ""
    return first | {"evidence": f"{first['evidence']}{more}", "runner_up": others[0] if others else None}


def killed(here: Means, bad: Step, unit: str) -> list[dict[str, Any]]:
    """Memory limits whose processes were killed in a step."""
    words = f"in the step at {level_words(bad['level'], unit)}"
    groups = [(source.partition(":")[2], values) for source, values in here.items() if source.startswith("cgroup:")]
    return [limit.to_json() for label, values in groups for limit in memory_limits(label, values, words)]


def refused(here: Means, low: Means, words: str, before: str) -> list[dict[str, Any]]:
    """Limits at which the system refuses the target what it asks for, so that its requests fail."""
    return [limit.to_json() for limit in counted_limits(here, low, words, before) if limit.rose]


def _candidates(seen: Seen) -> list[Limit]:
    groups = group_limits(seen.here, seen.low, seen.words, seen.before)
    return [
        *core_limits(seen, quotas=any(limit.scope is Scope.QUOTA for limit in groups)),
        *groups,
        *heap_limits(seen.here, seen.low, seen.words, seen.before),
        *counted_limits(seen.here, seen.low, seen.words, seen.before),
    ]


def _stopped_by_errors(step: Step) -> bool:
    return says_failing(step.get("reasons") or ())


def _errors(bad: Step) -> dict[str, Any]:
    share, level = bad["error_share"], bad["level"]
    causes = Counter(bad.get("error_causes") or {}).most_common(2)
    how = f" ({', '.join(f'{name}: {count:,}' for name, count in causes)})" if causes else ""
    text = f"{share_words(share)} of the {noun_of_step(bad)} failed at level {number(level)}{how}"
    mine = bool(causes) and not is_targets(causes[0][0])
    return errors_limit(None, f"{text}." if mine else f"{text}; see the target's log of that time.", bad)


def errors_limit(share: float | None, evidence: str, step: Step) -> dict[str, Any]:
    """Requests that fail, in the JSON of a limit; `share` of them, None where the evidence tells it. The remedy is that
    of the cause that `step` counted most of."""
    causes = Counter(step.get("error_causes") or {})
    remedy = Failures(causes).next_step() or Failures.UNKNOWN_STEP
    most = causes.most_common(1)[0][0] if causes else ""
    return {
        "kind": "errors",
        "where": "answers of the target" if is_targets(most) else f"not the target: {most}",
        "utilisation": share,
        "evidence": evidence,
        "remedy": f"{remedy[:1].lower()}{remedy[1:].rstrip('.')}",
    }


def _always_full_words(limit: Limit, here: Means, words: str, before: str) -> str:
    """A resource at its ceiling whatever the load: it limits, but this load is not what fills it."""
    assert limit.low is not None
    return (
        f"Cannot tell: {limit.where} was {share_words(limit.utilisation)} busy {words}, and {share_words(limit.low)} "
        f"{before}: something else than this load fills it, and the target may have waited for that ({_listed(here)})."
    )


def _seen_words(here: Means, words: str) -> str:
    return f"Cannot tell: {words} no resource was near its ceiling ({_listed(here)})."


def _listed(here: Means) -> str:
    seen = []
    host = here.get("host", {})
    if "cpu_share" in host:
        seen.append(f"CPU of the host {share_words(host['cpu_share'])}")
    if "disk_busy_share" in host:
        seen.append(f"busiest disk {share_words(host['disk_busy_share'])}")
    seen += [f"CPU of the host {name} {share_words(values['cpu_share'])}" for name, values in hosts(here).items()
             if "cpu_share" in values]  # fmt: skip
    for label, values in processes(here).items():
        if "cpu_cores_used" in values:
            seen.append(f"process {label} {amount_words(values['cpu_cores_used'], 'core')}")
    return "; ".join(seen) or "nothing of the target"


def _waited_words(here: Means) -> str:
    stolen = here.get("host", {}).get("cpu_steal_worst_core_share", 0.0)
    if stolen >= STOLEN_MATTERS:
        return (
            f" The hypervisor took {share_words(stolen)} of a core's time from this host, which the target may have "
            "waited for."
        )
    return " Work waited for something not probed."
