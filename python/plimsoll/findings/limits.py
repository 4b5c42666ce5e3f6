"""What stops it? The limiting resource, with evidence, or "cannot tell".

Correlation proves nothing, since everything rises with load (METHODS (e)). A resource is named only if, in the step in
which the target no longer kept up, it was near its own ceiling and clearly busier than at low load. A thread, a process
and a host each have their own ceiling: a program with one busy thread stops at one core of eight.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from plimsoll.findings.capacity_words import level_words
from plimsoll.findings.resources import Means, Step, processes

NEAR_CEILING = 0.90
PINNED_CLOSE = 0.06
RISE = 1.15
STOLEN_MATTERS = 0.03
MEMORY_CEILING = 0.95
SWAP_BYTES = 64e6


@dataclass(frozen=True)
class Limit:
    """A resource near its ceiling; `utilisation` as a share of the ceiling, `low` the same at the lowest load."""

    kind: str
    where: str
    utilisation: float
    low: float | None
    evidence: str

    def to_json(self) -> dict[str, Any]:
        """As the finding holds it."""
        return {
            "kind": self.kind,
            "where": self.where,
            "utilisation": round(self.utilisation, 3),
            "evidence": self.evidence,
        }


def limiting_resource(bad: Step | None, steps: Sequence[Step], means: Sequence[Means], unit: str) -> dict[str, Any]:
    """The limit seen in the step `bad` (one of `steps`; None if the target was never saturated), as JSON."""
    if bad is None:
        return _unknown("none", "The target was never saturated, so nothing limited it within the levels tried.", None)
    at = next(place for place, step in enumerate(steps) if step is bad)
    if _stopped_by_errors(bad):
        return _errors(bad)
    here = means[at]
    if not here:
        return _unknown("unknown", "No probe looked at the target while it was saturated.", None)
    lowest = min((step for step, seen in zip(steps, means, strict=True) if seen), key=lambda step: step["level"])
    low = means[next(place for place, step in enumerate(steps) if step is lowest)] if lowest is not bad else {}
    words = f"in the step at {level_words(bad['level'], unit)}"
    before = f"at {level_words(lowest['level'], unit)}"
    found = [
        limit
        for limit in _candidates(here, low, words, before)
        if limit.low is None or limit.utilisation >= RISE * limit.low
    ]
    if not found:
        return _unknown("unknown", _seen_words(here, words) + _waited_words(here), None)
    best = max(found, key=lambda limit: limit.utilisation)
    others = [other for other in found if other is not best]
    more = f" Also near its ceiling: {', '.join(other.where for other in others)}." if others else ""
    return best.to_json() | {"evidence": best.evidence + more}


def _candidates(here: Means, low: Means, words: str, before: str) -> list[Limit]:
    found = [
        _process_limit(label, values, processes(low).get(label, {}), words, before)
        for label, values in processes(here).items()
    ]
    host, host_low = here.get("host", {}), low.get("host", {})
    found.append(_share_limit("cpu", "host, all cores", "cpu_share", host, host_low, (words, before)))
    found.append(_share_limit("disk", "host, the busiest disk", "disk_busy_share", host, host_low, (words, before)))
    if host.get("memory_share", 0.0) >= MEMORY_CEILING and host.get("swap_used_bytes", 0.0) >= SWAP_BYTES:
        swapped = host["swap_used_bytes"] / 2**20
        text = f"Memory was {host['memory_share']:.0%} full {words} and {swapped:.0f} MiB were swapped out."
        found.append(Limit("memory", "host", host["memory_share"], None, text))
    return [limit for limit in found if limit is not None]


def _share_limit(
    kind: str, where: str, name: str, here: Mapping[str, float], low: Mapping[str, float], words: tuple[str, str]
) -> Limit | None:
    share = here.get(name)
    if share is None or share < NEAR_CEILING:
        return None
    then = f", {low[name]:.0%} {words[1]}" if name in low else ""
    what = {"cpu": "CPU of the host", "disk": "The busiest disk"}[kind]
    return Limit(kind, where, share, low.get(name), f"{what} was {share:.0%} busy {words[0]}{then}.")


def _process_limit(
    label: str, here: Mapping[str, float], low: Mapping[str, float], words: str, before: str
) -> Limit | None:
    """A thread, a process of several, or a whole set of cores at its ceiling, the narrowest first."""
    count = max(1.0, here.get("processes", 1.0))
    ceilings = (
        (
            "busiest_thread_cores_used",
            1.0,
            f"target process {label}, its busiest thread",
            "one core is all a thread can use",
        ),
        ("busiest_process_cores_used", 1.0, f"target process {label}", "as if it may use no more than one core"),
        ("cpu_cores_used", count, f"target process {label}, {count:.0f} processes", "about one core for each process"),
    )
    for name, ceiling, where, why in ceilings:
        used = here.get(name)
        is_pinned = name != "busiest_thread_cores_used"
        if used is None or (count > 1 and name == "busiest_process_cores_used"):
            continue
        share = used / ceiling
        if share < NEAR_CEILING or (is_pinned and share > 1 + PINNED_CLOSE):
            continue
        then = f", {low[name]:.2f} {before}" if name in low else ""
        text = f"It used {used:.2f} of {ceiling:.0f} CPU core{'s' if ceiling > 1 else ''} {words}{then}: {why}."
        return Limit("cpu", where, min(1.0, share), low[name] / ceiling if name in low else None, text)
    return None


def _stopped_by_errors(step: Step) -> bool:
    return any("requests failed" in reason for reason in step.get("reasons") or ())


def _errors(bad: Step) -> dict[str, Any]:
    share, level = bad["error_share"], bad["level"]
    text = f"{share:.0%} of the requests failed at level {level:,.6g}; see the target's log of that time."
    return {"kind": "errors", "where": "answers of the target", "utilisation": None, "evidence": text}


def _unknown(kind: str, evidence: str, utilisation: float | None) -> dict[str, Any]:
    return {"kind": kind, "where": None, "utilisation": utilisation, "evidence": evidence}


def _seen_words(here: Means, words: str) -> str:
    seen = []
    host = here.get("host", {})
    if "cpu_share" in host:
        seen.append(f"CPU of the host {host['cpu_share']:.0%}")
    if "disk_busy_share" in host:
        seen.append(f"busiest disk {host['disk_busy_share']:.0%}")
    for label, values in processes(here).items():
        if "cpu_cores_used" in values:
            seen.append(f"process {label} {values['cpu_cores_used']:.2f} cores")
    listed = "; ".join(seen) or "nothing of the target"
    return f"Cannot tell: {words} no resource was near its ceiling ({listed})."


def _waited_words(here: Means) -> str:
    stolen = here.get("host", {}).get("cpu_steal_worst_core_share", 0.0)
    if stolen >= STOLEN_MATTERS:
        return (
            f" The hypervisor took {stolen:.0%} of a core's time from this host, which the target may have waited for."
        )
    return " Work waited for something not probed."
