"""What stops it? The limiting resource, with evidence, or "cannot tell".

Correlation proves nothing, since everything rises with load (docs/attribution.md). A resource is named only if, in the
step in which the target no longer kept up, it was near its own ceiling and clearly busier than at low load. A thread, a
process and a host each have their own ceiling: a program with one busy thread stops at one core of eight.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from plimsoll.findings.capacity_words import level_words
from plimsoll.findings.counted_limits import counted_limits
from plimsoll.findings.database_limits import Statements, database_locks, database_statements
from plimsoll.findings.dependency_limits import is_silent
from plimsoll.findings.heap_limits import HEAP, heap_limits
from plimsoll.findings.limit import NEAR_CEILING, Limit, no_limit
from plimsoll.findings.resources import (
    OWN_CORES,
    TARGET_CORES,
    Means,
    Step,
    host_of,
    hosts,
    processes,
    target_cores,
    target_cores_words,
)
from plimsoll.findings.starved_thread import starved_thread
from plimsoll.findings.waiting_limits import QUOTA, group_limits, memory_limits, waiting_limits
from plimsoll.runs.failures import Failures

PINNED_CLOSE = 0.06
STOLEN_MATTERS = 0.03
MEMORY_CEILING = 0.95
SWAP_BYTES = 64e6
ALL_CORES = "host, all cores"
MOST_NAMED, LEAST_NAMED = 4, 0.05
LEAST_OWN = 0.4  # of the work of the host's cores that the target must have done


def limiting_resource(
    bad: Step | None,
    steps: Sequence[Step],
    means: Sequence[Means],
    unit: str,
    *,
    statements: Statements | None = None,
    generator: Mapping[str, Any] | None = None,
) -> dict[str, Any]:
    """The limit seen in the step `bad` (one of `steps`; None if the target was never saturated), as JSON, with the
    runner-up: what else was near its ceiling, or waited. `statements`: what the run recorded of its databases;
    `generator`: the limit of the generator itself, if there was one (findings/generator.py)."""
    if bad is None:
        if generator is not None:
            return _with_runner_up([dict(generator)])
        return no_limit("none", "No level that was held saturated the target, so nothing limited it there.")
    overloaded = [step for step in steps if step.get("verdict") == "bad" and step is not bad]
    first = _seen_in([bad, *overloaded], steps, means, unit, statements, generator)
    if first["kind"] != "unknown":
        return first
    # What shows little where the target just began to fall behind shows plainly where it fell behind by more.
    further = sorted(overloaded, key=lambda step: step["level"])
    others = (_seen_in([one], steps, means, unit, statements, generator) for one in further)
    return next((one for one in others if one["kind"] != "unknown"), first)


def _seen_in(
    bad_first: Sequence[Step],
    steps: Sequence[Step],
    means: Sequence[Means],
    unit: str,
    statements: Statements | None,
    generator: Mapping[str, Any] | None,
) -> dict[str, Any]:
    """The limit seen in the first of these overloaded steps; the others stand in for probes that rested in it."""
    bad = bad_first[0]
    here, own = _filled(bad_first, steps, means), [dict(generator)] if generator is not None else []
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
    full = _candidates(here, low, words, before)
    found = [limit for limit in full if limit.rose]
    found = sorted(found, key=lambda limit: (_has_a_better_name(limit, found), -limit.utilisation))
    others = [limit for limit in found if _is_of_others(limit, here)]
    found = _with_databases([limit for limit in found if limit not in others], here, bad, statements, words)
    waits = waiting_limits(here, low, _under_way(bad), words, before)
    found += [limit for limit in waits if not (limit.kind == "lock" and _fills_its_cores(found))]
    found += others
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
    label = limit.where.removeprefix("target process ").partition(",")[0]
    return bool(here.get(f"sockets:{label}", {}).get("connections_out"))


def _has_a_better_name(limit: Limit, found: Sequence[Limit]) -> bool:
    """Whether these are the target's cores, and one of its processes alone is at its ceiling, or it is CPU that the
    collections of a full heap use: then that is what stops it."""
    is_of_its_cores = limit.where.startswith(OWN_CORES)
    if is_of_its_cores and any(one.where.startswith("target process") for one in found):
        return True
    labels = [one.where.removeprefix(HEAP) for one in found if one.where.startswith(HEAP)]
    of_all = bool(labels) and (is_of_its_cores or limit.where == ALL_CORES)
    return of_all or any(
        limit.where.startswith(f"target process {label},")
        or limit.where in (f"target process {label}", f"{QUOTA}{label}")
        for label in labels
    )


def _fills_its_cores(found: Sequence[Limit]) -> bool:
    """Whether the cores that the target may use are full of its own work: then who holds a lock waits for a core as
    everyone does, and the threads of a pool that grew with the load sleep like those that wait for a lock."""
    return any(limit.where.startswith(OWN_CORES) for limit in found)


def _is_of_others(limit: Limit, here: Means) -> bool:
    """Whether the cores were full of work that is not the target's."""
    if limit.kind != "cpu" or not (limit.where == ALL_CORES or limit.where.startswith(OWN_CORES)):
        return False
    used, own = here.get("host", {}).get("cpu_cores_used"), target_cores(here)
    if limit.where != ALL_CORES:
        used = here[TARGET_CORES]["usable_cores"] * here[TARGET_CORES]["cpu_share"]
    return used is not None and own is not None and own < LEAST_OWN * used


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


