"""What would stop it next? The resources in the order in which they would be full."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from plimsoll.findings.capacity_words import level_words, number
from plimsoll.findings.evidence import as_data
from plimsoll.findings.how_far import Reaching, level_at, reach_of
from plimsoll.findings.run_resources import Resource, as_json, evidence_of
from plimsoll.findings.trials import joined

QUESTION = "What would stop it next?"
NEAR = 0.85
CLEARLY = 1.05


def next_limit_finding(
    main: Mapping[str, Any], resources: Sequence[Resource], same_host: bool, hosts_read: Sequence[str] = ()
) -> dict[str, Any] | None:
    """The finding, None where no resource shows a demand. `resources`: largest demand first; `hosts_read`: the other
    hosts whose metrics were read."""
    if not resources:
        return None
    reached = [reach_of(resource, resource.ceiling, f"the whole of {resource.where}") for resource in resources]
    carried = main["capacity"]["rate_per_s"]
    stopped = main["capacity"]["bad"] is not None
    first, others = reached[0], reached[1:]
    limited_here = stopped and main["limited_by"]["kind"] in ("cpu", "disk") and _is_near(first)
    if stopped and not limited_here:
        later, words = reached, _unprobed(main, first, carried)
    elif stopped:
        later = others
        words = f"{_capital(first.resource.where)} is full first: {_within(first, main) or _at(first, main)}."
    else:
        later, words = others, f"{_capital(first.resource.where)} would be full first: {_at(first, main)}."
    if later:
        follows = "Then" if later is others else "After that"
        words += f" {follows} {later[0].resource.where} would stop it: {_at(later[0], main)}."
        settle = f"Prove it: widen what stops it now and run again; it should stop near {number(later[0].per_s)}/s."
    else:
        words += " Cannot tell what would come after it: of nothing else that was probed the use rose with throughput."
        settle = "Probe what else it uses: the processes of its database and of other services (probes in the study)."
    notes = [_not_named(hosts_read)]
    if same_host and any(one.resource.name == "cpu" for one in reached):
        notes.append("The host's cores also carry the generator; from another host they would go further.")
    return {
        "question": QUESTION,
        "answer": words,
        "order": [
            as_json(one.resource)
            | {
                "per_s": one.per_s,
                "interval": list(one.curve.interval) if one.curve is not None else None,
                "told": one.told,
                "level": level_at(one, main),
            }
            for one in reached
        ],
        "evidence": as_data(evidence_of(one.resource, main["capacity"]["unit"]) for one in reached),
        "notes": notes,
        "next": [settle],
    }


def _not_named(hosts_read: Sequence[str]) -> str:
    """What no answer can name, as nothing read it."""
    if not hosts_read:
        return "Only what was probed can be named: not locks, pools, other hosts or the network."
    read, beside = ("host", "it") if len(hosts_read) == 1 else ("hosts", "them")
    return (
        f"Only what was probed can be named, the {read} {joined(hosts_read)} included: not locks, pools, hosts beside "
        f"{beside} or the network."
    )


def _is_near(first: Reaching) -> bool:
    """Whether the load used most of the resource of the largest demand."""
    return max(first.resource.used) >= NEAR * first.resource.ceiling


def _unprobed(main: Mapping[str, Any], first: Reaching, carried: float | None) -> str:
    limited = main["limited_by"]
    named = limited["where"] if limited["kind"] not in ("unknown", "none") else None
    if named and not named.startswith("target process"):
        at = f" at {number(carried)}/s" if carried else ""
        return f"What stopped it{at} was {named}, of which no demand per operation was seen."
    if not carried:
        return "What stopped it is not among what was probed."
    share = max(first.resource.used) / first.resource.ceiling
    return (
        f"What stopped it at {number(carried)}/s is not among what was probed (unless it waited for cores that others "
        f"used): {first.resource.where}, of the largest "
        f"demand, had a use of {share:.0%} at most."
    )


def _within(one: Reaching, main: Mapping[str, Any]) -> str | None:
    """The bracket, where the curve of all levels ends clearly above it, as the overload was measured."""
    level, good, bad, unit = level_at(one, main), *(main["capacity"][key] for key in ("good", "bad", "unit"))
    if level is None or good is None or level <= CLEARLY * bad:
        return None
    return f"between {level_words(good, unit)} and {level_words(bad, unit)}, at {_demand(one)}"


def _at(one: Reaching, main: Mapping[str, Any]) -> str:
    """Where it would be full, in throughput and level, with the interval."""
    level = level_at(one, main)
    words = f", {level_words(level, main['capacity']['unit'])}" if level is not None else ""
    if one.curve is None:
        return f"near {number(one.per_s)}/s{words}, if its {_demand(one)} stay"
    low, high = one.curve.interval
    to = f"95 %: {number(low)} to {number(high)}" if high is not None else f"95 %: {number(low)} or more"
    return f"near {number(one.per_s)}/s{words} ({to}), at {_demand(one)}"


def _demand(one: Reaching) -> str:
    return f"{number(1000 * one.resource.demand_s)} ms of it per operation"


def _capital(words: str) -> str:
    return words[0].upper() + words[1:]