def _candidates(here: Means, low: Means, words: str, before: str) -> list[Limit]:
    found = [
        _process_limit(label, values, processes(low).get(label, {}), words, before)
        or starved_thread(label, values, here, low, words, before)
        for label, values in processes(here).items()
    ]
    found += [_target_cores(here, low, words, before)]
    found += _host_limits("host", here.get("host", {}), low.get("host", {}), words, before)
    for name, values in hosts(here).items():
        found += _host_limits(f"host {name}", values, hosts(low).get(name, {}), words, before)
    return [
        *(limit for limit in found if limit is not None),
        *group_limits(here, low, words, before),
        *heap_limits(here, low, words, before),
        *counted_limits(here, low, words, before),
    ]


def _target_cores(here: Means, low: Means, words: str, before: str) -> Limit | None:
    """The cores that the target may use, where those are fewer than the host has."""
    cores = here.get(TARGET_CORES, {})
    count, share = cores.get("usable_cores"), cores.get("cpu_share", 0.0)
    if count is None or share < NEAR_CEILING:
        return None
    then = low.get(TARGET_CORES, {}).get("cpu_share")
    own = sorted(
        ((values.get("cpu_cores_used", 0.0), label) for label, values in processes(here).items() if not host_of(label)),
        reverse=True,
    )
    used = ", ".join(f"{label} {cores_used:.2f}" for cores_used, label in own[:MOST_NAMED] if cores_used >= LEAST_NAMED)
    which = "The one core" if count == 1 else f"The {count:.0f} cores"
    quiet = f", {then:.0%} {before}" if then is not None else ""
    by = f"; of it {used}" if used else ""
    text = f"{which} that the target may use {'was' if count == 1 else 'were'} {share:.0%} busy {words}{quiet}{by}."
    remedy = "give the target more cores" + (f"; {own[0][1]} takes most of them" if own and used else "")
    return Limit("cpu", target_cores_words(count), share, then, text, remedy)


def _host_limits(
    host: str, here: Mapping[str, float], low: Mapping[str, float], words: str, before: str
) -> list[Limit | None]:
    """All cores, the busiest disk and memory of a host."""
    found = [
        _share_limit("cpu", f"{host}, all cores", "cpu_share", here, low, (words, before)),
        _share_limit("disk", f"{host}, the busiest disk", "disk_busy_share", here, low, (words, before)),
    ]
    if here.get("memory_share", 0.0) >= MEMORY_CEILING and here.get("swap_used_bytes", 0.0) >= SWAP_BYTES:
        swapped = here["swap_used_bytes"] / 2**20
        of = "Memory" if host == "host" else f"Memory of the {host}"
        text = f"{of} was {here['memory_share']:.0%} full {words} and {swapped:.0f} MiB were swapped out."
        remedy = (
            f"give the {host} more memory, or have what runs there hold less; what is swapped out is read from disk"
        )
        found.append(Limit("memory", host, here["memory_share"], None, text, remedy))
    return found


def _share_limit(
    kind: str, where: str, name: str, here: Mapping[str, float], low: Mapping[str, float], words: tuple[str, str]
) -> Limit | None:
    share = here.get(name)
    if share is None or share < NEAR_CEILING:
        return None
    then = f", {low[name]:.0%} {words[1]}" if name in low else ""
    host = where.partition(",")[0]
    of_other = "" if host == "host" else f" of the {host}"
    what = {"cpu": f"CPU of the {host}", "disk": f"The busiest disk{of_other}"}[kind]
    cores = f" than its {here['cores']:.0f}" if "cores" in here else ""
    remedy = {
        "cpu": f"give the {host} more cores{cores}, or have an operation take less CPU",
        "disk": f"give the {host} a faster disk, or have an operation read and write less (caches, batched writes)",
    }[kind]
    return Limit(kind, where, share, low.get(name), f"{what} was {share:.0%} busy {words[0]}{then}.", remedy)


def _process_limit(
    label: str, here: Mapping[str, float], low: Mapping[str, float], words: str, before: str
) -> Limit | None:
    """A thread, a process of several, or a whole set of cores at its ceiling, the narrowest first."""
    count = max(1.0, here.get("processes", 1.0))
    cheaper = "or have an operation take less CPU there (probes.profile shows what takes it)"
    ceilings = (
        (
            "busiest_thread_cores_used",
            1.0,
            f"target process {label}, its busiest thread",
            "one core is all a thread can use",
            f"more cores alone change nothing: have more than one thread or process of {label} do this work, {cheaper}",
        ),
        (
            "busiest_process_cores_used",
            1.0,
            f"target process {label}",
            "as if it may use no more than one core",
            f"let {label} use more than one core (its affinity, a lock of its interpreter), or start more processes of "
            f"it, {cheaper}",
        ),
        (
            "cpu_cores_used",
            count,
            f"target process {label}, {count:.0f} processes",
            "about one core for each process",
            f"start more processes of {label} than {count:.0f}, if the host has cores left, {cheaper}",
        ),
    )
    for name, ceiling, where, why, remedy in ceilings:
        used = here.get(name)
        is_pinned = name != "busiest_thread_cores_used"
        if used is None or (count > 1 and name == "busiest_process_cores_used"):
            continue
        if name == "cpu_cores_used" and "processes" not in here:  # of another host: how many it may use is not known
            continue
        share = used / ceiling
        if share < NEAR_CEILING or (is_pinned and share > 1 + PINNED_CLOSE):
            continue
        then = f", {low[name]:.2f} {before}" if name in low else ""
        text = f"It used {used:.2f} of {ceiling:.0f} CPU core{'s' if ceiling > 1 else ''} {words}{then}: {why}."
        return Limit("cpu", where, min(1.0, share), low[name] / ceiling if name in low else None, text, remedy)
    return None


def _stopped_by_errors(step: Step) -> bool:
    return any("requests failed" in reason for reason in step.get("reasons") or ())


def _errors(bad: Step) -> dict[str, Any]:
    share, level = bad["error_share"], bad["level"]
    causes = Counter(bad.get("error_causes") or {}).most_common(2)
    how = f" ({', '.join(f'{name}: {count:,}' for name, count in causes)})" if causes else ""
    text = f"{share:.0%} of the requests failed at level {level:,.6g}{how}; see the target's log of that time."
    return errors_limit(None, text, bad)


def errors_limit(share: float | None, evidence: str, step: Step) -> dict[str, Any]:
    """Requests that fail, in the JSON of a limit; `share` of them, None where the evidence tells it. The remedy is that
    of the cause that `step` counted most of."""
    remedy = Failures(Counter(step.get("error_causes") or {})).next_step() or Failures.UNKNOWN_STEP
    return {
        "kind": "errors",
        "where": "answers of the target",
        "utilisation": share,
        "evidence": evidence,
        "remedy": f"{remedy[:1].lower()}{remedy[1:].rstrip('.')}",
    }


def _always_full_words(limit: Limit, here: Means, words: str, before: str) -> str:
    """A resource at its ceiling whatever the load: it limits, but this load is not what fills it."""
    assert limit.low is not None
    return (
        f"Cannot tell: {limit.where} was {limit.utilisation:.0%} busy {words}, and {limit.low:.0%} {before}: something "
        f"else than this load fills it, and the target may have waited for that ({_listed(here)})."
    )


def _seen_words(here: Means, words: str) -> str:
    return f"Cannot tell: {words} no resource was near its ceiling ({_listed(here)})."


def _listed(here: Means) -> str:
    seen = []
    host = here.get("host", {})
    if "cpu_share" in host:
        seen.append(f"CPU of the host {host['cpu_share']:.0%}")
    if "disk_busy_share" in host:
        seen.append(f"busiest disk {host['disk_busy_share']:.0%}")
    seen += [f"CPU of the host {name} {values['cpu_share']:.0%}" for name, values in hosts(here).items()
             if "cpu_share" in values]  # fmt: skip
    for label, values in processes(here).items():
        if "cpu_cores_used" in values:
            seen.append(f"process {label} {values['cpu_cores_used']:.2f} cores")
    return "; ".join(seen) or "nothing of the target"


def _waited_words(here: Means) -> str:
    stolen = here.get("host", {}).get("cpu_steal_worst_core_share", 0.0)
    if stolen >= STOLEN_MATTERS:
        return (
            f" The hypervisor took {stolen:.0%} of a core's time from this host, which the target may have waited for."
        )
    return " Work waited for something not probed."
